import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoInstant } from '../../../../src/lib/time/instant.ts'
import {
  bodyOf,
  type FrontDoor,
  openFrontDoor,
  startAt,
} from '../../../support/instance/front-door.ts'

const jsonOf = async (door: FrontDoor, path: string, token: string) =>
  (await (await door.get(path, token)).json()) as Record<string, unknown>

test('the dashboard of an account shows what its quota has left and when it resets, for free', async () => {
  const door = openFrontDoor()
  const { token } = door.open('free')
  for (let i = 0; i < 3; i += 1) await door.get('/probe/counted', token)
  const shown = async () => (await jsonOf(door, '/v1/dashboard', token)).data
  const data = {
    account: { tier: 'free' },
    usage: {
      current_month: { used: 3, limit: 50, remaining: 47, reset_at: '2026-11-21T00:00:00Z' },
      account_this_month: 3,
    },
  }
  expect(await shown()).toMatchObject(data)
  expect(await shown()).toMatchObject(data)
})

describe('GET /v1/usage', () => {
  test('shows every window, the rate and the forecast, and is free', async () => {
    const door = openFrontDoor()
    const { token } = door.open('free')
    for (let i = 0; i < 10; i += 1) await door.get('/probe/counted', token)
    for (let i = 0; i < 2; i += 1) await door.get('/probe/marine', token)
    door.clock.advance(20_000)
    await door.get('/probe/marine-historical', token)
    const now = startAt + 20_000
    // 13 requests in the 15 hours since midnight continue at 20.8 a day.
    expect(await jsonOf(door, '/v1/usage', token)).toEqual({
      used: 13,
      limit: 50,
      remaining: 37,
      window: 'daily_counter',
      resets_at: '2026-11-21T00:00:00Z',
      state: 'free',
      windows: [
        { name: 'quota', limit: 50, used: 13, remaining: 37, resets_at: '2026-11-21T00:00:00Z' },
        { name: 'burst', limit: 60, used: 14, remaining: 46, resets_at: isoInstant(now + 60_000) },
        {
          name: 'marine',
          limit: 30,
          used: 2,
          remaining: 28,
          resets_at: isoInstant(startAt + 60_000),
        },
        {
          name: 'marine_historical',
          limit: 5,
          used: 1,
          remaining: 4,
          resets_at: isoInstant(now + 60_000),
        },
      ],
      burn_rate_per_day: 20.79,
      forecast: { used_at_reset: 21, exhausted_at: null },
    })
    expect((await jsonOf(door, '/v1/usage', token)).used).toBe(13)
  })

  test('the usage report forecasts when the quota runs out at the current rate', async () => {
    const door = openFrontDoor()
    const { token } = door.open('free')
    for (let i = 0; i < 40; i += 1) await door.get('/probe/counted', token)
    // 40 in 15 hours, so 10 more in 3 hours and 45 minutes.
    expect((await jsonOf(door, '/v1/usage', token)).forecast).toEqual({
      used_at_reset: 64,
      exhausted_at: '2026-11-20T18:45:00Z',
    })
  })

  test('of a used-up key shows its smaller window', async () => {
    const door = openFrontDoor()
    const { token } = door.open('free')
    for (let i = 0; i < 50; i += 1) await door.get('/probe/counted', token)
    const body = await jsonOf(door, '/v1/usage', token)
    expect(body).toMatchObject({
      used: 50,
      remaining: 0,
      state: 'exhausted',
      forecast: { exhausted_at: isoInstant(startAt) },
    })
    expect((body.windows as object[])[1]).toEqual({
      name: 'burst',
      limit: 5,
      used: 1,
      remaining: 4,
      resets_at: isoInstant(startAt + 60_000),
    })
  })

  test('the usage report of an instance without quotas shows no limit', async () => {
    const door = openFrontDoor({ flags: { plans: 'unlimited' } })
    const body = await jsonOf(door, '/v1/usage', door.open('free').token)
    expect(body).toMatchObject({ limit: null, remaining: null, forecast: { exhausted_at: null } })
  })
})

describe('GET /v1/users/me', () => {
  test.each(['/v1/users/me', '/users/me'])(
    '%s is the account behind the key, free and by the query parameter too',
    async path => {
      const door = openFrontDoor()
      const { token, account } = door.open('professional')
      await door.get('/probe/counted', token)
      const response = await door.get(`${path}?api_key=${token}`)
      expect(await bodyOf(response)).toEqual({
        id: account.account.id,
        email: 'person1@example.com',
        tier: 'professional',
        tier_name: 'Reservoir Mastery',
        plan: 'reservoir_mastery',
        reservoir_mastery: true,
        admin: false,
        requests_this_month: 1,
        request_limit: 100_000,
        email_confirmed: true,
        email_confirmed_at: isoInstant(startAt),
        webhook_limit: 25,
        webhook_events_limit: 250_000,
        trial_active: false,
        features: expect.arrayContaining(['webhooks', 'energy_intelligence']),
      } as never)
      expect(response.headers.get('x-ratelimit-used')).toBe('1')
    },
  )

  test.each([
    ['free', 'free', false],
    ['developer', 'exploration', false],
    ['starter', 'production', false],
    ['professional', 'reservoir_mastery', true],
    ['scale', 'reservoir_mastery', true],
    ['enterprise', 'reservoir_mastery', true],
  ])('on %s is on %s for earlier clients', async (plan, legacy, mastery) => {
    const door = openFrontDoor()
    expect(await jsonOf(door, '/v1/users/me', door.open(plan).token)).toMatchObject({
      tier: plan,
      plan: legacy,
      reservoir_mastery: mastery,
    })
  })

  test('in a trial is on the free plan', async () => {
    const door = openFrontDoor()
    const { token } = door.open('free', { trial: true, confirmed: false })
    expect(await jsonOf(door, '/v1/users/me', token)).toMatchObject({
      tier: 'free',
      tier_name: 'Free trial',
      plan: 'free',
      trial_active: true,
      email_confirmed: false,
      email_confirmed_at: null,
    })
  })
})

interface Performance {
  tier: string
  range: string
  overview: Record<string, unknown>
  dailyUsage: { date: string; requests: number; errors: number }[]
  hourlyDistribution: { hour: number; requests: number }[]
  endpointBreakdown: { endpoint: string; via: string; requests: number; percentage: number }[]
  geographicData: unknown[]
}

const performanceOf = async (door: FrontDoor, token: string, query = '') =>
  (await (await door.get(`/v1/analytics/performance${query}`, token)).json()) as Performance & {
    status: string
    data: Performance
  }

describe('GET /v1/analytics/performance', () => {
  test('adds up what the keys of the account asked, by day, hour and endpoint', async () => {
    const door = openFrontDoor()
    const { token, account } = door.open('free')
    const other = door.services.keys.addKey(account)
    const stranger = door.open('free')
    door.clock.set(Date.parse('2026-11-18T09:30:00Z'))
    for (let i = 0; i < 3; i += 1) await door.get('/probe/counted', token)
    door.clock.set(Date.parse('2026-11-20T09:10:00Z'))
    await door.get('/probe/free', other.token)
    await door.get('/probe/counted?answer=404', token)
    door.clock.set(Date.parse('2026-11-20T15:00:00Z'))
    await door.get('/probe/feature/analytics', token)
    await door.get('/probe/counted?answer=304', token)
    await door.get('/probe/counted', stranger.token)

    const { status, data, ...top } = await performanceOf(door, token, '?range=7d')
    expect(status).toBe('success')
    expect(top).toEqual(data)
    expect(data).toMatchObject({ tier: 'free', tier_name: 'Free', range: '7d', geographicData: [] })
    expect(data.overview).toEqual({
      totalRequests: 7,
      monthlyRequests: 7,
      dailyAverage: 1,
      peakDay: '2026-11-20',
      peakHour: 9,
      uniqueEndpoints: 3,
      errorRate: 28.57,
      avgResponseTime: 0,
    })
    expect(data.dailyUsage).toEqual([
      { date: '2026-11-14', requests: 0, errors: 0 },
      { date: '2026-11-15', requests: 0, errors: 0 },
      { date: '2026-11-16', requests: 0, errors: 0 },
      { date: '2026-11-17', requests: 0, errors: 0 },
      { date: '2026-11-18', requests: 3, errors: 0 },
      { date: '2026-11-19', requests: 0, errors: 0 },
      { date: '2026-11-20', requests: 4, errors: 2 },
    ])
    expect(data.hourlyDistribution).toHaveLength(24)
    expect(data.hourlyDistribution.filter(hour => hour.requests > 0)).toEqual([
      { hour: 9, requests: 5 },
      { hour: 15, requests: 2 },
    ])
    expect(data.endpointBreakdown).toEqual([
      { endpoint: '/probe/counted', via: 'api', requests: 5, percentage: 71.43 },
      { endpoint: '/probe/feature/analytics', via: 'api', requests: 1, percentage: 14.29 },
      { endpoint: '/probe/free', via: 'api', requests: 1, percentage: 14.29 },
    ])
  })

  test.each([
    ['', '30d', 30],
    ['?range=', '30d', 30],
    ['?range=7d', '7d', 7],
    ['?range=30d', '30d', 30],
    ['?range=90d', '90d', 90],
  ])('%s is %s, its first day included and the one before not', async (query, range, days) => {
    const door = openFrontDoor()
    const { token, key } = door.open('starter')
    const midnight = Date.parse('2026-11-20T00:00:00Z')
    for (const at of [midnight - (days - 1) * dayMs, midnight - (days - 1) * dayMs - hourMs]) {
      door.clock.set(at)
      door.services.meter.record(key, '/a', 200, true, 2)
    }
    door.clock.set(startAt)
    const { data } = await performanceOf(door, token, query)
    expect({
      range: data.range,
      length: data.dailyUsage.length,
      totalRequests: data.overview.totalRequests,
    }).toEqual({ range, length: days, totalRequests: 1 })
    expect(data.dailyUsage[0]).toMatchObject({ requests: 1 })
    expect(data.overview.avgResponseTime).toBe(2)
  })

  test('counts the month apart from the range', async () => {
    const door = openFrontDoor()
    const { token, key } = door.open('starter')
    for (const at of ['2026-10-31T23:00:00Z', '2026-11-01T00:00:00Z', '2026-11-20T14:00:00Z']) {
      door.clock.set(Date.parse(at))
      door.services.meter.record(key, '/a', 200, true, 1)
    }
    door.clock.set(startAt)
    expect((await performanceOf(door, token, '?range=7d')).overview).toMatchObject({
      totalRequests: 1,
      monthlyRequests: 2,
    })
    expect((await performanceOf(door, token, '?range=30d')).overview).toMatchObject({
      totalRequests: 4,
      monthlyRequests: 3,
    })
  })

  test('of an account that asked nothing has no peak', async () => {
    const door = openFrontDoor()
    const { overview, endpointBreakdown } = await performanceOf(door, door.open('free').token)
    expect(overview).toEqual({
      totalRequests: 0,
      monthlyRequests: 0,
      dailyAverage: 0,
      peakDay: null,
      peakHour: null,
      uniqueEndpoints: 0,
      errorRate: 0,
      avgResponseTime: 0,
    })
    expect(endpointBreakdown).toEqual([])
  })

  test('names the twenty endpoints asked most', async () => {
    const door = openFrontDoor()
    const { token, key } = door.open('starter')
    for (let i = 0; i < 25; i += 1)
      for (let n = 0; n <= i; n += 1) door.services.meter.record(key, `/${i}`, 200, true, 1)
    const { endpointBreakdown, overview } = await performanceOf(door, token)
    expect({
      endpointBreakdown: endpointBreakdown.length,
      first: endpointBreakdown[0],
      uniqueEndpoints: overview.uniqueEndpoints,
    }).toEqual({
      endpointBreakdown: 20,
      first: { endpoint: '/24', via: 'api', requests: 25, percentage: 7.69 },
      uniqueEndpoints: 25,
    })
  })

  test('refuses another range and names the ones there are', async () => {
    const door = openFrontDoor()
    const response = await door.get('/v1/analytics/performance?range=14d', door.open('free').token)
    expect(response.status).toBe(400)
    expect((await response.json()) as object).toMatchObject({
      error: {
        code: 'INVALID_PARAMETER',
        parameter: 'range',
        value: '14d',
        allowed: ['7d', '30d', '90d'],
      },
    })
  })
})
