import { existsSync, renameSync } from 'node:fs'
import type { ProcessRuntime } from '../config/runtime.ts'
import { namingFile, openDatabase, removeDatabase, transact } from '../database/database.ts'
import { hasTable } from '../database/identity.ts'
import { readDatabase } from '../database/reading.ts'
import { type Connections, forwardedConnection } from '../http/cable.ts'
import type { PeerLookup } from '../http/gate/address.ts'
import { linker } from '../http/problem/links.ts'
import { withoutProviders } from '../http/query-workers/config-copy.ts'
import { createReplicaAnswers } from '../http/replica-answers.ts'
import { requestIdOf } from '../http/request-id.ts'
import { createApp } from '../instance/app/app.ts'
import { databasePath } from '../instance/services/directory.ts'
import { openServices, type Services } from '../instance/services/services.ts'
import { workingFile } from '../lib/files/working-file.ts'
import { createPrimaryClient, forwardedHeaders } from '../send/primary.ts'
import { aloneVitals } from '../topics/condition/service/vitals.ts'
import { version } from '../version.ts'
import type { Nats } from './nats/connection.ts'
import type { ReplicaView } from './service/condition.ts'
import { followDelta } from './service/follow.ts'
import { followStream } from './service/following.ts'
import { announceNode, nodesTtlMs } from './service/nodes.ts'
import { createQuotaSlices } from './service/quota-slices.ts'
import { fetchSnapshot, snapshots } from './service/snapshots.ts'
import { createUsageReports } from './service/usage.ts'
import { createApplier } from './store/applier.ts'
import type { Delta } from './store/delta.ts'
import { createReplicationState } from './store/state.ts'

/** A running replica of a primary's database, which answers reads. */
export interface Replica {
  answer(request: Request): Response | Promise<Response>
  /** Resolves, with the reason, when the replica must restart from an available snapshot. */
  ended: Promise<string>
  /** Keeps serving the data it has; another connection may then write its database. */
  stopFollowing(): void
  /** Asks the clients of streams and sockets to connect elsewhere. */
  endStreams(): void
  /** Gives the database up at once, and then sends what is left to report. */
  close(): Promise<void>
}

export interface ReplicaOptions {
  runtime: ProcessRuntime
  dir: string
  nats: Nats
  peer: PeerLookup
  connections: Connections
  isStopping(): boolean
  /** Where the others reach this instance; empty: not known. */
  url(): string
  /** Where the primary is now. */
  primary(): string
}

/** A replica does not open sealed data: requests that need it go to the primary. */
const noMasterKey = 'a replica opens nothing that is sealed'

/** Throws where the database of a directory is not a replica. It is only read. */
export function refuseOtherDatabase(dir: string): void {
  const path = databasePath(dir)
  if (!existsSync(path)) return
  const isReplica = namingFile(path, () =>
    readDatabase(
      path,
      db =>
        hasTable(db, 'replication_state') &&
        createReplicationState(db).get('replica_at') !== undefined,
    ),
  )
  if (isReplica) return
  throw new Error(
    `${dir} holds a database that is not a replica: name another directory with --data, or move it.`,
  )
}

/**
 * Opens the replica in a directory, or the newest snapshot where it has none, and follows the
 * stream.
 */
export async function openReplica(options: ReplicaOptions): Promise<Replica> {
  const { runtime, dir, nats, peer, connections, isStopping, primary } = options
  const { config, clock, log, ids } = runtime
  const links = linker(config)
  const path = databasePath(dir)
  if (!existsSync(path)) {
    await fetchReplica(dir, nats, config.nats.copies)
    renameSync(nextPath(dir), path)
  }
  const written = openDatabase(path)
  const state = createReplicationState(written)
  // After a crash the replica receives lost changes again; rows of one commit may come before those
  // they refer to.
  written.run('PRAGMA synchronous = NORMAL')
  written.run('PRAGMA foreign_keys = OFF')
  // The primary has checked its rows.
  written.run('PRAGMA ignore_check_constraints = ON')
  const services = openServices({
    ...runtime,
    // The primary sends what there is to send.
    config: withoutProviders(config),
    db: openDatabase(path, { readonly: true }),
    masterKey: noMasterKey,
  })
  const apply = createApplier(written)
  const refresh = createRefresh(services)
  const following = followStream(
    nats,
    {
      replicationEpoch: state.get('lineage') ?? '',
      applied: Number(state.get('applied')),
      message: Number(state.get('replica_at')),
      stream: state.get('replica_stream'),
      apply(delta, { message, stream, replicationEpoch }) {
        transact(written, () => {
          apply(delta)
          state.set('lineage', replicationEpoch)
          state.set('replica_at', String(message))
          if (stream !== undefined) state.set('replica_stream', stream)
        })
        refresh(delta)
      },
    },
    { clock, log, snapshots: () => snapshots(nats, config.nats.copies) },
  )
  const { lagMs } = following
  const view = (): ReplicaView => ({
    lagMs: lagMs(),
    stale: following.fault()?.kind ?? (lagMs() > config.replica.maxLagMs ? 'behind' : undefined),
  })
  const bucket = await nats.bucket(nats.names.quotas, config.nats.copies, 0)
  const slices = createQuotaSlices({ bucket, clock, log })
  const reports = createUsageReports(nats, services.meter, slices, { ids, now: clock.now })
  const reporting = { ...services, meter: reports.meter }
  const app = createApp(reporting, {
    completes: true,
    peer,
    connections,
    vitals: {
      ...aloneVitals,
      isStopping,
      replica: view,
      quotasHeld: () => ({ role: 'replica', held: slices.held() }),
    },
  })
  const addressOf = (request: Request) => peer?.requestIP(request)?.address ?? undefined
  const answer = createReplicaAnswers({
    ...services,
    async connect(request) {
      const { pathname, search } = new URL(request.url)
      const address = `${primary().replace(/^http/, 'ws')}${pathname}${search}`
      const headers = forwardedHeaders(request, addressOf(request))
      const connection = await forwardedConnection(address, headers)
      if (connection && connections.upgrade(request, connection, {}))
        return new Response(null, { status: 101 })
      connection?.closed()
      return await app.fetch(request)
    },
    mayAnswer: reports.mayAnswer,
    comesToAnswer: reports.comesToAnswer,
    handle: request => app.fetch(request),
    ask: createPrimaryClient(primary, addressOf),
    unreachable: request => ({
      requestId: requestIdOf(request, ids),
      docsUrl: links(request).docsUrl,
    }),
    stays: request => connections.idle(request, 0),
    view,
    monotonic: clock.monotonic,
    reaches: following.reaches,
    waitMs: config.replica.waitMs,
    headerPrefix: config.brand.headerPrefix,
  })
  const startedAt = clock.now()
  const nodes = await nats.bucket(nats.names.nodes, config.nats.copies, nodesTtlMs)
  const stopAnnouncing = announceNode(nodes, ids.uuid(), () => ({
    role: 'replica',
    url: options.url(),
    version,
    isStandby: config.nats.standby === 'auto',
    startedAt,
    toldAt: clock.now(),
    change: following.applied(),
    lagMs: Number.isFinite(lagMs()) ? Math.ceil(lagMs()) : null,
    quotas: slices.held(),
    stale: view().stale ?? null,
  }))
  log.info('replica_open', { change: following.applied() })
  let isFollowing = true
  const stopFollowing = () => {
    if (!isFollowing) return
    isFollowing = false
    following.stop()
    written.close()
  }
  return {
    answer,
    ended: following.ended,
    stopFollowing,
    endStreams: services.streams.stop,
    async close() {
      stopFollowing()
      stopAnnouncing()
      services.streams.stop()
      services.db.close()
      // Reports the requests in progress first, then gives up the slices and reports what they
      // returned.
      await reports.send()
      await reports.giveUp()
      await reports.send()
      reports.stop()
    },
  }
}

const nextPath = (dir: string) => `${databasePath(dir)}.next`

/** Replaces a replica that cannot continue with the stream by the fetched snapshot. */
export function replaceReplica(dir: string): void {
  removeDatabase(databasePath(dir))
  renameSync(nextPath(dir), databasePath(dir))
}

/** Fetches the newest snapshot alongside what the directory has; it is whole when this resolves. */
export async function fetchReplica(dir: string, nats: Nats, copies: number): Promise<void> {
  const part = workingFile(dir, 'snapshot')
  removeDatabase(nextPath(dir))
  try {
    await fetchSnapshot(nats, copies, part)
    const db = openDatabase(part)
    createReplicationState(db).set('replica_at', '0')
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    db.run('PRAGMA journal_mode = DELETE')
    db.close()
    renameSync(part, nextPath(dir))
  } finally {
    removeDatabase(part)
  }
}

const keyTables = new Set(['accounts', 'api_keys', 'organizations', 'organization_members'])

const countTables = new Set(['quota_counters', 'usage_hours', 'usage_days'])

/** Updates the rows that are cached in memory after a delta, and notifies listeners. */
function createRefresh(services: Services): (delta: Delta) => void {
  const { keys, adminTokens, meter, cable, watchFeed } = services
  /** Feeds that have grown in the parts of a commit received so far. */
  const growing = new Set<string>()
  return delta => {
    const changed = followDelta(services, delta)
    if (delta.tables.some(({ table }) => keyTables.has(table))) keys.reload()
    if (delta.tables.some(({ table }) => table === 'admin_tokens')) adminTokens.reload()
    // Requests of other instances are included; the unreported ones of this instance are far fewer
    // than the margin.
    if (delta.tables.some(({ table }) => countTables.has(table))) meter.reset()
    cable.changed(new Set(changed))
    for (const { table, columns, rows } of delta.tables) {
      if (table !== 'watch_feeds') continue
      const at = columns.indexOf('account_id')
      for (const row of rows) growing.add(String(row[at]))
    }
    if (!delta.isLast) return
    for (const accountId of growing) watchFeed.notify(accountId)
    growing.clear()
  }
}
