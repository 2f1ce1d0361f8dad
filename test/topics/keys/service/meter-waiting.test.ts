import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSeededIds } from '../../../../src/lib/ids.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { hourMs } from '../../../../src/lib/time/instant.ts'
import { plansFrom } from '../../../../src/plans/overrides.ts'
import { createOrganizationStore } from '../../../../src/topics/account/store/organizations.ts'
import { createKeyring } from '../../../../src/topics/keys/service/keyring.ts'
import { createMeter } from '../../../../src/topics/keys/service/meter.ts'
import { createAccountStore } from '../../../../src/topics/keys/store/accounts.ts'
import { createApiKeyStore } from '../../../../src/topics/keys/store/api-keys.ts'
import { createUsagePacking, unpackUsage } from '../../../../src/topics/keys/store/packed-usage.ts'
import { createUsageStore } from '../../../../src/topics/keys/store/usage.ts'
import { runs } from '../../../support/full.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const startAt = Date.parse('2026-11-02T15:00:00Z')
const keysOfSlice = 24
/** Two slices that are written as rows where all of them ask, and one that never has enough keys. */
const keyIds = ['00', '01', '02'].flatMap(start =>
  Array.from(
    { length: start === '02' ? 3 : keysOfSlice },
    (_, n) => `${start}${String(n).padStart(6, '0')}-0000-4000-8000-000000000000`,
  ),
)

/** Keys of one account; `crash` loses what is in memory and starts again as a server does. */
function world() {
  const db = databaseInMemory()
  const clock = createManualClock(startAt)
  const ids = createSeededIds(1)
  const plans = plansFrom({})
  const open = () => {
    const store = createUsageStore(db)
    store.addWaiting()
    const stores = {
      accounts: createAccountStore(db),
      keys: createApiKeyStore(db),
      memberships: createOrganizationStore(db),
    }
    const keys = createKeyring(stores, plans, clock, ids)
    return { keys, meter: createMeter(store, keys, clock, 'key') }
  }
  let opened = open()
  const account = opened.keys.putAccount({
    id: 'account',
    email: 'a@example.com',
    plan: 'enterprise',
    addOns: [],
    trialStartedAt: null,
    trialEndsAt: null,
    emailConfirmedAt: startAt,
    suspendedAt: null,
    createdAt: startAt,
  })
  for (const id of keyIds) opened.keys.addKey(account, { id })
  return {
    db,
    clock,
    get meter() {
      return opened.meter
    },
    key: (id: string) => opened.keys.byId(id)!,
    rows: () => db.query<{ n: number }, []>('SELECT count(*) AS n FROM usage_waiting').get()!.n,
    pass() {
      while (opened.meter.flushSome(10) > 0);
    },
    crash() {
      opened = open()
    },
  }
}

const ask = ({ meter, key }: ReturnType<typeof world>, id: string) => {
  meter.reserve(key(id))
  meter.record(key(id), '/v1/prices/latest', 200, true, 1)
}

test('what many keys ask every second is a row for many of them, and reports have all of it', () => {
  const instance = world()
  for (let second = 0; second < 3; second += 1) {
    for (const id of keyIds) ask(instance, id)
    instance.pass()
    instance.clock.advance(1000)
  }
  expect(instance.rows()).toBe(2)
  const hours = instance.meter.hours([instance.key(keyIds[0]!)], startAt - hourMs, startAt + hourMs)
  expect(hours.map(({ requests }) => requests)).toEqual([3])
  expect(instance.rows()).toBe(2)
  instance.clock.advance(30_000)
  instance.pass()
  expect(instance.rows()).toBe(0)
  const stored = instance.db
    .query<{ requests: number; used: number }, []>(
      `SELECT (SELECT sum(requests) FROM usage_hours) AS requests,
         (SELECT sum(used) FROM quota_counters) AS used`,
    )
    .get()
  expect(stored).toEqual({ requests: 3 * keyIds.length, used: 3 * keyIds.length })
})

test('a slice that calms down is written to its tables, with what waited in its row', () => {
  const instance = world()
  for (const id of keyIds) ask(instance, id)
  instance.pass()
  expect(instance.rows()).toBe(2)
  ask(instance, keyIds[0]!)
  instance.pass()
  expect(instance.rows()).toBe(1)
  instance.crash()
  expect(instance.meter.quotaUsage(instance.key(keyIds[0]!)).used).toBe(2)
  expect(instance.meter.quotaUsage(instance.key(keyIds[1]!)).used).toBe(1)
  expect(instance.rows()).toBe(0)
})

test('quota of a deleted key does not prevent startup', () => {
  const instance = world()
  for (const id of keyIds) ask(instance, id)
  instance.pass()
  instance.db.run('DELETE FROM api_keys WHERE id = ?', [keyIds[5]!])
  instance.crash()
  expect(instance.meter.quotaUsage(instance.key(keyIds[6]!)).used).toBe(1)
})

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('ask' as const), share: fc.nat(3) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(1000, 10_000, 31_000, hourMs),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('report' as const), key: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const) }) },
)

const courseOfNeighbours = [
  { kind: 'ask' as const, share: 0 },
  { kind: 'pass' as const },
  { kind: 'ask' as const, share: 0 },
  { kind: 'report' as const, key: 0 },
  { kind: 'reset' as const },
]

test('a crash loses only the requests since the last write pass in any sequence of operations', () => {
  let rowsMost = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const instance = world()
      const asked = new Map(keyIds.map(id => [id, 0]))
      let written = new Map(asked)
      let hasReported = false
      for (const { kind, ...what } of steps) {
        if (kind === 'ask') {
          // All keys, or each second, third or fourth.
          const nth = ('share' in what ? what.share : 0) + 1
          for (const id of keyIds.filter((_, n) => n % nth === 0)) {
            ask(instance, id)
            asked.set(id, asked.get(id)! + 1)
          }
        } else if (kind === 'pass') {
          instance.pass()
          written = new Map(asked)
          hasReported = false
          rowsMost = Math.max(rowsMost, instance.rows())
        } else if (kind === 'advance') instance.clock.advance('ms' in what ? what.ms : 0)
        else if (kind === 'report') {
          const id = keyIds['key' in what ? what.key : 0]!
          const hours = instance.meter.hours([instance.key(id)], 0, startAt + 1000 * hourMs)
          expect(hours.reduce((sum, { requests }) => sum + requests, 0)).toBe(asked.get(id)!)
          written.set(id, asked.get(id)!)
          hasReported = true
        } else {
          if (kind === 'crash') instance.crash()
          else instance.meter.reset()
          // A report writes the row of its key again, with its neighbours' requests since then.
          for (const [id, requests] of written) {
            const { used } = instance.meter.quotaUsage(instance.key(id))
            if (!hasReported) expect(used).toBe(requests)
            expect(used).toBeGreaterThanOrEqual(requests)
            expect(used).toBeLessThanOrEqual(asked.get(id)!)
            asked.set(id, used)
          }
          written = new Map(asked)
          hasReported = false
        }
        for (const id of [keyIds[0]!, keyIds[30]!, keyIds.at(-1)!])
          expect(instance.meter.quotaUsage(instance.key(id)).used).toBe(asked.get(id)!)
      }
      instance.meter.flush(true)
      expect(instance.rows()).toBe(0)
      const stored = instance.db
        .query<{ id: string; used: number | null; requests: number | null }, []>(
          `SELECT id, (SELECT sum(used) FROM quota_counters WHERE key_id = id) AS used,
             (SELECT sum(requests) FROM usage_hours WHERE key_id = id) AS requests FROM api_keys`,
        )
        .all()
      for (const { id, used, requests } of stored)
        expect({ used: used ?? 0, requests: requests ?? 0 }).toEqual({
          used: asked.get(id)!,
          requests: asked.get(id)!,
        })
    }),
    { numRuns: runs(150), examples: [[courseOfNeighbours]] },
  )
  expect(rowsMost).toBe(2)
})

test('usage is the same packed and unpacked', () => {
  const ids = ['a', 'b', 'c "quoted"']
  const keyId = fc.constantFrom(...ids)
  const number = fc.nat(2 ** 31)
  const counter = fc.record({
    keyId,
    window: fc.constantFrom('daily_counter', 'monthly_counter'),
    startsAt: number,
    used: number,
    lastUsedAt: number,
  })
  const hour = fc.record({
    keyId,
    hourAt: number,
    endpoint: fc.constantFrom('/v1/prices', '/v1/prices/:date'),
    statusClass: fc.constantFrom(2, 4, 5),
    requests: number,
    metered: number,
    durationUs: number,
  })
  fc.assert(
    fc.property(fc.array(counter), fc.array(hour), (counters, hours) => {
      const packing = createUsagePacking()
      const of = (id: string) => (row: { keyId: string }) => row.keyId === id
      for (const id of ids) packing.add(id, counters.filter(of(id)), hours.filter(of(id)))
      const unpacked = unpackUsage(packing.text() ?? '{"counters":[],"hours":[]}')
      expect(unpacked).toEqual({
        counters: ids.flatMap(id => counters.filter(of(id)).map(row => ({ ...row }))),
        hours: ids.flatMap(id => hours.filter(of(id)).map(row => ({ ...row }))),
      })
    }),
  )
})
