import type { Log } from '../../lib/log/log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { minuteMs, secondMs } from '../../lib/time/instant.ts'
import type { Keyring } from '../../topics/keys/service/keyring.ts'
import type { Meter } from '../../topics/keys/service/meter.ts'
import type { SetAside } from '../../topics/keys/service/replica-usage.ts'
import type { Bucket, BucketEntry } from '../nats/connection.ts'
import type { HeldQuotas } from './nodes.ts'
import { readPool, windowName } from './quota-bucket.ts'

export interface QuotaGrantDeps {
  bucket: Bucket
  keys: Pick<Keyring, 'byId'>
  meter: Pick<Meter, 'quotaUsage' | 'setAside' | 'putBack'>
  /** Whether the stream has everything that is committed now; waits a while until it has. */
  reached(): Promise<boolean>
  clock: Pick<Clock, 'monotonic'>
  log: Log
}

export type QuotaGrants = ReturnType<typeof createQuotaGrants>

/**
 * A reserve outlasts a change of the primary, a small one for long; where the primary has less left,
 * it needs it back.
 */
const untakenMs = { small: 10 * minuteMs, usual: 30 * secondMs, short: 5 * secondMs }
/** A reserve below this share of the quota (one request in so many) is small. */
const smallShare = 500

/**
 * Fills the pools that replicas take slices of. A quota is charged before its pool is filled, in
 * the database and in the stream, so that the sum stays within the quota whichever process crashes.
 */
export function createQuotaGrants(deps: QuotaGrantDeps) {
  const { bucket, keys, meter, reached, clock, log } = deps
  /** Keys whose pool is being filled. */
  const busy = new Set<string>()
  const pools = new Map<string, { entry: BucketEntry; since: number }>()

  /** Adds to a pool over its current revision; false: the request is gone. */
  const fill = async (key: string, part: SetAside | undefined, window: string) => {
    for (;;) {
      const entry = await bucket.get(key)
      const pool = entry && readPool(entry.text)
      if (!entry || pool?.window !== window) return false
      const next = { window, pool: pool.pool + (part?.requests ?? 0), wants: 0 }
      if ((await bucket.set(key, JSON.stringify(next), entry.revision)) !== undefined) return true
    }
  }
  const grant = async (key: string, window: string, wants: number) => {
    const state = keys.byId(key)
    const part = state && meter.setAside(state, wants)
    if (part && windowName(part) !== window) return meter.putBack(part)
    // A successor of this instance must know of the charge.
    if (part && !(await reached())) return meter.putBack(part)
    // An error may come after the pool was filled: then the charge remains, and no one can use it.
    if (!(await fill(key, part, window)) && part) meter.putBack(part)
  }
  const keptMs = (key: string, pool: number): number => {
    const state = keys.byId(key)
    const quotaUsage = state && meter.quotaUsage(state)
    const limit = quotaUsage?.window.limit ?? 0
    if (limit - (quotaUsage?.used ?? 0) < pool) return untakenMs.short
    return pool * smallShare <= limit ? untakenMs.small : untakenMs.usual
  }
  const onEntry = (entry: BucketEntry) => {
    const { window, pool, wants } = readPool(entry.text)
    if (pool > 0) pools.set(entry.key, { entry, since: clock.monotonic() })
    else pools.delete(entry.key)
    if (wants <= 0 || busy.has(entry.key)) return
    busy.add(entry.key)
    grant(entry.key, window, wants)
      .catch(error => log.warn('quota_not_granted', { message: `${error}` }))
      .finally(() => busy.delete(entry.key))
  }
  return {
    /** Grants requested slices until the connection ends. */
    run: () => bucket.watch(onEntry),
    /** The requests in the pools. */
    held: (): HeldQuotas => ({
      keys: pools.size,
      requests: [...pools.values()].reduce((sum, { entry }) => sum + readPool(entry.text).pool, 0),
    }),
    /** Takes back what no one has taken for a while. */
    async reclaim() {
      for (const [key, { entry, since }] of pools) {
        const { window, pool, wants } = readPool(entry.text)
        if (clock.monotonic() - since < keptMs(key, pool)) continue
        pools.delete(key)
        const empty = JSON.stringify({ window, pool: 0, wants })
        if ((await bucket.set(key, empty, entry.revision)) === undefined) continue
        const [kind, startsAt] = window.split(' ') as [SetAside['kind'], string]
        meter.putBack({ keyId: key, kind, startsAt: Number(startsAt), requests: pool })
      }
    },
  }
}
