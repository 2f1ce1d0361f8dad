import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'
import type { WatchReading } from '../math/change.ts'

/** The editable fields of a watch. */
export interface WatchSettings {
  name: string | null
  /**
   * In the order of the request, without repeats; a futures family is watched by its front
   * contract.
   */
  codes: readonly string[]
  intervalSeconds: number
  active: boolean
  deliverWebhook: boolean
  thresholdPercent: number | null
}

/** Codes that an account has checked on a schedule. */
export interface Watch extends WatchSettings {
  /** Orders watches by creation; events refer to it. */
  number: number
  id: string
  accountId: string
  /** The channel that created it. */
  source: string
  toolName: string | null
  lastEvaluatedAt: number | null
  /** Null while it is paused. */
  nextRunAt: number | null
  /** The readings of its last run, by code; before its first run those of its creation. */
  readings: Readonly<Record<string, WatchReading>>
  createdAt: number
  updatedAt: number
}

/** A watch as it is stored: it is active while it has a next run. */
type StoredWatch = Omit<Watch, 'active'>

const watchOf = (stored: StoredWatch): Watch => ({ ...stored, active: stored.nextRunAt !== null })

export type WatchStore = ReturnType<typeof createWatchStore>

export function createWatchStore(db: Database) {
  const sql = statements(db)
  const ofAccountNotRemoved = 'account_id = ? AND removed_at IS NULL'
  const watches = recordTable<StoredWatch>(db, 'watches', {
    columns: `number, id, account_id, name, codes, interval_seconds, deliver_webhook, threshold_percent,
      source, tool_name, last_evaluated_at, next_run_at, seen AS readings, created_at, updated_at`,
    flags: ['deliverWebhook'],
    json: ['codes', 'readings'],
  })
  const ofAccount = watches.where<[string]>(`WHERE ${ofAccountNotRemoved} ORDER BY number DESC`)
  const count = sql<{ n: number }, [string]>`
    SELECT count(*) AS n FROM watches WHERE ${ofAccountNotRemoved}`
  const byId = watches.where<[string]>('WHERE id = ? AND removed_at IS NULL')
  const add = watches.insert('number')
  const put = watches.update(
    'TRUE',
    'id',
    'accountId',
    'source',
    'toolName',
    'lastEvaluatedAt',
    'createdAt',
  )
  const remove = sql`UPDATE watches SET removed_at = ?, next_run_at = NULL WHERE number = ?`
  const drop = sql`
    DELETE FROM watches WHERE number IN (SELECT number FROM watches w WHERE removed_at < ?
      AND NOT EXISTS (SELECT 1 FROM watch_events e WHERE e.watch_number = w.number) LIMIT ?)`
  const due = watches.where<[number, number]>(
    'WHERE next_run_at <= ? ORDER BY next_run_at, number LIMIT ?',
  )
  const nextDue = sql<{ at: number | null }, [number]>`
    SELECT min(next_run_at) AS at FROM watches WHERE next_run_at > ?`
  const rank = sql<{ n: number }, [string, number]>`
    SELECT count(*) AS n FROM watches WHERE ${ofAccountNotRemoved} AND number < ?`
  const ran = sql`
    UPDATE watches SET last_evaluated_at = ?, next_run_at = ?, seen = ? WHERE number = ?`
  const postpone = sql`UPDATE watches SET next_run_at = ? WHERE number = ?`
  return {
    /** Newest first. */
    ofAccount: (accountId: string) => ofAccount.all(accountId).map(watchOf),
    count: (accountId: string) => count.get(accountId)!.n,
    byId(id: string) {
      const row = byId.get(id)
      return row ? watchOf(row) : undefined
    },
    add: (watch: Omit<Watch, 'number'>) => void add(watch),
    /**
     * Replaces the settings, the time of the next run, the seen values and the time of the change.
     */
    put: (watch: Watch) => void put(watch),
    /** No one sees the watch any more; its row stays while events name it. */
    remove: (number: number, at: number) => void remove.run(at, number),
    /** Drops watches that were removed before a moment and have no events left; at most `limit`. */
    drop: (before: number, limit: number) => drop.run(before, limit).changes,
    /** Active watches whose run is due at `now`, the longest due first. */
    due: (now: number, limit: number) => due.all(now, limit).map(watchOf),
    isDue: (now: number) => due.get(now, 1) !== undefined,
    /** The first moment after `after` at which a watch is due. */
    nextDue: (after: number) => nextDue.get(after)?.at ?? undefined,
    /** How many watches of the account are older than this one. */
    rank: ({ accountId, number }: Watch) => rank.get(accountId, number)!.n,
    ran: (number: number, at: number, nextRunAt: number, readings: Watch['readings']) =>
      void ran.run(at, nextRunAt, JSON.stringify(readings), number),
    /** The run that is due does not take place. */
    postpone: (number: number, nextRunAt: number) => void postpone.run(nextRunAt, number),
  }
}
