import { shown } from '../../datasets/cell.ts'
import { fieldsOf } from './csv.ts'

/**
 * Column names of a file by field of the data (`observed_at`) or, in a wide file, by what a column
 * is named after, such as the commodity code whose prices it holds.
 */
export type Mapping = ReadonlyMap<string, string>

/**
 * Reads `code=Col,observed_at=Col,price=Col`, from one text or from several. Text after a comma
 * that is not a pair belongs to the column before it: `COAL_AUSTRALIA_USD=Coal, Australian`; a pair
 * may also be in double quotes. Names of `fields` are matched in any letter case; all others become
 * upper case. Throws a sentence.
 */
export function mappingOf(text: string | readonly string[], fields: readonly string[]): Mapping {
  const mapping = new Map<string, string>()
  for (const pair of [text].flat().flatMap(pairsOf)) {
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

function pairsOf(text: string): string[] {
  if (text.includes('"')) return fieldsOf(text, ',') ?? [text]
  const pairs: string[] = []
  for (const part of text.split(',')) {
    if (pairs.length === 0 || part.includes('=')) pairs.push(part)
    else pairs.push(`${pairs.pop()},${part}`)
  }
  return pairs.map(pair => pair.trim())
}

/** The name of a column as it is compared. */
export const plain = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
