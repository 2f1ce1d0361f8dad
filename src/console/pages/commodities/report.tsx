import { Fragment, type VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { Empty, Figure, type Mood, Shown, Tag } from '../../parts/bits.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { useAnswer } from '../../parts/requests/ask.ts'
import { codes } from '../../parts/requests/codes.ts'
import type { Column } from '../../parts/tables/columns.tsx'
import { Move } from '../../parts/tables/move.tsx'
import { Table } from '../../parts/tables/table.tsx'
import {
  dataDay,
  day,
  decimalsOf,
  formulaText,
  instant,
  number,
  unitOf,
  words,
} from '../../parts/text/format.ts'

type Row = Record<string, unknown>
type Scalar = string | number | boolean

interface Found {
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
const isRecord = (value: unknown): value is Row =>
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

/** What a name or a code says already: the type of what it names, and the name of a series. */
const isNamed = (figures: Found['figures'], [field, value]: Found['figures'][number]): boolean =>
  figures.some(
    ([other, text]) =>
      (/(^|_)type$/.test(field) &&
        /(^|_)name$/.test(other) &&
        asWords(String(value)).toLowerCase() === String(text).toLowerCase()) ||
      (field === 'name' && other === 'code' && seriesName(String(text)) === value) ||
      other === `${field}_name`,
  )

/** So many facts about a table stand below it, or below figures before the rest is folded. */
const factsMax = 4

interface Paged {
  meta?: { total_count?: number }
}

/**
 * Renders a response of the API: its figures, its tables, and a chart of the first table with
 * dates.
 */
export function Report({ title, path }: { title: string; path: string }) {
  const answer = useAnswer<unknown>(path)
  const found = useMemo(() => foundIn(answer.data), [answer.data])
  const total = (answer.data as Paged | undefined)?.meta?.total_count
  // A date or two of a table stand below it.
  const facts =
    found.tables.length > 0 &&
    found.figures.length <= factsMax &&
    found.figures.every(([, value]) => typeof value === 'string')
      ? found.figures
      : []
  const dated = found.tables.find(({ rows }) => datesOf(rows) !== undefined)
  return (
    <Shown of={answer} what={title.toLowerCase()}>
      {() => (
        <>
          {found.figures.length === 0 && found.tables.length === 0 && (
            <section class="card">
              <Empty>No data for this report yet.</Empty>
            </section>
          )}
          {found.figures.length > facts.length && <Figures title={title} figures={found.figures} />}
          {dated && <Course title={title} rows={dated.rows} />}
          {found.tables.map(({ name, rows }, i) => {
            const { columns, alike } = columnsOf(rows)
            return (
              <Table
                key={name}
                caption={name === 'data' || i === 0 ? title : `${title}: ${labelOf(name)}`}
                file={`report-${i}`}
                rows={rows}
                keyOf={(_, at) => String(at)}
                isTall
                className="report"
                empty="No data for this report yet."
                note={
                  <span class="row spread">
                    <span>
                      {[
                        ...(i === 0
                          ? facts.map(
                              ([field, value]) => `${labelOf(field)}: ${plainText(field, value)}`,
                            )
                          : []),
                        ...alike,
                        i === 0 &&
                          total !== undefined &&
                          total > rows.length &&
                          `First ${number(rows.length)} of ${number(total)} rows; the API returns the rest`,
                      ]
                        .filter(Boolean)
                        .join(' · ')}
                    </span>
                    {i === 0 && <code>GET {path}</code>}
                  </span>
                }
                columns={columns}
              />
            )
          })}
        </>
      )}
    </Shown>
  )
}

/** Figures whose unit is not the one of the answer: shares, ages and numbers of things. */
const hasNoUnit =
  /percent|pct|count|hours|expected|volume|interest|days|weeks|score|zscore|points|period|years|wells|permits|rank|_per_|price[12]$/

/** Numbers as figures with their units, and below them the texts that say what they are of. */
function Figures({ title, figures }: { title: string; figures: Found['figures'] }) {
  const numbers = figures.filter(([, value]) => typeof value === 'number')
  const texts = new Map(figures.filter(([, value]) => typeof value !== 'number'))
  const unitFields = [...texts.keys()].filter(name => /(^|_)unit$/.test(name))
  const unitFor = (name: string): string => {
    const field = unitFields
      .filter(unit => name.startsWith(unit.replace(/_?unit$/, '')))
      .reduce((longest, unit) => (unit.length > longest.length ? unit : longest), '')
    if (field === '' || hasNoUnit.test(name)) return ''
    const currency = texts.get(field.replace(/unit$/, 'currency'))
    return unitOf(currency === undefined ? null : String(currency), String(texts.get(field)))
  }
  const facts = [...texts].filter(
    ([name]) => numbers.length === 0 || !/(^|_)(unit|currency)$/.test(name),
  )
  return (
    <section class="card" aria-label={`${title}: figures`}>
      {numbers.length > 0 && (
        <div class="figures">
          {numbers.map(([name, value]) => (
            <Figure key={name} label={labelOf(name)}>
              {cellOf(name, value)} <span class="small quiet">{unitFor(name)}</span>
            </Figure>
          ))}
        </div>
      )}
      {facts.length > 0 && <Facts facts={facts.slice(0, factsMax)} />}
      {facts.length > factsMax && (
        <details class="small">
          <summary>More about these figures</summary>
          <Facts facts={facts.slice(factsMax)} />
        </details>
      )}
    </section>
  )
}

const Facts = ({ facts }: { facts: Found['figures'] }) => (
  <dl class="facts small">
    {facts.map(([name, value]) => (
      <Fragment key={name}>
        <dt>{labelOf(name)}</dt>
        <dd>{cellOf(name, value)}</dd>
      </Fragment>
    ))}
  </dl>
)

const isPercent = (name: string): boolean =>
  /percent|percentage|pct|accuracy|utilization/.test(name)
const isChange = (name: string): boolean => /(^|_)(change|difference)(_|$)/.test(name)
const isDate = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
const isPlace = (name: string): boolean => /^(basin|region|state)$/.test(name)

/** A moment, a day or a month. */
const isCalendar = (value: unknown): boolean =>
  isDate(value) || (typeof value === 'string' && /^\d{4}-\d\d(-\d\d)?$/.test(value))

/** The name of a field as a heading, with its unit behind a comma. */
const labelOf = (name: string): string =>
  words(
    name === 'data'
      ? 'values'
      : name
          .replace(
            /^(coverage|coordinates|summary|national|components|conversion|spreads(?=_m\d))_(total_)?/,
            '',
          )
          .replace(/^data_sources_/, 'source_of_'),
  )
    .replace(/^M(\d+) m(\d+)$/, 'M$1–M$2')
    .replace(/ usd per bbl$/, ', USD/bbl')
    .replace(/^(High|Low|Average) 52w$/, (_, word: string) => `52-week ${word.toLowerCase()}`)
    .replace(
      /^(Price|Contract|Code)([12])$/,
      (_, noun: string, at: string) =>
        `${at === '1' ? 'First' : 'Second'} ${noun === 'Code' ? 'series' : noun.toLowerCase()}`,
    )
    .replace(/ (percent|pct) 24h$/, ', 24 h, %')
    .replace(/\b(\w+) \1\b/, '$1')
    .replace(/^As of date$/, 'As of')
    .replace(/ (bbl|boe|mcf|Mcf|bbl\/d|Mcf\/d|million bbl\/d|days)$/, ', $1')
    .replace(/^(Oil|Gas|Total oil|Total gas) production$/, '$1')
    .replace(/^Economical$/, 'Economical fuel')
    .replace(/^Zscore$/, 'z-score')
    .replace(/^Display name$/, 'Name')
    .replace(/^Created at$/, 'Observed')
    .replace(/^(Updated|Published|Retrieved|Recorded) (at|date)$/, '$1')
    .replace(/^Expected$/, 'Expected periods')
    .replace(/^Min (?=price)/, 'Lowest ')
    .replace(/^Max (?=price)/, 'Highest ')
    .replace(/^(Port|Carrier|Operator) name$/, '$1')
    .replace(/std dev$/, 'standard deviation')
    .replace(/^Boe$/, 'Oil equivalent, boe')
    .replace(/^Percentage$/, 'Share')
    .replace(/^(Change|Spread) (percent|pct)( 24h)?$|^(Change) 24h percent$/, '$1$4, %')
    .replace(/ (percent|pct|percentage)$/, ', %')
    .replace(/ 24h$/, ', 24 h')

/** From here on a fraction says nothing. */
const wholeFrom = 100_000

/** How many digits values have behind their points, so that they stand below each other. */
function digitsOf(values: readonly unknown[]): number {
  const numbers = values.filter(value => typeof value === 'number')
  const largest = numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  if (largest >= wholeFrom) return 0
  const most = largest < 10 ? 3 : 2
  const digits = numbers.map(value => decimalsOf(Number(value.toFixed(most))))
  return digits.some(Boolean) ? Math.max(2, ...digits) : 0
}

const seriesName = (code: string): string | undefined =>
  codes.value.find(known => known.code === code)?.name

/** `gasoil_crack` and `gasoil-crack` as people write them. */
const asWords = (text: string): string => words(text.replaceAll('-', '_'))

const placeText = (text: string): string =>
  text.length === 2
    ? text.toUpperCase()
    : asWords(text).replace(/\b[a-z]/g, first => first.toUpperCase())

function cellOf(
  name: string,
  value: unknown,
  values: readonly unknown[] = [value],
): VNode | string {
  if (value === null || value === undefined || value === '') return '–'
  if (name === 'year') return String(value)
  if (typeof value === 'number') {
    const digits = digitsOf(values)
    if (isChange(name))
      return (
        <Move change={{ amount: value, percent: isPercent(name) ? value : null }} digits={digits} />
      )
    return isPercent(name) ? `${number(value, digits)}%` : number(value, digits)
  }
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (isDate(value)) return isDaily(values) ? dayOf(value, values) : instant(value)
  const text = String(value)
  if (/^https?:/.test(text)) return <a href={text}>{new URL(text).host}</a>
  if (/(^|_)unit$/.test(name)) return unitOf(null, text)
  if (seriesName(text)) return <a href={`/series/${text}`}>{seriesName(text)}</a>
  if (name === 'formula') return formulaText(text)
  if (name === 'fuel_type') return text.replaceAll('_', ' ')
  if (!/^[a-z]+([_-][a-z0-9]+)*$/.test(text)) return text
  return isPlace(name) ? placeText(text) : asWords(text)
}

/** Whether at most one of the moments is of each day. */
const isDaily = (values: readonly unknown[]): boolean => {
  const moments = new Set(values.filter(isDate))
  return new Set([...moments].map(dataDay)).size === moments.size
}

/** Days of data have one time of day, and are the same in every time zone. */
const dayOf = (value: string, values: readonly unknown[]): string => {
  const times = new Set(values.filter(isDate).map(moment => moment.slice(11, 16)))
  return times.size === 1 && (values.length > 1 || times.has('00:00')) ? dataDay(value) : day(value)
}

const dateFields = [
  'start',
  'date',
  'month',
  'period',
  'as_of',
  'report_date',
  'effective_date',
  'time',
]
const nameFields =
  /^(name|code|state|basin|country|operator|commodity|product|metric|carrier|contract[12])$|_name$/

/** The order of columns: the subject of a row first, which may be its time, then numbers. */
function placeOf(values: readonly unknown[], name: string, hasSubject: boolean): number {
  if (values.every(value => typeof value === 'number')) return 2
  if (values.some(value => typeof value === 'boolean')) return 4
  if (nameFields.test(name)) return 0
  if (dateFields.includes(name)) return 1
  return isDate(values[0]) ? (hasSubject ? 3 : 1) : 2.5
}

/** So many columns are on the screen; the file has all. */
const columnsMax = 9

const moods: Readonly<Record<string, Mood>> = { critical: 'bad', warning: 'warn' }

/** The unit of a row, after its currency where it has one. */
function unitIn(row: Row): string {
  if (typeof row.unit !== 'string') return '–'
  if (typeof row.currency === 'string') return unitOf(row.currency, row.unit)
  const unit = unitOf(null, row.unit)
  const isOfPrice = Object.keys(row).some(name => /price$/.test(name)) && !unit.includes('/')
  return isOfPrice ? `per ${unit}` : unit
}

/** The columns of a table, and as texts what all of its rows have in common. */
function columnsOf(rows: readonly Row[]): { columns: Column<Row>[]; alike: string[] } {
  const names = [...new Set(rows.slice(0, 50).flatMap(row => Object.keys(row)))]
  const valuesOf = new Map(names.map(name => [name, rows.map(row => row[name] ?? null)]))
  const hasSubject = names.some(name => nameFields.test(name))
  const filled = names
    .filter(name => valuesOf.get(name)!.some(value => value !== null))
    .map(name => {
      const values = valuesOf.get(name)!
      return {
        name,
        values,
        place: placeOf(
          values.filter(value => value !== null),
          name,
          hasSubject,
        ),
      }
    })
    .sort((a, b) => a.place - b.place)
  const isAlike = ({ values }: { values: readonly unknown[] }) =>
    values.length > 1 && typeof values[0] !== 'number' && new Set(values).size === 1
  const isSaid = ({ name, values }: { name: string; values: readonly unknown[] }, at: number) => {
    const subject = name.replace(/_code$/, '')
    const isNamed = (known: string) => valuesOf.has(known) && known !== name
    return (
      isNamed(`${subject}_name`) ||
      (name === 'code' && isNamed('name')) ||
      (name === 'commodity' && isNamed('display_name')) ||
      (name === 'currency' && isNamed('unit')) ||
      (name === 'updated_at' && isNamed('created_at')) ||
      (name === 'grade_name' && isNamed('name')) ||
      (name === 'country' && isNamed('port_name')) ||
      filled.slice(0, at).some(before => String(before.values) === String(values))
    )
  }
  const shown = filled.filter((column, at) => !isAlike(column) && !isSaid(column, at))
  // A narrow window has room for the subject and two columns, numbers first.
  const [subject, ...rest] = shown.map(({ name }) => name)
  const isNumeric = (name: string) => valuesOf.get(name)!.some(value => typeof value === 'number')
  const narrow = new Set([
    subject,
    ...rest.toSorted((a, b) => Number(isNumeric(b)) - Number(isNumeric(a))).slice(0, 2),
  ])
  const columns = [...shown, ...filled.filter(column => !shown.includes(column))].map(
    ({ name, values }, i): Column<Row> => ({
      name: labelOf(name),
      fileName: name,
      isNumber: values.every(value => value === null || typeof value === 'number'),
      ...(values.some(isCalendar) && { className: 'nowrap' }),
      isWide: !narrow.has(name),
      isFileOnly: i >= Math.min(shown.length, columnsMax),
      value: row => row[name] as string | number | null,
      show: row => {
        const code = String(row.code ?? row.commodity)
        if (name === 'severity')
          return <Tag mood={moods[String(row[name])]}>{plainText(name, row[name])}</Tag>
        if (name === 'unit') return unitIn(row)
        return /^(display_)?name$/.test(name) && seriesName(code) ? (
          <a href={`/series/${code}`}>{String(row[name])}</a>
        ) : (
          cellOf(name, row[name], values)
        )
      },
    }),
  )
  const alike = filled
    .filter((column, at) => isAlike(column) && !isSaid(column, at))
    .map(({ name, values }) =>
      name === 'unit'
        ? `Unit: ${unitIn(rows[0]!)}`
        : `${labelOf(name)}: ${plainText(name, values[0])}`,
    )
  return { columns, alike }
}

/** A cell as a text, where no link may be. */
function plainText(name: string, value: unknown): string {
  const cell = cellOf(name, value)
  return typeof cell === 'string' ? cell : (seriesName(String(value)) ?? String(value))
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
const notMeasures = /^(id|count|rank|hours|expected|year|quarter|month|change.*|percent.*|.*_id)$/

/** The field that names the subject of each row, where a table has several subjects. */
const groupOf = (rows: readonly Row[], field: string): string | undefined => {
  const candidates = Object.keys(rows[0]!).filter(
    name =>
      name !== field &&
      !/unit|currency|source|date|contract/.test(name) &&
      typeof rows[0]![name] === 'string' &&
      !isDate(rows[0]![name]) &&
      new Set(rows.map(row => row[name])).size > 1,
  )
  return candidates.find(name => nameFields.test(name)) ?? candidates[0]
}

/** The first measure of dated rows over time, a line for each of the first few names of one unit. */
function Course({ title, rows: all }: { title: string; rows: readonly Row[] }) {
  const drawn = useMemo(() => {
    const field = datesOf(all)
    const first = all[0]
    if (field === undefined || first === undefined) return undefined
    const rows = all.filter(row => row.unit === first.unit)
    const measure = Object.keys(first).find(
      name => !notMeasures.test(name) && rows.some(row => typeof row[name] === 'number'),
    )
    if (measure === undefined) return undefined
    const group = groupOf(rows, field)
    const nameOf = (row: Row): string => (group === undefined ? measure : String(row[group]))
    const timeOf = (row: Row): number => Date.parse(String(row[field])) / 1000
    const times = [...new Set(rows.map(timeOf))].filter(Number.isFinite).sort((a, b) => a - b)
    const sizes = new Map(rows.map(row => [nameOf(row), Math.abs(Number(row[measure]))]))
    const [firstSize = 0] = sizes.values()
    // Without units, values of another magnitude are of another unit, and flatten the lines.
    const isComparable = (size: number) =>
      typeof first.unit === 'string' || (size <= 10 * firstSize && size >= firstSize / 10)
    const names = [...sizes.keys()]
      .filter((name, i) => i === 0 || isComparable(sizes.get(name)!))
      .slice(0, linesMax)
    const lines = names.map((name, i) => {
      const values = new Map(
        rows.filter(row => nameOf(row) === name).map(row => [timeOf(row), row[measure]]),
      )
      return {
        label: group === undefined ? labelOf(name) : plainText(group, name),
        ink: inks[i]!,
        values: times.map(time => {
          const value = values.get(time)
          return typeof value === 'number' ? value : null
        }),
      }
    })
    const unit =
      typeof first.unit === 'string'
        ? unitOf(typeof first.currency === 'string' ? first.currency : null, first.unit)
        : ''
    const isPer = /price/.test(measure) && typeof first.currency !== 'string' && unit !== ''
    const heading = isPer
      ? `${labelOf(measure)} per ${unit}`
      : [labelOf(measure), unit].filter(Boolean).join(', ')
    return times.length >= datesMin ? { times, lines, heading } : undefined
  }, [all])
  if (!drawn) return null
  return (
    <section class="card" aria-label={`${title}: chart`}>
      <p class="small quiet">{drawn.heading}</p>
      <Chart
        title={`${title}, ${drawn.heading}`}
        height={240}
        times={drawn.times}
        lines={drawn.lines}
      />
    </section>
  )
}
