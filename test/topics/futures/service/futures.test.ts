import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, isoDay, parseDay } from '../../../../src/lib/time/instant.ts'
import { lastTradingDay, tradesOn } from '../../../../src/topics/futures/math/contracts.ts'
import { familyOf } from '../../../../src/topics/futures/math/families.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { runs } from '../../../support/full.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import { at, dayOf, tickOf } from '../../../support/topics/futures.ts'

const wti = 'WTI_FUTURES'
const codeOf = (month: string) => `WTI_FUTURES_${month.replace('-', '_')}`

describe('recordDays and recordTicks: what is recorded', () => {
  const cases: {
    name: string
    next: ReturnType<typeof dayOf>
    counts: [number, number, number]
  }[] = [
    {
      name: 'the same day again changes nothing',
      next: dayOf({ close: 71.5, volume: 900 }),
      counts: [0, 0, 1],
    },
    {
      name: 'less of the same day changes nothing',
      next: dayOf({ close: 71.5 }),
      counts: [0, 0, 1],
    },
    { name: 'another close is a correction', next: dayOf({ close: 71.6 }), counts: [0, 1, 0] },
    { name: 'a settlement joins the close', next: dayOf({ settlement: 71.44 }), counts: [0, 1, 0] },
    {
      name: 'another date is another day',
      next: dayOf({ tradedOn: '2026-11-18', close: 71.5 }),
      counts: [1, 0, 0],
    },
    {
      name: 'another month is another contract',
      next: dayOf({ month: '2027-02', close: 71.5 }),
      counts: [1, 0, 0],
    },
  ]
  for (const { name, next, counts } of cases) {
    test(name, () => {
      const { futures } = openTestInstance().services
      futures.recordDays([dayOf({ close: 71.5, volume: 900 })], startAt)
      const [inserted, revised, unchanged] = counts
      expect(futures.recordDays([next], startAt)).toEqual({ inserted, revised, unchanged })
    })
  }

  test('a futures settlement is the published value and is never derived from the close', () => {
    const { futures } = openTestInstance().services
    futures.recordDays([dayOf({ close: 71.5 })], startAt)
    expect(futures.quotes(wti).map(quote => [quote.day.close, quote.day.settlement])).toEqual([
      [71.5, null],
    ])
    expect(futures.curve(wti)?.points[0]).toMatchObject({
      price: 71.5,
      settlement: null,
      basis: 'last_trade',
    })
    futures.recordDays([dayOf({ settlement: 71.44 })], startAt)
    expect(futures.quotes(wti).map(quote => [quote.day.close, quote.day.settlement])).toEqual([
      [71.5, 71.44],
    ])
    expect(futures.curve(wti)?.points[0]).toMatchObject({
      price: 71.44,
      lastPrice: 71.5,
      settlement: 71.44,
      basis: 'exchange_settlement',
    })
  })

  test('where there is a settlement only, it is the one price there is', () => {
    const { futures } = openTestInstance().services
    futures.recordDays([dayOf({ settlement: 71.44 })], startAt)
    expect(futures.quotes(wti)[0]?.day).toMatchObject({
      open: 71.44,
      high: 71.44,
      low: 71.44,
      close: 71.44,
      settlement: 71.44,
      volume: null,
    })
  })

  test('the bar of a date follows its ticks, and keeps its settlement', () => {
    const { futures } = openTestInstance().services
    futures.recordTicks(
      [tickOf('2026-11-20T14:00:00Z', 71), tickOf('2026-11-20T14:05:00Z', 72.5)],
      startAt,
    )
    futures.recordDays(
      [dayOf({ tradedOn: '2026-11-20', settlement: 71.9, openInterest: 5 })],
      startAt,
    )
    futures.recordTicks([tickOf('2026-11-20T14:10:00Z', 70.5)], startAt)
    const bar = {
      open: 71,
      high: 72.5,
      low: 70.5,
      close: 70.5,
      volume: 30,
      settlement: 71.9,
      openInterest: 5,
    }
    expect(futures.quotes(wti)[0]?.day).toMatchObject({
      ...bar,
      quotedAt: at('2026-11-20T14:10:00Z'),
    })
  })

  test('the bar is the same in whatever order and pieces the ticks come', () => {
    const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 600 }), {
      minLength: 1,
      maxLength: 12,
    })
    const tickAt = (minute: number, price: number) => ({
      ...tickOf('2026-11-20T01:00:00Z', price),
      tradedAt: at('2026-11-20T01:00:00Z') + minute * 60_000,
    })
    fc.assert(
      fc.property(
        minutes,
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 12, maxLength: 12 }),
        (order, sizes) => {
          const { futures } = openTestInstance().services
          const ticks = order.map((minute, i) => tickAt(minute, 70 + ((i * 7) % 11)))
          for (let i = 0, piece = 0; i < ticks.length; i += sizes[piece++]!)
            futures.recordTicks(ticks.slice(i, i + sizes[piece]!), startAt)
          const sorted = ticks.toSorted((a, b) => a.tradedAt - b.tradedAt)
          const prices = sorted.map(tick => tick.price)
          expect(futures.quotes(wti)[0]?.day).toMatchObject({
            open: prices[0],
            close: prices.at(-1),
            high: Math.max(...prices),
            low: Math.min(...prices),
            volume: 10 * ticks.length,
            quotedAt: sorted.at(-1)!.tradedAt,
          })
        },
      ),
      { numRuns: runs(25) },
    )
  })

  test('an explicitly recorded futures close is not changed by later ticks', () => {
    const { futures } = openTestInstance().services
    futures.recordTicks([tickOf('2026-11-19T15:00:00Z', 71)], startAt)
    futures.recordDays([dayOf({ close: 71.5, high: 72 })], startAt)
    futures.recordTicks([tickOf('2026-11-19T15:05:00Z', 99)], startAt)
    expect(futures.quotes(wti)[0]?.day).toMatchObject({ close: 71.5, high: 72 })
  })

  test('an evening session counts to the next trading date', () => {
    const { futures } = openTestInstance().services
    futures.recordTicks(
      [tickOf('2026-11-18T21:55:00Z', 70), tickOf('2026-11-18T23:00:00Z', 71)],
      startAt,
    )
    const days = futures.page(wti, { month: '2027-01' }, '2026-11-01', '2026-11-30', 0, 10).days
    expect(days.map(day => [day.tradedOn, day.close])).toEqual([
      ['2026-11-19', 71],
      ['2026-11-18', 70],
    ])
  })

  test('a contract answers to its code with the same prices', () => {
    const { futures, catalogue, latestPrices } = openTestInstance().services
    futures.recordTicks([tickOf('2026-11-20T14:55:00Z', 71.23)], startAt)
    const { series, code } = catalogue.resolve('wti_futures_2027_01', startAt)!
    expect({ code, value: latestPrices.quote(series)?.observation.value }).toEqual({
      code: codeOf('2027-01'),
      value: 71.23,
    })
  })

  test('recording futures stores nothing when any part of the call fails', () => {
    const { futures } = openTestInstance().services
    const broken = dayOf({ month: '2027-02', close: Number.NaN })
    expect(() => futures.recordDays([dayOf({ close: 71.5 }), broken], startAt)).toThrow()
    expect(futures.quotes(wti)).toEqual([])
  })
})

describe('resolve: the catalogue', () => {
  test('answers a family with the series of its front contract as soon as that has data', () => {
    const { futures, catalogue } = openTestInstance({}, at('2026-11-23T15:00:00Z')).services
    const resolveWti = () => catalogue.resolve('WTI_FUTURES', at('2026-11-23T15:00:00Z'))!
    expect({
      series: resolveWti().series.code,
      code: resolveWti().code,
      requestedCode: resolveWti().requestedCode,
    }).toEqual({
      series: 'WTI_FUTURES',
      code: codeOf('2027-01'),
      requestedCode: 'WTI_FUTURES',
    })
    futures.recordDays([dayOf({ close: 71.5 })], startAt)
    expect({
      series: resolveWti().series.code,
      code: resolveWti().code,
      requestedCode: resolveWti().requestedCode,
    }).toEqual({
      series: codeOf('2027-01'),
      code: codeOf('2027-01'),
      requestedCode: 'WTI_FUTURES',
    })
    expect(catalogue.hasData(catalogue.named('WTI_FUTURES')!)).toBe(true)
  })

  test('knows a listed contract before it has data, and no other', () => {
    const { catalogue } = openTestInstance().services
    expect(catalogue.resolve('brent_futures_2027_05', startAt)?.code).toBe('BRENT_FUTURES_2027_05')
    for (const code of [
      'BRENT_FUTURES_2019_05',
      'BRENT_FUTURES_2031_05',
      'BRENT_FUTURES_2027_13',
      'WTI_USD_2027_01',
    ])
      expect(catalogue.resolve(code, startAt), code).toBeUndefined()
  })

  test('lists families and not their contracts', () => {
    const { futures, catalogue } = openTestInstance().services
    const before = catalogue.list().length
    futures.recordDays([dayOf({ close: 71.5 })], startAt)
    catalogue.resolve('TTF_FUTURES_2027_05', startAt)
    expect(catalogue.list().length).toBe(before)
    expect(catalogue.suggest('WTI_FUTURES_2027').map(series => series.contractOf)).toEqual(
      catalogue.suggest('WTI_FUTURES_2027').map(() => null),
    )
  })
})

/**
 * Closes of the first four months on every trading date of a range: each place on the curve and
 * each day of the month has a different close.
 */
function filled(from: string, to: string) {
  const { services } = openTestInstance({}, parseDay(to)! + dayMs)
  const days = []
  for (let day = from; day <= to; day = dayAfter(day, 1)) {
    if (!tradesOn(familyOf(wti), day)) continue
    for (let nth = 1; nth <= 4; nth++)
      days.push({ nth, day, price: 60 + nth + Number(day.slice(8)) / 100 })
  }
  const months = (day: string) => {
    const frontMonths = []
    for (
      let month = day.slice(0, 7);
      frontMonths.length < 4;
      month = isoDay(parseDay(`${month}-01`)! + 31 * dayMs).slice(0, 7)
    )
      if (lastTradingDay(wti, month) >= day) frontMonths.push(month)
    return frontMonths
  }
  services.futures.recordDays(
    days.map(({ nth, day, price }) =>
      dayOf({ month: months(day)[nth - 1]!, tradedOn: day, close: price }),
    ),
    parseDay(to)! + dayMs,
  )
  return { services, days }
}

describe('closes, page and curve: what was', () => {
  const { services, days } = filled('2026-08-03', '2026-10-30')
  const { futures, quarantine, catalogue } = services

  test('historical futures closes follow the curve position on each date and roll after the last trading day', () => {
    for (const nth of [1, 2, 4]) {
      const expected = days
        .filter(point => point.nth === nth)
        .map(({ day, price }) => ({ day, value: price }))
      expect(futures.closes(wti, nth, '2026-08-03', '2026-10-30')).toEqual(expected)
    }
    const around = futures.page(wti, { places: [1] }, '2026-09-21', '2026-09-23', 0, 10).days
    expect(around.map(day => [day.tradedOn, day.month])).toEqual([
      ['2026-09-23', '2026-11'],
      ['2026-09-22', '2026-10'],
      ['2026-09-21', '2026-10'],
    ])
  })

  test('pages neither repeat nor lose a row, whatever their size', () => {
    const whole = futures.page(wti, { places: [1, 2, 3] }, '2026-08-10', '2026-10-20', 0, 1_000)
    expect(whole.total).toBe(whole.days.length)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), limit => {
        const pages = []
        for (let offset = 0; offset < whole.total; offset += limit)
          pages.push(
            ...futures.page(wti, { places: [1, 2, 3] }, '2026-08-10', '2026-10-20', offset, limit)
              .days,
          )
        expect(pages).toEqual(whole.days)
      }),
      { numRuns: 20 },
    )
  })

  test('a curve of a past day has the contracts listed at its end, and none when the last quotes are over a week old', () => {
    const curve = futures.curve(wti, '2026-09-21')!
    expect(curve.points.map(point => point.contractMonth)).toEqual([
      '2026-10',
      '2026-11',
      '2026-12',
      '2027-01',
    ])
    // Once its last trading day is over a contract is not listed any more, as in spreads.
    expect(futures.curve(wti, '2026-09-22')!.points[0]!.contractMonth).toBe('2026-11')
    expect(futures.curve(wti, '2026-10-25')).toMatchObject({ day: '2026-10-23' })
    expect(futures.curve(wti, '2026-08-02')).toBeUndefined()
    expect(futures.curve(wti, '2026-11-06')?.day).toBe('2026-10-30')
    expect(futures.curve(wti, '2026-11-07')).toBeUndefined()
  })

  test('leaves out quarantined days', () => {
    const series = catalogue.named('WTI_FUTURES_2026_12')!
    const quarantined = quarantine.add({
      seriesId: series.id,
      fromOn: '2026-10-28',
      toOn: '2026-10-30',
      reason: 'repeated',
      createdAt: 0,
    })
    expect(futures.front(wti)).toMatchObject({ contractMonth: '2026-12', tradingDay: '2026-10-27' })
    expect(futures.closes(wti, 1, '2026-10-26', '2026-10-30').map(close => close.day)).toEqual([
      '2026-10-26',
      '2026-10-27',
    ])
    quarantine.remove(quarantined.id)
    expect(futures.front(wti)?.tradingDay).toBe('2026-10-30')
  })

  test('weeks and months merge the bars of their dates', () => {
    const [october] = futures.merged(wti, { month: '2026-12' }, 'month', '2026-10-01', '2026-10-31')
    const all = days.filter(row => row.day >= '2026-10-01')
    const own = all
      .filter(({ nth, day }) => (day <= '2026-10-20' ? nth === 2 : nth === 1))
      .map(row => row.price)
    expect(october).toMatchObject({
      tradedOn: '2026-10-30',
      open: own[0],
      close: own.at(-1),
      high: Math.max(...own),
      low: Math.min(...own),
    })
  })
})

describe('freshness changes at the right moment', () => {
  const cases: [
    string,
    'WTI_FUTURES' | 'NATURAL_GAS_FUTURES' | 'GASOIL_FUTURES',
    string,
    [string, string | undefined][],
  ][] = [
    [
      'over a weekend: closed markets are not behind, and count again from their opening',
      'NATURAL_GAS_FUTURES',
      '2026-11-20T21:00:00Z',
      [
        ['2026-11-20T21:30:00Z', 'fresh'],
        ['2026-11-20T21:30:01Z', 'live_stale'],
        ['2026-11-20T21:59:59Z', 'live_stale'],
        ['2026-11-20T22:00:00Z', 'fresh'],
        ['2026-11-22T23:30:00Z', 'fresh'],
        ['2026-11-22T23:30:01Z', 'live_stale'],
        ['2026-11-24T21:00:00Z', 'live_stale'],
        ['2026-11-24T21:00:01Z', 'too_stale'],
      ],
    ],
    [
      'when American clocks go forward, an hour earlier in UTC',
      'NATURAL_GAS_FUTURES',
      '2027-03-12T22:00:00Z',
      [
        ['2027-03-14T22:30:00Z', 'fresh'],
        ['2027-03-14T22:30:01Z', 'live_stale'],
      ],
    ],
    [
      'the week before that',
      'NATURAL_GAS_FUTURES',
      '2027-03-05T22:00:00Z',
      [
        ['2027-03-07T22:30:01Z', 'fresh'],
        ['2027-03-07T23:30:01Z', 'live_stale'],
      ],
    ],
    [
      'when British clocks go forward, behind Good Friday',
      'GASOIL_FUTURES',
      '2027-03-25T23:00:00Z',
      [
        ['2027-03-26T12:00:00Z', 'fresh'],
        ['2027-03-29T00:30:00Z', 'fresh'],
        ['2027-03-29T00:30:01Z', 'live_stale'],
        ['2027-03-29T23:00:01Z', 'too_stale'],
      ],
    ],
    [
      'of a family without a bound in the session only after 96 hours',
      'WTI_FUTURES',
      '2026-11-17T21:00:00Z',
      [
        ['2026-11-20T15:00:00Z', 'fresh'],
        ['2026-11-21T21:00:00Z', 'fresh'],
        ['2026-11-21T21:00:01Z', 'too_stale'],
      ],
    ],
  ]
  for (const [name, family, quotedAt, moments] of cases) {
    test(name, () => {
      const { services, clock } = openTestInstance({}, at(quotedAt))
      const { futures } = services
      expect(futures.freshness(family)).toBeUndefined()
      const month = futures.listedMonth(family, 2)
      futures.recordTicks([tickOf(quotedAt, 4, { family, month })], at(quotedAt))
      for (const [moment, state] of moments) {
        clock.set(at(moment))
        expect<string | undefined>(futures.freshness(family)?.state, moment).toBe(state)
      }
    })
  }
})
