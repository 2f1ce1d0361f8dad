import { sleep } from '../../lib/time/clock.ts'
import { dayMs, isoDay, minuteMs, parseDay, parseInstant } from '../../lib/time/instant.ts'
import { lengthOf, newestResolution } from '../../topics/delivery/math/terms.ts'
import { resolutionChange } from '../publishers/delivery/reading.ts'
import { type MapEntry, targetName } from '../publishers/map.ts'
import type { Publisher, SentSeries } from '../publishers/publisher.ts'
import { judge, judgeAll, newestOf, type SentBefore } from '../publishers/suspicion.ts'
import { FeedFault } from '../reading/fault.ts'
import { spanOf } from '../reading/periods.ts'
import type { FeedRun, StoredEntry } from '../store/feeds.ts'
import type { FeedsDeps } from './deps.ts'
import { createPublisherClient } from './publisher-client.ts'
import type { FeedSetting } from './settings.ts'
import type { FeedWriter, WritingRun } from './writer.ts'

export type ReadDeps = Pick<
  FeedsDeps,
  'store' | 'writer' | 'fetch' | 'clock' | 'wait' | 'log' | 'userAgent' | 'chance' | 'periods'
>

export interface ReadOptions {
  publisher: Publisher
  entries: readonly MapEntry[]
  settings: FeedSetting
  /** Reads from this day on again, whatever is held. */
  since: string | undefined
  dryRun: boolean
  writing: WritingRun
  progress?: (rowsRead: number) => void
}

/** Data of a run for the next one. */
export interface ReadOutcome {
  marks: ReadonlyMap<string, string>
  entries: StoredEntry[]
  /** The earliest time for the next request, by the publisher, Unix ms. */
  notBefore?: number
}

const nothingLeft: ReadOutcome = { marks: new Map(), entries: [] }
const millisecond = 1

/**
 * Reads a publisher, validates everything before any of it is written, and writes it series by
 * series. Counts and faults are entered into `run`; only errors that are not faults of the feed are
 * thrown.
 */
export async function readFeed(
  run: FeedRun,
  options: ReadOptions,
  deps: ReadDeps,
): Promise<ReadOutcome> {
  const { publisher, settings } = options
  // A response that has not changed may still contain a series that was never read.
  const read = new Set(deps.store.entries(publisher.name).map(idOf))
  const isKnown = options.entries.every(entry =>
    read.has(idOf({ sourceId: entry.sourceId, target: keyOf(entry) })),
  )
  const client = createPublisherClient({
    publisher,
    fetch: deps.fetch,
    clock: deps.clock,
    baseUrl: settings.baseUrl ?? '',
    userAgent: deps.userAgent,
    known: options.since === undefined && isKnown ? deps.store.marks(publisher.name) : undefined,
    chance: deps.chance,
    wait: deps.wait,
  })
  try {
    const sent = await collect(run, options, deps, client)
    judgeAll(sent)
    takeShorterPeriods(run, sent, options, deps)
    await write(run, sent, options, deps)
    run.result = run.inserted + run.revised > 0 ? 'new' : 'unchanged'
    return { marks: client.toStore(), entries: sent.map(storedEntryOf) }
  } catch (error) {
    if (!(error instanceof FeedFault)) throw error
    run.result = error.suspicious ? 'held' : 'failed'
    run.problemCode = error.code
    run.problem = error.message
    if (error.suspicious) run.held = Math.max(1, run.rowsRead)
    return error.notBefore === undefined
      ? nothingLeft
      : { marks: new Map(), entries: [], notBefore: error.notBefore }
  } finally {
    run.requests = client.counts.requests
    run.bytes = client.counts.bytes
  }
}

/** Stores shorter delivery periods of publishers before the first value of one is written. */
function takeShorterPeriods(
  run: FeedRun,
  sent: readonly SentSeries[],
  { dryRun }: ReadOptions,
  { periods }: ReadDeps,
): void {
  const changes = sent.flatMap(({ entry: { sourceId, target }, rows }) => {
    const terms = 'code' in target ? periods.termsOf(target.code) : undefined
    if (!terms || !('code' in target) || newestResolution(terms) === 'P1D') return []
    const starts = rows.map(({ period }) => parseInstant(period) ?? Number.NaN)
    const change = resolutionChange(sourceId, terms, starts)
    return change ? [{ code: target.code, change }] : []
  })
  for (const { code, change } of changes) {
    if (!dryRun) periods.shorten(code, change)
    const minutes = lengthOf(change.resolution) / minuteMs
    run.notes.push({
      code: 'resolution_changed',
      message: `${code} comes in periods of ${minutes} minutes from ${change.from} on`,
    })
  }
}

/** Reads all series that the publisher sends, and validates each as it arrives. */
async function collect(
  run: FeedRun,
  { publisher, entries, settings, since, writing, progress }: ReadOptions,
  { store }: ReadDeps,
  client: ReturnType<typeof createPublisherClient>,
): Promise<SentSeries[]> {
  const { now } = writing
  const before = new Map(store.entries(publisher.name).map(entry => [idOf(entry), entry]))
  const beforeOf = (entry: MapEntry) =>
    before.get(idOf({ sourceId: entry.sourceId, target: keyOf(entry) }))
  const reading = {
    entries,
    now,
    key: settings.key === '' ? undefined : settings.key,
    since: (entry: MapEntry) => {
      const first = since ?? rereadFrom(beforeOf(entry), publisher, settings, entry)
      return latest(first, settings.since)
    },
  }
  const all: SentSeries[] = []
  for await (const sent of publisher.read(client, reading)) {
    const wanted = cut(sent, settings.since)
    run.rowsRead += wanted.rows.length
    const last = beforeOf(sent.entry)
    judge(wanted, last && sentBefore(last), now, isForecast(sent.entry))
    all.push(wanted)
    run.newestPeriod = newer(run.newestPeriod, wanted)
    progress?.(run.rowsRead)
    await sleep(0)
  }
  return all
}

/** Where a later run begins: so far back as its publisher corrects. */
function rereadFrom(
  before: StoredEntry | undefined,
  publisher: Publisher,
  settings: FeedSetting,
  entry: MapEntry,
): string | undefined {
  if (!before?.newestPeriod) return undefined
  const days = settings.rereadDays ?? publisher.rereadDays
  return isoDay(spanOf(before.newestPeriod, entry.kind).to - millisecond - days * dayMs)
}

const latest = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined ? b : b === undefined ? a : [a, b].toSorted()[1]

/** Drops rows that are older than requested. */
function cut(sent: SentSeries, since: string | undefined): SentSeries {
  if (since === undefined) return sent
  const from = parseDay(since)!
  const rows = sent.rows.filter(row => spanOf(row.period, sent.entry.kind).to > from)
  return { ...sent, rows, covers: latest(sent.covers, since) }
}

const isForecast = ({ target }: MapEntry): boolean =>
  'dataset' in target && target.dataset === 'outlooks'

const keyOf = (entry: MapEntry): string =>
  'code' in entry.target ? entry.target.code : JSON.stringify(entry.target)

const idOf = ({ sourceId, target }: { sourceId: string; target: string }): string =>
  `${sourceId}\n${target}`

const sentBefore = ({ rows, coversOn, newestPeriod }: StoredEntry): SentBefore => ({
  rows,
  covers: coversOn ?? undefined,
  newest: newestPeriod ?? undefined,
})

const storedEntryOf = (sent: SentSeries): StoredEntry => ({
  sourceId: sent.entry.sourceId,
  target: keyOf(sent.entry),
  rows: new Set(sent.rows.map(row => row.period)).size,
  coversOn: sent.covers ?? null,
  newestPeriod: newestOf(sent) ?? null,
})

function newer(newest: string | null, sent: SentSeries): string | null {
  if (isForecast(sent.entry)) return newest
  const sentNewest = newestOf(sent)
  if (sentNewest === undefined) return newest
  return newest === null || endOf(sentNewest) > endOf(newest) ? sentNewest : newest
}

/** The last day of a period, by which periods of different lengths are compared. */
function endOf(period: string): string {
  const kind = {
    20: 'instant',
    10: 'day',
    7: period.includes('Q') ? 'quarter' : 'month',
    4: 'year',
  } as const
  return isoDay(spanOf(period, kind[period.length as 10] ?? 'quarter').to - millisecond)
}

async function write(
  run: FeedRun,
  sent: readonly SentSeries[],
  { writing }: ReadOptions,
  { writer, log }: ReadDeps,
): Promise<void> {
  const add = (written: ReturnType<FeedWriter['writeSeries']>) => {
    run.inserted += written.inserted
    run.revised += written.revised
    run.unchanged += written.unchanged
    run.rejected += written.rejected
    run.held += written.held
    run.kept += written.kept
    for (const reason of written.rejections) {
      log.warn('feed_value_rejected', { feed: run.feed, reason })
    }
  }
  for (const series of sent) {
    run.rejected += series.faults.length
    for (const { period, written } of series.faults.slice(0, 3)) {
      const { sourceId } = series.entry
      log.warn('feed_value_rejected', { feed: run.feed, source_id: sourceId, period, written })
    }
    if (!('code' in series.entry.target)) continue
    add(writer.writeSeries(series, writing))
    await sleep(0)
  }
  const others = sent.filter(series => 'dataset' in series.entry.target)
  for (const [name, ofDataset] of Map.groupBy(others, series => targetName(series.entry))) {
    add(writer.writeDataset(name, ofDataset, writing))
    await sleep(0)
  }
  if (run.rejected > 0) {
    run.problemCode = 'rows_rejected'
    run.problem = `${run.rejected} values were not taken; the log says why`
  } else if (run.held > 0) {
    run.problemCode = 'values_held'
    run.problem = `${run.held} values are held for review: see wellhead review list`
  }
}
