import { dayMs, hourMs, minuteMs, weekdayOf } from '../lib/instant.ts'
import type { Cadence } from './catalogue.ts'

export type DataStatus = 'current' | 'delayed' | 'stale'

const periodMs: Record<Cadence, number> = {
  intraday_2_5m: 2.5 * minuteMs,
  intraday_5m: 5 * minuteMs,
  twice_daily: 12 * hourMs,
  daily: dayMs,
  weekly: 7 * dayMs,
  monthly: 31 * dayMs,
}

/** Until when an observation counts as current (one period and one business day), and from when as stale (three periods). */
export function freshUntil(cadence: Cadence, observedAt: number): { currentUntil: number; delayedUntil: number } {
  const currentUntil = nextBusinessMoment(observedAt + periodMs[cadence])
  return { currentUntil, delayedUntil: Math.max(currentUntil, observedAt + 3 * periodMs[cadence]) }
}

/** The same time on the next day that is not a Saturday or Sunday. */
function nextBusinessMoment(at: number): number {
  let next = at + dayMs
  while (weekdayOf(next) > 5) next += dayMs
  return next
}

export function dataStatus(cadence: Cadence, observedAt: number, now: number): DataStatus {
  const { currentUntil, delayedUntil } = freshUntil(cadence, observedAt)
  if (now <= currentUntil) return 'current'
  return now <= delayedUntil ? 'delayed' : 'stale'
}

/** The age in hours past which a price of this cadence is stale. */
export const maxAgeHours = (cadence: Cadence): number => Math.ceil((3 * periodMs[cadence] + dayMs) / hourMs)
