import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { Events } from '../../webhooks/service/events.ts'
import type { WellPermit } from '../dataset/permits.ts'
import { type PermitFreshness, permitFreshness } from '../math/permits.ts'
import { createPermitCounts } from '../store/permit-counts.ts'
import { createPermitSearch } from '../store/permit-search.ts'
import { createWellPermitStore, type PermitWrites } from '../store/well-permits.ts'
import {
  batchMax,
  newPermitEvent,
  type PermitPace,
  permitBatchEvent,
  permitStatusEvent,
} from './permit-events.ts'

/** The age of the stored permits of some states. */
export interface PermitCoverage extends PermitFreshness {
  /** Newest day of all of them. */
  asOf: string
  /** By code. */
  byState: ReadonlyMap<string, string>
  staleStates: string[]
}

export type Permits = ReturnType<typeof createPermits>

/** Older permits that come in are an imported history, not news. */
const newsDays = 30
const paceDays = 30

export function createPermits({ db, events }: { db: Database; events: Pick<Events, 'emit'> }) {
  const [store, search, counts] = [
    createWellPermitStore(db),
    createPermitSearch(db),
    createPermitCounts(db),
  ]

  const emitNew = (inserted: PermitWrites['inserted'], at: number) => {
    const since = isoDay(at - newsDays * dayMs)
    const news = inserted.filter(permit => permit.permitOn >= since)
    if (news.length === 1 && inserted.length === 1) {
      for (const permit of store.rows([news[0]!.id])) events.emit(newPermitEvent(permit, at))
      return
    }
    for (const [state, statePermits] of Map.groupBy(news, permit => permit.state)) {
      const newest = store.rows(statePermits.slice(-batchMax).map(permit => permit.id)).reverse()
      events.emit(permitBatchEvent(state, newest, statePermits.length, at))
    }
  }

  const paceOf = (state: string, at: number): PermitPace => {
    const end = dayAfter(isoDay(at), 1)
    const [later, earlier] = [dayAfter(end, -paceDays), dayAfter(end, -2 * paceDays)]
    return {
      value: counts.between(state, later, end),
      previous: counts.between(state, earlier, later),
    }
  }

  const emitChanges = (changes: PermitWrites['statusChanges'], at: number) => {
    const paces = new Map<string, PermitPace>()
    for (const change of changes) {
      for (const permit of store.rows([change.id])) {
        const pace = paces.getOrInsertComputed(permit.state, () => paceOf(permit.state, at))
        events.emit(permitStatusEvent(permit, change, pace, at))
      }
    }
  }

  return {
    store,
    search,
    counts,
    /**
     * One transaction with the events of the new permits: of a single permit, or of each state's
     * among several.
     */
    record: (rows: readonly WellPermit[], recordedAt: number) =>
      transact(db, () => {
        const writes = store.write(rows, recordedAt)
        emitNew(writes.inserted, recordedAt)
        emitChanges(writes.statusChanges, recordedAt)
        return writes.counts
      }),
    /**
     * The coverage of some states, or of every state with a permit; undefined where none has one.
     */
    coverage(states: readonly string[] | undefined, today: string) {
      const newest = counts.newestByState()
      const byState = new Map(
        states
          ? states.flatMap(state =>
              newest.has(state) ? [[state, newest.get(state)!] as const] : [],
            )
          : newest,
      )
      const asOf = [...byState.values()].reduce((a, b) => (b > a ? b : a), '')
      if (asOf === '') return undefined
      const staleStates = [...byState]
        .filter(([, day]) => permitFreshness(day, today).stale)
        .map(([state]) => state)
      return { asOf, byState, staleStates, ...permitFreshness(asOf, today) }
    },
  }
}
