import type { Database } from 'bun:sqlite'
import { statements } from '../../database/statement.ts'
import type { Kind, StoredMessage } from './rows.ts'

/** A message that was kept back when its database was restored. */
export interface HeldMessage extends StoredMessage {
  createdAt: number
  heldAt: number
}

/** Which messages are meant: those that ended at one of these moments for this reason. */
export interface Hold {
  moments: readonly number[]
  reason: string
}

export interface HeldFilter {
  kind?: Kind
  /** Ids of messages. */
  ids?: readonly string[]
}

export interface HeldMessageStore {
  /**
   * Ends everything that waits or is under way as failed, with the runs and the counted text
   * messages that hang on it; how many of each kind. Only for a database that no process uses:
   * no listener is notified of it, and it reads the whole outbox.
   */
  hold(reason: string, at: number): Record<Kind, number>
  counts(hold: Hold): Record<Kind, number>
  /** In the order in which they were made. */
  list(hold: Hold, filter: HeldFilter, limit: number, offset: number): HeldMessage[]
  /** Takes back what the hold ended alongside a message that is sent after all. */
  reopen(message: HeldMessage, reason: string): void
}

interface Count {
  kind: Kind
  n: number
}

const countsOf = (rows: readonly Count[]): Record<Kind, number> => ({
  webhook: 0,
  email: 0,
  sms: 0,
  ...Object.fromEntries(rows.map(({ kind, n }) => [kind, n])),
})

const joined = 'FROM outbox JOIN outbox_lanes ON outbox_lanes.id = lane_id'
// By the index over what has ended: of a log of a month only what ended in these very milliseconds
// is read.
const isHeld = `settled_at IN (SELECT value FROM json_each($moments)) AND state = 'failed' AND last_error = $reason`

export function createHeldMessageStore(db: Database): HeldMessageStore {
  return { ...createHolding(db), ...createHeldReading(db) }
}

function createHolding(db: Database): Pick<HeldMessageStore, 'hold'> {
  const sql = statements(db)
  const unsent = `state IN ('pending', 'retry', 'leased')`
  const waitingCounts = sql<Count, []>`
    SELECT kind, count(*) AS n ${joined} WHERE ${unsent} GROUP BY kind`
  // The number of attempts is not reset: the log shows that one was in progress.
  const hold = sql`
    UPDATE outbox SET state = 'failed', last_error = ?1, settled_at = ?2, hold_until = NULL, lease_token = NULL, lease_until = NULL
    WHERE ${unsent}`
  const ended = `FROM outbox WHERE state = 'failed' AND settled_at = ?2 AND last_error = ?1`
  const endRuns = sql`
    UPDATE scheduled_delivery_runs SET status = 'suppressed', error = ?1 WHERE status = 'pending' AND id IN (SELECT event_id ${ended})`
  const endTexts = sql`UPDATE sms_messages SET failed = 1 WHERE id IN (SELECT id ${ended})`
  return {
    hold(reason, at) {
      const counts = countsOf(waitingCounts.all())
      hold.run(reason, at)
      endRuns.run(reason, at)
      endTexts.run(reason, at)
      return counts
    },
  }
}

function createHeldReading(db: Database): Pick<HeldMessageStore, 'counts' | 'list' | 'reopen'> {
  const sql = statements(db)
  const heldCounts = sql<Count, [Record<string, string>]>`
    SELECT kind, count(*) AS n ${joined} WHERE ${isHeld} GROUP BY kind`
  const list = sql<HeldMessage, [Record<string, string | number | null>]>`
    SELECT outbox.id, kind, lane, account_id AS accountId, event_id AS eventId, event_type AS eventType, ref, created_at AS createdAt,
      settled_at AS heldAt ${joined}
    WHERE ${isHeld} AND ($kind IS NULL OR kind = $kind) AND ($ids IS NULL OR outbox.id IN (SELECT value FROM json_each($ids)))
    ORDER BY number LIMIT $limit OFFSET $offset`
  const reopenRun = sql`
    UPDATE scheduled_delivery_runs SET status = 'pending', error = NULL WHERE id = ? AND status = 'suppressed' AND error = ?`
  const reopenText = sql`UPDATE sms_messages SET failed = 0 WHERE id = ?`
  const named = ({ moments, reason }: Hold) => ({ moments: JSON.stringify(moments), reason })
  return {
    counts: hold => countsOf(heldCounts.all(named(hold))),
    list: (hold, { kind = null, ids }, limit, offset) =>
      list.all({ ...named(hold), kind, ids: ids ? JSON.stringify(ids) : null, limit, offset }),
    reopen({ kind, id, eventId }, reason) {
      if (kind === 'email') reopenRun.run(eventId, reason)
      if (kind === 'sms') reopenText.run(id)
    },
  }
}
