import { expect, test } from 'bun:test'
import { rangeStart, weekOf, weeksOf } from '../../src/console/pages/market/weeks.ts'
import { dayMs } from '../../src/lib/time/instant.ts'

/** A value of each week up to a day: the number of its year. */
function weekly(from: string, to: string) {
  const times: number[] = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += 7 * dayMs) times.push(at / 1000)
  return { times, close: times.map(time => new Date(time * 1000).getUTCFullYear()) }
}

test.each([
  ['in January, before the first value of the year', '2027-01-03', '2026-12-30', 2021, 2025],
  ['in January, after it', '2027-01-09', '2027-01-06', 2022, 2026],
  ['in summer', '2026-07-03', '2026-07-01', 2021, 2025],
] as const)('the range is of five whole years: %s', (_, today, newest, first, last) => {
  const start = rangeStart(Date.parse(today))
  // The first Wednesday of that year, and a longer history than the range needs.
  for (const from of [start, '2015-01-07']) {
    const range = weeksOf(weekly(from, newest))
    const week = weekOf(new Date(newest))
    expect(range.low[week]).toBe(first)
    expect(range.high[week]).toBe(last)
    expect(range.before[week]?.length).toBeGreaterThanOrEqual(5)
  }
})
