import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, parseInstant } from '../../src/lib/time/instant.ts'
import { entitlements, specPlans, unlimitedPlans } from '../../src/plans/plans.ts'
import type { QuotaWindow } from '../../src/plans/quota.ts'
import {
  forecast,
  percentUsed,
  quotaRefusals,
  quotaRemaining,
  quotaSource,
  quotaState,
  quotaWindow,
} from '../../src/plans/quota.ts'
import { planIds } from '../../src/plans/tiers.ts'
import { runs } from '../support/full.ts'

const spec = specPlans()
const at = (text: string) => parseInstant(text)!
const iso = (instant: number) => new Date(instant).toISOString().replace('.000Z', 'Z')

interface Options {
  trial?: [string, string]
  unconfirmed?: boolean
}

function look(plan: string, now: string, { trial, unconfirmed }: Options = {}, plans = spec) {
  const account = {
    plan,
    addOns: [],
    trialStartedAt: trial ? at(trial[0]) : null,
    trialEndsAt: trial ? at(trial[1]) : null,
    emailConfirmedAt: unconfirmed ? null : 0,
  }
  const entitled = entitlements(plans, account, at(now))
  return { entitled, window: quotaWindow(entitled, account, at(now)) }
}

const written = (window: QuotaWindow) =>
  `${window.kind} ${iso(window.startsAt)} ${iso(window.endsAt)} ${window.limit}`

describe('quotaWindow', () => {
  const trial: [string, string] = ['2026-11-14T09:30:00Z', '2026-11-21T09:30:00Z']
  const table: [string, string, Options, string][] = [
    [
      'free',
      '2026-11-21T00:00:00Z',
      {},
      'daily_counter 2026-11-21T00:00:00Z 2026-11-22T00:00:00Z 50',
    ],
    [
      'free',
      '2026-11-21T23:59:59.999Z',
      {},
      'daily_counter 2026-11-21T00:00:00Z 2026-11-22T00:00:00Z 50',
    ],
    [
      'free',
      '2028-02-28T12:00:00Z',
      {},
      'daily_counter 2028-02-28T00:00:00Z 2028-02-29T00:00:00Z 50',
    ],
    [
      'free',
      '2026-12-31T23:00:00Z',
      {},
      'daily_counter 2026-12-31T00:00:00Z 2027-01-01T00:00:00Z 50',
    ],
    [
      'developer',
      '2026-11-01T00:00:00Z',
      {},
      'monthly_counter 2026-11-01T00:00:00Z 2026-12-01T00:00:00Z 10000',
    ],
    [
      'developer',
      '2026-10-31T23:59:59.999Z',
      {},
      'monthly_counter 2026-10-01T00:00:00Z 2026-11-01T00:00:00Z 10000',
    ],
    [
      'starter',
      '2026-12-31T23:59:59.999Z',
      {},
      'monthly_counter 2026-12-01T00:00:00Z 2027-01-01T00:00:00Z 50000',
    ],
    [
      'professional',
      '2028-02-29T12:00:00Z',
      {},
      'monthly_counter 2028-02-01T00:00:00Z 2028-03-01T00:00:00Z 100000',
    ],
    [
      'scale',
      '2027-02-28T23:59:59.999Z',
      {},
      'monthly_counter 2027-02-01T00:00:00Z 2027-03-01T00:00:00Z 1000000',
    ],
    [
      'enterprise',
      '2100-02-28T12:00:00Z',
      {},
      'monthly_counter 2100-02-01T00:00:00Z 2100-03-01T00:00:00Z 10000000',
    ],
    [
      'free',
      '2026-11-14T09:29:59.999Z',
      { trial },
      'daily_counter 2026-11-14T00:00:00Z 2026-11-15T00:00:00Z 50',
    ],
    [
      'free',
      '2026-11-14T09:30:00Z',
      { trial },
      'trial_counter 2026-11-14T09:30:00Z 2026-11-21T09:30:00Z 10000',
    ],
    [
      'free',
      '2026-11-21T09:29:59.999Z',
      { trial },
      'trial_counter 2026-11-14T09:30:00Z 2026-11-21T09:30:00Z 10000',
    ],
    [
      'free',
      '2026-11-21T09:30:00Z',
      { trial },
      'daily_counter 2026-11-21T00:00:00Z 2026-11-22T00:00:00Z 50',
    ],
    [
      'starter',
      '2026-11-15T00:00:00Z',
      { trial },
      'monthly_counter 2026-11-01T00:00:00Z 2026-12-01T00:00:00Z 50000',
    ],
    [
      'free',
      '2026-11-15T12:00:00Z',
      { trial, unconfirmed: true },
      'daily_counter 2026-11-15T00:00:00Z 2026-11-16T00:00:00Z 50',
    ],
    [
      'enterprise',
      '2026-11-15T12:00:00Z',
      { unconfirmed: true },
      'daily_counter 2026-11-15T00:00:00Z 2026-11-16T00:00:00Z 50',
    ],
  ]
  test.each(table)('%s at %s %j: %s', (plan, now, options, expected) => {
    expect(written(look(plan, now, options).window)).toBe(expected)
  })

  test('without quotas nothing is capped', () => {
    const { entitled, window } = look(
      'starter',
      '2026-11-15T12:00:00Z',
      { unconfirmed: true },
      unlimitedPlans(),
    )
    expect(written(window)).toBe('monthly_counter 2026-11-01T00:00:00Z 2026-12-01T00:00:00Z null')
    expect(quotaState(entitled, window, 1_000_000_000)).toBe('paid_active')
    expect(quotaRemaining(window, 5)).toBeNull()
  })

  test('at every moment of every plan the window holds the moment, and the next one begins where it ends', () => {
    const trial: [number, number] = [at('2026-11-14T09:30:00Z'), at('2026-11-21T09:30:00Z')]
    const from = at('2023-12-01T00:00:00Z')
    const cases = fc.record({
      plan: fc.constantFrom(...planIds),
      now: fc.integer({ min: from, max: from + 1500 * dayMs }),
    })
    fc.assert(
      fc.property(cases, ({ plan, now }) => {
        const account = {
          plan,
          addOns: [],
          trialStartedAt: trial[0],
          trialEndsAt: trial[1],
          emailConfirmedAt: 0,
        }
        const of = (instant: number) =>
          quotaWindow(entitlements(spec, account, instant), account, instant)
        const window = of(now)
        expect(window.startsAt <= now && now < window.endsAt).toBe(true)
        // A trial may start in the middle of a free day; it does not shorten the day before it has
        // started.
        if (window.startsAt < trial[0] && trial[0] < window.endsAt && plan === 'free') return
        expect(of(window.endsAt - 1)).toEqual(window)
        const next = of(window.endsAt)
        expect(next.kind === 'daily_counter' || next.startsAt === window.endsAt).toBe(true)
        expect(next.endsAt).toBeGreaterThan(window.endsAt)
      }),
      { numRuns: runs(2000) },
    )
  })
})

describe('quotaState', () => {
  const noon = '2026-11-21T12:00:00Z'
  const trial: [string, string] = ['2026-11-20T00:00:00Z', '2026-11-27T00:00:00Z']
  const table: [string, Options, number, number, string][] = [
    ['free', {}, 0, 0, 'free'],
    ['free', {}, 49, 0, 'free'],
    ['free', {}, 50, 0, 'exhausted'],
    ['free', {}, 50, 1, 'free'],
    ['free', {}, 57, 0, 'exhausted'],
    ['free', { trial }, 50, 0, 'trial_active'],
    ['free', { trial }, 10_000, 0, 'exhausted'],
    ['developer', {}, 9_999, 0, 'paid_active'],
    ['developer', {}, 10_000, 0, 'exhausted'],
    ['developer', {}, 10_000, 500, 'paid_active'],
    ['free', { unconfirmed: true }, 49, 0, 'unconfirmed_capped'],
    ['scale', { unconfirmed: true }, 49, 0, 'unconfirmed_capped'],
    ['scale', { unconfirmed: true }, 50, 0, 'exhausted'],
    ['free', { trial, unconfirmed: true }, 50, 0, 'exhausted'],
  ]
  test.each(table)('%s %j with %d used and %d bought: %s', (plan, options, used, extra, state) => {
    const { entitled, window } = look(plan, noon, options)
    expect(quotaState(entitled, window, used, extra)).toBe(state as 'free')
  })

  test('the quota is spent before bought requests, and both add up to what remains', () => {
    const { window } = look('free', noon)
    const states = [0, 49, 50, 52].map(used => [
      quotaSource(window, used, 3),
      quotaRemaining(window, used, 3),
    ])
    expect(states).toEqual([
      ['quota', 53],
      ['quota', 4],
      ['extra', 3],
      ['extra', 3],
    ])
    expect({
      quotaSource: quotaSource(window, 50, 0),
      quotaRemaining: quotaRemaining(window, 50, 0),
    }).toEqual({ quotaSource: 'exhausted', quotaRemaining: 0 })
  })

  test('an unconfirmed paid account is refused as Free is', () => {
    const { window } = look('scale', noon, { unconfirmed: true })
    expect(quotaRefusals[window.kind]).toEqual({
      status: 402,
      code: 'PAYMENT_REQUIRED',
      futuresCode: 'FREE_TIER_LIMIT_EXCEEDED',
    })
  })

  test('refusals of the trial and of paid plans', () => {
    expect(quotaRefusals.trial_counter).toMatchObject({
      status: 429,
      code: 'TRIAL_LIMIT_EXCEEDED',
      futuresCode: 'TRIAL_LIMIT_EXCEEDED',
    })
    expect(quotaRefusals.monthly_counter).toMatchObject({
      status: 429,
      code: 'MONTHLY_QUOTA_EXCEEDED',
      futuresCode: 'MONTHLY_QUOTA_EXCEEDED',
    })
  })

  test('percent of the quota', () => {
    const { window } = look('free', noon)
    expect([0, 1, 17, 50, 60].map(used => percentUsed(window, used))).toEqual([0, 2, 34, 100, 100])
    expect(percentUsed({ ...window, limit: 3 }, 1)).toBe(33.33)
    expect(percentUsed({ ...window, limit: null }, 9)).toBe(0)
    expect(percentUsed({ ...window, limit: 0 }, 0)).toBe(100)
  })
})

describe('forecast', () => {
  const { window } = look('developer', '2026-11-11T00:00:00Z')
  const now = at('2026-11-11T00:00:00Z')

  test('a third of the month at a steady rate gives three times as much at its end', () => {
    expect(forecast(2_000, window, now)).toEqual({
      burnRatePerDay: 200,
      usedAtReset: 6_000,
      exhaustedAt: null,
    })
  })

  test('the forecast for a usage rate that exceeds the quota reports when the quota runs out', () => {
    expect(forecast(5_000, window, now)).toEqual({
      burnRatePerDay: 500,
      usedAtReset: 15_000,
      exhaustedAt: at('2026-11-21T00:00:00Z'),
    })
  })

  test('bought requests move the end, or take it away', () => {
    expect(forecast(5_000, window, now, 1_000).exhaustedAt).toBe(at('2026-11-23T00:00:00Z'))
    expect(forecast(5_000, window, now, 5_000).exhaustedAt).toBeNull()
  })

  test('a quota that is used up ended now', () => {
    expect(forecast(10_000, window, now).exhaustedAt).toBe(now)
    expect(forecast(10_400, window, now, 0).exhaustedAt).toBe(now)
  })

  test('nothing used burns nothing, and the first seconds of a window do not frighten', () => {
    expect(forecast(0, window, now)).toEqual({
      burnRatePerDay: 0,
      usedAtReset: 0,
      exhaustedAt: null,
    })
    expect(forecast(3, window, window.startsAt).burnRatePerDay).toBe(72)
    expect(forecast(3, window, window.startsAt + hourMs / 2).burnRatePerDay).toBe(72)
  })

  test('without a quota there is a rate and no end', () => {
    expect(forecast(2_000, { ...window, limit: null }, now)).toEqual({
      burnRatePerDay: 200,
      usedAtReset: 6_000,
      exhaustedAt: null,
    })
  })

  test('the forecast exhaustion of a quota is always between now and the reset', () => {
    const cases = fc.record({
      used: fc.integer({ min: 0, max: 12_000 }),
      passedMs: fc.integer({ min: 0, max: 30 * dayMs - 1 }),
    })
    fc.assert(
      fc.property(cases, ({ used, passedMs }) => {
        const instant = window.startsAt + passedMs
        const outlook = forecast(used, window, instant)
        expect(outlook.usedAtReset).toBeGreaterThanOrEqual(used)
        if (outlook.exhaustedAt === null)
          return expect(outlook.usedAtReset).toBeLessThanOrEqual(10_000)
        expect(outlook.exhaustedAt).toBeGreaterThanOrEqual(instant)
        expect(outlook.exhaustedAt).toBeLessThan(window.endsAt)
      }),
      { numRuns: runs(2000) },
    )
  })
})
