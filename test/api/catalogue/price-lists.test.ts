import { describe, expect, test } from 'bun:test'
import { shippedCatalogue } from '../../../src/feed/catalogue/shipped.ts'
import { dayMs, hourMs } from '../../../src/lib/instant.ts'
import { openTestInstance, startAt, type TestInstance } from '../../support/instance.ts'
import { expectShape, json } from '../../support/shape.ts'

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
const listed = shippedCatalogue().series.filter(one => one.unavailableReason === null)

function filled(...codes: string[]): TestInstance {
  const h = openTestInstance({ 'limits.per_minute': '1000000' })
  for (const code of codes) h.record(code, [70, 71.5], startAt - hourMs, dayMs)
  return h
}

function full(): TestInstance {
  const h = openTestInstance({ 'limits.per_minute': '1000000' })
  const points = listed.map(one => ({
    seriesId: h.services.catalogue.named(one.code)!.id,
    observedAt: startAt - hourMs,
    value: one.level,
  }))
  h.services.ingest.write(points)
  return h
}

describe('the list of latest prices', () => {
  test('is a list for one code too', async () => {
    const h = filled('WTI_USD')
    const body = await json<List>(h.get('/v1/prices?by_code=WTI_USD', h.key()))
    expectShape(h.app, '/v1/prices', body)
    expect(body.data.prices).toHaveLength(1)
    expect(body.data).toMatchObject({
      count: 1,
      missing_codes: [],
      prices: [{ code: 'WTI_USD', price: 71.5, formatted: '$71.50' }],
    })
  })

  test('keeps the order asked and names the codes that have no price', async () => {
    const h = filled('WTI_USD', 'GOLD_USD')
    const { data } = await json<List>(h.get('/v1/prices?by_code=gold,EUR_USD,WTI_USD,XAU', h.key()))
    expect(data.prices.map(one => one.code)).toEqual(['GOLD_USD', 'WTI_USD'])
    expect(data.prices[0]!.requested_code).toBe('GOLD')
    expect(data).toMatchObject({ count: 2, missing_codes: ['EUR_USD'] })
  })

  test('has every available code when none is named, those of the free tier first', async () => {
    const h = filled('JET_FUEL_USD', 'WTI_USD', 'AGBAMI_USD')
    const { data } = await json<List>(h.get('/v1/prices', h.key()))
    expect(data.prices.map(one => one.code)).toEqual(['WTI_USD', 'AGBAMI_USD', 'JET_FUEL_USD'])
    expect(data).not.toHaveProperty('missing_codes')
  })

  test('knows nothing of dates', async () => {
    const h = filled('WTI_USD')
    const { data } = await json<List>(
      h.get('/v1/prices?by_code=WTI_USD&start_date=2020-01-01&end_date=2020-02-01', h.key()),
    )
    expect(data.prices[0]!.price).toBe(71.5)
  })

  test('refuses unknown codes and too many of them', async () => {
    const h = filled('WTI_USD')
    const key = h.key()
    const unknown = await h.get('/v1/prices?by_code=WTI_USD,GASOLNE_USD', key)
    expect(unknown.status).toBe(400)
    expect((await json<List>(unknown)).data).toMatchObject({
      error: 'invalid_code',
      invalid_codes: ['GASOLNE_USD'],
    })
    const many = await h.get(`/v1/prices?by_code=${Array(21).fill('WTI_USD').join(',')}`, key)
    expect((await json<List>(many)).data).toMatchObject({
      error: 'too_many_codes',
      max: 20,
      requested: 21,
    })
    expect(used(many)).toBe(0)
  })

  test('counts one request', async () => {
    const h = filled('WTI_USD', 'GOLD_USD')
    const key = h.key()
    expect(used(await h.get('/v1/prices?by_code=WTI_USD,GOLD_USD', key))).toBe(1)
    expect(used(await h.get('/v1/prices', key))).toBe(2)
  })
})

describe('every price', () => {
  test('stands by code, twice, in the shape that clients read', async () => {
    const h = filled('WTI_USD', 'CUSHING_STORAGE')
    const response = await h.get('/v1/prices/all', h.key())
    const body = await json<All>(response)
    expectShape(h.app, '/v1/prices/all', body)
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
    const h = full()
    const { data, meta } = await json<All>(h.get('/v1/prices/all', h.key()))
    expect(Object.keys(data.prices).sort()).toEqual(listed.map(one => one.code).sort())
    expect(data.count).toBe(listed.length)
    expect(meta).toMatchObject({ total: listed.length, has_next: false })
  })

  test('is on one of the pages, and on no other', async () => {
    const h = full()
    const key = h.key()
    const codes: string[] = []
    for (let page = 1, next = true; next; page++) {
      const response = await h.get(`/v1/prices/all?per_page=250&page=${page}`, key)
      codes.push(...Object.keys((await json<All>(response)).data.prices))
      next = response.headers.get('x-has-next') === 'true'
      expect(response.headers.get('x-total')).toBe(String(listed.length))
    }
    expect(codes).toEqual(listed.map(one => one.code).sort())
    const past = await h.get('/v1/prices/all?page=99', key)
    expect([past.status, (await json<All>(past)).data]).toMatchObject([
      200,
      { prices: {}, count: 0, data: { prices: {}, count: 0 } },
    ])
  })

  test.each([
    ['per_page=5000', 200],
    ['per_page=0', 400],
    ['per_page=ten', 400],
    ['page=0', 400],
    ['category=cheese', 400],
  ])('with %s is %d', async (query, status) => {
    const h = filled('WTI_USD')
    const response = await h.get(`/v1/prices/all?${query}`, h.key())
    expect(response.status).toBe(status)
    if (status === 200) expect((await json<All>(response)).meta.per_page).toBe(1000)
    else
      expect((await json<{ error: { code: string } }>(response)).error.code).toBe(
        'INVALID_PARAMETER',
      )
  })

  test('of a category is of that category', async () => {
    const h = full()
    const { data } = await json<All>(h.get('/v1/prices/all?category=fx', h.key()))
    expect(Object.keys(data.prices).sort()).toEqual(
      listed
        .filter(one => one.category === 'fx')
        .map(one => one.code)
        .sort(),
    )
  })

  test('follows what is written and what is quarantined', async () => {
    const h = filled('WTI_USD')
    const key = h.key()
    const price = async () =>
      (await json<All>(h.get('/v1/prices/all', key))).data.prices.WTI_USD?.price
    expect(await price()).toBe(71.5)
    h.record('WTI_USD', [73], startAt, 1)
    expect(await price()).toBe(73)
    const seriesId = h.services.catalogue.named('WTI_USD')!.id
    h.services.quarantine.add({
      seriesId,
      fromOn: '2026-11-20',
      toOn: '2026-11-20',
      reason: 'feed fault',
      createdAt: startAt,
    })
    expect(await price()).toBe(70)
    h.services.quarantine.add({
      seriesId,
      fromOn: '2026-11-19',
      toOn: '2026-11-19',
      reason: 'feed fault',
      createdAt: startAt,
    })
    expect(await price()).toBeUndefined()
  })

  test('of a futures family is that of its front contract, under the family', async () => {
    const h = openTestInstance({}, Date.parse('2026-12-01T15:00:00Z'))
    h.record('UKA_FUTURES_2026_12', [64, 65], h.clock.now() - hourMs, dayMs)
    h.record('UKA_FUTURES_2027_01', [67, 68], h.clock.now() - hourMs, dayMs)
    const key = h.key()
    const { data } = await json<All>(h.get('/v1/prices/all?category=futures', key))
    expect(Object.keys(data.prices)).toEqual(['UKA_FUTURES'])
    expect(data.prices.UKA_FUTURES).toMatchObject({
      code: 'UKA_FUTURES',
      name: 'UK Carbon Futures',
      price: 65,
    })
    const list = await json<List>(h.get('/v1/prices', key))
    expect(list.data.prices[0]).toMatchObject({
      code: 'UKA_FUTURES_2026_12',
      requested_code: 'UKA_FUTURES',
      price: 65,
    })
    const commodity = await json<{ data: object }>(h.get('/v1/commodities/UKA_FUTURES', key))
    expect(commodity.data).toMatchObject({
      code: 'UKA_FUTURES',
      has_data: true,
      last_observation: '2026-12-01T14:00:00Z',
    })
  })
})

describe('the health of the prices', () => {
  const ask = async (h: TestInstance, key: string) => {
    const response = await h.get('/v1/prices/all/health', key)
    const body = await json<Health>(response)
    expectShape(h.app, '/v1/prices/all/health', body)
    return body.data
  }

  test('counts by age and by category, and adds up', async () => {
    const h = filled('WTI_USD', 'EUR_USD')
    h.record('GOLD_USD', [2000], startAt - 30 * dayMs, dayMs)
    const data = await ask(h, h.key())
    expect(data).toMatchObject({
      status: 'degraded',
      total: listed.length,
      current: 2,
      stale: 1,
      missing: listed.length - 3,
      newest_observation: '2026-11-20T14:00:00Z',
      oldest_current: '2026-11-20T14:00:00Z',
      checked_at: '2026-11-20T15:00:00Z',
    })
    expect(data.current + data.delayed + data.stale + data.missing).toBe(data.total)
    expect(data.by_category.metals).toMatchObject({ current: 0, stale: 1 })
    const totals = Object.values(data.by_category).map(one => one.total)
    expect(totals.reduce((a, b) => a + b)).toBe(data.total)
  })

  test('goes from healthy to unhealthy as the data ages', async () => {
    const h = filled('WTI_USD')
    const key = h.key()
    expect((await ask(h, key)).status).toBe('healthy')
    h.clock.advance(30 * dayMs)
    expect(await ask(h, key)).toMatchObject({
      status: 'unhealthy',
      current: 0,
      stale: 1,
      oldest_current: null,
    })
  })

  test('of nothing is unhealthy, and says that everything is missing', async () => {
    const h = openTestInstance()
    expect(await ask(h, h.key())).toMatchObject({
      status: 'unhealthy',
      missing: listed.length,
      newest_observation: null,
    })
  })
})
