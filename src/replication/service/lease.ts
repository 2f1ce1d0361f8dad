import { objectIn } from '../../lib/text/json.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Bucket } from '../nats/connection.ts'
import type { Stored } from './foreign.ts'

/** The only key of the bucket, which names the primary. */
export const leaseKey = 'primary'

/** The right to write. */
export interface Lease {
  /** Rises with each that takes it. */
  epoch: number
  /** The replication epoch of the holder. */
  holder: string
  /** The address for other instances; empty: the configured one. */
  url: string
}

/** Parses a lease; undefined where no one holds it, and where the text is not a lease. */
export function readLease(text: string): Lease | undefined {
  const lease: Stored<Lease> = objectIn(text)
  const isLease =
    Number.isSafeInteger(lease?.epoch) &&
    typeof lease?.holder === 'string' &&
    typeof lease.url === 'string'
  return isLease ? (lease as Lease) : undefined
}

/** How long a primary writes after it last had the lease renewed. */
export const validMs = 5000
/**
 * How long a standby checks a lease that no one renews before it takes it: longer by more than
 * what two clocks can differ in.
 */
export const abandonedMs = 6000
/** Unchanged for so long, it is seen whether it can be renewed at all. */
const doubtedMs = 2000
/** How long the holder gets to renew it once it can be renewed again. */
const graceMs = 3000

/** The lease as one instance observes it. */
export type LeaseView = ReturnType<typeof createLeaseView>

/** The lease in the hands of this instance. */
export interface HeldLease {
  lease: Lease
  /** False where another instance has taken it. Throws where the bucket does not answer. */
  renew(): Promise<boolean>
  /** Hands the lease to an instance that took over in the stream. */
  handTo(holder: string): Promise<void>
  /** Whether this instance may write at this moment, by a clock that no one sets. */
  isValid(): boolean
}

/**
 * A lease that is renewed by compare-and-set: of two instances that take it, one is refused. Each
 * instance measures by its own clock from when it first saw a revision, so that no clocks are
 * compared.
 */
export function createLeaseView(bucket: Bucket, clock: Pick<Clock, 'monotonic'>) {
  let lease: Lease | undefined
  let revision = 0
  let seenAt = clock.monotonic()
  let stuckAt = Number.NEGATIVE_INFINITY

  const heldLease = (own: Lease, first: number, validFrom: number): HeldLease => {
    let last = first
    let renewedAt = validFrom
    let isLost = false
    return {
      lease: own,
      async renew() {
        if (isLost) return false
        const startedAt = clock.monotonic()
        const next = await bucket.set(leaseKey, JSON.stringify(own), last)
        if (next === undefined) {
          // An answer that was lost on the way may have been this instance's own.
          const entry = await bucket.get(leaseKey)
          const stored = entry && readLease(entry.text)
          isLost = stored?.epoch !== own.epoch || stored.holder !== own.holder
          if (entry && !isLost) last = entry.revision
          return !isLost
        }
        last = next
        renewedAt = startedAt
        return true
      },
      async handTo(holder) {
        isLost = true
        const next = { epoch: own.epoch, holder, url: '' }
        await bucket.set(leaseKey, JSON.stringify(next), last)
      },
      isValid: () => !isLost && clock.monotonic() - renewedAt < validMs,
    }
  }
  return {
    /** Reads it again; throws where the bucket does not answer. */
    async refresh() {
      try {
        const entry = await bucket.get(leaseKey)
        if ((entry?.revision ?? 0) !== revision || !lease) seenAt = clock.monotonic()
        revision = entry?.revision ?? 0
        lease = entry && readLease(entry.text)
        if (clock.monotonic() - seenAt >= doubtedMs) await bucket.checkLed()
      } catch (error) {
        // The holder does not reach the bucket either: a NATS server was lost, and the others have
        // not elected a leader yet.
        stuckAt = clock.monotonic()
        throw error
      }
    },
    current: () => lease,
    /** No one has renewed it for as long as it takes. */
    isAbandoned() {
      const now = clock.monotonic()
      return now - seenAt >= abandonedMs && now - stuckAt >= graceMs
    },
    /** Takes it, as it was at the last read; undefined where someone was faster. */
    async take(holder: string, url: string) {
      const startedAt = clock.monotonic()
      const claim = { epoch: (lease?.epoch ?? 0) + 1, holder, url }
      const taken = await bucket.set(leaseKey, JSON.stringify(claim), revision)
      return taken === undefined ? undefined : heldLease(claim, taken, startedAt)
    },
  }
}
