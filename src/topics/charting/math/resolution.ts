import { minuteMs, secondMs } from '../../../lib/time/instant.ts'
import type { Observation } from '../../prices/math/bars.ts'

/** The widths of bars that a chart may request, by the names of the datafeed protocol. */
export const resolutions = ['1', '5', '15', '60', 'D', 'W', 'M'] as const
export type Resolution = (typeof resolutions)[number]

/** Resolutions that only series with prices within the day have. */
export const intradayResolutions: readonly Resolution[] = ['1', '5', '15', '60']

/** Reads a resolution; the protocol also writes `1D`, `1W` and `1M`. */
export function resolutionOf(text: string): Resolution | undefined {
  const short = text
    .trim()
    .toUpperCase()
    .replace(/^1(?=[DWM]$)/, '')
  return resolutions.find(resolution => resolution === short)
}

/** The interval of stored bars of a resolution; of the others bars are made of raw prices. */
export const storedIntervals: Readonly<Partial<Record<Resolution, StoredInterval>>> = {
  60: 'hour',
  D: 'day',
  W: 'week',
  M: 'month',
}
type StoredInterval = 'hour' | 'day' | 'week' | 'month'

/** A bar of a chart; `time` is its start in Unix seconds. */
export interface ChartBar {
  time: number
  open: number
  high: number
  low: number
  close: number
}

/** Bars of some minutes from raw prices, oldest first; minutes without a price have none. */
export function minuteBars(oldestFirst: readonly Observation[], minutes: number): ChartBar[] {
  const bars: ChartBar[] = []
  const widthMs = minutes * minuteMs
  for (const { observedAt, value } of oldestFirst) {
    const time = (Math.floor(observedAt / widthMs) * widthMs) / secondMs
    const bar = bars.at(-1)
    if (bar?.time === time) {
      bar.high = Math.max(bar.high, value)
      bar.low = Math.min(bar.low, value)
      bar.close = value
    } else bars.push({ time, open: value, high: value, low: value, close: value })
  }
  return bars
}
