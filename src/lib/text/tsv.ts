import { camelCase } from './name-case.ts'

/** The rows of a table with tabs: each cell under the name in the first line, in camel case. */
export function tsvRows<Name extends string>(text: string): Record<Name, string>[] {
  const [header = '', ...lines] = text.trim().split('\n')
  const names = header.split('\t').map(camelCase)
  return lines.map(line => {
    const cells = line.split('\t')
    const entries = names.map((name, column) => [name, cells[column] ?? ''])
    return Object.fromEntries(entries) as Record<Name, string>
  })
}
