import { isoDay } from '../../../lib/time/instant.ts'
import type { Observation } from '../math/bars.ts'
import type { Close } from '../math/window.ts'

/** The last value of each day, of observations that are in order. */
export function dailyCloses(observations: readonly Observation[]): Close[] {
  const closes: Close[] = []
  for (const { observedAt, value } of observations) {
    const day = isoDay(observedAt)
    if (closes.at(-1)?.day === day) closes.pop()
    closes.push({ day, value })
  }
  return closes
}
