import type { Clock } from '../../../lib/time/clock.ts'
import { startOfDay, startOfHour } from '../../../lib/time/instant.ts'
import type { Entitlements } from '../../../plans/plans.ts'
import {
  isSameWindow,
  type QuotaState,
  type QuotaWindow,
  quotaSource,
  quotaState,
} from '../../../plans/quota.ts'
import type { UsageStore } from '../store/usage.ts'
import { createCharges } from './charges.ts'
import { type Credits, createBoughtRequests } from './credits.ts'
import { countedKeys, type Keyring, type KeyState } from './keyring.ts'
import { addToTally, counterOf, dayOf, hourOf, type RunningCount } from './meter-counts.ts'
import { createMeterWriter } from './meter-writer.ts'
import { createQuotaNotices } from './quota-notices.ts'
import { createReplicaUsage } from './replica-usage.ts'
import { createRunningCounts } from './running-counts.ts'
import { createUsageReports } from './usage-reports.ts'

/** The quota of a key and its use. */
export interface QuotaUsage {
  entitled: Entitlements
  window: QuotaWindow
  /** Used requests of the quota; bought requests are not counted here. */
  used: number
  /** Bought requests that are left, once the quota is used up; 0 before. */
  extra: number
  state: QuotaState
}

/**
 * Quota counters and usage in memory, written behind. A crash loses what was not flushed, in the
 * customer's favour.
 */
export type Meter = ReturnType<typeof createMeter>

/**
 * `credits` are used when a quota is used up; without them requests are refused then.
 * `writesAhead`: a crash loses no counted request of a quota, and may count some that were never
 * made.
 */
export function createMeter(
  store: UsageStore,
  keys: Keyring,
  clock: Clock,
  scope: 'key' | 'account',
  credits?: Credits,
  writesAhead = false,
) {
  const counts = createRunningCounts(store, keys, clock)
  const { running } = counts

  const usedOf = (state: KeyState, count: RunningCount, now: number): number =>
    scope === 'key'
      ? count.used
      : countedKeys(state.account).reduce((sum, key) => sum + running(key, now).used, 0)

  const notices = createQuotaNotices(keys, (key, count) => usedOf(key, count, clock.now()))
  // Asked where counters are written, once a second, so that a request does not pay for it.
  const writer = createMeterWriter(store, counts, clock, notices.written)
  const boughtRequests = createBoughtRequests(credits)
  const charges = createCharges(clock, writer)
  const quotaUsageOf = (state: KeyState, count: RunningCount, now: number): QuotaUsage => {
    const used = usedOf(state, count, now)
    const { entitled, window } = count.period
    const isSpent = credits !== undefined && window.limit !== null && used >= window.limit
    const extra = isSpent ? credits.remaining(state.account.account.id) : 0
    return { entitled, window, used, extra, state: quotaState(entitled, window, used, extra) }
  }

  return {
    /** `now` is the time of the clock, for callers that have read it already. */
    quotaUsage: (state: KeyState, now: number = clock.now()): QuotaUsage =>
      quotaUsageOf(state, running(state, now), now),
    /**
     * Takes one request from the quota, else a bought one, and returns its window; undefined when
     * both are used up. `now` is the clock's.
     */
    reserve(state: KeyState, now: number = clock.now()): QuotaWindow | undefined {
      const count = running(state, now)
      const { window } = count.period
      if (quotaSource(window, usedOf(state, count, now)) === 'exhausted')
        return boughtRequests.take(state, window)
      count.used += 1
      count.dirty = true
      writer.markDirty(count)
      if (writesAhead && window.limit !== null) charges.writeAhead(count, window.limit)
      return window
    },
    /** Gives a request back to where it was taken from, also when another window has begun since. */
    refund(state: KeyState, window: QuotaWindow) {
      if (boughtRequests.giveBack(window)) return
      const count = counts.find(state.key.id)
      if (!count) return
      if (count.period && isSameWindow(count.period.window, window)) {
        count.used = Math.max(0, count.used - 1)
        count.dirty = true
      } else {
        const used = Math.max(0, counts.usedBefore(count, window) - 1)
        count.past.push(counterOf(count.keyId, window, used))
      }
      writer.markDirty(count)
    },
    /**
     * Records the outcome of a request and returns the state of its key. `durationMs` is the time
     * from the gate to the answer.
     */
    record(
      state: KeyState,
      endpoint: string,
      status: number,
      metered: boolean,
      durationMs: number,
      now: number = clock.now(),
    ): QuotaUsage {
      const count = running(state, now)
      const statusClass = Math.floor(status / 100)
      const hour = hourOf(count, { endpoint, hourAt: startOfHour(now), statusClass })
      hour.requests += 1
      if (metered) hour.metered += 1
      hour.durationUs += Math.round(durationMs * 1000)
      count.lastUsedAt = now
      state.lastUsedAt = now
      writer.markDirty(count)
      return quotaUsageOf(state, count, now)
    },
    ...createReplicaUsage(keys, counts, clock, usedOf, writer, charges),
    /** Whether every request of the key's window so far is charged. */
    isCharged: (state: KeyState) => charges.isCharged(running(state, clock.now())),
    followStream: charges.follow,
    /** Records the series of a request, and whether the key already had this response. */
    noteRequested(state: KeyState, seriesIds: readonly number[], etag: string = '') {
      const count = counts.of(state)
      const dayAt = startOfDay(clock.now())
      if (count.tally.dayAt !== dayAt) {
        if (count.tallyDirty) count.pastDays.push(dayOf(count))
        count.tally = counts.tallyOf(count.keyId, dayAt)
      }
      addToTally(count.tally, seriesIds, etag)
      count.tallyDirty = true
      writer.markDirty(count)
    },
    ...createUsageReports(store, counts, clock, writer.settle),
    /**
     * Writes everything that waits; the last time also what was written beforehand is made what it
     * is.
     */
    flush(isLast: boolean = false) {
      credits?.flush()
      if (isLast) counts.settleAhead(writer.markDirty)
      writer.flush()
    },
    /**
     * Writes the counters and usage of some keys, so that no request waits long; returns how many
     * keys still wait.
     */
    flushSome(keysMax: number) {
      credits?.flush()
      return writer.flushSome(keysMax)
    },
    /**
     * Calls `listener`, when counters are written, for keys that have reached 80 or 100 percent of
     * their quota; possibly once more for the same window after a start.
     */
    listen: notices.listen,
    /** Drops what is in memory without writing it, as after a restored snapshot. */
    reset() {
      credits?.reset()
      counts.reset()
      writer.reset()
    },
  }
}
