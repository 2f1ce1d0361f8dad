import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

interface List {
  data: {
    prices: { code: string; price: number; requested_code?: string }[]
    count: number
    missing_codes?: string[]
  }
}

interface Inner {
  prices: Record<string, { code: string; price: number; currency: string | null }>
  count: number
  timestamp: string
}

interface All {
  data: Inner & { data: Inner }
  meta: { per_page: number; total: number }
}

interface Health {
  data: {
    status: string
    total: number
    current: number
    delayed: number
    stale: number
    missing: number
    by_category: Record<string, { total: number }>
  }
}

const used = (response: Response) => Number(response.headers.get('x-ratelimit-used'))
const availableSeries = shippedCatalogue().series.filter(
  series => series.unavailableReason === null,
)

function filled(...codes: string[]): TestInstance {
  const instance = openTestInstance({ 'limits.per_minute': '1000000' })
  for (const code of codes) instance.record(code, [70, 71.5], startAt - hourMs, dayMs)
  return instance
}

function full(): TestInstance {
  const instance = openTestInstance({ 'limits.per_minute': '1000000' })
  const points = availableSeries.map(series => ({
    seriesId: instance.services.catalogue.named(series.code)!.id,
    observedAt: startAt - hourMs,
    value: series.level,
  }))
  instance.services.ingest.write(points)
  return instance
}

describe('GET /v1/prices', () => {
  test('is a list for one code too', async () => {
    const instance = filled('WTI_USD')
    const body = await json<List>(instance.get('/v1/prices?by_code=WTI_USD', instance.key()))
    expectShape(instance.app, '/v1/prices', body)
    expect(body.data.prices).toHaveLength(1)
    expect(body.data).toMatchObject({
      count: 1,
      missing_codes: [],
      prices: [{ code: 'WTI_USD', price: 71.5, formatted: '$71.50' }],
    })
  })

  test.each([
    ['1763510400', '1763596799'],
    ['2025-11-19', '2025-11-19'],
    ['2025-11-19T00:00:00Z', '2025-11-19T23:59:59Z'],
  ])('returns the prices of the period from %s to %s, and not the newest one', async (from, to) => {
    const instance = openTestInstance()
    instance.record(
      'GOLD_USD',
      [4000, 4001, 4002, 4003],
      Date.parse('2025-11-20T12:00:00Z'),
      dayMs / 2,
    )
    const period = `by_period%5Bfrom%5D=${from}&by_period[to]=${to}`
    const { data } = await json<List>(
      instance.get(`/v1/prices?by_code=GOLD_USD&interval=raw&${period}&per_page=5`, instance.key()),
    )
    expect(data.prices.map(({ price }) => price)).toEqual([4001, 4000])
  })

  test('keeps the order asked and names the codes that have no price', async () => {
    const instance = filled('WTI_USD', 'GOLD_USD')
    const { data } = await json<List>(
      instance.get('/v1/prices?by_code=gold,EUR_USD,WTI_USD,XAU', instance.key()),
    )
    expect(data.prices.map(price => price.code)).toEqual(['GOLD_USD', 'WTI_USD'])
    expect(data.prices[0]!.requested_code).toBe('GOLD')
    expect(data).toMatchObject({ count: 2, missing_codes: ['EUR_USD'] })
  })

  test('has every available code when none is named, those of the free tier first', async () => {
    const instance = filled('JET_FUEL_USD', 'WTI_USD', 'AGBAMI_USD')
    const { data } = await json<List>(instance.get('/v1/prices', instance.key()))
    expect(data.prices.map(price => price.code)).toEqual(['WTI_USD', 'AGBAMI_USD', 'JET_FUEL_USD'])
    expect(data).not.toHaveProperty('missing_codes')
  })

  test('GET /v1/prices returns 304 to a client that has the current list and is rebuilt after a new price', async () => {
    const instance = filled('WTI_USD', 'GOLD_USD')
    const key = instance.key()
    const first = await instance.get('/v1/prices', key)
    const condition = { 'if-none-match': first.headers.get('etag')! }
    const same = await instance.get('/v1/prices', key, condition)
    expect({ status: same.status, used: used(same) }).toEqual({ status: 304, used: 1 })
    instance.clock.advance(1000)
    instance.record('WTI_USD', [72.25], instance.clock.now(), 1000)
    const changed = await instance.get('/v1/prices', key, condition)
    expect(changed.status).toBe(200)
    expect((await json<List>(changed)).data.prices[0]).toMatchObject({
      code: 'WTI_USD',
      price: 72.25,
    })
  })

  test('knows nothing of dates', async () => {
    const instance = filled('WTI_USD')
    const { data } = await json<List>(
      instance.get(
        '/v1/prices?by_code=WTI_USD&start_date=2020-01-01&end_date=2020-02-01',
        instance.key(),
      ),
    )
    expect(data.prices[0]!.price).toBe(71.5)
  })

  test('refuses unknown codes and too many of them', async () => {
    const instance = filled('WTI_USD')
    const key = instance.key()
    const unknown = await instance.get('/v1/prices?by_code=WTI_USD,GASOLNE_USD', key)
    expect(unknown.status).toBe(400)
    expect((await json<List>(unknown)).data).toMatchObject({
      error: 'invalid_code',
      invalid_codes: ['GASOLNE_USD'],
    })
    const many = await instance.get(
      `/v1/prices?by_code=${Array(21).fill('WTI_USD').join(',')}`,
      key,
    )
    expect((await json<List>(many)).data).toMatchObject({
      error: 'too_many_codes',
      max: 20,
      requested: 21,
    })
    expect(used(many)).toBe(0)
  })

  test('a list of prices counts as one request, however many codes it has', async () => {
    const instance = filled('WTI_USD', 'GOLD_USD')
    const key = instance.key()
    expect(used(await instance.get('/v1/prices?by_code=WTI_USD,GOLD_USD', key))).toBe(1)
    expect(used(await instance.get('/v1/prices', key))).toBe(2)
  })
})

describe('GET /v1/prices/all', () => {
  test('GET /v1/prices/all returns the prices by code, twice, in the shape that clients read', async () => {
    const instance = filled('WTI_USD', 'CUSHING_STORAGE')
    const response = await instance.get('/v1/prices/all', instance.key())
    const body = await json<All>(response)
    expectShape(instance.app, '/v1/prices/all', body)
    expect<object | undefined>(body.data.prices.WTI_USD).toEqual({
      code: 'WTI_USD',
      name: 'WTI Crude Oil',
      commodity: 'WTI_USD',
      price: 71.5,
      value: 71.5,
      currency: 'USD',
      unit: 'barrel',
      category: 'crude_oil',
      source: 'market_reporting',
      created_at: '2026-11-20T14:00:00Z',
      updated_at: '2026-11-20T15:00:00Z',
      timestamp: '2026-11-20T14:00:00Z',
      change_24h: 1.5,
      change_24h_percent: 2.14,
    })
    expect(body.data.prices.CUSHING_STORAGE?.currency).toBeNull()
    const { data: inner, ...outer } = body.data
    expect(inner).toEqual(outer)
    expect(outer).toMatchObject({ count: 2, timestamp: '2026-11-20T15:00:00Z' })
    expect<object>(body.meta).toEqual({
      page: 1,
      per_page: 1000,
      total: 2,
      total_pages: 1,
      has_next: false,
      has_prev: false,
    })
    expect(response.headers.get('x-has-next')).toBe('false')
    expect(used(response)).toBe(1)
  })

  test('of every available code fits on the first page', async () => {
    const instance = full()
    const { data, meta } = await json<All>(instance.get('/v1/prices/all', instance.key()))
    expect(Object.keys(data.prices).sort()).toEqual(
      availableSeries.map(series => series.code).sort(),
    )
    expect(data.count).toBe(availableSeries.length)
    expect(meta).toMatchObject({ total: availableSeries.length, has_next: false })
  })

  test('is on one of the pages, and on no other', async () => {
    const instance = full()
    const key = instance.key()
    const codes: string[] = []
    for (let page = 1, next = true; next; page++) {
      const response = await instance.get(`/v1/prices/all?per_page=250&page=${page}`, key)
      codes.push(...Object.keys((await json<All>(response)).data.prices))
      next = response.headers.get('x-has-next') === 'true'
      expect(response.headers.get('x-total')).toBe(String(availableSeries.length))
    }
    expect(codes).toEqual(availableSeries.map(series => series.code).sort())
    const pastTheEnd = await instance.get('/v1/prices/all?page=99', key)
    expect({ status: pastTheEnd.status, data: (await json<All>(pastTheEnd)).data }).toMatchObject({
      status: 200,
      data: { prices: {}, count: 0, data: { prices: {}, count: 0 } },
    })
  })

  test.each([
    ['per_page=5000', 200],
    ['per_page=0', 400],
    ['per_page=ten', 400],
    ['page=0', 400],
    ['category=cheese', 400],
  ])('with %s is %d', async (query, status) => {
    const instance = filled('WTI_USD')
    const response = await instance.get(`/v1/prices/all?${query}`, instance.key())
    expect(response.status).toBe(status)
    if (status === 200) expect((await json<All>(response)).meta.per_page).toBe(1000)
    else
      expect((await json<{ error: { code: string } }>(response)).error.code).toBe(
        'INVALID_PARAMETER',
      )
  })

  test('of a category is of that category', async () => {
    const instance = full()
    const { data } = await json<All>(instance.get('/v1/prices/all?category=fx', instance.key()))
    expect(Object.keys(data.prices).sort()).toEqual(
      availableSeries
        .filter(series => series.category === 'fx')
        .map(series => series.code)
        .sort(),
    )
  })

  test('GET /v1/prices/all reflects written and quarantined values', async () => {
    const instance = filled('WTI_USD')
    const key = instance.key()
    const price = async () =>
      (await json<All>(instance.get('/v1/prices/all', key))).data.prices.WTI_USD?.price
    expect(await price()).toBe(71.5)
    instance.record('WTI_USD', [73], startAt, 1)
    expect(await price()).toBe(73)
    const seriesId = instance.services.catalogue.named('WTI_USD')!.id
    instance.services.quarantine.add({
      seriesId,
      fromOn: '2026-11-20',
      toOn: '2026-11-20',
      reason: 'feed fault',
      createdAt: startAt,
    })
    expect(await price()).toBe(70)
    instance.services.quarantine.add({
      seriesId,
      fromOn: '2026-11-19',
      toOn: '2026-11-19',
      reason: 'feed fault',
      createdAt: startAt,
    })
    expect(await price()).toBeUndefined()
  })

  test('of a futures family is that of its front contract, under the family', async () => {
    const instance = openTestInstance({}, Date.parse('2026-12-01T15:00:00Z'))
    instance.record('UKA_FUTURES_2026_12', [64, 65], instance.clock.now() - hourMs, dayMs)
    instance.record('UKA_FUTURES_2027_01', [67, 68], instance.clock.now() - hourMs, dayMs)
    const key = instance.key()
    const { data } = await json<All>(instance.get('/v1/prices/all?category=futures', key))
    expect(Object.keys(data.prices)).toEqual(['UKA_FUTURES'])
    expect(data.prices.UKA_FUTURES).toMatchObject({
      code: 'UKA_FUTURES',
      name: 'UK Carbon Futures',
      price: 65,
    })
    const list = await json<List>(instance.get('/v1/prices', key))
    expect(list.data.prices[0]).toMatchObject({
      code: 'UKA_FUTURES_2026_12',
      requested_code: 'UKA_FUTURES',
      price: 65,
    })
    const commodity = await json<{ data: object }>(instance.get('/v1/commodities/UKA_FUTURES', key))
    expect(commodity.data).toMatchObject({
      code: 'UKA_FUTURES',
      has_data: true,
      last_observation: '2026-12-01T14:00:00Z',
    })
  })
})

describe('GET /v1/prices/all/health', () => {
  const ask = async (instance: TestInstance, key: string) => {
    const response = await instance.get('/v1/prices/all/health', key)
    const body = await json<Health>(response)
    expectShape(instance.app, '/v1/prices/all/health', body)
    return body.data
  }

  test('counts by age and by category, and adds up', async () => {
    const instance = filled('WTI_USD', 'EUR_USD')
    instance.record('GOLD_USD', [2000], startAt - 30 * dayMs, dayMs)
    const data = await ask(instance, instance.key())
    expect(data).toMatchObject({
      status: 'degraded',
      total: availableSeries.length,
      current: 2,
      stale: 1,
      missing: availableSeries.length - 3,
      newest_observation: '2026-11-20T14:00:00Z',
      oldest_current: '2026-11-20T14:00:00Z',
      checked_at: '2026-11-20T15:00:00Z',
    })
    expect(data.current + data.delayed + data.stale + data.missing).toBe(data.total)
    expect(data.by_category.metals).toMatchObject({ current: 0, stale: 1 })
    const totals = Object.values(data.by_category).map(tally => tally.total)
    expect(totals.reduce((a, b) => a + b)).toBe(data.total)
  })

  test('goes from healthy to unhealthy as the data ages', async () => {
    const instance = filled('WTI_USD')
    const key = instance.key()
    expect((await ask(instance, key)).status).toBe('healthy')
    instance.clock.advance(30 * dayMs)
    expect(await ask(instance, key)).toMatchObject({
      status: 'unhealthy',
      current: 0,
      stale: 1,
      oldest_current: null,
    })
  })

  test('GET /v1/prices/all/health is unhealthy without prices and reports every series as missing', async () => {
    const instance = openTestInstance()
    expect(await ask(instance, instance.key())).toMatchObject({
      status: 'unhealthy',
      missing: availableSeries.length,
      newest_observation: null,
    })
  })
})
