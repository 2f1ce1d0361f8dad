import { checkpointLongWal } from '../database/checkpoint.ts'
import type { CommitMark } from '../database/commit-mark.ts'
import type { Clock } from '../lib/time/clock.ts'
import { createJumpWatch } from '../lib/time/clock-jumps.ts'
import { hourMs, minuteMs, secondMs } from '../lib/time/instant.ts'
import type { Cluster } from '../replication/cluster.ts'
import type { Publishing } from '../threads/replication-publisher.ts'
import type { AlertEvaluation } from '../topics/alerts/service/evaluation.ts'
import type { Component } from '../topics/condition/service/component.ts'
import type { Incidents } from '../topics/condition/service/incidents.ts'
import { publicParts } from '../topics/condition/service/parts.ts'
import type { SeriesFaults } from '../topics/condition/service/series-faults.ts'
import type { Vitals } from '../topics/condition/service/vitals.ts'
import { createMonthlyForecasts } from '../topics/fundamentals/service/monthly-forecasts.ts'
import type { CommandOutcome } from '../topics/operator/service/backup-record.ts'
import type { RetentionGuard } from '../topics/operator/service/retention-guard.ts'
import { createDueTimes } from '../topics/operator/store/due-times.ts'
import type { WatchRuns } from '../topics/watches/service/runs.ts'
import { createBackupJob } from './jobs/backups.ts'
import { createBillingJob } from './jobs/billing.ts'
import { createClockJob } from './jobs/clock.ts'
import { createDataSourcesJob } from './jobs/data-sources.ts'
import { createDeliveriesJob } from './jobs/deliveries.ts'
import { intervalJob, type Job } from './jobs/job.ts'
import { createMessagesJob } from './jobs/messages.ts'
import { createMonthlyForecastJob } from './jobs/monthly-forecasts.ts'
import type { OutboxJob } from './jobs/outbox.ts'
import { createPriceFilesJob, priceFileSource } from './jobs/price-files.ts'
import { createRunner, type Guard, type Runner } from './jobs/runner.ts'
import { createUsageJob } from './jobs/usage.ts'
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

/** Creates the runner of everything that an instance does without being requested to. */
export function createInstanceRunner(services: Services, parts: JobParts): Runner {
  const { serving, feed, command, publishing, cluster } = parts
  const jobs = [
    { name: 'disk', pass: services.disk.pass },
    ...(serving ? [{ name: 'scrub', pass: services.scrub.pass }] : []),
    ...jobsOf(services, feed),
    ...(command ? backupJobOf(services, command) : []),
    ...priceFilesJobOf(services, parts.answer),
    ...(serving ? conditionJobsOf(services, parts.vitals, feed) : []),
    ...(serving && !feed ? [noticesJob(services, parts)] : []),
    parts.sending,
    markJob(parts.mark, services),
    ...(publishing ? [publishing.job] : []),
    ...(cluster ? [cluster.job] : []),
  ]
  return createRunner(jobs, services.clock, services.log, {
    isReported: services.disk.failed,
    // People move the clock of a demo instance, so its jumps are not faults.
    guard: feed ? undefined : clockGuard(services),
  })
}

function jobsOf(services: Services, feed: JobParts['feed']): Job[] {
  const { clock, feeds, surchargeMatching, changes } = services
  return [
    // The data of a demo instance includes the forecasts.
    feed
      ? demoFeedJob(feed, clock)
      : createMonthlyForecastJob({
          ...services,
          forecasts: createMonthlyForecasts(services.monthlyForecasts),
        }),
    {
      // Applies the carriers' tables to the fuel price of each new week.
      name: 'fuel surcharges',
      pass() {
        if (surchargeMatching.match(clock.now()) > 0) changes.noteRows()
      },
    },
    createUsageJob(services.meter, services.lateCommits),
    retentionJob(services),
    createBillingJob(services),
    // After a crash at most the events counted since the last pass are missing.
    { name: 'webhook months', pass: services.webhookAllowance.flush },
    createMessagesJob(services),
    createDataSourcesJob(services),
    { name: 'feeds', pass: feeds.pass, nextStop: feeds.nextDue, settled: feeds.settled },
    // Before the alerts, which are evaluated with these prices.
    { name: 'prices ahead', ...services.arrivals },
    alertJob(services.alerts.evaluation),
    watchJob(services.watchRuns),
    createDeliveriesJob({ ...services, intervalMs: services.config.deliveries.dispatchIntervalMs }),
  ]
}

/**
 * Deletes old entries of the audit trail, and what is needed to undo batches that are too old to be
 * undone.
 */
export const retentionJob = ({
  audit,
  batches,
  retention,
}: {
  audit: { prune(): void }
  batches: { prune(): void }
  retention: RetentionGuard
}): Job => ({
  name: 'retention',
  pass() {
    if (!retention.mayForget()) return
    audit.prune()
    batches.prune()
  },
})

/** A clock that is moved far stops every hour, so that all that depends on prices sees each. */
const demoFeedJob = (feed: NonNullable<JobParts['feed']>, clock: Pick<Clock, 'now'>): Job => ({
  name: 'demo feed',
  pass: () => void feed.advance(clock.now() + 1),
  nextStop: after => (Math.floor(after / hourMs) + 1) * hourMs,
})

/** Evaluates the alerts of codes whose interval is over, and those that a crash interrupted. */
export const alertJob = (evaluation: AlertEvaluation): Job => ({
  name: 'alerts',
  pass: evaluation.pass,
  nextStop: evaluation.dueAfter,
})

/** Runs the watches that are due and deletes old events. */
export const watchJob = (runs: WatchRuns): Job => ({
  name: 'watches',
  pass: runs.pass,
  nextStop: after => runs.dueAfter(after) ?? Number.POSITIVE_INFINITY,
})

/** Notifies the operator of open alerts. Finding them takes several queries. */
function noticesJob(services: Services, { sending, vitals }: JobParts): Job {
  const notices = openNotices(services, sending, vitals)
  return {
    ...intervalJob('notices', 5 * secondMs, services.clock, notices.pass),
    settled: notices.settled,
  }
}

/** Jobs that compute series faults and the service status ahead of the requests for them. */
const conditionJobsOf = (
  services: Services,
  vitals: () => JobVitals,
  feed: JobParts['feed'],
): Job[] => [
  seriesFaultsJob(services.seriesFaults, services.clock),
  conditionJob({
    ...services,
    parts: () => publicParts({ ...services, ...vitals() }),
    hasData: () => services.freshness.overview().newestAt !== undefined,
    isClockReal: !feed,
  }),
  intervalJob('vitals', minuteMs, services.clock, () =>
    services.vitalsHistory.take({
      memoryBytes: process.memoryUsage.rss(),
      loopWaitMs: vitals().loopWaitMs(),
      freeBytes: services.disk.freeBytes() ?? null,
      outboxPending: services.outbox.vitals().pending,
    }),
  ),
]

/** Renews the faults of a few series at a time, so that requests find most of them computed. */
export const seriesFaultsJob = (
  seriesFaults: Pick<SeriesFaults, 'renew'>,
  clock: Pick<Clock, 'now'>,
): Job => intervalJob('series faults', 15 * secondMs, clock, seriesFaults.renew)

/** Records once a minute which parts of the service do not work as they should. */
export const conditionJob = ({
  incidents,
  parts,
  hasData,
  isClockReal,
  clock,
}: {
  incidents: Incidents
  parts(): readonly Component[]
  /** Whether there is an observation: an instance without data cannot be late. */
  hasData(): boolean
  /** False in a demo instance: people move its clock, so gaps in time are not outages. */
  isClockReal: boolean
  clock: Clock
}): Job =>
  intervalJob('condition', minuteMs, clock, () => {
    if (isClockReal) incidents.noteRunning()
    const hasObservations = hasData()
    incidents.note(parts().filter(({ name }) => name !== 'ingest' || hasObservations))
  })

/** The backup job, if the configuration names a place for backups. */
function backupJobOf(
  { config, backupRecord, clock, log }: Services,
  command: NonNullable<JobParts['command']>,
): Job[] {
  const { directory, s3Bucket, everyMs } = config.backups
  return directory === '' && s3Bucket === ''
    ? []
    : [createBackupJob({ everyMs, command, record: backupRecord, clock, log })]
}

/**
 * The job that writes files of all prices, if the configuration names a directory. The files are
 * made from the operator's own exports.
 */
function priceFilesJobOf(
  services: Services,
  ask: (request: Request) => Response | Promise<Response>,
): Job[] {
  const { config, priceFiles, clock, log } = services
  if (config.files.directory === '') return []
  const source = priceFileSource(services, ask)
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

/** Records the length of the WAL in the commit mark, a file next to the database. */
const markJob = (mark: CommitMark, { clock, db }: Services): Job => ({
  name: 'commit mark',
  pass() {
    mark.note(clock.now())
    // Writes outside of transactions make the WAL grow as well.
    checkpointLongWal(db)
  },
})
