import { describe, expect, test } from 'bun:test'
import {
  type Adjustment,
  adjusted,
  type ContractDays,
  continuousDays,
  type RollTerms,
} from '../../../../src/topics/futures/math/continuous.ts'
import type { ContractDay } from '../../../../src/topics/futures/math/contract-days.ts'
import { lastTradingDay, tradesOn } from '../../../../src/topics/futures/math/contracts.ts'
import { familyOf } from '../../../../src/topics/futures/math/families.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'

const family = 'WTI_FUTURES'
const months = ['2025-02', '2025-03', '2025-04', '2025-05', '2025-06', '2025-07', '2025-08']

interface Measures {
  volume: number | null
  openInterest: number | null
}

/** Every contract trades on every trading date up to its last; each is 1 dearer than the one before it. */
function market(
  measures: (month: string, date: string) => Measures = () => ({ volume: 1, openInterest: 1 }),
  closeOf: (month: string, n: number) => number = (month, n) =>
    70 + months.indexOf(month) + n / 100,
) {
  const dates: string[] = []
  for (let date = '2025-01-02'; date <= '2025-05-30'; date = dayAfter(date, 1))
    if (tradesOn(familyOf(family), date)) dates.push(date)
  const contracts = new Map<string, ContractDays>(
    months.map(month => [
      month,
      new Map(
        dates
          .filter(date => date <= lastTradingDay(family, month))
          .map((date): [string, ContractDay] => {
            const close = closeOf(month, dates.indexOf(date))
            return [
              date,
              {
                month,
                code: month,
                tradedOn: date,
                open: close,
                high: close,
                low: close,
                close,
                settlement: close,
                ...measures(month, date),
                quotedAt: 0,
                recordedAt: 0,
                source: 'test',
              },
            ]
          }),
      ),
    ]),
  )
  const daysOf = (month: string): ContractDays => contracts.get(month) ?? new Map()
  const terms: RollTerms = { rule: 'expiry', daysBefore: 5, nth: 1 }
  const series = (change: Partial<RollTerms> = {}, from = '2025-01-02', to = '2025-04-30') =>
    continuousDays(family, daysOf, from, to, { ...terms, ...change })
  const prices = (adjustment: Adjustment) => {
    const { days, rolls } = series()
    return adjusted(days, rolls, adjustment).map(({ price }) => price)
  }
  return { dates, series, prices }
}

const rollsOf = ({ rolls }: { rolls: { date: string; fromMonth: string; toMonth: string }[] }) =>
  rolls.map(roll => [roll.date, roll.fromMonth, roll.toMonth])

describe('roll rules', () => {
  test('expiry: the contract is left after its last trading day', () => {
    // WTI ends three business days before the 25th of the month before its own.
    expect(rollsOf(market().series())).toEqual([
      ['2025-01-22', '2025-02', '2025-03'],
      ['2025-02-21', '2025-03', '2025-04'],
      ['2025-03-21', '2025-04', '2025-05'],
      ['2025-04-23', '2025-05', '2025-06'],
    ])
  })

  test('days_before: so many trading days before the last one the next contract is there', () => {
    const { dates, series } = market()
    for (const daysBefore of [1, 5, 30]) {
      const { rolls } = series({ rule: 'days_before', daysBefore }, '2025-03-03', '2025-04-30')
      for (const { date, fromMonth } of rolls) {
        const last = dates.indexOf(lastTradingDay(family, fromMonth))
        expect(dates.indexOf(date)).toBe(last - daysBefore)
      }
      expect(rolls.length).toBeGreaterThan(0)
    }
  })

  test('volume and open interest: on the day after the next exceeds, and never back', () => {
    // The next contract is ahead on one date, and the old one again from then on.
    const isAhead = (date: string) => date === '2025-01-10'
    const measure = (month: string, date: string) =>
      month === '2025-03' ? (isAhead(date) ? 9 : 2) : month === '2025-02' ? 5 : 1
    for (const [rule, other] of [
      ['volume', 'openInterest'],
      ['open_interest', 'volume'],
    ] as const) {
      const { series } = market((month, date) => ({
        volume: measure(month, date),
        openInterest: measure(month, date),
        [other]: month === '2025-02' ? 9 : 1,
      }))
      expect(rollsOf(series({ rule }, '2025-01-02', '2025-01-31'))).toEqual([
        ['2025-01-13', '2025-02', '2025-03'],
      ])
    }
  })

  test('a measure that is not known rolls nothing before the contract ends', () => {
    const { series } = market(() => ({ volume: null, openInterest: null }))
    expect(rollsOf(series({ rule: 'volume' }))).toEqual(rollsOf(market().series()))
  })

  test('the series at a date does not depend on what comes after it', () => {
    const { series, dates } = market((month, date) => ({
      volume: (months.indexOf(month) * 7 + Number(date.slice(8)) * 13) % 29,
      openInterest: 1,
    }))
    const whole = series({ rule: 'volume' }).days
    for (const to of dates.slice(5, 60)) {
      const days = series({ rule: 'volume' }, '2025-01-02', to).days
      expect(days).toEqual(whole.slice(0, days.length))
    }
  })

  test('the active contract is the next one as soon as the last trading day is over, before it has a price', () => {
    // The last trading day of 2025-08 has passed when the market's prices end on 30 May; that of
    // 2025-06 is Tuesday, 20 May, of 2025-07 Friday, 20 June.
    const { series } = market()
    const activeOn = (to: string, change: Partial<RollTerms> = {}) =>
      series(change, '2025-04-01', to).activeMonth
    expect(activeOn('2025-05-20')).toBe('2025-06')
    expect(activeOn('2025-05-21')).toBe('2025-07')
    expect(activeOn('2025-06-20')).toBe('2025-07')
    expect(activeOn('2025-06-21')).toBe('2025-08')
    expect(activeOn('2025-06-20', { nth: 2 })).toBe('2025-08')
    expect(activeOn('2025-06-13', { rule: 'days_before', daysBefore: 5 })).toBe('2025-08')
  })

  test('the active contract by volume changes on the day after the next one exceeds it', () => {
    const { series } = market((month, date) => ({
      volume: month === '2025-04' && date >= '2025-03-06' ? 9 : 5,
      openInterest: 1,
    }))
    const activeOn = (to: string) => series({ rule: 'volume' }, '2025-03-03', to).activeMonth
    expect([activeOn('2025-03-06'), activeOn('2025-03-07')]).toEqual(['2025-04', '2025-04'])
  })

  test('a place further out rolls on the same dates', () => {
    const [front, third] = [market().series(), market().series({ nth: 3 })]
    expect(third.rolls.map(roll => roll.date)).toEqual(front.rolls.map(roll => roll.date))
    expect(third.days[0]!.month).toBe('2025-04')
  })
})

describe('adjustments', () => {
  test('back_adjusted: earlier prices are shifted by the sum of later gaps', () => {
    const { prices, series } = market()
    const { days, rolls } = series()
    expect(rolls.map(roll => roll.gap)).toEqual([1, 1, 1, 1].map(gap => expect.closeTo(gap, 9)))
    const shifted = prices('back_adjusted')
    // Without its steps the series rises by a cent a date and ends where it traded.
    expect(shifted).toEqual(days.map((_, n) => expect.closeTo(74 + n / 100, 9)))
    expect(shifted.at(-1)).toBe(days.at(-1)!.close)
  })

  test('ratio_adjusted: earlier prices are multiplied by the product of later ratios', () => {
    const { prices } = market(
      undefined,
      (month, n) => 50 * 1.1 ** months.indexOf(month) * 1.001 ** n,
    )
    const scaled = prices('ratio_adjusted')
    expect(scaled).toEqual(scaled.map((_, n) => expect.closeTo(50 * 1.1 ** 4 * 1.001 ** n, 6)))
  })

  test('the adjustment mode none leaves traded prices unchanged', () => {
    const { prices, series } = market()
    expect(prices('none')).toEqual(series().days.map(day => day.close))
  })

  test('a price that is not positive has no ratio, and shifts all the same', () => {
    const fallen = market(undefined, (month, n) => (n === 7 ? -36.98 : 70 + months.indexOf(month)))
    expect(() => fallen.prices('ratio_adjusted')).toThrow('not positive')
    expect(fallen.prices('back_adjusted')[7]).toBeCloseTo(-36.98 + 4, 9)
  })
})
