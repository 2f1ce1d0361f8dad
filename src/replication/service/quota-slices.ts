import type { Log } from '../../lib/log/log.ts'
import { type Clock, sleep, within } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import { isSameWindow, type QuotaWindow } from '../../plans/quota.ts'
import type { SetAside } from '../../topics/keys/service/replica-usage.ts'
import type { Bucket } from '../nats/connection.ts'
import type { HeldQuotas } from './nodes.ts'
import { type QuotaPool, readPool, windowName } from './quota-bucket.ts'

/** The parts of quotas that this instance may use without another request. */
export type QuotaSlices = ReturnType<typeof createQuotaSlices>

interface Slice {
  window: QuotaWindow
  left: number
  /** The last that was taken of the pool at once. */
  size: number
  takenAt: number
  /** Requests that were answered since then. */
  used: number
  usedAt: number
  /** Settles when the requested slice has arrived or was refused. */
  asking: Promise<void> | undefined
  /** The primary keeps the rest for itself until then. */
  refusedUntil: number
}

const sizes = { first: 64, max: 1_048_576, growthMax: 32 }
/** The least that a slice, and the reserve of a pool, is of a large quota: one request in so many. */
const leastShares = { slice: 10_000, reserve: 1000 }
/**
 * The slices that a pool keeps in reserve for further replicas. While the primary is being replaced
 * no one fills the pool, and the remaining replicas answer requests of the others.
 */
const slicesInReserve = 3
/** A slice covers the requests of this time; the next is taken when half of it is left. */
const lastsMs = 30 * secondMs
const idleMs = 30 * secondMs
const refusedMs = secondMs
const waitMs = 2 * secondMs
const askEachMs = 10

const shareOf = ({ limit }: QuotaWindow, share: number) => Math.floor((limit ?? 0) / share)

/**
 * Takes slices of the pool of a key by compare-and-set, so that two instances never have the same
 * request; requests a pool from the primary where there is none. The slice of an instance that
 * crashes is lost.
 */
export function createQuotaSlices({
  bucket,
  clock,
  log,
}: {
  bucket: Bucket
  clock: Pick<Clock, 'monotonic'>
  log: Log
}) {
  const slices = new Map<string, Slice>()
  const requested = new Set<Promise<void>>()
  const leaving: SetAside[] = []

  const leave = (keyId: string, { window: { kind, startsAt }, left }: Slice) => {
    if (left > 0) leaving.push({ keyId, kind, startsAt, requests: left })
  }
  const sliceOf = (keyId: string, window: QuotaWindow): Slice => {
    const slice = slices.get(keyId)
    if (slice && isSameWindow(slice.window, window)) return slice
    if (slice) leave(keyId, slice)
    const now = clock.monotonic()
    const fresh: Slice = {
      window,
      left: 0,
      size: 0,
      takenAt: now,
      used: 0,
      usedAt: now,
      asking: undefined,
      refusedUntil: now,
    }
    slices.set(keyId, fresh)
    return fresh
  }
  const nextSize = ({ size, takenAt, used, window }: Slice) => {
    const demand = Math.ceil((used * lastsMs) / Math.max(1, clock.monotonic() - takenAt))
    const max = Math.min(sizes.max, size * sizes.growthMax)
    return Math.max(sizes.first, shareOf(window, leastShares.slice), Math.min(max, demand))
  }

  /** Requests taken from the pool; 0 when the primary keeps the rest for itself. */
  const draw = async (keyId: string, window: QuotaWindow, wanted: number): Promise<number> => {
    const name = windowName(window)
    const reserve = Math.max(wanted * slicesInReserve, shareOf(window, leastShares.reserve))
    const until = clock.monotonic() + waitMs
    let hasAsked = false
    while (clock.monotonic() < until) {
      const entry = await bucket.get(keyId)
      const stored = entry && readPool(entry.text)
      const pool: QuotaPool = stored?.window === name ? stored : { window: name, pool: 0, wants: 0 }
      const revision = entry?.revision ?? 0
      if (pool.pool > 0) {
        const requests = Math.min(pool.pool, wanted)
        const rest = pool.pool - requests
        const lacking = reserve - rest
        const next = { ...pool, pool: rest, wants: Math.max(pool.wants, lacking) }
        if ((await bucket.set(keyId, JSON.stringify(next), revision)) !== undefined) return requests
      } else if (pool.wants > 0) {
        hasAsked = true
        await sleep(askEachMs)
      } else if (hasAsked) return 0
      else {
        const wants = wanted + reserve
        await bucket.set(keyId, JSON.stringify({ ...pool, wants }), revision)
      }
    }
    return 0
  }
  const ask = async (keyId: string, slice: Slice) => {
    const wanted = nextSize(slice)
    try {
      const requests = await draw(keyId, slice.window, wanted)
      if (requests === 0) slice.refusedUntil = clock.monotonic() + refusedMs
      else {
        slice.left += requests
        slice.size = requests
        slice.takenAt = clock.monotonic()
        slice.used = 0
        slice.usedAt = slice.takenAt
        // Given up while the answer was under way: it is returned as well.
        if (slices.get(keyId) !== slice) leave(keyId, slice)
      }
    } catch (error) {
      slice.refusedUntil = clock.monotonic() + refusedMs
      log.warn('quota_slice_failed', { message: `${error}` })
    }
  }
  /** Requests that are left of the slice of a key in a window; requests more where few are. */
  const left = (keyId: string, window: QuotaWindow): number => {
    const slice = sliceOf(keyId, window)
    const isLow = slice.left * 2 <= slice.size
    if (isLow && !slice.asking && clock.monotonic() >= slice.refusedUntil) {
      const asking = ask(keyId, slice).finally(() => {
        slice.asking = undefined
        requested.delete(asking)
      })
      slice.asking = asking
      requested.add(asking)
    }
    return slice.left
  }
  return {
    left,
    /** Waits for the slices that are requested: those given up before are returned as well. */
    settled: async () => void (await Promise.all(requested)),
    /** Waits a while for the slice that is requested; false where none comes. */
    async comes(keyId: string, window: QuotaWindow, withinMs: number) {
      const until = clock.monotonic() + withinMs
      while (left(keyId, window) <= 0) {
        const { asking, refusedUntil } = sliceOf(keyId, window)
        const rest = until - clock.monotonic()
        // A refused slice is requested again when there is time for it.
        const pause = asking ? rest : refusedUntil - clock.monotonic()
        if (rest <= 0 || pause > rest) return false
        await (asking ? within(pause, asking) : sleep(pause))
      }
      return true
    },
    /** Takes one request; false where none is left. */
    take(keyId: string, window: QuotaWindow) {
      const slice = sliceOf(keyId, window)
      if (slice.left <= 0) return false
      slice.left -= 1
      slice.used += 1
      slice.usedAt = clock.monotonic()
      return true
    },
    /** Puts one request back that was not answered. */
    putBack(keyId: string, window: QuotaWindow) {
      const slice = slices.get(keyId)
      if (slice && isSameWindow(slice.window, window)) slice.left += 1
      else leaving.push({ keyId, kind: window.kind, startsAt: window.startsAt, requests: 1 })
    },
    /** The unused requests of all slices. */
    held: (): HeldQuotas => ({
      keys: slices.size,
      requests: [...slices.values()].reduce((sum, slice) => sum + slice.left, 0),
    }),
    /** Releases all slices, or those unused for a while; returns the slices to give back. */
    giveUp(which: 'idle' | 'all') {
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
