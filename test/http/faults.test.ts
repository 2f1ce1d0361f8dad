import { describe, expect, test } from 'bun:test'
import { createFaults } from '../../src/http/faults.ts'
import { type ProblemCode, problems } from '../../src/http/problem/problem.ts'
import { createRequestLog } from '../../src/http/request-log.ts'
import { createApp } from '../../src/instance/app/app.ts'
import { openTestInstance, startAt } from '../support/instance/instance.ts'

const instance = openTestInstance()
const { services, clock } = instance
const faults = createFaults(() => 0)
/** The other developer tools are not needed here. */
const unused = async () => {
  throw new Error('not asked for')
}
const app = createApp(services, {
  dev: {
    clock,
    visitorAccount: undefined,
    faults,
    requests: createRequestLog({
      requestContexts: new WeakMap(),
      now: clock.now,
      monotonic: clock.monotonic,
    }),
    scenarios: [],
    feed: { paused: false, codes: 0 },
    advance: unused,
    settle: unused,
    snapshot: unused,
    dropSnapshot: () => false,
    restore: unused,
    reset: unused,
  },
})
instance.record('WTI_USD', [71.5], startAt, 60_000)

const path = '/v1/prices/latest'
const ask = (key: string) =>
  app.handle(
    new Request(`http://localhost${path}?by_code=WTI_USD`, {
      headers: { authorization: `Token ${key}` },
    }),
  )
const enterprise = instance.key()

function injectNext(code: string, on: string) {
  faults.add({
    path: on,
    method: undefined,
    code: code as ProblemCode,
    delayMs: 0,
    count: 1,
    probability: 1,
  })
}

function refusedWith(code: string, key = enterprise): Promise<Response> {
  injectNext(code, path)
  return ask(key)
}

/** Names of the headers; values such as times and request ids differ. */
const namesOf = ({ headers }: Response) => [...headers.keys()].sort()

/** A key whose quota is used up, and how it is refused then. */
async function trulyRefused(plan: string, trial = false): Promise<Response> {
  const key = instance.key(plan, { trial })
  for (let used = 0; used < 20_000; used += 1) {
    if (used % 50 === 0) clock.advance(61_000)
    const answer = await ask(key)
    if (answer.status !== 200) return answer
  }
  throw new Error('the quota does not end')
}

describe('a refusal on demand', () => {
  test.each([
    ['PAYMENT_REQUIRED', 402, 'daily_counter'],
    ['FREE_TIER_LIMIT_EXCEEDED', 402, 'daily_counter'],
    ['MONTHLY_QUOTA_EXCEEDED', 429, 'monthly_counter'],
    ['TRIAL_LIMIT_EXCEEDED', 429, 'trial_counter'],
  ])(
    'the simulated error %s reports the exhausted quota in its headers',
    async (code, status, window) => {
      const answer = await refusedWith(code)
      const { headers } = answer
      expect(answer.status).toBe(status)
      expect(headers.get('x-ratelimit-state')).toBe('exhausted')
      expect(headers.get('x-ratelimit-window')).toBe(window)
      expect(headers.get('x-ratelimit-remaining')).toBe('0')
      expect(headers.get('x-ratelimit-used')).toBe(headers.get('x-ratelimit-limit'))
      const body = (await answer.json()) as { reset: { timestamp: number; in_seconds: number } }
      expect(headers.get('x-ratelimit-reset')).toBe(String(body.reset.timestamp))
      expect(headers.get('ratelimit')).toStartWith(`"quota";r=0;t=${body.reset.in_seconds},`)
      const wait = status === 429 ? String(body.reset.in_seconds) : null
      expect(headers.get('retry-after')).toBe(wait)
      const after = await ask(enterprise)
      expect(after.headers.get('x-ratelimit-state')).toBe('paid_active')
    },
  )

  test('has every header that the real one has, for a quota and for the rate', async () => {
    const free = instance.key('free')
    expect(namesOf(await refusedWith('PAYMENT_REQUIRED', free))).toEqual(
      namesOf(await trulyRefused('free')),
    )
    const trial = instance.key('free', { trial: true })
    expect(namesOf(await refusedWith('TRIAL_LIMIT_EXCEEDED', trial))).toEqual(
      namesOf(await trulyRefused('free', true)),
    )
    const developer = instance.key('developer')
    expect(namesOf(await refusedWith('MONTHLY_QUOTA_EXCEEDED', developer))).toEqual(
      namesOf(await trulyRefused('developer')),
    )
    const simulated = await refusedWith('RATE_LIMIT_EXCEEDED', developer)
    const key = instance.key('developer')
    let real = await ask(key)
    for (let asked = 0; asked < 1_000 && real.status === 200; asked += 1) real = await ask(key)
    expect(real.status).toBe(429)
    expect(namesOf(simulated)).toEqual(namesOf(real))
    expect(simulated.headers.get('ratelimit')).toMatch(/"burst";r=0;t=60$/)
  }, 120_000)

  /** How a request earns each refusal that needs nothing but a request. */
  const earned: { code: string; method?: string; to: string; body?: string; token?: string }[] = [
    { code: 'invalid_code', to: '/v1/prices/latest?by_code=NOPE_USD' },
    {
      code: 'too_many_codes',
      to: `/v1/prices/latest?by_code=${Array(21).fill('WTI_USD').join(',')}`,
    },
    { code: 'invalid_interval', to: '/v1/prices/past_week?by_code=WTI_USD&interval=often' },
    { code: 'MISSING_PARAMETER', to: '/v1/prices/metrics' },
    { code: 'INVALID_PARAMETER', to: '/v1/prices/past_week?by_code=WTI_USD&days=x' },
    {
      code: 'INVALID_DATE_RANGE',
      to: '/v1/prices/past_week?start_date=2026-02-02&end_date=2026-01-01',
    },
    { code: 'MALFORMED_JSON', method: 'POST', to: '/v1/prices/batch', body: '{' },
    { code: 'MISSING_CODES', method: 'POST', to: '/v1/prices/batch', body: '{}' },
    { code: 'UNAUTHORIZED', to: '/v1/account', token: 'wrong' },
    { code: 'INSUFFICIENT_PLAN', to: '/v1/webhooks', token: 'free' },
    { code: 'COMMODITY_NOT_FOUND', to: '/v1/commodities/NOPE_USD' },
    { code: 'NOT_FOUND', to: '/v1/alerts/00000000-0000-4000-8000-000000000000' },
    { code: 'ROUTE_NOT_FOUND', to: '/v1/nope' },
    { code: 'DATA_NOT_AVAILABLE', to: '/v1/prices/latest?by_code=GOLD_USD' },
    { code: 'DEMO_CODE_NOT_AVAILABLE', to: '/v1/demo/prices/PRB_COAL_USD' },
    { code: 'validation_failed', method: 'POST', to: '/v1/alerts', body: '{"name":7}' },
    {
      code: 'INVALID_CREDENTIALS',
      method: 'POST',
      to: '/v1/auth/session',
      body: '{"email":"a@example.com","password":"wrong"}',
    },
    { code: 'UPGRADE_REQUIRED', to: '/cable' },
  ]
  test.each(earned)('$code has the headers of the real one', async request => {
    const { code, method = 'GET', to, body, token } = request
    clock.advance(61_000)
    const key = token === 'free' ? instance.key('free') : (token ?? enterprise)
    const send = (as: string) =>
      app.handle(
        new Request(`http://localhost${to}`, {
          method,
          headers: {
            authorization: `Token ${as}`,
            accept: 'application/json',
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body }),
        }),
      )
    const real = await send(key)
    expect(real.headers.get('x-error-code'), await real.clone().text()).toBe(code)
    // No fault meets a path that no route is behind.
    if (code !== 'ROUTE_NOT_FOUND') injectNext(code, '*')
    const refusal = code === 'ROUTE_NOT_FOUND' ? await refusedWith(code) : await send(enterprise)
    expect(refusal.headers.get('x-error-code')).toBe(code)
    const injected = new Set(namesOf(refusal))
    faults.clear()
    expect(namesOf(real).filter(name => !injected.has(name))).toEqual([])
  })

  test('has the status, the code and the message of each documented error', async () => {
    clock.advance(61_000)
    for (const [code, { status }] of Object.entries(problems)) {
      clock.advance(2_000)
      const answer = await refusedWith(code)
      const text = await answer.text()
      expect(
        { status: answer.status, errorCode: answer.headers.get('x-error-code') },
        code,
      ).toEqual({ status, errorCode: code })
      expect(answer.headers.get('x-error-status')).toBe(String(status))
      expect(answer.headers.get('x-error-message')?.length).toBeGreaterThan(10)
      expect(text, code).toContain(code)
    }
  })

  test.each([
    ['RATE_LIMIT_EXCEEDED', '12'],
    ['LOGIN_LOCKED', '900'],
    ['manual_send_cooldown', '600'],
    ['sms_limit_reached', '86400'],
    ['OVERLOADED', '5'],
    ['STORAGE_UNAVAILABLE', '5'],
    ['PROCESSOR_UNAVAILABLE', '30'],
    ['STREAM_LIMIT_REACHED', null],
    ['verification_locked', null],
    ['DATA_TOO_STALE', null],
    ['INTERNAL_ERROR', null],
  ])('the simulated error %s has the Retry-After header of the real one', async (code, seconds) => {
    clock.advance(61_000)
    expect((await refusedWith(code)).headers.get('retry-after')).toBe(seconds)
  })
})
