import type { Clock } from '../../../lib/time/clock.ts'
import { hourMs } from '../../../lib/time/instant.ts'
import type { QuotaWindow } from '../../../plans/quota.ts'
import type { UsageHour } from '../store/usage-batch.ts'
import type { Charges } from './charges.ts'
import type { Keyring, KeyState } from './keyring.ts'
import { hourOf, type RunningCount } from './meter-counts.ts'
import type { MeterWriter } from './meter-writer.ts'
import type { RunningCounts } from './running-counts.ts'

/**
 * Requests of a key that another instance answered in an hour, and the time of the last one (Unix
 * ms).
 */
export interface ForeignUsage extends UsageHour {
  lastUsedAt: number
  /** How many of the charged requests the quota was charged with beforehand. */
  prepaid: number
}

/** Requests of a window that a quota is, or was, charged with in advance. */
export interface SetAside {
  keyId: string
  kind: QuotaWindow['kind']
  startsAt: number
  requests: number
}

/** The share of the rest of a quota that is set aside at a time: one in so many. */
const setAsideShare = 8

/** Charges quotas with the requests that replicas answer. */
export function createReplicaUsage(
  keys: Keyring,
  counts: Pick<RunningCounts, 'running'>,
  clock: Clock,
  usedOf: (state: KeyState, count: RunningCount, now: number) => number,
  writer: Pick<MeterWriter, 'markDirty'>,
  charges: Pick<Charges, 'write'>,
) {
  return {
    /** Counts requests that other instances have answered. Deleted keys are skipped. */
    take(usage: readonly ForeignUsage[]) {
      const now = clock.now()
      for (const { keyId, endpoint, hourAt, statusClass, ...answered } of usage) {
        const state = keys.byId(keyId)
        if (!state) continue
        const count = counts.running(state, now)
        const hour = hourOf(count, { endpoint, hourAt, statusClass })
        hour.requests += answered.requests
        hour.metered += answered.metered
        hour.durationUs += answered.durationUs
        // Usage of a window that is over changes nothing any more.
        if (hourAt + hourMs > count.period.window.startsAt)
          count.used += answered.metered - answered.prepaid
        count.dirty = true
        count.lastUsedAt = Math.max(count.lastUsedAt, answered.lastUsedAt)
        writer.markDirty(count)
      }
    },
    /**
     * Charges a quota with requests that replicas may answer, at most `max` and a small share of the
     * rest, and writes the charge; undefined where so little is left that this instance answers the
     * rest.
     */
    setAside(state: KeyState, max: number): SetAside | undefined {
      const now = clock.now()
      const count = counts.running(state, now)
      const { kind, startsAt, limit } = count.period.window
      if (limit === null) return undefined
      const left = limit - usedOf(state, count, now)
      const requests = Math.min(max, Math.floor(left / setAsideShare))
      if (requests <= 0) return undefined
      count.used += requests
      count.dirty = true
      writer.markDirty(count)
      try {
        charges.write(count)
      } catch (error) {
        count.used -= requests
        throw error
      }
      return { keyId: state.key.id, kind, startsAt, requests }
    },
    /** Takes a charge back, in whole or in part; of a window that is over nothing. */
    putBack({ keyId, kind, startsAt, requests }: SetAside) {
      const state = keys.byId(keyId)
      if (!state) return
      const count = counts.running(state, clock.now())
      const { window } = count.period
      if (window.kind !== kind || window.startsAt !== startsAt) return
      count.used = Math.max(0, count.used - requests)
      count.dirty = true
      // The count drops, so the numbers written ahead and sent to the stream no longer apply.
      count.ahead = 0
      count.streamed = 0
      count.written = []
      writer.markDirty(count)
    },
  }
}
