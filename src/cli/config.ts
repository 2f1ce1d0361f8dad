import type { Config } from '../config/config.ts'
import { explain } from '../config/config.ts'
import { wrapped } from './table.ts'

const columns = ['key', 'value', 'source'] as const
const headings = { key: 'KEY', value: 'VALUE', source: 'SOURCE' }
/** Where output goes to no terminal. */
const usualWidth = 100
const indent = '    '

export interface ExplainOutput {
  out(line: string): void
  /** Columns of the terminal. */
  width: number | undefined
  json: boolean
}

/**
 * Prints every effective setting and its source, one line each, secrets masked; the meaning follows
 * below it.
 */
export function configExplain(config: Config, { out, width, json }: ExplainOutput): void {
  const rows = explain(config)
  if (json) {
    out(JSON.stringify(rows, null, 2))
    return
  }
  const within = Math.min(width ?? usualWidth, usualWidth)
  // A longer value shifts only its own line.
  const widest = Math.max(12, Math.floor(within / 3) - 2)
  const widths = columns.map(column =>
    Math.min(widest, Math.max(...[headings, ...rows].map(row => row[column].length))),
  )
  const line = (row: Record<(typeof columns)[number], string>) =>
    columns
      .map((column, index) => row[column].padEnd(widths[index]!))
      .join('  ')
      .trimEnd()
  out(line(headings))
  for (const row of rows) {
    for (const each of foldedList(line(row), within)) out(each)
    for (const text of wrapped(row.description, within - indent.length)) out(indent + text)
  }
}

/** A list that is longer than a line continues in the next. */
const foldedList = (text: string, width: number): string[] => {
  const [first = '', ...more] = wrapped(text, width - 2 * indent.length)
  return [first, ...more.map(part => indent + indent + part)]
}
