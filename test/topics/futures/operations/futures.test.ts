import { describe, expect, test } from 'bun:test'
import { hourMs } from '../../../../src/lib/time/instant.ts'
import { families, namesOf } from '../../../../src/topics/futures/math/families.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape } from '../../../support/interface/shape.ts'
import {
  answered,
  at,
  dayOf,
  manyRequests,
  openFuturesInstance,
  problemOf,
  tickOf,
} from '../../../support/topics/futures.ts'

const friday = at('2026-11-20T15:00:00Z')
const copy = openFuturesInstance(friday, {}, manyRequests)
const token = copy.key()
const ask = (path: string, from: TestInstance = copy, key = token) => answered(from, path, key)

describe('GET /v1/futures/:slug under every name of a family', () => {
  for (const family of families) {
    const names = namesOf(family, ['exch']).flatMap(name => [name, name.toUpperCase(), `${name}.2`])
    test(`${family.code} answers to ${names.length} spellings under its canonical slug`, async () => {
      for (const name of names) {
        const { status, body } = await ask(`/v1/futures/${name}`)
        expect({ name, status, commodity: body.commodity }).toEqual({
          name,
          status: 200,
          commodity: family.code,
        })
        expectShape(copy.app, '/v1/futures/:slug', body)
      }
      expect((await ask(`/v1/futures/${names[0]}/curve`)).body.commodity).toBe(family.code)
    })
  }

  test('eu-carbon and eua-carbon are both canonical, aliases answer the first', async () => {
    const slugs = await Promise.all(
      ['eu-carbon', 'EUA-carbon', 'eua'].map(
        async name => (await ask(`/v1/futures/${name}`)).body.slug,
      ),
    )
    expect(slugs).toEqual(['eu-carbon', 'eua-carbon', 'eua-carbon'])
  })

  test('every configured exchange word is accepted and the first is answered', async () => {
    const own = openFuturesInstance(
      friday,
      { wholeCurveDays: 6, nearMonthsDays: 6, tickDays: 1 },
      { ...manyRequests, 'brand.exchange_words': 'mart,exch' },
    )
    const key = own.key()
    for (const name of ['mart-brent', 'exch-brent', 'brent'])
      expect((await ask(`/v1/futures/${name}`, own, key)).body.slug).toBe('mart-brent')
    expect((await own.get('/v1/futures/other-brent', key)).status).toBe(404)
  })

  test('an unknown name is not a route, nor are the paths that uk-carbon lacks', async () => {
    const paths = [
      '/v1/futures/exch-coal',
      '/v1/futures/CL.13',
      '/v1/futures/CL.0/curve',
      '/v1/futures/nope/historical',
    ]
    for (const name of ['uk-carbon', 'uka', 'UKETS-carbon', 'uka-carbon.2'])
      for (const tail of [
        'ohlc',
        'intraday',
        'spreads',
        'spread-history?from=2026-01-01&to=2026-02-01',
        'continuous',
      ])
        paths.push(`/v1/futures/${name}/${tail}`)
    paths.push('/v1/futures/continuous/uk-carbon/historical')
    for (const path of paths) {
      const { status, text, headers } = await ask(path)
      expect({ path, status, text, contentType: headers.get('content-type') }).toEqual({
        path,
        status: 404,
        text: '',
        contentType: 'text/html',
      })
      expect((await copy.get(path)).status, path).toBe(404)
    }
  })
})

describe('GET /v1/futures/:slug', () => {
  test('list twelve months nearest first, with the front month apart and its session', async () => {
    const { body, headers } = await ask('/v1/futures/exch-brent')
    expect(body.contracts.map(contract => contract.contract_month).join()).toBe(
      '2027-01,2027-02,2027-03,2027-04,2027-05,2027-06,2027-07,2027-08,2027-09,2027-10,2027-11,2027-12',
    )
    expect(body.front_month).toEqual(body.contracts[0]!)
    expect(body.front_month).toMatchObject({
      contract_status: 'front_month',
      is_front_month: true,
      days_to_expiry: 10,
      expiry_date: '2026-11-30',
      settlement: null,
    })
    expect(
      body.contracts
        .slice(1)
        .every(
          contract => contract.contract_status === 'active' && contract.is_front_month === false,
        ),
    ).toBe(true)
    expect(body).toMatchObject({
      name: 'Brent Futures',
      currency: 'USD',
      unit: 'barrel',
      source: 'fixture',
      settlement_date: null,
      updated_at: '2026-11-20T14:55:00Z',
      trading_hours: { timezone: 'Europe/London', open: '01:00', close: '23:00', is_open: true },
      metadata: {
        total_contracts: 12,
        front_month_contract: 'BRENT_FUTURES_2027_01',
        settlement_time: '19:30 GMT',
        update_interval_seconds: 300,
      },
    })
    expect({ serviceData: headers.get('x-service-data'), cache: headers.get('x-cache') }).toEqual({
      serviceData: 'fixture',
      cache: 'MISS',
    })
    expect('roll_indicator' in body || 'data_age_warning' in body).toBe(false)
  })

  test('measure the change from the settlement of the date before', async () => {
    const { body } = await ask('/v1/futures/CL')
    const { body: history } = await ask(
      `/v1/futures/CL/historical?contract=${body.front_month!.contract_code}&from=2026-11-19&to=2026-11-19`,
    )
    const base = history.prices[0]!.settlement as number
    expect(body.front_month!.change).toBeCloseTo((body.front_month!.price as number) - base, 10)
    expect(body.front_month!.change_percent).toBeCloseTo(
      (100 * (body.front_month!.change as number)) / base,
      2,
    )
  })

  test('futures near expiry are marked, recommend rolling and expire on the trading date of their exchange', async () => {
    const own = openFuturesInstance(
      at('2026-11-22T12:00:00Z'),
      { wholeCurveDays: 6, nearMonthsDays: 6, tickDays: 3 },
      manyRequests,
    )
    const key = own.key()
    const moments: [string, string, string, number, Record<string, unknown> | undefined][] = [
      ['2026-11-22T23:59:59Z', '2027-01', 'front_month', 8, undefined],
      [
        '2026-11-23T00:00:00Z',
        '2027-01',
        'near_expiry',
        7,
        { should_roll: false, days_remaining: 7, next_contract: 'BRENT_FUTURES_2027_02' },
      ],
      [
        '2026-11-27T12:00:00Z',
        '2027-01',
        'near_expiry',
        3,
        { should_roll: true, days_remaining: 3, next_contract: 'BRENT_FUTURES_2027_02' },
      ],
      [
        '2026-11-30T23:59:59Z',
        '2027-01',
        'near_expiry',
        0,
        { should_roll: true, days_remaining: 0 },
      ],
      ['2026-12-01T00:00:00Z', '2027-02', 'front_month', 29, undefined],
    ]
    for (const [moment, month, status, days, roll] of moments) {
      own.follow(at(moment))
      const { body } = await ask('/v1/futures/brent', own, key)
      const { contract_month, contract_status, days_to_expiry } = body.front_month!
      expect({ moment, contract_month, contract_status, days_to_expiry }).toEqual({
        moment,
        contract_month: month,
        contract_status: status,
        days_to_expiry: days,
      })
      if (roll === undefined) expect(body.roll_indicator).toBeUndefined()
      else expect(body.roll_indicator).toMatchObject(roll)
      expect(body.contracts.length).toBe(12)
      expect(body.contracts.some(contract => contract.contract_status === 'expired')).toBe(false)
    }
  })

  test('carry settlements once they are published, with their date', async () => {
    const own = openFuturesInstance(
      at('2026-11-20T19:29:00Z'),
      { wholeCurveDays: 6, nearMonthsDays: 6, tickDays: 1 },
      manyRequests,
    )
    const key = own.key()
    expect((await ask('/v1/futures/ttf', own, key)).body.settlement_date).toBeNull()
    own.follow(at('2026-11-20T19:35:00Z'))
    const { body } = await ask('/v1/futures/ttf', own, key)
    expect(body.settlement_date).toBe('2026-11-20')
    for (const contract of body.contracts)
      expect(
        typeof contract.settlement === 'number' && contract.settlement !== contract.close,
      ).toBe(true)
    const curve = (await ask('/v1/futures/ttf/curve', own, key)).body
    expect(curve.contracts.map(point => [point.price, point.settlement_basis])).toEqual(
      body.contracts.map(contract => [contract.settlement, 'exchange_settlement']),
    )
  })
})

describe('GET /v1/futures/:slug when the feed has fallen silent', () => {
  const own = openFuturesInstance(
    friday,
    { wholeCurveDays: 6, nearMonthsDays: 6, tickDays: 1 },
    manyRequests,
  )
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
      [
        last + 31 * 60_000,
        { 'natural-gas': 'LIVE_DATA_STALE', gasoil: 'LIVE_DATA_STALE', brent: 'served' },
      ],
      [at('2026-11-21T12:00:00Z'), { 'natural-gas': 'served', gasoil: 'served', brent: 'served' }],
      [
        at('2026-11-23T12:00:00Z'),
        { 'natural-gas': 'LIVE_DATA_STALE', gasoil: 'LIVE_DATA_STALE', ttf: 'served' },
      ],
      [
        last + 96 * hourMs,
        {
          'natural-gas': 'LIVE_DATA_STALE',
          gasoil: 'LIVE_DATA_STALE',
          brent: 'served',
          'uk-carbon': 'served',
        },
      ],
      [
        last + 97 * hourMs,
        {
          'natural-gas': 'DATA_TOO_STALE',
          gasoil: 'DATA_TOO_STALE',
          brent: 'DATA_TOO_STALE',
          'uk-carbon': 'DATA_TOO_STALE',
        },
      ],
    ]
    for (const [moment, expected] of table) {
      const statuses = Object.fromEntries(
        await Promise.all(
          Object.keys(expected).map(async slug => [
            slug,
            await codeAt(moment, `/v1/futures/${slug}`),
          ]),
        ),
      )
      expect(statuses, new Date(moment).toISOString()).toEqual(expected)
    }
  })

  test('outdated futures data is refused with its age, while historical data stays available', async () => {
    own.follow(at('2026-11-24T15:55:00Z'), false)
    const old = await ask('/v1/futures/exch-wti', own, key)
    expect({ status: old.status, problem: problemOf(old.body) }).toMatchObject({
      status: 503,
      problem: {
        code: 'DATA_TOO_STALE',
        data_age_hours: 97,
        max_age_hours: 96,
        last_updated: '2026-11-20T14:55:00Z',
        retry: { retryable: true },
      },
    })
    for (const path of [
      'latest?contract=CL',
      'curve?contract=CL',
      'spreads?contract1=CL.1&contract2=CL.2',
    ])
      expect({
        path,
        codeAt: await codeAt(at('2026-11-24T15:55:00Z'), `/v1/futures/${path}`),
      }).toEqual({ path, codeAt: 'DATA_TOO_STALE' })
    for (const tail of [
      'historical',
      'ohlc',
      'intraday?date=2026-11-20',
      'continuous',
      'curve',
      'spreads',
    ])
      expect({
        tail,
        status: (await ask(`/v1/futures/exch-wti/${tail}`, own, key)).status,
      }).toEqual({ tail, status: 200 })
  })

  test('a stale live futures price is refused with its delay in the running session', async () => {
    own.follow(at('2026-11-23T12:00:00Z'), false)
    const { status, body } = await ask('/v1/futures/exch-gasoil', own, key)
    expect({ status, problem: problemOf(body) }).toMatchObject({
      status: 503,
      problem: {
        code: 'LIVE_DATA_STALE',
        freshness_status: 'stale',
        market_status: 'open',
        stale_by_minutes: 660,
        market_timezone: 'Europe/London',
      },
    })
  })

  test('is warned of from 24 hours on', async () => {
    own.follow(at('2026-11-21T14:55:00Z'), false)
    expect((await ask('/v1/futures/brent', own, key)).body.data_age_warning).toBeUndefined()
    own.follow(at('2026-11-21T14:56:00Z'), false)
    expect((await ask('/v1/futures/brent', own, key)).body.data_age_warning).toContain(
      '24 hours old',
    )
  })
})

test('a contract without a price in the front leaves front_month null and lists the others', async () => {
  const own = openTestInstance(manyRequests, friday)
  own.services.futures.recordDays([dayOf({ month: '2027-02', close: 71.5 })], friday)
  const { body } = await ask('/v1/futures/CL', own, own.key())
  expect({
    front_month: body.front_month,
    contracts: body.contracts.map(contract => contract.contract_code),
  }).toEqual({ front_month: null, contracts: ['WTI_FUTURES_2027_02'] })
})

test('imported futures prices are served without the fixture data marker', async () => {
  const own = openTestInstance(manyRequests, friday)
  own.services.futures.recordTicks(
    [tickOf('2026-11-20T14:50:00Z', -3.5, { month: '2026-12' })],
    friday,
  )
  const { body, headers } = await ask('/v1/futures/CL', own, own.key())
  expect({
    serviceData: headers.get('x-service-data'),
    source: body.source,
    price: body.front_month!.price,
  }).toEqual({ serviceData: null, source: 'import', price: -3.5 })
})
