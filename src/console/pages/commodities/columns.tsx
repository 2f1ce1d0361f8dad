import { type Mood, Tag } from '../../parts/bits.tsx'
import type { Column } from '../../parts/tables/columns.tsx'
import {
  cellOf,
  isCalendar,
  isDate,
  labelOf,
  plainText,
  type Row,
  seriesName,
  unitIn,
} from './cells.tsx'

export const dateFields = [
  'start',
  'date',
  'month',
  'period',
  'as_of',
  'report_date',
  'effective_date',
  'time',
]
export const nameFields =
  /^(name|code|state|basin|country|operator|commodity|product|metric|carrier|contract[12])$|_name$/

/** The order of columns: the subject of a row first, which may be its time, then numbers. */
function placeOf(values: readonly unknown[], name: string, hasSubject: boolean): number {
  if (values.every(value => typeof value === 'number')) return 2
  if (values.some(value => typeof value === 'boolean')) return 4
  if (nameFields.test(name)) return 0
  if (dateFields.includes(name)) return 1
  return isDate(values[0]) ? (hasSubject ? 3 : 1) : 2.5
}

/** Whether a value is a count among measures of other kinds, whose fractions it does not share. */
const isCount = (name: string, row: Row): boolean =>
  name === 'value' && /\bcount$/i.test(String(row.name))

/** So many columns are on the screen; the file has all. */
const columnsMax = 9

const moods: Readonly<Record<string, Mood>> = { critical: 'bad', warning: 'warn' }

/** The columns of a table, and as texts what all of its rows have in common. */
export function columnsOf(rows: readonly Row[]): { columns: Column<Row>[]; alike: string[] } {
  const names = [...new Set(rows.slice(0, 50).flatMap(row => Object.keys(row)))]
  const valuesOf = new Map(names.map(name => [name, rows.map(row => row[name] ?? null)]))
  const hasSubject = names.some(
    name => nameFields.test(name) && new Set(valuesOf.get(name)).size > 1,
  )
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
          cellOf(name, row[name], isCount(name, row) ? undefined : values)
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

export const datesMin = 4

/** The field that orders rows in time, where they have one. */
export function datesOf(rows: readonly Row[]): string | undefined {
  const field = dateFields.find(name => typeof rows[0]?.[name] === 'string')
  if (field === undefined) return undefined
  return new Set(rows.map(row => row[field])).size >= datesMin ? field : undefined
}
