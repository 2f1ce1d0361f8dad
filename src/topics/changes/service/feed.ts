import { dayMs } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Formulas } from '../../formulas/service/formulas.ts'
import type { IsValueWithheld, Withheld, WithheldRows } from '../../prices/store/withheld.ts'
import { endOf, isBefore, type Place } from '../math/cursor.ts'
import type { RowVersionReader } from '../store/dataset-versions.ts'
import {
  type ChangeEvent,
  type ChangeLogStore,
  isIn,
  type LoggedRange,
  type LoggedRows,
} from '../store/log.ts'
import type { Vintage, VintageReader } from '../store/vintages.ts'
import { createDatasetChanges } from './dataset-changes.ts'
import { createDerivedChanges } from './derived.ts'
import {
  audienceOf,
  createServedHistory,
  daysOf,
  type Hidden,
  isHidden,
  isSeen,
  type ServedHistory,
} from './history.ts'
import {
  type AnyRecord,
  type ChangeReader,
  type ChangeRecord,
  everywhere,
  forgotten,
  isOfFormula,
  type Segment,
} from './segments.ts'

export { type AnyRecord, type ChangeReader, isOfDataset } from './segments.ts'

export interface ChangePage {
  records: AnyRecord[]
  /** Up to where the log was read. */
  end: Place
  hasMore: boolean
}

export interface FeedDeps {
  log: ChangeLogStore
  vintages: VintageReader
  rowVersions: RowVersionReader
  catalogue: Pick<Catalogue, 'byId' | 'everything' | 'named' | 'onReload'>
  formulas: Formulas
  withheld: Withheld
  isValueWithheld: IsValueWithheld
  withheldRows: WithheldRows
}

/** What one transaction wrote. */
interface Transaction {
  writtenAt: number
  segments: Segment[]
  rows: readonly LoggedRows[]
}

/** Entries of the log that are read at a time. */
const rangesEach = 1_000
/** The most that are read for one page: a client with few codes gets a cursor in any case. */
const rangesMax = 200_000
/** The spans that a replay reads and orders at a time: as long as their records are few enough. */
const firstReplayMs = dayMs / 24
const replayMaxMs = 64 * dayMs
const replayRecordsMax = 50_000
/** Records of a replay that are read before others may run. */
const pauseEach = 500
/** Nothing is recorded later than its transaction is written, but for some milliseconds. */
const laterMs = dayMs
const always = { recordedFrom: Number.MIN_SAFE_INTEGER, recordedTo: Number.MAX_SAFE_INTEGER }

export function createChangeFeed(deps: FeedDeps) {
  const { log, vintages, catalogue, withheld, isValueWithheld } = deps
  const derived = createDerivedChanges(deps)
  const datasets = createDatasetChanges({ ...deps, versions: deps.rowVersions })
  /** The transactions from an instant on, each with its changes, oldest first. */
  const transactions = function* (from: number, hasRows: boolean): Generator<Transaction> {
    for (let at = from; at < Number.POSITIVE_INFINITY; ) {
      const ranges = wholeFrom(log, at)
      const rows = hasRows
        ? wholeFrom(log.rows, at)
        : { entries: [], end: Number.POSITIVE_INFINITY }
      const events = wholeFrom(log.events, at)
      const end = Math.min(ranges.end, rows.end, events.end)
      yield* inOrder(
        ranges.entries.slice(0, countUntil(ranges.entries, end)),
        rows.entries.slice(0, countUntil(rows.entries, end)),
        events.entries.slice(0, countUntil(events.entries, end)),
      )
      at = end + 1
    }
  }

  const inOrder = function* (
    ranges: readonly LoggedRange[],
    rows: readonly LoggedRows[],
    events: readonly ChangeEvent[],
  ): Generator<Transaction> {
    for (let r = 0, w = 0, e = 0; r < ranges.length || w < rows.length || e < events.length; ) {
      const writtenAt = Math.min(
        ranges[r]?.writtenAt ?? Number.POSITIVE_INFINITY,
        rows[w]?.writtenAt ?? Number.POSITIVE_INFINITY,
        events[e]?.writtenAt ?? Number.POSITIVE_INFINITY,
      )
      const [firstRange, firstRow, firstEvent] = [r, w, e]
      while (ranges[r]?.writtenAt === writtenAt) r += 1
      while (rows[w]?.writtenAt === writtenAt) w += 1
      while (events[e]?.writtenAt === writtenAt) e += 1
      yield {
        writtenAt,
        segments: segmentsOf(writtenAt, ranges.slice(firstRange, r), events.slice(firstEvent, e)),
        rows: rows.slice(firstRow, w),
      }
    }
  }

  const segmentsOf = (
    writtenAt: number,
    ranges: readonly LoggedRange[],
    events: readonly ChangeEvent[],
  ): Segment[] => {
    const bySeries = Map.groupBy(ranges, range => range.seriesId)
    const parts: Pick<Segment, 'series' | 'work'>[] = [
      ...[...bySeries].map(([id, own]) => ({
        series: catalogue.byId(id),
        work: { ranges: own },
      })),
      ...events.map(event => ({ series: catalogue.byId(event.seriesId), work: { event } })),
    ]
    if (parts.length > 1) parts.sort((a, b) => compareText(a.series.code, b.series.code))
    return parts.map((part, rank) => ({ ...part, writtenAt, rank }))
  }

  /** The records of a segment after a place, as they are read. */
  const recordsOf = function* (
    segment: Segment,
    { viewer }: ChangeReader,
    served: ServedHistory,
    after: Place,
  ): Generator<ChangeRecord> {
    const { series, writtenAt, work } = segment
    const sees = (at: number) => isSeen(served.audience(series, at), viewer)
    if ('ranges' in work) {
      if (!sees(writtenAt)) return
      const hidden = served.hidden(series.id, writtenAt)
      for (const stretch of stretchesOf(work.ranges))
        yield* vintagesOf(segment, stretch, after, hidden, false)
      return
    }
    const { event } = work
    if (isOfFormula(event) || series.terms?.formula !== undefined) return
    const known = { ...always, recordedTo: writtenAt }
    if (event.kind === 'terms') {
      const [before, now] = [isSeen(event.before, viewer), isSeen(event.after, viewer)]
      if (before && !now) yield* laterThan(after, forgotten(segment))
      if (!before && now) {
        const hidden = served.hidden(series.id, writtenAt)
        yield* vintagesOf(segment, { ...everywhere, ...known, ranges: [] }, after, hidden, true)
      }
      return
    }
    if (!sees(writtenAt)) return
    if (event.kind === 'released') {
      const days = served.released(event)
      if (!days) return
      const hidden = served.hidden(series.id, writtenAt)
      yield* vintagesOf(segment, { ...rangeOf(days), ...known, ranges: [] }, after, hidden, true)
      return
    }
    const hidden = served.hidden(series.id, writtenAt, true)
    const range = { ...rangeOf(daysOf(event)), ...known, ranges: [] }
    let last: ChangeRecord | undefined
    for (const record of vintagesOf(segment, range, beforeSegment(segment), hidden, true)) {
      if (last && last.observedAt !== record.observedAt) yield* laterThan(after, gone(last))
      last = record
    }
    if (last) yield* laterThan(after, gone(last))
  }

  /** A time whose values are forgotten, by the last of them. */
  const gone = (record: ChangeRecord): ChangeRecord => {
    const { writtenAt } = record.place
    return {
      ...record,
      place: { ...record.place, recordedAt: writtenAt },
      kind: 'deleted',
      previous: record.value ?? record.previous,
      value: undefined,
      batchId: 0,
      recordedAt: writtenAt,
      isRetroactive: true,
    }
  }

  const vintagesOf = function* (
    { series, writtenAt, rank }: Segment,
    stretch: Stretch,
    after: Place,
    hidden: readonly Hidden[],
    isShown: boolean,
  ): Generator<ChangeRecord> {
    const isInside = after.writtenAt === writtenAt && after.rank === rank
    const firstAt = isInside ? Math.max(stretch.firstAt, after.observedAt) : stretch.firstAt
    const left = withheld(series.id)
    const bySource = new Map<number, boolean>()
    const isLeft = (sourceId: number): boolean => {
      const is = bySource.get(sourceId) ?? isValueWithheld(series.id, sourceId)
      bySource.set(sourceId, is)
      return is
    }
    for (const vintage of vintages.all(series.id, { ...stretch, firstAt })) {
      const { observedAt, recordedAt } = vintage
      const place = { writtenAt, rank, observedAt, recordedAt }
      if (isInside && !isBefore(after, place)) continue
      if (stretch.ranges.length > 1 && !stretch.ranges.some(range => isIn(range, vintage))) continue
      if (isHidden(hidden, observedAt)) continue
      const previous = isLeft(vintage.previousSourceId) ? undefined : vintage.previous
      if (!left?.has(observedAt) && !isLeft(vintage.sourceId))
        yield recordOf(series, place, { ...vintage, previous }, isShown)
      // A value that must not be passed on replaced one that could.
      else if (previous !== undefined)
        yield gone(recordOf(series, place, { ...vintage, value: previous }, isShown))
    }
  }

  /** Everything after a place, as it is read; undefined where a transaction was read to its end. */
  const records = function* (
    reader: ChangeReader,
    after: Place,
  ): Generator<AnyRecord | { readUntil: Place; ranges: number }> {
    const served = createServedHistory(log.events.ofSeries)
    const hasRows = reader.tables.size > 0
    for (const { writtenAt, segments, rows } of transactions(after.writtenAt, hasRows)) {
      for (const segment of segments) {
        const isRead = after.writtenAt === segment.writtenAt && segment.rank < after.rank
        if (isRead || !reader.wants(segment.series)) continue
        yield* recordsOf(segment, reader, served, after)
      }
      if (rows.length > 0) yield* datasets.of(rows, reader, after)
      if (reader.isDerived && segments.length > 0)
        yield* derived.of(segments, reader, served, after)
      yield { readUntil: endOf(writtenAt), ranges: segments.length + rows.length }
    }
  }

  /**
   * Records of `[from, to)` that are not forgotten, in the order of recording; undefined if they are
   * too many. Yields where others may run.
   */
  const recordedIn = function* (
    reader: ChangeReader,
    from: number,
    to: number,
    served: ServedHistory,
  ): Generator<undefined, AnyRecord[] | undefined> {
    const found = new Map<string, AnyRecord>()
    const add = (record: ChangeRecord) =>
      found.set(`${record.series.id} ${record.observedAt} ${record.recordedAt}`, record)
    const isTooMany = () => found.size > replayRecordsMax && to - from > 1
    const ranges = log.touching(from, to)
    for (const writtenAt of new Set(ranges.map(range => range.writtenAt)))
      for (const segment of segmentsOf(writtenAt, log.of(writtenAt), [])) {
        const { series, work } = segment
        const isWanted = reader.wants(series) && isSeen(audienceOf(series), reader.viewer)
        if (!isWanted || !('ranges' in work)) continue
        const hidden = served.hidden(series.id, Number.POSITIVE_INFINITY)
        for (const stretch of stretchesOf(work.ranges)) {
          const recordedFrom = Math.max(stretch.recordedFrom, from)
          const recordedTo = Math.min(stretch.recordedTo, to - 1)
          const part = { ...stretch, recordedFrom, recordedTo }
          for (const record of vintagesOf(segment, part, beforeSegment(segment), hidden, false)) {
            add(record)
            if (found.size % pauseEach === 0) yield
            if (isTooMany()) return undefined
          }
          yield
        }
      }
    for (const table of reader.tables)
      for (const rows of log.rows.touching(table, from, to))
        for (const record of datasets.of([rows], reader, beforeSegment(rows))) {
          found.set(
            `${table} ${record.recordedAt} ${rows.writtenAt} ${record.place.recordedAt}`,
            record,
          )
          if (found.size % pauseEach === 0) yield
          if (isTooMany()) return undefined
        }
    if (reader.isDerived)
      for (const record of derived.recordedIn(reader, from, to, served)) {
        add(record)
        if (found.size % pauseEach === 0) yield
        if (isTooMany()) return undefined
      }
    return [...found.values()].sort(
      (a, b) => a.recordedAt - b.recordedAt || (isBefore(a.place, b.place) ? -1 : 1),
    )
  }

  return {
    /** The records of `[from, to)` by their recording, as they are read; undefined: others may run. */
    *replay(reader: ChangeReader, from: number, to: number): Generator<AnyRecord | undefined> {
      const served = createServedHistory(log.events.ofSeries)
      const begin = Math.max(from, log.oldestRecorded() ?? to)
      const end = Math.min(to, (log.newest() ?? begin) + laterMs)
      let spanMs = firstReplayMs
      for (let at = begin; at < end; ) {
        const until = Math.min(end, at + spanMs)
        const found = yield* recordedIn(reader, at, until, served)
        if (!found) {
          spanMs = Math.max(1, Math.floor((until - at) / 8))
          continue
        }
        yield* found
        at = until
        if (found.length < replayRecordsMax / 8) spanMs = Math.min(2 * spanMs, replayMaxMs)
      }
    },
    /** The records after a place, at most `limit`, from so many ranges of the log. */
    page(reader: ChangeReader, after: Place, limit: number, ranges = rangesMax): ChangePage {
      const page: AnyRecord[] = []
      let [end, looked] = [after, 0]
      for (const step of records(reader, after)) {
        if ('readUntil' in step) {
          end = isBefore(end, step.readUntil) ? step.readUntil : end
          looked += step.ranges
          if (looked >= ranges)
            return { records: page, end, hasMore: (log.newest() ?? 0) > end.writtenAt }
        } else if (page.length === limit)
          return { records: page, end: page.at(-1)!.place, hasMore: true }
        else page.push(step)
      }
      return { records: page, end, hasMore: false }
    },
  }
}

interface Stretch {
  firstAt: number
  lastAt: number
  recordedFrom: number
  recordedTo: number
  /** Only vintages of one of these; none: all. */
  ranges: readonly LoggedRange[]
}

const recordOf = (
  series: Series,
  place: Place,
  { observedAt, recordedAt, value, previous, sourceId, batchId }: Vintage,
  isShown: boolean,
): ChangeRecord => ({
  place,
  kind: value === undefined ? 'deleted' : previous === undefined ? 'added' : 'revised',
  series,
  observedAt,
  value,
  previous,
  sourceId,
  batchId,
  recordedAt,
  // A deletion among values that are shown again is of its instant, and forgets nothing.
  isRetroactive: isShown && value !== undefined,
})

/** Ranges in the order of time, those that overlap together. */
function stretchesOf(ranges: readonly LoggedRange[]): Stretch[] {
  const stretches: (Stretch & { ranges: LoggedRange[] })[] = []
  for (const range of ranges.toSorted((a, b) => a.firstAt - b.firstAt)) {
    const last = stretches.at(-1)
    if (!last || range.firstAt > last.lastAt) {
      stretches.push({ ...range, ranges: [range] })
      continue
    }
    last.ranges.push(range)
    last.lastAt = Math.max(last.lastAt, range.lastAt)
    last.recordedFrom = Math.min(last.recordedFrom, range.recordedFrom)
    last.recordedTo = Math.max(last.recordedTo, range.recordedTo)
  }
  return stretches
}

const rangeOf = ({ from, to }: Hidden) => ({ firstAt: from, lastAt: to - 1 })

const beforeSegment = ({ writtenAt }: Pick<Segment, 'writtenAt'>): Place => endOf(writtenAt - 1)

function* laterThan(after: Place, record: ChangeRecord): Generator<ChangeRecord> {
  if (isBefore(after, record.place)) yield record
}

interface Written {
  writtenAt: number
}

/**
 * The next entries of a part of the log, with all of each of their transactions, and up to when
 * there are no others.
 */
function wholeFrom<T extends Written>(
  part: { from(writtenAt: number, limit: number): T[]; of(writtenAt: number): T[] },
  at: number,
): { entries: T[]; end: number } {
  const entries = part.from(at, rangesEach)
  if (entries.length < rangesEach) return { entries, end: Number.POSITIVE_INFINITY }
  const last = entries.at(-1)!.writtenAt
  // The last transaction may have more than were read.
  return entries[0]!.writtenAt === last
    ? { entries: part.of(last), end: last }
    : { entries: entries.filter(({ writtenAt }) => writtenAt !== last), end: last - 1 }
}

const countUntil = (entries: readonly Written[], end: number): number => {
  const count = entries.findIndex(({ writtenAt }) => writtenAt > end)
  return count === -1 ? entries.length : count
}

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
