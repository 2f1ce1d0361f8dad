import { hourMs, minuteMs } from '../lib/time/instant.ts'
import type { Kind } from './store/rows.ts'

/** How long after a failed attempt the next one is due. */
const waitsMs: Readonly<Record<Kind, readonly number[]>> = {
  webhook: [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 6 * hourMs],
  email: [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs],
  sms: [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs],
}

/** Spreads retries of receivers that fail together: never earlier, and later by at most this. */
const jitterPercent = 5

/**
 * The wait after attempt number `tries` (from 1), undefined when it was the last. The least of
 * `limits` bounds the retries; `chance` is in [0, 1).
 */
export function waitMs(
  kind: Kind,
  tries: number,
  limits: readonly (number | null | undefined)[],
  chance: number,
): number | undefined {
  const waits = waitsMs[kind]
  const most = Math.min(waits.length, ...limits.map(limit => limit ?? waits.length))
  if (tries > most) return undefined
  const wait = waits[tries - 1]!
  return wait + Math.floor((wait * jitterPercent * chance) / 100)
}
