import type { Clock } from '../../lib/clock.ts'
import { hourMs, isoDay, startOfHour } from '../../lib/instant.ts'
import type { DayUsage } from '../../plan/efficiency.ts'
import type { Entitlements } from '../../plan/plans.ts'
import {
  type QuotaState,
  type QuotaWindow,
  quotaSource,
  quotaState,
  quotaWindow,
} from '../../plan/quota.ts'
import type { UsageHour, UsageStore } from '../../store/keys/usage.ts'
import type { Credits, TakenCredit } from './credits.ts'
import { type AccountState, countedKeys, type Keyring, type KeyState } from './keyring.ts'
import {
  type Count,
  counterOf,
  dayOf,
  isSameWindow,
  nextNoticeAt,
  noticePercents,
  type RunningCount,
  stablePeriod,
  type Tally,
} from './meter-counts.ts'

/** Where a key stands in its quota. */
export interface Standing {
  entitled: Entitlements
  window: QuotaWindow
  /** Of the quota; bought requests are not counted here. */
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
 * Quota counters and usage in memory, written behind. A crash loses what was not flushed, in the
 * customer's favour.
 */
export interface Meter {
  /** `now` is the clock's, for who has it already. */
  standing(key: KeyState, now?: number): Standing
  /**
   * Takes one request of the quota, else a bought one, and says of which window; undefined when
   * both are used up. `now` is the clock's.
   */
  reserve(key: KeyState, now?: number): QuotaWindow | undefined
  /** Gives a request back to where it was taken from, also when another window has begun since. */
  refund(key: KeyState, window: QuotaWindow): void
  /**
   * Notes how a request went and says where its key stands then. `durationMs` is the time from the
   * gate to the answer.
   */
  record(
    key: KeyState,
    endpoint: string,
    status: number,
    metered: boolean,
    durationMs: number,
    now?: number,
  ): Standing
  /** Notes which series a request asked for, and whether its answer was one the key already had. */
  asked(key: KeyState, seriesIds: readonly number[], etag?: string): void
  /** The key's requests of the running day, for the report of efficiency. */
  day(key: KeyState): DayUsage
  /** Requests of the account that counted since the start of the month. */
  monthly(account: AccountState, from: number): number
  /** Requests of the account that counted, per UTC day with any, oldest first. */
  daily(account: AccountState, from: number, to: number): { dayAt: number; requests: number }[]
  hours(keys: readonly KeyState[], from: number, to: number): UsageHour[]
  /** Writes everything that waits. */
  flush(): void
  /**
   * Writes the counters and usage of some keys, so that nobody waits long; answers how many keys
   * still wait.
   */
  flushSome(keysMax: number): number
  /** Drops what is in memory without writing it, as after a restored snapshot. */
  reset(): void
  /**
   * Hears, when counters are written, of keys that have reached 80 or 100 percent of their quota;
   * of one window maybe once more after a start.
   */
  listen(listener: (reach: QuotaReach) => void): void
}

const tallyMs = 30_000
const windowsMax = 1000

/** `credits` are asked where a quota is used up; without them it is used up for good. */
export function createMeter(
  store: UsageStore,
  keys: Keyring,
  clock: Clock,
  scope: 'key' | 'account',
  credits?: Credits,
): Meter {
  let counts = new Map<string, Count>()
  const windows = new Map<string, QuotaWindow>()
  const dirty = new Set<Count>()
  /** Keys of which only the tally of the day waits. */
  const talliesDirty = new Set<Count>()
  let talliesAt = clock.monotonic()
  /** Keys that waited when a round of writing began and have not had their turn. */
  let round: { withDays: boolean; counts: Count[] } = { withDays: false, counts: [] }
  const listeners: ((reach: QuotaReach) => void)[] = []
  /** Which bought request stands behind a window that was answered for one. */
  const creditByWindow = new WeakMap<QuotaWindow, TakenCredit>()

  const tallyOf = (keyId: string, dayOn: string): Tally => {
    const stored = store.day(keyId, dayOn)
    return {
      dayOn,
      batchable: stored?.batchable ?? 0,
      cacheable: stored?.cacheable ?? 0,
      seen: new Map(stored?.seriesIds.map(id => [id, ''])),
    }
  }

  const make = (keyId: string): Count => {
    const tally = tallyOf(keyId, isoDay(clock.now()))
    const fields = {
      keyId,
      period: undefined,
      used: 0,
      dirty: false,
      past: [],
      pastDays: [],
      lastUsedAt: 0,
      tally,
      tallyDirty: false,
    }
    const count: Count = { ...fields, hours: new Map(), hour: undefined }
    counts.set(keyId, count)
    return count
  }

  /**
   * Windows of most keys are alike: where they are one object, what is made for a window is made
   * once and found in the cache.
   */
  const sharedWindow = (window: QuotaWindow): QuotaWindow => {
    const name = `${window.kind} ${window.startsAt} ${window.endsAt} ${window.limit} ${window.capped}`
    const shared = windows.get(name)
    if (shared) return shared
    if (windows.size >= windowsMax) windows.clear()
    windows.set(name, window)
    return window
  }

  /**
   * What a window that is not the running one says: what waits to be written, else what is stored.
   */
  const heldOf = (count: Count, { kind, startsAt }: QuotaWindow): number =>
    count.past.findLast(counter => counter.window === kind && counter.startsAt === startsAt)
      ?.used ?? store.counter(count.keyId, kind, startsAt)

  /**
   * The count of a key with the window that holds now; a new window starts from what is stored for
   * it. It does not write, so that a disk that is full at the turn of a window does not stop the
   * reading.
   */
  const current = (state: KeyState, now = clock.now()): RunningCount => {
    const count = counts.get(state.key.id) ?? make(state.key.id)
    const { account } = state.account
    const period = count.period
    // A change makes another account object: with the same one, plan, confirmation and trial are
    // what they were.
    if (period && period.account === account && now >= period.from && now < period.to)
      return count as RunningCount
    const entitled = keys.entitlements(state.account)
    const window = sharedWindow(quotaWindow(entitled, account, now))
    if (!period || !isSameWindow(period.window, window)) {
      const used = heldOf(count, window)
      if (period && count.dirty) count.past.push(counterOf(count.keyId, period.window, count.used))
      count.used = used
      count.dirty = false
    }
    count.period = {
      window,
      entitled,
      account,
      ...stablePeriod(account, window, now),
      told: 0,
      tellAt: nextNoticeAt(window, 0),
    }
    return count as RunningCount
  }

  const usedOf = (state: KeyState, count: RunningCount): number =>
    scope === 'key'
      ? count.used
      : countedKeys(state.account).reduce((sum, key) => sum + current(key).used, 0)

  /** Asked where counters are written, once a second, so that a request does not pay for it. */
  const tellReached = (count: Count) => {
    const key = keys.byId(count.keyId)
    const { period } = count
    if (!key || !period || listeners.length === 0) return
    const used = usedOf(key, count as RunningCount)
    while (used >= period.tellAt) {
      for (const listener of listeners)
        listener({ key, window: period.window, used, percent: noticePercents[period.told]! })
      period.told += 1
      period.tellAt = nextNoticeAt(period.window, period.told)
    }
  }

  const write = (batch: readonly Count[], withDays: boolean) => {
    store.write({
      counters: batch.flatMap(({ past, dirty: changed, period, keyId, used, lastUsedAt }) =>
        period && (changed || lastUsedAt > 0)
          ? [...past, counterOf(keyId, period.window, used, lastUsedAt)]
          : past,
      ),
      hours: batch.flatMap(count => [...count.hours.values()]),
      days: batch.flatMap(count =>
        withDays && count.tallyDirty ? [...count.pastDays, dayOf(count)] : count.pastDays,
      ),
    })
    for (const count of batch) {
      count.dirty = false
      count.past = []
      count.pastDays = []
      if (withDays) count.tallyDirty = false
      count.hours.clear()
      count.hour = undefined
      count.lastUsedAt = 0
      dirty.delete(count)
      if (count.tallyDirty) talliesDirty.add(count)
      else talliesDirty.delete(count)
    }
    for (const count of batch) tellReached(count)
  }

  const flush = () => {
    credits?.flush()
    const all = new Set([...dirty, ...talliesDirty])
    if (all.size > 0) write([...all], true)
    talliesDirty.clear()
    talliesAt = clock.monotonic()
  }

  /**
   * By key, as the tables that count them are: neighbours share pages, so that a round writes each
   * page once and not once a slice.
   */
  const inOrder = (some: Iterable<Count>): Count[] =>
    Array.from(some, count => count.keyId)
      .sort()
      .map(keyId => counts.get(keyId)!)

  const flushSome = (keysMax: number): number => {
    credits?.flush()
    if (round.counts.length === 0) {
      // How sparingly a key asked is a report, not a count: it is written every half minute,
      // because it changes with every request.
      const withDays = clock.monotonic() - talliesAt >= tallyMs
      round = { withDays, counts: inOrder(withDays ? new Set([...dirty, ...talliesDirty]) : dirty) }
    }
    const batch = round.counts.splice(0, keysMax)
    if (batch.length > 0) write(batch, round.withDays)
    if (round.withDays && round.counts.length === 0) talliesAt = clock.monotonic()
    return Math.max(dirty.size, round.counts.length)
  }

  /**
   * For reports on keys: what can not be written now is missing from them, and the next flush tries
   * again.
   */
  const settle = (keyIds: readonly string[]) => {
    const waiting = keyIds
      .map(id => counts.get(id))
      .filter(count => count !== undefined && (dirty.has(count) || talliesDirty.has(count)))
    if (waiting.length === 0) return
    try {
      write(waiting as Count[], true)
    } catch {}
  }

  const buyOne = ({ account }: KeyState, window: QuotaWindow): QuotaWindow | undefined => {
    const credit = credits?.take(account.account.id)
    if (!credit) return undefined
    const own = { ...window }
    creditByWindow.set(own, credit)
    return own
  }

  const standingOf = (state: KeyState, count: RunningCount): Standing => {
    const used = usedOf(state, count)
    const { entitled, window } = count.period
    const isSpent = credits !== undefined && window.limit !== null && used >= window.limit
    const extra = isSpent ? credits.remaining(state.account.account.id) : 0
    return { entitled, window, used, extra, state: quotaState(entitled, window, used, extra) }
  }

  return {
    standing: (state, now) => standingOf(state, current(state, now)),
    reserve(state, now) {
      const count = current(state, now)
      const { window } = count.period
      if (quotaSource(window, usedOf(state, count)) === 'exhausted') return buyOne(state, window)
      count.used += 1
      count.dirty = true
      dirty.add(count)
      return window
    },
    refund(state, window) {
      const credit = creditByWindow.get(window)
      if (credit) {
        creditByWindow.delete(window)
        credits?.giveBack(credit)
        return
      }
      const count = counts.get(state.key.id)
      if (!count) return
      if (count.period && isSameWindow(count.period.window, window)) {
        count.used = Math.max(0, count.used - 1)
        count.dirty = true
      } else count.past.push(counterOf(count.keyId, window, Math.max(0, heldOf(count, window) - 1)))
      dirty.add(count)
    },
    record(state, endpoint, status, metered, durationMs, now = clock.now()) {
      const count = current(state, now)
      const hourAt = startOfHour(now)
      const statusClass = Math.floor(status / 100)
      let { hour } = count
      if (
        !hour ||
        hour.endpoint !== endpoint ||
        hour.hourAt !== hourAt ||
        hour.statusClass !== statusClass
      ) {
        const name = `${hourAt} ${statusClass} ${endpoint}`
        hour = count.hours.get(name) ?? {
          keyId: state.key.id,
          hourAt,
          endpoint,
          statusClass,
          requests: 0,
          metered: 0,
          durationUs: 0,
        }
        count.hours.set(name, hour)
        count.hour = hour
      }
      hour.requests += 1
      if (metered) hour.metered += 1
      hour.durationUs += Math.round(durationMs * 1000)
      count.lastUsedAt = now
      state.key.lastUsedAt = now
      dirty.add(count)
      return standingOf(state, count)
    },
    asked(state, seriesIds, etag = '') {
      const count = counts.get(state.key.id) ?? make(state.key.id)
      const dayOn = isoDay(clock.now())
      if (count.tally.dayOn !== dayOn) {
        if (count.tallyDirty) count.pastDays.push(dayOf(count))
        count.tally = tallyOf(state.key.id, dayOn)
      }
      const { tally } = count
      const only = seriesIds.length === 1 ? seriesIds[0]! : undefined
      if (only !== undefined && etag !== '' && tally.seen.get(only) === etag) tally.cacheable += 1
      else {
        if (only !== undefined) tally.batchable += 1
        for (const id of seriesIds)
          tally.seen.set(id, id === only ? etag : (tally.seen.get(id) ?? ''))
      }
      count.tallyDirty = true
      dirty.add(count)
    },
    day(state) {
      const count = current(state)
      const dayOn = isoDay(clock.now())
      const tally = count.tally.dayOn === dayOn ? count.tally : tallyOf(state.key.id, dayOn)
      settle([state.key.id])
      const from = Date.parse(`${dayOn}T00:00:00Z`)
      const requests = store
        .meteredByDay([state.key.id], from, from + 24 * hourMs)
        .reduce((sum, day) => sum + day.requests, 0)
      return {
        requests,
        distinctCodes: tally.seen.size,
        batchable: tally.batchable,
        cacheable: tally.cacheable,
      }
    },
    monthly(account, from) {
      const ids = countedKeys(account).map(key => key.key.id)
      settle(ids)
      return store
        .meteredByDay(ids, from, clock.now() + hourMs)
        .reduce((sum, day) => sum + day.requests, 0)
    },
    daily(account, from, to) {
      const ids = countedKeys(account).map(key => key.key.id)
      settle(ids)
      return store.meteredByDay(ids, from, to)
    },
    hours(states, from, to) {
      const ids = states.map(key => key.key.id)
      settle(ids)
      return store.hours(ids, from, to)
    },
    flush,
    flushSome,
    listen: listener => void listeners.push(listener),
    reset() {
      credits?.reset()
      counts = new Map()
      round.counts = []
      dirty.clear()
      talliesDirty.clear()
    },
  }
}
