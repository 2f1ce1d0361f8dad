import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoDay, minuteMs } from '../../../../src/lib/time/instant.ts'
import {
  daysToExpiry,
  isOpen,
  lastTradingDay,
  listedMonths,
  sessionOn,
  tradesOn,
} from '../../../../src/topics/futures/math/contracts.ts'
import {
  contractCode,
  families,
  familyOf,
  listedCount,
} from '../../../../src/topics/futures/math/families.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { at, openFuturesInstance } from '../../../support/topics/futures.ts'

const friday = at('2026-11-20T15:00:00Z')
/** Little history: the dates that tests read are published as the clock moves. */
const brief = { wholeCurveDays: 6, nearMonthsDays: 6, tickDays: 1 }

describe('a new demo instance', () => {
  const { services, world } = openFuturesInstance(friday)
  const { futures, catalogue } = services

  for (const family of families) {
    const { code } = family
    test(`lists twelve months of ${code}, each with a quote of the running session`, () => {
      const quotes = futures.quotes(code)
      expect(quotes.map(quote => quote.day.month)).toEqual(listedMonths(code, futures.today(code)))
      expect(quotes.length).toBe(listedCount)
      for (const { day, previous } of quotes) {
        expect({ tradedOn: day.tradedOn, settlement: day.settlement, source: day.source }).toEqual({
          tradedOn: '2026-11-20',
          settlement: null,
          source: 'fixture',
        })
        expect(friday - day.quotedAt).toBeLessThan(31 * minuteMs)
        expect(previous?.tradedOn).toBe('2026-11-19')
      }
    })

    test(`closes the front month of ${code} where its custom series closes, day by day`, () => {
      const closes = futures.closes(code, 1, '2026-10-15', '2026-11-19')
      const own = world.observations(code, at('2026-10-15T00:00:00Z'), at('2026-11-20T00:05:00Z'), {
        from: 0,
        hourlyFrom: Number.POSITIVE_INFINITY,
        rawFrom: Number.POSITIVE_INFINITY,
      })
      expect(closes).toEqual(
        own
          .filter(value => isoDay(value.observedAt) <= '2026-11-19')
          .map(value => ({ day: isoDay(value.observedAt), value: value.value })),
      )
      expect(closes.length).toBeGreaterThan(20)
    })

    test(`settles ${code} near the close and never on it, with volume and open interest`, () => {
      const wanted = { places: Array.from({ length: listedCount }, (_, i) => i + 1) }
      const { days } = futures.page(code, wanted, '2026-10-15', '2026-11-19', 0, 1_000)
      expect(days.length).toBeGreaterThan(250)
      for (const day of days) {
        expect(day.settlement).not.toBeNull()
        expect(day.settlement).not.toBe(day.close)
        expect(Math.abs(day.settlement! / day.close - 1)).toBeLessThan(0.01)
        expect(
          day.low <= Math.min(day.open, day.close) && day.high >= Math.max(day.open, day.close),
        ).toBe(true)
        expect(day.volume).toBeGreaterThan(0)
        expect(day.openInterest).toBeGreaterThan(0)
        expect(isOpen(family, day.quotedAt - 1)).toBe(true)
      }
    })

    test(`has three sessions of ticks of ${code}, every five minutes for the front month`, () => {
      for (const day of ['2026-11-17', '2026-11-18', '2026-11-19']) {
        const { opensAt, closesAt } = sessionOn(family, day)
        const trades = futures.intraday(code, listedMonths(code, day, 1)[0]!, day)!
        expect(trades.ticks.length).toBe((closesAt - opensAt) / (5 * minuteMs) + 1)
        expect({ first: trades.ticks[0]!.tradedAt, last: trades.ticks.at(-1)!.tradedAt }).toEqual({
          first: opensAt,
          last: closesAt,
        })
      }
    })
  }

  test('marks every contract as fixture data', () => {
    for (const { code } of families)
      for (const month of listedMonths(code, '2026-11-20'))
        expect(catalogue.named(contractCode(code, month))?.fixture).toBe(true)
  })

  test('has curves that differ in shape and move slowly', () => {
    const slopes = (day: string) =>
      families.map(({ code }) => {
        const { points } = futures.curve(code, day)!
        return Math.log(points.at(-1)!.lastPrice / points[0]!.lastPrice)
      })
    const [now, weekAgo] = [slopes('2026-11-19'), slopes('2026-11-12')]
    expect(now.some(slope => slope > 0.005) && now.some(slope => slope < -0.005)).toBe(true)
    for (const [i, slope] of now.entries()) expect(Math.abs(slope - weekAgo[i]!)).toBeLessThan(0.06)
  })

  test('is the same for the same seed', () => {
    const other = openFuturesInstance(friday).services.futures
    for (const { code } of families) expect(other.curve(code)).toEqual(futures.curve(code)!)
  })
})

test('settlements come out at 19:30 UTC, not before, in summer and winter', () => {
  for (const day of ['2026-07-15', '2026-11-18']) {
    const { services, follow } = openFuturesInstance(at(`${day}T19:29:00Z`), brief)
    const settled = () =>
      families.map(
        ({ code }) =>
          services.futures.quotes(code).filter(quote => quote.day.settlement !== null).length,
      )
    expect(settled()).toEqual(families.map(() => 0))
    follow(at(`${day}T19:30:10Z`))
    expect(settled()).toEqual(families.map(() => 0))
    follow(at(`${day}T19:31:00Z`))
    expect(settled()).toEqual(families.map(() => listedCount))
  }
})

test('demo futures stay current over Christmas, Easter and every clock change while the instance is updated', () => {
  const periods = [
    ['2026-12-23T12:00:00Z', '2026-12-29T12:00:00Z'],
    ['2027-03-12T20:00:00Z', '2027-03-15T12:00:00Z'],
    ['2027-03-25T12:00:00Z', '2027-03-31T12:00:00Z'],
  ] as const
  for (const [from, to] of periods) {
    const { services, follow } = openFuturesInstance(at(from), brief)
    for (let now = at(from); now < at(to); now += 115 * minuteMs) {
      follow(now)
      for (const { code } of families)
        expect([
          new Date(now).toISOString(),
          code,
          services.futures.freshness(code)?.state,
        ]).toEqual([new Date(now).toISOString(), code, 'fresh'])
    }
  }
}, 20_000)

test('an instance is not stale when it starts, whatever day and hour it is', () => {
  for (const start of ['2027-03-29T22:30:00Z', '2025-12-29T05:00:00Z', '2026-11-22T23:10:00Z']) {
    const { services } = openFuturesInstance(at(start), { ...brief, tickDays: 6 })
    for (const { code } of families)
      expect({ start, code, state: services.futures.freshness(code)?.state }).toEqual({
        start,
        code,
        state: 'fresh',
      })
  }
}, 20_000)

test('a clock that is moved far gets every bar, and the same closes as one that was there all along', () => {
  const jumped = openFuturesInstance(friday, brief)
  jumped.follow(friday + 45 * dayMs)
  const there = openFuturesInstance(friday + 45 * dayMs, {
    wholeCurveDays: 70,
    nearMonthsDays: 70,
    tickDays: 1,
  })
  const range = ['2026-11-16', isoDay(friday + 44 * dayMs)] as const
  for (const { code, name } of families) {
    const closes = jumped.services.futures.closes(code, 2, ...range)
    expect(closes, name).toEqual(there.services.futures.closes(code, 2, ...range))
    let days = 0
    for (let day: string = range[0]; day <= range[1]; day = dayAfter(day, 1))
      days += tradesOn(familyOf(code), day) ? 1 : 0
    expect(closes.length).toBe(days)
  }
})

test('a contract that expires leaves the curve, and the next one is quoted already', () => {
  const { services, follow } = openFuturesInstance(at('2026-11-20T22:30:00Z'), brief)
  const { futures } = services
  expect(lastTradingDay('WTI_FUTURES', '2026-12')).toBe('2026-11-20')
  expect(futures.front('WTI_FUTURES')?.contractMonth).toBe('2026-12')
  follow(at('2026-11-20T22:59:59Z'))
  expect(futures.quotes('WTI_FUTURES')[0]).toMatchObject({
    status: 'near_expiry',
    daysToExpiry: 0,
    isFront: true,
  })
  follow(at('2026-11-20T23:00:00Z'))
  const [front] = futures.quotes('WTI_FUTURES')
  expect({
    month: front?.day.month,
    status: front?.status,
    daysToExpiry: front?.daysToExpiry,
  }).toEqual({
    month: '2027-01',
    status: 'front_month',
    daysToExpiry: daysToExpiry('WTI_FUTURES', '2027-01', '2026-11-21'),
  })
  follow(at('2026-11-23T12:00:00Z'))
  expect(futures.quotes('WTI_FUTURES').length).toBe(listedCount)
})

test('publishing existing futures data again changes nothing', () => {
  const { services, follow, publish } = openFuturesInstance(friday, brief)
  const before = families.map(({ code }) => services.futures.curve(code))
  follow(friday + hourMs)
  follow(friday + hourMs)
  publish(friday, friday + hourMs)
  follow(friday + hourMs + 5 * minuteMs)
  const again = openFuturesInstance(friday, brief)
  again.follow(friday + hourMs + 5 * minuteMs)
  expect(families.map(({ code }) => services.futures.curve(code))).toEqual(
    families.map(({ code }) => again.services.futures.curve(code)),
  )
  expect(families.map(({ code }) => services.futures.curve(code))).not.toEqual(before)
})
