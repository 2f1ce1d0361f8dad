import { describe, expect, test } from 'bun:test'
import { isoInstant } from '../../../../src/lib/time/instant.ts'
import { type FrontDoor, openFrontDoor, startAt } from '../../../support/instance/front-door.ts'

interface Body {
  account: Record<string, unknown>
  api_keys: { id: string; usage: { requests_used: number; request_limit: number | null } }[]
  docs: string
  docs_url: string
  data: {
    plan: string
    plan_name: string
    subscription_status: string
    cancel_at_period_end: boolean
    quota: Record<string, unknown>
    features: string[]
    addons: string[]
    limits: Record<string, unknown>
  }
}

const accountOf = async (door: FrontDoor, token: string): Promise<Body> =>
  (await (await door.get('/v1/account', token)).json()) as Body

describe('GET /v1/account', () => {
  test('has one shape at the top and the other under data', async () => {
    const door = openFrontDoor()
    const { token, key } = door.open('starter', { addOns: ['futures_data'] })
    for (let i = 0; i < 3; i += 1) await door.get('/probe/counted', token)
    const body = await accountOf(door, token)
    expect(body.account).toEqual({
      email: 'person1@example.com',
      tier: 'starter',
      tier_name: 'Production Boost',
      plan: 'starter',
      request_limit: 50_000,
      usage_this_month: 3,
      trial_active: false,
      trial_ends_at: null,
      email_confirmed: true,
      created_at: isoInstant(startAt),
    })
    expect(body.api_keys.map(key => [key.id, key.usage])).toEqual([
      [key.key.id, { requests_used: 3, request_limit: 50_000 }],
    ])
    expect({ docs: body.docs, docs_url: body.docs_url }).toEqual({
      docs: 'http://localhost/docs',
      docs_url: 'http://localhost/docs',
    })
    expect(body.data).toEqual({
      plan: 'starter',
      plan_name: 'Starter',
      subscription_status: 'active',
      cancel_at_period_end: false,
      quota: {
        limit: 50_000,
        used: 3,
        remaining: 49_997,
        window: 'monthly_counter',
        resets_at: '2026-12-01T00:00:00Z',
        state: 'paid_active',
        percent_used: 0.01,
        scope: 'key',
      },
      features: ['calculated_metrics', 'analytics', 'analytics_alerts', 'futures', 'bulk_export'],
      addons: ['futures_data'],
      limits: {
        id: 'starter',
        name: 'Starter',
        tier_name: 'Production Boost',
        request_quota: {
          limit: 50_000,
          window: 'monthly_counter',
          period: 'month',
          resets: 'on the 1st of each month at 00:00 UTC',
        },
        rate_limit: { limit: 60, window_seconds: 60 },
        scheduled_deliveries: 10,
        api_keys: 5,
        webhooks: { endpoints: 0, events_per_month: 0 },
        sms_per_month: 0,
        market_brief_codes: 10,
        watches: 10,
        formula_series: 10,
        min_watch_interval_seconds: 300,
        alerts: 100,
        export_requests_per_10k_rows: 10,
        features: ['calculated_metrics', 'analytics', 'analytics_alerts', 'bulk_export'],
        addons: ['futures_data', 'sms'],
      },
    })
  })

  const rows: [
    string,
    Parameters<FrontDoor['open']>[1],
    Record<string, unknown>,
    Record<string, unknown>,
  ][] = [
    [
      'free',
      {},
      { tier: 'free', tier_name: 'Free', request_limit: 50 },
      { plan: 'free', subscription_status: 'none' },
    ],
    [
      'free',
      { trial: true },
      {
        tier: 'free',
        tier_name: 'Free trial',
        request_limit: 10_000,
        trial_active: true,
        trial_ends_at: '2026-11-27T15:00:00Z',
      },
      { plan: 'free', plan_name: 'Free trial', subscription_status: 'trialing' },
    ],
    [
      'scale',
      { confirmed: false },
      { tier: 'scale', request_limit: 50, email_confirmed: false },
      { plan: 'scale', subscription_status: 'active' },
    ],
    ['enterprise', {}, { tier: 'enterprise', request_limit: 10_000_000 }, { plan: 'enterprise' }],
  ]
  test.each(rows)('on %s with %j', async (plan, options, top, under) => {
    const door = openFrontDoor()
    const body = await accountOf(door, door.open(plan, options).token)
    expect(body.account).toMatchObject(top)
    expect(body.data).toMatchObject(under)
  })

  test('GET /v1/account returns when a trial ended after it has ended', async () => {
    const door = openFrontDoor()
    const { token } = door.open('free', { trial: true })
    door.clock.set(Date.parse('2026-11-27T15:00:00Z'))
    const body = await accountOf(door, token)
    expect(body.account).toMatchObject({
      tier_name: 'Free',
      trial_active: false,
      trial_ends_at: '2026-11-27T15:00:00Z',
      request_limit: 50,
    })
    expect(body.data.limits.id).toBe('free')
  })

  test('adds up the month over all keys, revoked ones too, and counts each key by itself', async () => {
    const door = openFrontDoor()
    const { token, account, key } = door.open('free')
    const other = door.services.keys.addKey(account)
    door.clock.set(Date.parse('2026-11-30T12:00:00Z'))
    for (let i = 0; i < 2; i += 1) await door.get('/probe/counted', token)
    for (let i = 0; i < 3; i += 1) await door.get('/probe/counted', other.token)
    await door.get('/probe/counted?answer=404', token)
    door.changes.revokeKey(other.state)
    const body = await accountOf(door, token)
    expect(body.account.usage_this_month).toBe(5)
    expect(body.api_keys.map(key => [key.id, key.usage.requests_used])).toEqual([
      [key.key.id, 2],
      [other.state.key.id, 3],
    ])
    door.clock.set(Date.parse('2026-12-01T00:00:00Z'))
    expect((await accountOf(door, token)).account.usage_this_month).toBe(0)
  })

  test('GET /v1/account returns whether a quota is shared by the account', async () => {
    const door = openFrontDoor({ flags: { 'quota.scope': 'account' } })
    const { token, account } = door.open('free')
    const other = door.services.keys.addKey(account)
    await door.get('/probe/counted', token)
    await door.get('/probe/counted', other.token)
    expect((await accountOf(door, token)).data.quota).toMatchObject({
      used: 2,
      remaining: 48,
      scope: 'account',
    })
  })

  test('GET /v1/account returns null as the limit on an instance without quotas', async () => {
    const door = openFrontDoor({ flags: { plans: 'unlimited' } })
    const response = await door.get('/v1/account', door.open('free').token)
    const body = (await response.json()) as Body
    expect(response.status).toBe(200)
    expect(body.account.request_limit).toBeNull()
    expect(body.data.quota).toMatchObject({
      limit: null,
      remaining: null,
      used: 0,
      percent_used: 0,
    })
    expect(response.headers.get('x-ratelimit-limit')).toBeNull()
  })
})
