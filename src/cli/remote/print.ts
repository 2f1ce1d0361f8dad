import { oneLine } from '../../lib/log/log.ts'
import { type CsvCell, csvText } from '../../lib/text/csv.ts'
import { tableLines } from '../table.ts'

export interface Format {
  json?: boolean
  csv?: boolean
}

/** A column: its heading, its name for programs, its value, and how people read it. */
export interface Column<Row> {
  heading: string
  name: string
  value(row: Row): CsvCell
  text?(row: Row): string
}

/** Rows as a table for people, or as JSON or CSV for programs; each text ends a line. */
export function printRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { json = false, csv = false }: Format,
): string {
  if (json) {
    const objects = rows.map(row =>
      Object.fromEntries(columns.map(({ name, value }) => [name, value(row)])),
    )
    return `${JSON.stringify(objects, null, 2)}\n`
  }
  if (csv) {
    const head = columns.map(({ name }) => name)
    return csvText([head, ...rows.map(row => columns.map(({ value }) => value(row)))])
  }
  const cells = rows.map(row =>
    columns.map(({ value, text }) => oneLine(text ? text(row) : String(value(row) ?? ''))),
  )
  const headings = columns.map(({ heading }) => heading)
  return `${tableLines(headings, cells).join('\n')}\n`
}

export const signedPercent = (percent: number | null | undefined): string =>
  percent === null || percent === undefined ? '' : `${percent > 0 ? '+' : ''}${percent.toFixed(2)}%`
