import { readFileSync } from 'node:fs'
import { codeLookupOf } from '../../../src/topics/catalogue/math/lookup.ts'

const rowsOf = (name: string) =>
  readFileSync(new URL(`../../../fixtures/${name}`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map(line => line.split('\t'))

const aliases = Map.groupBy(rowsOf('aliases.tsv'), row => row[1]!)

/** The catalogue that ships, numbered from 1 in the order of the file. */
export const series = rowsOf('codes.tsv').map(
  ([code, name, category, currency, unit, , , , , level], i) => ({
    id: i + 1,
    code: code!,
    name: name!,
    category: category!,
    currency: currency || null,
    unit: unit!,
    level: Number(level),
    aliases: (aliases.get(code!) ?? []).map(row => row[0]!),
  }),
)

export const catalogue = codeLookupOf(series)
export const idOf = (code: string): number => catalogue.find(code)!.id
export const codeOf = (id: number): string => series[id - 1]!.code
