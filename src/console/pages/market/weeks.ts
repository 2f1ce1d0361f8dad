import { dayMs } from '../../../lib/time/instant.ts'
import type { ChartAnswer } from '../series/answer.ts'

const weekMs = 7 * dayMs
const years = 5

/**
 * The first day that a range of five years needs. In the first days of January, the newest value
 * is still of the year before, and the range has the five years before that one.
 */
export const rangeStart = (now: number): string =>
  `${new Date(now).getUTCFullYear() - years - 1}-01-01`

export const weekOf = (at: Date): number =>
  Math.min(51, Math.floor((at.getTime() - Date.UTC(at.getUTCFullYear(), 0, 1)) / weekMs))

/** A series by the weeks of a year: its newest year, and the range and mean of the five before it. */
export function weeksOf({ times, close }: Pick<ChartAnswer, 'times' | 'close'>) {
  const newest = new Date((times.at(-1) ?? 0) * 1000)
  const current: (number | null)[] = Array.from({ length: 52 }, () => null)
  const before: number[][] = Array.from({ length: 52 }, () => [])
  times.forEach((time, i) => {
    const at = new Date(time * 1000)
    const age = newest.getUTCFullYear() - at.getUTCFullYear()
    if (age === 0) current[weekOf(at)] = close[i]!
    else if (age <= years) before[weekOf(at)]!.push(close[i]!)
  })
  const over = (make: (values: number[]) => number) =>
    before.map(values => (values.length > 0 ? make(values) : null))
  return {
    newest,
    current,
    before,
    low: over(values => Math.min(...values)),
    high: over(values => Math.max(...values)),
    mean: over(values => values.reduce((sum, value) => sum + value, 0) / values.length),
  }
}
