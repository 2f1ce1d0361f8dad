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
import { createUsageStore } from '../../../../src/topics/keys/store/usage.ts'
import { runs } from '../../../support/full.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const startAt = Date.parse('2026-11-02T15:00:00Z')
const keysOfSlice = 24
/** Two slices of many keys, and one of few. */
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

test('a crash loses only the requests since the last write pass in any sequence of operations', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const instance = world()
      const asked = new Map(keyIds.map(id => [id, 0]))
      let written = new Map(asked)
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
        } else if (kind === 'advance') instance.clock.advance('ms' in what ? what.ms : 0)
        else if (kind === 'report') {
          const id = keyIds['key' in what ? what.key : 0]!
          const hours = instance.meter.hours([instance.key(id)], 0, startAt + 1000 * hourMs)
          expect(hours.reduce((sum, { requests }) => sum + requests, 0)).toBe(asked.get(id)!)
          written.set(id, asked.get(id)!)
        } else {
          if (kind === 'crash') instance.crash()
          else instance.meter.reset()
          for (const [id, requests] of written) {
            const { used } = instance.meter.quotaUsage(instance.key(id))
            expect(used).toBe(requests)
            asked.set(id, used)
          }
          written = new Map(asked)
        }
        for (const id of [keyIds[0]!, keyIds[30]!, keyIds.at(-1)!])
          expect(instance.meter.quotaUsage(instance.key(id)).used).toBe(asked.get(id)!)
      }
      instance.meter.flush(true)
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
    { numRuns: runs(150) },
  )
})
