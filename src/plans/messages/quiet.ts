import { minuteOf } from '../../lib/time/zone.ts'

/**
 * Hours in which no one is to be woken: local wall time `HH:MM`, the half-open range [from, to),
 * over midnight where `from` is the later one.
 */
export interface QuietHours {
  from: string
  to: string
}

/** Whether a minute of the day (0 to 1439, on the clock of the person) is quiet. */
export function isQuiet({ from, to }: QuietHours, minute: number): boolean {
  const [start, end] = [minuteOf(from)!, minuteOf(to)!]
  return start <= end ? minute >= start && minute < end : minute >= start || minute < end
}
