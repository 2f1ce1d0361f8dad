import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sampleCorrelation, standardDeviation } from 'simple-statistics'
import codesTable from '../../../../fixtures/codes.tsv' with { type: 'text' }
import {
  dayMs,
  hourMs,
  isoDay,
  minuteMs,
  parseInstant,
  startOfDay,
  weekdayOf,
} from '../../../../src/lib/time/instant.ts'
import {
  isTradingDay,
  marketOf,
  sessionOf,
} from '../../../../src/topics/calendars/math/calendar.ts'
import { currentUntil } from '../../../../src/topics/calendars/math/schedule.ts'
import { type Cadence, isIntraday } from '../../../../src/topics/catalogue/math/catalogue.ts'
import { shippedTermsOf } from '../../../../src/topics/catalogue/math/delivery-codes.ts'
import {
  depthOf,
  isMainCode,
  leadingCodes,
} from '../../../../src/topics/prices/demo/history-depth.ts'
import type { WorldSeries } from '../../../../src/topics/prices/demo/series.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'
import type { Observation } from '../../../../src/topics/prices/math/bars.ts'
import { runs } from '../../../support/full.ts'

const series: WorldSeries[] = String(codesTable)
  .trim()
  .split('\n')
  .slice(1)
  // Delivery periods are made by power.ts.
  .filter(line => shippedTermsOf(line.split('\t')[0]!) === undefined)
  .map(line => {
    const [code, , category, currency, unit, decimals, cadence, , available, level, volatility] =
      line.split('\t') as string[]
    return {
      code: code!,
      category: category!,
      currency: currency || null,
      unit: unit!,
      decimals: Number(decimals),
      cadence: cadence as Cadence,
      available: available === 'true',
      level: Number(level),
      volatility: Number(volatility),
    }
  })
const available = series.filter(series => series.available)
const byCode = new Map(series.map(series => [series.code, series]))
const now = parseInstant('2026-11-21T19:30:00Z')!
const world = createWorld({ seed: 7, series })
const histories = new Map<string, Observation[]>()

function history(code: string): Observation[] {
  const observations = histories.get(code) ?? world.history(code, now)
  histories.set(code, observations)
  return observations
}

function closes(code: string): Map<string, number> {
  return new Map(
    history(code).map(observation => [isoDay(observation.observedAt), observation.value]),
  )
}

/** Daily log returns on the days that both have, as correlations are defined. */
function correlation(a: string, b: string): number {
  const [left, right] = [closes(a), closes(b)]
  const days = [...left.keys()].filter(day => right.has(day))
  const returns = (of: Map<string, number>) =>
    days.slice(1).map((day, i) => Math.log(of.get(day)! / of.get(days[i]!)!))
  return sampleCorrelation(returns(left), returns(right))
}

describe('a pure function of seed, code and interval', () => {
  const start = parseInstant('2012-01-01T00:00:00Z')!
  const instants = fc
    .integer({ min: 0, max: 20 * 365 * 24 * 60 })
    .map(minutes => start + minutes * minuteMs)
  const spans = fc.oneof(
    fc.integer({ min: 1, max: 5 * minuteMs }),
    fc.integer({ min: 1, max: 3 * dayMs }),
    fc.integer({ min: 1, max: 60 * dayMs }),
  )
  const codes = fc.constantFrom(
    'BRENT_CRUDE_USD',
    'EUR_NOK',
    'GOLD_AM_EUR',
    'DIESEL_USD',
    'FORTIES_USD',
    'DIESEL_LIST_B7_DKK',
    'US_RIG_COUNT',
    'TEXAS_WELL_PERMITS',
    'DE_GAS_STORAGE',
    'US_NATGAS_STORAGE',
    'DIESEL_US_NATIONAL_USD',
    'OPEC_PRODUCTION',
    'DOLLAR_INDEX',
    'TTF_FUTURES',
  )

  test('asking [a, b) then [b, c) equals asking [a, c)', () => {
    fc.assert(
      fc.property(codes, instants, spans, spans, (code, a, first, second) => {
        const [b, c] = [a + first, a + first + second]
        expect([...world.observations(code, a, b), ...world.observations(code, b, c)]).toEqual(
          world.observations(code, a, c),
        )
      }),
      { numRuns: runs(150) },
    )
  })

  test('an interval may begin and end at the very instant of a publication, also one that a holiday delayed', () => {
    for (const one of available.filter((_, i) => i % 8 === 0)) {
      const all = world.observations(one.code, Date.UTC(2026, 11, 22), Date.UTC(2027, 0, 6))
      for (const published of all.filter((_, i) => all.length < 40 || i % 97 === 0)) {
        const { recordedAt } = published
        expect(world.observations(one.code, recordedAt, recordedAt + 1)).toEqual([published])
        expect(world.observations(one.code, recordedAt - 1, recordedAt)).toEqual([])
      }
    }
  })

  test('generated values do not depend on earlier reads', () => {
    const used = createWorld({ seed: 7, series })
    fc.assert(
      fc.property(codes, instants, spans, (code, from, span) => {
        used.observations('WTI_USD', from - span, from + span)
        expect(createWorld({ seed: 7, series }).observations(code, from, from + span)).toEqual(
          used.observations(code, from, from + span),
        )
      }),
      { numRuns: runs(40) },
    )
  })

  test('observations are published inside the interval, after they were made, oldest first', () => {
    fc.assert(
      fc.property(codes, instants, spans, (code, from, span) => {
        let last = { observedAt: Number.NEGATIVE_INFINITY, recordedAt: Number.NEGATIVE_INFINITY }
        for (const one of world.observations(code, from, from + span)) {
          expect(one.recordedAt >= from && one.recordedAt < from + span).toBe(true)
          expect(one.recordedAt).toBeGreaterThan(one.observedAt)
          expect(one.observedAt).toBeGreaterThan(last.observedAt)
          expect(one.recordedAt).toBeGreaterThan(last.recordedAt)
          last = one
        }
      }),
      { numRuns: runs(100) },
    )
  })

  test('demo data of an instance started later differs in density but never in values or recording times', () => {
    for (const code of [
      'BRENT_CRUDE_USD',
      'EUR_USD',
      'HEATING_OIL_USD',
      'MARS_USD',
      'US_RIG_COUNT',
      'DIESEL_LIST_B7_DKK',
    ]) {
      const early = new Map(
        world
          .history(code, now - 3 * dayMs)
          .map(observation => [observation.observedAt, observation]),
      )
      const late = world.history(code, now)
      const common = late.filter(observation => early.has(observation.observedAt))
      expect(common.length).toBeGreaterThan(300)
      for (const one of common) expect(early.get(one.observedAt)).toEqual(one)
    }
  })

  test('another seed is another world', () => {
    const other = createWorld({ seed: 8, series })
    expect(other.history('WTI_USD', now).map(observation => observation.observedAt)).toEqual(
      history('WTI_USD').map(observation => observation.observedAt),
    )
    expect(other.history('WTI_USD', now).map(observation => observation.value)).not.toEqual(
      history('WTI_USD').map(observation => observation.value),
    )
  })
})

describe('values', () => {
  test('every value is finite, positive or a count, and rounded to the decimals of its code', () => {
    for (const { code, decimals, category, unit } of available)
      for (const { value } of history(code)) {
        if (!Number.isFinite(value) || value < 0 || (value === 0 && category !== 'drilling'))
          throw new Error(`${code} has ${value}`)
        if (Number(value.toFixed(decimals)) !== value)
          throw new Error(`${code} has ${value}, not ${decimals} decimals`)
        if (unit === 'percent' && value >= 100) throw new Error(`${code} has ${value} percent`)
      }
  })

  test('the present is near the level of the catalogue, whatever the date', () => {
    const seasonal = new Set(['storage', 'drilling'])
    for (const year of [2015, 2021, 2026, 2034]) {
      const at = Date.UTC(year, 5, 17, 12)
      const ratios = available
        .filter(series => !seasonal.has(series.category))
        .map(
          series =>
            world.observations(series.code, at - 40 * dayMs, at, depthOf(series, at)).at(-1)!
              .value / series.level,
        )
      for (const ratio of ratios) expect(ratio > 0.3 && ratio < 3.3).toBe(true)
      expect(
        ratios.filter(ratio => ratio > 0.6 && ratio < 1.6).length / ratios.length,
      ).toBeGreaterThan(0.95)
    }
  })

  test.each([
    'BRENT_CRUDE_USD',
    'WTI_USD',
    'NATURAL_GAS_USD',
    'GOLD_USD',
    'EUR_USD',
    'GASOLINE_USD',
    'DUTCH_TTF_GAS_EUR',
    'GAS_WAHA_USD',
    'URALS_CRUDE_USD',
  ])('the daily volatility of %s is that of the catalogue', code => {
    const settled = [...closes(code)]
      .filter(([day]) => day < '2026-10-01')
      .map(([, value]) => value)
    const returns = settled.slice(1).map((value, i) => Math.log(value / settled[i]!))
    const ratio = (standardDeviation(returns) * Math.sqrt(252)) / byCode.get(code)!.volatility
    expect(ratio > 0.85 && ratio < 1.15).toBe(true)
  })

  test.each([
    ['BRENT_CRUDE_USD', 'WTI_USD', 0.95, 1],
    ['BRENT_CRUDE_USD', 'URALS_CRUDE_USD', 0.8, 1],
    ['MURBAN_CRUDE_USD', 'WCS_CRUDE_USD', 0.8, 1],
    ['MARS_USD', 'BONNY_LIGHT_USD', 0.8, 1],
    ['WTI_USD', 'GASOLINE_USD', 0.6, 0.8],
    ['WTI_USD', 'HEATING_OIL_USD', 0.6, 0.8],
    ['BRENT_CRUDE_USD', 'GASOIL_USD', 0.6, 0.8],
    ['DIESEL_USD', 'HEATING_OIL_USD', 0.85, 1],
    ['BRENT_CRUDE_USD', 'VLSFO_SIN_USD', 0.6, 0.85],
    ['MGO_05S_RTM_USD', 'GASOIL_USD', 0.85, 1],
    ['NATURAL_GAS_USD', 'DUTCH_TTF_EUR', 0.05, 0.5],
    ['DUTCH_TTF_EUR', 'NATURAL_GAS_GBP', 0.9, 1],
    ['NATURAL_GAS_USD', 'GAS_HENRY_HUB_SPOT_USD', 0.85, 1],
    ['NATURAL_GAS_USD', 'WTI_USD', -0.15, 0.2],
    ['GOLD_USD', 'SILVER_USD', 0.5, 0.85],
    ['EUR_USD', 'GBP_USD', 0.6, 0.95],
    ['EUR_USD', 'WTI_USD', -0.15, 0.2],
    ['EU_CARBON_EUR', 'UK_CARBON_GBP', 0.75, 1],
  ])('%s and %s move together as they do in reality', (a, b, least, most) => {
    const measured = correlation(a, b)
    expect(measured).toBeGreaterThan(least)
    expect(measured).toBeLessThan(most)
  })

  test('all crudes that trade on one calendar move together', () => {
    const crudes = available.filter(
      series =>
        series.category === 'physical_crude' &&
        marketOf(series.category, series.code) === 'london_energy',
    )
    expect(crudes.length).toBeGreaterThan(80)
    for (const one of crudes) expect(correlation('BRENT_CRUDE_USD', one.code)).toBeGreaterThan(0.8)
  })

  test('grades keep their order, and margins their sign', () => {
    const always = (codes: string[], holds: (...values: number[]) => boolean, share: number) => {
      const all = codes.map(closes)
      const days = [...all[0]!.keys()].filter(day => all.every(byDay => byDay.has(day)))
      const kept = days.filter(day => holds(...all.map(byDay => byDay.get(day)!)))
      expect(kept.length / days.length).toBeGreaterThanOrEqual(share)
    }
    always(['BRENT_CRUDE_USD', 'WTI_USD'], (brent, wti) => brent! > wti! && brent! < wti! + 10, 1)
    always(['WTI_USD', 'WCS_CRUDE_USD'], (wti, wcs) => wti! - wcs! > 4 && wti! - wcs! < 25, 1)
    always(['WTI_MIDLAND_USD', 'WTI_USD'], (midland, wti) => midland! > wti!, 0.9)
    always(['LOUISIANA_LIGHT_USD', 'MARS_USD'], (sweet, sour) => sweet! > sour!, 1)
    always(['GASOLINE_USD', 'WTI_USD'], (gasoline, wti) => 42 * gasoline! > wti!, 0.98)
    always(['GASOIL_USD', 'BRENT_CRUDE_USD'], (gasoil, brent) => gasoil! / 7.45 > brent!, 0.98)
    always(['NATURAL_GAS_USD', 'GAS_WAHA_USD'], (henryHub, waha) => henryHub! > waha!, 0.99)
    always(['VLSFO_RTM_USD', 'HFO_380_RTM_USD'], (low, high) => low! > high!, 1)
  })

  test('exchange rates agree with each other at every instant', () => {
    const rates = ['EUR_NOK', 'EUR_USD', 'USD_NOK'].map(
      code =>
        new Map(history(code).map(observation => [observation.observedAt, observation.value])),
    )
    for (const [at, eurNok] of rates[0]!)
      expect(Math.abs(eurNok / (rates[1]!.get(at)! * rates[2]!.get(at)!) - 1)).toBeLessThan(0.001)
  })

  test('what agencies publish as a sum is the sum of what they publish', () => {
    const sums: [string, string[]][] = [
      ['US_RIG_COUNT', ['US_OIL_RIG_COUNT', 'US_GAS_RIG_COUNT', 'US_MISC_RIG_COUNT']],
      ['NORTH_AMERICA_RIG_COUNT', ['US_RIG_COUNT', 'CANADA_RIG_COUNT']],
      ['US_CRUDE_STORAGE', [1, 2, 3, 4, 5].map(n => `PADD${n}_CRUDE_STORAGE`)],
      [
        'SPR_STORAGE',
        [
          'SPR_BRYAN_MOUND_STORAGE',
          'SPR_BIG_HILL_STORAGE',
          'SPR_WEST_HACKBERRY_STORAGE',
          'SPR_BAYOU_CHOCTAW_STORAGE',
        ],
      ],
    ]
    for (const [total, parts] of sums) {
      const values = parts.map(closes)
      for (const [day, value] of closes(total))
        expect(value).toBeCloseTo(
          values.reduce((sum, part) => sum + part.get(day)!, 0),
          6,
        )
    }
  })

  test('gas in storage is full in November and low in April', () => {
    for (const code of ['US_NATGAS_STORAGE', 'DE_GAS_STORAGE']) {
      const mean = (month: string) => {
        const values = [...closes(code)]
          .filter(([day]) => day.slice(5, 7) === month)
          .map(([, value]) => value)
        return values.reduce((sum, value) => sum + value, 0) / values.length
      }
      expect(mean('11') / mean('04')).toBeGreaterThan(1.6)
    }
  })
})

describe('markets close', () => {
  test('nothing is observed on a day on which its market is closed, except on the evening that opens the next', () => {
    for (const { code, category, cadence } of available) {
      const market = marketOf(category, code)
      if (cadence === 'weekly' || cadence === 'monthly') continue
      for (const { observedAt } of history(code)) {
        const tradingDay =
          market === 'fx' && isIntraday(cadence) && observedAt % dayMs > 22 * hourMs
            ? startOfDay(observedAt) + dayMs
            : observedAt
        if (!isTradingDay(market, tradingDay))
          throw new Error(`${code} has ${new Date(observedAt).toISOString()}`)
      }
    }
  })

  test('list prices have one value for every calendar day since 2002-08-23, and weekends repeat Friday', () => {
    const days = history('DIESEL_LIST_B7_DKK')
    expect(isoDay(days[0]!.observedAt)).toBe('2002-08-23')
    for (const [i, one] of days.entries())
      expect(one.observedAt).toBe(days[0]!.observedAt + i * dayMs)
    expect(isoDay(days.at(-1)!.observedAt)).toBe('2026-11-21')
    const value = new Map(days.map(day => [day.observedAt, day.value]))
    for (const one of days.slice(7))
      if (weekdayOf(one.observedAt) > 5) expect(one.value).toBe(value.get(one.observedAt - dayMs)!)
  })

  test('the settlement of a past day is the last price of its session', () => {
    for (const code of ['BRENT_CRUDE_USD', 'EUR_USD', 'DUTCH_TTF_EUR']) {
      const day = Date.UTC(2022, 2, 9)
      const close = sessionOf(marketOf(byCode.get(code)!.category, code), day)!.closesAt
      const kept = history(code).filter(observation => startOfDay(observation.observedAt) === day)
      const session = world
        .observations(code, day - dayMs, day + 2 * dayMs)
        .filter(observation => observation.observedAt <= close)
      expect(kept).toHaveLength(1)
      expect(kept[0]).toEqual(session.at(-1)!)
      expect(kept[0]!.observedAt).toBe(close)
    }
  })

  test('intraday prices come at their cadence through the session and are published within two minutes', () => {
    const day = Date.UTC(2026, 10, 18)
    for (const [code, step, count] of [
      ['BRENT_CRUDE_USD', 2.5 * minuteMs, 528],
      ['WTI_USD', 5 * minuteMs, 264],
      ['DUTCH_TTF_EUR', 5 * minuteMs, 120],
      ['EUR_USD', 5 * minuteMs, 288],
    ] as [string, number, number][]) {
      const session = sessionOf(marketOf(byCode.get(code)!.category, code), day)!
      const prices = world
        .observations(code, day - dayMs, day + 2 * dayMs)
        .filter(
          observation =>
            observation.observedAt > session.opensAt && observation.observedAt <= session.closesAt,
        )
      expect(prices).toHaveLength(count)
      for (const [i, one] of prices.entries())
        expect(one.observedAt).toBe(session.opensAt + (i + 1) * step)
      for (const one of prices) expect(one.recordedAt - one.observedAt).toBeLessThan(2 * minuteMs)
    }
  })

  test('a session has no jump at its ends that a day would not explain', () => {
    const from = Date.UTC(2026, 5, 1)
    const prices = world.observations('WTI_USD', from, from + 90 * dayMs)
    const moves = prices.slice(1).map((one, i) => Math.abs(Math.log(one.value / prices[i]!.value)))
    expect(Math.max(...moves)).toBeLessThan(0.02)
  })
})

describe('depth', () => {
  test('every available code has data and the others none', () => {
    for (const one of series) expect(history(one.code).length > 0, one.code).toEqual(one.available)
    expect(world.observations('NO_SUCH_CODE', 0, now)).toEqual([])
  })

  test('demo history reaches its promised start and contains no unpublished values', () => {
    for (const one of available) {
      const all = history(one.code)
      const first = all[0]!.observedAt
      const wanted =
        one.category === 'list_prices'
          ? '2002-08-23'
          : one.unit === 'rigs'
            ? '2013-02-01'
            : isMainCode(one)
              ? '2016-11-22'
              : '2020-01-31'
      if (isoDay(first) > wanted) throw new Error(`${one.code} starts on ${isoDay(first)}`)
      expect(all.at(-1)!.recordedAt).toBeLessThan(now)
    }
    expect(isoDay(history('US_RIG_COUNT')[0]!.observedAt)).toBe('2013-01-04')
    expect(isoDay(history('FORTIES_USD')[0]!.observedAt)).toBe('2020-01-02')
  })

  test('the leading codes have a close for every trading day of ten years', () => {
    for (const code of leadingCodes) {
      const market = marketOf(byCode.get(code)!.category, code)
      const days = closes(code)
      for (let at = Date.UTC(2016, 10, 21); at < Date.UTC(2026, 10, 21); at += dayMs)
        if (isTradingDay(market, at) && !days.has(isoDay(at)))
          throw new Error(`${code} lacks ${isoDay(at)}`)
    }
  })

  test('intraday codes are hourly for 35 days and of full cadence for the last three', () => {
    for (const { code, cadence } of available.filter(series => isIntraday(series.cadence))) {
      const days = new Set(history(code).map(observation => observation.observedAt))
      const all = world
        .observations(code, now - 35 * dayMs, now)
        .map(observation => observation.observedAt)
      for (const at of all)
        if (at % hourMs === 0 || at >= now - 3 * dayMs) expect(days.has(at)).toBe(true)
      expect(all.filter(at => at >= now - 3 * dayMs).length).toBeGreaterThan(
        cadence === 'intraday_2_5m' ? 500 : 100,
      )
    }
  })

  test('nothing is stale at any start, and everything is current', () => {
    const moments = fc.sample(
      fc.integer({ min: Date.UTC(2018, 0, 1), max: Date.UTC(2038, 0, 1) }),
      { numRuns: 14, seed: 23 },
    )
    const hard = [
      '2026-12-25T23:59:59Z',
      '2026-12-28T09:00:00Z',
      '2027-01-01T00:00:01Z',
      '2024-04-01T18:00:00Z',
      '2026-11-30T00:10:00Z',
      '2025-04-21T16:45:00Z',
    ]
    for (const at of [...moments, ...hard.map(text => parseInstant(text)!)])
      for (const one of available) {
        const newest = world.observations(one.code, at - 45 * dayMs, at, depthOf(one, at)).at(-1)
        if (!newest) throw new Error(`${one.code} has nothing at ${new Date(at).toISOString()}`)
        if (at > currentUntil(one.cadence, marketOf(one.category, one.code), newest.observedAt))
          throw new Error(
            `${one.code} of ${new Date(newest.observedAt).toISOString()} is not current at ${new Date(at).toISOString()}`,
          )
      }
  })
})
