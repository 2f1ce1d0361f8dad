import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import fc from 'fast-check'
import { parseInstant } from '../../../../src/lib/time/instant.ts'
import {
  contractStatus,
  daysToExpiry,
  isLondonBusinessDay,
  isOpen,
  lastTradingDay,
  listedMonths,
  monthAfter,
  rollIndicator,
  sessionAt,
  tradingDate,
} from '../../../../src/topics/futures/math/contracts.ts'
import {
  type Family,
  type FamilyCode,
  families,
} from '../../../../src/topics/futures/math/families.ts'
import { dayAfter, dayNumber } from '../../../../src/topics/prices/math/window.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'

const family = (code: FamilyCode): Family => families.find(candidate => candidate.code === code)!
const at = (text: string): number => parseInstant(text)!

const expiries = readFileSync(
  resolve(import.meta.dir, '../../../../fixtures/contract-expiries.tsv'),
  'utf8',
)
  .trim()
  .split('\n')
  .slice(1)
  .map(line => line.split('\t') as [FamilyCode, string, string, string])

describe('lastTradingDay: last trading days', () => {
  for (const { code } of families) {
    test(`of ${code} equal the list of three years`, () => {
      const rows = expiries.filter(row => row[0] === code)
      expect(rows).toHaveLength(37)
      expect(rows.map(([, month]) => [month, lastTradingDay(code, month)])).toEqual(
        rows.map(([, month, day]) => [month, day]),
      )
    })
  }

  test('last trading days match the published dates at year ends, next to holidays and in 2020', () => {
    const publishedDays: [FamilyCode, string, string][] = [
      ['WTI_FUTURES', '2020-05', '2020-04-21'],
      ['WTI_FUTURES', '2023-12', '2023-11-20'],
      ['WTI_FUTURES', '2025-02', '2025-01-21'],
      ['BRENT_FUTURES', '2020-10', '2020-08-28'],
      ['BRENT_FUTURES', '2024-02', '2023-12-28'],
      ['BRENT_FUTURES', '2025-02', '2024-12-30'],
      ['NATURAL_GAS_FUTURES', '2024-12', '2024-11-26'],
      ['EUA_FUTURES', '2023-12', '2023-12-18'],
      ['EUA_FUTURES', '2024-12', '2024-12-16'],
      ['TTF_FUTURES', '2024-04', '2024-03-27'],
    ]
    for (const [code, month, day] of publishedDays)
      expect(lastTradingDay(code, month), `${code} ${month}`).toBe(day)
  })

  test('rise with the contract month and are business days, over sixty years', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...families),
        fc.integer({ min: 0, max: 720 }),
        ({ code, market }, months) => {
          const month = monthAfter('2000-01', months)
          const day = lastTradingDay(code, month)
          expect(lastTradingDay(code, monthAfter(month, 1)) > day).toBe(true)
          if (market !== 'us_energy') expect(isLondonBusinessDay(dayNumber(day))).toBe(true)
          expect(day.slice(0, 7) <= month).toBe(true)
        },
      ),
    )
  })

  test('follow another calendar when one is given', () => {
    const everyDay = () => true
    expect(lastTradingDay('GASOIL_FUTURES', '2026-11', everyDay)).toBe('2026-11-12')
    expect(lastTradingDay('JKM_FUTURES', '2026-12', everyDay)).toBe('2026-11-15')
    expect(lastTradingDay('WTI_FUTURES', '2026-12', everyDay)).toBe('2026-11-22')
  })

  test('computing the last trading day of an invalid month fails with an error that names the month', () => {
    for (const month of ['2026-13', '2026-1', 'CL.2'])
      expect(() => lastTradingDay('WTI_FUTURES', month)).toThrow(JSON.stringify(month))
  })

  needs('../shared/data').test(
    'agree with where the published WTI series 1 to 4 roll, 2010 to 2020',
    () => {
      // A roll shows as series 1 moving with the others when it is compared with series 2 of the day
      // before.
      const rows = realRows('eia-nymex-futures/wti_c1_c4_daily_2010_2020.csv').map(
        ([day, ...prices]) => ({
          day: day!,
          prices: prices.map(Number),
        }),
      )
      const misfit = (before: number[], after: number[], shift: number) => {
        const [a, b, c] = [0, 1, 2].map(i => after[i]! - before[i + shift]!) as [
          number,
          number,
          number,
        ]
        return Math.abs(a - b) + Math.abs(b - c)
      }
      const rollsAfter = (i: number) => {
        const [before, after] = [rows[i]?.prices, rows[i + 1]?.prices]
        return before && after
          ? misfit(before, after, 0) - misfit(before, after, 1)
          : Number.NEGATIVE_INFINITY
      }
      const openByMinute = new Map<number, number>()
      for (let month = '2010-02'; month < '2020-12'; month = monthAfter(month, 1)) {
        const i = rows.findIndex(({ day }) => day === lastTradingDay('WTI_FUTURES', month))
        expect(i, month).toBeGreaterThan(-1)
        const offsets = [-4, -3, -2, -1, 0, 1, 2, 3, 4]
        const best = offsets.reduce((a, b) => (rollsAfter(i + b) > rollsAfter(i + a) ? b : a))
        openByMinute.set(best, (openByMinute.get(best) ?? 0) + 1)
      }
      expect(openByMinute.get(0)).toBeGreaterThan(100)
      expect(
        Math.max(...[...openByMinute].filter(([offset]) => offset !== 0).map(([, count]) => count)),
      ).toBeLessThan(13)
    },
  )
})

describe('listedMonths: listing', () => {
  test('contract listing begins with the month still trading on the given day and continues without gaps', () => {
    expect(listedMonths('BRENT_FUTURES', '2026-11-30', 3)).toEqual([
      '2027-01',
      '2027-02',
      '2027-03',
    ])
    expect(listedMonths('BRENT_FUTURES', '2026-12-01', 3)).toEqual([
      '2027-02',
      '2027-03',
      '2027-04',
    ])
    expect(listedMonths('WTI_FUTURES', '2026-11-20', 1)).toEqual(['2026-12'])
    expect(listedMonths('WTI_FUTURES', '2026-11-21', 1)).toEqual(['2027-01'])
    expect(listedMonths('GASOIL_FUTURES', '2026-11-12', 1)).toEqual(['2026-11'])
    expect(listedMonths('EUA_FUTURES', '2026-11-21')).toHaveLength(12)
    expect(listedMonths('EUA_FUTURES', '2026-12-15', 2)).toEqual(['2027-01', '2027-02'])
  })

  test('is the first months whose last trading day has not passed, for any day', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...families),
        fc.integer({ min: 0, max: 9000 }),
        ({ code }, days) => {
          const day = dayAfter('2010-01-01', days)
          const months = listedMonths(code, day)
          expect(months).toEqual(months.map((_, i) => monthAfter(months[0]!, i)))
          expect(lastTradingDay(code, months[0]!) >= day).toBe(true)
          expect(lastTradingDay(code, monthAfter(months[0]!, -1)) < day).toBe(true)
        },
      ),
    )
  })
})

describe('contractStatus: status', () => {
  test('of a contract through its last weeks', () => {
    const table: [string, string, string][] = [
      ['2026-12', '2026-11-12', 'front_month'],
      ['2026-12', '2026-11-13', 'near_expiry'],
      ['2026-12', '2026-11-20', 'near_expiry'],
      ['2026-12', '2026-11-21', 'expired'],
      ['2027-01', '2026-11-20', 'active'],
      ['2027-01', '2026-11-21', 'front_month'],
      ['2027-08', '2026-11-21', 'active'],
    ]
    for (const [month, day, status] of table)
      expect(contractStatus('WTI_FUTURES', month, day), `${month} on ${day}`).toBe(status as never)
    expect(daysToExpiry('WTI_FUTURES', '2026-12', '2026-11-12')).toBe(8)
    expect(daysToExpiry('WTI_FUTURES', '2026-12', '2026-11-21')).toBe(-1)
  })

  test('the roll is announced in the last seven days and due in the last three', () => {
    expect(rollIndicator('WTI_FUTURES', '2026-11-12')).toBeUndefined()
    expect(rollIndicator('WTI_FUTURES', '2026-11-13')).toEqual({
      shouldRoll: false,
      daysRemaining: 7,
      nextMonth: '2027-01',
      message:
        'WTI_FUTURES_2026_12 trades for the last time in 7 days, on 2026-11-20; WTI_FUTURES_2027_01 follows.',
    })
    expect(rollIndicator('WTI_FUTURES', '2026-11-17')).toMatchObject({
      shouldRoll: true,
      daysRemaining: 3,
    })
    expect(rollIndicator('WTI_FUTURES', '2026-11-19')?.message).toContain('tomorrow')
    expect(rollIndicator('WTI_FUTURES', '2026-11-20')?.message).toContain('today')
    expect(rollIndicator('WTI_FUTURES', '2026-11-21')).toBeUndefined()
  })
})

describe('isOpen and sessionAt: trading hours', () => {
  test('open and close at local time on both sides of a daylight-saving change', () => {
    const table: [FamilyCode, string, boolean][] = [
      // London keeps GMT until 2026-03-29: 01:00 local is 01:00Z before, 00:00Z after.
      ['BRENT_FUTURES', '2026-03-27T00:59:59Z', false],
      ['BRENT_FUTURES', '2026-03-27T01:00:00Z', true],
      ['BRENT_FUTURES', '2026-03-27T22:59:59Z', true],
      ['BRENT_FUTURES', '2026-03-27T23:00:00Z', false],
      ['BRENT_FUTURES', '2026-03-30T00:00:00Z', true],
      ['BRENT_FUTURES', '2026-03-29T23:59:59Z', false],
      ['BRENT_FUTURES', '2026-03-30T22:00:00Z', false],
      // New York changes on 2026-03-08 and 2026-11-01; the session opens at 18:00 on the evening
      // before.
      ['NATURAL_GAS_FUTURES', '2026-03-06T21:59:59Z', true],
      ['NATURAL_GAS_FUTURES', '2026-03-06T22:00:00Z', false],
      ['NATURAL_GAS_FUTURES', '2026-03-08T21:59:59Z', false],
      ['NATURAL_GAS_FUTURES', '2026-03-08T22:00:00Z', true],
      ['NATURAL_GAS_FUTURES', '2026-03-09T20:59:59Z', true],
      ['NATURAL_GAS_FUTURES', '2026-03-09T21:30:00Z', false],
      ['NATURAL_GAS_FUTURES', '2026-11-01T22:59:59Z', false],
      ['NATURAL_GAS_FUTURES', '2026-11-01T23:00:00Z', true],
      ['TTF_FUTURES', '2026-07-01T06:00:00Z', true],
      ['TTF_FUTURES', '2026-07-01T05:59:59Z', false],
      ['TTF_FUTURES', '2026-12-01T06:30:00Z', false],
      ['TTF_FUTURES', '2026-12-01T16:59:59Z', true],
      ['UKA_FUTURES', '2026-07-01T16:00:00Z', false],
    ]
    for (const [code, instant, open] of table)
      expect(isOpen(family(code), at(instant)), `${code} ${instant}`).toBe(open)
  })

  test('are closed on weekends and on the holidays of the market, evenings before them included', () => {
    for (const instant of [
      '2026-11-21T12:00:00Z',
      '2026-11-22T12:00:00Z',
      '2026-04-03T12:00:00Z',
      '2026-12-25T12:00:00Z',
      '2027-01-01T12:00:00Z',
    ]) {
      for (const candidate of families)
        expect(isOpen(candidate, at(instant)), `${candidate.code} ${instant}`).toBe(false)
    }
    expect(isOpen(family('WTI_FUTURES'), at('2026-11-25T23:30:00Z'))).toBe(false)
    expect(isOpen(family('WTI_FUTURES'), at('2026-11-27T00:30:00Z'))).toBe(true)
    expect(isOpen(family('BRENT_FUTURES'), at('2026-11-26T12:00:00Z'))).toBe(true)
    expect(isOpen(family('GASOIL_FUTURES'), at('2026-08-31T12:00:00Z'))).toBe(true)
  })

  test('a session holds exactly the instants at which the market is open, at any minute of two years', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...families),
        fc.integer({ min: 0, max: 730 * 1440 }),
        (candidate, minutes) => {
          const instant = at('2025-06-01T00:00:00Z') + minutes * 60_000
          const session = sessionAt(candidate, instant)
          if (!session) return
          expect(
            isOpen(candidate, session.opensAt) && isOpen(candidate, session.closesAt - 1),
          ).toBe(true)
          expect(
            isOpen(candidate, session.opensAt - 1) || isOpen(candidate, session.closesAt),
          ).toBe(false)
          expect(session.closesAt - session.opensAt).toBeLessThanOrEqual(23 * 3_600_000)
          expect(tradingDate(candidate, session.opensAt)).toBe(
            tradingDate(candidate, session.closesAt - 1),
          )
        },
      ),
    )
  })

  test('the trading date turns at local midnight, or where the evening session opens', () => {
    expect(tradingDate(family('BRENT_FUTURES'), at('2026-11-30T23:59:59Z'))).toBe('2026-11-30')
    expect(tradingDate(family('BRENT_FUTURES'), at('2026-12-01T00:00:00Z'))).toBe('2026-12-01')
    expect(tradingDate(family('WTI_FUTURES'), at('2026-11-20T22:59:59Z'))).toBe('2026-11-20')
    expect(tradingDate(family('WTI_FUTURES'), at('2026-11-20T23:00:00Z'))).toBe('2026-11-21')
  })
})
