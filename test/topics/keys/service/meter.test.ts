import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSeededIds } from '../../../../src/lib/ids.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { plansFrom } from '../../../../src/plans/overrides.ts'
import type { QuotaWindow } from '../../../../src/plans/quota.ts'
import { createOrganizationStore } from '../../../../src/topics/account/store/organizations.ts'
import { createKeyring } from '../../../../src/topics/keys/service/keyring.ts'
import { createMeter } from '../../../../src/topics/keys/service/meter.ts'
import type { Account } from '../../../../src/topics/keys/store/accounts.ts'
import { createAccountStore } from '../../../../src/topics/keys/store/accounts.ts'
import { createApiKeyStore } from '../../../../src/topics/keys/store/api-keys.ts'
import { createUsageStore } from '../../../../src/topics/keys/store/usage.ts'
import { runs as sweep } from '../../../support/full.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const startAt = Date.parse('2026-11-20T15:00:00Z')
const quotas = { free: 3, trial: 4, starter: 5 }
const plans = plansFrom({
  plans: Object.fromEntries(
    Object.entries(quotas).map(([plan, quota]) => [plan, { request_quota: quota }]),
  ),
})

/** Two keys of one account and what counts their requests; `crash` loses what is in memory. */
function world(scope: 'key' | 'account' = 'key', now = startAt) {
  const db = databaseInMemory()
  const clock = createManualClock(now)
  const ids = createSeededIds(1)
  const open = () => {
    const keys = createKeyring(
      {
        accounts: createAccountStore(db),
        keys: createApiKeyStore(db),
        memberships: createOrganizationStore(db),
      },
      plans,
      clock,
      ids,
    )
    return { keys, meter: createMeter(createUsageStore(db), keys, clock, scope) }
  }
  let { keys, meter: counted } = open()
  const blank: Account = {
    id: 'account',
    email: 'a@example.com',
    plan: 'free',
    addOns: [],
    trialStartedAt: null,
    trialEndsAt: null,
    emailConfirmedAt: now,
    suspendedAt: null,
    createdAt: now,
  }
  const account = keys.putAccount(blank)
  const keyIds = [keys.addKey(account).state.key.id, keys.addKey(account).state.key.id]
  return {
    db,
    clock,
    keyIds,
    get meter() {
      return counted
    },
    key: (i = 0) => keys.byId(keyIds[i]!)!,
    account: () => keys.account('account')!.account,
    change: (change: Partial<Account>) =>
      void keys.putAccount({ ...keys.account('account')!.account, ...change }),
    crash() {
      ;({ keys, meter: counted } = open())
    },
  }
}

const usedOf = (instance: ReturnType<typeof world>, i = 0) =>
  instance.meter.quotaUsage(instance.key(i)).used

/** The window of an account, worked out apart from the code: its name and its limit. */
function windowOf(account: Account, now: number): { name: string; limit: number } {
  const [day, month] = [
    new Date(now).toISOString().slice(0, 10),
    new Date(now).toISOString().slice(0, 7),
  ]
  if (account.emailConfirmedAt === null) return { name: `day ${day}`, limit: quotas.free }
  if (account.plan === 'starter') return { name: `month ${month}`, limit: quotas.starter }
  const { trialStartedAt, trialEndsAt } = account
  const runs =
    trialStartedAt !== null && trialEndsAt !== null && trialStartedAt <= now && now < trialEndsAt
  return runs
    ? { name: `trial ${trialStartedAt}`, limit: quotas.trial }
    : { name: `day ${day}`, limit: quotas.free }
}

const operation = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('take' as const), key: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('return' as const), which: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(
        0,
        1,
        1000,
        hourMs,
        9 * hourMs - 1,
        9 * hourMs,
        dayMs,
        6 * dayMs,
        31 * dayMs,
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('flush' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('plan' as const),
      plan: fc.constantFrom('free', 'starter'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('trial' as const), days: fc.constantFrom(1, 7, 14) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('confirm' as const), confirmed: fc.boolean() }),
  },
)

describe('createMeter: a quota', () => {
  test('is never passed by one and never begun early, over any course of requests, days, stops and crashes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('key' as const, 'account' as const),
        fc.array(operation, { maxLength: 80 }),
        (scope, operations) => {
          const instance = world(scope)
          const counters = new Map<string, { used: number; written: number }>()
          const at = (key: number, window: string) =>
            counters.getOrInsertComputed(`${key} ${window}`, () => ({ used: 0, written: 0 }))
          let open: { key: number; name: string; window: QuotaWindow }[] = []
          const written = () => {
            for (const counter of counters.values()) counter.written = counter.used
          }
          for (const operation of operations) {
            const now = instance.clock.now()
            if (operation.kind === 'take') {
              const { name, limit } = windowOf(instance.account(), now)
              const used = (scope === 'key' ? [operation.key] : [0, 1]).reduce(
                (sum, key) => sum + at(key, name).used,
                0,
              )
              const window = instance.meter.reserve(instance.key(operation.key))
              expect(window !== undefined).toBe(used < limit)
              if (window) {
                at(operation.key, name).used += 1
                open.push({ key: operation.key, name, window })
              }
            } else if (operation.kind === 'return') {
              const [back] = open.splice(operation.which % Math.max(1, open.length), 1)
              if (back) {
                instance.meter.refund(instance.key(back.key), back.window)
                at(back.key, back.name).used -= 1
              }
            } else if (operation.kind === 'advance') instance.clock.advance(operation.ms)
            else if (operation.kind === 'plan') instance.change({ plan: operation.plan })
            else if (operation.kind === 'trial')
              instance.change({ trialStartedAt: now, trialEndsAt: now + operation.days * dayMs })
            else if (operation.kind === 'confirm')
              instance.change({ emailConfirmedAt: operation.confirmed ? now : null })
            else {
              if (operation.kind !== 'crash') {
                instance.meter.flush()
                written()
              }
              if (operation.kind !== 'flush') {
                instance.crash()
                for (const counter of counters.values()) counter.used = counter.written
                open = []
              }
            }
            const { name, limit } = windowOf(instance.account(), instance.clock.now())
            for (const key of [0, 1]) {
              const quotaUsage = instance.meter.quotaUsage(instance.key(key))
              const used = (scope === 'key' ? [key] : [0, 1]).reduce(
                (sum, each) => sum + at(each, name).used,
                0,
              )
              expect({ used: quotaUsage.used, limit: quotaUsage.window.limit }).toEqual({
                used,
                limit,
              })
              expect(quotaUsage.window.startsAt).toBeLessThanOrEqual(instance.clock.now())
              expect(quotaUsage.window.endsAt).toBeGreaterThan(instance.clock.now())
            }
          }
        },
      ),
      { numRuns: sweep(400) },
    )
  })

  test('that is shared by the account counts the requests of every key, revoked ones too', () => {
    const instance = world('account')
    expect(
      [
        instance.meter.reserve(instance.key(0)),
        instance.meter.reserve(instance.key(1)),
        instance.meter.reserve(instance.key(1)),
      ].every(Boolean),
    ).toBe(true)
    expect(instance.meter.reserve(instance.key(0))).toBeUndefined()
    expect([usedOf(instance, 0), usedOf(instance, 1)]).toEqual([3, 3])
  })

  test('quota metering continues while writes fail and stores its counts later', () => {
    const instance = world()
    instance.meter.reserve(instance.key())
    instance.db.run(
      "CREATE TRIGGER full BEFORE INSERT ON quota_counters BEGIN SELECT RAISE(ABORT, 'no room'); END",
    )
    expect(() => instance.meter.flush()).toThrow('no room')
    instance.clock.advance(dayMs)
    instance.meter.record(instance.key(), '/a', 200, true, 1)
    expect(instance.meter.reserve(instance.key())).toBeDefined()
    expect(instance.meter.day(instance.key()).requests).toBe(0)
    instance.clock.advance(hourMs)
    instance.meter.record(instance.key(), '/a', 200, true, 1)
    instance.meter.noteRequested(instance.key(), [1])
    instance.db.run('DROP TRIGGER full')
    instance.meter.flush()
    expect(
      instance.db.query('SELECT used FROM quota_counters ORDER BY starts_at').values(),
    ).toEqual([[1], [1]])
    expect(instance.db.query('SELECT requests FROM usage_hours ORDER BY hour_at').values()).toEqual(
      [[1], [1]],
    )
  })

  test('extending a trial preserves its used quota and takes effect immediately', () => {
    const instance = world()
    instance.change({ trialStartedAt: startAt, trialEndsAt: startAt + dayMs })
    instance.meter.reserve(instance.key())
    instance.change({ trialEndsAt: startAt + 2 * dayMs })
    const { used, window } = instance.meter.quotaUsage(instance.key())
    expect({ used, endsAt: window.endsAt }).toEqual({ used: 1, endsAt: startAt + 2 * dayMs })
  })
})

describe('createMeter: usage', () => {
  test('is added up by hour, endpoint and class of status', () => {
    const instance = world()
    const record = (endpoint: string, status: number, metered: boolean, ms: number) =>
      instance.meter.record(instance.key(), endpoint, status, metered, ms)
    record('/a', 200, true, 1.5)
    record('/a', 201, true, 2)
    record('/a', 404, false, 0.25)
    instance.meter.flush()
    record('/a', 200, true, 1)
    instance.clock.advance(hourMs)
    record('/b', 304, false, 1)
    const rows = instance.meter.hours([instance.key()], startAt, startAt + 2 * hourMs)
    const expected = [
      [0, '/a', 2, 3, 3, 4500],
      [0, '/a', 4, 1, 0, 250],
      [1, '/b', 3, 1, 0, 1000],
    ]
    const brief = rows.map(row => [
      (row.hourAt - startAt) / hourMs,
      row.endpoint,
      row.statusClass,
      row.requests,
      row.metered,
      row.durationUs,
    ])
    expect(brief).toEqual(expected)
    expect(instance.meter.monthly(instance.key().account, Date.parse('2026-11-01T00:00:00Z'))).toBe(
      3,
    )
  })

  test('daily usage distinguishes repeated requests for unchanged data from requests for new data', () => {
    const instance = world()
    const ask = (ids: number[], etag?: string) => {
      instance.meter.noteRequested(instance.key(), ids, etag)
      instance.meter.record(instance.key(), '/a', 200, true, 1)
    }
    ask([1], 'x')
    ask([1], 'x')
    ask([1], 'y')
    ask([2], 'z')
    ask([3, 4])
    const today = { requests: 5, distinctCodes: 4, batchable: 3, cacheable: 1 }
    expect(instance.meter.day(instance.key())).toEqual(today)
    instance.meter.flush()
    instance.crash()
    expect(instance.meter.day(instance.key())).toEqual(today)
    instance.clock.advance(dayMs)
    expect(instance.meter.day(instance.key())).toEqual({
      requests: 0,
      distinctCodes: 0,
      batchable: 0,
      cacheable: 0,
    })
    ask([9])
    expect(instance.meter.day(instance.key())).toEqual({
      requests: 1,
      distinctCodes: 1,
      batchable: 1,
      cacheable: 0,
    })
    // Requests just before midnight are written with those of the next day.
    ask([10])
    instance.clock.advance(dayMs)
    ask([11])
    instance.meter.flush()
    const days = instance.db
      .query('SELECT day_on, series_ids FROM usage_days ORDER BY day_on')
      .values()
    expect(days).toEqual([
      ['2026-11-20', '1 2 3 4'],
      ['2026-11-21', '9 10'],
      ['2026-11-22', '11'],
    ])
  })
})
