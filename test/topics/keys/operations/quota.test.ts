import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createSeededIds } from '../../../../src/lib/ids.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs, hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import type { PlanId } from '../../../../src/plans/tiers.ts'
import type { KeyState } from '../../../../src/topics/keys/service/keyring.ts'
import {
  at,
  type FrontDoor,
  openFrontDoor,
  rateOf,
  startAt,
} from '../../../support/instance/front-door.ts'

const directory = mkdtempSync(join(tmpdir(), 'wellhead-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const askCounted = (door: FrontDoor, token: string) => door.get('/probe/counted', token)

/** Uses up a part of the quota that would take too long over HTTP. */
function spend(door: FrontDoor, key: KeyState, requests: number) {
  for (let i = 0; i < requests; i += 1) door.services.meter.reserve(key)
}

test('the 51st request of a free day, midnight, the eighth day of a trial and the first of a month, with every header', async () => {
  const door = openFrontDoor()
  const { token: free } = door.open('free')
  const { token: trial, key: trialKey } = door.open('free', { trial: true })
  const { token: paid, key: paidKey } = door.open('starter')
  const headersOf = (response: Response) => ({
    status: response.status,
    code: response.headers.get('x-error-code'),
    ...rateOf(response),
  })
  const ok = { status: 200, code: null, retryAfter: null }
  const freeDay = { limit: '50', window: 'daily_counter', tier: 'free' }

  for (let used = 1; used < 50; used += 1) {
    const expected = {
      ...ok,
      ...freeDay,
      remaining: String(50 - used),
      used: String(used),
      state: 'free',
      reset: '2026-11-21T00:00:00Z',
    }
    expect(headersOf(await askCounted(door, free))).toEqual(expected)
  }
  const exhausted = {
    ...freeDay,
    remaining: '0',
    used: '50',
    state: 'exhausted',
    reset: '2026-11-21T00:00:00Z',
  }
  expect(headersOf(await askCounted(door, free))).toEqual({ ...ok, ...exhausted })
  const refused = await askCounted(door, free)
  expect(headersOf(refused)).toEqual({
    status: 402,
    code: 'PAYMENT_REQUIRED',
    retryAfter: null,
    ...exhausted,
  })
  expect(refused.headers.get('x-error-status')).toBe('402')
  expect(refused.headers.get('x-error-message')).toMatch(
    /^The quota of 50 requests is used up; it resets at 2026-11-21T00:00:00Z/,
  )
  expect(refused.headers.get('ratelimit-policy')).toBe('"quota";q=50;w=86400, "burst";q=5;w=60')
  expect(await refused.json()).toEqual({
    error: expect.stringContaining('50 requests'),
    error_code: 'PAYMENT_REQUIRED',
    code: 'PAYMENT_REQUIRED',
    message: expect.stringContaining('50 requests'),
    status: 402,
    request_id: refused.headers.get('x-request-id')!,
    docs: 'http://localhost/docs#PAYMENT_REQUIRED',
    docs_url: 'http://localhost/docs#PAYMENT_REQUIRED',
    retry: { retryable: false },
    reset: {
      date: '2026-11-21T00:00:00Z',
      timestamp: at('2026-11-21T00:00:00Z') / 1000,
      in_seconds: 9 * 3600,
    },
    reset_at: '2026-11-21T00:00:00Z',
    current_usage: {
      used: 50,
      limit: 50,
      remaining: 0,
      window: 'daily_counter',
      percent_used: 100,
    },
    current_plan: 'free',
    efficiency: {
      requests_today: 50,
      distinct_codes: 0,
      batchable_requests: 0,
      cacheable_requests: 0,
      score: 100,
    },
    reduce_usage: [
      expect.objectContaining({
        action: 'watch_events',
        docs_url: 'http://localhost/docs#subscriptions',
      }),
      expect.objectContaining({
        action: 'scheduled_deliveries',
        docs_url: 'http://localhost/docs#scheduled-deliveries',
      }),
    ],
    recommended_plan: 'developer',
    upgrade_url: 'http://localhost/account/plan',
    remediation_url: 'http://localhost/account/plan',
  } as never)
  const futures = await door.get('/probe/feature/futures', free)
  expect({ status: futures.status, xErrorCode: futures.headers.get('x-error-code') }).toEqual({
    status: 402,
    xErrorCode: 'FREE_TIER_LIMIT_EXCEEDED',
  })

  door.clock.set(at('2026-11-20T23:59:59.999Z'))
  expect(headersOf(await askCounted(door, free))).toEqual({
    status: 402,
    code: 'PAYMENT_REQUIRED',
    retryAfter: null,
    ...exhausted,
  })
  door.clock.set(at('2026-11-21T00:00:00Z'))
  const newDay = {
    ...ok,
    ...freeDay,
    remaining: '49',
    used: '1',
    state: 'free',
    reset: '2026-11-22T00:00:00Z',
  }
  expect(headersOf(await askCounted(door, free))).toEqual(newDay)

  const trialDays = {
    limit: '10000',
    window: 'trial_counter',
    tier: 'trial',
    reset: '2026-11-27T15:00:00Z',
  }
  spend(door, trialKey, 9998)
  expect(headersOf(await askCounted(door, trial))).toEqual({
    ...ok,
    ...trialDays,
    remaining: '1',
    used: '9999',
    state: 'trial_active',
  })
  expect(headersOf(await askCounted(door, trial))).toEqual({
    ...ok,
    ...trialDays,
    remaining: '0',
    used: '10000',
    state: 'exhausted',
  })
  door.clock.set(at('2026-11-27T14:59:59.999Z'))
  const overTrial = {
    status: 429,
    code: 'TRIAL_LIMIT_EXCEEDED',
    retryAfter: '1',
    ...trialDays,
    remaining: '0',
    used: '10000',
    state: 'exhausted',
  }
  expect(headersOf(await askCounted(door, trial))).toEqual(overTrial)
  door.clock.set(at('2026-11-27T15:00:00Z'))
  const eighthDay = {
    ...ok,
    ...freeDay,
    remaining: '49',
    used: '1',
    state: 'free',
    reset: '2026-11-28T00:00:00Z',
  }
  expect(headersOf(await askCounted(door, trial))).toEqual(eighthDay)

  const november = {
    limit: '50000',
    window: 'monthly_counter',
    tier: 'starter',
    reset: '2026-12-01T00:00:00Z',
  }
  spend(door, paidKey, 49_999)
  expect(headersOf(await askCounted(door, paid))).toEqual({
    ...ok,
    ...november,
    remaining: '0',
    used: '50000',
    state: 'exhausted',
  })
  door.clock.set(at('2026-11-30T23:59:00Z'))
  const overMonth = {
    status: 429,
    code: 'MONTHLY_QUOTA_EXCEEDED',
    retryAfter: '60',
    ...november,
    remaining: '0',
    used: '50000',
    state: 'exhausted',
  }
  const refusedMonth = await askCounted(door, paid)
  expect(headersOf(refusedMonth)).toEqual(overMonth)
  expect((await refusedMonth.json()) as object).toMatchObject({
    error_code: 'MONTHLY_QUOTA_EXCEEDED',
    retry_after: 60,
    current_plan: 'starter',
    recommended_plan: 'professional',
    reset: { date: '2026-12-01T00:00:00Z', in_seconds: 60 },
    retry: { retryable: false },
  })
  door.clock.set(at('2026-12-01T00:00:00Z'))
  const december = {
    ...ok,
    ...november,
    remaining: '49999',
    used: '1',
    state: 'paid_active',
    reset: '2027-01-01T00:00:00Z',
  }
  expect(headersOf(await askCounted(door, paid))).toEqual(december)
  expect(headersOf(await askCounted(door, free))).toMatchObject({
    used: '1',
    reset: '2026-12-02T00:00:00Z',
  })
}, 1000)

test('an account whose address is not confirmed has the free quota, and its own as soon as it is', async () => {
  const door = openFrontDoor()
  const { token, account } = door.open('scale', { confirmed: false })
  for (let i = 0; i < 49; i += 1) await askCounted(door, token)
  expect(rateOf(await askCounted(door, token))).toMatchObject({
    limit: '50',
    used: '50',
    state: 'exhausted',
    tier: 'scale',
    window: 'daily_counter',
  })
  const refused = await askCounted(door, token)
  expect(refused.status).toBe(402)
  expect((await refused.json()) as object).toMatchObject({
    error_code: 'PAYMENT_REQUIRED',
    current_plan: 'scale',
    recommended_plan: 'scale',
  })
  door.changes.changeAccount(account, { emailConfirmed: true })
  expect(rateOf(await askCounted(door, token))).toMatchObject({
    limit: '1000000',
    used: '1',
    state: 'paid_active',
    window: 'monthly_counter',
  })
})

test('a bigger plan lifts a used-up quota at once, and the way back finds the day as it was', async () => {
  const door = openFrontDoor()
  const { token, account } = door.open('free')
  for (let i = 0; i < 50; i += 1) await askCounted(door, token)
  expect((await askCounted(door, token)).status).toBe(402)
  door.changes.changeAccount(account, { plan: 'developer' })
  expect(rateOf(await askCounted(door, token))).toMatchObject({
    used: '1',
    limit: '10000',
    state: 'paid_active',
  })
  door.changes.changeAccount(account, { plan: 'free' })
  expect((await askCounted(door, token)).status).toBe(402)
})

describe('createMeter over a stop', () => {
  const reopened = (path: string, seed: number, clock = createManualClock(startAt)) =>
    openFrontDoor({ path, ids: createSeededIds(seed), clock })

  test('loses nothing of the quota', async () => {
    const path = join(directory, 'stop.db')
    const first = reopened(path, 1)
    const { token } = first.open('free')
    for (let i = 0; i < 30; i += 1) await askCounted(first, token)
    first.services.meter.flush()
    first.close()
    const second = reopened(path, 2, createManualClock(startAt + minuteMs))
    expect(rateOf(await askCounted(second, token))).toMatchObject({
      used: '31',
      remaining: '19',
      reset: '2026-11-21T00:00:00Z',
    })
    for (let i = 31; i < 50; i += 1) expect((await askCounted(second, token)).status).toBe(200)
    expect((await askCounted(second, token)).status).toBe(402)
    second.services.meter.flush()
    second.close()
    const third = reopened(path, 3, createManualClock(startAt + 2 * minuteMs))
    expect((await askCounted(third, token)).status).toBe(402)
    third.close()
    const nextDay = reopened(path, 4, createManualClock(at('2026-11-21T00:00:00Z')))
    expect(rateOf(await askCounted(nextDay, token))).toMatchObject({ used: '1' })
    nextDay.close()
  })

  test('a crash loses only quota use since the last write and never resets the quota', async () => {
    const path = join(directory, 'crash.db')
    const first = reopened(path, 1)
    const { token } = first.open('free')
    for (let i = 0; i < 30; i += 1) await askCounted(first, token)
    first.services.meter.flush()
    for (let i = 0; i < 7; i += 1) await askCounted(first, token)
    first.close()
    const second = reopened(path, 2)
    expect(rateOf(await askCounted(second, token)).used).toBe('31')
    const listed = (await (await second.get('/v1/api-keys', token)).json()) as {
      data: { api_keys: { last_used_at: string }[] }
    }
    expect(listed.data.api_keys[0]!.last_used_at).toBe('2026-11-20T15:00:00Z')
    second.close()
  })
})

test('an HTTP quota is never exceeded or reset early through any sequence of requests, stops and crashes', async () => {
  const plans = join(directory, 'plans.json')
  const limits: Record<string, number> = { free: 3, starter: 4 }
  writeFileSync(
    plans,
    JSON.stringify({ plans: { free: { request_quota: 3 }, starter: { request_quota: 4 } } }),
  )
  const windowOf = (plan: string, now: number) =>
    `${plan} ${new Date(now).toISOString().slice(0, plan === 'free' ? 10 : 7)}`
  const operation = fc.oneof(
    { weight: 8, arbitrary: fc.constant({ kind: 'ask' as const }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('fail' as const),
        answer: fc.constantFrom('304', '404', '500'),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'free' as const }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('advance' as const),
        ms: fc.constantFrom(1, 61_000, 9 * hourMs - 1, 9 * hourMs, dayMs, 11 * dayMs),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        { kind: 'stop' as const },
        { kind: 'crash' as const },
        { kind: 'flush' as const },
      ),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('plan' as const),
        plan: fc.constantFrom('free' as const, 'starter' as const),
      }),
    },
  )
  let databases = 0
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 60 }), async operations => {
      databases += 1
      const [path, clock] = [join(directory, `run-${databases}.db`), createManualClock(startAt)]
      let starts = 0
      const start = () => {
        starts += 1
        return openFrontDoor({
          path,
          clock,
          ids: createSeededIds(100 * databases + starts),
          flags: { plans },
        })
      }
      let door = start()
      const { token, account } = door.open('free')
      let plan: PlanId = 'free'
      // A counter must be between these, because a crash may lose unwritten requests.
      const counters = new Map<string, { least: number; most: number; isKnown: boolean }>()
      const settle = () => {
        for (const counter of counters.values()) if (counter.isKnown) counter.least = counter.most
      }
      for (const operation of operations) {
        const limit = limits[plan]!
        const counter = counters.getOrInsertComputed(windowOf(plan, clock.now()), () => ({
          least: 0,
          most: 0,
          isKnown: true,
        }))
        if (operation.kind === 'ask' || operation.kind === 'fail') {
          const response = await door.get(
            `/probe/counted${operation.kind === 'fail' ? `?answer=${operation.answer}` : ''}`,
            token,
          )
          const code = response.headers.get('x-error-code')
          const used = Number(rateOf(response).used)
          if (code === 'RATE_LIMIT_EXCEEDED') expect(counter.most).toBe(limit)
          else if (response.status === 402 || response.status === 429)
            expect({ used, most: counter.most }).toEqual({ used: limit, most: limit })
          else {
            expect(response.status).toBe(operation.kind === 'fail' ? Number(operation.answer) : 200)
            const before = operation.kind === 'fail' ? used : used - 1
            expect(before).toBeGreaterThanOrEqual(counter.least)
            expect(before).toBeLessThanOrEqual(Math.min(counter.most, limit - 1))
            counter.most = used
            counter.least = Math.min(counter.least, used)
            counter.isKnown = true
          }
        } else if (operation.kind === 'free') await door.get('/probe/free', token)
        else if (operation.kind === 'advance') clock.advance(operation.ms)
        else if (operation.kind === 'plan') {
          plan = operation.plan
          door.changes.changeAccount(door.services.keys.account(account.account.id)!, { plan })
        } else {
          if (operation.kind !== 'crash') {
            door.services.meter.flush()
            settle()
          }
          // What a crash lost is not known until the next answer: a stop may write less than the most.
          if (operation.kind === 'crash')
            for (const counter of counters.values()) counter.isKnown = false
          if (operation.kind !== 'flush') {
            door.close()
            door = start()
          }
        }
      }
      door.close()
    }),
    { numRuns: 15 },
  )
})
