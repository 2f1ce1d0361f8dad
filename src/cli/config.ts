import type { Config, Explained } from '../config.ts'
import { explain } from '../config.ts'

const columns = ['key', 'value', 'source', 'description'] as const
const widestColumn = 44

/**
 * Prints every setting in force, where it comes from and what it does: one line each, secrets
 * masked.
 */
export function configExplain(config: Config, print: (line: string) => void): void {
  const header: Explained = {
    key: 'KEY',
    value: 'VALUE',
    source: 'SOURCE',
    description: 'DESCRIPTION',
  }
  const rows = [header, ...explain(config)]
  // A longer value pushes its own line to the right instead of everybody's.
  const widths = columns.map(column =>
    Math.min(widestColumn, Math.max(...rows.map(row => row[column].length))),
  )
  for (const row of rows)
    print(
      columns
        .map((column, index) => row[column].padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    )
}
