import { useMemo } from 'preact/hooks'
import { Chart } from '../../parts/charts/chart.tsx'
import { unitOf } from '../../parts/text/format.ts'
import { isDate, labelOf, plainText, type Row } from './cells.tsx'
import { datesMin, datesOf, nameFields } from './columns.tsx'

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
export function Course({ title, rows: all }: { title: string; rows: readonly Row[] }) {
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
