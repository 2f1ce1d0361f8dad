import { type Candidate, suggestCodes } from './suggest.ts'
import type { SeriesTerms, TermsInForce } from './terms.ts'

/** The facts about a series that row checks need. */
export interface SeriesIdentity extends Pick<TermsInForce, 'bounds' | 'valueAt' | 'delivery'> {
  id: number
  code: string
  category: string
  currency: string | null
  unit: string
  level: number
  terms?: SeriesTerms
}

export type CodeLookup = ReturnType<typeof codeLookupOf>

/** Whether a code, its name and its aliases contain every word of a text, in any letter case. */
export function mentions(
  series: { code: string; name: string; aliases: readonly string[] },
  text: string,
): boolean {
  const names = [series.code, series.name, ...series.aliases].join('\n').toUpperCase()
  return text
    .trim()
    .toUpperCase()
    .split(/\s+/)
    .every(word => names.includes(word))
}

/**
 * At most this many different unknown codes get suggestions, so that a file of nothing but unknown
 * codes does not become slow.
 */
const nearestMax = 1000

export function codeLookupOf(series: readonly (SeriesIdentity & Candidate)[]) {
  const byName = new Map<string, SeriesIdentity>()
  for (const entry of series)
    for (const alias of entry.aliases) byName.set(alias.toUpperCase(), entry)
  for (const entry of series) byName.set(entry.code.toUpperCase(), entry)
  const byCategory = Map.groupBy(series, entry => entry.category)
  const meant = new Map<string, string | undefined>()
  const search = (code: string, category?: string): string | undefined =>
    suggestCodes(code, category === undefined ? series : (byCategory.get(category) ?? []))[0]?.code
  return {
    /** The series of a code or an alias, in any letter case. */
    find: (code: string) => byName.get(code) ?? byName.get(code.toUpperCase()),
    /** The code that was probably meant by `code`; only within a category, if one is named. */
    nearest(code: string, category?: string) {
      if (category !== undefined) return search(code, category)
      if (!meant.has(code) && meant.size < nearestMax) meant.set(code, search(code))
      return meant.get(code)
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
