import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type App, createApp } from './app.ts'
import { shippedCatalogue } from './feed/catalogue/shipped.ts'
import type { Connections } from './http/cable.ts'
import type { DevControls } from './http/dev-controls.ts'
import { createFaults } from './http/faults.ts'
import type { PeerLookup } from './http/gate/address.ts'
import type { Pass } from './http/gate/gate.ts'
import { createAlertJob } from './jobs/alerts.ts'
import { createAuditJob } from './jobs/audit.ts'
import { type CommandOutcome, createBackupJob } from './jobs/backups.ts'
import { createBillingJob } from './jobs/billing.ts'
import { createClockJob } from './jobs/clock.ts'
import { createConditionJob } from './jobs/condition.ts'
import { createDataSourcesJob } from './jobs/data-sources.ts'
import { createDeliveriesJob } from './jobs/deliveries.ts'
import { createDiskJob } from './jobs/disk.ts'
import { createFeedsJob } from './jobs/feeds.ts'
import type { Job } from './jobs/job.ts'
import { createMessagesJob } from './jobs/messages.ts'
import { createMonthlyForecastJob } from './jobs/monthly-forecasts.ts'
import { createNoticesJob } from './jobs/notices.ts'
import { createOutboxJob, type OutboxJob } from './jobs/outbox.ts'
import { createPriceFilesJob } from './jobs/price-files.ts'
import { createRunner, type Guard, type Runner } from './jobs/runner.ts'
import { createScrubJob } from './jobs/scrub.ts'
import { createSurchargeJob } from './jobs/surcharges.ts'
import { createUsageJob } from './jobs/usage.ts'
import { createWatchJob } from './jobs/watches.ts'
import { createWebhookMonthsJob } from './jobs/webhook-months.ts'
import { createWorldJob } from './jobs/world.ts'
import { type ManualClock, sleep } from './lib/clock.ts'
import { createJumpWatch } from './lib/clock-jumps.ts'
import { chanceOf } from './lib/ids.ts'
import { isoDay } from './lib/instant.ts'
import type { Log } from './lib/log.ts'
import { type LagWatch, watchLoop } from './lib/loop-lag.ts'
import { masterKeyOf, masterKeyPath } from './lib/master-key.ts'
import { createReserveFile, type ReserveFile } from './lib/reserve-file.ts'
import { openNotices } from './matters.ts'
import { type Publishing, startPublishing } from './publishing.ts'
import { takeUpRates } from './rate-windows-file.ts'
import { openReaders } from './readers.ts'
import type { ProcessRuntime } from './runtime.ts'
import { publicParts } from './service/condition/parts.ts'
import { aloneVitals, type Vitals } from './service/condition/vitals.ts'
import { createMonthlyForecasts } from './service/fundamentals/monthly-forecasts.ts'
import { giveUpSealed, opensEverySample } from './service/operator/secret-check.ts'
import { senderComponents } from './service/outbox/vitals.ts'
import type { YearOfPrices } from './service/prices/price-files.ts'
import { openServices, type Services } from './services.ts'
import { type CommitMark, keepMark, missingCommits } from './store/commit-mark.ts'
import { checksumsOf, closeDatabase, foldLongLog, openDatabase } from './store/database.ts'
import { createDueTimes } from './store/operator/due-times.ts'
import { createSecretCheckStore } from './store/operator/secret-check.ts'
import { createChangeLog, logChanges } from './store/replication/change-log.ts'
import { createReplicationState } from './store/replication/state.ts'
import { type InventedWorld, openWorld, type WorldFeed } from './world/open.ts'

const settledWithinMs = 2000

export const databasePath = (dir: string): string => join(dir, 'wellhead.db')

/** One running copy: a database with everything that stands on it. */
export interface Instance {
  services: Services
  app: App
  runner: Runner
  /** The fixture world's feed, in an evaluation copy. */
  feed: WorldFeed | undefined
  /** Asked to stop: nothing new is begun. */
  stopping: boolean
  /** What sends the messages of the outbox. */
  sending: OutboxJob
  /** With nats.sync = commit: whether the stream has everything that is committed now. */
  acknowledged: (() => Promise<boolean>) | undefined
  close(): void
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
  /** Gets the pass of each request, for the access log. */
  passes?: WeakMap<Request, Pass>
  /** Runs a command of this program in a process of its own. */
  command?: (...args: string[]) => Promise<CommandOutcome>
  /** How an evaluation copy keeps its state and goes back to it. */
  keeping?: Keeping
}

/** How states of an evaluation copy are kept. */
export interface Keeping extends Pick<DevControls, 'snapshot' | 'restore' | 'reset'> {
  /** Looks after the files of the states; a pass of a job. */
  tidy(): Promise<void>
}

/**
 * Opens the database in a directory, brings the catalogue up to date and builds the interface over
 * it.
 */
export function openInstance({
  runtime,
  dir,
  serving = false,
  peer = null,
  local,
  url,
  connections,
  passes,
  keeping,
  command,
}: InstanceOptions): Instance {
  if (!existsSync(dir)) mkdirSync(dir, { recursive: true, mode: 0o700 })
  const missing = missingCommits(dir, databasePath(dir), runtime.log)
  if (missing !== undefined)
    runtime.log.error('commits_missing', {
      path: databasePath(dir),
      message: `The database was not closed, and ${missing}. What it holds is consistent; restore a backup if that has more.`,
    })
  const db = openDatabase(databasePath(dir), {
    autocheckpoint: runtime.config.sqlite.autocheckpoint,
    checksums: runtime.config.mode === 'serve',
    leavesShared: keeping !== undefined,
  })
  if (checksumsOf(db)?.isReplaced)
    runtime.log.warn('checksums_begun_anew', {
      path: databasePath(dir),
      message: 'The database is another file than the one that its checksums were of.',
    })
  const replacedBy = serving ? createReplicationState(db).get('replaced_by') : undefined
  if (replacedBy !== undefined) {
    db.close()
    throw new Error(
      `${dir} can not be served: another copy took over from it, ${replacedBy}. "wellhead promote" makes it the primary with what the stream has, and keeps this database beside it.`,
    )
  }
  const isPublished = runtime.config.mode === 'serve' && runtime.config.nats.servers.length > 0
  logChanges(db, isPublished)
  // Before anything of this start is written: a restored database would catch up with the stream.
  const lastChange = isPublished ? createChangeLog(db).last() : 0
  const services = openServices({
    ...runtime,
    db,
    masterKey: masterKeyOf(dir, runtime.config.secrets.masterKey.reveal(), runtime.ids, {
      isNeeded: !runtime.takesNewMasterKey && createSecretCheckStore(db).sealedCount() > 0,
    }),
  })
  if (serving) services.disk.attach(reserveOf(dir, runtime.config.data.reserveMb))
  if (serving) checkMasterKey(services, dir, runtime.takesNewMasterKey === true)
  takeCatalogue(services)
  const conflict = serving ? claimDirectory(services) : undefined
  if (conflict) {
    db.close()
    throw new Error(`${dir} can not be used: ${conflict}; name another directory with --data.`)
  }
  const world = runtime.config.mode === 'dev' ? openWorld(services) : undefined
  const feed = world?.feed
  const sending = sendingJob(services)
  const mark = keepMark(dir, databasePath(dir))
  const operatorRequests = local ?? new WeakSet<Request>()
  const publishing: Publishing | undefined =
    serving && isPublished ? startPublishing(services, databasePath(dir), lastChange) : undefined
  const jobs = createRunner(
    [
      createDiskJob(services.disk),
      ...(serving ? [createScrubJob(services.scrub)] : []),
      ...jobsOf(services, feed),
      ...(command ? backupJobOf(services, command) : []),
      ...priceFilesJobOf(services, request => {
        operatorRequests.add(request)
        return app.handle(request)
      }),
      ...(serving ? [conditionJobOf(services, () => vitals, !feed)] : []),
      ...(serving && !feed ? [createNoticesJob(openNotices(services), runtime.clock)] : []),
      sending,
      ...(keeping ? [{ name: 'kept states', pass: keeping.tidy }] : []),
      markJob(mark, services),
      ...(publishing ? [publishing.job] : []),
    ],
    runtime.clock,
    runtime.log,
    {
      isTold: services.disk.failed,
      // The clock of an evaluation copy is moved by people.
      guard: feed ? undefined : clockGuard(services),
    },
  )
  const loop = serving ? watchedLoop(runtime.log) : undefined
  const controls =
    world && keeping ? controlsOf(services, jobs, sending, world, keeping, loop) : undefined
  const vitals = {
    ...sendingVitals(services, sending),
    lastPassAt: jobs.lastPassAt,
    jobTimings: jobs.timings,
    isOverloaded: loop?.isOverloaded ?? aloneVitals.isOverloaded,
    loopWaitMs: loop?.waitMs ?? aloneVitals.loopWaitMs,
    isStopping: () => opened.stopping,
    replication: () => publishing?.view(),
  }
  const readers =
    serving && runtime.config.readers.threads > 0
      ? openReaders(services, databasePath(dir))
      : undefined
  const rates = serving ? takeUpRates(dir, services) : undefined
  if (serving) sending.start()
  // A public source would mix real values into generated ones.
  if (serving && runtime.config.mode === 'serve') services.feeds.start()
  const app = createApp(services, {
    peer,
    vitals,
    ...(url && { url }),
    ...(rates && { rates }),
    ...(readers && { readers }),
    local: operatorRequests,
    ...(connections && { connections }),
    ...(passes && { passes }),
    ...(controls && { dev: controls }),
    ...(feed && { world: feed }),
  })
  const opened: Instance = {
    services,
    app,
    runner: jobs,
    feed,
    stopping: false,
    sending,
    acknowledged: runtime.config.nats.sync === 'commit' ? publishing?.reached : undefined,
    close() {
      loop?.stop()
      publishing?.stop()
      readers?.stop()
      jobs.stop()
      services.alerts.evaluation.stop()
      services.sourceSync.halt()
      services.feeds.halt()
      services.watchRuns.stop()
      services.streams.stop()
      services.deliveries.stop()
      sending.halt()
      // A disk that is full keeps no server from stopping: what is not written is told.
      const last = {
        counters: services.meter.flush,
        webhook_counters: services.webhookAllowance.flush,
        rate_windows: () => rates?.keep(),
        scrub: services.scrub.note,
        commit_mark: mark.end,
        checkpoint: () => closeDatabase(db, databasePath(dir)),
      }
      for (const [part, write] of Object.entries(last)) {
        try {
          write()
        } catch (error) {
          if (serving) runtime.log.error('stop_incomplete', { part, error })
          else throw error
        }
      }
      db.close()
    },
  }
  return opened
}

const megabyte = 2 ** 20

/** What a data directory keeps free for a start on a full disk: its lock, the index of its log. */
export const startReserveOf = (dir: string, megabytes: number): ReserveFile =>
  createReserveFile(join(dir, 'reserve.start'), dir, Math.min(megabytes, 1) * megabyte)

/** What it keeps free for a server that runs on one. */
function reserveOf(dir: string, megabytes: number): ReserveFile {
  const [start, running] = [
    startReserveOf(dir, megabytes),
    createReserveFile(join(dir, 'reserve'), dir, megabytes * megabyte),
  ]
  return { ...running, keep: () => start.keep() && running.keep() }
}

/**
 * A key that does not open what is sealed belongs to another database: with it every webhook would
 * be signed wrongly, or not at all.
 */
function checkMasterKey({ db, vault, config, ids, log }: Services, dir: string, takesNew: boolean) {
  const store = createSecretCheckStore(db)
  if (opensEverySample(vault, store)) return
  if (takesNew) {
    log.warn('master_key_replaced', {
      ...giveUpSealed(vault, store, ids),
      message:
        'What was sealed with the lost key is given up: webhooks sign with new secrets, which their owners must fetch, and credentials of data sources must be entered again.',
    })
    return
  }
  db.close()
  const place = config.secrets.masterKey.reveal() === '' ? masterKeyPath(dir) : 'secrets.master_key'
  throw new Error(
    `${place} does not open what is sealed in ${databasePath(dir)}: it is not the key with which webhook secrets and credentials were sealed. Put the right key there. Without it, start with --new-master-key: the secrets of webhooks and the credentials of data sources are lost then and must be entered again.`,
  )
}

function controlsOf(
  { clock, ids }: Services,
  jobs: Runner,
  sending: OutboxJob,
  { feed, scenarios }: InventedWorld,
  keeping: Keeping,
  loop: LagWatch | undefined,
): DevControls {
  const manual = clock as ManualClock
  // A receiver that takes its time does not hold up who looks at what has been sent.
  const settle = () => Promise.race([sending.settled(), sleep(settledWithinMs)])
  // Months of work in one request say nothing of the requests that come after it.
  const advance = (to: number) => jobs.advance(manual, to).finally(() => loop?.restart())
  return {
    clock: manual,
    advance,
    settle,
    feed,
    scenarios: scenarios(advance),
    faults: createFaults(() => chanceOf(ids)),
    ...keeping,
  }
}

/** Tells the operator when heavy routes begin to be refused, and when no longer. */
const watchedLoop = (log: Log): LagWatch =>
  watchLoop((isOverloaded, lagMs) => {
    if (isOverloaded) log.warn('overloaded', { lag_ms: Math.round(lagMs) })
    else log.info('overload_over')
  })

/**
 * A directory holds real data or an evaluation copy, never both: a served fixture would be a lie, a
 * filled-in real series a worse one.
 */
export function claimDirectory({
  settings,
  catalogue,
  config,
}: Pick<Services, 'settings' | 'catalogue' | 'config'>): string | undefined {
  const mode = settings.get('directory.mode')
  if (mode === config.mode) return undefined
  if (mode === 'dev')
    return 'it is an evaluation copy with generated data, which the command serve does not serve'
  if (mode !== undefined)
    return 'it holds real data, into which the command dev would mix generated data'
  if (config.mode === 'dev' && catalogue.list().some(series => catalogue.extent(series))) {
    return 'it holds observations already, into which the command dev would mix generated data'
  }
  settings.set('directory.mode', config.mode)
  return undefined
}

/**
 * Writes the shipped catalogue when it is not the one the database has: a new version may bring new
 * codes.
 */
function takeCatalogue({ config, settings, series, catalogue }: Services) {
  const shipped = shippedCatalogue(config.brand.exchangeWords)
  const version = Bun.hash.wyhash(JSON.stringify(shipped)).toString(36)
  if (settings.get('catalogue.version') === version) return
  series.put(shipped.series, shipped.aliases)
  settings.set('catalogue.version', version)
  catalogue.reload()
}

function jobsOf(services: Services, feed: WorldFeed | undefined): Job[] {
  const { meter, surchargeMatching, clock } = services
  return [
    // In an evaluation copy the fixture world publishes the forecasts too.
    feed
      ? createWorldJob(feed, clock)
      : createMonthlyForecastJob({
          ...services,
          forecasts: createMonthlyForecasts(services.monthlyForecasts),
        }),
    createSurchargeJob(surchargeMatching, clock),
    createUsageJob(meter),
    createAuditJob(services.audit),
    createBillingJob(services),
    createWebhookMonthsJob(services.webhookAllowance),
    createMessagesJob(services),
    createDataSourcesJob(services),
    createFeedsJob(services.feeds),
    createAlertJob(services.alerts.evaluation),
    createWatchJob(services.watchRuns),
    createDeliveriesJob({ ...services, intervalMs: services.config.deliveries.dispatchIntervalMs }),
  ]
}

/** What the parts of the service are doing, kept for those who ask later. */
const conditionJobOf = (
  services: Services,
  vitals: () => Pick<Vitals, 'isOverloaded' | 'senders'>,
  isClockReal: boolean,
): Job =>
  createConditionJob({
    ...services,
    parts: () => publicParts({ ...services, ...vitals() }),
    hasData: () => services.freshness.overview().newestAt !== undefined,
    isClockReal,
  })

/** Where the configuration names a place for backups. */
function backupJobOf(
  { config, backupRecord, clock, log }: Services,
  command: NonNullable<InstanceOptions['command']>,
): Job[] {
  const { directory, s3Bucket, everyMs } = config.backups
  return directory === '' && s3Bucket === ''
    ? []
    : [createBackupJob({ everyMs, command, record: backupRecord, clock, log })]
}

/** Where the configuration names a directory: made from what the operator's own export answers. */
function priceFilesJobOf(
  { config, priceFiles, catalogue, clock, log }: Services,
  ask: (request: Request) => Response | Promise<Response>,
): Job[] {
  if (config.files.directory === '') return []
  const years = () => {
    const extents = catalogue.list().flatMap(series => catalogue.extent(series) ?? [])
    if (extents.length === 0) return []
    const first = yearOf(Math.min(...extents.map(extent => extent.firstAt)))
    const last = yearOf(Math.max(...extents.map(extent => extent.lastAt)))
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  }
  const read = async (year: number): Promise<YearOfPrices> => {
    const everybodys = catalogue.list().filter(series => catalogue.isVisible(series, ''))
    // The files are for every customer: what is for some accounts is in none.
    const codes = catalogue.isRestricted ? everybodys.map(series => series.code).join() : ''
    const query = `format=parquet&start_date=${year}-01-01&end_date=${year}-12-31&codes=${codes}`
    const answer = await ask(new Request(`http://localhost/admin/v1/export?${query}`))
    if (!answer.ok || !answer.body) throw new Error(await answer.text())
    return { rows: Number(answer.headers.get('x-total')), pieces: answer.body }
  }
  return [createPriceFilesJob({ files: priceFiles, years, read, clock, log })]
}

const yearOf = (at: number): number => Number(isoDay(at).slice(0, 4))

function clockGuard(services: Services): Guard {
  const jumps = createJumpWatch(services.clock)
  const dueTimes = createDueTimes(services.db)
  return {
    job: createClockJob({ ...services, jumps, dueTimes }),
    holdsOthers: jumps.isSettling,
  }
}

/** How far the log of the database has come is written down beside it. */
const markJob = (mark: CommitMark, { clock, db }: Services): Job => ({
  name: 'commit mark',
  pass() {
    mark.note(clock.now())
    // What is written outside of transactions.
    foldLongLog(db)
  },
})

const sendingJob = ({ outbox, clock, log, config, disk }: Services): OutboxJob =>
  createOutboxJob({
    outbox,
    clock,
    log,
    isTold: disk.failed,
    concurrency: config.outbox.concurrency,
    perLane: config.outbox.perLane,
  })

const sendingVitals = (
  { outbox, clock }: Services,
  sending: OutboxJob,
): Pick<Vitals, 'senders' | 'backlog'> => ({
  senders: () => senderComponents(outbox, clock.now(), sending),
  backlog: () => outbox.vitals(),
})
