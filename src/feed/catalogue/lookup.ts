import { distance } from 'fastest-levenshtein'
import type { Series } from '../../store/catalogue/series.ts'

/** What the checks need to know of a series. */
export type SeriesIdentity = Pick<
  Series,
  'id' | 'code' | 'category' | 'currency' | 'unit' | 'level' | 'bounds' | 'valueAt' | 'terms'
>

export interface CodeLookup {
  /** The series of a code or an alias, in any letter case. */
  find(code: string): SeriesIdentity | undefined
  /** The code that somebody who wrote `code` probably meant; of a category alone, if one is named. */
  nearest(code: string, category?: string): string | undefined
}

/**
 * Only so many different wrong codes get a search for what was meant: a file of nothing but wrong
 * codes must not become slow.
 */
const nearestMax = 1000

export function codeLookupOf(
  series: readonly (SeriesIdentity & { aliases: readonly string[] })[],
): CodeLookup {
  const byName = new Map<string, SeriesIdentity>()
  for (const entry of series)
    for (const alias of entry.aliases) byName.set(alias.toUpperCase(), entry)
  for (const entry of series) byName.set(entry.code.toUpperCase(), entry)
  const meant = new Map<string, string | undefined>()
  const search = (code: string, category?: string): string | undefined => {
    let best: string | undefined
    let bound = Math.max(2, Math.floor(code.length / 3)) + 1
    for (const [name, one] of byName) {
      if (category !== undefined && one.category !== category) continue
      if (Math.abs(name.length - code.length) >= bound) continue
      const far = distance(code, name)
      if (far < bound) [best, bound] = [one.code, far]
    }
    return best
  }
  return {
    find: code => byName.get(code) ?? byName.get(code.toUpperCase()),
    nearest(code, category) {
      const name = code.slice(0, 60).toUpperCase()
      if (category !== undefined) return search(name, category)
      if (!meant.has(name) && meant.size < nearestMax) meant.set(name, search(name))
      return meant.get(name)
    },
  }
}

/** Every code of a catalogue, the contracts of futures too, which its list leaves out. */
export const everyCode = (catalogue: {
  named(text: string): SeriesIdentity | undefined
  suggest(text: string, category?: string): { code: string }[]
}): CodeLookup => ({
  find: code => catalogue.named(code),
  nearest: (code, category) => catalogue.suggest(code, category)[0]?.code,
})
