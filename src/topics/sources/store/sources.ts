import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'

export type SourceStatus = 'active' | 'paused' | 'error' | 'pending' | 'failed'

/** A source that an account gets private prices from. */
export interface DataSource {
  number: number
  id: string
  accountId: string
  name: string
  sourceType: string
  status: SourceStatus
  scraperConfig: Readonly<Record<string, unknown>> | null
  /** Sealed by the vault. */
  credentials: Uint8Array | null
  credentialId: string | null
  lastSyncAt: number | null
  /** Null: not by itself. */
  nextSyncAt: number | null
  successfulSyncs: number
  failedSyncs: number
  failedInARow: number
  lastError: string | null
  /** Grows with every change that the owner makes. */
  revision: number
  createdAt: number
  updatedAt: number
}

/** A price of marine fuel, per metric ton. */
export interface SourceRow {
  observedAt: number
  fuelType: string
  port: string
  region: string | null
  currency: string
  price: number
}

export interface AccountRow extends SourceRow {
  /** Name of the source that it is from. */
  source: string
}

export interface RowFilter {
  fuelType: string | undefined
  port: string | undefined
  region: string | undefined
  since: number
}

/** The result of a sync. */
export interface SourceSyncLog {
  id: string
  trigger: 'schedule' | 'push' | 'operator'
  status: 'success' | 'failed'
  received: number
  inserted: number
  revised: number
  unchanged: number
  rejected: number
  /** The first sentences about rows that were not taken. */
  rejections: readonly string[]
  error: string | null
  durationMs: number
  startedAt: number
  completedAt: number
}

export type DataSourceStore = ReturnType<typeof createDataSourceStore>

export const createDataSourceStore = (db: Database) => ({
  ...sources(db),
  ...rowsOf(db),
  ...syncsOf(db),
  /** Drops some of what removed sources have left; false when nothing is left. */
  sweep: sweeper(db),
})

function sources(db: Database) {
  const sql = statements(db)
  const table = recordTable<DataSource>(db, 'data_sources', {
    columns: `number, id, account_id, name, source_type, status, scraper_config, credentials,
      credential_id, last_sync_at, next_sync_at, successful_syncs, failed_syncs, failed_in_a_row,
      last_error, revision, created_at, updated_at`,
    json: ['scraperConfig'],
  })
  const count = sql<{ n: number }, [string]>`
    SELECT count(*) AS n FROM data_sources WHERE account_id = ? AND removed_at IS NULL`
  const matching = 'removed_at IS NULL AND (?1 IS NULL OR id = ?1 OR name = ?1 COLLATE NOCASE)'
  const page = table.where<[string | null, number, number]>(
    `WHERE ${matching} ORDER BY number LIMIT ?2 OFFSET ?3`,
  )
  const total = sql<{ n: number }, [string | null]>`
    SELECT count(*) AS n FROM data_sources WHERE ${matching}`
  const add = table.insert('number')
  const put = table.update('removed_at IS NULL', 'id', 'accountId', 'sourceType', 'createdAt')
  const remove = sql`
    UPDATE data_sources SET removed_at = ?, credentials = NULL WHERE number = ? AND removed_at IS NULL`
  const waiting = 'next_sync_at IS NOT NULL AND removed_at IS NULL'
  const next = sql<{ at: number | null }, [number]>`
    SELECT min(next_sync_at) AS at FROM data_sources WHERE ${waiting} AND next_sync_at > ?`
  return {
    /** Oldest first. */
    ofAccount: table.where<[accountId: string]>(
      'WHERE account_id = ? AND removed_at IS NULL ORDER BY number',
    ).all,
    count: (accountId: string) => count.get(accountId)!.n,
    byId: table.where<[id: string]>('WHERE id = ? AND removed_at IS NULL').get,
    /**
     * The sources of all accounts, oldest first; with `wanted` only those with this id, or with this
     * name in any letter case.
     */
    page: (state: string | undefined, limit: number, offset: number): DataSource[] =>
      page.all(state ?? null, limit, offset),
    total: (state: string | undefined) => total.get(state ?? null)!.n,
    add: (source: Omit<DataSource, 'number'>) => void add(source),
    /** Replaces everything but number, id, account, type and creation. */
    put: (source: DataSource) => void put(source),
    /** Hides it at once; its rows are deleted in slices. */
    remove: (number: number, at: number) => void remove.run(at, number),
    /** Due at `now`, the one that has waited longest first. */
    dueAt: table.where<[now: number, limit: number]>(
      `WHERE ${waiting} AND next_sync_at <= ? ORDER BY next_sync_at, number LIMIT ?`,
    ).all,
    /** The next moment after `after` at which a source is due. */
    nextDue: (after: number): number | undefined => next.get(after)?.at ?? undefined,
  }
}

const rowColumns = 'observed_at AS observedAt, fuel_type AS fuelType, port, region, currency, price'
const rowKey = 'source_number = ? AND observed_at = ? AND fuel_type = ? AND port = ?'

function rowsOf(db: Database) {
  const sql = statements(db)
  const refused = sql<
    Pick<SourceRow, 'region' | 'currency' | 'price'>,
    [number, number, string, string]
  >`
    SELECT region, currency, price FROM data_source_rows WHERE ${rowKey}`
  const put = sql`
    INSERT OR REPLACE INTO data_source_rows (source_number, observed_at, fuel_type, port, region, currency, price, recorded_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
  const oldestStored = sql<{ at: number }, [number, number]>`
    SELECT observed_at AS at FROM data_source_rows WHERE source_number = ? ORDER BY observed_at DESC LIMIT 1 OFFSET ?`
  const dropBefore = sql`DELETE FROM data_source_rows WHERE source_number = ? AND observed_at < ?`
  const owned = 'SELECT number FROM data_sources WHERE account_id = ? AND removed_at IS NULL'
  const any = sql<unknown, [string]>`
    SELECT 1 FROM data_source_rows WHERE source_number IN (${owned}) LIMIT 1`
  const ownSources = sql<{ number: number; name: string }, [string]>`
    SELECT number, name FROM data_sources WHERE account_id = ? AND removed_at IS NULL ORDER BY number`
  const matching = sql<
    SourceRow,
    [number, number, string | null, string | null, string | null, number]
  >`
    SELECT ${rowColumns} FROM data_source_rows
    WHERE source_number = ?1 AND observed_at >= ?2 AND (?3 IS NULL OR fuel_type = ?3) AND (?4 IS NULL OR port = ?4) AND (?5 IS NULL OR region = ?5)
    ORDER BY observed_at DESC, fuel_type, port LIMIT ?6`
  return {
    /**
     * Writes rows in the caller's transaction; the same price again is unchanged, another one
     * replaces it. Only the newest `max` rows of the source stay.
     */
    writeRows(
      number: number,
      rows: readonly SourceRow[],
      recordedAt: number,
      max: number,
    ): { inserted: number; revised: number; unchanged: number } {
      const counts = { inserted: 0, revised: 0, unchanged: 0 }
      for (const { observedAt, fuelType, port, region, currency, price } of rows) {
        const old = refused.get(number, observedAt, fuelType, port)
        const isSame = old?.price === price && old.region === region && old.currency === currency
        if (!isSame)
          put.run(number, observedAt, fuelType, port, region, currency, price, recordedAt)
        counts[isSame ? 'unchanged' : old ? 'revised' : 'inserted'] += 1
      }
      const oldest = oldestStored.get(number, max - 1)
      if (oldest) dropBefore.run(number, oldest.at)
      return counts
    },
    hasRows: (accountId: string) => any.get(accountId) !== undefined,
    /** The rows of all sources of an account, newest first. */
    rows: (
      accountId: string,
      { fuelType, port, region, since }: RowFilter,
      limit: number,
    ): AccountRow[] =>
      ownSources
        .all(accountId)
        .flatMap(({ number, name }) =>
          matching
            .all(number, since, fuelType ?? null, port ?? null, region ?? null, limit)
            .map(row => ({ ...row, source: name })),
        )
        // The sort is stable: observations of one moment stay in the order of the sources.
        .sort((a, b) => b.observedAt - a.observedAt)
        .slice(0, limit),
    newestRows: sql<SourceRow, [number: number, limit: number]>`
      SELECT ${rowColumns} FROM data_source_rows WHERE source_number = ? ORDER BY observed_at DESC, fuel_type, port LIMIT ?`
      .all,
  }
}

function syncsOf(db: Database) {
  const sql = statements(db)
  const syncs = recordTable<SourceSyncLog & { source: number }>(db, 'data_source_syncs', {
    columns: `id, source_number AS source, trigger, status, received, inserted, revised, unchanged,
      rejected, rejections, error, duration_ms, started_at, completed_at`,
    json: ['rejections'],
  })
  const add = syncs.insert()
  const trim = sql`DELETE FROM data_source_syncs WHERE source_number = ?1 AND number <=
       (SELECT number FROM data_source_syncs WHERE source_number = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)`
  return {
    /** Only the newest `max` of the source stay. */
    addSync(number: number, sync: SourceSyncLog, max: number) {
      add({ ...sync, source: number })
      trim.run(number, max)
    },
    /** Newest first. */
    syncs: syncs.where<[number: number, limit: number]>(
      'WHERE source_number = ? ORDER BY number DESC LIMIT ?',
    ).all,
  }
}

function sweeper(db: Database) {
  const sql = statements(db)
  const removed = sql<{ number: number }, []>`
    SELECT number FROM data_sources WHERE removed_at IS NOT NULL LIMIT 1`
  const dropRows = sql`
    DELETE FROM data_source_rows WHERE (source_number, observed_at, fuel_type, port) IN
      (SELECT source_number, observed_at, fuel_type, port FROM data_source_rows WHERE source_number = ? LIMIT ?)`
  const dropSyncs = sql`DELETE FROM data_source_syncs WHERE source_number = ?`
  const drop = sql`DELETE FROM data_sources WHERE number = ?`
  return (rows: number): boolean => {
    const count = removed.get()
    if (!count) return false
    return transact(db, () => {
      if (dropRows.run(count.number, rows).changes === rows) return true
      dropSyncs.run(count.number)
      drop.run(count.number)
      return true
    })
  }
}
