import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { manyRows } from '../../../database/many-rows.ts'
import { statements } from '../../../database/statement.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import type { UsageBatch, UsageDay, UsageHour } from './usage-batch.ts'

const consolePrefix = 'console '

/**
 * The endpoint name for requests from pages of the console. The prefix is part of the name, so that
 * counters, replicas and pending writes keep both apart as they do routes.
 */
export const consoleEndpoint = (route: string): string => consolePrefix + route

/** A recorded endpoint as its route, and who requested it. */
export const endpointOf = (recorded: string): { route: string; via: 'api' | 'console' } =>
  recorded.startsWith(consolePrefix)
    ? { route: recorded.slice(consolePrefix.length), via: 'console' }
    : { route: recorded, via: 'api' }

/** Counters and usage, written behind in batches. */
export type UsageStore = ReturnType<typeof createUsageStore>

export function createUsageStore(db: Database) {
  const sql = statements(db)
  const counter = sql<{ used: number }, [string, string, number]>`
    SELECT used FROM quota_counters WHERE key_id = ? AND window = ? AND starts_at = ?`
  const putCounters = manyRows(
    db,
    'INSERT INTO quota_counters (key_id, window, starts_at, used, last_used_at)',
    '(?, ?, ?, ?, ?)',
    'ON CONFLICT DO UPDATE SET used = excluded.used, last_used_at = max(last_used_at, excluded.last_used_at)',
  )
  const addHours = manyRows(
    db,
    'INSERT INTO usage_hours (key_id, hour_at, endpoint, status_class, requests, metered, duration_us)',
    '(?, ?, ?, ?, ?, ?, ?)',
    `ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, metered = metered + excluded.metered,
       duration_us = duration_us + excluded.duration_us`,
  )
  const day = sql<{ batchable: number; cacheable: number; series_ids: string }, [string, string]>`
    SELECT batchable, cacheable, series_ids FROM usage_days WHERE key_id = ? AND day_on = ?`
  const putDays = manyRows(
    db,
    'INSERT INTO usage_days (key_id, day_on, batchable, cacheable, series_ids)',
    '(?, ?, ?, ?, ?)',
    'ON CONFLICT DO UPDATE SET batchable = excluded.batchable, cacheable = excluded.cacheable, series_ids = excluded.series_ids',
  )
  // json_each takes a list of any length as one parameter, so that the statement is prepared once.
  const inKeys = 'key_id IN (SELECT value FROM json_each(?)) AND hour_at >= ? AND hour_at < ?'
  const byDay = sql<{ dayAt: number; requests: number }, [string, number, number]>`
    SELECT hour_at - hour_at % ${dayMs} AS dayAt, sum(metered) AS requests FROM usage_hours WHERE ${inKeys} GROUP BY 1 ORDER BY 1`
  const hours = sql<UsageHour, [string, number, number]>`
    SELECT key_id AS keyId, hour_at AS hourAt, endpoint, status_class AS statusClass, requests, metered, duration_us AS durationUs
    FROM usage_hours WHERE ${inKeys} ORDER BY hour_at`
  const forget = sql`
    DELETE FROM usage_hours WHERE (key_id, hour_at, endpoint, status_class) IN (SELECT key_id, hour_at, endpoint, status_class FROM usage_hours WHERE hour_at < ? LIMIT ?)`
  return {
    counter: (keyId: string, window: string, startsAt: number) =>
      counter.get(keyId, window, startsAt)?.used ?? 0,
    day(keyId: string, dayOn: string): UsageDay | undefined {
      const row = day.get(keyId, dayOn)
      if (!row) return undefined
      return {
        keyId,
        dayOn,
        batchable: row.batchable,
        cacheable: row.cacheable,
        seriesIds: row.series_ids.split(' ').filter(Boolean).map(Number),
      }
    },
    /** In one transaction: replaces counters, and adds usage. */
    write({ counters, hours, days }: UsageBatch) {
      transact(db, () => {
        putCounters(
          counters.map(counter => [
            counter.keyId,
            counter.window,
            counter.startsAt,
            counter.used,
            counter.lastUsedAt,
          ]),
        )
        addHours(
          hours.map(hour => [
            hour.keyId,
            hour.hourAt,
            hour.endpoint,
            hour.statusClass,
            hour.requests,
            hour.metered,
            hour.durationUs,
          ]),
        )
        putDays(
          days.map(day => [
            day.keyId,
            day.dayOn,
            day.batchable,
            day.cacheable,
            day.seriesIds.join(' '),
          ]),
        )
      })
    },
    /** Requests that counted, per UTC day, oldest first. */
    meteredByDay: (keyIds: readonly string[], from: number, to: number) =>
      byDay.all(JSON.stringify(keyIds), from, to),
    hours: (keyIds: readonly string[], from: number, to: number) =>
      hours.all(JSON.stringify(keyIds), from, to),
    /** Forgets usage before `before`, at most `limit` rows of it; the number forgotten. */
    forget: (before: number, limit: number) => forget.run(before, limit).changes,
  }
}
