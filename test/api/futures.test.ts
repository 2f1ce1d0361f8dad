import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { hourMs } from '../../src/lib/instant.ts'
import { families, namesOf } from '../../src/market/families.ts'
import { at, dayOf, futuresHouse, tickOf } from '../futures.ts'
import { house } from '../house.ts'
import { expectShape } from './shape.ts'

const friday = at('2026-11-20T15:00:00Z')
const limits = { 'limits.per_minute': '100000' }
const copy = futuresHouse(friday, {}, limits)
const token = copy.key()

interface Body {
  [name: string]: unknown
  commodity: string
  slug: string
  contract: string | null
  contracts: Record<string, unknown>[]
  front_month: Record<string, unknown> | null
  prices: Record<string, unknown>[]
  count: number
}

const ask = async (path: string, from = copy, key = token) => {
  const response = await from.get(path, key)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text === '' ? undefined : JSON.parse(text)) as Body, text }
}
const problemOf = (body: unknown) => (body as { error: Record<string, unknown> }).error

describe('every name of a family', () => {
  for (const family of families) {
    const names = namesOf(family, ['exch']).flatMap(name => [name, name.toUpperCase(), `${name}.2`])
    test(`${family.code} answers to ${names.length} spellings under its canonical slug`, async () => {
      for (const name of names) {
        const { status, body } = await ask(`/v1/futures/${name}`)
        expect([name, status, body.commodity]).toEqual([name, 200, family.code])
        expectShape(copy.app, '/v1/futures/:slug', body)
      }
      expect((await ask(`/v1/futures/${names[0]}/curve`)).body.commodity).toBe(family.code)
    })
  }

  test('eu-carbon and eua-carbon are both canonical, aliases answer the first', async () => {
    const slugs = await Promise.all(['eu-carbon', 'EUA-carbon', 'eua'].map(async name => (await ask(`/v1/futures/${name}`)).body.slug))
    expect(slugs).toEqual(['eu-carbon', 'eua-carbon', 'eua-carbon'])
  })

  test('every configured exchange word is accepted and the first is answered', async () => {
    const own = futuresHouse(friday, { wholeCurveDays: 6, nearMonthsDays: 6, tickDays: 1 }, { ...limits, 'brand.exchange_words': 'mart,exch' })
    const key = own.key()
    for (const name of ['mart-brent', 'exch-brent', 'brent']) expect((await ask(`/v1/futures/${name}`, own, key)).body.slug).toBe('mart-brent')
    expect((await own.get('/v1/futures/other-brent', key)).status).toBe(404)
  })

  test('another name is no route at all, and neither is what uk-carbon does not have', async () => {
    const paths = ['/v1/futures/exch-coal', '/v1/futures/CL.13', '/v1/futures/CL.0/curve', '/v1/futures/nope/historical']
    for (const name of ['uk-carbon', 'uka', 'UKETS-carbon', 'uka-carbon.2'])
      for (const tail of ['ohlc', 'intraday', 'spreads', 'spread-history?from=2026-01-01&to=2026-02-01', 'continuous']) paths.push(`/v1/futures/${name}/${tail}`)
    paths.push('/v1/futures/continuous/uk-carbon/historical')
    for (const path of paths) {
      const { status, text, headers } = await ask(path)
      expect([path, status, text, headers.get('content-type')]).toEqual([path, 404, '', 'text/html'])
      expect((await copy.get(path)).status, path).toBe(404)
    }
  })
})

describe('current quotes', () => {
  test('list twelve months nearest first, with the front month apart and its session', async () => {
    const { body, headers } = await ask('/v1/futures/exch-brent')
    expect(body.contracts.map(one => one.contract_month).join()).toBe(
      '2027-01,2027-02,2027-03,2027-04,2027-05,2027-06,2027-07,2027-08,2027-09,2027-10,2027-11,2027-12',
    )
    expect(body.front_month).toEqual(body.contracts[0]!)
    expect(body.front_month).toMatchObject({ contract_status: 'front_month', is_front_month: true, days_to_expiry: 10, expiry_date: '2026-11-30', settlement: null })
    expect(body.contracts.slice(1).every(one => one.contract_status === 'active' && one.is_front_month === false)).toBe(true)
    expect(body).toMatchObject({
      ...{ name: 'Brent Futures', currency: 'USD', unit: 'barrel', source: 'fixture', settlement_date: null, updated_at: '2026-11-20T14:55:00Z' },
      trading_hours: { timezone: 'Europe/London', open: '01:00', close: '23:00', is_open: true },
      metadata: { total_contracts: 12, front_month_contract: 'BRENT_FUTURES_2027_01', settlement_time: '19:30 GMT', update_interval_seconds: 300 },
    })
    expect([headers.get('x-service-data'), headers.get('x-cache')]).toEqual(['fixture', 'MISS'])
    expect('roll_indicator' in body || 'data_age_warning' in body).toBe(false)
  })

  test('measure the change from the settlement of the date before', async () => {
    const { body } = await ask('/v1/futures/CL')
    const { body: history } = await ask(`/v1/futures/CL/historical?contract=${body.front_month!.contract_code}&from=2026-11-19&to=2026-11-19`)
    const base = history.prices[0]!.settlement as number
    expect(body.front_month!.change).toBeCloseTo((body.front_month!.price as number) - base, 10)
    expect(body.front_month!.change_percent).toBeCloseTo((100 * (body.front_month!.change as number)) / base, 2)
  })

  test('become near expiry, tell to roll and expire on the trading date that the exchange is at', async () => {
    const own = futuresHouse(at('2026-11-22T12:00:00Z'), { wholeCurveDays: 6, nearMonthsDays: 6, tickDays: 3 }, limits)
    const key = own.key()
    const moments: [string, string, string, number, unknown][] = [
      ['2026-11-22T23:59:59Z', '2027-01', 'front_month', 8, undefined],
      ['2026-11-23T00:00:00Z', '2027-01', 'near_expiry', 7, { should_roll: false, days_remaining: 7, next_contract: 'BRENT_FUTURES_2027_02' }],
      ['2026-11-27T12:00:00Z', '2027-01', 'near_expiry', 3, { should_roll: true, days_remaining: 3, next_contract: 'BRENT_FUTURES_2027_02' }],
      ['2026-11-30T23:59:59Z', '2027-01', 'near_expiry', 0, { should_roll: true, days_remaining: 0 }],
      ['2026-12-01T00:00:00Z', '2027-02', 'front_month', 29, undefined],
    ]
    for (const [moment, month, status, days, roll] of moments) {
      own.follow(at(moment))
      const { body } = await ask('/v1/futures/brent', own, key)
      const { contract_month, contract_status, days_to_expiry } = body.front_month!
      expect([moment, contract_month, contract_status, days_to_expiry]).toEqual([moment, month, status, days])
      if (roll === undefined) expect(body.roll_indicator).toBeUndefined()
      else expect(body.roll_indicator).toMatchObject(roll)
      expect(body.contracts.length).toBe(12)
      expect(body.contracts.some(one => one.contract_status === 'expired')).toBe(false)
    }
  })

  test('carry settlements once they are published, with their date', async () => {
    const own = futuresHouse(at('2026-11-20T19:29:00Z'), { wholeCurveDays: 6, nearMonthsDays: 6, tickDays: 1 }, limits)
    const key = own.key()
    expect((await ask('/v1/futures/ttf', own, key)).body.settlement_date).toBeNull()
    own.follow(at('2026-11-20T19:35:00Z'))
    const { body } = await ask('/v1/futures/ttf', own, key)
    expect(body.settlement_date).toBe('2026-11-20')
    for (const one of body.contracts) expect(typeof one.settlement === 'number' && one.settlement !== one.close).toBe(true)
    const curve = (await ask('/v1/futures/ttf/curve', own, key)).body
    expect(curve.contracts.map(one => [one.price, one.settlement_basis])).toEqual(body.contracts.map(one => [one.settlement, 'exchange_settlement']))
  })
})

describe('a feed that has fallen silent', () => {
  const own = futuresHouse(friday, { wholeCurveDays: 6, nearMonthsDays: 6, tickDays: 1 }, limits)
  const key = own.key()
  const codeAt = async (moment: number, path: string) => {
    own.follow(moment, false)
    const { status, body } = await ask(path, own, key)
    return status === 200 ? 'served' : (problemOf(body).code as string)
  }

  test('is refused after half an hour of a running session where quotes must be live, not while it is closed, and everywhere after 96 hours', async () => {
    const last = at('2026-11-20T14:55:00Z')
    const table: [number, Record<string, string>][] = [
      [last + 30 * 60_000, { 'natural-gas': 'served', gasoil: 'served', brent: 'served' }],
      [last + 31 * 60_000, { 'natural-gas': 'LIVE_DATA_STALE', gasoil: 'LIVE_DATA_STALE', brent: 'served' }],
      [at('2026-11-21T12:00:00Z'), { 'natural-gas': 'served', gasoil: 'served', brent: 'served' }],
      [at('2026-11-23T12:00:00Z'), { 'natural-gas': 'LIVE_DATA_STALE', gasoil: 'LIVE_DATA_STALE', ttf: 'served' }],
      [last + 96 * hourMs, { 'natural-gas': 'LIVE_DATA_STALE', gasoil: 'LIVE_DATA_STALE', brent: 'served', 'uk-carbon': 'served' }],
      [last + 97 * hourMs, { 'natural-gas': 'DATA_TOO_STALE', gasoil: 'DATA_TOO_STALE', brent: 'DATA_TOO_STALE', 'uk-carbon': 'DATA_TOO_STALE' }],
    ]
    for (const [moment, expected] of table) {
      const found = Object.fromEntries(await Promise.all(Object.keys(expected).map(async slug => [slug, await codeAt(moment, `/v1/futures/${slug}`)])))
      expect([new Date(moment).toISOString(), found]).toEqual([new Date(moment).toISOString(), expected])
    }
  })

  test('is told with its age, and what was can still be asked', async () => {
    own.follow(at('2026-11-24T15:55:00Z'), false)
    const old = await ask('/v1/futures/exch-wti', own, key)
    expect([old.status, problemOf(old.body)]).toMatchObject([
      503,
      { code: 'DATA_TOO_STALE', data_age_hours: 97, max_age_hours: 96, last_updated: '2026-11-20T14:55:00Z', retry: { retryable: true } },
    ])
    for (const path of ['latest?contract=CL', 'curve?contract=CL', 'spreads?contract1=CL.1&contract2=CL.2'])
      expect([path, await codeAt(at('2026-11-24T15:55:00Z'), `/v1/futures/${path}`)]).toEqual([path, 'DATA_TOO_STALE'])
    for (const tail of ['historical', 'ohlc', 'intraday?date=2026-11-20', 'continuous', 'curve', 'spreads'])
      expect([tail, (await ask(`/v1/futures/exch-wti/${tail}`, own, key)).status]).toEqual([tail, 200])
  })

  test('is told with its distance from the running session', async () => {
    own.follow(at('2026-11-23T12:00:00Z'), false)
    const { status, body } = await ask('/v1/futures/exch-gasoil', own, key)
    expect([status, problemOf(body)]).toMatchObject([
      503,
      { code: 'LIVE_DATA_STALE', freshness_status: 'stale', market_status: 'open', stale_by_minutes: 660, market_timezone: 'Europe/London' },
    ])
  })

  test('is warned of from 24 hours on', async () => {
    own.follow(at('2026-11-21T14:55:00Z'), false)
    expect((await ask('/v1/futures/brent', own, key)).body.data_age_warning).toBeUndefined()
    own.follow(at('2026-11-21T14:56:00Z'), false)
    expect((await ask('/v1/futures/brent', own, key)).body.data_age_warning).toContain('24 hours old')
  })
})

describe('history', () => {
  test('is that of the front month of each date, newest first, for the last 30 days', async () => {
    const { body } = await ask('/v1/futures/exch-wti/historical')
    expectShape(copy.app, '/v1/futures/:slug/historical', body)
    expect(body).toMatchObject({ contract: null, period: { from: '2026-10-21', to: '2026-11-20', interval: 'day' }, metadata: { continuous: true } })
    const dates = body.prices.map(row => row.date as string)
    expect(dates).toEqual([...dates].sort().reverse())
    expect(body.prices.map(row => row.contract).filter((code, i, all) => code !== all[i - 1])).toEqual(['WTI_FUTURES_2026_12'])
    const { body: rolled } = await ask('/v1/futures/exch-brent/historical?from=2026-10-28&to=2026-11-03')
    expect(rolled.prices.map(row => [row.date, row.contract_month])).toEqual([
      ['2026-11-03', '2027-01'],
      ['2026-11-02', '2027-01'],
      ['2026-10-30', '2026-12'],
      ['2026-10-29', '2026-12'],
      ['2026-10-28', '2026-12'],
    ])
  })

  test('of a contract is asked by month, code, place or the point behind the slug', async () => {
    for (const path of ['brent/historical?contract=2027-02', 'brent/historical?contract=brent_futures_2027_02', 'brent/historical?contract=2', 'BZ.2/historical']) {
      const { body } = await ask(`/v1/futures/${path}`)
      expect([path, body.contract, body.metadata, new Set(body.prices.map(row => row.contract_code))]).toMatchObject([
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
      expect([headers.get('x-total'), headers.get('x-has-next')]).toEqual(['15', String(page < 4)])
      pages.push(...body.prices)
    }
    expect(pages).toEqual(whole.prices)
    expect((await ask(`${path}&page=9`)).body.prices).toEqual([])
  })

  test('takes start_date and end_date, weeks and months', async () => {
    const { body } = await ask('/v1/futures/brent/historical?start_date=2026-11-02&end_date=2026-11-13T23:00:00Z&interval=1W')
    expect(body).toMatchObject({ period: { from: '2026-11-02', to: '2026-11-13', interval: 'week' }, count: 2 })
    expect(body.prices.map(row => row.date)).toEqual(['2026-11-13', '2026-11-06'])
    expect((await ask('/v1/futures/brent/historical?interval=monthly&from=2026-11-01')).body.prices.map(row => row.date)).toEqual(['2026-11-20'])
  })

  test('of a range without trading is empty, and not an error', async () => {
    expect((await ask('/v1/futures/brent/historical?from=2026-11-14&to=2026-11-15')).body).toMatchObject({ count: 0, prices: [], meta: { total: 0 } })
  })
})

test('more than 1825 days of bars are served as 1825, and said to be', async () => {
  for (const [days, served] of [
    ['4000', 1825],
    ['1825', 1825],
    ['30', 30],
  ] as const) {
    const { body } = await ask(`/v1/futures/natural-gas/ohlc?days=${days}`)
    expect(body).toMatchObject({ days_requested: Number(days), days_served: served, truncated: Number(days) > served, contract: 'NATURAL_GAS_FUTURES_2026_12' })
    expectShape(copy.app, '/v1/futures/:slug/ohlc', body)
    const ohlc = body.ohlc as Record<string, unknown>[]
    expect(ohlc[0]).toMatchObject({ date: body.date, open: body.open, high: body.high, low: body.low, close: body.close, volume: body.volume })
    expect(ohlc.every(row => row.contract === body.contract)).toBe(true)
  }
  const { body } = await ask('/v1/futures/natural-gas/ohlc?date=2026-11-18&contract=3&interval=daily')
  expect([body.count, body.date, body.contract]).toEqual([1, '2026-11-18', 'NATURAL_GAS_FUTURES_2027_02'])
})

test('ticks of a date are oldest first, five minutes apart, and reach back to the evening before it', async () => {
  const { body } = await ask('/v1/futures/CL/intraday?date=2026-11-19')
  expectShape(copy.app, '/v1/futures/:slug/intraday', body)
  expect(body).toMatchObject({ date: '2026-11-19', interval: '5m', count: 277, updated_at: '2026-11-19T22:00:00Z' })
  expect(body.prices[0]).toMatchObject({ time: '23:00', timestamp: '2026-11-18T23:00:00Z' })
  expect((await ask('/v1/futures/CL/intraday')).body).toMatchObject({ date: '2026-11-20', updated_at: '2026-11-20T14:55:00Z' })
})

test('the continuous series follows the front month through its last trading day and marks where it rolls', async () => {
  for (const path of ['brent/continuous?months=1', 'continuous/brent/historical?months=1']) {
    const { body } = await ask(`/v1/futures/${path}`)
    expectShape(copy.app, '/v1/futures/:slug/continuous', body)
    expect(body).toMatchObject({ months: 1, roll_method: 'last_trading_day', adjustment: 'none', contract: 'BRENT_FUTURES_2027_01' })
    expect(body.prices.filter(row => row.rolled)).toEqual([body.prices.find(row => row.date === '2026-11-02')!])
    const bars = (await ask('/v1/futures/brent/historical?from=2026-10-20')).body.prices
    expect(body.prices.map(row => [row.date, row.price, row.active_contract])).toEqual(bars.map(row => [row.date, row.close, row.contract]))
  }
  expect((await ask('/v1/futures/continuous/brent/historical')).body.months).toBe(12)
  expect((await ask('/v1/futures/brent/continuous')).body.months).toBe(1)
})

describe('spreads', () => {
  test('are those of neighbours and of the first against the 3rd, 6th and 12th', async () => {
    const { body } = await ask('/v1/futures/exch-gasoil/spreads?days=10')
    expectShape(copy.app, '/v1/futures/:slug/spreads', body)
    const spreads = body.spreads as Record<string, number | string>[]
    expect(spreads).toEqual(body.data as typeof spreads)
    expect([spreads.length, body.count, body.days]).toEqual([14, 14, 10])
    const months = (await ask('/v1/futures/exch-gasoil')).body.contracts.map(one => one.contract_month)
    expect(spreads.slice(11).map(one => [one.month1, one.month2])).toEqual([2, 5, 11].map(i => [months[0], months[i]]))
    for (const one of spreads) {
      expect(one.spread).toBeCloseTo((one.price1 as number) - (one.price2 as number), 9)
      expect(one.min! <= one.average! && one.average! <= one.max! && one.min! <= one.spread! && one.spread! <= one.max!).toBe(true)
    }
  })

  test('over time are of the places of each date, or of two contracts', async () => {
    const places = (await ask('/v1/futures/brent/spread-history?from=2026-10-29&to=2026-11-03')).body
    expectShape(copy.app, '/v1/futures/:slug/spread-history', places)
    expect(places).toMatchObject({ family: 'BRENT_FUTURES', contract1: '1', contract2: '2', count: 4, period: { from: '2026-10-29', to: '2026-11-03' } })
    const bars = (await ask('/v1/futures/brent/historical?contracts=2&from=2026-10-29&to=2026-11-03')).body.prices
    const history = places.history as Record<string, number>[]
    expect(history.map(row => [row.price1, row.price2])).toEqual([0, 2, 4, 6].map(i => [bars[i]!.close as number, bars[i + 1]!.close as number]))
    const fixed = (await ask('/v1/futures/brent/spread-history?from=2026-11-02&to=2026-11-13&contract1=2027-02&contract2=BRENT_FUTURES_2027_06')).body
    expect(fixed).toMatchObject({ contract1: 'BRENT_FUTURES_2027_02', contract2: 'BRENT_FUTURES_2027_06', count: 10 })
  })

  test('between any two contracts need one currency and unit', async () => {
    const pair = (await ask('/v1/futures/spreads?contract1=BZ.1&contract2=CL.2')).body
    expect(pair).toMatchObject({ contract1: 'BRENT_FUTURES_2027_01', contract2: 'WTI_FUTURES_2027_01', currency: 'USD', unit: 'barrel' })
    expect(pair.spread as number).toBeCloseTo((pair.price1 as number) - (pair.price2 as number), 9)
    for (const [first, second] of [['CL.1', 'QS.1'], ['EUA', 'UKA']] as const) {
      const { status, body } = await ask(`/v1/futures/spreads?contract1=${first}&contract2=${second}`)
      expect([status, problemOf(body).code, problemOf(body).parameter]).toEqual([400, 'INVALID_PARAMETER', 'contract2'])
    }
  })
})

test('a curve repeats its contracts in both spellings and measures them', async () => {
  const { body } = await ask('/v1/futures/ng/curve')
  const metrics = body.curve_metrics as Record<string, number>
  const prices = body.contracts.map(one => one.price as number)
  expect(body).toMatchObject({ analysis_date: '2026-11-20', total_contracts: 12, front_month: body.contracts[0]!, back_month: body.contracts[11] })
  expect((body.curve as Record<string, unknown>[]).map(one => [one.month, one.price, one.months_out])).toEqual(
    body.contracts.map((one, i) => [one.contract_month, one.price, i]),
  )
  expect(metrics.total_slope).toBeCloseTo(prices[11]! - prices[0]!, 9)
  expect(metrics.price_range).toBeCloseTo(Math.max(...prices) - Math.min(...prices), 9)
  const past = (await ask('/v1/futures/ng/curve?date=2026-11-15')).body
  expect([past.analysis_date, new Set(past.contracts.map(one => one.settlement_basis))]).toEqual(['2026-11-13', new Set(['exchange_settlement'])])
})

test('short forms answer by ticker, slug or code; the first contract is the front month', async () => {
  for (const path of ['latest?contract=BZ', 'latest', 'curve?contract=exch-brent', 'latest?contract=brent_futures']) {
    const { body } = await ask(`/v1/futures/${path}`)
    expectShape(copy.app, `/v1/futures/${path.split('?')[0]}`, body)
    const data = body.data as { contracts: Record<string, unknown>[] }
    expect([path, data.contracts.length, data.contracts[0]]).toMatchObject([path, 12, { contract_code: 'BRENT_FUTURES_2027_01', month: 'Jan 2027' }])
  }
  const second = (await ask('/v1/futures/latest?contract=CL.2')).body.data as { contracts: Record<string, unknown>[] }
  expect(second.contracts[0]).toMatchObject({ contract_code: 'WTI_FUTURES_2027_01' })
})

describe('bad parameters are named', () => {
  const cases: [string, string, string | undefined][] = [
    ['brent/historical?contract=nope', 'INVALID_PARAMETER', 'contract'],
    ['brent/historical?contract=WTI_FUTURES_2027_01', 'INVALID_PARAMETER', 'contract'],
    ['brent/historical?contract=13', 'INVALID_PARAMETER', 'contract'],
    ['brent/historical?contract=2027-13', 'INVALID_PARAMETER', 'contract'],
    ['brent/historical?from=2026-02-30', 'INVALID_PARAMETER', 'from'],
    ['brent/historical?end_date=yesterday', 'INVALID_PARAMETER', 'end_date'],
    ['brent/historical?from=2026-11-02&to=2026-11-01', 'INVALID_DATE_RANGE', undefined],
    ['brent/historical?interval=hour', 'INVALID_PARAMETER', 'interval'],
    ['brent/historical?interval=fortnight', 'invalid_interval', undefined],
    ['brent/historical?contracts=13', 'INVALID_PARAMETER', 'contracts'],
    ['brent/historical?page=0', 'INVALID_PARAMETER', 'page'],
    ['brent/ohlc?days=0', 'INVALID_PARAMETER', 'days'],
    ['brent/ohlc?days=0x10', 'INVALID_PARAMETER', 'days'],
    ['brent/ohlc?interval=1h', 'INVALID_PARAMETER', 'interval'],
    ['brent/intraday?date=20261120', 'INVALID_PARAMETER', 'date'],
    ['brent/spreads?days=366', 'INVALID_PARAMETER', 'days'],
    ['brent/curve?date=2026-13-01', 'INVALID_PARAMETER', 'date'],
    ['brent/continuous?months=61', 'INVALID_PARAMETER', 'months'],
    ['brent/spread-history', 'MISSING_PARAMETER', 'from'],
    ['brent/spread-history?from=2026-11-01', 'MISSING_PARAMETER', 'to'],
    ['brent/spread-history?from=2026-11-01&to=2026-11-10&contract2=x', 'INVALID_PARAMETER', 'contract2'],
    ['spreads?contract1=CL.1', 'MISSING_PARAMETER', 'contract2'],
    ['spreads?contract1=CL.1&contract2=CL.13', 'INVALID_PARAMETER', 'contract2'],
    ['latest?contract=coal', 'INVALID_PARAMETER', 'contract'],
  ]
  for (const [path, code, parameter] of cases) {
    test(`${path} is ${code}`, async () => {
      const { status, headers, body } = await ask(`/v1/futures/${path}`)
      expect([status, headers.get('x-error-code')]).toEqual([400, code])
      if (parameter !== undefined) expect(problemOf(body).parameter).toBe(parameter)
    })
  }
})

test('a database without futures says so, and does not answer with nothing', async () => {
  const empty = house(limits, friday)
  const key = empty.key()
  const missing = ['', '/historical', '/ohlc', '/intraday', '/spreads', '/continuous', '/spread-history?from=2026-01-01&to=2026-02-01']
  const paths = [...missing.map(tail => `/v1/futures/exch-brent${tail}`), ...['latest', 'curve', 'spreads?contract1=CL.1&contract2=CL.2'].map(tail => `/v1/futures/${tail}`)]
  for (const path of paths) {
    const response = await empty.get(path, key)
    expect([path, response.status, response.headers.get('x-error-code')]).toEqual([path, 404, 'DATA_NOT_AVAILABLE'])
  }
  for (const slug of ['exch-brent', 'uk-carbon']) {
    const response = await empty.get(`/v1/futures/${slug}/curve`, key)
    expect([response.status, await response.json()]).toEqual([
      200,
      { error: 'No futures data available for curve analysis', date: '2026-11-20', contracts: [] },
    ])
  }
})

test('a contract without a price in the front leaves front_month null and lists the others', async () => {
  const own = house(limits, friday)
  own.services.futures.recordDays([dayOf({ month: '2027-02', close: 71.5 })], friday)
  const { body } = await ask('/v1/futures/CL', own as typeof copy, own.key())
  expect([body.front_month, body.contracts.map(one => one.contract_code)]).toEqual([null, ['WTI_FUTURES_2027_02']])
})

test('numbers that somebody imported are served without the mark of fixture data', async () => {
  const own = house(limits, friday)
  own.services.futures.recordTicks([tickOf('2026-11-20T14:50:00Z', -3.5, { month: '2026-12' })], friday)
  const { body, headers } = await ask('/v1/futures/CL', own as typeof copy, own.key())
  expect([headers.get('x-service-data'), body.source, body.front_month!.price]).toEqual([null, 'import', -3.5])
})

describe('who may ask', () => {
  const cases: [string, Parameters<typeof copy.key>[1], number, string | null][] = [
    ['free', {}, 200, null],
    ['free', { trial: true }, 200, null],
    ['developer', {}, 403, 'FORBIDDEN'],
    ['developer', { addOns: ['futures_data'] }, 200, null],
    ['starter', {}, 403, 'FORBIDDEN'],
    ['starter', { addOns: ['futures_data'] }, 200, null],
    ['professional', {}, 200, null],
    ['scale', {}, 200, null],
    ['enterprise', {}, 200, null],
  ]
  for (const [plan, options, status, code] of cases) {
    test(`${plan} ${JSON.stringify(options)}: ${status}`, async () => {
      const key = copy.key(plan, options)
      for (const path of ['/v1/futures/exch-brent', '/v1/futures/uka/curve', '/v1/futures/latest']) {
        const response = await copy.get(path, key)
        expect([response.status, response.headers.get('x-error-code')]).toEqual([status, code])
        const body = (await response.json()) as { error: Record<string, unknown> }
        if (status === 403) expect(body.error).toMatchObject({ addon: 'futures_data', required_feature: 'futures', current_plan: plan })
      }
    })
  }

  test('the free allowance ends with 402, counted like any other request', async () => {
    const key = copy.key('free')
    for (let i = 0; i < 50; i++) expect((await copy.get('/v1/futures/exch-brent/curve', key)).status).toBe(200)
    const { status, body, headers } = await ask('/v1/futures/exch-brent', copy, key)
    expect([status, body.error_code, headers.get('x-ratelimit-state')]).toEqual([402, 'FREE_TIER_LIMIT_EXCEEDED', 'exhausted'])
  })

  test('refusals and unknown slugs cost nothing', async () => {
    const key = copy.key('free')
    for (const path of ['/v1/futures/nope', '/v1/futures/brent/ohlc?days=x', '/v1/futures/uk-carbon/ohlc']) await copy.get(path, key)
    const { headers } = await ask('/v1/futures/brent', copy, key)
    expect(headers.get('x-ratelimit-used')).toBe('1')
  })
})

test('ranges that no market has seen cost nothing and are answered', async () => {
  const { status, body } = await ask('/v1/futures/brent/historical?from=1000-01-01&to=9999-12-31')
  expect([status, body.prices[0]!.date]).toEqual([200, '2026-11-20'])
  for (const day of ['1000-01-01', '9999-12-31'])
    expect((await ask(`/v1/futures/brent/curve?date=${day}`)).body.error).toBe('No futures data available for curve analysis')
})

test('whatever a parameter says, the answer is data or a refusal that names it', async () => {
  const day = fc.oneof(
    fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true }).map(date => date.toISOString().slice(0, 10)),
    fc.constantFrom('', '2026-11-20', '1970-01-01', '9999-12-31', '2026-11-20T23:30:00+14:00', '-1', 'now'),
  )
  const contract = fc.oneof(
    fc.tuple(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 0, max: 13 })).map(([year, month]) => `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`),
    fc.constantFrom('', '0', '1', '12', '13', 'BRENT_FUTURES_9999_12', 'BRENT_FUTURES_0000_01', 'CL.1', '1e1'),
  )
  const number = fc.constantFrom('', '0', '1', '12', '60', '365', '1825', '999999999999999', '-1', '1.5', 'NaN')
  const slug = fc.constantFrom('brent', 'CL.12', 'ng', 'eua', 'uk-carbon')
  const tail = fc.constantFrom('', '/historical', '/ohlc', '/intraday', '/spreads', '/curve', '/spread-history', '/continuous')
  const query = fc.record(
    {
      ...{ from: day, to: day, date: day, contract, contract1: contract, contract2: contract },
      ...{ days: number, months: number, contracts: number, page: number, per_page: number },
      interval: fc.constantFrom('', 'day', 'week', '1m', 'raw'),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(slug, tail, query, async (name, end, given) => {
      const { status, headers } = await ask(`/v1/futures/${name}${end}?${new URLSearchParams(given as Record<string, string>)}`)
      expect([200, 400, 404]).toContain(status)
      if (status === 400) expect(headers.get('x-error-message')).not.toBe('')
    }),
    { numRuns: 250 },
  )
}, 20_000)
