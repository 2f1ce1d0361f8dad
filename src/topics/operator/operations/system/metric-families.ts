import { checksumsOf } from '../../../../database/checkpoint.ts'
import type { FeedView } from '../../../../feeds/engine/view.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { bytesOf } from '../../../../lib/files/free-space.ts'
import { secondMs } from '../../../../lib/time/instant.ts'
import { staleReasons } from '../../../../replication/service/stale-reason.ts'
import { version } from '../../../../version.ts'
import { seriesFaultKinds } from '../../../condition/service/series-faults.ts'
import { spentKeys } from '../../../keys/service/spent-keys.ts'
import { latencyBounds } from '../../service/tally.ts'

export interface Sample {
  labels?: Readonly<Record<string, string>>
  value: number
  /** With the ending of a part of a histogram. */
  metricName?: string
}

/** One family of the exposition, read when it is requested. */
export interface MetricFamily {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples(): Sample[]
}

/** A scrape checks no more of them. */
const spentKeysMax = 1000

const seconds = (at: number) => at / secondMs

/** Everything that this service measures about itself. */
export const metricFamilies = (deps: Context): MetricFamily[] => [
  ...requestFamilies(deps),
  ...dataFamilies(deps),
  ...feedFamilies(deps),
  ...outboxFamilies(deps),
  ...processFamilies(deps),
  ...storageFamilies(deps),
  ...replicationFamilies(deps),
]

function requestFamilies(deps: Context): MetricFamily[] {
  const { tally } = deps
  const name = 'wellhead_request_duration_seconds'
  return [
    {
      name: 'wellhead_requests_total',
      help: 'Answers by route, status and plan; the plan is empty without a key.',
      type: 'counter',
      samples: () =>
        [...tally.routes()].flatMap(([route, { answers }]) =>
          [...answers].flatMap(([status, plans]) =>
            [...plans].map(([plan, value]) => ({
              labels: { route, status: String(status), plan },
              value,
            })),
          ),
        ),
    },
    {
      name,
      help: 'Time from the gate to the answer, by route.',
      type: 'histogram',
      samples: () =>
        [...tally.routes()].flatMap(([route, { buckets, seconds: sum }]) => {
          let total = 0
          const parts = [...buckets].map((count, i) => {
            total += count
            const le = latencyBounds[i] === undefined ? '+Inf' : String(latencyBounds[i])
            return { metricName: `${name}_bucket`, labels: { route, le }, value: total }
          })
          return [
            ...parts,
            { metricName: `${name}_sum`, labels: { route }, value: sum },
            { metricName: `${name}_count`, labels: { route }, value: total },
          ]
        }),
    },
    {
      name: 'wellhead_refusals_total',
      help: 'Errors that were answered, by their code.',
      type: 'counter',
      samples: () => [...tally.refusals()].map(([code, value]) => ({ labels: { code }, value })),
    },
    {
      name: 'wellhead_quotas_spent',
      help: 'Keys whose quota is used up; 1000 at most.',
      type: 'gauge',
      samples: () => [{ value: spentKeys(deps, spentKeysMax).length }],
    },
  ]
}

const dataFamilies = ({ tally, freshness, seriesFaults, clock }: Context): MetricFamily[] => [
  {
    name: 'wellhead_observations_total',
    help: 'Observations recorded since the start, by source of the series.',
    type: 'counter',
    samples: () =>
      [...tally.sources()].flatMap(([source, { inserted, revised }]) => [
        { labels: { source, kind: 'inserted' }, value: inserted },
        { labels: { source, kind: 'revised' }, value: revised },
      ]),
  },
  {
    name: 'wellhead_codes',
    help: 'Codes by how fresh their newest value is.',
    type: 'gauge',
    samples() {
      const { current, delayed, stale, missing } = freshness.overview()
      return Object.entries({ current, delayed, stale, missing }).map(([status, value]) => ({
        labels: { status },
        value,
      }))
    },
  },
  {
    name: 'wellhead_series_faults',
    help: 'Codes that have stopped, are frozen, have changed their unit, or lack values of their calendar or cadence.',
    type: 'gauge',
    samples() {
      const faults = seriesFaults.all()
      return seriesFaultKinds.map(kind => ({
        labels: { kind },
        value: faults.filter(fault => fault.kind === kind).length,
      }))
    },
  },
  {
    name: 'wellhead_source_age_seconds',
    help: 'Age of the newest observation of a source and category.',
    type: 'gauge',
    samples: () =>
      freshness
        .feeds()
        .filter(({ lastObservationAt }) => lastObservationAt !== undefined)
        .map(({ name, status, lastObservationAt }) => ({
          labels: { source: name, status },
          value: seconds(clock.now() - lastObservationAt!),
        })),
  },
]

function feedFamilies({ feeds, clock }: Context): MetricFamily[] {
  const each = (of: (view: FeedView) => number | undefined) => () =>
    feeds.active().flatMap(view => {
      const value = of(view)
      return value === undefined ? [] : [{ labels: { feed: view.feed.publisher.name }, value }]
    })
  const gauge = (name: string, help: string, samples: () => Sample[]): MetricFamily => ({
    name: `wellhead_feed_${name}`,
    help,
    type: 'gauge',
    samples,
  })
  return [
    gauge('state', '1 for the state that a feed is in.', () =>
      feeds.active().map(view => ({
        labels: { feed: view.feed.publisher.name, state: view.state },
        value: 1,
      })),
    ),
    gauge(
      'age_seconds',
      'Since a run of the feed brought something new.',
      each(({ lastNewAt }) =>
        lastNewAt === undefined ? undefined : seconds(clock.now() - lastNewAt),
      ),
    ),
    gauge(
      'next_run_timestamp_seconds',
      'When the feed is read next.',
      each(({ nextRunAt }) => (nextRunAt === undefined ? undefined : seconds(nextRunAt))),
    ),
    gauge(
      'expected_timestamp_seconds',
      'By when its publisher should have brought something new.',
      each(({ expectedBy }) => (expectedBy === undefined ? undefined : seconds(expectedBy))),
    ),
    gauge(
      'late',
      '1 for a feed that should have brought something new.',
      each(({ state }) => Number(state === 'late')),
    ),
    gauge(
      'consecutive_failures',
      'Runs that failed one after the other.',
      each(({ consecutiveFailures }) => consecutiveFailures),
    ),
    gauge('last_run_rows', 'Rows of the last run, by what became of them.', () =>
      feeds.active().flatMap(({ feed, lastRun }) =>
        lastRun === undefined
          ? []
          : (['inserted', 'revised', 'unchanged', 'rejected', 'held'] as const).map(outcome => ({
              labels: { feed: feed.publisher.name, outcome },
              value: lastRun[outcome],
            })),
      ),
    ),
  ]
}

const outboxFamilies = ({
  outbox,
  webhooks,
  webhookSkips,
  clock,
  senders,
}: Context): MetricFamily[] => [
  {
    name: 'wellhead_outbox_messages',
    help: 'Messages that have not ended, by kind and state.',
    type: 'gauge',
    samples: () =>
      [...outbox.vitals().states].flatMap(([kind, { waiting, inProgress, parked }]) => [
        { labels: { kind, state: 'waiting' }, value: waiting },
        { labels: { kind, state: 'under_way' }, value: inProgress },
        { labels: { kind, state: 'parked' }, value: parked },
      ]),
  },
  {
    name: 'wellhead_outbox_oldest_seconds',
    help: 'How long the oldest waiting message of a kind has been due; 0 where none is.',
    type: 'gauge',
    samples: () =>
      [...outbox.vitals().kinds].map(([kind, dueAt]) => ({
        labels: { kind },
        value: dueAt === undefined ? 0 : Math.max(0, seconds(clock.now() - dueAt)),
      })),
  },
  {
    name: 'wellhead_sender_degraded',
    help: '1 where messages of a kind wait that should have gone out; a receiver of webhooks that fails holds up only its own.',
    type: 'gauge',
    samples: () =>
      senders().map(({ name, status }) => ({
        labels: { sender: name },
        value: Number(status === 'degraded'),
      })),
  },
  {
    name: 'wellhead_outbox_attempts_total',
    help: 'Attempts that ended since the start, by what became of the message.',
    type: 'counter',
    samples: () =>
      Object.entries(outbox.vitals().ended).map(([state, value]) => ({
        labels: { state },
        value,
      })),
  },
  {
    name: 'wellhead_webhook_endpoints',
    help: 'Webhook endpoints: active, failing (active, and the last delivery failed), disabled.',
    type: 'gauge',
    samples: () =>
      Object.entries(webhooks.tally()).map(([state, value]) => ({ labels: { state }, value })),
  },
  {
    name: 'wellhead_webhook_events_skipped_total',
    help: 'Events since the start that an endpoint subscribed to and was not sent, by reason.',
    type: 'counter',
    samples: () =>
      [...webhookSkips.counts()].map(([reason, value]) => ({ labels: { reason }, value })),
  },
]

const noWorkers = { ready: 0, starting: 0, failed: 0 }

function processFamilies({
  clock,
  lastPassAt,
  jobTimings,
  isOverloaded,
  loopWaitMs,
  queryWorkers,
}: Context): MetricFamily[] {
  const startedAt = clock.now() - process.uptime() * secondMs
  const single = (
    name: string,
    help: string,
    value: () => number,
    type: 'gauge' | 'counter' = 'gauge',
  ): MetricFamily => ({ name, help, type, samples: () => [{ value: value() }] })
  return [
    {
      name: 'wellhead_build_info',
      help: 'The version that runs.',
      type: 'gauge',
      samples: () => [{ labels: { version }, value: 1 }],
    },
    {
      name: 'wellhead_jobs_age_seconds',
      help: 'Since the background jobs ended a pass.',
      type: 'gauge',
      samples() {
        const at = lastPassAt()
        return typeof at === 'number' ? [{ value: seconds(clock.now() - at) }] : []
      },
    },
    {
      name: 'wellhead_job_passes_total',
      help: 'Passes of each background job since the start.',
      type: 'counter',
      samples: () =>
        [...jobTimings()].map(([job, { passes }]) => ({ labels: { job }, value: passes })),
    },
    {
      name: 'wellhead_job_seconds_total',
      help: 'Time that the passes of each background job have taken since the start.',
      type: 'counter',
      samples: () =>
        [...jobTimings()].map(([job, { ms }]) => ({ labels: { job }, value: seconds(ms) })),
    },
    {
      name: 'wellhead_job_last_seconds',
      help: 'Time that the last pass of each background job took.',
      type: 'gauge',
      samples: () =>
        [...jobTimings()].map(([job, { lastMs }]) => ({ labels: { job }, value: seconds(lastMs) })),
    },
    single(
      'wellhead_loop_wait_seconds',
      'Longest wait for a turn of the event loop in the last minute.',
      () => seconds(loopWaitMs()),
    ),
    single('wellhead_overloaded', '1 while heavy routes are refused.', () =>
      Number(isOverloaded()),
    ),
    {
      name: 'wellhead_query_workers',
      help: 'Threads that answer heavy requests, by state; failed is 1 while none starts and for a minute after one ended.',
      type: 'gauge',
      samples() {
        const { ready, starting, failed } = queryWorkers() ?? noWorkers
        return Object.entries({ ready, starting, failed }).map(([state, value]) => ({
          labels: { state },
          value,
        }))
      },
    },
    single('process_resident_memory_bytes', 'Memory of the process.', () =>
      process.memoryUsage.rss(),
    ),
    single(
      'process_cpu_seconds_total',
      'Processor time of the process.',
      () => {
        const { user, system } = process.cpuUsage()
        return (user + system) / 1e6
      },
      'counter',
    ),
    single('process_start_time_seconds', 'When the process began.', () => seconds(startedAt)),
  ]
}

function storageFamilies({ db, disk, backupRecord, scrub, clock }: Context): MetricFamily[] {
  const path = db.filename
  const isFile = path !== '' && path !== ':memory:'
  /** None where a replicator checkpoints. */
  // Where SQLite or a replicator checkpoints the WAL, the service itself never did.
  const checkpoints = () => checksumsOf(db)?.checkpoints() ?? { count: 0, ms: 0, lastMs: 0 }
  return [
    {
      name: 'wellhead_sqlite_bytes',
      help: 'Size of the database and of its write-ahead log.',
      type: 'gauge',
      samples: () =>
        isFile
          ? [
              { labels: { file: 'database' }, value: bytesOf(path) },
              { labels: { file: 'log' }, value: bytesOf(`${path}-wal`) },
            ]
          : [],
    },
    {
      name: 'wellhead_checkpoint_seconds_total',
      help: 'Time for which answers waited because the WAL was checkpointed, since the start.',
      type: 'counter',
      samples: () => [{ value: seconds(checkpoints().ms) }],
    },
    {
      name: 'wellhead_checkpoints_total',
      help: 'How often the WAL was checkpointed by the thread that answers, since the start.',
      type: 'counter',
      samples: () => [{ value: checkpoints().count }],
    },
    {
      name: 'wellhead_checkpoint_last_seconds',
      help: 'Time for which the last checkpoint of the WAL held up answers.',
      type: 'gauge',
      samples: () => [{ value: seconds(checkpoints().lastMs) }],
    },
    {
      name: 'wellhead_storage_faults_total',
      help: 'Writes that the disk, or another process that held the database, refused.',
      type: 'counter',
      samples: () =>
        Object.entries(disk.faults()).map(([reason, value]) => ({ labels: { reason }, value })),
    },
    {
      name: 'wellhead_writable',
      help: '1 while writes are taken.',
      type: 'gauge',
      samples: () => [{ value: Number(disk.fault() === undefined) }],
    },
    {
      name: 'wellhead_disk_free_bytes',
      help: 'Room on the disk of the data directory.',
      type: 'gauge',
      samples() {
        const free = disk.freeBytes()
        return free === undefined ? [] : [{ value: free }]
      },
    },
    {
      name: 'wellhead_backup_age_seconds',
      help: 'Since the newest scheduled backup was made; absent without one.',
      type: 'gauge',
      samples() {
        const { madeAt } = backupRecord.get()
        return madeAt === undefined ? [] : [{ value: Math.max(0, seconds(clock.now() - madeAt)) }]
      },
    },
    {
      name: 'wellhead_backup_failed',
      help: '1 while the last scheduled backup was not made, or did not hold.',
      type: 'gauge',
      samples: () => [{ value: Number(backupRecord.get().fault !== undefined) }],
    },
    {
      name: 'wellhead_damaged_pages',
      help: 'Pages of the database that were not as they were written.',
      type: 'gauge',
      samples() {
        const { damaged, rewritten } = scrub.status()
        return [{ value: damaged.length + rewritten.length }]
      },
    },
    {
      name: 'wellhead_scrub_age_seconds',
      help: 'Since every page was last compared with its checksum; absent before the first time.',
      type: 'gauge',
      samples() {
        const { finishedAt } = scrub.status()
        return finishedAt === undefined
          ? []
          : [{ value: Math.max(0, seconds(clock.now() - finishedAt)) }]
      },
    },
  ]
}

/** Nothing where nothing is published. */
function replicationFamilies({ replication, replica, quotasHeld, clock }: Context): MetricFamily[] {
  type View = NonNullable<ReturnType<Context['replication']>>
  const gauge = (
    name: string,
    help: string,
    value: (view: View) => number | undefined,
  ): MetricFamily => ({
    name: `wellhead_replication_${name}`,
    help,
    type: 'gauge',
    samples() {
      const view = replication()
      const measured = view && value(view)
      return measured === undefined ? [] : [{ value: measured }]
    },
  })
  const quotaGauge = (
    role: 'primary' | 'replica',
    name: string,
    help: string,
    value: (of: { keys: number; requests: number }) => number,
  ): MetricFamily => ({
    name: `wellhead_quota_${name}`,
    help,
    type: 'gauge',
    samples() {
      const quotas = quotasHeld()
      return quotas?.role === role ? [{ value: value(quotas.held) }] : []
    },
  })
  return [
    quotaGauge(
      'replica',
      'slice_keys',
      'Keys of whose quota a replica has a slice.',
      ({ keys }) => keys,
    ),
    quotaGauge(
      'replica',
      'slice_requests',
      'Requests that a replica may answer of quotas without asking anybody.',
      ({ requests }) => requests,
    ),
    quotaGauge(
      'primary',
      'pool_keys',
      'Keys of whose quota replicas may take.',
      ({ keys }) => keys,
    ),
    quotaGauge(
      'primary',
      'pool_requests',
      'Charged quota requests in the pools for replicas.',
      ({ requests }) => requests,
    ),
    gauge('publishing', '1 while commits are published to NATS.', ({ state }) =>
      Number(state === 'publishing'),
    ),
    gauge('lag_seconds', 'Since when the stream lacks something of this database.', ({ lagMs }) =>
      seconds(lagMs),
    ),
    gauge(
      'lease_epoch',
      'Of a primary with a standby: the epoch of the lease it has; 0: none, and it writes nothing.',
      ({ epoch }) => epoch,
    ),
    gauge('backlog', 'Logged changes that are not in the stream yet.', ({ backlog }) => backlog),
    gauge('position', 'Change up to which the stream has everything.', ({ position }) => position),
    gauge(
      'snapshot_age_seconds',
      'Since a snapshot was stored; absent before the first since the start.',
      ({ snapshot }) => snapshot && seconds(clock.now() - snapshot.storedAt),
    ),
    {
      name: 'wellhead_replica_lag_seconds',
      help: 'How far a replica may be behind the stream; absent before it has met it.',
      type: 'gauge',
      samples() {
        const lagMs = replica()?.lagMs
        return lagMs === undefined || lagMs === Number.POSITIVE_INFINITY
          ? []
          : [{ value: seconds(lagMs) }]
      },
    },
    {
      name: 'wellhead_replica_stale',
      help: '1 for why a replica passes reads on to the primary: behind, cannot_apply, gap or other_lineage.',
      type: 'gauge',
      samples() {
        const view = replica()
        return view === undefined
          ? []
          : staleReasons.map(reason => ({
              labels: { reason },
              value: Number(view.stale === reason),
            }))
      },
    },
  ]
}
