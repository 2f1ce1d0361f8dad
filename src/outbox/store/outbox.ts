import type { Database } from 'bun:sqlite'
import { manyRows } from '../../database/many-rows.ts'
import { statements } from '../../database/statement.ts'
import type { Kind, MessageState, StoredMessage } from './rows.ts'

export interface NewRow extends Omit<StoredMessage, 'kind' | 'lane'> {
  laneId: number
  bodyId: number
  traceparent: string | null
  dueAt: number
  maxRetries: number | null
  createdAt: number
  /** It is in the log only, and this is why. */
  skipped: string | undefined
}

/** A message that an attempt has been counted for. */
export interface ClaimedRow extends StoredMessage {
  number: number
  laneId: number
  attempts: number
  tries: number
  rescues: number
  maxRetries: number | null
  dueAt: number
  createdAt: number
  traceparent: string | null
  leaseToken: string
  body: string
}

/** The result that an attempt stores in its message. */
export interface Ending {
  state: 'retry' | 'delivered' | 'failed'
  /** Unchanged when undefined. */
  dueAt?: number
  holdUntil: number | null
  tries: number
  rescues: number
  statusCode: number | null
  durationMs: number
  error: string | null
  debug: string | null
  at: number
}

/** The waiting messages of a lane. */
export interface LaneBacklog {
  laneId: number
  kind: Kind
  lane: string
  waiting: number
  dueAt: number
}

export interface Lease {
  token: string
  until: number
}

/** The rows of the outbox and their changes of state; a lease holds messages in flight. */
export type OutboxStore = ReturnType<typeof createOutboxStore>

const waits = `state IN ('pending', 'retry')`
const columns = `number, id, lane_id AS laneId, account_id AS accountId, event_id AS eventId, event_type AS eventType, ref, traceparent, attempts, tries, rescues,
  max_retries AS maxRetries, due_at AS dueAt, created_at AS createdAt, lease_token AS leaseToken,
  (SELECT kind FROM outbox_lanes WHERE id = lane_id) AS kind, (SELECT lane FROM outbox_lanes WHERE id = lane_id) AS lane,
  (SELECT body FROM outbox_bodies WHERE id = body_id) AS body`
const lease = `UPDATE outbox SET state = 'leased', attempts = attempts + 1, tries = tries + 1, hold_until = NULL,
  lease_token = $token, lease_until = $until`

type Settings = Record<string, string | number | null>

export function createOutboxStore(db: Database) {
  return { ...additions(db), ...createClaims(db), ...createEndings(db) }
}

function additions(db: Database) {
  const sql = statements(db)
  const lane = sql<{ id: number }, [string, string]>`
    SELECT id FROM outbox_lanes WHERE kind = ? AND lane = ?`
  const addLane = sql<{ id: number }, [string, string]>`
    INSERT INTO outbox_lanes (kind, lane) VALUES (?, ?) RETURNING id`
  const addBody = sql`INSERT INTO outbox_bodies (uses, body) VALUES (?, ?)`
  const addBodies = manyRows(db, 'INSERT INTO outbox_bodies (uses, body)', '(?, ?)')
  const changeUses = sql<{ uses: number }, [number, number]>`
    UPDATE outbox_bodies SET uses = uses + ? WHERE id = ? RETURNING uses`
  const dropBody = sql`DELETE FROM outbox_bodies WHERE id = ?`
  const newColumns =
    'id, lane_id, account_id, event_id, event_type, body_id, ref, traceparent, due_at, max_retries, created_at'
  const once = 'ON CONFLICT (event_id, lane_id) DO NOTHING'
  const add = sql`
    INSERT INTO outbox (${newColumns}, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending') ${once}`
  const addSkipped = sql`
    INSERT INTO outbox (${newColumns}, state, settled_at, last_error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?11, 'skipped', ?11, ?) ${once}`
  const addAll = manyRows(
    db,
    `INSERT INTO outbox (${newColumns}, state)`,
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')",
    once,
  )
  const last = sql<{ number: number | null }, []>`SELECT max(number) AS number FROM outbox`
  const since = sql<{ id: string }, [number]>`SELECT id FROM outbox WHERE number > ?`
  const findLane = (kind: Kind, name: string): number | undefined => lane.get(kind, name)?.id
  return {
    /** Without adding it. */
    findLane,
    // Looked up each time: a lane that a transaction made and took back must not be remembered.
    laneId: (kind: Kind, name: string): number =>
      findLane(kind, name) ?? addLane.get(kind, name)!.id,
    addBody: (body: string, uses: number): number =>
      Number(addBody.run(uses, body).lastInsertRowid),
    changeUses(bodyId: number, by: number): void {
      if (changeUses.get(by, bodyId)!.uses <= 0) dropBody.run(bodyId)
    },
    /** Whether the row is new: a lane has an event once. */
    add(row: NewRow): boolean {
      const { changes } =
        row.skipped === undefined
          ? add.run(...valuesOf(row))
          : addSkipped.run(...valuesOf(row), row.skipped)
      return changes > 0
    },
    // The largest id and those after it: one statement gives them in a row.
    addBodies(bodies: readonly { body: string; uses: number }[]): number {
      return addBodies(bodies.map(({ uses, body }) => [uses, body])).lastId - bodies.length + 1
    },
    /** The same for many that are to be sent: those that are new. */
    addAll<T extends Omit<NewRow, 'skipped'>>(rows: readonly T[]): readonly T[] {
      const before = last.get()!.number ?? 0
      const { changes } = addAll(rows.map(valuesOf))
      if (changes === rows.length) return rows
      const newIds = new Set(since.all(before).map(row => row.id))
      return rows.filter(row => newIds.has(row.id))
    },
  }
}

function valuesOf({
  id,
  laneId,
  accountId,
  eventId,
  eventType,
  bodyId,
  ref,
  traceparent,
  dueAt,
  maxRetries,
  createdAt,
}: Omit<NewRow, 'skipped'>) {
  return [
    id,
    laneId,
    accountId,
    eventId,
    eventType,
    bodyId,
    ref,
    traceparent,
    dueAt,
    maxRetries,
    createdAt,
  ]
}

function createClaims(db: Database) {
  const sql = statements(db)
  const claim = sql<ClaimedRow, [Settings]>`
    ${lease} WHERE number IN (SELECT number FROM outbox WHERE lane_id = $lane AND ${waits} AND due_at <= $now ORDER BY due_at, number LIMIT $limit)
    RETURNING ${columns}`
  const claimFirst = sql<ClaimedRow, [Settings]>`
    ${lease} WHERE number = (SELECT number FROM outbox WHERE lane_id = $lane AND ${waits} ORDER BY due_at, number LIMIT 1)
      AND due_at <= $now AND ifnull(hold_until, 0) <= $now
    RETURNING ${columns}`
  const claimOne = sql<ClaimedRow, [Settings]>`
    ${lease} WHERE id = $id AND ${waits} RETURNING ${columns}`
  const nextDue = sql<{ at: number | null }, [number]>`
    SELECT min(due_at) AS at FROM outbox WHERE lane_id = ? AND ${waits}`
  const nextInOrder = sql<{ at: number }, [number]>`
    SELECT max(due_at, ifnull(hold_until, 0)) AS at FROM outbox WHERE lane_id = ? AND ${waits} ORDER BY due_at, number LIMIT 1`
  // The rows that an UPDATE answers come in no order.
  const inOrder = (rows: ClaimedRow[]) =>
    rows.sort((a, b) => a.dueAt - b.dueAt || a.number - b.number)
  return {
    backlog: sql<LaneBacklog, []>`
      SELECT lane_id AS laneId, outbox_lanes.kind, outbox_lanes.lane, count(*) AS waiting, min(due_at) AS dueAt
      FROM outbox JOIN outbox_lanes ON outbox_lanes.id = lane_id WHERE ${waits} GROUP BY lane_id`
      .all,
    inProgress: sql<{ kind: Kind; count: number; dueAt: number }, []>`
      SELECT kind, count(*) AS count, min(due_at) AS dueAt
        FROM outbox JOIN outbox_lanes ON outbox_lanes.id = lane_id
       WHERE state = 'leased' GROUP BY kind`.all,
    /**
     * Takes what is due in a lane, the oldest first, and counts an attempt for each, in one
     * statement.
     */
    claim: (laneId: number, now: number, limit: number, newLease: Lease): ClaimedRow[] =>
      inOrder(claim.all({ ...newLease, lane: laneId, now, limit })),
    /**
     * The same for a lane that keeps its order: the first that waits, when that is due. Only while
     * nothing of the lane is under way.
     */
    claimFirst: (laneId: number, now: number, newLease: Lease): ClaimedRow[] =>
      claimFirst.all({ ...newLease, lane: laneId, now }),
    /** One message, due or not, for a sender that sends it at once. */
    claimOne: (id: string, newLease: Lease): ClaimedRow | undefined =>
      claimOne.get({ ...newLease, id }),
    /** When the lane's next message is due; undefined when none waits. */
    nextDue: (laneId: number): number | undefined => nextDue.get(laneId)?.at ?? undefined,
    nextDueInOrder: (laneId: number): number | undefined => nextInOrder.get(laneId)?.at,
  }
}

function createEndings(db: Database) {
  const sql = statements(db)
  const end = sql`
    UPDATE outbox SET state = $state, due_at = ifnull($dueAt, due_at), hold_until = $holdUntil, lease_token = NULL, lease_until = NULL,
      tries = $tries, rescues = $rescues, status_code = $statusCode, duration_ms = $durationMs, last_error = $error, settled_at = $settledAt
    WHERE number = $number AND state = 'leased' AND lease_token = $token`
  const attempt = sql`
    INSERT INTO outbox_attempts (message_number, attempt, ended_at, status_code, duration_ms, error, debug) VALUES (?, ?, ?, ?, ?, ?, ?)`
  const waitingOf = sql<ClaimedRow, [string]>`
    SELECT ${columns} FROM outbox WHERE id IN (SELECT value FROM json_each(?)) AND ${waits} ORDER BY number`
  const giveUp = sql`
    UPDATE outbox SET state = 'failed', last_error = ?, settled_at = ?, hold_until = NULL WHERE number = ? AND ${waits}`
  const over = sql<{ number: number; bodyId: number; laneId: number }, [number, number]>`
    SELECT number, body_id AS bodyId, lane_id AS laneId FROM outbox WHERE settled_at < ? ORDER BY settled_at LIMIT ?`
  const dropAttempts = sql`DELETE FROM outbox_attempts WHERE message_number = ?`
  const drop = sql`DELETE FROM outbox WHERE number = ?`
  const dropLane = sql`
    DELETE FROM outbox_lanes WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM outbox WHERE lane_id = ?1)`
  const { changeUses } = additions(db)
  return {
    /** Ends an attempt. False when the lease is not held any more: then nothing is changed. */
    end(row: Pick<ClaimedRow, 'number' | 'leaseToken' | 'attempts'>, ending: Ending): boolean {
      const {
        state,
        dueAt = null,
        holdUntil,
        tries,
        rescues,
        statusCode,
        durationMs,
        error,
        debug,
        at,
      } = ending
      const settledAt = isOver(state) ? at : null
      const leaseKey = { number: row.number, token: row.leaseToken }
      const changed =
        end.run({
          ...leaseKey,
          state,
          dueAt,
          holdUntil,
          tries,
          rescues,
          statusCode,
          durationMs,
          error,
          settledAt,
        }).changes > 0
      if (changed) attempt.run(row.number, row.attempts, at, statusCode, durationMs, error, debug)
      return changed
    },
    /** Attempts whose lease ended before `before`. */
    leased: sql<ClaimedRow, [before: number, limit: number]>`
      SELECT ${columns} FROM outbox WHERE state = 'leased' AND lease_until < ? ORDER BY lease_until, number LIMIT ?`
      .all,
    /** Messages of a lane that wait and were due before `before`, the oldest first. */
    waiting: sql<ClaimedRow, [laneId: number, before: number, limit: number]>`
      SELECT ${columns} FROM outbox WHERE lane_id = ? AND ${waits} AND due_at < ? ORDER BY due_at, number LIMIT ?`
      .all,
    /** The messages with these ids that are waiting. */
    waitingOf: (ids: readonly string[]): ClaimedRow[] => waitingOf.all(JSON.stringify(ids)),
    /** A message that is not sent any more. */
    giveUp: (number: number, error: string, at: number) => void giveUp.run(error, at, number),
    /**
     * Deletes what was settled before `before`, at most `limit` messages, and lanes that nothing is
     * left of; how many messages.
     */
    forget(before: number, limit: number): number {
      const rows = over.all(before, limit)
      for (const { number, bodyId } of rows) {
        dropAttempts.run(number)
        drop.run(number)
        changeUses(bodyId, -1)
      }
      for (const laneId of new Set(rows.map(row => row.laneId))) dropLane.run(laneId)
      return rows.length
    },
  }
}

const isOver = (state: MessageState) => state === 'delivered' || state === 'failed'
