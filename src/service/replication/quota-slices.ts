import type { Clock } from '../../lib/clock.ts'
import { sleep } from '../../lib/clock.ts'
import { secondMs } from '../../lib/instant.ts'
import type { Log } from '../../lib/log.ts'
import type { QuotaWindow } from '../../plan/quota.ts'
import type { Bucket } from '../../send/nats/connection.ts'
import type { SetAside } from '../keys/meter.ts'
import { type QuotaPool, readPool, windowName } from './quota-bucket.ts'

/** What this copy may answer of quotas without asking anybody. */
export interface QuotaSlices {
  /** Requests that are left of the slice of a key in a window; asks for more where few are. */
  left(keyId: string, window: QuotaWindow): number
  /** Takes one request; false where none is left. */
  take(keyId: string, window: QuotaWindow): boolean
  /** Puts one request back that was not answered. */
  putBack(keyId: string, window: QuotaWindow): void
  /** Gives up slices that nobody has used for a while, or all of them: what is to be returned. */
  giveUp(which: 'idle' | 'all'): SetAside[]
}

interface Slice {
  window: QuotaWindow
  left: number
  /** The last that was taken of the pool at once. */
  size: number
  takenAt: number
  usedAt: number
  isAsking: boolean
  /** The primary keeps the rest for itself until then. */
  refusedUntil: number
}

const sizes = { first: 64, max: 65_536 }
/**
 * A slice that lasts less than this is followed by one of twice its size: while the primary is
 * replaced nobody grants another.
 */
const shortMs = 20 * secondMs
const idleMs = 30 * secondMs
const refusedMs = secondMs
const waitMs = 2 * secondMs
const askEachMs = 10

/**
 * Takes slices of the pool of a key by comparing and setting, so that two copies never have the same
 * request; asks the primary for a pool where there is none. A copy that dies takes its slice with it.
 */
export function createQuotaSlices({
  bucket,
  clock,
  log,
}: {
  bucket: Bucket
  clock: Pick<Clock, 'monotonic'>
  log: Log
}): QuotaSlices {
  const slices = new Map<string, Slice>()
  const leaving: SetAside[] = []

  const leave = (keyId: string, { window: { kind, startsAt }, left }: Slice) => {
    if (left > 0) leaving.push({ keyId, kind, startsAt, requests: left })
  }
  const sliceOf = (keyId: string, window: QuotaWindow): Slice => {
    const slice = slices.get(keyId)
    if (slice && windowName(slice.window) === windowName(window)) return slice
    if (slice) leave(keyId, slice)
    const now = clock.monotonic()
    const fresh: Slice = {
      window,
      left: 0,
      size: 0,
      takenAt: now,
      usedAt: now,
      isAsking: false,
      refusedUntil: now,
    }
    slices.set(keyId, fresh)
    return fresh
  }
  /** How many are taken next: what lasted a moment only was too little. */
  const nextSize = ({ size, takenAt }: Slice) =>
    size === 0
      ? sizes.first
      : clock.monotonic() - takenAt < shortMs
        ? Math.min(sizes.max, size * 2)
        : Math.max(sizes.first, Math.floor(size / 2))

  /** Requests that were taken of the pool; 0: the primary keeps the rest for itself. */
  const draw = async (keyId: string, name: string, wanted: number): Promise<number> => {
    const until = clock.monotonic() + waitMs
    let hasAsked = false
    while (clock.monotonic() < until) {
      const entry = await bucket.get(keyId)
      const stored = entry && readPool(entry.text)
      const pool: QuotaPool = stored?.window === name ? stored : { window: name, pool: 0, wants: 0 }
      const revision = entry?.revision ?? 0
      if (pool.pool > 0) {
        const requests = Math.min(pool.pool, wanted)
        const next = { ...pool, pool: pool.pool - requests }
        if ((await bucket.set(keyId, JSON.stringify(next), revision)) !== undefined) return requests
      } else if (pool.wants > 0) {
        hasAsked = true
        await sleep(askEachMs)
      } else if (hasAsked) return 0
      else await bucket.set(keyId, JSON.stringify({ ...pool, wants: wanted }), revision)
    }
    return 0
  }
  const ask = async (keyId: string, slice: Slice) => {
    if (slice.isAsking || clock.monotonic() < slice.refusedUntil) return
    slice.isAsking = true
    const wanted = nextSize(slice)
    try {
      const requests = await draw(keyId, windowName(slice.window), wanted)
      if (requests === 0) slice.refusedUntil = clock.monotonic() + refusedMs
      else {
        slice.left += requests
        slice.size = requests
        slice.takenAt = clock.monotonic()
        slice.usedAt = slice.takenAt
        // Given up while the answer was under way: it is returned as well.
        if (slices.get(keyId) !== slice) leave(keyId, slice)
      }
    } catch (error) {
      slice.refusedUntil = clock.monotonic() + refusedMs
      log.warn('quota_slice_failed', { message: `${error}` })
    } finally {
      slice.isAsking = false
    }
  }
  return {
    left(keyId, window) {
      const slice = sliceOf(keyId, window)
      if (slice.left * 2 <= slice.size) void ask(keyId, slice)
      return slice.left
    },
    take(keyId, window) {
      const slice = sliceOf(keyId, window)
      if (slice.left <= 0) return false
      slice.left -= 1
      slice.usedAt = clock.monotonic()
      return true
    },
    putBack(keyId, window) {
      const slice = slices.get(keyId)
      if (slice && windowName(slice.window) === windowName(window)) slice.left += 1
      else leaving.push({ keyId, kind: window.kind, startsAt: window.startsAt, requests: 1 })
    },
    giveUp(which) {
      const now = clock.monotonic()
      for (const [keyId, slice] of slices) {
        if (which === 'idle' && now - slice.usedAt < idleMs) continue
        slices.delete(keyId)
        leave(keyId, slice)
        slice.left = 0
      }
      return leaving.splice(0)
    },
  }
}
