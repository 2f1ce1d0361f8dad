import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { version } from '../../../../src/version.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

interface Limits {
  data: {
    tiers: { id: string; request_quota: { limit: number | null }; rate_limit: { limit: number } }[]
    rate_limits: { class: string; limit: number }[]
    constants: Record<string, number>
  }
}

interface Feed {
  name: string
  status: string
  last_observation_at: string | null
  expected_by: string | null
  codes?: number
  stale_codes?: number
}

interface Status {
  data: {
    status: string
    components: { name: string; status: string; checked_at: string; message: string | null }[]
    data: { with_data: number; stale: number; newest_observation: string | null }
    feeds: Feed[]
    outbox: object
  }
}

interface Facts {
  plans: { id: string }[]
  features: string[]
  commodities: { total: number; available: number }
}

const used = (response: Response) => Number(response.headers.get('x-ratelimit-used'))
const availableSeries = shippedCatalogue().series.filter(
  series => series.unavailableReason === null,
)

describe('GET /v1/meta/limits', () => {
  test('are those of the plans in force', async () => {
    const instance = openTestInstance()
    const body = await json<Limits>(instance.get('/v1/meta/limits'))
    expectShape(instance.app, '/v1/meta/limits', body)
    expect(body.data).toMatchObject({ schema_version: '2.0.0', updated_at: '2026-11-20T15:00:00Z' })
    const tiers = body.data.tiers
    expect(tiers.map(tier => tier.id)).toEqual([
      'free',
      'trial',
      'developer',
      'starter',
      'professional',
      'scale',
      'enterprise',
    ])
    expect(tiers[0]).toMatchObject({
      tier_name: 'Free',
      request_quota: { limit: 50, window: 'daily_counter', period: 'day' },
      rate_limit: { limit: 60, window_seconds: 60 },
      api_keys: 5,
      addons: ['sms'],
    })
    expect(tiers[5]).toMatchObject({
      tier_name: 'Scale',
      request_quota: { limit: 1_000_000 },
      scheduled_deliveries: null,
    })
    expect(body.data.rate_limits.map(limit => [limit.class, limit.limit])).toEqual([
      ['authenticated', 60],
      ['unauthenticated', 10],
      ['over_quota', 5],
      ['marine', 30],
      ['marine_historical', 5],
      ['demo', 20],
    ])
    expect(body.data.constants).toEqual({
      max_codes_per_request: 20,
      delivery_codes_max: 25,
      delivery_name_max: 120,
      manual_send_cooldown_seconds: 600,
      dispatch_interval_seconds: 900,
      key_name_max: 100,
      windowed_per_page_max: 100,
      alerts_history_per_page_max: 100,
      futures_max_age_hours: 96,
      futures_ohlc_days_max: 1825,
      webhook_retries: 5,
      webhook_deactivate_after: 10,
    })
  })

  test('are those that the operator set', async () => {
    const instance = openTestInstance({
      'limits.per_minute': '600',
      'limits.unauthenticated_per_minute': '77',
      'demo.limit_per_hour': '3',
    })
    const { data } = await json<Limits>(instance.get('/v1/meta/limits'))
    const limits = new Map(data.rate_limits.map(limit => [limit.class, limit.limit]))
    expect([
      limits.get('authenticated'),
      limits.get('unauthenticated'),
      limits.get('demo'),
    ]).toEqual([600, 77, 3])
    expect(data.tiers[0]!.rate_limit.limit).toBe(600)
  })

  test('without any are null', async () => {
    const instance = openTestInstance({ plans: 'unlimited' })
    const body = await json<Limits>(instance.get('/v1/meta/limits'))
    expectShape(instance.app, '/v1/meta/limits', body)
    expect(body.data.tiers[0]!.request_quota.limit).toBeNull()
  })

  test('are the same text at both addresses, and 304 for who has it', async () => {
    const instance = openTestInstance()
    const [answer, otherAnswer] = [
      await instance.get('/v1/meta/limits'),
      await instance.get('/limits.json'),
    ]
    const etag = answer.headers.get('etag')!
    expect(etag).toMatch(/^"[^"]+"$/)
    expect(otherAnswer.headers.get('etag')).toBe(etag)
    expect(await answer.text()).toBe(await otherAnswer.text())
    instance.clock.advance(hourMs)
    for (const path of ['/v1/meta/limits', '/limits.json']) {
      const again = await instance.get(path, undefined, { 'if-none-match': etag })
      expect({ status: again.status, text: await again.text() }).toEqual({ status: 304, text: '' })
    }
  })

  test('can be asked for ten times a minute from one address', async () => {
    const instance = openTestInstance()
    for (let i = 0; i < 10; i++)
      expect((await instance.get(i % 2 ? '/limits.json' : '/v1/meta/limits')).status).toBe(200)
    const refused = await instance.get('/v1/meta/limits')
    expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({
      status: 429,
      retryAfter: '60',
    })
  })
})

describe('GET /v1/health', () => {
  test('GET /v1/health returns that the service is up, since when and in which version', async () => {
    const instance = openTestInstance()
    instance.clock.advance(90_500)
    for (const path of ['/v1/health', '/health']) {
      const response = await instance.get(path)
      const body = await json<object>(response)
      expectShape(instance.app, path, body)
      expect({ status: response.status, body }).toEqual({
        status: 200,
        body: { status: 'ok', version, uptime_seconds: 90, timestamp: '2026-11-20T15:01:30.500Z' },
      })
      expect(response.headers.get('cache-control')).toBe('no-store')
    }
  })

  test('is 503 when the database does not answer', async () => {
    const instance = openTestInstance()
    instance.services.db.close()
    for (const path of ['/v1/health', '/health']) {
      const response = await instance.get(path)
      const body = await json<{ status: string }>(response)
      expectShape(instance.app, path, body, 503)
      expect({ response: response.status, body: body.status }).toEqual({
        response: 503,
        body: 'unavailable',
      })
    }
  })

  test('may be asked by probes as often as they like', async () => {
    const instance = openTestInstance()
    for (let i = 0; i < 100; i++) expect((await instance.get('/health')).status).toBe(200)
    for (let i = 0; i < 10; i++) await instance.get('/v1/health')
    expect((await instance.get('/v1/health')).status).toBe(429)
    expect((await instance.get('/health')).status).toBe(200)
  })
})

describe('GET /v1/status', () => {
  const ask = async (instance: TestInstance, key = instance.key()) => {
    const response = await instance.get('/v1/status', key)
    expect(response.status).toBe(200)
    expect(used(response)).toBe(0)
    const body = await json<Status>(response)
    expectShape(instance.app, '/v1/status', body)
    return body.data
  }
  const statusOf = (data: Status['data'], name: string) =>
    data.components.find(component => component.name === name)?.status
  const feedOf = (data: Status['data'], name: string) =>
    data.feeds.find(feed => feed.name === name)!

  test('GET /v1/status lists every component and reports those that the instance lacks as disabled', async () => {
    const instance = openTestInstance()
    instance.record('WTI_USD', [70], startAt, 1)
    const data = await ask(instance)
    expect(data).toMatchObject({
      status: 'operational',
      version,
      timestamp: '2026-11-20T15:00:00Z',
    })
    expect(data.components.map(component => component.name)).toEqual([
      'api',
      'database',
      'ingest',
      'scheduler',
      'webhooks',
      'email',
      'sms',
    ])
    for (const name of ['api', 'database', 'ingest'])
      expect(statusOf(data, name), name).toBe('operational')
    for (const component of data.components)
      expect(component.checked_at).toBe('2026-11-20T15:00:00Z')
    expect(data.outbox).toEqual({ pending: 0, oldest_pending_seconds: null })
  })

  test('has a feed for each source and category of the catalogue, with its newest observation', async () => {
    const instance = openTestInstance()
    instance.record('WTI_USD', [70, 71], startAt - hourMs, dayMs)
    instance.record('BRENT_CRUDE_USD', [75], startAt - 2 * hourMs, dayMs)
    instance.record('CUSHING_STORAGE', [25], parseInstant('2026-11-18T12:00:00Z')!, dayMs)
    const data = await ask(instance)
    const names = new Set(availableSeries.map(series => `${series.source}/${series.category}`))
    expect(data.feeds.map(feed => feed.name)).toEqual([...names].sort())
    expect(feedOf(data, 'market_reporting/crude_oil')).toMatchObject({
      status: 'current',
      last_observation_at: '2026-11-20T14:00:00Z',
    })
    expect(feedOf(data, 'EIA/storage')).toMatchObject({
      status: 'current',
      last_observation_at: '2026-11-18T12:00:00Z',
    })
    expect(feedOf(data, 'ECB/fx')).toEqual({
      name: 'ECB/fx',
      status: 'empty',
      last_observation_at: null,
      expected_by: null,
      codes: 0,
      stale_codes: 0,
    })
    expect<object>(data.data).toEqual({
      commodities: shippedCatalogue().series.length,
      with_data: 3,
      stale: 0,
      stopped: [],
      frozen: [],
      unit_breaks: [],
      newest_observation: '2026-11-20T14:00:00Z',
    })
  })

  test('names the publisher of pushed prices, and not the source that the catalogue expects', async () => {
    const instance = openTestInstance()
    const admin = { authorization: `Bearer ${instance.services.adminTokens.rotate()}` }
    const observed_at = isoInstant(startAt - hourMs)
    const pushed = await instance.send(
      'POST',
      '/admin/v1/observations',
      { source: 'Desk', observations: [{ code: 'WTI_USD', observed_at, price: 70 }] },
      undefined,
      admin,
    )
    expect(pushed.status).toBe(200)
    const data = await ask(instance)
    expect(feedOf(data, 'Desk/crude_oil')).toMatchObject({ status: 'current', codes: 1 })
    expect(feedOf(data, 'market_reporting/crude_oil')).toMatchObject({ status: 'empty' })
  })

  test('turns when a feed is past the time at which it was expected', async () => {
    const instance = openTestInstance()
    instance.record('USD_KZT', [520], startAt - hourMs, dayMs)
    const key = instance.key()
    const name = 'market_reporting/fx'
    const expectedBy = parseInstant(feedOf(await ask(instance, key), name).expected_by!)!
    instance.clock.set(expectedBy)
    expect(feedOf(await ask(instance, key), name)).toMatchObject({ status: 'current' })
    instance.clock.set(expectedBy + 1)
    const late = await ask(instance, key)
    expect(feedOf(late, name)).not.toMatchObject({ status: 'current' })
    instance.clock.advance(30 * dayMs)
    const stopped = await ask(instance, key)
    expect(feedOf(stopped, name)).toMatchObject({ status: 'stale' })
    expect([stopped.status, statusOf(stopped, 'ingest'), stopped.data.stale]).toEqual([
      'degraded',
      'down',
      1,
    ])
  })

  test('GET /v1/status reports a stopped daily feed as stale even if a weekly feed continues', async () => {
    const instance = openTestInstance()
    instance.record('GOLD_USD', [2000], startAt - 20 * dayMs, dayMs)
    const weekly = availableSeries.find(
      series => series.category === 'metals' && series.cadence === 'weekly',
    )!
    instance.record(weekly.code, [110], startAt - hourMs, dayMs)
    expect(feedOf(await ask(instance), 'market_reporting/metals')).toMatchObject({
      status: 'stale',
      last_observation_at: '2026-11-20T14:00:00Z',
    })
  })

  test('is operational while there is nothing', async () => {
    const data = await ask(openTestInstance())
    expect([
      data.status,
      statusOf(data, 'ingest'),
      data.data.with_data,
      data.data.newest_observation,
    ]).toEqual(['operational', 'operational', 0, null])
  })

  test('GET /v1/status is refused without a key', async () => {
    expect((await openTestInstance().get('/v1/status')).status).toBe(401)
  })
})

describe('GET /v1/webhook-ips', () => {
  test('is what the operator set, addresses apart', async () => {
    const instance = openTestInstance({
      'webhooks.source_ranges': '198.51.100.0/24,203.0.113.7,2001:db8::7,2001:db8::/32',
    })
    const response = await instance.get('/v1/webhook-ips', instance.key())
    const body = await json<{ data: object }>(response)
    expectShape(instance.app, '/v1/webhook-ips', body)
    expect(body.data).toEqual({
      ip_ranges: ['198.51.100.0/24', '203.0.113.7/32', '2001:db8::7/128', '2001:db8::/32'],
      ips: ['203.0.113.7', '2001:db8::7'],
      updated_at: '2026-11-20T15:00:00Z',
    })
    expect(used(response)).toBe(0)
  })

  test('is empty where nothing is set', async () => {
    const instance = openTestInstance()
    expect(
      (await json<{ data: object }>(instance.get('/v1/webhook-ips', instance.key()))).data,
    ).toMatchObject({
      ip_ranges: [],
      ips: [],
    })
    expect((await instance.get('/v1/webhook-ips')).status).toBe(401)
  })
})

test('the facts name plans, features and the size of the catalogue, and follow it', async () => {
  const instance = openTestInstance({ 'brand.service_name': 'Desk prices' })
  const body = await json<Facts>(instance.get('/product-facts.json'))
  expectShape(instance.app, '/product-facts.json', body)
  expect(body).toMatchObject({
    schema_version: '2.0.0',
    name: 'Desk prices',
    version,
    commodities: { available: 0 },
  })
  expect(body.commodities.total).toBe(shippedCatalogue().series.length)
  const { tiers } = (await json<Limits>(instance.get('/v1/meta/limits'))).data
  expect(body.plans).toMatchObject(tiers)
  expect(body.plans.find(({ id }) => id === 'professional')).toMatchObject({
    price_monthly: 9900,
    price_yearly: 118_800,
    currency: 'USD',
    custom_pricing: false,
  })
  expect(body.features).toContain('energy_intelligence')
  const etag = (await instance.get('/product-facts.json')).headers.get('etag')!
  expect(
    (await instance.get('/product-facts.json', undefined, { 'if-none-match': etag })).status,
  ).toBe(304)
  instance.record('WTI_USD', [70], startAt, 1)
  const after = await instance.get('/product-facts.json', undefined, { 'if-none-match': etag })
  expect((await json<Facts>(after)).commodities.available).toBe(1)
})
