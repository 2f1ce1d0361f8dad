import { hourMs, minuteMs, secondMs } from '../../lib/time/instant.ts'
import { lastRelease, nextTry, type Release } from '../publishers/calendar.ts'
import type { Feed } from '../publishers/publishers.ts'
import type { FeedRun, FeedState, RunTrigger } from '../store/feeds.ts'
import type { FeedBatch, FeedsDeps } from './deps.ts'
import { readFeed } from './run.ts'
import { type FeedSetting, feedStateOf, isPreferred, refusalOf } from './settings.ts'
import type { FeedSettingsBook } from './stored-settings.ts'
import { entriesOf } from './view.ts'

const jitterMs = 20 * secondMs
/** A feed that was never read is tried again after so long, where its first run fails. */
const retryFirstMs = 5 * minuteMs

export interface RunOptions {
  since?: string
  dryRun?: boolean
  progress?: (rowsRead: number) => void
}

/** Runs of feeds, one at a time for each. */
export function createFeedRuns(deps: FeedsDeps, settings: Pick<FeedSettingsBook, 'of'>) {
  const { store, clock } = deps
  const inProgress = new Map<string, Promise<FeedRun>>()
  const reading = new Map<string, FeedRun>()
  /** The reason for the failure of the last run, by feed. */
  const failures = new Map<string, string | null>()
  let isHalted = false

  const perform = async (
    feed: Feed,
    values: FeedSetting,
    trigger: RunTrigger,
    options: RunOptions,
    run: FeedRun,
  ) => {
    const finish = await read(deps, feed, values, options, run)
    if (isHalted) return run
    run.finishedAt = clock.now()
    finish()
    reportRun(deps, run, trigger, options.dryRun === true, failures)
    return run
  }

  const fail = (run: FeedRun, problemCode: string, problem: string) => {
    run.result = 'failed'
    run.problemCode = problemCode
    run.problem = problem
    run.finishedAt = clock.now()
  }

  /** Ends a run that has read nothing, so that it is tried again within the hour. */
  const breakOff = (run: FeedRun, { dryRun }: RunOptions) => {
    fail(run, 'broke_off', 'it broke off; the log of this service says why')
    if (dryRun) return
    const { servedAt } = store.state(run.feed)
    const nextAt = clock.now() + hourMs
    store.finishRun({ run, marks: new Map(), entries: [], nextAt, servedAt })
  }

  return {
    /** Undefined while another run of the feed is under way, and once all are halted. */
    begin(feed: Feed, trigger: RunTrigger, options: RunOptions) {
      const { name } = feed.publisher
      if (inProgress.has(name) || isHalted) return undefined
      const run = newRun(deps.ids.uuid(), name, trigger, clock.now())
      const inForce = settings.of(name)
      const feedState = feedStateOf(feed, inForce)
      if (feedState !== 'ready' && feedState !== 'paused') {
        // The publisher was not contacted: no run is stored, and the feed has not failed.
        fail(run, feedState, refusalOf(feedState, feed, deps.configured))
        reportRun(deps, run, trigger, options.dryRun === true, failures)
        return { run, ended: Promise.resolve(run) }
      }
      store.state(name)
      if (!options.dryRun) store.beginRun(run)
      const ended = perform(feed, inForce.values, trigger, options, run)
        .catch(error => {
          if (isHalted) return run
          deps.log.error('feed_interrupted', { feed: name, run: run.id, error })
          breakOff(run, options)
          return run
        })
        .finally(() => {
          inProgress.delete(name)
          reading.delete(name)
        })
      inProgress.set(name, ended)
      if (!options.dryRun) reading.set(name, run)
      return { run, ended }
    },
    isInProgress: (name: string) => inProgress.has(name),
    isHalted: () => isHalted,
    /** The run in progress, with its rows so far. */
    current: (name: string) => reading.get(name),
    /** When the run that is under way is over. */
    ended: async (name: string): Promise<unknown> => await inProgress.get(name),
    async settled() {
      await Promise.all(inProgress.values())
    },
    /** Runs in progress write nothing more. */
    halt() {
      isHalted = true
      deps.fetch.halt()
    },
  }
}

/**
 * Reads a feed into its batch, and returns how to record the finished run: by then the service may
 * have been halted.
 */
async function read(
  deps: FeedsDeps,
  feed: Feed,
  values: FeedSetting,
  { since, dryRun = false, progress }: RunOptions,
  run: FeedRun,
): Promise<() => void> {
  const { name, calendar } = feed.publisher
  const release = lastRelease(calendar, run.startedAt)
  const state = deps.store.state(name)
  const order = deps.feeds().map(({ publisher }) => publisher.name)
  let batch: FeedBatch | undefined
  const outcome = await readFeed(
    run,
    {
      publisher: feed.publisher,
      entries: entriesOf(feed, values),
      settings: values,
      since,
      dryRun,
      ...(progress && { progress }),
      writing: {
        feed: name,
        feedNumber: state.number,
        batch: (feed, periodKind) => {
          batch ??= deps.batches.begin({ kind: 'feed', actor: `feed ${feed}`, feedRunId: run.id })
          return batch.of({ name: feed, periodKind })
        },
        now: run.startedAt,
        dryRun,
        winsOver: (other, target) =>
          isPreferred(name, other, order, deps.configured.prefer[target]),
      },
    },
    deps,
  )
  return () => {
    batch?.count({ unchanged: run.unchanged, rejected: run.rejected, kept: run.kept })
    batch?.end()
    if (dryRun) return
    const { marks, entries, notBefore = 0 } = outcome
    const { servedAt, nextAt } = plannedAfter(deps, feed, state, run, release)
    deps.store.finishRun({ run, marks, entries, servedAt, nextAt: Math.max(nextAt, notBefore) })
  }
}

/** The time of the next run, and the last release that the feed has read. */
function plannedAfter(
  { clock, chance }: Pick<FeedsDeps, 'clock' | 'chance'>,
  { publisher: { calendar } }: Feed,
  state: FeedState,
  run: FeedRun,
  release: Release | undefined,
) {
  const now = run.finishedAt ?? clock.now()
  const hasSeen = run.result === 'new' || (run.result === 'unchanged' && state.servedAt === null)
  const servedAt = hasSeen ? (release?.at ?? now) : state.servedAt
  const awaited = release && (servedAt ?? 0) < release.at ? release : undefined
  const at = nextTry(calendar, awaited, now)
  const isFirst = state.servedAt === null && run.result === 'failed'
  const next = isFirst ? Math.min(at, now + retryFirstMs) : at
  return { servedAt, nextAt: next + Math.floor(jitterMs * chance()) }
}

/** What became of the rows of a run. */
export const runCounts = (run: FeedRun) => ({
  rows_read: run.rowsRead,
  inserted: run.inserted,
  revised: run.revised,
  unchanged: run.unchanged,
  rejected: run.rejected,
  held: run.held,
})

/** Reports a finished run to the log and the audit trail. */
function reportRun(
  { log, audit }: Pick<FeedsDeps, 'log' | 'audit'>,
  run: FeedRun,
  trigger: RunTrigger,
  dryRun: boolean,
  failures: Map<string, string | null>,
) {
  const fields = {
    feed: run.feed,
    run: run.id,
    trigger,
    dry_run: dryRun,
    requests: run.requests,
    ...runCounts(run),
    kept: run.kept,
  }
  if (!dryRun && (run.result === 'new' || run.result === 'held'))
    audit.note({
      actor: `feed ${run.feed}`,
      action: `read by ${trigger}`,
      thing: `run ${run.id}`,
      outcome: run.result,
      details: JSON.stringify({
        inserted: run.inserted,
        revised: run.revised,
        rejected: run.rejected,
      }),
    })
  if (!dryRun)
    for (const { code, message } of run.notes)
      log.warn('feed_changed', { feed: run.feed, run: run.id, change: code, message })
  // A repeated failure is logged as debug only; the runs of the feed and a notice show it.
  const isRepeated =
    run.result === 'failed' && trigger !== 'operator' && failures.get(run.feed) === run.problem
  if (run.result === 'failed') failures.set(run.feed, run.problem)
  else failures.delete(run.feed)
  if (run.result === 'held') log.error('feed_held', { ...fields, problem: run.problem })
  else if (isRepeated) log.debug('feed_failed', { ...fields, problem: run.problem })
  else if (run.result === 'failed') log.warn('feed_failed', { ...fields, problem: run.problem })
  else log.info('feed_read', fields)
}

const newRun = (id: string, feed: string, trigger: RunTrigger, startedAt: number): FeedRun => ({
  id,
  feed,
  trigger,
  startedAt,
  finishedAt: null,
  result: null,
  requests: 0,
  bytes: 0,
  rowsRead: 0,
  inserted: 0,
  revised: 0,
  unchanged: 0,
  rejected: 0,
  held: 0,
  kept: 0,
  newestPeriod: null,
  problemCode: null,
  problem: null,
  notes: [],
})
