import { asWords, labelOf, type Row, seriesName } from './cells.tsx'

export type Scalar = string | number | boolean

export interface Found {
  figures: [name: string, value: Scalar][]
  tables: { name: string; rows: Row[] }[]
}

/** Fields of a response that are for programs only. */
const hidden =
  /^(id|status|metadata|meta|request_id|source_description|cached|cache_ttl|filters|tier|tier_name|tier_required|timestamp|formatted|data_source|docs_url|page|per_page|total_pages|has_next|has_prev|stale|hindcast|provenance|slug)$|_(raw|normalized)$/

/** Fields that people read: without those that repeat another one in a smaller unit. */
const fieldsOf = (row: Row): [name: string, value: unknown][] =>
  Object.entries(row).filter(
    ([name]) => !hidden.test(name) && !(/_bpd$/.test(name) && name.replace(/bpd$/, 'mbpd') in row),
  )

const isScalar = (value: unknown): value is Scalar =>
  ['string', 'number', 'boolean'].includes(typeof value)
export const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Fields of a record, and of records in it, by their path. */
function flat(row: Row, prefix = ''): Row {
  const out: Row = {}
  for (const [name, value] of fieldsOf(row)) {
    const path = prefix === '' ? name : `${prefix}_${name}`
    if (isRecord(value)) Object.assign(out, flat(value, path))
    else if (isScalar(value) || value === null) out[path] = value
    else if (Array.isArray(value) && value.every(isScalar)) out[path] = value.join(', ')
  }
  return out
}

/** Whether records by name are the rows of a table: three or more that share their fields. */
function areAlike(records: readonly Row[]): boolean {
  const [fewest = []] = records.map(Object.keys).sort((a, b) => a.length - b.length)
  return records.length > 2 && records.every(record => fewest.every(name => name in record))
}

/** The figures and tables of an answer, in the order in which it has them. */
export function foundIn(answer: unknown): Found {
  const figures: Found['figures'] = []
  const tables: Found['tables'] = []
  const visit = (name: string, value: unknown) => {
    if (hidden.test(name)) return
    if (isScalar(value)) figures.push([name, value])
    else if (Array.isArray(value) && value.every(isRecord)) {
      if (value.length > 0) tables.push({ name, rows: value.map(row => flat(row)) })
    } else if (Array.isArray(value)) {
      if (value.length > 0) figures.push([name, value.join(', ')])
    } else if (isRecord(value)) visitRecord(name, value)
  }
  const visitRecord = (name: string, value: Row) => {
    const fields = fieldsOf(value)
    const records = fields.filter(([, field]) => isRecord(field)) as [string, Row][]
    const isTable =
      areAlike(records.map(([, record]) => record)) ||
      (records.length > 3 && records.length === fields.length)
    const isCounts =
      name !== '' && fields.length > 3 && fields.every(([, field]) => typeof field === 'number')
    const subject = /(basin|state)s?$/.exec(name)?.[1] ?? 'name'
    if (isTable)
      tables.push({
        name: name || 'data',
        rows: records.map(([field, row]) => ({ [subject]: field, ...flat(row) })),
      })
    if (isCounts)
      tables.push({
        name,
        rows: fields.map(([field, value]) => ({
          [subject]: subject === 'name' ? labelOf(field) : field,
          value,
        })),
      })
    else
      for (const [field, inner] of fields)
        if (!isTable || !isRecord(inner)) visit(name === '' ? field : `${name}_${field}`, inner)
  }
  visitRecord(
    '',
    isRecord(answer) ? (isRecord(answer.data) ? answer.data : withoutCopies(answer)) : {},
  )
  const isLength = ([name, value]: readonly [string, Scalar]) =>
    /count$/.test(name) && tables.some(({ rows }) => rows.length === value)
  return {
    figures: figures.filter(
      (figure, i) => !isLength(figure) && !isRepeated(figures, i) && !isNamed(figures, figure),
    ),
    // Some answers have a table under two names.
    tables: tables.filter(
      ({ rows }, i) =>
        tables.findIndex(table => JSON.stringify(table.rows) === JSON.stringify(rows)) === i,
    ),
  }
}

/** Some answers hold their data twice, inside and outside of `data`. */
const withoutCopies = (answer: Row): Row => ('data' in answer ? { data: answer.data } : answer)

/** A number of several digits that an earlier figure has too: the same figure under another name. */
const isRepeated = (figures: Found['figures'], at: number): boolean => {
  const [, value] = figures[at]!
  const isSpecific = typeof value === 'number' && String(value).replace(/\D/g, '').length >= 3
  return isSpecific && figures.slice(0, at).some(([, earlier]) => earlier === value)
}

/** Whether another figure says the same: a name says its type, and a code the name of its series. */
const isNamed = (figures: Found['figures'], [field, value]: Found['figures'][number]): boolean =>
  figures.some(
    ([other, text]) =>
      (/(^|_)type$/.test(field) &&
        /(^|_)name$/.test(other) &&
        asWords(String(value)).toLowerCase() === String(text).toLowerCase()) ||
      (field === 'name' && other === 'code' && seriesName(String(text)) === value) ||
      other === `${field}_name`,
  )
