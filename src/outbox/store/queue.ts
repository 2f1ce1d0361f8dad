import type { Database } from 'bun:sqlite'
import { statements } from '../../database/statement.ts'
import type { Kind, LogEntry, StoredMessage } from './rows.ts'

/** Messages that wait to be sent, or of which sending was given up. */
export type QueueState = 'waiting' | 'given_up'

export interface QueuedMessage
  extends StoredMessage,
    Pick<LogEntry, 'state' | 'attempts' | 'statusCode' | 'error' | 'createdAt'> {
  /** The time of the next attempt; for failed messages, when they failed. */
  at: number
}

export interface QueueFilter {
  state: QueueState
  kind: Kind | undefined
}

export type QueueStore = ReturnType<typeof createQueueStore>

const joined = 'FROM outbox JOIN outbox_lanes ON outbox_lanes.id = lane_id'
// Each by its own index: waiting and ended messages.
const chosen = {
  waiting: `state IN ('pending', 'retry')`,
  given_up: `settled_at IS NOT NULL AND state = 'failed'`,
} as const
const order = { waiting: 'at, number', given_up: 'settled_at DESC, number DESC' } as const

export function createQueueStore(db: Database) {
  const sql = statements(db)
  const list = (state: QueueState) =>
    sql<QueuedMessage, [Record<string, string | number | null>]>`
      SELECT outbox.id, kind, lane, account_id AS accountId, event_id AS eventId, event_type AS eventType, ref, state, attempts,
        status_code AS statusCode, last_error AS error, created_at AS createdAt,
        ifnull(settled_at, max(due_at, ifnull(hold_until, 0))) AS at
      ${joined} WHERE ${chosen[state]} AND ($kind IS NULL OR kind = $kind)
      ORDER BY ${order[state]} LIMIT $limit OFFSET $offset`
  const count = (state: QueueState) =>
    sql<{ total: number }, [Record<string, string | null>]>`
      SELECT count(*) AS total ${joined} WHERE ${chosen[state]} AND ($kind IS NULL OR kind = $kind)`
  const lists = { waiting: list('waiting'), given_up: list('given_up') }
  const counts = { waiting: count('waiting'), given_up: count('given_up') }
  const places = sql<{ id: string; kind: Kind; lane: string }, [string]>`
    SELECT outbox.id, kind, lane ${joined} WHERE outbox.id IN (SELECT value FROM json_each(?)) ORDER BY number`
  return {
    /** Waiting messages by due time, soonest first; failed ones newest first. */
    list: ({ state, kind = undefined }: QueueFilter, limit: number, offset: number) =>
      lists[state].all({ kind: kind ?? null, limit, offset }),
    count: ({ state, kind }: QueueFilter) => counts[state].get({ kind: kind ?? null })!.total,
    /** The status of messages; unknown ids are left out. */
    places: (ids: readonly string[]) => places.all(JSON.stringify(ids)),
  }
}
