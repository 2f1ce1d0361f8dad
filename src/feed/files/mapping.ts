import { shown } from './cell.ts'
import { fieldsOf } from './csv.ts'

/**
 * Column names of a file by field of the data (`observed_at`) or, in a wide file, by what a column
 * is named after, such as the commodity code whose prices it holds.
 */
export type Mapping = ReadonlyMap<string, string>

/**
 * Reads `code=Col,observed_at=Col,price=Col`; a pair whose column has a comma stands in double
 * quotes. Names of `fields` are found in any letter case; all others become upper case. Throws a
 * sentence.
 */
export function mappingOf(text: string, fields: readonly string[]): Mapping {
  const mapping = new Map<string, string>()
  for (const pair of fieldsOf(text, ',') ?? [text]) {
    const [, key, column] = /^([^=]+)=(.+)$/.exec(pair) ?? []
    if (!key || !column)
      throw new Error(
        `--map ${shown(pair)} is not FIELD=COLUMN: write for example --map observed_at=Date,price=Close`,
      )
    const lower = key.trim().toLowerCase()
    const name = fields.includes(lower) ? lower : key.trim().toUpperCase()
    if (mapping.has(name))
      throw new Error(`--map names ${name} twice: one column for each field or code`)
    mapping.set(name, column.trim())
  }
  return mapping
}
