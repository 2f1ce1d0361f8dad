import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { dayMs, hourMs, isoDay, isoInstant, minuteMs, secondMs } from '../../lib/instant.ts'
import type { Log } from '../../lib/log.ts'
import type { PublisherFetch } from '../../send/feeds/fetch.ts'
import type { FeedRun, FeedState, FeedStore, RunTrigger } from '../../store/feeds/feeds.ts'
import type { NewAuditEntry } from '../../store/operator/audit.ts'
import {
  type Calendar,
  lastRelease,
  nextRelease,
  nextTry,
  type Release,
} from '../publishers/calendar.ts'
import { type MapLine, targetName } from '../publishers/map.ts'
import type { Feed } from '../publishers/publishers.ts'
import { FeedFault } from '../reading/fault.ts'
import { createLine } from './line.ts'
import { readFeed } from './run.ts'
import {
  type ConfiguredFeeds,
  type FeedSetting,
  type FeedSettings,
  isPreferred,
  settingsOf,
  standingOf,
} from './settings.ts'
import type { FeedWriter, RunningBatch } from './writer.ts'

export type FeedCondition =
  | 'ok'
  | 'late'
  | 'failing'
  | 'needs_key'
  | 'needs_license'
  | 'paused'
  | 'off'

/** A feed as the operator sees it. */
export interface FeedView {
  feed: Feed
  state: FeedCondition
  settings: FeedSettings
  lines: readonly MapLine[]
  codes: number
  datasets: string[]
  lastRun: FeedRun | undefined
  lastNewAt: number | undefined
  nextRunAt: number | undefined
  expectedBy: number | undefined
  consecutiveFailures: number
}

export interface RunOptions {
  since?: string
  dryRun?: boolean
  progress?: (rowsRead: number) => void
}

/** One value of a publisher, read and not written. */
export interface FeedSample {
  sourceId: string
  period: string
  value: string
  unit: string
}

export interface Feeds {
  list(): FeedView[]
  view(name: string): FeedView | undefined
  names(): readonly string[]
  /** Reads now; undefined while another run of the feed is under way. */
  run(name: string, options?: RunOptions): Promise<FeedRun | undefined>
  /** The same without waiting: the run as it begins. */
  begin(name: string, options?: RunOptions): FeedRun | undefined
  test(name: string): Promise<{ sample: FeedSample } | { fault: FeedFault }>
  /** Keeps settings; what is undefined in `values` stays as it is. */
  configure(name: string, values: FeedSetting): void
  pause(name: string): void
  resume(name: string): void
  runs(name: string | undefined, limit: number, offset: number): FeedRun[]
  countRuns(name: string | undefined): number
  /** Publishers of what this copy serves. */
  sources(): { feed: Feed; codes: number }[]
  /** Closes what an earlier process left open, and plans what was missed. */
  start(): void
  /** Begins what is due; answers without waiting for it. */
  pass(): void
  nextDue(after: number): number
  settled(): Promise<void>
  halt(): void
}

/** The batch of a run, for values of one kind of period after the other. */
export interface FeedBatch {
  of(source: { name: string; periodKind: number }): RunningBatch
  count(counts: { unchanged: number; rejected: number }): void
  end(): unknown
}

export interface FeedBatches {
  begin(start: { kind: 'feed'; actor: string; feedRunId: string }): FeedBatch
}

export interface FeedsDeps {
  batches: FeedBatches
  /** Who did what. */
  audit: { note(entry: NewAuditEntry): void }
  feeds: () => readonly Feed[]
  configured: ConfiguredFeeds
  store: FeedStore
  writer: FeedWriter
  fetch: PublisherFetch
  clock: Clock
  ids: Ids
  log: Log
  userAgent: string
  chance: () => number
  /** Differs from copy to copy on a machine. */
  copyNumber: number
  seal(name: string, text: string): Uint8Array
  open(name: string, sealed: Uint8Array): string
}

/**
 * A start waits before it catches up, so that copies that are started together do not come together:
 * each in a slot of its own.
 */
const firstRunSlots = 28
const firstRunSlotMs = 2 * secondMs
/** Less than a slot, by more than a second. */
const slotSlackMs = 250
const lateLookMs = minuteMs
const firstRunAfterMs = 2 * secondMs
const jitterMs = 20 * secondMs
/** A feed that was never read is tried anew after so long, where its first run fails. */
const retryFirstMs = 5 * minuteMs

export function createFeeds(deps: FeedsDeps): Feeds {
  const { store, clock, log, chance } = deps
  const underWay = new Map<string, Promise<FeedRun>>()
  /** Runs that are under way, with what they have read so far. */
  const reading = new Map<string, FeedRun>()
  /** Releases that the operator was told of as late. */
  const toldLate = new Map<string, number>()
  let lookedLateAt = Number.NEGATIVE_INFINITY
  /** Runs that a start has planned. */
  const catchingUp = new Set<string>()
  let halted = false
  const order = () => deps.feeds().map(feed => feed.publisher.name)
  const feedOf = (name: string) => deps.feeds().find(feed => feed.publisher.name === name)

  const settings = (name: string): FeedSettings => {
    const stored = store.settings(name)
    return settingsOf(deps.configured, name, {
      values: stored && storedValues(stored, deps),
      pausedAt: stored?.pausedAt ?? undefined,
    })
  }

  const viewOf = (feed: Feed): FeedView => {
    const { name, calendar } = feed.publisher
    const inForce = settings(name)
    const lines = linesOf(feed, inForce.values)
    const state = store.states().find(state => state.name === name)
    const standing = standingOf(feed, inForce)
    const lastRun = reading.get(name) ?? store.lastRun(name)
    const now = clock.now()
    const isActive = standing === 'ready'
    return {
      feed,
      state: standing === 'ready' ? conditionOf(feed, state, lastRun, now) : standing,
      settings: inForce,
      lines,
      codes: new Set(lines.flatMap(line => ('code' in line.target ? [line.target.code] : []))).size,
      datasets: [
        ...new Set(lines.flatMap(line => ('dataset' in line.target ? [targetName(line)] : []))),
      ],
      lastRun,
      lastNewAt: state?.lastNewAt ?? undefined,
      nextRunAt: isActive ? (state?.nextAt ?? nextRelease(calendar, now)?.at) : undefined,
      expectedBy: isActive ? nextRelease(calendar, now)?.expectedBy : undefined,
      consecutiveFailures: state?.consecutiveFailures ?? 0,
    }
  }

  const perform = async (
    feed: Feed,
    trigger: RunTrigger,
    { since, dryRun = false, progress }: RunOptions,
    run: FeedRun,
  ): Promise<FeedRun> => {
    const { name, calendar } = feed.publisher
    const inForce = settings(name)
    const state = store.state(name)
    const standing = standingOf(feed, inForce)
    const release = lastRelease(calendar, run.startedAt)
    if (standing === 'ready' || standing === 'paused') {
      let batch: FeedBatch | undefined
      const outcome = await readFeed(
        run,
        {
          publisher: feed.publisher,
          lines: linesOf(feed, inForce.values),
          settings: inForce.values,
          since,
          dryRun,
          ...(progress && { progress }),
          writing: {
            feed: name,
            feedNumber: state.number,
            batch: (feed, periodKind) => {
              batch ??= deps.batches.begin({
                kind: 'feed',
                actor: `feed ${feed}`,
                feedRunId: run.id,
              })
              return batch.of({ name: feed, periodKind })
            },
            now: run.startedAt,
            dryRun,
            winsOver: (other, target) =>
              isPreferred(name, other, order(), deps.configured.prefer[target]),
          },
        },
        deps,
      )
      if (halted) return run
      batch?.count({ unchanged: run.unchanged, rejected: run.rejected })
      batch?.end()
      run.finishedAt = clock.now()
      if (!dryRun) {
        const { nextAt, servedAt } = planned(feed, state, run, release)
        store.finishRun({ run, ...outcome, nextAt, servedAt })
      }
    } else {
      run.result = 'failed'
      run.problemCode = standing
      run.problem = standingSentences[standing](feed)
      run.finishedAt = clock.now()
      if (!dryRun) {
        store.finishRun({
          run,
          marks: new Map(),
          lines: [],
          nextAt: null,
          servedAt: state.servedAt,
        })
      }
    }
    tell(run, trigger, dryRun)
    return run
  }

  /** When the feed is tried next, and which release it has seen. */
  const planned = (feed: Feed, state: FeedState, run: FeedRun, release: Release | undefined) => {
    const { calendar } = feed.publisher
    const now = run.finishedAt ?? clock.now()
    const hasSeen = run.result === 'new' || (run.result === 'unchanged' && state.servedAt === null)
    const servedAt = hasSeen ? (release?.at ?? now) : state.servedAt
    const awaited = release && (servedAt ?? 0) < release.at ? release : undefined
    const at = nextTry(calendar, awaited, now)
    const isFirst = state.servedAt === null && run.result === 'failed'
    const next = isFirst ? Math.min(at, now + retryFirstMs) : at
    return { servedAt, nextAt: next + Math.floor(jitterMs * chance()) }
  }

  const tell = (run: FeedRun, trigger: RunTrigger, dryRun: boolean) => {
    const fields = {
      feed: run.feed,
      run: run.id,
      trigger,
      dry_run: dryRun,
      requests: run.requests,
      rows_read: run.rowsRead,
      inserted: run.inserted,
      revised: run.revised,
      unchanged: run.unchanged,
      rejected: run.rejected,
    }
    if (!dryRun && (run.result === 'new' || run.result === 'held'))
      deps.audit.note({
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
    if (run.result === 'held') log.error('feed_held', { ...fields, problem: run.problem })
    else if (run.result === 'failed') log.warn('feed_failed', { ...fields, problem: run.problem })
    else log.info('feed_read', fields)
  }

  const begun = (
    name: string,
    trigger: RunTrigger,
    options: RunOptions,
  ): { run: FeedRun; ended: Promise<FeedRun> } | undefined => {
    const feed = feedOf(name)
    if (!feed || underWay.has(name) || halted) return undefined
    const run = newRun(deps.ids.uuid(), name, trigger, clock.now())
    store.state(name)
    if (!options.dryRun) store.beginRun(run)
    const ended = perform(feed, trigger, options, run)
      .catch(error => {
        if (halted) return run
        log.error('feed_broke_off', { feed: name, run: run.id, error })
        run.result = 'failed'
        run.problemCode = 'broke_off'
        run.problem = 'it broke off; the log of this service says why'
        run.finishedAt = clock.now()
        if (!options.dryRun) {
          const nextAt = run.finishedAt + hourMs
          const { servedAt } = store.state(name)
          store.finishRun({ run, marks: new Map(), lines: [], nextAt, servedAt })
        }
        return run
      })
      .finally(() => {
        underWay.delete(name)
        reading.delete(name)
      })
    underWay.set(name, ended)
    if (!options.dryRun) reading.set(name, run)
    return { run, ended }
  }

  /** Tells once of each release that should have come by now and has not. */
  const tellLate = (now: number) => {
    if (Math.abs(now - lookedLateAt) < lateLookMs) return
    lookedLateAt = now
    const states = new Map(store.states().map(state => [state.name, state]))
    for (const feed of deps.feeds()) {
      const { name, calendar } = feed.publisher
      const state = states.get(name)
      if (!state?.servedAt || standingOf(feed, settings(name)) !== 'ready') continue
      const missed = missedRelease(calendar, state.servedAt, now)
      if (!missed || toldLate.get(name) === missed.at) continue
      toldLate.set(name, missed.at)
      log.warn('feed_late', {
        feed: name,
        release: isoInstant(missed.at),
        expected_by: isoInstant(missed.expectedBy),
        consecutive_failures: state.consecutiveFailures,
      })
    }
  }

  const due = (now: number) =>
    deps.feeds().filter(feed => {
      const { name } = feed.publisher
      if (underWay.has(name) || standingOf(feed, settings(name)) !== 'ready') return false
      return (store.state(name).nextAt ?? now) <= now
    })

  const save = (name: string, change: (row: Stored) => Stored) => {
    const row = store.settings(name) ?? { name, settings: null, secret: null, pausedAt: null }
    store.putSettings(change(row), clock.now())
  }
  type Stored = NonNullable<ReturnType<FeedStore['settings']>>

  return {
    names: order,
    list: () => deps.feeds().map(viewOf),
    view(name) {
      const feed = feedOf(name)
      return feed && viewOf(feed)
    },
    run: async (name, options = {}) => await begun(name, 'operator', options)?.ended,
    begin: (name, options = {}) => begun(name, 'operator', options)?.run,
    async test(name) {
      const feed = feedOf(name)!
      const inForce = settings(name)
      const standing = standingOf({ ...feed }, { ...inForce, isOn: true, pausedAt: undefined })
      if (standing !== 'ready') {
        return { fault: new FeedFault('unauthorized', standingSentences[standing](feed)) }
      }
      try {
        return { sample: await sampleOf(feed, inForce.values, deps) }
      } catch (error) {
        if (error instanceof FeedFault) return { fault: error }
        throw error
      }
    },
    configure(name, values) {
      save(name, row => {
        const { key, ...rest } = { ...storedValues(row, deps), ...values }
        return {
          ...row,
          settings: JSON.stringify(rest),
          secret: key === undefined ? row.secret : deps.seal(name, key),
        }
      })
      store.state(name)
      store.schedule(name, clock.now() + firstRunAfterMs)
      catchingUp.add(name)
    },
    pause: name => save(name, row => ({ ...row, pausedAt: clock.now() })),
    resume: name => save(name, row => ({ ...row, pausedAt: null })),
    runs: (name, limit, offset) => store.runs(name, limit, offset),
    countRuns: name => store.countRuns(name),
    sources: () =>
      store.served().flatMap(({ feed: name, codes }) => {
        const feed = feedOf(name)
        return feed && codes > 0 ? [{ feed, codes }] : []
      }),
    start() {
      store.closeOpenRuns(clock.now())
      const slot = firstRunSlotMs * (deps.copyNumber % firstRunSlots)
      for (const feed of deps.feeds()) {
        const { name, calendar } = feed.publisher
        if (standingOf(feed, settings(name)) !== 'ready') continue
        const state = store.state(name)
        const release = lastRelease(calendar, clock.now())
        const isMissed = state.servedAt === null || (release && release.at > state.servedAt)
        if (!isMissed) continue
        catchingUp.add(name)
        store.schedule(
          name,
          clock.now() + firstRunAfterMs + slot + Math.floor(slotSlackMs * chance()),
        )
      }
    },
    pass() {
      if (halted || !deps.configured.enabled) return
      tellLate(clock.now())
      for (const feed of due(clock.now())) {
        const { name } = feed.publisher
        begun(name, catchingUp.delete(name) ? 'start' : 'schedule', {})
      }
    },
    nextDue(after) {
      const times = deps.feeds().flatMap(feed => {
        const { name } = feed.publisher
        if (standingOf(feed, settings(name)) !== 'ready') return []
        return [Math.max(after + 1, store.state(name).nextAt ?? after + 1)]
      })
      return times.length > 0 ? Math.min(...times) : Number.POSITIVE_INFINITY
    },
    async settled() {
      await Promise.all(underWay.values())
    },
    halt() {
      halted = true
      deps.fetch.halt()
    },
  }
}

const standingSentences = {
  off: ({ publisher }: Feed) =>
    `${publisher.name} is off: add it with feeds add ${publisher.name}, or with a table [feeds.${publisher.name}]`,
  paused: ({ publisher }: Feed) => `${publisher.name} is paused: feeds resume ${publisher.name}`,
  needs_key: ({ publisher }: Feed) =>
    `${publisher.name} is read with a key: set feeds.${publisher.name}.key`,
  needs_license: ({ publisher }: Feed) =>
    `the terms of ${publisher.name} do not allow passing its data on: set feeds.${publisher.name}.license = "accept" if you may use it`,
  ready: () => '',
} as const

function storedValues(
  row: { name: string; settings: string | null; secret: Uint8Array | null },
  { open }: Pick<FeedsDeps, 'open'>,
): FeedSetting | undefined {
  if (row.settings === null) return undefined
  const values = JSON.parse(row.settings) as FeedSetting
  return row.secret ? { ...values, key: open(row.name, row.secret) } : values
}

/** The lines of a map that are wanted. */
function linesOf({ map }: Feed, { codes }: FeedSetting): readonly MapLine[] {
  if (!codes) return map
  const wanted = new Set(codes)
  return map.filter(line => wanted.has(targetName(line)))
}

/** Late is what should have come by now, and has not. */
export function conditionOf(
  { publisher }: Feed,
  state: FeedState | undefined,
  lastRun: FeedRun | undefined,
  now: number,
): FeedCondition {
  if (lastRun?.result === 'failed' || lastRun?.result === 'held') return 'failing'
  if (!state || state.servedAt === null) return 'ok'
  return missedRelease(publisher.calendar, state.servedAt, now) ? 'late' : 'ok'
}

/** The release that should have been read by now and has not been; undefined where there is none. */
function missedRelease(calendar: Calendar, servedAt: number, now: number): Release | undefined {
  for (const rule of calendar) {
    const release = lastRelease([rule], now)
    if (release && release.expectedBy <= now && servedAt < release.at) return release
  }
  return undefined
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
  newestPeriod: null,
  problemCode: null,
  problem: null,
})

const sampleDays = 90

/** The newest value of the first line that has one, asked for with as little as the publisher allows. */
async function sampleOf(feed: Feed, values: FeedSetting, deps: FeedsDeps): Promise<FeedSample> {
  const { publisher } = feed
  const now = deps.clock.now()
  const line = createLine({
    publisher,
    fetch: deps.fetch,
    clock: deps.clock,
    baseUrl: values.baseUrl ?? '',
    userAgent: deps.userAgent,
    known: undefined,
    chance: deps.chance,
  })
  const all = linesOf(feed, values)
  // Whole files are read for one line as for all.
  const lines = publisher.rereadDays > 0 ? all.slice(0, 1) : all
  const tried = async (since: string | undefined): Promise<FeedSample | undefined> => {
    const reading = { lines, now, key: values.key, since: () => since }
    for await (const sent of publisher.read(line, reading)) {
      const newest = sent.rows.toSorted((a, b) => a.period.localeCompare(b.period)).at(-1)
      if (!newest) continue
      const { sourceId, unit } = sent.line
      return { sourceId, period: newest.period, value: newest.text, unit: sent.unit ?? unit }
    }
    return undefined
  }
  const recent = isoDay(now - sampleDays * dayMs)
  const sample =
    (await tried(recent)) ?? (publisher.rereadDays > 0 ? await tried(undefined) : undefined)
  if (sample) return sample
  throw new FeedFault('series_empty', 'the publisher answered, and sent no value')
}
