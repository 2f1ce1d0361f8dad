import { checkpointLongWal } from '../database/checkpoint.ts'
import type { CommitMark } from '../database/commit-mark.ts'
import { createJumpWatch } from '../lib/time/clock-jumps.ts'
import type { Cluster } from '../replication/cluster.ts'
import type { Publishing } from '../threads/replication-publisher.ts'
import { publicParts } from '../topics/condition/service/parts.ts'
import type { Vitals } from '../topics/condition/service/vitals.ts'
import { createMonthlyForecasts } from '../topics/fundamentals/service/monthly-forecasts.ts'
import { createDueTimes } from '../topics/operator/store/due-times.ts'
import { createAlertJob } from './jobs/alerts.ts'
import { createAuditJob } from './jobs/audit.ts'
import { type CommandOutcome, createBackupJob } from './jobs/backups.ts'
import { createBatchesJob } from './jobs/batches.ts'
import { createBillingJob } from './jobs/billing.ts'
import { createClockJob } from './jobs/clock.ts'
import { createConditionJob } from './jobs/condition.ts'
import { createDataSourcesJob } from './jobs/data-sources.ts'
import { createDeliveriesJob } from './jobs/deliveries.ts'
import { createDemoFeedJob } from './jobs/demo-feed.ts'
import { createDiskJob } from './jobs/disk.ts'
import { createFeedsJob } from './jobs/feeds.ts'
import type { Job } from './jobs/job.ts'
import { createMessagesJob } from './jobs/messages.ts'
import { createMonthlyForecastJob } from './jobs/monthly-forecasts.ts'
import { createNoticesJob } from './jobs/notices.ts'
import type { OutboxJob } from './jobs/outbox.ts'
import { createPriceFilesJob, priceFileSource } from './jobs/price-files.ts'
import { createRunner, type Guard, type Runner } from './jobs/runner.ts'
import { createScrubJob } from './jobs/scrub.ts'
import { createSeriesFaultsJob } from './jobs/series-faults.ts'
import { createSurchargeJob } from './jobs/surcharges.ts'
import { createUsageJob } from './jobs/usage.ts'
import { createVitalsJob } from './jobs/vitals.ts'
import { createWatchJob } from './jobs/watches.ts'
import { createWebhookMonthsJob } from './jobs/webhook-months.ts'
import { openNotices } from './services/operator-alerts.ts'
import type { Services } from './services/services.ts'

type JobVitals = Pick<
  Vitals,
  'isOverloaded' | 'loopWaitMs' | 'senders' | 'queryWorkers' | 'replication' | 'lateReplicas'
>

/** The parts of an instance that its jobs use in addition to the services. */
export interface JobParts {
  serving: boolean
  /** The feed of generated data of a demo instance. */
  feed: { advance(now: number): unknown } | undefined
  sending: OutboxJob
  mark: CommitMark
  publishing: Publishing | undefined
  cluster: Cluster | undefined
  vitals(): JobVitals
  /** Runs a command of this program in its own process. */
  command?: (...args: string[]) => Promise<CommandOutcome>
  /** Answers a request with the rights of the operator. */
  answer(request: Request): Response | Promise<Response>
}

/** All that an instance does by itself, and what runs it. */
export function createInstanceRunner(services: Services, parts: JobParts): Runner {
  const { serving, feed, command, publishing, cluster } = parts
  const jobs = [
    createDiskJob(services.disk),
    ...(serving ? [createScrubJob(services.scrub)] : []),
    ...jobsOf(services, feed),
    ...(command ? backupJobOf(services, command) : []),
    ...priceFilesJobOf(services, parts.answer),
    ...(serving ? conditionJobsOf(services, parts.vitals, feed) : []),
    ...(serving && !feed
      ? [createNoticesJob(openNotices(services, parts.sending, parts.vitals), services.clock)]
      : []),
    parts.sending,
    markJob(parts.mark, services),
    ...(publishing ? [publishing.job] : []),
    ...(cluster ? [cluster.job] : []),
  ]
  return createRunner(jobs, services.clock, services.log, {
    isReported: services.disk.failed,
    // The clock of a demo instance is moved by people.
    guard: feed ? undefined : clockGuard(services),
  })
}

function jobsOf(services: Services, feed: JobParts['feed']): Job[] {
  const { meter, clock } = services
  return [
    // The data of a demo instance includes the forecasts.
    feed
      ? createDemoFeedJob(feed, clock)
      : createMonthlyForecastJob({
          ...services,
          forecasts: createMonthlyForecasts(services.monthlyForecasts),
        }),
    createSurchargeJob({ ...services, clock }),
    createUsageJob(meter, services.lateCommits),
    createAuditJob(services.audit),
    createBatchesJob(services.batches),
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

/** Jobs that compute series faults and the service status ahead of the requests for them. */
const conditionJobsOf = (
  services: Services,
  vitals: () => JobVitals,
  feed: JobParts['feed'],
): Job[] => [
  createSeriesFaultsJob(services.seriesFaults, services.clock),
  createConditionJob({
    ...services,
    parts: () => publicParts({ ...services, ...vitals() }),
    hasData: () => services.freshness.overview().newestAt !== undefined,
    isClockReal: !feed,
  }),
  createVitalsJob({
    ...services,
    read: () => ({
      memoryBytes: process.memoryUsage.rss(),
      loopWaitMs: vitals().loopWaitMs(),
      freeBytes: services.disk.freeBytes() ?? null,
      outboxPending: services.outbox.vitals().pending,
    }),
  }),
]

/** Where the configuration names a place for backups. */
function backupJobOf(
  { config, backupRecord, clock, log }: Services,
  command: NonNullable<JobParts['command']>,
): Job[] {
  const { directory, s3Bucket, everyMs } = config.backups
  return directory === '' && s3Bucket === ''
    ? []
    : [createBackupJob({ everyMs, command, record: backupRecord, clock, log })]
}

/** Where the configuration names a directory: made from what the operator's own exports answer. */
function priceFilesJobOf(
  { config, priceFiles, catalogue, datasets, clock, log }: Services,
  ask: (request: Request) => Response | Promise<Response>,
): Job[] {
  if (config.files.directory === '') return []
  const source = priceFileSource({ catalogue, datasets }, ask)
  return [createPriceFilesJob({ files: priceFiles, ...source, clock, log })]
}

function clockGuard(services: Services): Guard {
  const jumps = createJumpWatch(services.clock)
  const dueTimes = createDueTimes(services.db)
  return {
    job: createClockJob({ ...services, jumps, dueTimes }),
    holdsOthers: jumps.isSettling,
  }
}

/** Records the position of the log in the commit mark, a file next to the database. */
const markJob = (mark: CommitMark, { clock, db }: Services): Job => ({
  name: 'commit mark',
  pass() {
    mark.note(clock.now())
    // Writes outside of transactions make the WAL grow as well.
    checkpointLongWal(db)
  },
})
