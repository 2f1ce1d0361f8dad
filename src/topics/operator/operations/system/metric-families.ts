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

const family = (
  name: string,
  help: string,
  samples: () => Sample[],
  type: MetricFamily['type'] = 'gauge',
): MetricFamily => ({ name, help, type, samples })

/** A family of one number; it has no sample while there is no number. */
const single = (
  name: string,
  help: string,
  value: () => number | undefined,
  type?: MetricFamily['type'],
): MetricFamily => {
  const samples = () => {
    const measured = value()
    return measured === undefined ? [] : [{ value: measured }]
  }
  return family(name, help, samples, type)
}

/** A family with a number for each value of a label. */
const labelled = (
  name: string,
  help: string,
  label: string,
  values: () => Iterable<readonly [string, number]>,
  type?: MetricFamily['type'],
): MetricFamily => {
  const samples = () => [...values()].map(([text, value]) => ({ labels: { [label]: text }, value }))
  return family(name, help, samples, type)
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
    family(
      'wellhead_requests_total',
      'Answers by route, status and plan; the plan is empty without a key.',
      () =>
        [...tally.routes()].flatMap(([route, { answers }]) =>
          [...answers].flatMap(([status, plans]) =>
            [...plans].map(([plan, value]) => ({
              labels: { route, status: String(status), plan },
              value,
            })),
          ),
        ),
      'counter',
    ),
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
    labelled(
      'wellhead_refusals_total',
      'Errors that were answered, by their code.',
      'code',
      tally.refusals,
      'counter',
    ),
    single(
      'wellhead_quotas_spent',
      'Keys whose quota is used up; 1000 at most.',
      () => spentKeys(deps, spentKeysMax).length,
    ),
  ]
}

const dataFamilies = ({ tally, freshness, seriesFaults, clock }: Context): MetricFamily[] => [
  family(
    'wellhead_observations_total',
    'Observations recorded since the start, by source of the series.',
    () =>
      [...tally.sources()].flatMap(([source, { inserted, revised }]) => [
        { labels: { source, kind: 'inserted' }, value: inserted },
        { labels: { source, kind: 'revised' }, value: revised },
      ]),
    'counter',
  ),
  labelled('wellhead_codes', 'Codes by how fresh their newest value is.', 'status', () => {
    const { current, delayed, stale, missing } = freshness.overview()
    return Object.entries({ current, delayed, stale, missing })
  }),
  labelled(
    'wellhead_series_faults',
    'Codes that have stopped, are frozen, have changed their unit, or lack values of their calendar or cadence.',
    'kind',
    () => {
      const faults = seriesFaults.all()
      return seriesFaultKinds.map(kind => [
        kind,
        faults.filter(fault => fault.kind === kind).length,
      ])
    },
  ),
  family(
    'wellhead_source_age_seconds',
    'Age of the newest observation of a source and category.',
    () =>
      freshness
        .feeds()
        .filter(({ lastObservationAt }) => lastObservationAt !== undefined)
        .map(({ name, status, lastObservationAt }) => ({
          labels: { source: name, status },
          value: seconds(clock.now() - lastObservationAt!),
        })),
  ),
]

function feedFamilies({ feeds, clock }: Context): MetricFamily[] {
  const gauge = (name: string, help: string, of: (view: FeedView) => number | undefined) =>
    labelled(`wellhead_feed_${name}`, help, 'feed', () =>
      feeds.active().flatMap(view => {
        const value = of(view)
        return value === undefined ? [] : [[view.feed.publisher.name, value] as const]
      }),
    )
  return [
    family('wellhead_feed_state', '1 for the state that a feed is in.', () =>
      feeds.active().map(view => ({
        labels: { feed: view.feed.publisher.name, state: view.state },
        value: 1,
      })),
    ),
    gauge('age_seconds', 'Since a run of the feed brought something new.', ({ lastNewAt }) =>
      lastNewAt === undefined ? undefined : seconds(clock.now() - lastNewAt),
    ),
    gauge('next_run_timestamp_seconds', 'When the feed is read next.', ({ nextRunAt }) =>
      nextRunAt === undefined ? undefined : seconds(nextRunAt),
    ),
    gauge(
      'expected_timestamp_seconds',
      'By when its publisher should have brought something new.',
      ({ expectedBy }) => (expectedBy === undefined ? undefined : seconds(expectedBy)),
    ),
    gauge('late', '1 for a feed that should have brought something new.', ({ state }) =>
      Number(state === 'late'),
    ),
    gauge(
      'consecutive_failures',
      'Runs that failed one after the other.',
      ({ consecutiveFailures }) => consecutiveFailures,
    ),
    family('wellhead_feed_last_run_rows', 'Rows of the last run, by what became of them.', () =>
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
  family('wellhead_outbox_messages', 'Messages that have not ended, by kind and state.', () =>
    [...outbox.vitals().states].flatMap(([kind, { waiting, inProgress, parked }]) => [
      { labels: { kind, state: 'waiting' }, value: waiting },
      { labels: { kind, state: 'under_way' }, value: inProgress },
      { labels: { kind, state: 'parked' }, value: parked },
    ]),
  ),
  labelled(
    'wellhead_outbox_oldest_seconds',
    'How long the oldest waiting message of a kind has been due; 0 where none is.',
    'kind',
    () =>
      [...outbox.vitals().kinds].map(([kind, dueAt]) => [
        kind,
        dueAt === undefined ? 0 : Math.max(0, seconds(clock.now() - dueAt)),
      ]),
  ),
  labelled(
    'wellhead_sender_degraded',
    '1 where messages of a kind wait that should have gone out; a receiver of webhooks that fails holds up only its own.',
    'sender',
    () => senders().map(({ name, status }) => [name, Number(status === 'degraded')]),
  ),
  labelled(
    'wellhead_outbox_attempts_total',
    'Attempts that ended since the start, by what became of the message.',
    'state',
    () => Object.entries(outbox.vitals().ended),
    'counter',
  ),
  labelled(
    'wellhead_webhook_endpoints',
    'Webhook endpoints: active, failing (active, and the last delivery failed), disabled.',
    'state',
    () => Object.entries(webhooks.tally()),
  ),
  labelled(
    'wellhead_webhook_events_skipped_total',
    'Events since the start that an endpoint subscribed to and was not sent, by reason.',
    'reason',
    webhookSkips.counts,
    'counter',
  ),
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
  const ofJobs = (
    name: string,
    help: string,
    value: (timing: { passes: number; ms: number; lastMs: number }) => number,
    type?: MetricFamily['type'],
  ) =>
    labelled(
      name,
      help,
      'job',
      () => [...jobTimings()].map(([job, timing]) => [job, value(timing)]),
      type,
    )
  return [
    family('wellhead_build_info', 'The version that runs.', () => [
      { labels: { version }, value: 1 },
    ]),
    single('wellhead_jobs_age_seconds', 'Since the background jobs ended a pass.', () => {
      const at = lastPassAt()
      return typeof at === 'number' ? seconds(clock.now() - at) : undefined
    }),
    ofJobs(
      'wellhead_job_passes_total',
      'Passes of each background job since the start.',
      ({ passes }) => passes,
      'counter',
    ),
    ofJobs(
      'wellhead_job_seconds_total',
      'Time that the passes of each background job have taken since the start.',
      ({ ms }) => seconds(ms),
      'counter',
    ),
    ofJobs(
      'wellhead_job_last_seconds',
      'Time that the last pass of each background job took.',
      ({ lastMs }) => seconds(lastMs),
    ),
    single(
      'wellhead_loop_wait_seconds',
      'Longest wait for a turn of the event loop in the last minute.',
      () => seconds(loopWaitMs()),
    ),
    single('wellhead_overloaded', '1 while heavy routes are refused.', () =>
      Number(isOverloaded()),
    ),
    labelled(
      'wellhead_query_workers',
      'Threads that answer heavy requests, by state; failed is 1 while none starts and for a minute after one ended.',
      'state',
      () => {
        const { ready, starting, failed } = queryWorkers() ?? noWorkers
        return Object.entries({ ready, starting, failed })
      },
    ),
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
  const age = (at: number | undefined) =>
    at === undefined ? undefined : Math.max(0, seconds(clock.now() - at))
  // Where SQLite or a replicator checkpoints the WAL, the service itself never did.
  const checkpoints = () => checksumsOf(db)?.checkpoints() ?? { count: 0, ms: 0, lastMs: 0 }
  return [
    labelled(
      'wellhead_sqlite_bytes',
      'Size of the database and of its write-ahead log.',
      'file',
      () =>
        isFile
          ? [
              ['database', bytesOf(path)],
              ['log', bytesOf(`${path}-wal`)],
            ]
          : [],
    ),
    single(
      'wellhead_checkpoint_seconds_total',
      'Time for which answers waited because the WAL was checkpointed, since the start.',
      () => seconds(checkpoints().ms),
      'counter',
    ),
    single(
      'wellhead_checkpoints_total',
      'How often the WAL was checkpointed by the thread that answers, since the start.',
      () => checkpoints().count,
      'counter',
    ),
    single(
      'wellhead_checkpoint_last_seconds',
      'Time for which the last checkpoint of the WAL held up answers.',
      () => seconds(checkpoints().lastMs),
    ),
    labelled(
      'wellhead_storage_faults_total',
      'Writes that the disk, or another process that held the database, refused.',
      'reason',
      () => Object.entries(disk.faults()),
      'counter',
    ),
    single('wellhead_writable', '1 while writes are taken.', () =>
      Number(disk.fault() === undefined),
    ),
    single('wellhead_disk_free_bytes', 'Room on the disk of the data directory.', disk.freeBytes),
    single(
      'wellhead_backup_age_seconds',
      'Since the newest scheduled backup was made; absent without one.',
      () => age(backupRecord.get().madeAt),
    ),
    single(
      'wellhead_backup_failed',
      '1 while the last scheduled backup was not made, or did not hold.',
      () => Number(backupRecord.get().fault !== undefined),
    ),
    single(
      'wellhead_damaged_pages',
      'Pages of the database that were not as they were written.',
      () => {
        const { damaged, rewritten } = scrub.status()
        return damaged.length + rewritten.length
      },
    ),
    single(
      'wellhead_scrub_age_seconds',
      'Since every page was last compared with its checksum; absent before the first time.',
      () => age(scrub.status().finishedAt),
    ),
  ]
}

/** Nothing where nothing is published. */
function replicationFamilies({ replication, replica, quotasHeld, clock }: Context): MetricFamily[] {
  type View = NonNullable<ReturnType<Context['replication']>>
  const gauge = (name: string, help: string, value: (view: View) => number | undefined) =>
    single(`wellhead_replication_${name}`, help, () => {
      const view = replication()
      return view && value(view)
    })
  const quotaGauge = (
    role: 'primary' | 'replica',
    name: string,
    help: string,
    value: (of: { keys: number; requests: number }) => number,
  ) =>
    single(`wellhead_quota_${name}`, help, () => {
      const quotas = quotasHeld()
      return quotas?.role === role ? value(quotas.held) : undefined
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
    single(
      'wellhead_replica_lag_seconds',
      'How far a replica may be behind the stream; absent before it has met it.',
      () => {
        const lagMs = replica()?.lagMs
        return lagMs === undefined || lagMs === Number.POSITIVE_INFINITY
          ? undefined
          : seconds(lagMs)
      },
    ),
    labelled(
      'wellhead_replica_stale',
      '1 for why a replica passes reads on to the primary: behind, cannot_apply, gap or other_lineage.',
      'reason',
      () => {
        const view = replica()
        return view ? staleReasons.map(reason => [reason, Number(view.stale === reason)]) : []
      },
    ),
  ]
}
