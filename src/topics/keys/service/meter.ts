import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs, hourMs, startOfDay, startOfHour } from '../../../lib/time/instant.ts'
import type { DayUsage } from '../../../plans/efficiency.ts'
import type { Entitlements } from '../../../plans/plans.ts'
import {
  isSameWindow,
  type QuotaState,
  type QuotaWindow,
  quotaSource,
  quotaState,
} from '../../../plans/quota.ts'
import type { UsageStore } from '../store/usage.ts'
import type { UsageHour } from '../store/usage-batch.ts'
import type { Credits, TakenCredit } from './credits.ts'
import { type AccountState, countedKeys, type Keyring, type KeyState } from './keyring.ts'
import {
  addToTally,
  type Count,
  counterOf,
  dayOf,
  hourOf,
  nextNoticeAt,
  noticePercents,
  type RunningCount,
} from './meter-counts.ts'
import { createMeterWriter } from './meter-writer.ts'
import { createRunningCounts, type RunningCounts } from './running-counts.ts'

export { isHourOf, newHour } from './meter-counts.ts'

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

/** A key whose requests have reached a share of their quota. */
export interface QuotaReach {
  key: KeyState
  window: QuotaWindow
  used: number
  percent: number
}

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

/**
 * Quota counters and usage in memory, written behind. A crash loses what was not flushed, in the
 * customer's favour.
 */
export type Meter = ReturnType<typeof createMeter>

/** Reports which changes other instances have. */
export interface ChargedStream {
  /** The last change that is committed here. */
  sequence(): number
  has(change: number): boolean
}

/**
 * Requests that are written as used in advance: at first, and at most one in `share`. Half of them
 * are enough for `lastMs`, while a lost NATS server delays the confirmation of writes.
 */
const aheadSteps = { first: 16, share: 100, lastMs: 10_000 }

/** So many writes of a counter may be on their way to the stream. */
const writtenMax = 100

/** The share of the rest of a quota that is set aside at a time: one in so many. */
const setAsideShare = 8

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
  const writer = createMeterWriter(store, counts, clock, notices.written, !writesAhead)
  const boughtRequests = createBoughtRequests(credits)
  /** Keeps what is written a part of a step before what is used. */
  const writeAhead = (count: Count, limit: number) => {
    if (count.ahead >= limit || count.used + count.aheadStep / 2 < count.ahead) return
    const before = count.ahead
    const now = clock.monotonic()
    const isFast = now - count.aheadAt < aheadSteps.lastMs
    const stepMax = Math.max(aheadSteps.first, Math.floor(limit / aheadSteps.share))
    const step = isFast ? count.aheadStep * 2 : Math.floor(count.aheadStep / 2)
    count.aheadStep = Math.min(stepMax, Math.max(aheadSteps.first, step))
    count.aheadAt = now
    count.ahead = Math.min(limit, count.used + count.aheadStep)
    try {
      writer.write(count)
      noteWritten(count)
    } catch (error) {
      count.ahead = before
      // On a full disk it is counted in memory, and written when there is room. An instance that
      // may not write must not answer requests that another one may be answering.
      if (isReadonly(error) && count.used > before) {
        count.used -= 1
        throw error
      }
    }
  }

  let stream: ChargedStream | undefined
  const noteWritten = (count: Count) => {
    if (!stream) return
    lookAtStream(count, stream)
    count.written.push({ used: Math.max(count.used, count.ahead), change: stream.sequence() })
    if (count.written.length > writtenMax) count.written.shift()
  }
  const lookAtStream = (count: Count, { has }: ChargedStream) => {
    while (count.written.length > 0 && has(count.written[0]!.change))
      count.streamed = count.written.shift()!.used
  }
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
      writer.mark(count)
      if (writesAhead && window.limit !== null) writeAhead(count, window.limit)
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
      writer.mark(count)
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
      writer.mark(count)
      return quotaUsageOf(state, count, now)
    },
    /** Counts requests that other instances have answered. Deleted keys are skipped. */
    take(usage: readonly ForeignUsage[]) {
      const now = clock.now()
      for (const { keyId, endpoint, hourAt, statusClass, ...answered } of usage) {
        const state = keys.byId(keyId)
        if (!state) continue
        const count = running(state, now)
        const hour = hourOf(count, { endpoint, hourAt, statusClass })
        hour.requests += answered.requests
        hour.metered += answered.metered
        hour.durationUs += answered.durationUs
        // Usage of a window that is over changes nothing any more.
        if (hourAt + hourMs > count.period.window.startsAt)
          count.used += answered.metered - answered.prepaid
        count.dirty = true
        count.lastUsedAt = Math.max(count.lastUsedAt, answered.lastUsedAt)
        writer.mark(count)
      }
    },
    /**
     * Charges a quota with requests that replicas may answer, at most `max` and a small share of the
     * rest, and writes the charge; undefined where so little is left that this instance answers the
     * rest.
     */
    setAside(state: KeyState, max: number): SetAside | undefined {
      const now = clock.now()
      const count = running(state, now)
      const { kind, startsAt, limit } = count.period.window
      if (limit === null) return undefined
      const left = limit - usedOf(state, count, now)
      const requests = Math.min(max, Math.floor(left / setAsideShare))
      if (requests <= 0) return undefined
      count.used += requests
      count.dirty = true
      writer.mark(count)
      try {
        writer.write(count)
        noteWritten(count)
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
      const count = running(state, clock.now())
      const { window } = count.period
      if (window.kind !== kind || window.startsAt !== startsAt) return
      count.used = Math.max(0, count.used - requests)
      count.dirty = true
      // The count drops, so the numbers written ahead and sent to the stream no longer apply.
      count.ahead = 0
      count.streamed = 0
      count.written = []
      writer.mark(count)
    },
    /**
     * From here on a request counts as charged once the stream of changes has the charge, so that an
     * instance that takes over does not grant it again.
     */
    followStream(followed: ChargedStream) {
      stream = followed
    },
    /** Whether every request of the key's window so far is charged. */
    isCharged(state: KeyState) {
      if (!stream) return true
      const count = running(state, clock.now())
      if (count.used > count.streamed) lookAtStream(count, stream)
      return count.period.window.limit === null || count.used <= count.streamed
    },
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
      writer.mark(count)
    },
    ...createUsageReports(store, counts, clock, writer.settle),
    /**
     * Writes everything that waits; the last time also what was written beforehand is made what it
     * is.
     */
    flush(isLast: boolean = false) {
      credits?.flush()
      if (isLast) counts.settleAhead(writer.mark)
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
      // Another database was opened, so its waiting counts are not in memory.
      if (!writesAhead) store.addWaiting()
    },
  }
}

const isReadonly = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'SQLITE_READONLY'

/** Requests that were bought: which one stands behind a window that was answered for one. */
function createBoughtRequests(credits: Credits | undefined) {
  const creditByWindow = new WeakMap<QuotaWindow, TakenCredit>()
  return {
    /** A new window object, so that the request can be given back; undefined: none is left. */
    take({ account }: KeyState, window: QuotaWindow): QuotaWindow | undefined {
      const credit = credits?.take(account.account.id)
      if (!credit) return undefined
      const own = { ...window }
      creditByWindow.set(own, credit)
      return own
    },
    /** False: the window is that of a quota. */
    giveBack(window: QuotaWindow): boolean {
      const credit = creditByWindow.get(window)
      if (!credit) return false
      creditByWindow.delete(window)
      credits?.giveBack(credit)
      return true
    },
  }
}

/** Notifies listeners of the shares of a quota that a key has reached. */
function createQuotaNotices(keys: Keyring, usedOf: (key: KeyState, count: RunningCount) => number) {
  const listeners: ((reach: QuotaReach) => void)[] = []
  return {
    listen: (listener: (reach: QuotaReach) => void) => void listeners.push(listener),
    written(count: Count) {
      const { period } = count
      if (!period || listeners.length === 0) return
      const key = keys.byId(count.keyId)
      if (!key) return
      const used = usedOf(key, count as RunningCount)
      while (used >= period.nextNoticeAt) {
        const percent = noticePercents[period.noticesGiven]!
        for (const listener of listeners) listener({ key, window: period.window, used, percent })
        period.noticesGiven += 1
        period.nextNoticeAt = nextNoticeAt(period.window, period.noticesGiven)
      }
    },
  }
}

/** Usage reports by key and by account. Pending counts are written first. */
function createUsageReports(
  store: UsageStore,
  counts: RunningCounts,
  clock: Clock,
  settle: (keyIds: readonly string[]) => void,
) {
  const metered = (keyIds: readonly string[], from: number, to: number) => {
    settle(keyIds)
    return store.meteredByDay(keyIds, from, to)
  }
  const idsOf = (account: AccountState) => countedKeys(account).map(key => key.key.id)
  const sum = (days: readonly { requests: number }[]) =>
    days.reduce((total, day) => total + day.requests, 0)
  return {
    /** The key's requests of the running day, for the report of efficiency. */
    day(state: KeyState): DayUsage {
      const keyId = state.key.id
      const { tally } = counts.running(state, clock.now())
      const from = startOfDay(clock.now())
      const { etags, batchable, cacheable } =
        tally.dayAt === from ? tally : counts.tallyOf(keyId, from)
      return {
        requests: sum(metered([keyId], from, from + dayMs)),
        distinctCodes: etags.size,
        batchable,
        cacheable,
      }
    },
    /** Requests of the account that counted since the start of the month. */
    monthly: (account: AccountState, from: number) =>
      sum(metered(idsOf(account), from, clock.now() + hourMs)),
    /** Requests of the account that counted, per UTC day with any, oldest first. */
    daily: (
      account: AccountState,
      from: number,
      to: number,
    ): { dayAt: number; requests: number }[] => metered(idsOf(account), from, to),
    hours(states: readonly KeyState[], from: number, to: number): UsageHour[] {
      const keyIds = states.map(state => state.key.id)
      settle(keyIds)
      return store.hours(keyIds, from, to)
    },
  }
}
