import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { lazy } from '../../../database/statement.ts'
import { dayMs, hourMs, minuteMs } from '../../../lib/time/instant.ts'

/** How many rows of each kind were brought back. */
export type BroughtBack = Readonly<Record<string, number>>

/**
 * Finds times that no correct clock can have written: further ahead than one interval of their
 * schedule, or in the future where only the past is possible. A clock that was wrong for seconds
 * leaves such times, and their jobs would wait for months.
 */
export type DueTimes = ReturnType<typeof createDueTimes>

/** A plan may lengthen a watch's interval, to a day at most. */
const watchSlackMs = dayMs
/** The longest interval of a data source. */
const sourceIntervalMaxMs = 10_080 * minuteMs
/** The longest wait of the retry schedules and of quiet hours is under a day. */
const retryMaxMs = 2 * dayMs
const leaseMaxMs = hourMs
/** The due time of messages that only their own sender claims. */
const never = Number.MAX_SAFE_INTEGER

/** `?1` is now. Queries for due rows find those that are overdue afterwards. */
const repairs: Readonly<Record<string, string>> = {
  watches: `UPDATE watches SET next_run_at = ?1
    WHERE next_run_at > ?1 + max(interval_seconds * 1000, ${watchSlackMs})`,
  data_sources: `UPDATE data_sources SET next_sync_at = ?1
    WHERE removed_at IS NULL AND next_sync_at > ?1 + ${sourceIntervalMaxMs}`,
  alerts: 'UPDATE alerts SET armed_at = ?1 WHERE armed_at > ?1',
  alert_cooldowns: 'UPDATE alert_counters SET cooling_from = ?1 WHERE cooling_from > ?1',
  messages: `UPDATE outbox SET due_at = ?1
    WHERE state IN ('pending', 'retry') AND due_at > ?1 + ${retryMaxMs} AND due_at < ${never}`,
  held_messages: `UPDATE outbox SET hold_until = ?1
    WHERE state IN ('pending', 'retry') AND hold_until > ?1 + ${retryMaxMs}`,
  leases: `UPDATE outbox SET lease_until = ?1 - 1
    WHERE state = 'leased' AND lease_until > ?1 + ${leaseMaxMs}`,
  // A yearly feed may correctly be due in months; a run that started in the future shows that the
  // clock was wrong.
  feeds: `UPDATE feeds SET next_at = ?1, served_at = min(served_at, ?1)
    WHERE next_at > ?1 AND EXISTS (
      SELECT 1 FROM feed_runs r WHERE r.feed = feeds.name AND r.started_at > ?1 + ${hourMs})`,
  feed_runs: `UPDATE feed_runs SET started_at = ?1, finished_at = min(finished_at, ?1)
    WHERE started_at > ?1 + ${hourMs}`,
}

export function createDueTimes(db: Database) {
  const statements = Object.entries(repairs).map(([name, sql]) => [name, lazy(db, sql)] as const)
  return {
    bringBack: (now: number): BroughtBack =>
      transact(db, () =>
        Object.fromEntries(
          statements
            .map(([name, statement]) => [name, statement.run(now).changes] as const)
            .filter(([, count]) => count > 0),
        ),
      ),
  }
}
