import { country, rigTypeCodes, storedBasins } from './drilling.ts'

const ending = '_RIG_COUNT'
const basinByPrefix = new Map(
  storedBasins.flatMap(({ codePrefix, key }) =>
    codePrefix === undefined ? [] : [[codePrefix, key] as const],
  ),
)
const countryWide: ReadonlySet<string> = new Set(Object.values(rigTypeCodes))

/**
 * The region whose rigs a code counts: a basin in lower case, a state or country in upper case;
 * undefined for any other code.
 */
export function rigRegionOf(code: string): string | undefined {
  if (!code.endsWith(ending)) return undefined
  if (countryWide.has(code)) return country
  const prefix = code.slice(0, -ending.length)
  return basinByPrefix.get(prefix) ?? prefix
}
