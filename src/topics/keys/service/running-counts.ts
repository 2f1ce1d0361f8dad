import type { Clock } from '../../../lib/time/clock.ts'
import { isoDay, startOfDay } from '../../../lib/time/instant.ts'
import { isSameWindow, type QuotaWindow, quotaWindow } from '../../../plans/quota.ts'
import type { UsageStore } from '../store/usage.ts'
import type { Keyring, KeyState } from './keyring.ts'
import {
  type Count,
  counterOf,
  nextNoticeAt,
  type RunningCount,
  sliceOf,
  stablePeriod,
  type Tally,
} from './meter-counts.ts'

/** The counts of all keys used since the start, each with its current window. */
export type RunningCounts = ReturnType<typeof createRunningCounts>

const windowsMax = 1000

/**
 * Shares equal windows of different keys as one object, so that values cached by window are
 * computed once.
 */
function createSharedWindows(): (window: QuotaWindow) => QuotaWindow {
  const windows = new Map<string, QuotaWindow>()
  return window => {
    const name = `${window.kind} ${window.startsAt} ${window.endsAt} ${window.limit} ${window.capped}`
    const shared = windows.get(name)
    if (shared) return shared
    if (windows.size >= windowsMax) windows.clear()
    windows.set(name, window)
    return window
  }
}

export function createRunningCounts(store: UsageStore, keys: Keyring, clock: Clock) {
  let counts = new Map<string, Count>()
  const sharedWindow = createSharedWindows()

  /** The stored efficiency counts of a key on one day. */
  const tallyOf = (keyId: string, dayAt: number): Tally => {
    const stored = store.day(keyId, isoDay(dayAt))
    return {
      dayAt,
      batchable: stored?.batchable ?? 0,
      cacheable: stored?.cacheable ?? 0,
      etags: new Map(stored?.seriesIds.map(id => [id, ''])),
    }
  }

  const add = (keyId: string): Count => {
    // Fields that every request reads come first: with many keys each cache line is fetched from
    // memory.
    const count: Count = {
      period: undefined,
      used: 0,
      dirty: false,
      waits: false,
      hour: undefined,
      lastUsedAt: 0,
      tally: tallyOf(keyId, startOfDay(clock.now())),
      tallyDirty: false,
      keyId,
      slice: sliceOf(keyId),
      ahead: 0,
      aheadStep: 0,
      aheadAt: 0,
      streamed: 0,
      written: [],
      past: [],
      pastDays: [],
      hours: [],
    }
    counts.set(keyId, count)
    return count
  }

  /** The count of a key; read from the store the first time. */
  const countOf = ({ key }: KeyState): Count => counts.get(key.id) ?? add(key.id)

  /**
   * Requests of a window that is not the running one: the count that waits to be written, else the
   * stored one.
   */
  const usedBefore = (count: Count, { kind, startsAt }: QuotaWindow): number =>
    count.past.findLast(counter => counter.window === kind && counter.startsAt === startsAt)
      ?.used ?? store.counter(count.keyId, kind, startsAt)

  /** Gives the count the window that holds now, and puts the one before aside to be written. */
  const turn = (count: Count, state: KeyState, now: number) => {
    const { period } = count
    const { account } = state.account
    const entitled = keys.entitlements(state.account)
    const window = sharedWindow(quotaWindow(entitled, account, now))
    if (!period || !isSameWindow(period.window, window)) {
      const used = usedBefore(count, window)
      if (period && count.dirty) count.past.push(counterOf(count.keyId, period.window, count.used))
      count.used = used
      count.ahead = 0
      count.dirty = false
      count.streamed = 0
      count.written = []
    }
    const { from, to } = stablePeriod(account, window, now)
    count.period = {
      window,
      entitled,
      account,
      from,
      to,
      noticesGiven: 0,
      nextNoticeAt: nextNoticeAt(window, 0),
    }
  }

  return {
    find: (keyId: string) => counts.get(keyId),
    of: countOf,
    /**
     * The count of a key with the window that holds now; a new window starts from what is stored
     * for it. It does not write, so that a disk that is full at the turn of a window does not stop
     * the reading.
     */
    running(state: KeyState, now: number) {
      const count = countOf(state)
      const { period } = count
      // A change makes another account object: with the same one, plan, confirmation and trial are
      // what they were.
      const isSteady =
        period && period.account === state.account.account && now >= period.from && now < period.to
      if (!isSteady) turn(count, state, now)
      return count as RunningCount
    },
    usedBefore,
    tallyOf,
    /** Marks counts that were written ahead, so that their actual value is written. */
    settleAhead(markDirty: (count: Count) => void) {
      for (const count of counts.values()) {
        if (count.ahead <= count.used) continue
        count.ahead = 0
        count.dirty = true
        markDirty(count)
      }
    },
    /** Forgets all of them, so that they are read again. */
    reset() {
      counts = new Map()
    },
  }
}
