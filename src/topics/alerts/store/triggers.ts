import type { Database } from 'bun:sqlite'
import { manyRows } from '../../../database/many-rows.ts'
import { statements } from '../../../database/statement.ts'

/**
 * An alert that fired, with the facts of that moment; later changes of the alert do not touch it.
 */
export interface AlertTrigger {
  id: string
  /** Its number. */
  alert: number
  accountId: string
  seriesId: number
  /** The time of the observation; for alerts on daily values the midnight of its day. */
  observedAt: number
  triggeredAt: number
  price: number
  /** The value that was compared with the threshold: the price or a measure. */
  value: number
  threshold: number
  condition: string
  channels: readonly string[]
  /** The measures in wire form. */
  metadata: Readonly<Record<string, unknown>> | null
}

/** A trigger with what its alert is called now. */
export interface NamedTrigger extends AlertTrigger {
  alertId: string
  alertName: string
}

export type AlertTriggerStore = ReturnType<typeof createAlertTriggerStore>

type Stored<T extends AlertTrigger> = Omit<T, 'channels' | 'metadata'> & {
  channels: string
  metadata: string | null
}

const columns = `t.id, alert_number AS alert, t.account_id AS accountId, t.series_id AS seriesId,
  observed_at AS observedAt, triggered_at AS triggeredAt, price, value, threshold, t.condition,
  channels, t.metadata`

const triggerOf = <T extends AlertTrigger>(row: Stored<T>) => ({
  ...row,
  channels: row.channels.split(' ').filter(Boolean),
  metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>),
})

export function createAlertTriggerStore(db: Database) {
  const sql = statements(db)
  const addAll = manyRows(
    db,
    `INSERT INTO alert_triggers
       (alert_number, observed_at, series_id, id, account_id, triggered_at, price, value, threshold, condition, channels, metadata)`,
    '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const newest = sql<Stored<AlertTrigger>, [number, number]>`
    SELECT ${columns} FROM alert_triggers t WHERE alert_number = ? ORDER BY observed_at DESC LIMIT ?`
  const named = `SELECT ${columns}, a.id AS alertId, a.name AS alertName FROM alert_triggers t JOIN alerts a ON a.number = t.alert_number
     WHERE a.removed_at IS NULL AND`
  const page = sql<Stored<NamedTrigger>, [string, number, number]>`
    ${named} t.account_id = ? ORDER BY t.triggered_at DESC, t.alert_number DESC, t.observed_at DESC LIMIT ? OFFSET ?`
  const count = sql<{ n: number }, [string]>`
    SELECT count(*) AS n FROM alert_triggers t JOIN alerts a ON a.number = t.alert_number WHERE a.removed_at IS NULL AND t.account_id = ?`
  const pageOf = sql<Stored<NamedTrigger>, [number, number, number]>`
    ${named} t.alert_number = ? ORDER BY t.observed_at DESC LIMIT ? OFFSET ?`
  const countOf = sql<{ n: number }, [number]>`
    SELECT count(*) AS n FROM alert_triggers WHERE alert_number = ?`
  const trim = sql`DELETE FROM alert_triggers WHERE (alert_number, observed_at, series_id) IN (
       SELECT alert_number, observed_at, series_id FROM alert_triggers WHERE alert_number = ? ORDER BY observed_at DESC LIMIT ? OFFSET ?)`
  return {
    addAll: (triggers: readonly AlertTrigger[]) =>
      void addAll(
        triggers.map(t => [
          t.alert,
          t.observedAt,
          t.seriesId,
          t.id,
          t.accountId,
          t.triggeredAt,
          t.price,
          t.value,
          t.threshold,
          t.condition,
          t.channels.join(' '),
          t.metadata && JSON.stringify(t.metadata),
        ]),
      ),
    /** The triggers of one alert, newest observation first. */
    newest: (alert: number, limit: number): AlertTrigger[] =>
      newest.all(alert, limit).map(row => triggerOf(row)),
    /** The triggers of an account's alerts, newest first. */
    page: (accountId: string, limit: number, offset: number): NamedTrigger[] =>
      page.all(accountId, limit, offset).map(row => triggerOf<NamedTrigger>(row)),
    count: (accountId: string) => count.get(accountId)!.n,
    pageOf: (alert: number, limit: number, offset: number): NamedTrigger[] =>
      pageOf.all(alert, limit, offset).map(row => triggerOf<NamedTrigger>(row)),
    countOf: (alert: number) => countOf.get(alert)!.n,
    /** Drops at most `limit` triggers of an alert beyond its newest `kept`; how many there were. */
    trim: (alert: number, newestKept: number, limit: number) =>
      trim.run(alert, limit, newestKept).changes,
  }
}
