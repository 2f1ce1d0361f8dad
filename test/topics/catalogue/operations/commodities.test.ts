import { describe, expect, test } from 'bun:test'
import type { Commodity } from '../../../../src/http/operations/commodities/row.ts'
import { dayMs, hourMs, isoDay, parseDay } from '../../../../src/lib/time/instant.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import type { FedBy } from '../../../../src/topics/catalogue/math/catalogue.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

const shipped = shippedCatalogue()
const unlimited = { 'limits.per_minute': '1000000' }
interface List {
  status: string
  data: Commodity[]
  meta: { total: number; include_unavailable: boolean }
}

interface Categories {
  data: Record<string, { name: string; count: number; commodities: Commodity[] }>
}

interface CommodityBody {
  data: Commodity & {
    requested_code?: string
    instrument_disclosure?: { settlement_basis: string }
    freshness: { as_of: string | null; data_status: string; stale: boolean; max_age_hours: number }
  }
}

interface Refusal {
  message: string
  error: {
    message: string
    docs_url: string
    parameter?: string
    allowed: string[]
    suggestions: string[]
  }
}

/** The attributes that a source gives the series that it fills. */
const dailyFeed: FedBy = {
  publisher: { name: 'Desk', text: 'By the desk.', licenseClass: 'open' },
  cadence: 'daily',
  releaseLagDays: 1,
}

const used = (response: Response) => Number(response.headers.get('x-ratelimit-used'))

/** Newest values at `startAt` for some of the codes. */
function filled(instance: TestInstance, ...codes: string[]): TestInstance {
  for (const code of codes) instance.record(code, [70, 71, 72], startAt - hourMs, dayMs)
  return instance
}

describe('GET /v1/commodities', () => {
  test('GET /v1/commodities lists the codes with data in code order and returns their number', async () => {
    const instance = filled(openTestInstance(), 'WTI_USD', 'BRENT_CRUDE_USD', 'EUR_USD')
    const body = await json<List>(instance.get('/v1/commodities', instance.key()))
    expectShape(instance.app, '/v1/commodities', body)
    expect(body.status).toBe('success')
    expect(body.data.map(commodity => commodity.code)).toEqual([
      'BRENT_CRUDE_USD',
      'EUR_USD',
      'WTI_USD',
    ])
    expect(body.meta).toEqual({ total: 3, include_unavailable: false })
  })

  test('describes a code in full', async () => {
    const instance = filled(openTestInstance(), 'WTI_USD')
    const body = await json<List>(instance.get('/v1/commodities', instance.key()))
    expect(body.data[0]).toMatchObject({
      code: 'WTI_USD',
      name: 'WTI Crude Oil',
      category: 'crude_oil',
      category_name: 'Crude Oil',
      currency: 'USD',
      unit: 'barrel',
      unit_description: 'Per barrel (42 US gallons)',
      decimals: 2,
      type: 'spot_price',
      source: 'market_reporting',
      data_source: 'market_reporting',
      has_data: true,
      available: true,
      active: true,
      free_tier: true,
      multiplier: 100,
      validation: { min: -1000 },
      price_change_threshold: 10,
      first_observation: '2026-11-18',
      last_observation: '2026-11-20T14:00:00Z',
    })
    expect(body.data[0]!.aliases).toContain('WTI_CRUDE')
    expect(body.data[0]).not.toHaveProperty('unavailable_reason')
  })

  test('has every code of the catalogue when asked, each without data with its reason and no other', async () => {
    const instance = filled(openTestInstance(), 'WTI_USD')
    const body = await json<List>(
      instance.get('/v1/commodities?include_unavailable=true', instance.key()),
    )
    expectShape(instance.app, '/v1/commodities', body)
    const codes = body.data.map(commodity => commodity.code)
    expect(codes).toEqual(shipped.series.map(series => series.code).sort())
    expect(body.meta).toEqual({ total: shipped.series.length, include_unavailable: true })
    const reasons = new Map(
      body.data.map(commodity => [commodity.code, commodity.unavailable_reason]),
    )
    expect(reasons.get('WTI_USD')).toBeUndefined()
    expect(reasons.get('BOSCAN_USD')).toBe('no_source')
    expect(reasons.get('IRAN_HEAVY_USD')).toBe('discontinued')
    expect(reasons.get('GOLD_USD')).toBe('no_observations')
    for (const commodity of body.data)
      expect(commodity.has_data).toBe(commodity.unavailable_reason === undefined)
    const boscan = body.data.find(commodity => commodity.code === 'BOSCAN_USD')
    expect(boscan).toMatchObject({
      active: false,
      description: 'Very heavy Venezuelan grade',
      first_observation: null,
      last_observation: null,
    })
  })

  test('GET /v1/commodities returns a currency only for monetary values', async () => {
    const instance = openTestInstance()
    const body = await json<List>(
      instance.get('/v1/commodities?include_unavailable=1', instance.key()),
    )
    const currencies = new Map(body.data.map(commodity => [commodity.code, commodity.currency]))
    expect(currencies.get('US_RIG_COUNT')).toBeNull()
    expect(currencies.get('CUSHING_STORAGE')).toBeNull()
    expect(currencies.get('NATURAL_GAS_GBP')).toBe('GBP')
  })

  test.each([
    ['category=fx', ['EUR_USD']],
    ['category=FX&include_unavailable=false', ['EUR_USD']],
    ['category=crude_oil', ['BRENT_CRUDE_USD', 'WTI_USD']],
    ['q=brent', ['BRENT_CRUDE_USD']],
    ['q=crude%20oil', ['BRENT_CRUDE_USD', 'WTI_USD']],
    ['q=eurusd', ['EUR_USD']],
    ['q=usd&category=fx', ['EUR_USD']],
    ['q=', ['BRENT_CRUDE_USD', 'EUR_USD', 'WTI_USD']],
    ['q=nothing-like-it', []],
    ['category=', ['BRENT_CRUDE_USD', 'EUR_USD', 'WTI_USD']],
  ])('is narrowed by %s', async (query, codes) => {
    const instance = filled(openTestInstance(), 'WTI_USD', 'BRENT_CRUDE_USD', 'EUR_USD')
    const body = await json<List>(instance.get(`/v1/commodities?${query}`, instance.key()))
    expect(body.data.map(commodity => commodity.code)).toEqual(codes)
    expect(body.meta.total).toBe(codes.length)
  })

  test('GET /v1/commodities refuses an invalid parameter and names the accepted values', async () => {
    const instance = openTestInstance()
    const key = instance.key()
    const category = await instance.get('/v1/commodities?category=cheese', key)
    expect(category.status).toBe(400)
    const { error } = await json<Refusal>(category)
    expect(error).toMatchObject({
      code: 'INVALID_PARAMETER',
      parameter: 'category',
      value: 'cheese',
    })
    expect(error.allowed).toContain('crude_oil')
    const flag = await instance.get('/v1/commodities?include_unavailable=perhaps', key)
    expect(flag.status).toBe(400)
    expect((await json<Refusal>(flag)).error.parameter).toBe('include_unavailable')
  })

  test('is written once for many, and again when the data moved', async () => {
    const instance = filled(openTestInstance(), 'WTI_USD')
    const key = instance.key()
    const first = await instance.get('/v1/commodities', key)
    const second = await instance.get('/v1/commodities', key)
    expect(first.headers.get('x-cache')).toBe('MISS')
    expect(second.headers.get('x-cache')).toBe('HIT')
    expect(second.headers.get('etag')).toBe(first.headers.get('etag')!)
    instance.record('GOLD_USD', [2000], startAt, 1)
    const third = await instance.get('/v1/commodities', key)
    expect(third.headers.get('x-cache')).toBe('MISS')
    expect(third.headers.get('etag')).not.toBe(first.headers.get('etag'))
    expect((await json<List>(third)).data.map(commodity => commodity.code)).toEqual([
      'GOLD_USD',
      'WTI_USD',
    ])
  })

  test('has the cadence of the feed that fills a code, also where it brings no newer value', async () => {
    const { services, get, key, record } = openTestInstance()
    record('WTI_USD', [70], startAt, 1)
    const cadence = async () =>
      (await json<List>(get('/v1/commodities', key()))).data.find(row => row.code === 'WTI_USD')!
        .cadence
    expect(await cadence()).toBe('intraday_5m')
    services.catalogue.attribute(services.catalogue.named('WTI_USD')!.id, dailyFeed)
    expect(await cadence()).toBe('daily')
  })

  test('is 304 for who has it, which does not count', async () => {
    const instance = filled(openTestInstance(), 'WTI_USD')
    const key = instance.key()
    const first = await instance.get('/v1/commodities', key)
    const etag = first.headers.get('etag')!
    expect(etag).toMatch(/^"[^"]+"$/)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    expect(used(first)).toBe(1)
    const again = await instance.get('/v1/commodities', key, { 'if-none-match': etag })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
    expect(used(again)).toBe(1)
    instance.record('WTI_USD', [73], startAt, 1)
    const moved = await instance.get('/v1/commodities', key, { 'if-none-match': etag })
    expect(moved.status).toBe(200)
    expect(used(moved)).toBe(2)
    expect((await json<List>(moved)).data[0]!.last_observation).toBe('2026-11-20T15:00:00Z')
  })

  test('reaches as far as the days outside quarantine', async () => {
    const instance = filled(openTestInstance(unlimited), 'WTI_USD')
    const key = instance.key()
    const reach = async () => {
      const body = await json<List>(
        instance.get('/v1/commodities?include_unavailable=true&category=crude_oil', key),
      )
      const wti = body.data.find(commodity => commodity.code === 'WTI_USD')!
      return [wti.has_data, wti.unavailable_reason, wti.first_observation, wti.last_observation]
    }
    const { quarantine, catalogue } = instance.services
    const seriesId = catalogue.named('WTI_USD')!.id
    const range = (fromOn: string, toOn: string) => ({
      seriesId,
      fromOn,
      toOn,
      reason: 'feed fault',
      createdAt: startAt,
    })
    expect(await reach()).toEqual([true, undefined, '2026-11-18', '2026-11-20T14:00:00Z'])
    const newest = quarantine.add(range('2026-11-20', '2026-11-20'))
    expect(await reach()).toEqual([true, undefined, '2026-11-18', '2026-11-19T14:00:00Z'])
    const oldest = quarantine.add(range('2026-11-01', '2026-11-18'))
    expect(await reach()).toEqual([true, undefined, '2026-11-19', '2026-11-19T14:00:00Z'])
    quarantine.add(range('2026-11-19', '2026-11-19'))
    expect(await reach()).toEqual([false, 'no_observations', null, null])
    quarantine.remove(newest.id)
    quarantine.remove(oldest.id)
    expect(await reach()).toEqual([true, undefined, '2026-11-18', '2026-11-20T14:00:00Z'])
  })

  test('GET /v1/commodities reports that it is based on fixture data where it is', async () => {
    const instance = filled(openTestInstance(), 'WTI_USD')
    const key = instance.key()
    expect((await instance.get('/v1/commodities', key)).headers.get('x-service-data')).toBeNull()
    instance.services.series.markFixture([instance.services.catalogue.named('WTI_USD')!.id])
    instance.services.catalogue.reload()
    expect((await instance.get('/v1/commodities', key)).headers.get('x-service-data')).toBe(
      'fixture',
    )
    expect((await instance.get('/v1/commodities/wti_usd', key)).headers.get('x-service-data')).toBe(
      'fixture',
    )
    expect(
      (await instance.get('/v1/commodities/gold_usd', key)).headers.get('x-service-data'),
    ).toBeNull()
  })

  test('is for keys only', async () => {
    const instance = openTestInstance()
    for (const path of [
      '/v1/commodities',
      '/v1/commodities/categories',
      '/v1/commodities/codes',
      '/v1/commodities/WTI_USD',
    ]) {
      expect((await instance.get(path)).status, path).toBe(401)
    }
  })
})

describe('GET /v1/commodities/categories', () => {
  test('hold every listed code once, under names that people use', async () => {
    const instance = filled(
      openTestInstance(),
      'WTI_USD',
      'EUR_USD',
      'JKM_LNG_USD',
      'PROPANE_USD',
      'GASOLINE_USD',
    )
    const key = instance.key()
    const body = await json<Categories>(instance.get('/v1/commodities/categories', key))
    expectShape(instance.app, '/v1/commodities/categories', body)
    const names = Object.fromEntries(
      Object.entries(body.data as Record<string, { name: string }>).map(([category, group]) => [
        category,
        group.name,
      ]),
    )
    expect(names).toEqual({
      crude_oil: 'Crude Oil',
      fx: 'FX',
      lng: 'LNG',
      ngl: 'NGL',
      refined_products: 'Refined Products',
    })
    const all = await json<Categories>(
      instance.get('/v1/commodities/categories?include_unavailable=yes', key),
    )
    const groups = Object.values(
      all.data as Record<string, { count: number; commodities: { code: string }[] }>,
    )
    for (const group of groups) expect(group.count).toBe(group.commodities.length)
    const codes = groups.flatMap(group => group.commodities.map(commodity => commodity.code))
    expect(codes.sort()).toEqual(shipped.series.map(series => series.code).sort())
  })

  test('are 304 for who has them', async () => {
    const instance = filled(openTestInstance(), 'WTI_USD')
    const key = instance.key()
    const etag = (await instance.get('/v1/commodities/categories', key)).headers.get('etag')!
    expect(
      (await instance.get('/v1/commodities/categories', key, { 'if-none-match': etag })).status,
    ).toBe(304)
  })
})

test('the address that refusals name for all codes leads to the list, and does not count', async () => {
  const instance = openTestInstance()
  const response = await instance.get('/v1/commodities/codes', instance.key())
  expect(response.status).toBe(302)
  expect(response.headers.get('location')).toBe('/v1/commodities')
  expect(await response.text()).toBe('')
  expect(used(response)).toBe(0)
})

describe('GET /v1/commodities/:code', () => {
  test('answers by every code and every alias, under the code itself', async () => {
    const instance = openTestInstance(unlimited)
    const key = instance.key()
    const wrong: string[] = []
    for (const { code, category, unavailableReason } of shipped.series) {
      const body = await json<CommodityBody>(instance.get(`/v1/commodities/${code}`, key))
      const { data } = body
      const reason = unavailableReason ?? 'no_observations'
      if (
        data?.code !== code ||
        data.category !== category ||
        data.unavailable_reason !== reason ||
        'requested_code' in data
      )
        wrong.push(code)
    }
    for (const { alias, code } of shipped.aliases) {
      const { data } = await json<CommodityBody>(
        instance.get(`/v1/commodities/${alias.toLowerCase()}`, key),
      )
      if (data?.code !== code || data.requested_code !== alias) wrong.push(alias)
    }
    expect(wrong).toEqual([])
  })

  test('GET /v1/commodities/:code returns how fresh the code is and contains no price', async () => {
    const instance = filled(openTestInstance(unlimited), 'WTI_USD')
    const key = instance.key()
    const ask = async () => {
      const body = await json<CommodityBody>(instance.get('/v1/commodities/WTI_USD', key))
      expectShape(instance.app, '/v1/commodities/:code', body)
      expect(Object.keys(body.data)).not.toContainAnyValues(['price', 'prices'])
      return body.data.freshness
    }
    const fresh = await ask()
    expect(fresh).toMatchObject({
      as_of: '2026-11-20T14:00:00Z',
      data_status: 'current',
      stale: false,
    })
    instance.clock.advance(fresh.max_age_hours * hourMs)
    expect(await ask()).toMatchObject({
      as_of: '2026-11-20T14:00:00Z',
      data_status: 'stale',
      stale: true,
    })
    const empty = await json<CommodityBody>(instance.get('/v1/commodities/GOLD_USD', key))
    expectShape(instance.app, '/v1/commodities/:code', empty)
    expect(empty.data.freshness).toMatchObject({ as_of: null, data_status: 'empty', stale: false })
  })

  test.each(['SINGAPORE_JET_KEROSENE_USD', 'SINGAPORE_MOGAS_92_USD'])(
    '%s is disclosed as a swap, with its contract month',
    async code => {
      const instance = openTestInstance()
      instance.record(code, [90], parseDay('2026-10-30')!, dayMs)
      const { data } = await json<CommodityBody>(
        instance.get(`/v1/commodities/${code}`, instance.key()),
      )
      expect(data.instrument_disclosure).toMatchObject({
        code,
        instrument_type: 'calendar_month_average_swap',
        contract_month: '2026-10',
      })
      expect(data.instrument_disclosure!.settlement_basis).toBeString()
    },
  )

  test('a code other than a swap has no disclosure', async () => {
    const instance = openTestInstance()
    const { data } = await json<CommodityBody>(
      instance.get('/v1/commodities/JET_FUEL_USD', instance.key()),
    )
    expect(data).not.toHaveProperty('instrument_disclosure')
  })

  test('of a futures family is the family, whichever contract answers for its price', async () => {
    const at = Date.parse('2026-12-01T15:00:00Z')
    const instance = openTestInstance({}, at)
    const key = instance.key()
    instance.record('UKA_FUTURES', [60, 61], at - hourMs, dayMs)
    const { data } = await json<CommodityBody>(instance.get('/v1/commodities/UKA_FUTURES', key))
    expect(data).toMatchObject({
      code: 'UKA_FUTURES',
      category: 'futures',
      type: 'futures_price',
      currency: 'GBP',
      has_data: true,
    })
    expect(data).not.toHaveProperty('requested_code')
    const latest = await json<{ data: object }>(
      instance.get('/v1/prices/latest?by_code=uka_futures', key),
    )
    expect(latest.data).toMatchObject({
      code: 'UKA_FUTURES_2026_12',
      requested_code: 'UKA_FUTURES',
      price: 61,
    })
  })

  test('that is unknown is refused in the shape of the catalogue, with what may have been meant', async () => {
    const instance = openTestInstance()
    const response = await instance.get('/v1/commodities/gasolne_usd', instance.key(), {
      'x-request-id': 'abc',
    })
    expect(response.status).toBe(404)
    expect(response.headers.get('x-error-code')).toBe('COMMODITY_NOT_FOUND')
    const body = await json<Refusal>(response)
    expectShape(instance.app, '/v1/commodities/:code', body, 404)
    expect(body).toMatchObject({
      status: 'fail',
      code: 'COMMODITY_NOT_FOUND',
      error: {
        code: 'COMMODITY_NOT_FOUND',
        status: 404,
        commodity_code: 'GASOLNE_USD',
        request_id: 'abc',
      },
    })
    expect(body.error.message).toBe(body.message)
    expect(body.error.docs_url).toEndWith('#COMMODITY_NOT_FOUND')
    expect(body.error.suggestions[0]).toBe('GASOLINE_USD')
    expect(used(response)).toBe(0)
  })

  test.each(['%00', '%zz', '%F0%9F%9B%A2', 'x'.repeat(5000), '..%2f..', '%20'])(
    '%p is refused as a code without an internal error',
    async text => {
      const instance = openTestInstance()
      const response = await instance.get(`/v1/commodities/${text}`, instance.key())
      expect([400, 404]).toContain(response.status)
    },
  )

  test('is 304 for who has it until its price moves', async () => {
    const instance = filled(openTestInstance(), 'WTI_USD')
    const key = instance.key()
    const first = await instance.get('/v1/commodities/WTI_USD', key)
    const etag = first.headers.get('etag')!
    const again = await instance.get('/v1/commodities/WTI_USD', key, { 'if-none-match': etag })
    expect({ status: again.status, used: used(again) }).toEqual({ status: 304, used: 1 })
    instance.record('WTI_USD', [73], startAt, 1)
    expect(
      (await instance.get('/v1/commodities/WTI_USD', key, { 'if-none-match': etag })).status,
    ).toBe(200)
  })

  test('reaches back to the first day of its history', async () => {
    const instance = openTestInstance()
    const firstAt = parseDay('2002-08-23')!
    instance.record('DIESEL_LIST_STANDARD_DKK', [7.42, 7.41], firstAt + dayMs, dayMs)
    const { data } = await json<CommodityBody>(
      instance.get('/v1/commodities/DIESEL_LIST_STANDARD_DKK', instance.key()),
    )
    expect(data).toMatchObject({
      first_observation: isoDay(firstAt),
      currency: 'DKK',
      type: 'list_price',
      decimals: 2,
    })
  })
})
