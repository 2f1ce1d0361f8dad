import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { FlatProblem } from '../../../../src/http/problem/shape.ts'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

const nine = [
  'BRENT_CRUDE_USD',
  'WTI_USD',
  'NATURAL_GAS_USD',
  'GOLD_USD',
  'EUR_USD',
  'GBP_USD',
  'HEATING_OIL_USD',
  'GASOLINE_USD',
  'DIESEL_USD',
]

interface Prices {
  data: {
    prices: { code: string }[]
    meta: Record<string, unknown>
    examples: { curl: string; latest: string; history: string; authentication: string }
  }
}

interface Codes {
  data: {
    commodities: Record<string, { code: string; free_tier: boolean }[]>
    meta: Record<string, unknown>
  }
}

interface Refusal {
  error: { code: string; suggestions: string[] }
}

function filled(flags: Record<string, string> = {}): TestInstance {
  const instance = openTestInstance({ 'demo.limit_per_hour': '1000', ...flags })
  for (const code of nine) instance.record(code, [70, 71.5], startAt - hourMs, dayMs)
  return instance
}

describe('GET /v1/demo/prices', () => {
  test('are those of nine codes in their order, without a key', async () => {
    const instance = filled()
    const response = await instance.get('/v1/demo/prices')
    expect(response.status).toBe(200)
    expect(response.headers.get('x-demo-mode')).toBe('true')
    const body = await json<Prices>(response)
    expectShape(instance.app, '/v1/demo/prices', body)
    expect(body.data.prices.map(price => price.code)).toEqual(nine)
    expect<object | undefined>(body.data.prices[1]).toEqual({
      code: 'WTI_USD',
      name: 'WTI Crude Oil',
      price: 71.5,
      currency: 'USD',
      unit: 'barrel',
      created_at: '2026-11-20T14:00:00Z',
      // The second write of a millisecond is recorded one later.
      updated_at: '2026-11-20T15:00:00.001Z',
      change_24h: 1.5,
      change_24h_percent: 2.14,
      source: 'market_reporting',
      sparkline: [70, 71.5],
    })
    expect(body.data.meta).toEqual({
      demo_mode: true,
      rate_limit: '1000 requests per hour',
      signup_url: 'http://localhost/signup',
      available_commodities: 9,
      commodities_available: 9,
    })
  })

  test('come with examples that work', async () => {
    const instance = filled()
    const key = instance.key()
    const { examples } = (await json<Prices>(instance.get('/v1/demo/prices'))).data
    expect(Object.keys(examples).sort()).toEqual(['authentication', 'curl', 'history', 'latest'])
    for (const example of [examples.curl, examples.latest, examples.history]) {
      const url = new URL(/"(http[^"]+)"$/.exec(example)![1]!)
      const named = /Authorization: Token YOUR_API_KEY/.test(example)
      expect(
        (await instance.get(url.pathname + url.search, named ? key : undefined)).status,
        example,
      ).toBe(200)
    }
  })

  test.each([
    ['GOLD_USD,WTI_USD', ['WTI_USD', 'GOLD_USD'], undefined],
    ['wti,gold', ['WTI_USD', 'GOLD_USD'], undefined],
    ['GOLD_USD,,JET_FUEL_USD,nonsense,NONSENSE', ['GOLD_USD'], ['JET_FUEL_USD', 'NONSENSE']],
    ['nonsense', [], ['NONSENSE']],
    ['', nine, undefined],
    [',', nine, undefined],
  ])('are restricted to %p', async (codes, answered, unavailable) => {
    const instance = filled()
    const { prices, meta } = (await json<Prices>(instance.get(`/v1/demo/prices?codes=${codes}`)))
      .data
    expect(prices.map(price => price.code)).toEqual(answered)
    expect(meta.unavailable_codes).toEqual(unavailable)
    expect(meta.available_commodities).toBe(9)
  })

  test('GET /v1/demo/prices never repeats a token that was sent as a code', async () => {
    const instance = filled()
    const token = instance.key()
    expect(
      (await (await instance.get(`/v1/demo/prices?codes=${token}`)).text()).toLowerCase(),
    ).not.toContain(token)
  })

  test('GET /v1/demo/prices leaves out a code without a price and returns how many codes are available', async () => {
    const instance = openTestInstance()
    instance.record('WTI_USD', [70], startAt, 1)
    const { prices, meta } = (
      await json<Prices>(instance.get('/v1/demo/prices?codes=WTI_USD,GOLD_USD'))
    ).data
    expect(prices.map(price => price.code)).toEqual(['WTI_USD'])
    expect(meta).toMatchObject({
      available_commodities: 1,
      commodities_available: 1,
      unavailable_codes: ['GOLD_USD'],
    })
  })

  test('are of the codes that the operator set', async () => {
    const instance = filled({ 'demo.codes': 'DIESEL_USD,EUR_USD' })
    const { prices, meta } = (await json<Prices>(instance.get('/v1/demo/prices'))).data
    expect(prices.map(price => price.code)).toEqual(['DIESEL_USD', 'EUR_USD'])
    expect(meta.available_commodities).toBe(2)
  })

  test('are for twenty requests an hour from one address, over all of the demo', async () => {
    const instance = openTestInstance()
    instance.record('WTI_USD', [70], startAt, 1)
    const paths = [
      '/v1/demo/prices',
      '/v1/demo/commodities',
      '/v1/demo/prices/WTI_USD',
      '/v1/demo/prices/NONSENSE',
    ]
    for (let i = 0; i < 20; i++) {
      const response = await instance.get(paths[i % 4]!)
      expect(response.headers.get('x-ratelimit-limit')).toBe('20')
      expect(response.headers.get('x-ratelimit-remaining')).toBe(String(19 - i))
      expect(Number(response.headers.get('x-ratelimit-reset'))).toBeGreaterThan(startAt / 1000)
    }
    const refused = await instance.get('/v1/demo/prices')
    expect(refused.status).toBe(429)
    const body = await json<object>(refused)
    expect([...Value.Errors(FlatProblem, body)]).toEqual([])
    expect(body).toMatchObject({
      error_code: 'RATE_LIMIT_EXCEEDED',
      limit: 20,
      window_seconds: 3600,
    })
    instance.clock.advance(3600_000)
    expect((await instance.get('/v1/demo/prices')).status).toBe(200)
  })

  test('cost a key nothing', async () => {
    const instance = filled()
    const key = instance.key()
    const response = await instance.get('/v1/demo/prices', key)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-ratelimit-used')).toBeNull()
  })

  test('GET /v1/demo/prices reports that the prices are fixture data where they are', async () => {
    const instance = filled()
    instance.services.series.markFixture([instance.services.catalogue.named('WTI_USD')!.id])
    instance.services.catalogue.reload()
    instance.services.latestPrices.forgetAll()
    for (const path of ['/v1/demo/prices', '/v1/demo/prices/WTI_USD', '/v1/demo/commodities']) {
      expect((await instance.get(path)).headers.get('x-service-data'), path).toBe('fixture')
    }
  })
})

describe('GET /v1/demo/prices/:code', () => {
  test('answers by code and alias', async () => {
    const instance = filled()
    for (const name of ['WTI_USD', 'wti_usd', 'WTI', 'wti_crude']) {
      const response = await instance.get(`/v1/demo/prices/${name}`)
      const body = await json<{ data: object }>(response)
      expectShape(instance.app, '/v1/demo/prices/:code', body)
      expect(body.data, name).toMatchObject({ code: 'WTI_USD', price: 71.5, demo_mode: true })
      expect(response.headers.get('x-demo-mode')).toBe('true')
    }
  })

  test('of another code is refused with those that there are', async () => {
    const instance = filled()
    const response = await instance.get('/v1/demo/prices/JET_FUEL_USD')
    expect(response.status).toBe(403)
    const { error } = await json<Refusal>(response)
    expect(error).toMatchObject({
      code: 'DEMO_CODE_NOT_AVAILABLE',
      status: 403,
      available_codes: nine,
    })
  })

  test('of no code is not found, with suggestions', async () => {
    const instance = filled()
    const response = await instance.get('/v1/demo/prices/WTTI_USD')
    expect(response.status).toBe(404)
    const body = await json<Refusal>(response)
    expectShape(instance.app, '/v1/demo/prices/:code', body, 404)
    expect(body).toMatchObject({
      status: 'fail',
      error: { code: 'COMMODITY_NOT_FOUND', commodity_code: 'WTTI_USD' },
    })
    expect(body.error.suggestions).toContain('WTI_USD')
  })

  test('that is not there yet is not available', async () => {
    const response = await openTestInstance().get('/v1/demo/prices/GOLD_USD')
    expect(response.status).toBe(404)
    expect((await json<Refusal>(response)).error.code).toBe('DATA_NOT_AVAILABLE')
  })
})

test('the codes of the demo are those with data by category, and name the nine', async () => {
  const instance = openTestInstance()
  const availableSeries = shippedCatalogue().series.filter(
    series => series.unavailableReason === null,
  )
  for (const series of availableSeries) instance.record(series.code, [series.level], startAt, 1)
  const response = await instance.get('/v1/demo/commodities')
  expect(response.headers.get('x-demo-mode')).toBe('true')
  const body = await json<Codes>(response)
  expectShape(instance.app, '/v1/demo/commodities', body)
  const { commodities, meta } = body.data
  const flat = Object.values(commodities).flat()
  const open = availableSeries.filter(
    ({ code }) => instance.services.catalogue.named(code)!.publisher?.licenseClass !== 'view',
  )
  expect(open.length).toBeLessThan(availableSeries.length)
  expect(flat.map(commodity => commodity.code).sort()).toEqual(open.map(({ code }) => code).sort())
  expect(meta).toEqual({
    total: flat.length,
    categories: Object.keys(commodities),
    free_commodities: nine,
  })
  expect(flat.length).toBeGreaterThanOrEqual(400)
  expect(
    flat
      .filter(commodity => commodity.free_tier)
      .map(commodity => commodity.code)
      .sort(),
  ).toEqual([...nine].sort())
})
