import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  dayMs,
  isoDay,
  parseDay,
  parseInstant,
  weekdayOf,
} from '../../../../src/lib/time/instant.ts'
import {
  addTradingDays,
  isTradingDay,
  type Market,
  marketOf,
  markets,
  nextTradingDay,
  previousTradingDay,
  sessionOf,
} from '../../../../src/topics/calendars/math/calendar.ts'
import { easterDay } from '../../../../src/topics/calendars/math/holidays.ts'

const day = (text: string): number => parseDay(text)!
const at = (text: string): number => parseInstant(text)!

describe('isTradingDay: holidays', () => {
  test.each([
    [1961, '1961-04-02'],
    [2000, '2000-04-23'],
    [2008, '2008-03-23'],
    [2019, '2019-04-21'],
    [2024, '2024-03-31'],
    [2025, '2025-04-20'],
    [2026, '2026-04-05'],
    [2038, '2038-04-25'],
    [2076, '2076-04-19'],
  ])('Easter Sunday of %d is %s', (year, text) => {
    expect(isoDay(easterDay(year) * dayMs)).toBe(text)
  })

  const closures: [Market, string[]][] = [
    [
      'us_energy',
      [
        '2026-01-01',
        '2026-01-19',
        '2026-02-16',
        '2026-04-03',
        '2026-05-25',
        '2026-06-19',
        '2026-07-03',
        '2026-09-07',
        '2026-11-26',
        '2026-12-25',
      ],
    ],
    [
      'us_energy',
      ['2021-07-05', '2021-12-24', '2022-06-20', '2023-01-02', '2024-11-28', '2027-06-18'],
    ],
    ['london_energy', ['2022-12-26', '2023-01-02', '2024-03-29', '2025-04-18', '2026-04-03']],
    ['europe_energy', ['2024-03-29', '2024-04-01', '2025-12-25', '2025-12-26']],
    ['fx', ['2024-03-29', '2024-04-01', '2024-05-01', '2024-12-25', '2024-12-26', '2026-01-01']],
    [
      'metals',
      [
        '2020-12-28',
        '2021-12-27',
        '2021-12-28',
        '2022-01-03',
        '2022-12-26',
        '2022-12-27',
        '2026-12-28',
        '2026-04-06',
        '2026-08-31',
      ],
    ],
    ['metals', ['2020-05-08', '2022-06-02', '2022-06-03', '2022-09-19', '2023-05-08']],
    ['us_government', ['2021-06-18', '2021-12-31', '2026-10-12', '2026-11-11', '2023-11-10']],
  ]
  test.each(closures)('%s is closed on %p', (market, days) => {
    for (const date of days) expect(isTradingDay(market, day(date)), date).toBe(false)
  })

  const trading: [Market, string[]][] = [
    [
      'us_energy',
      [
        '2021-06-18',
        '2022-01-03',
        '2021-12-31',
        '2026-10-12',
        '2026-11-11',
        '2026-11-27',
        '2026-04-06',
      ],
    ],
    ['london_energy', ['2021-12-27', '2024-04-01', '2026-11-26', '2026-12-28', '2026-05-04']],
    ['europe_energy', ['2024-05-01', '2021-12-27', '2026-12-28']],
    ['fx', ['2022-12-27', '2026-12-28', '2023-01-02', '2026-11-26']],
    ['metals', ['2020-05-04', '2022-05-30', '2026-12-29', '2026-11-26']],
    ['us_government', ['2026-04-03', '2020-06-19']],
    ['weekday', ['2026-12-25', '2026-01-01']],
    ['every_day', ['2026-12-25', '2026-11-21', '2026-11-22']],
  ]
  test.each(trading)('%s is open on %p', (market, days) => {
    for (const date of days) expect(isTradingDay(market, day(date)), date).toBe(true)
  })

  test('the rules hold for years far from the present', () => {
    expect(isTradingDay('us_energy', day('2099-12-25'))).toBe(false)
    expect(isTradingDay('us_energy', day('2150-12-25'))).toBe(false)
    expect(isTradingDay('us_energy', day('2150-12-28'))).toBe(true)
    expect(isTradingDay('metals', day('1975-03-28'))).toBe(false)
    expect(isTradingDay('us_government', day('1971-12-31'))).toBe(false)
    expect(isTradingDay('us_government', day('1975-12-31'))).toBe(true)
    expect(isTradingDay('us_government', day('1977-12-26'))).toBe(false)
  })
})

const anyMarket = fc.constantFrom(...markets)
const anyInstant = fc.integer({ min: day('1998-01-01'), max: day('2060-01-01') })

describe('previousTradingDay, nextTradingDay and addTradingDays: walking the calendar', () => {
  test('the next trading day is open, later, and the previous one of it is not later than where one came from', () => {
    fc.assert(
      fc.property(anyMarket, anyInstant, (market, from) => {
        const next = nextTradingDay(market, from)
        const back = previousTradingDay(market, next)
        expect(isTradingDay(market, next)).toBe(true)
        expect(next).toBeGreaterThan(from)
        expect(back).toBeLessThanOrEqual(from)
        for (let at = back + dayMs; at < next; at += dayMs)
          expect(isTradingDay(market, at)).toBe(false)
      }),
    )
  })

  test('adding trading days keeps the time of day and skips closed days', () => {
    expect(addTradingDays('us_energy', at('2026-11-25T19:30:00Z'), 1)).toBe(
      at('2026-11-27T19:30:00Z'),
    )
    expect(addTradingDays('us_energy', at('2026-11-28T19:30:00Z'), 0)).toBe(
      at('2026-11-30T19:30:00Z'),
    )
    expect(addTradingDays('us_energy', at('2026-11-25T19:30:00Z'), 0)).toBe(
      at('2026-11-25T19:30:00Z'),
    )
    expect(addTradingDays('every_day', at('2026-11-28T00:00:00Z'), 2)).toBe(
      at('2026-11-30T00:00:00Z'),
    )
  })

  test('no market is closed for longer than a week', () => {
    for (const market of markets)
      for (let at = day('2000-01-01'); at < day('2050-01-01'); at = nextTradingDay(market, at))
        expect(nextTradingDay(market, at) - at).toBeLessThan(7 * dayMs)
  })
})

describe('the sessions of a market', () => {
  /** The session that is on at a moment; an evening can belong to the next day's. */
  const sessionAt = (market: Market, at: number) =>
    [at, at + dayMs]
      .map(day => sessionOf(market, day))
      .find(session => session && session.opensAt <= at && at < session.closesAt)

  test.each([
    ['us_energy', '2026-11-20T00:59:59Z', false],
    ['us_energy', '2026-11-20T01:00:00Z', true],
    ['us_energy', '2026-11-20T22:59:59Z', true],
    ['us_energy', '2026-11-20T23:00:00Z', false],
    ['us_energy', '2026-11-21T12:00:00Z', false],
    ['europe_energy', '2026-11-20T16:59:59Z', true],
    ['europe_energy', '2026-11-20T17:00:00Z', false],
    ['fx', '2026-11-20T21:59:59Z', true],
    ['fx', '2026-11-20T22:00:00Z', false],
    ['fx', '2026-11-22T21:59:59Z', false],
    ['fx', '2026-11-22T22:00:00Z', true],
    ['fx', '2026-11-24T22:00:00Z', true],
    ['us_government', '2026-11-20T12:00:00Z', false],
  ] as [Market, string, boolean][])('the market %s at %s is open: %p', (market, instant, open) => {
    expect(sessionAt(market, at(instant)) !== undefined).toBe(open)
  })

  test('an evening belongs to the session of the next day', () => {
    expect(sessionAt('fx', at('2026-11-22T23:00:00Z'))).toEqual(sessionOf('fx', day('2026-11-23')))
    expect(sessionOf('fx', day('2026-11-22'))).toBeUndefined()
  })

  test('two sessions of a market never overlap', () => {
    fc.assert(
      fc.property(anyMarket, anyInstant, (market, from) => {
        const session = sessionOf(market, from)
        const next = sessionOf(market, nextTradingDay(market, from))
        if (session && next) expect(session.closesAt).toBeLessThanOrEqual(next.opensAt)
        if (session)
          expect(isTradingDay(market, session.closesAt) && weekdayOf(session.closesAt) < 6).toBe(
            true,
          )
      }),
    )
  })
})

test.each([
  ['crude_oil', 'BRENT_CRUDE_USD', 'london_energy'],
  ['crude_oil', 'WTI_USD', 'us_energy'],
  ['physical_crude', 'WCS_CRUDE_USD', 'us_energy'],
  ['physical_crude', 'MURBAN_CRUDE_USD', 'london_energy'],
  ['refined_products', 'GASOLINE_USD', 'us_energy'],
  ['refined_products', 'ULSD_GROUP3_USD', 'us_energy'],
  ['refined_products', 'GASOIL_USD', 'london_energy'],
  ['refined_products', 'NAPHTHA_JAPAN_USD', 'london_energy'],
  ['natural_gas', 'NATURAL_GAS_USD', 'us_energy'],
  ['natural_gas', 'DUTCH_TTF_EUR', 'europe_energy'],
  ['carbon', 'UK_CARBON_GBP', 'europe_energy'],
  ['futures', 'TTF_FUTURES', 'europe_energy'],
  ['futures', 'WTI_FUTURES', 'us_energy'],
  ['futures', 'GASOIL_FUTURES', 'london_energy'],
  ['metals', 'GOLD_USD', 'metals'],
  ['fx', 'EUR_USD', 'fx'],
  ['list_prices', 'DIESEL_LIST_B7_DKK', 'every_day'],
  ['storage', 'DE_GAS_STORAGE', 'every_day'],
  ['storage', 'CUSHING_STORAGE', 'us_government'],
  ['retail_fuels', 'DIESEL_US_NATIONAL_USD', 'us_government'],
  ['retail_fuels', 'DIESEL_DE_EUR', 'weekday'],
  ['drilling', 'US_RIG_COUNT', 'us_government'],
])('%s %s follows the calendar %s', (category, code, market) => {
  expect(marketOf(category, code)).toBe(market as Market)
})
