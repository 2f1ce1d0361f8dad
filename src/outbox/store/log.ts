import type { Database } from 'bun:sqlite'
import { transact } from '../../database/database.ts'
import { statements } from '../../database/statement.ts'
import type { Kind, LogEntry, LogFilter } from './rows.ts'

const columns = `outbox.id, event_id AS eventId, event_type AS eventType, account_id AS accountId, lane, ref, state, attempts,
  status_code AS statusCode, duration_ms AS durationMs, last_error AS error,
  (SELECT body FROM outbox_bodies WHERE id = body_id) AS body, created_at AS createdAt,
  iif(state = 'delivered', settled_at, NULL) AS deliveredAt,
  iif(state IN ('pending', 'retry'), max(due_at, ifnull(hold_until, 0)), NULL) AS nextAttemptAt,
  (SELECT debug FROM outbox_attempts WHERE message_number = outbox.number ORDER BY attempt DESC LIMIT 1) AS debug`

// Lists of any length are one parameter, so that the statements are prepared once; NULL selects
// all.
const matches = `($states IS NULL OR state IN (SELECT value FROM json_each($states)))
  AND ($types IS NULL OR event_type IN (SELECT value FROM json_each($types)))`

const again = `state = 'pending', due_at = $now, hold_until = NULL, tries = 0, rescues = 0, settled_at = NULL`

/** A few milliseconds of reading or writing: what runs between two slices does not notice. */
const rowsEach = 500

type Settings = Record<string, string | number | null>

/** Messages of a lane that were made in [from, to). */
export type LogRange = LogFilter & { from: number; to: number }

/** The messages of a lane, sent and waiting; an unknown lane has an empty log. */
export type OutboxLogStore = ReturnType<typeof createOutboxLogStore>

export function createOutboxLogStore(db: Database) {
  const sql = statements(db)
  const laneOf = sql<{ id: number }, [string, string]>`
    SELECT id FROM outbox_lanes WHERE kind = ? AND lane = ?`
  const from = 'FROM outbox JOIN outbox_lanes ON outbox_lanes.id = lane_id WHERE lane_id = $lane'
  const page = sql<LogEntry, [Settings]>`
    SELECT ${columns} ${from} AND ${matches} ORDER BY number DESC LIMIT $limit OFFSET $offset`
  // Without a filter the index alone is counted.
  const all = sql<{ total: number }, [number]>`
    SELECT count(*) AS total FROM outbox WHERE lane_id = ?`
  const some = sql<{ total: number }, [Settings]>`
    SELECT count(*) AS total FROM outbox WHERE lane_id = $lane AND ${matches}`
  const byId = sql<LogEntry, [Settings]>`SELECT ${columns} ${from} AND outbox.id = $id`
  const byEvent = sql<LogEntry, [Settings]>`SELECT ${columns} ${from} AND event_id = $id`
  const resend = sql`
    UPDATE outbox SET ${again} WHERE lane_id = $lane AND id = $id AND state <> 'leased'`
  const slice = sql<{ number: number; chosen: number }, [Settings]>`
    SELECT number, created_at >= $from AND created_at < $to AND state IN ('delivered', 'failed') AND ${matches} AS chosen
    FROM outbox WHERE lane_id = $lane AND number > $after ORDER BY number LIMIT ${rowsEach}`
  const replay = sql`
    UPDATE outbox SET ${again} WHERE number = $number AND state IN ('delivered', 'failed')`

  const find = (lane: number, id: string) => byId.get({ lane, id }) ?? byEvent.get({ lane, id })
  return {
    /** Newest first. */
    page(kind: Kind, lane: string, filter: LogFilter, limit: number, offset: number) {
      const logLane = laneOf.get(kind, lane)
      if (!logLane) return { entries: [], total: 0 }
      const parameters = { lane: logLane.id, ...listsOf(filter) }
      const { total } =
        parameters.states || parameters.types ? some.get(parameters)! : all.get(logLane.id)!
      return { entries: page.all({ ...parameters, limit, offset }), total }
    },
    /** Newest first, of every lane of the kind. */
    newest: sql<LogEntry, [kind: Kind, limit: number]>`
      SELECT ${columns} FROM outbox JOIN outbox_lanes ON outbox_lanes.id = lane_id
      WHERE outbox_lanes.kind = ? ORDER BY number DESC LIMIT ?`.all,
    /** By the message's id or its event's. */
    find(kind: Kind, lane: string, id: string) {
      const logLane = laneOf.get(kind, lane)
      return logLane ? find(logLane.id, id) : undefined
    },
    /**
     * The same event and body is due at `now`, with its whole schedule before it. One that is under
     * way stays as it is; undefined: no such message.
     */
    resend(kind: Kind, lane: string, id: string, now: number) {
      const logLane = laneOf.get(kind, lane)
      const entry = logLane ? find(logLane.id, id) : undefined
      if (!logLane || !entry) return undefined
      resend.run({ lane: logLane.id, id: entry.id, now })
      return find(logLane.id, entry.id)
    },
    /**
     * As `resend` for a slice of those of a range that were delivered or failed, oldest first, at
     * most `limit`. The slice begins after the row number `after`; `last` is the one that it ends
     * with, undefined when nothing comes after it.
     */
    replaySlice(
      kind: Kind,
      lane: string,
      { from, to, ...filter }: LogRange,
      { after, limit, now }: { after: number; limit: number; now: number },
    ) {
      const logLane = laneOf.get(kind, lane)
      if (!logLane) return { replayed: 0, last: undefined }
      const rows = slice.all({ lane: logLane.id, from, to, after, ...listsOf(filter) })
      const chosen = rows.filter(row => row.chosen).slice(0, limit)
      let replayed = 0
      transact(db, () => {
        for (const { number } of chosen) replayed += replay.run({ number, now }).changes
      })
      return { replayed, last: rows.length < rowsEach ? undefined : rows.at(-1)!.number }
    },
  }
}

const listsOf = ({ states, eventTypes }: LogFilter) => ({
  states: states ? JSON.stringify(states) : null,
  types: eventTypes ? JSON.stringify(eventTypes) : null,
})
