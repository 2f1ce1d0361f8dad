import type { Cadence } from './catalogue.ts'

/** Calendars that series are published by. */
export const marketNames = [
  'us_energy',
  'london_energy',
  'europe_energy',
  'fx',
  'metals',
  'us_government',
  'weekday',
  'every_day',
] as const
export type MarketName = (typeof marketNames)[number]

/** How an own code is spelled. */
export const isCode = (text: string): boolean => /^[A-Z][A-Z0-9_]{1,49}$/.test(text)

/** What an operator says of a series. What is absent is as shipped, or the default of an own one. */
export interface SeriesTerms {
  name?: string
  category?: string
  /** Null: the number is not money. */
  currency?: string | null
  unit?: string
  decimals?: number
  cadence?: Cadence
  source?: string
  description?: string
  /** A typical value, from which the bounds follow where none are set. */
  level?: number
  min?: number
  max?: number
  calendar?: MarketName
  /** How many days after its date a value comes out. */
  releaseLagDays?: number
  /** Where and when a value is made that comes with its day only: `Europe/London`, `16:30`. */
  timeZone?: string
  valueTime?: string
  licenseClass?: 'open' | 'view'
  /** The sentence that its numbers are shown with. */
  attribution?: string
  /** Beside the shipped ones. */
  aliases?: string[]
  /** What each guard at the door does with a doubtful value. */
  guards?: Record<string, 'hold' | 'flag' | 'off'>
  /** Ids of the accounts that an own series is for; absent: for everybody. */
  visibleTo?: string[]
  /** False: it is listed as discontinued. True: a shipped code without a source is served. */
  active?: boolean
}

/** What was shipped of a series, or the defaults of an own one. */
export interface SeriesBase {
  name: string
  category: string
  currency: string | null
  unit: string
  decimals: number
  cadence: Cadence
  source: string
  description: string
  level: number
  unavailableReason: string | null
}

/** What follows from the terms beyond the columns of the catalogue. */
export interface TermsInForce {
  bounds?: { min: number; max: number }
  calendar?: MarketName
  releaseLagDays?: number
  /** The time of day of values that come with a day only. */
  valueAt?: { zone: string; minute: number }
}

/** The widest that a value can be where nothing else bounds it. */
const widest = 1e12

const mayBeNegative = new Set(['natural_gas', 'power', 'crude_oil'])

/** The values that validation accepts for a series, from its category and its typical level. */
export const valueBounds = (category: string, level: number): { min: number; max: number } => ({
  min: mayBeNegative.has(category) ? -1000 : 0,
  max: 20 * level,
})

/** The values that validation accepts for a series: what the operator set, else what its level says. */
export const boundsOf = (series: {
  category: string
  level: number
  bounds?: { min: number; max: number }
}): { min: number; max: number } => series.bounds ?? valueBounds(series.category, series.level)

/** A series by its terms, over what was shipped of it. */
export function withTerms<S extends SeriesBase>(
  shipped: S,
  terms: SeriesTerms,
  isOwn: boolean,
): S & TermsInForce {
  const series = {
    ...shipped,
    name: terms.name ?? shipped.name,
    category: terms.category ?? shipped.category,
    currency: terms.currency === undefined ? shipped.currency : terms.currency,
    unit: terms.unit ?? shipped.unit,
    decimals: terms.decimals ?? shipped.decimals,
    cadence: terms.cadence ?? shipped.cadence,
    source: terms.source ?? shipped.source,
    description: terms.description ?? shipped.description,
    level: terms.level ?? shipped.level,
    unavailableReason: reasonOf(terms.active, shipped.unavailableReason),
  }
  return {
    ...series,
    bounds: boundsBy(terms, series, isOwn),
    calendar: terms.calendar,
    releaseLagDays: terms.releaseLagDays,
    valueAt:
      terms.valueTime === undefined
        ? undefined
        : { zone: terms.timeZone ?? 'UTC', minute: minutesOf(terms.valueTime) },
  }
}

function reasonOf(active: boolean | undefined, shipped: string | null): string | null {
  if (active === undefined) return shipped
  return active ? null : (shipped ?? 'discontinued')
}

/** The level of a shipped series bounds it; an own one has a level only if its operator says so. */
function boundsBy(
  { min, max, level }: SeriesTerms,
  series: { category: string; level: number },
  isOwn: boolean,
): { min: number; max: number } | undefined {
  if (min === undefined && max === undefined && (!isOwn || level !== undefined)) return undefined
  const usual =
    isOwn && level === undefined
      ? { min: -widest, max: widest }
      : valueBounds(series.category, series.level)
  return { min: min ?? usual.min, max: max ?? usual.max }
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
