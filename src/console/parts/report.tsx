import { Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import { ask, useLoaded } from './ask.ts'
import { Empty, Figure, Shown } from './bits.tsx'
import { Chart } from './charts/chart.tsx'
import { number, words } from './format.ts'
import { type Column, Table } from './table.tsx'

type Row = Record<string, unknown>
type Scalar = string | number | boolean

interface Found {
  figures: [name: string, value: Scalar][]
  tables: { name: string; rows: Row[] }[]
}

/** Fields of a response that are for programs only. */
const hidden =
  /^(id|status|metadata|meta|request_id|source_description|cached|cache_ttl|filters|tier|tier_name|tier_required|timestamp|formatted|data_source|docs_url|page|per_page|total_pages|has_next|has_prev)$/

const isScalar = (value: unknown): value is Scalar =>
  ['string', 'number', 'boolean'].includes(typeof value)
const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Fields of a record, and of records in it, by their path. */
function flat(row: Row, prefix = ''): Row {
  const out: Row = {}
  for (const [name, value] of Object.entries(row)) {
    if (hidden.test(name)) continue
    const path = prefix === '' ? name : `${prefix}_${name}`
    if (isRecord(value)) Object.assign(out, flat(value, path))
    else if (isScalar(value) || value === null) out[path] = value
  }
  return out
}

/** The figures and tables of an answer, in the order in which it has them. */
function foundIn(answer: unknown): Found {
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
    const fields = Object.entries(value).filter(([field]) => !hidden.test(field))
    const isOf = (test: (value: unknown) => boolean) =>
      fields.length > 3 && fields.every(([, field]) => test(field))
    if (isOf(isRecord))
      tables.push({
        name,
        rows: fields.map(([field, row]) => ({ name: field, ...flat(row as Row) })),
      })
    else if (name !== '' && isOf(field => typeof field === 'number'))
      tables.push({ name, rows: fields.map(([field, count]) => ({ name: field, value: count })) })
    else for (const [field, inner] of fields) visit(name === '' ? field : `${name}_${field}`, inner)
  }
  visitRecord(
    '',
    isRecord(answer) ? (isRecord(answer.data) ? answer.data : withoutCopies(answer)) : {},
  )
  return { figures, tables }
}

/** Some answers hold their data twice, inside and outside of `data`. */
const withoutCopies = (answer: Row): Row => ('data' in answer ? { data: answer.data } : answer)

/**
 * Renders a response of the API: its figures, its tables, and a chart of the first table with
 * dates.
 */
export function Report({ title, path }: { title: string; path: string }) {
  const answer = useLoaded(path, signal => ask<unknown>(path, { signal }))
  const found = useMemo(() => foundIn(answer.data), [answer.data])
  const numbers = found.figures.filter(isNumeric)
  const texts = found.figures.filter(figure => !isNumeric(figure))
  const dated = found.tables.find(({ rows }) => datesOf(rows) !== undefined)
  return (
    <Shown of={answer} what={title.toLowerCase()}>
      {() => (
        <>
          {found.figures.length === 0 && found.tables.length === 0 && (
            <section class="card">
              <Empty>Nothing of this yet.</Empty>
            </section>
          )}
          {found.figures.length > 0 && (
            <section class="card" aria-label={`${title}: figures`}>
              {numbers.length > 0 && (
                <div class="figures">
                  {numbers.map(([name, value]) => (
                    <Figure key={name} label={labelOf(name)}>
                      {cellText(name, value)}
                    </Figure>
                  ))}
                </div>
              )}
              {texts.length > 0 && (
                <dl class="facts small">
                  {texts.map(([name, value]) => (
                    <Fragment key={name}>
                      <dt>{labelOf(name)}</dt>
                      <dd>{cellText(name, value)}</dd>
                    </Fragment>
                  ))}
                </dl>
              )}
            </section>
          )}
          {dated && <Course title={title} rows={dated.rows} />}
          {found.tables.map(({ name, rows }, i) => (
            <Table
              key={name}
              caption={name === 'data' || name === '' ? title : `${title}: ${labelOf(name)}`}
              file={`report-${i}`}
              rows={rows}
              keyOf={(_, at) => String(at)}
              isTall
              empty="Nothing of this yet."
              note={<code>GET {path}</code>}
              columns={columnsOf(rows)}
            />
          ))}
        </>
      )}
    </Shown>
  )
}

/** A number is a figure; what the numbers are of is read in lines below them. */
const isNumeric = ([, value]: readonly [string, unknown]): boolean => typeof value === 'number'

const labelOf = (name: string): string => words(name === 'data' ? 'values' : name)

const isPercent = (name: string): boolean =>
  /percent|percentage|pct|accuracy|utilization/.test(name)
const isDate = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)

/** From here on a fraction says nothing. */
const wholeFrom = 100_000

/** How many digits values have behind their points, so that they stand below each other. */
function digitsOf(values: readonly unknown[]): number {
  const numbers = values.filter(value => typeof value === 'number')
  return numbers.every(Number.isInteger) || numbers.some(value => Math.abs(value) >= wholeFrom)
    ? 0
    : 2
}

function cellText(name: string, value: unknown, digits = digitsOf([value])): string {
  if (value === null || value === undefined || value === '') return '–'
  if (typeof value === 'number') {
    const text = number(value, digits)
    return isPercent(name) ? `${text}%` : text
  }
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (isDate(value)) return value.slice(0, 10)
  return /^[a-z]+(_[a-z0-9]+)*$/.test(String(value)) ? words(String(value)) : String(value)
}

const dateFields = ['date', 'month', 'period', 'as_of', 'report_date']
const nameFields = /^(name|code|state|basin|country|operator|commodity|product|metric|carrier)$/

/**
 * The order of columns: the subject of a row first, then time and numbers; columns that are equal
 * in every row last.
 */
function placeOf(rows: readonly Row[], name: string): number {
  const values = rows.map(row => row[name]).filter(value => value !== null && value !== undefined)
  const isAlike = rows.length > 1 && new Set(values).size === 1
  if (values.every(value => typeof value === 'number')) return isAlike ? 3 : 2
  if (isAlike || values.some(value => typeof value === 'boolean')) return 4
  if (nameFields.test(name)) return 0
  if (dateFields.includes(name)) return 1
  return isDate(values[0]) ? 3 : 2.5
}

const isCodeField = (name: string): boolean => /^(code|commodity|commodity_code)$/.test(name)
const columnsMax = 9

function columnsOf(rows: readonly Row[]): Column<Row>[] {
  const names = [...new Set(rows.slice(0, 50).flatMap(row => Object.keys(row)))]
  const filled = names.filter(name =>
    rows.some(row => row[name] !== null && row[name] !== undefined),
  )
  const places = new Map(filled.map(name => [name, placeOf(rows, name)]))
  filled.sort((a, b) => places.get(a)! - places.get(b)!)
  return filled.slice(0, columnsMax).map((name, i): Column<Row> => {
    const isNumber = rows.every(row => row[name] === null || typeof row[name] !== 'string')
    const digits = digitsOf(rows.map(row => row[name]))
    return {
      name: labelOf(name),
      fileName: name,
      isNumber,
      isWide: i > 3,
      value: row => row[name] as string | number | null,
      show: row =>
        isCodeField(name) && /^[A-Z][A-Z0-9_]+$/.test(String(row[name])) ? (
          <a href={`/series/${row[name]}`}>{String(row[name])}</a>
        ) : (
          cellText(name, row[name], digits)
        ),
    }
  })
}

const datesMin = 4

/** The field that orders rows in time, where they have one. */
function datesOf(rows: readonly Row[]): string | undefined {
  const field = dateFields.find(name => typeof rows[0]?.[name] === 'string')
  if (field === undefined) return undefined
  return new Set(rows.map(row => row[field])).size >= datesMin ? field : undefined
}

const linesMax = 5
const inks = ['--ink-1', '--ink-2', '--ink-3', '--ink-4', '--ink-5']
const notMeasures = /^(id|rank|year|change.*|percent.*|.*_id)$/

/** The first measure of dated rows over time, a line for each of the first few names. */
function Course({ title, rows }: { title: string; rows: readonly Row[] }) {
  const drawn = useMemo(() => {
    const field = datesOf(rows)
    const first = rows[0]
    if (field === undefined || first === undefined) return undefined
    const measure = Object.keys(first).find(
      name => !notMeasures.test(name) && rows.some(row => typeof row[name] === 'number'),
    )
    if (measure === undefined) return undefined
    const group = Object.keys(first).find(
      name =>
        name !== field &&
        typeof first[name] === 'string' &&
        !isDate(first[name]) &&
        new Set(rows.map(row => row[name])).size > 1,
    )
    const nameOf = (row: Row): string => (group === undefined ? measure : String(row[group]))
    const timeOf = (row: Row): number => Date.parse(String(row[field])) / 1000
    const times = [...new Set(rows.map(timeOf))].filter(Number.isFinite).sort((a, b) => a - b)
    const names = [...new Set(rows.map(nameOf))].slice(0, linesMax)
    const lines = names.map((name, i) => {
      const values = new Map(
        rows.filter(row => nameOf(row) === name).map(row => [timeOf(row), row[measure]]),
      )
      return {
        label: cellText('', name),
        ink: inks[i]!,
        values: times.map(time => {
          const value = values.get(time)
          return typeof value === 'number' ? value : null
        }),
      }
    })
    return times.length >= datesMin ? { times, lines, measure } : undefined
  }, [rows])
  if (!drawn) return null
  return (
    <section class="card" aria-label={`${title}: chart`}>
      <Chart
        title={`${title}, ${labelOf(drawn.measure).toLowerCase()}`}
        height={240}
        times={drawn.times}
        lines={drawn.lines}
      />
    </section>
  )
}
