import { changePercent } from '../../prices/math/change.ts'
import { decimalDifference, roundTo } from '../../prices/math/format.ts'

/**
 * The events of a code in the feed: its price at a run, a move of at least the watch's threshold,
 * and the end of new prices.
 */
export const watchEventTypes = ['evaluated', 'threshold_crossed', 'stale'] as const
export type WatchEventType = (typeof watchEventTypes)[number]

/** A code as a watch finds it. */
export interface WatchReading {
  /** As it is answered; null: there is none. */
  price: number | null
  /** The series of the price; for a futures family that of its front contract. */
  seriesId: number
  stale: boolean
}

/**
 * When a watch runs next: in the schedule of the run that was due at `dueAt`, after `now` (all Unix
 * ms). One run at `now` replaces all missed ones.
 */
export const nextRunAfter = (dueAt: number, intervalMs: number, now: number): number =>
  dueAt + (Math.floor((now - dueAt) / intervalMs) + 1) * intervalMs

/**
 * The price to compare with: null when it came from another series, because the step from one
 * contract to the next is not a move.
 */
export const comparable = (
  reading: WatchReading,
  before: WatchReading | undefined,
): number | null =>
  before?.seriesId === reading.seriesId && reading.price !== null ? before.price : null

/**
 * The change of a price, in the decimals of its series and in percent to two places; null where
 * there is nothing to compare.
 */
export function moved(
  price: number | null,
  previous: number | null,
  decimals: number,
): { change: number | null; percent: number | null } {
  if (price === null || previous === null) return { change: null, percent: null }
  const percent = changePercent(previous, price)
  return {
    change: roundTo(decimalDifference(price, previous), decimals),
    percent: percent === undefined ? null : roundTo(percent, 2),
  }
}

/**
 * The events of one run for a code: always `evaluated`; `threshold_crossed` when the price is at
 * least `thresholdPercent` away from that of the run before; `stale` once, when it has become stale
 * or lost its price since.
 */
export function findings(
  reading: WatchReading,
  before: WatchReading | undefined,
  thresholdPercent: number | null,
): readonly WatchEventType[] {
  const previous = comparable(reading, before)
  const percent =
    previous === null || reading.price === null ? undefined : changePercent(previous, reading.price)
  const crossed =
    thresholdPercent !== null && percent !== undefined && Math.abs(percent) >= thresholdPercent
  return [
    'evaluated',
    ...(crossed ? (['threshold_crossed'] as const) : []),
    ...(reading.stale && !before?.stale ? (['stale'] as const) : []),
  ]
}
