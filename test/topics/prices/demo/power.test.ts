import { describe, expect, test } from 'bun:test'
import { dayMs, minuteMs, parseInstant } from '../../../../src/lib/time/instant.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { shippedTermsOf } from '../../../../src/topics/catalogue/math/delivery-codes.ts'
import { createPeriodFinder, dayOfDate } from '../../../../src/topics/delivery/math/days.ts'
import { deliveryTerms } from '../../../../src/topics/delivery/math/terms.ts'
import { withPower } from '../../../../src/topics/prices/demo/power.ts'
import type { WorldSeries } from '../../../../src/topics/prices/demo/series.ts'
import type { World } from '../../../../src/topics/prices/demo/world.ts'

const series: WorldSeries[] = shippedCatalogue().series.flatMap(one => {
  const delivery = deliveryTerms(shippedTermsOf(one.code) ?? {})
  return delivery ? [{ ...one, available: true, delivery }] : []
})
const empty: World = { observations: () => [], history: () => [] }
const world = withPower(empty, 1, series)
const termsOf = (code: string) => series.find(one => one.code === code)!.delivery!
const now = parseInstant('2026-06-28T12:00:00Z')!

describe('the power of the demo world', () => {
  test('is of every shipped code with delivery periods, on its grid and within its bounds', () => {
    expect(series.length).toBeGreaterThan(50)
    for (const { code } of series) {
      const terms = termsOf(code)
      const bounds = shippedTermsOf(code)!
      const history = world.history(code, now)
      expect(history.length, code).toBeGreaterThan(100)
      const finder = createPeriodFinder(terms)
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = bounds
      const wrong = history.filter(
        ({ observedAt, value, recordedAt }) =>
          !finder.isStart(observedAt) || value < min || value > max || recordedAt >= now,
      )
      expect({ code, wrong }).toEqual({ code, wrong: [] })
    }
  })

  test('knows tomorrow from 12:45 in Berlin on, and not at noon', () => {
    const tomorrow = dayOfDate(termsOf('POWER_DA_DE_LU_EUR'), '2026-06-29')
    const known = (at: string) =>
      world
        .history('POWER_DA_DE_LU_EUR', parseInstant(at)!)
        .filter(({ observedAt }) => observedAt >= tomorrow.from)
    expect(known('2026-06-28T10:44:00Z')).toEqual([])
    const auction = known('2026-06-28T10:50:00Z')
    expect(auction).toHaveLength(96)
    expect(new Set(auction.map(({ recordedAt }) => recordedAt)).size).toBe(1)
    expect(auction[0]!.recordedAt).toBeGreaterThanOrEqual(parseInstant('2026-06-28T10:45:00Z')!)
  })

  test('has 92 and 100 quarters on the days on which clocks change', () => {
    for (const [date, count] of [
      ['2026-03-29', 92],
      ['2026-10-25', 100],
    ] as const) {
      const day = dayOfDate(termsOf('POWER_DA_FR_EUR'), date)
      const values = world
        .history('POWER_DA_FR_EUR', day.to)
        .filter(({ observedAt }) => observedAt >= day.from && observedAt < day.to)
      expect(values).toHaveLength(count)
    }
  })

  test('is cheap at noon and dear in the evening, negative now and then, and alike in neighbours', () => {
    const mean = (code: string, hour: number) => {
      const own = world
        .history(code, now)
        .filter(({ observedAt }) => new Date(observedAt + 2 * 3_600_000).getUTCHours() === hour)
        .map(({ value }) => value)
      return own.reduce((a, b) => a + b, 0) / own.length
    }
    for (const code of ['POWER_DA_DE_LU_EUR', 'POWER_DA_FR_EUR', 'POWER_DA_NL_EUR'])
      expect(mean(code, 19)).toBeGreaterThan(2 * mean(code, 13))
    const german = world.history('POWER_DA_DE_LU_EUR', now)
    const negative = german.filter(({ value }) => value < 0).length / german.length
    expect(negative).toBeGreaterThan(0.01)
    expect(negative).toBeLessThan(0.25)
    const dutch = new Map(
      world.history('POWER_DA_NL_EUR', now).map(({ observedAt, value }) => [observedAt, value]),
    )
    const pairs = german.map(({ observedAt, value }) => [value, dutch.get(observedAt)!] as const)
    expect(correlation(pairs)).toBeGreaterThan(0.5)
  })

  test('forecasts wind, solar and load close to what is measured', () => {
    for (const kind of ['WIND', 'SOLAR', 'LOAD']) {
      const measured = new Map(
        world.history(`${kind}_DE_LU_MW`, now).map(({ observedAt, value }) => [observedAt, value]),
      )
      const pairs = world
        .history(`${kind}_DE_LU_FORECAST_MW`, now)
        .filter(({ observedAt }) => measured.has(observedAt))
        .map(({ observedAt, value }) => [value, measured.get(observedAt)!] as const)
      expect(pairs.length, kind).toBeGreaterThan(1000)
      expect(correlation(pairs), kind).toBeGreaterThan(0.98)
    }
  })

  test('is the same in one span and in many', () => {
    for (const code of ['POWER_DA_DE_LU_EUR', 'POWER_HH_GB_GBP', 'POWER_AU_NSW1_AUD']) {
      const [from, to] = [now - dayMs, now]
      const whole = world.observations(code, from, to)
      const parts = []
      for (let at = from; at < to; at += 37 * minuteMs)
        parts.push(...world.observations(code, at, Math.min(to, at + 37 * minuteMs)))
      expect(parts).toEqual(whole)
    }
  })
})

function correlation(pairs: readonly (readonly [number, number])[]): number {
  const mean = (i: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[i], 0) / pairs.length
  const [a, b] = [mean(0), mean(1)]
  const sum = (of: (x: number, y: number) => number) =>
    pairs.reduce((total, [x, y]) => total + of(x - a, y - b), 0)
  return sum((x, y) => x * y) / Math.sqrt(sum(x => x * x) * sum((_, y) => y * y))
}
