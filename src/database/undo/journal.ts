import type { Database } from 'bun:sqlite'
import { transact } from '../database.ts'
import { statements } from '../statement.ts'

/** Records the rows of dataset tables before a batch changes them. */
export interface Journal {
  /**
   * Runs `work` in one transaction, and stores the earlier version of each row that it writes for
   * the batch.
   */
  during<T>(batchId: number, work: () => T): T
  /**
   * Deletes earlier versions of rows for batches that began by a moment, at most `limit` rows at
   * once; returns how many. Those batches cannot be undone any more, and are marked so.
   */
  forget(startedBy: number, limit: number): number
}

export function createJournal(db: Database): Journal {
  const sql = statements(db)
  const begin = sql`INSERT INTO batch_under_way (batch_id) VALUES (?)`
  const end = sql`DELETE FROM batch_under_way`
  const setForgotten = sql`UPDATE batches SET forgotten = 1 WHERE started_at <= ? AND forgotten = 0
       AND EXISTS (SELECT 1 FROM batch_rows r WHERE r.batch_id = batches.id)`
  const forget = sql`DELETE FROM batch_rows WHERE id IN (
       SELECT r.id FROM batches b JOIN batch_rows r ON r.batch_id = b.id
       WHERE b.forgotten = 1 LIMIT ?)`
  let isInProgress = false
  return {
    during(batchId, work) {
      // A part of a batch belongs to it.
      if (isInProgress) return work()
      isInProgress = true
      try {
        return transact(db, () => {
          begin.run(batchId)
          const done = work()
          end.run()
          return done
        })
      } finally {
        isInProgress = false
      }
    },
    forget: (startedBy, limit) =>
      transact(db, () => {
        setForgotten.run(startedBy)
        return forget.run(limit).changes
      }),
  }
}
