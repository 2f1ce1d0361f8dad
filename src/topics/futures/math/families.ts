import type { Market } from '../../calendars/math/calendar.ts'

export type FamilyCode =
  | 'BRENT_FUTURES'
  | 'WTI_FUTURES'
  | 'GASOIL_FUTURES'
  | 'NATURAL_GAS_FUTURES'
  | 'EUA_FUTURES'
  | 'TTF_FUTURES'
  | 'JKM_FUTURES'
  | 'UKA_FUTURES'

export interface Family {
  /** Code of the front month in the catalogue; contracts are `<code>_<yyyy>_<mm>`. */
  code: FamilyCode
  name: string
  /** The part of its slug after the exchange word: `brent` of `exch-brent`. */
  exchangeSlug?: string
  /** Canonical slugs without an exchange word. */
  slugs: readonly string[]
  /** Lower case. */
  aliases: readonly string[]
  /** The part of curve-structure's parameter after the exchange word; absent: not offered there. */
  structureName?: string
  currency: string
  unit: string
  /** Only has the base, history and curve paths. */
  limited: boolean
  market: Market
  /** Session in local time, `HH:MM`; an opening later than the closing is on the evening before. */
  hours: { timezone: string; open: string; close: string }
}

const london = { timezone: 'Europe/London', open: '01:00', close: '23:00' }
const newYork = { timezone: 'America/New_York', open: '18:00', close: '17:00' }
const amsterdam = { timezone: 'Europe/Amsterdam', open: '08:00', close: '18:00' }

export const families: readonly Family[] = [
  {
    code: 'BRENT_FUTURES',
    name: 'Brent Futures',
    exchangeSlug: 'brent',
    slugs: [],
    aliases: ['brent', 'bz'],
    structureName: 'BRENT',
    currency: 'USD',
    unit: 'barrel',
    limited: false,
    market: 'london_energy',
    hours: london,
  },
  {
    code: 'WTI_FUTURES',
    name: 'WTI Futures',
    exchangeSlug: 'wti',
    slugs: [],
    aliases: ['wti', 'cl'],
    structureName: 'WTI',
    currency: 'USD',
    unit: 'barrel',
    limited: false,
    market: 'us_energy',
    hours: newYork,
  },
  {
    code: 'GASOIL_FUTURES',
    name: 'Gasoil Futures',
    exchangeSlug: 'gasoil',
    slugs: [],
    aliases: ['gasoil', 'g', 'qs'],
    structureName: 'GASOIL',
    currency: 'USD',
    unit: 'metric_ton',
    limited: false,
    market: 'london_energy',
    hours: london,
  },
  {
    code: 'NATURAL_GAS_FUTURES',
    name: 'Natural Gas Futures',
    slugs: ['natural-gas'],
    aliases: ['ng', 'natgas'],
    structureName: 'NG',
    currency: 'USD',
    unit: 'mmbtu',
    limited: false,
    market: 'us_energy',
    hours: newYork,
  },
  {
    code: 'EUA_FUTURES',
    name: 'EU Carbon Futures',
    slugs: ['eua-carbon', 'eu-carbon'],
    aliases: ['eua', 'eu_carbon'],
    currency: 'EUR',
    unit: 'metric_ton_co2',
    limited: false,
    market: 'europe_energy',
    hours: amsterdam,
  },
  {
    code: 'TTF_FUTURES',
    name: 'TTF Gas Futures',
    slugs: ['ttf-gas'],
    aliases: ['ttf'],
    structureName: 'TTF',
    currency: 'EUR',
    unit: 'mwh',
    limited: false,
    market: 'europe_energy',
    hours: amsterdam,
  },
  {
    code: 'JKM_FUTURES',
    name: 'JKM LNG Futures',
    slugs: ['lng-jkm'],
    aliases: ['jkm', 'lng'],
    currency: 'USD',
    unit: 'mmbtu',
    limited: false,
    market: 'london_energy',
    hours: london,
  },
  {
    code: 'UKA_FUTURES',
    name: 'UK Carbon Futures',
    slugs: ['uk-carbon'],
    aliases: ['uka-carbon', 'uka', 'ukets-carbon', 'uk_carbon'],
    currency: 'GBP',
    unit: 'metric_ton_co2',
    limited: true,
    market: 'europe_energy',
    hours: { timezone: 'Europe/London', open: '07:00', close: '17:00' },
  },
]

/** Contract months that a family lists. */
export const listedCount = 12

const monthPattern = /^\d{4}-(0[1-9]|1[0-2])$/

/** Canonical slugs of a family; the first of `words` is the one answered. */
export function slugsOf(family: Family, words: readonly string[]): string[] {
  return family.exchangeSlug === undefined
    ? [...family.slugs]
    : [`${words[0]}-${family.exchangeSlug}`]
}

/**
 * Everything that names a family in a path, lower case: canonical slugs first, then other exchange
 * words, then aliases.
 */
export function namesOf(family: Family, words: readonly string[]): string[] {
  const exchange =
    family.exchangeSlug === undefined ? [] : words.map(word => `${word}-${family.exchangeSlug}`)
  return [...new Set([...exchange, ...family.slugs, ...family.aliases])]
}

/**
 * A family, the canonical slug that was requested, and the listed month (1..12) that a name such as
 * `CL.2` selects.
 */
export interface Named {
  family: Family
  slug: string
  nth: number | undefined
}

/** In any letter case; undefined for a name that no family has. */
export function familyBySlug(text: string, words: readonly string[]): Named | undefined {
  const [, name, position] = /^(.*?)(?:\.([1-9]|1[0-2]))?$/.exec(text.toLowerCase()) ?? []
  const family = families.find(candidate => namesOf(candidate, words).includes(name ?? ''))
  if (!family) return undefined
  const canonical = slugsOf(family, words)
  return {
    family,
    slug: canonical.find(slug => slug === name) ?? canonical[0]!,
    nth: position === undefined ? undefined : Number(position),
  }
}

/** The values that curve-structure offers, such as `EXCH_BRENT`, with the first of `words`. */
export function structureNames(words: readonly string[]): string[] {
  return families.flatMap(({ structureName }) =>
    structureName === undefined ? [] : `${words[0]!.toUpperCase()}_${structureName}`,
  )
}

/**
 * The family of `EXCH_BRENT` with any of `words`, of a family code or of a slug, among those that
 * curve-structure offers.
 */
export function familyByStructure(text: string, words: readonly string[]): Family | undefined {
  const upper = text.toUpperCase()
  const bySlug = familyBySlug(text, words)
  return families.find(
    family =>
      family.structureName !== undefined &&
      (upper === family.code ||
        words.some(word => upper === `${word.toUpperCase()}_${family.structureName}`) ||
        (bySlug?.family === family && bySlug.nth === undefined)),
  )
}

/** `BRENT_FUTURES_2026_12` for `2026-12`. */
export const contractCode = (code: FamilyCode, month: string): string =>
  `${code}_${month.replace('-', '_')}`

/** The family and month (`YYYY-MM`) of a contract code in any letter case. */
export function parseContractCode(text: string): { family: Family; month: string } | undefined {
  const [, code, year, month] = /^([A-Z_]+)_(\d{4})_(\d{2})$/.exec(text.toUpperCase()) ?? []
  const family = families.find(candidate => candidate.code === code)
  return family && monthPattern.test(`${year}-${month}`)
    ? { family, month: `${year}-${month}` }
    : undefined
}

/**
 * A `contract` parameter: `YYYY-MM`, a contract code of this family, or N (1..12) for the Nth
 * listed month.
 */
export function parseContract(
  text: string,
  code: FamilyCode,
): { month: string } | { nth: number } | undefined {
  if (monthPattern.test(text)) return { month: text }
  if (/^\d{1,2}$/.test(text))
    return Number(text) >= 1 && Number(text) <= listedCount ? { nth: Number(text) } : undefined
  const parsed = parseContractCode(text)
  return parsed?.family.code === code ? { month: parsed.month } : undefined
}

const byCode = new Map(families.map(family => [family.code, family]))

/** A place of a family's curve, as `CL.1` or `WTI_FUTURES.1`. */
export function parseRank(name: string): { family: Family; rank: number } | undefined {
  const [, word = '', digits] = /^([A-Z_]+)\.(\d{1,2})$/.exec(name.trim().toUpperCase()) ?? []
  const rank = Number(digits)
  const family = families.find(
    ({ code, aliases }) => code === word || aliases.includes(word.toLowerCase()),
  )
  return family && rank >= 1 && rank <= listedCount ? { family, rank } : undefined
}

export const familyOf = (code: FamilyCode): Family => byCode.get(code)!

/** The category of the series that a family is on: their prices move together. */
export const underlyingCategory = (family: FamilyCode): string => {
  if (/^(WTI|BRENT)/.test(family)) return 'crude_oil'
  if (/^(NATURAL_GAS|TTF|JKM)/.test(family)) return 'natural_gas'
  return /^(EUA|UKA)/.test(family) ? 'carbon' : 'refined_products'
}
