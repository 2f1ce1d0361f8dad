import {
  type DeliverySettings,
  type DeliveryTerms,
  deliveryTerms,
  newestResolution,
  weekdayNames,
} from '../../delivery/math/terms.ts'
import type { Cadence } from './catalogue.ts'

/** Calendars that series are published by. */
export const marketNames = [
  'us_energy',
  'london_energy',
  'europe_energy',
  'fx',
  'metals',
  'us_government',
  'us_power',
  'weekday',
  'every_day',
] as const
export type MarketName = (typeof marketNames)[number]

/** A day of a release calendar: `wed`, `15`, or `last` of the month. */
export const isReleaseDay = (text: string): boolean =>
  (weekdayNames as readonly string[]).includes(text) ||
  text === 'last' ||
  /^([1-9]|[12]\d|3[01])$/.test(text)

/** The rule for a publication whose day is a holiday of the calendar. */
export const releaseHolidays = ['after', 'before', 'skip'] as const
export type ReleaseHoliday = (typeof releaseHolidays)[number]

/** When a series comes out: on weekdays, 1 = Monday, or on days of the month, 31 = its last. */
export interface ReleaseTerms {
  weekdays: readonly number[]
  monthDays: readonly number[]
  /** Minutes after midnight in the zone; undefined: at any time of the day. */
  minute: number | undefined
  zone: string
  onHoliday: ReleaseHoliday
}

/** Why a formula takes no cadence. */
export const cadenceRefused = 'must be absent: a formula has the cadence of its legs.'

/** The spelling of an own code. */
export const isCode = (text: string): boolean => /^[A-Z][A-Z0-9_]{1,49}$/.test(text)

/**
 * The attributes that an operator set for a series. Absent ones are as shipped, or the default of a
 * custom series.
 */
export interface SeriesTerms extends DeliverySettings {
  name?: string
  category?: string
  /** Null if the value is not a price. */
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
  /** Days between the date of a value and its release. */
  releaseLagDays?: number
  /** The days that it comes out on, all of the week or all of the month: `wed`, `15`, `last`. */
  releaseDays?: string[]
  /** The time of day at which it does, in `timeZone`. */
  releaseTime?: string
  releaseHoliday?: ReleaseHoliday
  /** Where and when a value is made that comes with its day only: `Europe/London`, `16:30`. */
  timeZone?: string
  valueTime?: string
  licenseClass?: 'open' | 'view'
  /** Required attribution. */
  attribution?: string
  /** Aliases in addition to the shipped ones. */
  aliases?: string[]
  /** The action of each guard on a suspicious value. */
  guards?: Record<string, 'hold' | 'flag' | 'off'>
  /** Ids of the accounts that can see a custom series. Default: everyone. */
  visibleTo?: string[]
  /** Id of the account that made it for itself; others may have its code, too. */
  owner?: string
  /** The formula of its values; a series with one has no others. */
  formula?: string
  /** At which times it has values, and which values of its legs count. */
  align?: 'last' | 'same_day' | 'drop'
  /** ISO duration: how old the newest value of a leg may be. */
  alignLimit?: string
  /** False: it is listed as discontinued. True: a shipped code without a source is served. */
  active?: boolean
}

/** The shipped attributes of a series, or the defaults of a custom one. */
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

/** The attributes in force that are not columns of the catalogue. */
export interface TermsInForce {
  bounds?: { min: number; max: number }
  calendar?: MarketName
  releaseLagDays?: number
  /** The days on which it comes out. */
  releases?: ReleaseTerms
  /** The time of day of values that come with a day only. */
  valueAt?: { zone: string; minute: number }
  /** Present for a series of delivery periods. */
  delivery?: DeliveryTerms
}

/** The widest that a value can be where nothing else bounds it. */
const widest = 1e12

const mayBeNegative = new Set(['natural_gas', 'power', 'crude_oil'])

/** The values that validation accepts for a series, from its category and its typical level. */
export const valueBounds = (category: string, level: number): { min: number; max: number } => ({
  min: mayBeNegative.has(category) ? -1000 : 0,
  max: 20 * level,
})

/**
 * The values that validation accepts for a series: the operator's range, else that of its level.
 */
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
  const releases = releasesBy(terms)
  const delivery = deliveryTerms(terms)
  const series = {
    ...shipped,
    name: terms.name ?? shipped.name,
    category: terms.category ?? shipped.category,
    currency: terms.currency === undefined ? shipped.currency : terms.currency,
    unit: terms.unit ?? shipped.unit,
    decimals: terms.decimals ?? shipped.decimals,
    cadence: delivery
      ? deliveryCadence(delivery)
      : (terms.cadence ?? cadenceOf(releases) ?? shipped.cadence),
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
    releases,
    valueAt:
      terms.valueTime === undefined
        ? undefined
        : { zone: terms.timeZone ?? 'UTC', minute: minutesOf(terms.valueTime) },
    ...(delivery && { delivery }),
  }
}

/** A day of delivery periods has many values, whatever the other settings are. */
const deliveryCadence = (delivery: DeliveryTerms): Cadence =>
  newestResolution(delivery) === 'P1D' ? 'daily' : 'intraday_5m'

function releasesBy(terms: SeriesTerms): ReleaseTerms | undefined {
  const { releaseDays, releaseTime, releaseHoliday = 'after', timeZone = 'UTC' } = terms
  if (releaseDays === undefined || releaseDays.length === 0) return undefined
  const weekdays = releaseDays.map(day => (weekdayNames as readonly string[]).indexOf(day) + 1)
  const ofTheMonth = releaseDays.map(day => (day === 'last' ? 31 : Number(day)))
  return {
    weekdays: weekdays.filter(day => day > 0),
    monthDays: ofTheMonth.filter(day => day > 0),
    minute: releaseTime === undefined ? undefined : minutesOf(releaseTime),
    zone: timeZone,
    onHoliday: releaseHoliday,
  }
}

/** How often a series comes out by its calendar. */
function cadenceOf(releases: ReleaseTerms | undefined): Cadence | undefined {
  if (!releases) return undefined
  if (releases.weekdays.length === 0) return 'monthly'
  return releases.weekdays.length >= 5 ? 'daily' : 'weekly'
}

function reasonOf(active: boolean | undefined, shipped: string | null): string | null {
  if (active === undefined) return shipped
  return active ? null : (shipped ?? 'discontinued')
}

/** The level of a shipped series bounds it; an own one has a level only if its operator set one. */
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
