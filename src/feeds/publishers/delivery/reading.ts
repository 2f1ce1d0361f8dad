import { dayMs, isoDay, isoInstant, minuteMs, parseDay } from '../../../lib/time/instant.ts'
import { shippedTermsOf } from '../../../topics/catalogue/math/delivery-codes.ts'
import { dayAt, type MarketDay } from '../../../topics/delivery/math/days.ts'
import {
  type DeliveryTerms,
  deliveryTerms,
  isCoarser,
  lengthOf,
  type ResolutionFrom,
  resolutionOn,
  resolutions,
} from '../../../topics/delivery/math/terms.ts'
import { FeedFault, unreadable } from '../../reading/fault.ts'
import { everyDay, type ReleaseRule } from '../calendar.ts'
import type { MapEntry } from '../map.ts'
import type { Reading, SentSeries } from '../publisher.ts'
import { type Collected, sentSeries } from '../series.ts'

/** How far back a first run reads by default. */
const firstDays = 365

/** The delivery terms of the code that an entry leads to. */
export function termsOf({ target }: MapEntry): DeliveryTerms {
  const terms = 'code' in target ? deliveryTerms(shippedTermsOf(target.code) ?? {}) : undefined
  if (!terms) throw new Error(`${JSON.stringify(target)} has no delivery periods`)
  return terms
}

/** From when an entry is read, Unix ms, at the start of a UTC day. */
export const startOf = (reading: Reading, entry: MapEntry): number =>
  parseDay(reading.since(entry) ?? isoDay(reading.now - firstDays * dayMs))!

/** The collected values of the entries; each series covers all periods from a moment on. */
export const sentSince = (
  entries: readonly MapEntry[],
  series: ReadonlyMap<string, Collected>,
  from: number,
): Iterable<SentSeries> => sentSeries(entries, series, isoDay(from))

/** Adds a value of the period that begins at a moment. */
export function addAt(series: Collected, at: number, written: unknown): void {
  if (!Number.isFinite(at)) throw unreadable('the time of a value')
  series.add(isoInstant(at), written)
}

/** Times of a day at which a publisher of a zone is read. */
export const timesOfDay = (zone: string, times: readonly string[]): ReleaseRule[] =>
  times.map(time => everyDay(time, { zone }))

/** Fewer values say nothing about the length of their periods. */
const judgedValuesMin = 4
/** Some gaps of a day are longer: values are missing. */
const usualShare = 0.75

/**
 * The shorter periods that a market went to, from the first market day that has them; undefined
 * where values come as they did. Throws where periods are longer than they were on their day, or
 * change back and forth: a market that went to quarters does not go back to hours.
 */
export function resolutionChange(
  sourceId: string,
  terms: DeliveryTerms,
  starts: readonly number[],
): ResolutionFrom | undefined {
  let change: ResolutionFrom | undefined
  for (const { from: date, resolution } of usualResolutions(terms, starts)) {
    const known = change?.resolution ?? resolutionOn(terms, date)
    if (resolution === known) continue
    if (change || isCoarser(resolution, known))
      throw new FeedFault(
        'unexpected_unit',
        `${sourceId} came in periods of ${lengthOf(resolution) / minuteMs} minutes on ${date}, and in periods of ${lengthOf(known) / minuteMs} before`,
      )
    change = { from: date, resolution }
  }
  return change
}

/** The market days of which the values have one length, the oldest first. */
function usualResolutions(terms: DeliveryTerms, starts: readonly number[]): ResolutionFrom[] {
  const days = new Map<string, number[]>()
  let day: MarketDay | undefined
  for (const at of starts.toSorted((a, b) => a - b)) {
    if (!day || at >= day.to) day = dayAt(terms, at)
    days.getOrInsertComputed(day.date, () => []).push(at)
  }
  return [...days].flatMap(([from, own]) => {
    if (own.length < judgedValuesMin) return []
    const gaps = own.slice(1).map((at, i) => at - own[i]!)
    const usual = resolutions.find(
      resolution =>
        gaps.filter(gap => gap === lengthOf(resolution)).length >= usualShare * gaps.length,
    )
    return usual === undefined ? [] : [{ from, resolution: usual }]
  })
}
