import { addMonths, dayMs, hourMs, startOfDay, startOfMonths } from '../../../lib/time/instant.ts'
import type { Average, Span } from './syntax.ts'

/** Days of a window, half-open, in days since 1970. */
export interface Days {
  from: number
  to: number
}

/** The days whose closes an average at a time is computed from. */
export function averagedDays({ window, lag, every }: Average, at: number): Days {
  const day = every ? startOfMonths(at, every.count) : startOfDay(at)
  const back = (time: number) => (lag ? spanBefore(time, lag) : time) / dayMs
  if (window.unit === 'day') {
    const last = back(day)
    return { from: last - window.count + 1, to: last + 1 }
  }
  const end = startOfMonths(day, window.isYear ? 12 : window.isQuarter ? 3 : 1)
  return { from: back(addMonths(end, -window.count)), to: back(end) }
}

/** A time less a span: a month earlier is the same day, or the last of the month, at the same time. */
export const spanBefore = (at: number, { count, unit }: Span): number =>
  unit === 'month' ? addMonths(at, -count) : at - count * (unit === 'hour' ? hourMs : dayMs)
