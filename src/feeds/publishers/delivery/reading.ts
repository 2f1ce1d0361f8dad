import { dayMs, isoDay, isoInstant, parseDay } from '../../../lib/time/instant.ts'
import { shippedTermsOf } from '../../../topics/catalogue/math/delivery-codes.ts'
import { dayAt } from '../../../topics/delivery/math/days.ts'
import {
  type DeliveryTerms,
  deliveryTerms,
  lengthOf,
  resolutionOn,
} from '../../../topics/delivery/math/terms.ts'
import { FeedFault, unreadable } from '../../reading/fault.ts'
import { everyDay, type ReleaseRule } from '../calendar.ts'
import type { MapLine } from '../map.ts'
import type { Reading, SentSeries } from '../publisher.ts'
import { type Collected, sentSeries } from '../series.ts'

/** How far back a first run reads by default. */
const firstDays = 365

/** The delivery terms of the code that a line leads to. */
export function termsOf({ target }: MapLine): DeliveryTerms {
  const terms = 'code' in target ? deliveryTerms(shippedTermsOf(target.code) ?? {}) : undefined
  if (!terms) throw new Error(`${JSON.stringify(target)} has no delivery periods`)
  return terms
}

/** From when a line is read, Unix ms, at the start of a UTC day. */
export const startOf = (reading: Reading, line: MapLine): number =>
  parseDay(reading.since(line) ?? isoDay(reading.now - firstDays * dayMs))!

/** The collected values of the lines; each series covers all periods from a moment on. */
export const sentSince = (
  lines: readonly MapLine[],
  series: ReadonlyMap<string, Collected>,
  from: number,
): Iterable<SentSeries> => sentSeries(lines, series, isoDay(from))

/** Adds a value of the period that begins at a moment. */
export function addAt(series: Collected, at: number, written: unknown): void {
  if (!Number.isFinite(at)) throw unreadable('the time of a value')
  series.add(isoInstant(at), written)
}

/** Times of a day at which a publisher of a zone is read. */
export const timesOfDay = (zone: string, times: readonly string[]): ReleaseRule[] =>
  times.map(time => everyDay(time, { zone }))

/**
 * Throws where values have longer periods than the series has on that day: a market that moved to
 * quarter hours does not return to hours, and an hourly value must not be recorded for a quarter
 * hour.
 */
export function refuseLonger(line: MapLine, terms: DeliveryTerms, starts: readonly number[]): void {
  const gaps = new Map<string, number>()
  let last: number | undefined
  let dayEnd = 0
  let date = ''
  for (const at of starts.toSorted((a, b) => a - b)) {
    if (at >= dayEnd) {
      const day = dayAt(terms, at)
      dayEnd = day.to
      date = day.date
      last = undefined
    }
    if (last !== undefined)
      gaps.set(date, Math.min(gaps.get(date) ?? Number.POSITIVE_INFINITY, at - last))
    last = at
  }
  for (const [day, gap] of gaps)
    if (gap > lengthOf(resolutionOn(terms, day)))
      throw new FeedFault(
        'unexpected_unit',
        `${line.sourceId} came in periods of ${gap / 60_000} minutes on ${day}, and has shorter ones since then`,
      )
}
