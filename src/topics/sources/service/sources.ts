import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { minuteMs } from '../../../lib/time/instant.ts'
import type { LimitReached } from '../../../plans/limits.ts'
import {
  type Credentials,
  failuresMax,
  type SourceConfig,
  sourceConfig,
  syncedTypes,
  waitMinutes,
} from '../../../plans/source-config.ts'
import type { AccountState } from '../../keys/service/keyring.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type {
  DataSource,
  DataSourceStore,
  SourceRow,
  SourceStatus,
  SourceSyncLog,
} from '../store/sources.ts'

export type {
  AccountRow,
  DataSource,
  SourceRow,
  SourceSyncLog,
} from '../store/sources.ts'

/** The owner's changes to a source; null removes a value. */
export interface SourceChange {
  name?: string
  status?: 'active' | 'paused'
  scraperConfig?: DataSource['scraperConfig']
  credentials?: Credentials | null
}

/** The result of a sync, or why it found nothing. */
export interface SyncOutcome
  extends Omit<
    SourceSyncLog,
    'id' | 'status' | 'inserted' | 'revised' | 'unchanged' | 'completedAt'
  > {
  rows: readonly SourceRow[]
  /** Trying again changes nothing before the owner does. */
  final: boolean
}

/** The outcomes of the newest syncs of a source. */
export interface SourceHealth {
  /**
   * `down`: the last three syncs, or all of them, failed. `degraded`: one of the last twenty
   * failed.
   */
  status: 'healthy' | 'degraded' | 'down'
  /** The share of the last twenty syncs that succeeded, percent; 100 before the first. */
  successRate: number
  averageMs: number
  last: SourceSyncLog | undefined
  /** Newest first, each once. */
  recentErrors: string[]
}

/** Sources that accounts get private prices from, with their syncs. */
export type DataSources = ReturnType<typeof createDataSources>

export interface DataSourcesDeps extends Pick<Runtime, 'db' | 'ids' | 'clock'> {
  store: DataSourceStore
  vault: Vault
  perAccount: number
}

/** The newest of a source: more than an answer can hold. */
const rowsKept = 20_000
const logsKept = 1000
const logsShown = 100
const healthSyncs = 20
const downSyncs = 3
const errorsShown = 5
const sliceRows = 2000

/** The context that the vault seals it with. */
export const contextOf = (id: string) => `data-source ${id}`

export function createDataSources(deps: DataSourcesDeps) {
  const { db, store, clock, ids, perAccount } = deps
  const { sealed, opened } = sealing(deps)
  const configOf = (source: Pick<DataSource, 'scraperConfig'>) =>
    sourceConfig(source.scraperConfig).config
  return {
    ...ownership(deps, sealed),
    ...syncing(deps, configOf),
    create(
      account: AccountState,
      {
        name,
        sourceType,
        status,
        scraperConfig = null,
        credentials = null,
      }: SourceChange & { name: string; sourceType: string },
      { id = ids.uuid() }: { id?: string } = {},
    ): DataSource | LimitReached {
      const { id: accountId } = account.account
      return transact(db, () => {
        const count = store.count(accountId)
        if (count >= perAccount) return { refused: 'limit' as const, limit: perAccount, count }
        const now = clock.now()
        const source = {
          id,
          accountId,
          name,
          sourceType,
          status: status ?? ('pending' as const),
          scraperConfig,
        }
        const fresh = {
          successfulSyncs: 0,
          failedSyncs: 0,
          failedInARow: 0,
          lastError: null,
          lastSyncAt: null,
          revision: 0,
        }
        store.add({
          ...source,
          ...fresh,
          ...sealed(id, credentials),
          createdAt: now,
          updatedAt: now,
          nextSyncAt: firstSyncAt({ ...source, config: configOf(source) }, now),
        })
        return store.byId(id)!
      })
    },
    config: configOf,
    /**
     * Undefined when they were sealed under another master key: the database came without its key.
     */
    credentials: opened,
    /** Newest first. */
    list: (accountId: string): DataSource[] => store.ofAccount(accountId).reverse(),
    byId: store.byId,
    /**
     * The sources of all accounts, oldest first; with `wanted` only those with this id, or with this
     * name in any letter case.
     */
    page: store.page,
    total: store.total,
    /** Due now, the one that has waited longest first. */
    due: (limit: number): DataSource[] => store.dueAt(clock.now(), limit),
    nextDue: store.nextDue,
    /** Newest first. */
    logs: (source: DataSource): SourceSyncLog[] => store.syncs(source.number, logsShown),
    health: (source: DataSource): SourceHealth => healthOf(store.syncs(source.number, healthSyncs)),
    hasRows: store.hasRows,
    rows: store.rows,
    newestRows: (source: DataSource, limit: number): SourceRow[] =>
      store.newestRows(source.number, limit),
    /** Drops a slice of what removed sources have left; false when nothing is left. */
    sweep: () => store.sweep(sliceRows),
  }
}

interface Sealed {
  credentials: Uint8Array | null
  credentialId: string | null
}

function sealing({ vault, ids }: DataSourcesDeps) {
  return {
    sealed: (id: string, credentials: Credentials | null): Sealed =>
      credentials === null
        ? { credentials: null, credentialId: null }
        : {
            credentials: vault.seal(contextOf(id), JSON.stringify(credentials)),
            credentialId: ids.uuid(),
          },
    opened({ id, credentials }: DataSource): Credentials | undefined {
      if (credentials === null) return {}
      try {
        return JSON.parse(vault.open(contextOf(id), credentials)) as Credentials
      } catch {
        return undefined
      }
    },
  }
}

/**
 * When a source is synced that was just made or changed: at once, unless it waits for its owner, or
 * for someone to push.
 */
function firstSyncAt(
  {
    status,
    sourceType,
    config,
  }: Pick<DataSource, 'status' | 'sourceType'> & { config: SourceConfig },
  now: number,
): number | null {
  if (status === 'paused' || sourceType === 'webhook') return null
  const isIncomplete =
    (sourceType === 'api' && config.url === undefined) ||
    (sourceType === 'file' && config.path === undefined)
  return isIncomplete ? null : now
}

function ownership(
  { db, store, clock }: DataSourcesDeps,
  sealed: (id: string, credentials: Credentials | null) => Sealed,
) {
  const change = (source: DataSource, change: SourceChange): DataSource =>
    transact(db, () => {
      const now = clock.now()
      // Changes that a sync has written in the meantime are kept.
      const current = store.byId(source.id) ?? source
      const {
        name = current.name,
        status,
        scraperConfig = current.scraperConfig,
        credentials,
      } = change
      const next: DataSource = { ...current, name, scraperConfig, updatedAt: now }
      if (credentials !== undefined) Object.assign(next, sealed(source.id, credentials))
      if (status === undefined && change.scraperConfig === undefined && credentials === undefined) {
        store.put(next)
        return next
      }
      const isHeld = (status ?? current.status) === 'paused'
      const wasFine: SourceStatus = current.status === 'active' ? 'active' : 'pending'
      next.status = status ?? (isHeld ? 'paused' : wasFine)
      next.failedInARow = 0
      next.revision += 1
      next.nextSyncAt = firstSyncAt({ ...next, config: sourceConfig(scraperConfig).config }, now)
      store.put(next)
      return next
    })
  return {
    /** Another configuration, credential or status starts the source again. */
    change,
    /** Returns the id of the new credentials. */
    rotate: (source: DataSource, credentials: Credentials) =>
      change(source, { credentials }).credentialId!,
    remove: (source: DataSource) => store.remove(source.number, clock.now()),
  }
}

function syncing(
  { db, store, clock, ids }: DataSourcesDeps,
  configOf: (source: DataSource) => SourceConfig,
) {
  const nextAfter = (source: DataSource, failures: number, isFinal: boolean): number | null => {
    if (source.sourceType === 'webhook' || isFinal) return null
    return clock.now() + waitMinutes(configOf(source).intervalMinutes, failures) * minuteMs
  }
  return {
    /**
     * Writes rows, log and state of a sync in one transaction; undefined when the source was changed
     * in the meantime, and nothing is written.
     */
    settle: (source: DataSource, outcome: SyncOutcome): SourceSyncLog | undefined =>
      transact(db, () => {
        const current = store.byId(source.id)
        if (!current || current.revision !== source.revision) return undefined
        const { rows, error, startedAt, durationMs, final, ...result } = outcome
        const now = clock.now()
        const counts = store.writeRows(source.number, rows, now, rowsKept)
        const status = error === null ? ('success' as const) : ('failed' as const)
        const log: SourceSyncLog = {
          id: ids.uuid(),
          ...result,
          ...counts,
          status,
          error,
          durationMs,
          startedAt,
          completedAt: now,
        }
        store.addSync(source.number, log, logsKept)
        store.put({
          ...current,
          ...afterSync(current, error, final),
          lastSyncAt: now,
          lastError: error,
        })
        return log
      }),
    /** Not now: again after its interval, without a sync. */
    postpone(source: DataSource, reason: string) {
      store.put({ ...source, lastError: reason, nextSyncAt: nextAfter(source, 0, false) })
    },
  }

  function afterSync(
    source: DataSource,
    error: string | null,
    isFinal: boolean,
  ): Partial<DataSource> {
    if (error === null)
      return {
        status: 'active',
        successfulSyncs: source.successfulSyncs + 1,
        failedInARow: 0,
        nextSyncAt: nextAfter(source, 0, false),
      }
    const failedInARow = source.failedInARow + 1
    // Anyone who pushes does so again by themselves.
    const isGivenUp = failedInARow >= failuresMax && source.sourceType !== 'webhook'
    return {
      status: isGivenUp ? 'failed' : 'error',
      failedSyncs: source.failedSyncs + 1,
      failedInARow,
      nextSyncAt: nextAfter(source, failedInARow, isGivenUp || isFinal),
    }
  }
}

function healthOf(syncs: readonly SourceSyncLog[]): SourceHealth {
  const failed = syncs.filter(sync => sync.status === 'failed')
  const newest = syncs.slice(0, downSyncs)
  const isDown = newest.length > 0 && newest.every(sync => sync.status === 'failed')
  const mean = syncs.reduce((sum, sync) => sum + sync.durationMs, 0) / (syncs.length || 1)
  return {
    status: isDown ? 'down' : failed.length > 0 ? 'degraded' : 'healthy',
    successRate: syncs.length === 0 ? 100 : (100 * (syncs.length - failed.length)) / syncs.length,
    averageMs: mean,
    last: syncs[0],
    recentErrors: [...new Set(failed.map(sync => sync.error!))].slice(0, errorsShown),
  }
}

/** Whether this build reads sources of a type at all. */
export const isSynced = (sourceType: string): boolean =>
  (syncedTypes as readonly string[]).includes(sourceType)
