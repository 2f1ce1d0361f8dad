import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import type { LimitReached } from '../../../plans/limits.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { WatchReading } from '../math/change.ts'
import type { Watch, WatchSettings, WatchStore } from '../store/watches.ts'

export type { Watch, WatchSettings } from '../store/watches.ts'

/** Where a watch comes from. */
export interface WatchOrigin {
  source: string
  toolName: string | null
  /** Made here when absent. */
  id?: string
}

export type Watches = ReturnType<typeof createWatches>

export interface WatchesDeps extends Pick<Runtime, 'db' | 'ids' | 'clock'> {
  store: WatchStore
  keys: Pick<Keyring, 'entitlements'>
  /** The current price of a code. */
  readingOf(code: string): WatchReading
}

export function createWatches({ db, store, keys, readingOf, clock, ids }: WatchesDeps) {
  /**
   * The current readings, so that the first run can compare with them; earlier readings are kept.
   */
  const readingsOf = (
    codes: readonly string[],
    readings: Watch['readings'] = {},
  ): Watch['readings'] =>
    Object.fromEntries(
      codes.map(code => [code, readings[code] ?? { ...readingOf(code), stale: false }]),
    )
  const runsAt = ({ active, intervalSeconds }: WatchSettings, now: number) =>
    active ? now + intervalSeconds * secondMs : null

  return {
    /** Newest first. */
    list: store.ofAccount,
    byId: store.byId,
    create(
      account: AccountState,
      settings: WatchSettings,
      { source, toolName, id = ids.uuid() }: WatchOrigin,
    ): Watch | LimitReached {
      const { id: accountId } = account.account
      const limit = keys.entitlements(account).watches
      return transact(db, () => {
        const count = store.count(accountId)
        if (limit !== null && count >= limit) return { refused: 'limit' as const, limit, count }
        const now = clock.now()
        store.add({
          ...settings,
          id,
          accountId,
          source,
          toolName,
          lastEvaluatedAt: null,
          readings: readingsOf(settings.codes),
          nextRunAt: runsAt(settings, now),
          createdAt: now,
          updatedAt: now,
        })
        return store.byId(id)!
      })
    },
    /**
     * Fields that the change does not name are kept. A new interval, and the end of a pause, start
     * the interval now.
     */
    change(watch: Watch, change: Partial<WatchSettings>): Watch {
      const now = clock.now()
      const next = { ...watch, ...change, updatedAt: now }
      const resumes = next.active && !watch.active
      const isOther =
        resumes || next.active !== watch.active || next.intervalSeconds !== watch.intervalSeconds
      if (isOther) next.nextRunAt = runsAt(next, now)
      // Moves during a pause must not count as moves since the last run.
      next.readings = readingsOf(next.codes, resumes ? {} : watch.readings)
      store.put(next)
      return next
    },
    /** Its events stay for as long as they would have. */
    remove: (watch: Watch) => store.remove(watch.number, clock.now()),
  }
}
