import type { ProcessRuntime } from '../config/runtime.ts'
import { checkpointElsewhere } from '../database/checkpoint.ts'
import { type CommitMark, keepMark } from '../database/commit-mark.ts'
import { closeDatabase, namingFile } from '../database/database.ts'
import { type DemoFeed, type DemoWorld, evaluationAccountId, openDemoWorld } from '../demo/open.ts'
import type { Connections } from '../http/cable.ts'
import type { DevControls } from '../http/dev-controls.ts'
import { createFaults } from '../http/faults.ts'
import type { PeerLookup } from '../http/gate/address.ts'
import type { RequestContext } from '../http/gate/request-context.ts'
import { createRequestLog } from '../http/request-log.ts'
import { chanceOf } from '../lib/ids.ts'
import type { Log } from '../lib/log/log.ts'
import { type LagWatch, watchLoop } from '../lib/process/loop-lag.ts'
import { createSystemClock, type ManualClock, within } from '../lib/time/clock.ts'
import { senderComponents } from '../outbox/vitals.ts'
import { type Cluster, startCluster } from '../replication/cluster.ts'
import { createCheckpointer } from '../threads/checkpointer.ts'
import { openQueryWorkers } from '../threads/query-workers.ts'
import { type Publishing, startPublishing } from '../threads/replication-publisher.ts'
import { fileComponents, paymentComponents } from '../topics/condition/service/condition.ts'
import { aloneVitals, type Vitals } from '../topics/condition/service/vitals.ts'
import type { CommandOutcome } from '../topics/operator/service/backup-record.ts'
import { type App, createApp } from './app/app.ts'
import { takeUpRates } from './app/rate-windows-file.ts'
import { createInstanceRunner } from './background-jobs.ts'
import { createOutboxJob, type OutboxJob } from './jobs/outbox.ts'
import type { Runner } from './jobs/runner.ts'
import { databasePath, keepDirectoryOwner, openDirectory } from './services/directory.ts'
import type { Services } from './services/services.ts'

const settledWithinMs = 2000
/** How long an answer waits for the stream to have the charge of its request. */
const chargedWithinMs = 1000

/** A running instance: an open database with everything that works on it. */
export interface Instance {
  services: Services
  app: App
  runner: Runner
  /** The feed of generated data of a demo instance. */
  feed: DemoFeed | undefined
  /** The instance is stopping and starts nothing new. */
  stopping: boolean
  /** Resolves when the stream has shown whether another instance took over, or cannot show it. */
  begun: Promise<void> | undefined
  /** The job that sends messages of the outbox. */
  sending: OutboxJob
  /** With nats.sync = commit: whether the stream has everything that is committed now. */
  acknowledged: (() => Promise<boolean>) | undefined
  /** Whether the stream knows of the quota that a request took; undefined: it did before. */
  charged: ((request: Request) => Promise<boolean> | undefined) | undefined
  /** Why nothing may be written now. Absent: it always may be. */
  refusal: (() => string | undefined) | undefined
  /** Where commits are published: the last one. */
  sequence: (() => number) | undefined
  /** Resolves when nothing that goes to the disk in another thread is under way. */
  settled(): Promise<void>
  /** Discarded: pending changes are not written, because another state replaces its database. */
  close(options?: { isDiscarded: boolean }): void
}

export interface InstanceOptions {
  runtime: ProcessRuntime
  dir: string
  /** The instance is opened to be served, not for one command. */
  serving?: boolean
  peer?: PeerLookup
  local?: WeakSet<Request>
  /** The address that the server listens on, once it does. */
  url?: () => string | undefined
  connections?: Connections
  /** Gets the context of each request, for the access log. */
  requestContexts?: WeakMap<Request, RequestContext>
  /** Runs a command of this program in its own process. */
  command?: (...args: string[]) => Promise<CommandOutcome>
  /** Stores and restores the state of a demo instance. */
  keeping?: Keeping
  /** The database is a state that was kept in order. */
  isState?: boolean
}

/** The storage of states of a demo instance. */
export type Keeping = Pick<DevControls, 'snapshot' | 'dropSnapshot' | 'restore' | 'reset'>

/**
 * Opens the database in a directory, brings the catalogue up to date and builds the API over
 * it.
 */
export function openInstance(options: InstanceOptions): Instance {
  const { runtime, dir, serving = false, keeping } = options
  const { config } = runtime
  const { services, isPublished, lastChange } = openDirectory({
    runtime,
    dir,
    serving,
    isState: options.isState === true,
  })
  const world = config.mode === 'dev' ? openDemoWorld(services) : undefined
  const feed = world?.feed
  const sending = sendingJob(services)
  const mark = keepMark(dir, databasePath(dir), services.db)
  // Now and not only at the end: a command of root may be killed.
  keepDirectoryOwner(dir)
  const operatorRequests = options.local ?? new WeakSet<Request>()
  const { publishing, cluster } =
    serving && isPublished ? startReplication(services, options, lastChange) : notReplicated
  const runner = createInstanceRunner(services, {
    ...options,
    serving,
    feed,
    sending,
    mark,
    publishing,
    cluster,
    vitals: () => vitals,
    answer(request) {
      operatorRequests.add(request)
      return app.handle(request)
    },
  })
  const isLeased = config.nats.standby === 'auto'
  const loop = serving ? watchedLoop(services.log) : undefined
  const requestContexts =
    options.requestContexts ??
    ((world || services.tracer) && new WeakMap<Request, RequestContext>())
  const controls =
    world && keeping && requestContexts
      ? controlsOf({ services, jobs: runner, sending, world, keeping, loop, requestContexts })
      : undefined
  const vitals: Vitals = {
    ...sendingVitals(services, sending),
    lastPassAt: runner.lastPassAt,
    jobTimings: runner.timings,
    isOverloaded: loop?.isOverloaded ?? aloneVitals.isOverloaded,
    loopWaitMs: loop?.waitMs ?? aloneVitals.loopWaitMs,
    queryWorkers: () => queryWorkers?.state(),
    isStopping: () => opened.stopping,
    replication: () => {
      const view = publishing?.view()
      return view && { ...view, epoch: isLeased ? (cluster?.epoch() ?? 0) : undefined }
    },
    replica: aloneVitals.replica,
    lateReplicas: () => cluster?.lateReplicas() ?? [],
    quotasHeld: () => cluster && { role: 'primary', held: cluster.pools() },
    topology: () => cluster?.topology(),
  }
  const queryWorkers =
    serving && config.readers.threads > 0
      ? openQueryWorkers(services, databasePath(dir))
      : undefined
  // A demo instance has no checksums: SQLite checkpoints its WAL.
  const checkpointer =
    serving && config.mode === 'serve' ? startCheckpointer(services, databasePath(dir)) : undefined
  const rates = serving ? takeUpRates(dir, services) : undefined
  services.feeds.closeOpenRuns()
  let isClosed = false
  // An instance that another one replaced while it was stopped learns it from the stream, or from
  // the lease. Before that it must neither send messages again nor take writes that end with it.
  const begun = isLeased ? undefined : publishing?.begun().then(begin)
  if (!begun) begin()
  function begin() {
    if (!serving || isClosed) return
    sending.start()
    // A public source would mix real values into generated ones.
    if (config.mode === 'serve') services.feeds.start()
  }
  const uncharged = new WeakSet<Request>()
  if (publishing && isLeased) services.meter.followStream(publishing)
  const app = createApp(services, {
    completes: serving,
    peer: options.peer ?? null,
    vitals,
    ...(isLeased && { uncharged }),
    ...(options.url && { url: options.url }),
    ...(rates && { rates }),
    ...(queryWorkers && { queryWorkers }),
    local: operatorRequests,
    ...(options.connections && { connections: options.connections }),
    ...(options.command && { command: options.command }),
    ...(requestContexts && { requestContexts }),
    ...(controls && { dev: controls }),
  })
  const opened: Instance = {
    services,
    app,
    runner,
    feed,
    stopping: false,
    begun,
    sending,
    sequence: publishing?.sequence,
    charged:
      isLeased && publishing
        ? request => (uncharged.has(request) ? publishing.reached(chargedWithinMs) : undefined)
        : undefined,
    acknowledged: acknowledgement(services, publishing, cluster),
    refusal: config.nats.standby === 'auto' ? cluster?.refusal : undefined,
    settled: async () => {
      await services.tracer?.flush()
      await checkpointer?.settled()
    },
    close({ isDiscarded } = { isDiscarded: false }) {
      isClosed = true
      for (const part of [loop, cluster, publishing, queryWorkers, runner, checkpointer])
        part?.stop()
      sending.halt()
      stopServices(services)
      if (isDiscarded) {
        mark.end()
        closeDatabase(services.db, databasePath(dir), true)
      } else writeLast(services, databasePath(dir), { serving, mark, keepRates: rates?.keep })
    },
  }
  return opened
}

interface Replication {
  publishing: ReturnType<typeof startPublishing> | undefined
  cluster: ReturnType<typeof startCluster> | undefined
}

const notReplicated: Replication = { publishing: undefined, cluster: undefined }

/** Publishes the commits of a primary, and announces it to the other instances. */
function startReplication(
  services: Services,
  { dir, url }: Pick<InstanceOptions, 'dir' | 'url'>,
  lastChange: number,
): Replication {
  const publishing = startPublishing(services, databasePath(dir), lastChange)
  const cluster = startCluster(services, {
    reached: publishing.reached,
    isPublishing: () => publishing.view().state === 'publishing',
    position: () => publishing.view().position ?? 0,
    url,
  })
  return { publishing, cluster }
}

/** Checkpoints the WAL in a thread; `settled` waits until no checkpoint is running. */
function startCheckpointer({ db }: Services, path: string) {
  const { checkpoint, stop } = createCheckpointer(path)
  return { stop, settled: checkpointElsewhere(db, path, checkpoint) }
}

/** The condition that a write waits for before it is acknowledged; undefined: none. */
function acknowledgement(
  { config: { nats } }: Services,
  publishing: Publishing | undefined,
  cluster: Cluster | undefined,
): (() => Promise<boolean>) | undefined {
  if (!publishing || (nats.sync === 'async' && nats.standby === 'off')) return undefined
  return async () => {
    const isInStream = nats.sync === 'async' || (await publishing.reached())
    // The lease may have ended while it was written.
    return isInStream && (nats.standby === 'off' || cluster?.refusal() === undefined)
  }
}

/** Stops the background work of the services. */
function stopServices(services: Services): void {
  services.tracer?.stop()
  services.alerts.evaluation.stop()
  services.sourceSync.halt()
  services.feeds.halt()
  services.watchRuns.stop()
  services.streams.stop()
  services.deliveries.stop()
}

/** Writes what the services still hold and closes their database. */
function writeLast(
  services: Services,
  path: string,
  {
    serving,
    mark,
    keepRates,
  }: { serving: boolean; mark: CommitMark; keepRates: (() => void) | undefined },
): void {
  // A full disk does not stop the shutdown: what cannot be written is logged.
  const last = {
    counters: () => services.meter.flush(true),
    webhook_counters: services.webhookAllowance.flush,
    rate_windows: () => keepRates?.(),
    scrub: services.scrub.note,
    commit_mark: mark.end,
    checkpoint: () => closeDatabase(services.db, path, services.config.sqlite.autocheckpoint === 0),
  }
  for (const [part, write] of Object.entries(last)) {
    try {
      write()
    } catch (error) {
      if (serving) services.log.error('stop_incomplete', { part, error })
      else
        namingFile(path, () => {
          throw error
        })
    }
  }
  services.db.close()
}

interface ControlsDeps {
  services: Services
  jobs: Runner
  sending: OutboxJob
  world: DemoWorld
  keeping: Keeping
  loop: LagWatch | undefined
  requestContexts: WeakMap<Request, RequestContext>
}

function controlsOf(deps: ControlsDeps): DevControls {
  const { jobs, sending, keeping, loop, requestContexts } = deps
  const { clock, config, ids } = deps.services
  const { feed, scenarios } = deps.world
  const manual = clock as ManualClock
  // A slow receiver must not delay a developer who checks which messages were sent.
  const settle = () => within(settledWithinMs, sending.settled())
  // Months of work in one request must not count as overload afterwards.
  const advance = (to: number) => jobs.advance(manual, to).finally(() => loop?.restart())
  return {
    clock: manual,
    visitorAccount: config.demo.visitor ? evaluationAccountId : undefined,
    advance,
    settle,
    feed,
    scenarios: scenarios({ advance, settle }),
    faults: createFaults(() => chanceOf(ids)),
    requests: createRequestLog({
      requestContexts,
      now: manual.now,
      // Real time, because the clock of a demo instance may be stopped.
      monotonic: createSystemClock().monotonic,
    }),
    ...keeping,
  }
}

/** Logs when heavy routes begin to be refused, and when they are accepted again. */
const watchedLoop = (log: Log): LagWatch =>
  watchLoop((isOverloaded, lagMs) => {
    if (isOverloaded) log.warn('overloaded', { lag_ms: Math.round(lagMs) })
    else log.info('overload_over')
  })

const sendingJob = ({ outbox, clock, log, config, disk, retention }: Services): OutboxJob =>
  createOutboxJob({
    outbox,
    clock,
    log,
    isReported: disk.failed,
    retention,
    concurrency: config.outbox.concurrency,
    perLane: config.outbox.perLane,
  })

const sendingVitals = (
  { outbox, clock, providerFaults, billing, config, priceFiles }: Services,
  sending: OutboxJob,
): Pick<Vitals, 'senders' | 'backlog'> => ({
  senders: () => [
    ...senderComponents(outbox, clock.now(), sending, providerFaults),
    ...paymentComponents(billing),
    ...fileComponents(config.files.directory === '' ? null : priceFiles.failures()),
  ],
  backlog: () => outbox.vitals(),
})
