import { describe, expect, test } from 'bun:test'
import { isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import { forecast } from '../../../../src/topics/analytics/math/forecast.ts'
import {
  closesBefore,
  forecastPublishedAt,
  lastPublication,
  monthlyForecast,
} from '../../../../src/topics/fundamentals/math/monthly-forecast.ts'
import { type Close, dayAfter, dayNumber } from '../../../../src/topics/prices/math/window.ts'

const first = '2025-01-01'
/**
 * A close on every day, that `price` makes of the days since the first, up to and including `last`.
 */
const closesTo = (last: string, price: (n: number) => number): Close[] =>
  Array.from({ length: dayNumber(last) - dayNumber(first) + 1 }, (_, n) => ({
    day: dayAfter(first, n),
    value: price(n),
  }))

describe('a monthly forecast', () => {
  test('of a price that never moves is that price, without a band', () => {
    const { months, dataPoints } = monthlyForecast(
      closesTo('2026-10-31', () => 70),
      ['2026-11', '2027-11'],
    )!
    expect(dataPoints).toBe(365)
    for (const month of months)
      for (const value of [month.value, month.low, month.high]) expect(value).toBeCloseTo(70, 10)
  })

  test('of a price that grows by a thousandth a day follows half of that while it fades', () => {
    const closes = closesTo('2026-10-31', n => 50 * Math.exp(0.001 * n))
    const last = closes.at(-1)!.value
    const { months } = monthlyForecast(closes, ['2026-11', '2027-05'])!
    // The middle of November is 1 + 15 days after the last close, that of May 182 + 15.5.
    expect(months[0]!.value).toBeCloseTo(last * Math.exp(0.0005 * 30 * (1 - Math.exp(-16 / 30))), 3)
    expect(months[1]!.value).toBeCloseTo(
      last * Math.exp(0.0005 * 30 * (1 - Math.exp(-197.5 / 30))),
      3,
    )
  })

  test('has a band that grows with the root of time, of which sigma is per calendar day', () => {
    // Alternating moves of 2% up and down: no trend, and log returns of 0.02 in size.
    const closes = closesTo('2026-10-31', n => 70 * Math.exp(n % 2 === 0 ? 0 : 0.02))
    const [near, far] = monthlyForecast(closes, ['2026-11', '2027-05'])!.months
    const sigma = 0.02 * Math.sqrt(364 / 363)
    expect(Math.log(near!.high / near!.value)).toBeCloseTo(1.645 * sigma * Math.sqrt(16), 4)
    expect(Math.log(far!.high / far!.value)).toBeCloseTo(1.645 * sigma * Math.sqrt(197.5), 4)
    expect(Math.log(near!.value / near!.low)).toBeCloseTo(Math.log(near!.high / near!.value), 10)
  })

  test('the forecast of the current month includes the days that have already passed', () => {
    // Twenty days of November at 100, after a year at 70: a third of the month is still ahead.
    const closes = closesTo('2026-11-20', n =>
      n < dayNumber('2026-11-01') - dayNumber(first) ? 70 : 100,
    )
    const [month] = monthlyForecast(closes, ['2026-11'])!.months
    const run = forecast(closes, 'combined', 365, [])
    const { drift, sigma } = run.enough ? run.value : { drift: Number.NaN, sigma: Number.NaN }
    // The middle of the rest of the month, 21 to 30 November, is six days after the last close.
    const rest = 100 * Math.exp((drift / 2) * 30 * (1 - Math.exp(-6 / 30)))
    expect(month!.value).toBeCloseTo((2 * 100 + rest) / 3, 8)
    expect(month!.high).toBeCloseTo(
      (2 * 100 + rest * Math.exp(1.645 * sigma * Math.sqrt(6))) / 3,
      8,
    )
  })

  test('needs enough closes and a price above zero', () => {
    expect(
      monthlyForecast(
        closesTo('2025-01-15', () => 70),
        ['2025-02'],
      ),
    ).toBeUndefined()
    expect(
      monthlyForecast(
        closesTo('2026-10-31', n => (n === 668 ? -5 : 70)),
        ['2026-11'],
      ),
    ).toBeUndefined()
    expect(monthlyForecast([], ['2026-11'])).toBeUndefined()
  })
})

test('publications are on the first of the month at 06:00 UTC', () => {
  expect(isoInstant(forecastPublishedAt('2026-12'))).toBe('2026-12-01T06:00:00Z')
  expect(lastPublication('2026-12-01', parseInstant('2026-12-01T05:59:59Z')!)).toBe('2026-11')
  expect(lastPublication('2026-12-01', parseInstant('2026-12-01T06:00:00Z')!)).toBe('2026-12')
})

test('the closes before a day leave the day itself out', () => {
  const closes = closesTo('2025-01-05', n => n)
  expect(closesBefore(closes, '2025-01-03').map(close => close.day)).toEqual([
    '2025-01-01',
    '2025-01-02',
  ])
})
