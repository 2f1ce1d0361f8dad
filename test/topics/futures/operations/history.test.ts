import { describe, expect, test } from 'bun:test'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape } from '../../../support/interface/shape.ts'
import {
  answered,
  at,
  dayOf,
  type FuturesBody,
  manyRequests,
  openFuturesInstance,
  problemOf,
} from '../../../support/topics/futures.ts'

const friday = at('2026-11-20T15:00:00Z')
const copy = openFuturesInstance(friday, {}, manyRequests)
const token = copy.key()
const ask = (path: string, from: TestInstance = copy, key = token) => answered(from, path, key)

describe('GET /v1/futures/:slug/historical', () => {
  test('is that of the front month of each date, newest first, for the last 30 days', async () => {
    const { body } = await ask('/v1/futures/exch-wti/historical')
    expectShape(copy.app, '/v1/futures/:slug/historical', body)
    expect(body).toMatchObject({
      contract: null,
      period: { from: '2026-10-21', to: '2026-11-20', interval: 'day' },
      metadata: { continuous: true },
    })
    const dates = body.prices.map(row => row.date as string)
    expect(dates).toEqual([...dates].sort().reverse())
    expect(
      body.prices.map(row => row.contract).filter((code, i, all) => code !== all[i - 1]),
    ).toEqual(['WTI_FUTURES_2026_12'])
    const { body: rolled } = await ask(
      '/v1/futures/exch-brent/historical?from=2026-10-28&to=2026-11-03',
    )
    expect(rolled.prices.map(row => [row.date, row.contract_month])).toEqual([
      ['2026-11-03', '2027-01'],
      ['2026-11-02', '2027-01'],
      ['2026-10-30', '2026-12'],
      ['2026-10-29', '2026-12'],
      ['2026-10-28', '2026-12'],
    ])
  })

  test('futures history of one contract is selected by month, code, position or slug suffix', async () => {
    for (const path of [
      'brent/historical?contract=2027-02',
      'brent/historical?contract=brent_futures_2027_02',
      'brent/historical?contract=2',
      'BZ.2/historical',
    ]) {
      const { body } = await ask(`/v1/futures/${path}`)
      expect([
        path,
        body.contract,
        body.metadata,
        new Set(body.prices.map(row => row.contract_code)),
      ]).toMatchObject([
        path,
        'BRENT_FUTURES_2027_02',
        { continuous: false },
        new Set(['BRENT_FUTURES_2027_02']),
      ])
    }
  })

  test('of several places is by date and then by month, and walks by pages', async () => {
    const path = '/v1/futures/brent/historical?contracts=3&from=2026-11-09&to=2026-11-13'
    const whole = (await ask(path)).body
    expect(whole.prices.slice(0, 4).map(row => [row.date, row.contract_month])).toEqual([
      ['2026-11-13', '2027-01'],
      ['2026-11-13', '2027-02'],
      ['2026-11-13', '2027-03'],
      ['2026-11-12', '2027-01'],
    ])
    const pages = []
    for (let page = 1; page <= 4; page++) {
      const { body, headers } = await ask(`${path}&per_page=4&page=${page}`)
      expect({ total: headers.get('x-total'), hasNext: headers.get('x-has-next') }).toEqual({
        total: '15',
        hasNext: String(page < 4),
      })
      pages.push(...body.prices)
    }
    expect(pages).toEqual(whole.prices)
    expect((await ask(`${path}&page=9`)).body.prices).toEqual([])
  })

  test('takes start_date and end_date, weeks and months', async () => {
    const { body } = await ask(
      '/v1/futures/brent/historical?start_date=2026-11-02&end_date=2026-11-13T23:00:00Z&interval=1W',
    )
    expect(body).toMatchObject({
      period: { from: '2026-11-02', to: '2026-11-13', interval: 'week' },
      count: 2,
    })
    expect(body.prices.map(row => row.date)).toEqual(['2026-11-13', '2026-11-06'])
    expect(
      (await ask('/v1/futures/brent/historical?interval=monthly&from=2026-11-01')).body.prices.map(
        row => row.date,
      ),
    ).toEqual(['2026-11-20'])
  })

  test('of a range without trading is empty, and not an error', async () => {
    expect(
      (await ask('/v1/futures/brent/historical?from=2026-11-14&to=2026-11-15')).body,
    ).toMatchObject({
      count: 0,
      prices: [],
      meta: { total: 0 },
    })
  })
})

test('a request for more than 1825 days of futures bars returns 1825 and is marked as truncated', async () => {
  for (const [days, served] of [
    ['4000', 1825],
    ['1825', 1825],
    ['30', 30],
  ] as const) {
    const { body } = await ask(`/v1/futures/natural-gas/ohlc?days=${days}`)
    expect(body).toMatchObject({
      days_requested: Number(days),
      days_served: served,
      truncated: Number(days) > served,
      contract: 'NATURAL_GAS_FUTURES_2026_12',
    })
    expectShape(copy.app, '/v1/futures/:slug/ohlc', body)
    const ohlc = body.ohlc as Record<string, unknown>[]
    expect(ohlc[0]).toMatchObject({
      date: body.date,
      open: body.open,
      high: body.high,
      low: body.low,
      close: body.close,
      volume: body.volume,
    })
    expect(ohlc.every(row => row.contract === body.contract)).toBe(true)
  }
  const { body } = await ask(
    '/v1/futures/natural-gas/ohlc?date=2026-11-18&contract=3&interval=daily',
  )
  expect({ count: body.count, date: body.date, contract: body.contract }).toEqual({
    count: 1,
    date: '2026-11-18',
    contract: 'NATURAL_GAS_FUTURES_2027_02',
  })
})

test('ticks of a date are oldest first, five minutes apart, and reach back to the evening before it', async () => {
  const { body } = await ask('/v1/futures/CL/intraday?date=2026-11-19')
  expectShape(copy.app, '/v1/futures/:slug/intraday', body)
  expect(body).toMatchObject({
    date: '2026-11-19',
    interval: '5m',
    count: 277,
    updated_at: '2026-11-19T22:00:00Z',
  })
  expect(body.prices[0]).toMatchObject({ time: '23:00', timestamp: '2026-11-18T23:00:00Z' })
  expect((await ask('/v1/futures/CL/intraday')).body).toMatchObject({
    date: '2026-11-20',
    updated_at: '2026-11-20T14:55:00Z',
  })
})

test('the continuous series follows the front month through its last trading day and marks where it rolls', async () => {
  for (const path of ['brent/continuous?months=1', 'continuous/brent/historical?months=1']) {
    const { body } = await ask(`/v1/futures/${path}`)
    expectShape(copy.app, '/v1/futures/:slug/continuous', body)
    expect(body).toMatchObject({
      months: 1,
      roll_method: 'last_trading_day',
      adjustment: 'none',
      contract: 'BRENT_FUTURES_2027_01',
    })
    expect(body.prices.filter(row => row.rolled)).toEqual([
      body.prices.find(row => row.date === '2026-11-02')!,
    ])
    const bars = (await ask('/v1/futures/brent/historical?from=2026-10-20')).body.prices
    expect(body.prices.map(row => [row.date, row.price, row.active_contract])).toEqual(
      bars.map(row => [row.date, row.close, row.contract]),
    )
  }
  expect((await ask('/v1/futures/continuous/brent/historical')).body.months).toBe(12)
  expect((await ask('/v1/futures/brent/continuous')).body.months).toBe(1)
})

describe('GET /v1/futures/:slug/continuous with an adjustment or another roll rule', () => {
  const plain = () => ask('/v1/futures/brent/continuous?months=6')

  test('the back_adjusted mode shifts prices before a roll by the roll gap and lists the roll dates', async () => {
    const { body } = await ask('/v1/futures/brent/continuous?months=6&adjustment=back_adjusted')
    expectShape(copy.app, '/v1/futures/:slug/continuous', body)
    const rows = body.prices as { date: string; price: number; unadjusted: number }[]
    const rolls = body.rolls as { date: string; from: string; to: string; gap: number }[]
    expect({
      adjustment: body.adjustment,
      roll_method: body.roll_method,
      length: rolls.length,
    }).toEqual({ adjustment: 'back_adjusted', roll_method: 'last_trading_day', length: 1 })
    for (const row of rows) {
      const later = rolls.filter(roll => roll.date > row.date)
      const shift = later.reduce((sum, roll) => sum + roll.gap, 0)
      expect(row.price).toBeCloseTo(row.unadjusted + shift, 1)
    }
    expect(rows.map(row => row.unadjusted)).toEqual(
      (await plain()).body.prices.map(row => row.price as number),
    )
    // The gap of a roll is the distance of two settlements, each of which can be requested.
    const { date, from, to, gap } = rolls[0]!
    const settled = async (contract: string) =>
      (
        await ask(`/v1/futures/brent/historical?contract=${contract}&from=2026-10-28&to=${date}`)
      ).body.prices.find(row => row.date === '2026-10-30')!.settlement as number
    expect({ date, gap }).toEqual({
      date: '2026-11-02',
      gap: expect.closeTo((await settled(to)) - (await settled(from)), 6),
    })
  })

  test('a series rolls by days before, volume and open interest as well', async () => {
    const { body } = await ask('/v1/futures/brent/continuous?months=6&roll=days_before&roll_days=5')
    expectShape(copy.app, '/v1/futures/:slug/continuous', body)
    expect(body).toMatchObject({ roll_method: 'days_before', roll_days: 5, adjustment: 'none' })
    expect(body.prices.find(row => row.date === '2026-10-23')!.active_contract).toBe(
      'BRENT_FUTURES_2027_01',
    )
    for (const roll of ['volume', 'open_interest']) {
      const { body: byMeasure } = await ask(`/v1/futures/brent/continuous?months=6&roll=${roll}`)
      expect({ roll_method: byMeasure.roll_method, length: byMeasure.prices.length }).toEqual({
        roll_method: roll,
        length: (await plain()).body.prices.length,
      })
    }
  })

  test('a roll by volume or open interest is refused where no contract has it', async () => {
    const bare = openTestInstance(manyRequests, friday)
    const record = (fields: Parameters<typeof dayOf>[0]) =>
      bare.services.futures.recordDays([dayOf({ close: 71.5, ...fields })], friday)
    const key = bare.key()
    const rolled = (roll: string) => ask(`/v1/futures/exch-wti/continuous?roll=${roll}`, bare, key)
    record({ month: '2026-12' })
    record({ month: '2026-12', tradedOn: '2026-11-18' })
    for (const [roll, name] of [
      ['volume', 'volume'],
      ['open_interest', 'open interest'],
    ]) {
      const { status, body } = await rolled(roll!)
      expect({ status, problem: problemOf(body) }).toMatchObject({
        status: 404,
        problem: {
          code: 'DATA_NOT_AVAILABLE',
          message: `WTI_FUTURES has no ${name} in this range, so that roll=${roll} finds no roll. Use roll=expiry or roll=days_before.`,
        },
      })
    }
    record({ month: '2026-12', volume: 900 })
    expect((await rolled('volume')).status).toBe(200)
    expect((await rolled('open_interest')).status).toBe(404)
    expect((await rolled('expiry')).status).toBe(200)
  })

  test('what it does not know is refused with the words it does', async () => {
    for (const [query, parameter] of [
      ['roll=monthly', 'roll'],
      ['adjustment=splice', 'adjustment'],
      ['roll=days_before&roll_days=0', 'roll_days'],
      ['roll_days=3', 'roll_days'],
    ]) {
      const { status, body } = await ask(`/v1/futures/brent/continuous?${query}`)
      expect({ status, problem: problemOf(body) }, query).toMatchObject({
        status: 400,
        problem: { parameter },
      })
    }
  })
})

describe('GET /v1/futures/:slug/spreads and spread-history', () => {
  test('are those of neighbours and of the first against the 3rd, 6th and 12th', async () => {
    const { body } = await ask('/v1/futures/exch-gasoil/spreads?days=10')
    expectShape(copy.app, '/v1/futures/:slug/spreads', body)
    const spreads = body.spreads as Record<string, number | string>[]
    expect(spreads).toEqual(body.data as typeof spreads)
    expect({ length: spreads.length, count: body.count, days: body.days }).toEqual({
      length: 14,
      count: 14,
      days: 10,
    })
    const months = (await ask('/v1/futures/exch-gasoil')).body.contracts.map(
      contract => contract.contract_month,
    )
    expect(spreads.slice(11).map(spread => `${spread.month1} ${spread.month2}`)).toEqual(
      [2, 5, 11].map(i => `${months[0]} ${months[i]}`),
    )
    for (const spread of spreads) {
      expect(spread.spread).toBeCloseTo((spread.price1 as number) - (spread.price2 as number), 9)
      expect(
        spread.min! <= spread.average! &&
          spread.average! <= spread.max! &&
          spread.min! <= spread.spread! &&
          spread.spread! <= spread.max!,
      ).toBe(true)
    }
  })

  test('over time are of the places of each date, or of two contracts', async () => {
    const places = (await ask('/v1/futures/brent/spread-history?from=2026-10-29&to=2026-11-03'))
      .body
    expectShape(copy.app, '/v1/futures/:slug/spread-history', places)
    expect(places).toMatchObject({
      family: 'BRENT_FUTURES',
      contract1: '1',
      contract2: '2',
      count: 4,
      period: { from: '2026-10-29', to: '2026-11-03' },
    })
    const bars = (
      await ask('/v1/futures/brent/historical?contracts=3&from=2026-10-29&to=2026-11-03')
    ).body.prices
    const priceOf = (date: string, month: string) => {
      const bar = bars.find(one => one.date === date && one.contract_month === month)!
      return (bar.settlement ?? bar.close) as number
    }
    const history = places.history as Record<string, number | string>[]
    // December ended on 30 October.
    expect(history.map(row => [row.date, row.price1, row.price2])).toEqual(
      [
        ['2026-11-03', '2027-01', '2027-02'],
        ['2026-11-02', '2027-01', '2027-02'],
        ['2026-10-30', '2027-01', '2027-02'],
        ['2026-10-29', '2026-12', '2027-01'],
      ].map(([date, first, second]) => [date!, priceOf(date!, first!), priceOf(date!, second!)]),
    )
    const fixed = (
      await ask(
        '/v1/futures/brent/spread-history?from=2026-11-02&to=2026-11-13&contract1=2027-02&contract2=BRENT_FUTURES_2027_06',
      )
    ).body
    expect(fixed).toMatchObject({
      contract1: 'BRENT_FUTURES_2027_02',
      contract2: 'BRENT_FUTURES_2027_06',
      count: 10,
    })
  })

  // The last trading day of December Brent is Friday, 30 October; of November TTF, Thursday the 29th.
  test.each([
    ['brent', '2026-10-31T12:00:00Z', 'on the Saturday after a last trading day'],
    ['brent', '2026-10-30T15:00:00Z', 'while a contract trades for the last time'],
    ['brent', '2026-10-30T22:30:00Z', 'on the evening of a last trading day'],
    ['brent', '2026-11-02T15:00:00Z', 'on the Monday after'],
    ['ttf-gas', '2026-10-31T12:00:00Z', 'on the Saturday after a last trading day'],
    ['natural-gas', '2026-10-31T12:00:00Z', 'on the Saturday after a last trading day'],
  ])('of %s at %s name one front spread with the curve, %s', async (slug, now) => {
    const then = openFuturesInstance(at(now), {}, manyRequests)
    const key = then.key()
    const { body } = await ask(
      `/v1/futures/${slug}/spread-history?from=2026-10-22&to=2026-11-02`,
      then,
      key,
    )
    const history = body.history as { date: string; spread: number; price1: number }[]
    expect(history.length).toBeGreaterThan(5)
    for (const date of ['', ...history.map(row => row.date)]) {
      const query = date === '' ? '' : `?date=${date}`
      const { body: curve } = await ask(`/v1/futures/${slug}/curve${query}`, then, key)
      const { body: spreads } = await ask(`/v1/futures/${slug}/spreads${query}`, then, key)
      const [first] = spreads.spreads as Record<string, number | string>[]
      const [front, next] = curve.contracts as { price: number }[]
      expect({ date, price1: first!.price1, price2: first!.price2 }).toEqual({
        date,
        price1: front!.price,
        price2: next!.price,
      })
      const months = (curve.contracts as unknown as { contract_month: string }[]).map(
        contract => contract.contract_month,
      )
      expect({ date, month1: first!.month1, month2: first!.month2 }).toEqual({
        date,
        month1: months[0]!,
        month2: months[1]!,
      })
      const day = date === '' ? history[0]! : history.find(row => row.date === date)!
      expect({ date, price1: first!.price1, spread: first!.spread }).toEqual({
        date,
        price1: day.price1,
        spread: day.spread,
      })
    }
  })

  // The last trading day of December Brent is Friday, 30 October.
  test.each([
    ['2026-10-29T15:00:00Z', '2026-12', 'the day before'],
    ['2026-10-30T15:00:00Z', '2026-12', 'while it trades for the last time'],
    ['2026-10-31T12:00:00Z', '2027-01', 'on the Saturday after'],
    ['2026-11-02T15:00:00Z', '2027-01', 'on the Monday after'],
  ])('at %s every operation names %s as the front contract, %s', async (now, front) => {
    const then = openFuturesInstance(at(now), {}, manyRequests)
    const key = then.key()
    const body = async (path: string) =>
      (await ask(`/v1/futures/brent${path}`, then, key)).body as FuturesBody & {
        spreads: { contract1: string }[]
      }
    const [contracts, curve, spreads, continuous, byDays, bars] = [
      await body(''),
      await body('/curve'),
      await body('/spreads'),
      await body('/continuous'),
      await body('/continuous?roll=days_before&roll_days=1'),
      await body('/historical?from=2026-10-22'),
    ]
    const code = `BRENT_FUTURES_${front.replace('-', '_')}`
    expect({
      contracts: contracts.front_month!.contract_month,
      curve: curve.front_month!.contract_month,
      spreads: spreads.spreads[0]!.contract1,
      continuous: continuous.contract,
    }).toEqual({ contracts: front, curve: front, spreads: code, continuous: code })
    expect(byDays.contract).toBe('BRENT_FUTURES_2027_01')
    // A bar stays with the contract that was in front while it traded.
    for (const bar of bars.prices) {
      const date = bar.date as string
      expect({ date, contract: bar.contract }).toEqual({
        date,
        contract: date <= '2026-10-30' ? 'BRENT_FUTURES_2026_12' : 'BRENT_FUTURES_2027_01',
      })
      const rolled = continuous.prices.find(row => row.date === date)!
      expect({ date, active_contract: rolled.active_contract, price: rolled.price }).toEqual({
        date,
        active_contract: bar.contract,
        price: bar.close,
      })
    }
  })

  test('between any two contracts need one currency and unit', async () => {
    const pair = (await ask('/v1/futures/spreads?contract1=BZ.1&contract2=CL.2')).body
    expect(pair).toMatchObject({
      contract1: 'BRENT_FUTURES_2027_01',
      contract2: 'WTI_FUTURES_2027_01',
      currency: 'USD',
      unit: 'barrel',
    })
    expect(pair.spread as number).toBeCloseTo((pair.price1 as number) - (pair.price2 as number), 9)
    for (const [first, second] of [
      ['CL.1', 'QS.1'],
      ['EUA', 'UKA'],
    ] as const) {
      const { status, body } = await ask(
        `/v1/futures/spreads?contract1=${first}&contract2=${second}`,
      )
      expect({ status, code: problemOf(body).code, parameter: problemOf(body).parameter }).toEqual({
        status: 400,
        code: 'INVALID_PARAMETER',
        parameter: 'contract2',
      })
    }
  })
})

test('a curve repeats its contracts in both spellings and measures them', async () => {
  const { body } = await ask('/v1/futures/ng/curve')
  const metrics = body.curve_metrics as Record<string, number>
  const prices = body.contracts.map(contract => contract.price as number)
  expect(body).toMatchObject({
    analysis_date: '2026-11-20',
    total_contracts: 12,
    front_month: body.contracts[0]!,
    back_month: body.contracts[11],
  })
  expect(
    (body.curve as Record<string, unknown>[]).map(point => [
      point.month,
      point.price,
      point.months_out,
    ]),
  ).toEqual(body.contracts.map((contract, i) => [contract.contract_month, contract.price, i]))
  expect(metrics.total_slope).toBeCloseTo(prices[11]! - prices[0]!, 9)
  expect(metrics.price_range).toBeCloseTo(Math.max(...prices) - Math.min(...prices), 9)
  const pastCurve = (await ask('/v1/futures/ng/curve?date=2026-11-15')).body
  expect([
    pastCurve.analysis_date,
    new Set(pastCurve.contracts.map(contract => contract.settlement_basis)),
  ]).toEqual(['2026-11-13', new Set(['exchange_settlement'])])
})

test('short forms answer by ticker, slug or code; the first contract is the front month', async () => {
  for (const path of [
    'latest?contract=BZ',
    'latest',
    'curve?contract=exch-brent',
    'latest?contract=brent_futures',
  ]) {
    const { body } = await ask(`/v1/futures/${path}`)
    expectShape(copy.app, `/v1/futures/${path.split('?')[0]}`, body)
    const data = body.data as { contracts: Record<string, unknown>[] }
    expect({ contracts: data.contracts.length, first: data.contracts[0] }, path).toMatchObject({
      contracts: 12,
      first: { contract_code: 'BRENT_FUTURES_2027_01', month: 'Jan 2027' },
    })
  }
  const second = (await ask('/v1/futures/latest?contract=CL.2')).body.data as {
    contracts: Record<string, unknown>[]
  }
  expect(second.contracts[0]).toMatchObject({ contract_code: 'WTI_FUTURES_2027_01' })
})

test('ranges that no market has seen cost nothing and are answered', async () => {
  const { status, body } = await ask('/v1/futures/brent/historical?from=1000-01-01&to=9999-12-31')
  expect({ status, date: body.prices[0]!.date }).toEqual({ status: 200, date: '2026-11-20' })
  for (const day of ['1000-01-01', '9999-12-31'])
    expect((await ask(`/v1/futures/brent/curve?date=${day}`)).body.error).toBe(
      'No futures data available for curve analysis',
    )
})
