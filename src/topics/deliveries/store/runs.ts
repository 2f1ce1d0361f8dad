import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

export type RunTrigger = 'scheduled' | 'manual'
export type RunStatus = 'pending' | 'sent' | 'skipped' | 'suppressed'

/** One run of a delivery, by its schedule or by hand. */
export interface DeliveryRun {
  id: string
  /** The number of its delivery. */
  delivery: number
  trigger: RunTrigger
  /** The local day whose run it is. */
  localOn: string
  recipient: string
  status: RunStatus
  /** Why it was not sent, or the error of the last attempt. */
  error: string | null
  createdAt: number
  sentAt: number | null
}

export type DeliveryRunStore = ReturnType<typeof createDeliveryRunStore>

const columns =
  'id, delivery_number AS delivery, trigger, local_on AS localOn, recipient, status, error, created_at AS createdAt, sent_at AS sentAt'

export function createDeliveryRunStore(db: Database) {
  const sql = statements(db)
  const add = sql`
    INSERT INTO scheduled_delivery_runs (id, delivery_number, trigger, local_on, recipient, status, error, created_at, sent_at)
    VALUES ($id, $delivery, $trigger, $localOn, $recipient, $status, $error, $createdAt, $sentAt)
    ON CONFLICT (delivery_number, local_on) WHERE trigger = 'scheduled' DO NOTHING`
  const ofDelivery = `SELECT ${columns} FROM scheduled_delivery_runs WHERE delivery_number = ?`
  const lastDay = sql<{ day: string | null }, [number]>`
    SELECT max(local_on) AS day FROM scheduled_delivery_runs WHERE delivery_number = ? AND trigger = 'scheduled'`
  const note = sql`UPDATE scheduled_delivery_runs SET error = ? WHERE id = ? AND status = 'pending'`
  const forget = sql`DELETE FROM scheduled_delivery_runs WHERE number IN (
       SELECT number FROM scheduled_delivery_runs r WHERE created_at < ?
         AND EXISTS (SELECT 1 FROM scheduled_delivery_runs n WHERE n.delivery_number = r.delivery_number AND n.number > r.number) LIMIT ?)`
  return {
    /** Whether it is new: a local day has one scheduled run. */
    add: (run: DeliveryRun) => add.run({ ...run }).changes > 0,
    /** The newest one. */
    last: sql<DeliveryRun, [delivery: number]>`${ofDelivery} ORDER BY number DESC LIMIT 1`.get,
    /** The newest manual run that was sent or will be. */
    lastBackup: sql<DeliveryRun, [delivery: number]>`
      ${ofDelivery} AND trigger = 'manual' AND status IN ('pending', 'sent') ORDER BY number DESC LIMIT 1`
      .get,
    /** The newest local day that has a scheduled run. */
    lastDay: (delivery: number) => lastDay.get(delivery)!.day ?? undefined,
    /** Notes what went wrong with an attempt that is made again. */
    note: (id: string, error: string | null) => void note.run(error, id),
    /** Ends a run that waits; undefined for any other. */
    settle: sql<
      DeliveryRun,
      [id: string, status: 'sent' | 'suppressed', error: string | null, sentAt: number | null]
    >`
      UPDATE scheduled_delivery_runs SET status = ?2, error = ?3, sent_at = ?4 WHERE id = ?1 AND status = 'pending' RETURNING ${columns}`
      .get,
    /** Runs that wait and were made before `before`, the oldest first. */
    waiting: sql<DeliveryRun, [before: number, limit: number]>`
      SELECT ${columns} FROM scheduled_delivery_runs WHERE status = 'pending' AND created_at < ? ORDER BY created_at LIMIT ?`
      .all,
    /**
     * Drops runs made before `before` but the newest of each delivery, at most `limit`; how many.
     */
    forget: (before: number, limit: number) => forget.run(before, limit).changes,
  }
}
