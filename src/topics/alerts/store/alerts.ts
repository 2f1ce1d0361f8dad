import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'
import { minuteMs } from '../../../lib/time/instant.ts'
import { type AlertCondition, priceBounds } from '../math/condition.ts'

/** The editable fields of an alert. */
export interface AlertSettings {
  name: string
  /** The watched code; for a futures family its own code, though its front contract is priced. */
  seriesId: number
  condition: AlertCondition
  /** The caller's own, and where tolerance and bounds of a condition stand. */
  metadata: Readonly<Record<string, unknown>> | null
  webhookUrl: string | null
  cooldownMinutes: number
  enabled: boolean
}

export interface Alert extends AlertSettings {
  /** Numbers alerts in the order of creation; evaluation and triggers refer to it. */
  number: number
  id: string
  accountId: string
  /** Prices that were recorded before are not evaluated. */
  armedAt: number
  /** The trigger that began the cooldown; null after the condition was changed. */
  coolingFrom: number | null
  triggerCount: number
  lastTriggeredAt: number | null
  createdAt: number
  updatedAt: number
}

/** The fields needed to evaluate an alert and to notify its owner. */
export type WatchingAlert = Pick<
  Alert,
  | 'number'
  | 'id'
  | 'accountId'
  | 'seriesId'
  | 'name'
  | 'condition'
  | 'webhookUrl'
  | 'cooldownMinutes'
  | 'triggerCount'
>

/** A price as alerts are judged by it. */
export interface JudgedPrice {
  /** The code that alerts watch. */
  seriesId: number
  observedAt: number
  /** The recording time. */
  at: number
}

type Row = Omit<Alert, 'condition' | 'metadata' | 'enabled'> & {
  condition: string
  metadata: string | null
  enabled: number
}

type WatchingRow = Omit<WatchingAlert, 'condition'> & { condition: string }

const conditionOf = (text: string) => JSON.parse(text) as AlertCondition

const alertOf = (row: Row): Alert => ({
  ...row,
  condition: conditionOf(row.condition),
  metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>),
  enabled: row.enabled === 1,
})

export type AlertStore = ReturnType<typeof createAlertStore>

/** In this order: an alert's number leads to its counters. */
const withCounters = 'FROM alerts a CROSS JOIN alert_counters c ON c.alert_number = a.number'
const all = `SELECT number, id, account_id AS accountId, series_id AS seriesId, name, condition, metadata,
  webhook_url AS webhookUrl, cooldown_minutes AS cooldownMinutes, enabled, armed_at AS armedAt,
  created_at AS createdAt, updated_at AS updatedAt, trigger_count AS triggerCount,
  last_triggered_at AS lastTriggeredAt, cooling_from AS coolingFrom ${withCounters}`

/**
 * The rows of the index that evaluation reads; a statement names both conditions or SQLite does not
 * use it.
 */
const watched = 'enabled = 1 AND removed_at IS NULL'

export function createAlertStore(db: Database) {
  const sql = statements(db)
  const ofAccount = sql<Row, [string]>`
    ${all} WHERE account_id = ? AND removed_at IS NULL ORDER BY number`
  const ofSeries = sql<Row, [string, number]>`
    ${all} WHERE account_id = ? AND series_id = ? AND removed_at IS NULL ORDER BY number`
  const count = sql<{ n: number }, [string]>`
    SELECT count(*) AS n FROM alerts WHERE account_id = ? AND removed_at IS NULL`
  const byId = sql<Row, [string]>`${all} WHERE id = ? AND removed_at IS NULL`
  const settings =
    'series_id, name, kind, condition, low, high, metadata, webhook_url, cooldown_minutes, enabled'
  const values =
    '$seriesId, $name, $kind, $condition, $low, $high, $metadata, $webhookUrl, $cooldownMinutes, $enabled'
  const add = sql`INSERT INTO alerts (id, account_id, ${settings}, armed_at, created_at, updated_at)
     VALUES ($id, $accountId, ${values}, $armedAt, $createdAt, $updatedAt)`
  const addCounter = sql`
    INSERT INTO alert_counters (alert_number, trigger_count, last_triggered_at, cooling_from) VALUES (?, ?, ?, ?)`
  const put = sql`
    UPDATE alerts SET (${settings}, armed_at, updated_at) = (${values}, $armedAt, $updatedAt) WHERE number = $number`
  const cool = sql`UPDATE alert_counters SET cooling_from = ? WHERE alert_number = ?`
  const remove = sql`UPDATE alerts SET removed_at = ? WHERE number = ?`
  const removed = sql<{ number: number }, [number]>`
    SELECT number FROM alerts WHERE removed_at IS NOT NULL LIMIT ?`
  const dropCounter = sql`DELETE FROM alert_counters WHERE alert_number = ?`
  const drop = sql`DELETE FROM alerts WHERE number = ?`
  const firedKinds =
    "account_id = ? AND removed_at IS NULL AND kind <> 'price' AND trigger_count > 0"
  const firedAnalytics = sql<Row, [string, number, number]>`
    ${all} WHERE ${firedKinds} ORDER BY last_triggered_at DESC, number DESC LIMIT ? OFFSET ?`
  const countFired = sql<{ n: number }, [string]>`
    SELECT count(*) AS n ${withCounters} WHERE ${firedKinds}`
  const anyOf = sql<{ number: number }, [number]>`
    SELECT number FROM alerts WHERE ${watched} AND series_id = ? LIMIT 1`
  const fired = sql`
    UPDATE alert_counters SET trigger_count = trigger_count + 1, last_triggered_at = ?1, cooling_from = ?1
    WHERE alert_number IN (SELECT value FROM json_each(?2))`
  const candidates = sql<WatchingRow, number[]>`
    SELECT number, id, account_id AS accountId, series_id AS seriesId, name, condition, webhook_url AS webhookUrl,
      cooldown_minutes AS cooldownMinutes, trigger_count AS triggerCount ${withCounters} WHERE ${watched} AND series_id = ?1 AND number > ?2 AND number <= ?3 AND low <= ?4 AND high >= ?4
      AND armed_at <= ?5 AND (cooling_from IS NULL OR cooling_from + cooldown_minutes * ${minuteMs} <= ?5)
      AND NOT EXISTS (SELECT 1 FROM alert_triggers t
        WHERE t.alert_number = a.number AND t.observed_at = iif(a.kind = 'price', ?6, ?7) AND t.series_id = a.series_id)
    ORDER BY number LIMIT ?8`
  const reach = sql<{ number: number }, number[]>`
    SELECT number FROM alerts WHERE ${watched} AND series_id = ? AND number > ? ORDER BY number LIMIT 1 OFFSET ?`
  return {
    /** By creation. */
    ofAccount: (accountId: string) => ofAccount.all(accountId).map(alertOf),
    ofSeries: (accountId: string, seriesId: number) =>
      ofSeries.all(accountId, seriesId).map(alertOf),
    count: (accountId: string) => count.get(accountId)!.n,
    byId(id: string) {
      const row = byId.get(id)
      return row ? alertOf(row) : undefined
    },
    add: (alert: Omit<Alert, 'number'>) =>
      transact(db, () => {
        const { lastInsertRowid } = add.run(parametersOf(alert, addedNames))
        addCounter.run(
          lastInsertRowid,
          alert.triggerCount,
          alert.lastTriggeredAt,
          alert.coolingFrom,
        )
      }),
    /**
     * Replaces what may be set, when prices count from, what the cooldown runs from, and when it
     * was changed.
     */
    put: (alert: Alert) =>
      transact(db, () => {
        put.run(parametersOf(alert, putNames))
        cool.run(alert.coolingFrom, alert.number)
      }),
    /** The alert is hidden at once; its rows are deleted in slices. */
    remove: (number: number, at: number) => void remove.run(at, number),
    /** Alerts that were removed and are not dropped yet; at most `limit`. */
    removed: (limit: number) => removed.all(limit).map(row => row.number),
    drop: (number: number) =>
      transact(db, () => {
        dropCounter.run(number)
        drop.run(number)
      }),
    /** Analytics alerts that have fired, newest trigger first. */
    firedAnalytics: (accountId: string, limit: number, offset: number) =>
      firedAnalytics.all(accountId, limit, offset).map(alertOf),
    countFiredAnalytics: (accountId: string) => countFired.get(accountId)!.n,
    /** Whether any enabled alert watches the code. */
    isWatched: (seriesId: number) => anyOf.get(seriesId) !== undefined,
    /** Counts a trigger of each and begins the cooldown. */
    fired: (numbers: readonly number[], at: number) => void fired.run(at, JSON.stringify(numbers)),
    /**
     * Enabled alerts of a code with a number after `after`, at most `limit` of them, that the price
     * may make fire: it is within their bounds, they were armed when it came in, are not in
     * cooldown then and have not fired on this observation. `day` is the observation of alerts on
     * daily values. The condition itself has the last word.
     */
    candidates: (
      { seriesId, at, observedAt }: JudgedPrice,
      value: number,
      day: number,
      after: number,
      upTo: number,
      limit: number,
    ): WatchingAlert[] =>
      candidates
        .all(seriesId, after, upTo, value, at, observedAt, day, limit)
        .map(row => ({ ...row, condition: conditionOf(row.condition) })),
    /**
     * The number of the `count`-th enabled alert of a code after `after`; undefined when there are
     * fewer.
     */
    reach: (seriesId: number, after: number, count: number) =>
      reach.get(seriesId, after, count - 1)?.number,
  }
}

const putNames = ['number', 'armedAt', 'updatedAt'] as const
const addedNames = ['id', 'accountId', 'armedAt', 'createdAt', 'updatedAt'] as const

function parametersOf<K extends keyof Alert>(
  alert: Pick<Alert, K> & AlertSettings,
  names: readonly (K & keyof Alert)[],
) {
  const { seriesId, name, condition, metadata, webhookUrl, cooldownMinutes, enabled } = alert
  return {
    seriesId,
    name,
    webhookUrl,
    cooldownMinutes,
    enabled: Number(enabled),
    kind: condition.kind,
    ...priceBounds(condition),
    condition: JSON.stringify(condition),
    metadata: metadata && JSON.stringify(metadata),
    ...Object.fromEntries(names.map(key => [key, alert[key] as string | number | null])),
  }
}
