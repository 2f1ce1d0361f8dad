import type { WriteCounts } from '../../database/write-counts.ts'
import { firstNotBefore } from '../../lib/sorted.ts'
import { dayMs, isoDay, isoInstant } from '../../lib/time/instant.ts'
import type { CodeLookup } from '../../topics/catalogue/math/lookup.ts'
import { checkRow } from '../../topics/prices/files/rows.ts'
import type { Observation } from '../../topics/prices/math/bars.ts'
import type { Decisions, KeptPoint } from '../../topics/prices/service/checks/decisions.ts'
import type { Ingest } from '../../topics/prices/service/writes/ingest.ts'
import type { RunningBatch as AnyBatch } from '../../topics/prices/service/writes/running-batch.ts'
import type { FlaggedValueStore } from '../../topics/prices/store/flagged-values.ts'
import type { ObservationReads, Point } from '../../topics/prices/store/observations.ts'
import type { ValueSourceStore } from '../../topics/prices/store/value-sources.ts'
import type { Dataset } from '../files/dataset.ts'
import type { RowGuards } from '../files/row-guards.ts'
import { outlookRelease } from '../publishers/eia.ts'
import type { MapEntry } from '../publishers/map.ts'
import type { SentRow, SentSeries } from '../publishers/publisher.ts'
import { timesDecimal } from '../reading/decimal.ts'
import { firstOf, type PeriodKind, spanOf, storedKind, storedKinds } from '../reading/periods.ts'
import type { FeedObservation, FeedStore } from '../store/feeds.ts'

/** The batch that the values of a run are written in. */
export type RunningBatch = Pick<AnyBatch, 'id' | 'count' | 'write' | 'during' | 'writeRows'>

export interface WritingRun {
  feed: string
  feedNumber: number
  /** The batch of the run for values of this period kind; it begins at the first call. */
  batch(feed: string, periodKind: number): RunningBatch
  now: number
  dryRun: boolean
  /** Whether this feed wins over another for a code or a dataset. */
  winsOver(other: string, target: string): boolean
}

export interface Written extends WriteCounts {
  rejected: number
  /** Values held for review; no other count includes them. */
  held: number
  /** Left out for what an operator decided, and in no other count. */
  kept: number
  /** The first sentences about rows that were not taken. */
  rejections: string[]
}

/** The dependencies of the writer. */
export interface FeedWriterDeps {
  store: FeedStore
  catalogue: CodeLookup
  observations: Pick<ObservationReads, 'oldestFirst'>
  ingest: Pick<Ingest, 'withdraw' | 'next' | 'listenInside'>
  sources: Pick<ValueSourceStore, 'byId' | 'hasLonger' | 'idOf'>
  flaggedValues: Pick<FlaggedValueStore, 'waitingCoarser' | 'remove'>
  datasets: readonly Dataset<unknown>[]
  rowGuards: Pick<RowGuards, 'judge' | 'keep'>
  decisions: Pick<Decisions, 'isEmpty' | 'sift' | 'keep'>
}

export type FeedWriter = ReturnType<typeof createFeedWriter>

const kindOf = (number: number) => storedKinds[number]!

const rejectionsMax = 5

const nothingWritten = (): Written => ({
  inserted: 0,
  revised: 0,
  unchanged: 0,
  rejected: 0,
  held: 0,
  kept: 0,
  rejections: [],
})

export function createFeedWriter(deps: FeedWriterDeps) {
  followWrites(deps)
  return {
    /** One transaction: all of one series, or nothing. */
    writeSeries(sent: SentSeries, run: WritingRun) {
      const plan = planOf(sent, run, deps)
      if (run.dryRun) return plan.written
      if (plan.points.length > 0) {
        keepHeld(plan.written, batchOf(sent.entry, run).write(plan.points))
      }
      const { code } = sent.entry.target as { code: string }
      const { claims, kept } = plan
      if (kept.length > 0)
        deps.decisions.keep(kept, { sourceId: sourceOf(sent.entry, run, deps), batchId: 0 })
      if (claims.length > 0) {
        const { id } = deps.catalogue.find(code)!
        deps.store.claim(id, claims, sourceOf(sent.entry, run, deps))
      }
      return plan.written
    },
    /** The rows of one dataset that entries give together; a transaction for each place or market. */
    writeDataset: (name: string, sent: readonly SentSeries[], run: WritingRun) =>
      writeDataset(name, sent, run, deps),
  }
}

/** A value held for review counts neither as new nor as revised. */
function keepHeld(written: Written, { inserted, revised, held = 0 }: WriteCounts): void {
  if (held === 0) return
  written.held = held
  written.inserted = Math.min(written.inserted, inserted)
  written.revised = Math.min(written.revised, revised)
}

const batchOf = (entry: MapEntry, run: WritingRun): RunningBatch =>
  run.batch(run.feed, storedKind(entry.kind))

/** The number of the source of an entry's values. */
const sourceOf = (
  entry: MapEntry,
  { feed: name }: WritingRun,
  { sources }: FeedWriterDeps,
): number => sources.idOf({ kind: 'feed', name, periodKind: storedKind(entry.kind) })

/**
 * In each transaction that writes observations, withdraws a value of a longer period as soon as a
 * value of a shorter period within it is written by any source. A flagged value of the longer
 * period is removed too, because accepting it would replace the shorter ones.
 */
function followWrites({ store, ingest, sources, flaggedValues }: FeedWriterDeps): void {
  ingest.listenInside((changes, { sourceId, asRecorded }) => {
    const kind = sources.byId(sourceId)?.periodKind ?? 0
    // Most instances have daily values only, and no series needs checking.
    if (asRecorded || !sources.hasLonger(kind)) return
    for (const { seriesId, inserted, revised } of changes) {
      const at = [...inserted, ...revised].map(point => point.observedAt).toSorted((a, b) => a - b)
      const [from, to] = [at[0]! - longestMs, at.at(-1)! + longestMs]
      const yieldsTurn = ({ periodKind, observedAt }: CoarseValue) =>
        periodKind > kind && hasWithin(at, spanAt(observedAt, kindOf(periodKind)))
      for (const flag of flaggedValues.waitingCoarser(seriesId, kind, from, to)) {
        if (yieldsTurn(flag)) flaggedValues.remove(flag.id)
      }
      if (!store.hasCoarse(seriesId)) continue
      const coarser = store
        .observations(seriesId, from, to)
        .filter(value => yieldsTurn(value) && !at.includes(value.observedAt))
        .map(({ observedAt }) => observedAt)
      if (coarser.length > 0) ingest.withdraw(seriesId, coarser)
    }
  })
}

const longestMs = 367 * dayMs

interface CoarseValue {
  periodKind: number
  observedAt: number
}

/** The time that a value kept at a moment speaks for. */
function spanAt(
  observedAt: number,
  kind: (typeof storedKinds)[number],
): { from: number; to: number } {
  const day = isoDay(observedAt)
  const period = {
    day,
    week: day,
    month: day.slice(0, 7),
    quarter: `${day.slice(0, 4)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`,
    year: day.slice(0, 4),
  }[kind]
  return spanOf(period, kind)
}

interface Plan {
  points: Point[]
  /** Values of other feeds that this one has too, and takes precedence for. */
  claims: number[]
  /** Values that an operator decided against. */
  kept: readonly KeptPoint[]
  written: Written
}

/** The values of one period to write, and how they count. */
interface PeriodWrite {
  values: readonly Point[]
  as: 'inserted' | 'revised'
}

/** Leaves out what an operator decided against, and counts what is left. */
function sifted(
  writes: readonly PeriodWrite[],
  written: Written,
  sent: SentSeries,
  run: WritingRun,
  deps: FeedWriterDeps,
): Pick<Plan, 'points' | 'kept'> {
  const all = writes.flatMap(write => write.values)
  const { fresh, kept } =
    all.length === 0 || deps.decisions.isEmpty()
      ? { fresh: all, kept: [] }
      : deps.decisions.sift(all, sourceOf(sent.entry, run, deps))
  const isFresh = kept.length === 0 ? undefined : new Set(fresh)
  for (const { values, as } of writes)
    written[!isFresh || values.some(value => isFresh.has(value)) ? as : 'kept'] += 1
  return { points: [...fresh], kept }
}

/** Plans the write of a series: which values are written, and how they count. */
function planOf(sent: SentSeries, run: WritingRun, deps: FeedWriterDeps): Plan {
  const { entry } = sent
  const written = nothingWritten()
  if (!('code' in entry.target)) return { points: [], claims: [], kept: [], written }
  const { code } = entry.target
  const series = deps.catalogue.find(code)
  if (!series || sent.rows.length === 0) return { points: [], claims: [], kept: [], written }
  const periods = Map.groupBy(sent.rows, row => row.period)
  const around = knownAround([...periods.keys()], entry.kind, series.id, deps)
  const writes: PeriodWrite[] = []
  const claims: number[] = []
  for (const [period, rows] of periods) {
    const observedAt = firstOf(period, entry.kind)
    if (around.isFiner(period)) continue
    const vintages = vintagesOf(rows, entry, run.now)
    const values: Point[] = []
    let reason: string | undefined
    for (const { text, recordedAt } of vintages) {
      const at = entry.kind === 'instant' ? isoInstant(observedAt) : isoDay(observedAt)
      const row = { code, observedAt: at, price: text }
      const checked = checkRow(row, deps.catalogue, run.now)
      if (checked.kind === 'point') {
        values.push(recordedAt === undefined ? checked.point : { ...checked.point, recordedAt })
      } else if (checked.kind === 'rejected') reason = checked.reason
    }
    const last = values.at(-1)
    if (!last) {
      written.rejected += 1
      if (reason && written.rejections.length < rejectionsMax) written.rejections.push(reason)
      continue
    }
    // A series may define the time of day of its values.
    const { held, owner } = around.at(last.observedAt)
    const isTheirs = owner !== undefined && owner !== run.feed && !run.winsOver(owner, code)
    if (!held) {
      writes.push({ values, as: 'inserted' })
    } else if (held.value === last.value) {
      written.unchanged += 1
      // This feed takes over the correction of these values.
      if (owner !== undefined && owner !== run.feed && !isTheirs) claims.push(last.observedAt)
    } else if (!isTheirs) {
      // Values recorded no later than the stored one are known; a correction is recorded after it.
      // Without a time it is recorded now: another run may have written since this one began.
      const later = values.filter(value => (value.recordedAt ?? run.now) > held.recordedAt)
      const { recordedAt: _, ...unstamped } = last
      writes.push({ values: later.length > 0 ? later : [unstamped], as: 'revised' })
    }
  }
  return { ...sifted(writes, written, sent, run, deps), claims, written }
}

function vintagesOf(rows: readonly SentRow[], { factor }: MapEntry, now: number) {
  return rows
    .map(({ text, publishedAt }) => ({
      text: timesDecimal(text, factor),
      recordedAt: publishedAt === undefined ? undefined : Math.min(publishedAt, now),
    }))
    .toSorted((a, b) => (a.recordedAt ?? now) - (b.recordedAt ?? now))
}

interface FeedState {
  held: Observation | undefined
  /** The feed that wrote it. */
  owner: string | undefined
}

/** The stored values of a series around some periods. */
function knownAround(
  periods: readonly string[],
  kind: PeriodKind,
  seriesId: number,
  { store, observations }: FeedWriterDeps,
) {
  const spans = periods.map(period => spanOf(period, kind))
  // Includes every time of day of the days, in any zone.
  const from = spans.reduce((least, span) => Math.min(least, span.from), Infinity) - dayMs
  const to = spans.reduce((most, span) => Math.max(most, span.to), -Infinity) + dayMs
  const stored = observations.oldestFirst(seriesId, from, to)
  const byMoment = new Map(stored.map(observation => [observation.observedAt, observation]))
  const owners = new Map<number, FeedObservation>()
  for (const observation of store.observations(seriesId, from, to))
    owners.set(observation.observedAt, observation)
  const periodKind = storedKind(kind)
  const finer = stored
    .map(observation => observation.observedAt)
    .filter(at => (owners.get(at)?.periodKind ?? 0) < periodKind)
  return {
    at: (observedAt: number): FeedState => ({
      held: byMoment.get(observedAt),
      owner: owners.get(observedAt)?.feed,
    }),
    /** Whether a value of a shorter period is stored within this one. */
    isFiner: (period: string) => periodKind > 0 && hasWithin(finer, spanOf(period, kind)),
  }
}

/** Whether a sorted list has a moment of `[from, to)`. */
function hasWithin(
  moments: readonly number[],
  { from, to }: { from: number; to: number },
): boolean {
  const first = moments[firstNotBefore(moments, moment => moment < from)]
  return first !== undefined && first < to
}

type Row = Record<string, string>

function writeDataset(
  name: string,
  sent: readonly SentSeries[],
  run: WritingRun,
  deps: FeedWriterDeps,
): Written {
  const dataset = deps.datasets.find(dataset => dataset.name === name)
  const written = nothingWritten()
  if (!dataset) return written
  const taken = new Set<string>()
  for (const group of Map.groupBy(sent, series => JSON.stringify(fixedOf(series.entry))).values()) {
    const sentRows: { record: unknown; fields: Row; recordedAt: number; key: string }[] = []
    for (const row of rowsOf(dataset, group, run.now)) {
      if (!isWhole(dataset, row)) continue
      const key = JSON.stringify((dataset.key ?? []).map(column => row[column] ?? ''))
      if (taken.has(key) || !isOurs(name, key, run, deps.store)) continue
      const checked = dataset.check(row, run.now)
      if ('record' in checked) {
        taken.add(key)
        sentRows.push({ record: checked.record, fields: row, recordedAt: run.now, key })
        continue
      }
      written.rejected += 1
      if (written.rejections.length < rejectionsMax) written.rejections.push(checked.reason)
    }
    if (sentRows.length === 0) continue
    const { good: records, flagged } = deps.rowGuards.judge(dataset, sentRows)
    const heldCount = sentRows.length - records.length
    written.held += heldCount
    if (flagged.length > 0 && !run.dryRun) {
      const batch = batchOf(group[0]!.entry, run)
      deps.rowGuards.keep(name, flagged, batch.id, deps.ingest.next())
      batch.count({ held: heldCount })
    }
    if (records.length === 0) continue
    // Rows are recorded when they are written, because a run may take long.
    const recordedAt = deps.ingest.next()
    const rows = records.map(({ record }) => record)
    const write = (some: readonly unknown[]) => dataset.write(some, recordedAt)
    const batch = run.dryRun ? undefined : batchOf(group[0]!.entry, run)
    const counts = batch
      ? batch.during(() =>
          deps.store.transact(() => {
            for (const { key } of records) deps.store.ownRow(name, key, run.feedNumber)
            return batch.writeRows(name, rows, recordedAt, write)
          }),
        )
      : deps.store.rehearse(() => write(rows))
    written.inserted += counts.inserted
    written.revised += counts.revised
    written.unchanged += counts.unchanged
    written.kept += counts.kept ?? 0
  }
  return written
}

const fixedOf = ({ target }: MapEntry) => ('dataset' in target ? target.fixed : {})

/** Rows by period, each with the columns that its entries give. */
function rowsOf(
  { name, counts, guarded }: Dataset<unknown>,
  group: readonly SentSeries[],
  now: number,
): Row[] {
  // The rows of an outlook are ordered by their publication.
  const periodColumn = name === 'outlooks' ? 'period' : (guarded?.time ?? 'date')
  const rows = new Map<string, Row>()
  for (const { entry, rows: values } of group) {
    if (!('dataset' in entry.target)) continue
    for (const { period, text, publishedAt } of values) {
      const row = rows.get(period) ?? {
        ...entry.target.fixed,
        [periodColumn]: period,
      }
      rows.set(period, row)
      if (name === 'outlooks') row.published_on = isoDay(publishedAt ?? outlookRelease(now))
      const value = timesDecimal(text, entry.factor)
      const { column } = entry.target
      row[column] = counts.includes(column) ? String(Math.round(Number(value))) : value
    }
  }
  return [...rows.keys()].sort().map(period => rows.get(period)!)
}

/** Whether a row has every required column: some periods are not covered by all series. */
function isWhole(dataset: Dataset<unknown>, row: Row): boolean {
  if (dataset.name === 'cftc-positions') {
    return ['managed_money_long', 'managed_money_short', 'open_interest'].every(name => name in row)
  }
  return dataset.columns.every(({ name, required }) => !required || name in row)
}

function isOurs(dataset: string, key: string, run: WritingRun, store: FeedStore): boolean {
  const owner = store.rowOwner(dataset, key)
  if (owner === undefined || owner === run.feedNumber) return true
  const name = store.states().find(state => state.number === owner)?.name
  return name === undefined || run.winsOver(name, dataset)
}
