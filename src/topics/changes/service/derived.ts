import { firstNotBefore } from '../../../lib/sorted.ts'
import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { ever, type Formulas } from '../../formulas/service/formulas.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { Withheld } from '../../prices/store/withheld.ts'
import { isBefore, type Place } from '../math/cursor.ts'
import type { ChangeLogStore, LoggedRange } from '../store/log.ts'
import type { VintageReader } from '../store/vintages.ts'
import { daysOf, isHidden, isSeen, type ServedHistory } from './history.ts'
import {
  type ChangeReader,
  type ChangeRecord,
  everywhere,
  forgotten,
  isOfFormula,
  type Segment,
} from './segments.ts'

export interface DerivedDeps {
  log: Pick<ChangeLogStore, 'lastBefore' | 'laterForThePast' | 'touching'>
  vintages: VintageReader
  formulas: Pick<Formulas, 'dependentsOf' | 'heldBy' | 'restsOn' | 'viewAt'>
  catalogue: Pick<Catalogue, 'byId' | 'everything' | 'onReload'>
  withheld: Withheld
}

/** A value of a formula that is another from a moment on. */
interface Difference {
  observedAt: number
  recordedAt: number
  before: number | undefined
  after: number | undefined
  batchId: number
}

/** A moment at which values became known, those of some times. */
interface Moment {
  at: number
  firstAt: number
  lastAt: number
  range: LoggedRange
}

/** Times, half-open. */
interface Range {
  from: number
  to: number
}

/** The records of a window of a history, and all moments of the history. */
interface Repeated extends Range {
  key: string
  moments: readonly Moment[]
  records: readonly ChangeRecord[]
  /** The length of the next window. */
  spanMs: number
}

/** Records of formulas come after those of the series that were written: there are never as many. */
const firstRank = 800_000

export const isOfFormulas = ({ rank }: Place): boolean => rank >= firstRank
/** Transactions and formulas of which differences stay in memory, for readers that follow. */
const knownMax = 1_000
const keptEach = 1_000
/** A history is made in windows of time, each with about so many values in memory. */
const [windowDifferences, firstWindowMs] = [8_000, 64 * dayMs]
/** Moments that change nothing of a window are passed many at a time. */
const passedEach = 256
/** A value of a day may follow from those of the market day before it and after it. */
const nearbyMs = 2 * dayMs

/** A value of a formula looks back alone; one of a day counts at its midnight or the one before. */
const affectedFrom = (firstAt: number): number =>
  Math.abs(firstAt) === ever.to ? firstAt : startOfDay(firstAt) - dayMs

const firstIn = (ids: readonly number[], changed: ReadonlyMap<number, number>): number =>
  Math.min(ever.to, ...ids.flatMap(id => changed.get(id) ?? []))

const nearby = ({ from, to }: Range) => ({
  firstAt: Math.max(everywhere.firstAt, from - nearbyMs),
  lastAt: Math.min(everywhere.lastAt, to + nearbyMs),
})

/** What transactions did to series by formula, whose values are nowhere stored. */
export function createDerivedChanges(deps: DerivedDeps) {
  const { log, vintages, formulas, catalogue, withheld } = deps
  const known = new Map<string, readonly Difference[]>()
  /** The values as they were known after a transaction; readers mostly read one after the other. */
  let state: ReturnType<typeof knownAt> | undefined
  /** The window that was made last, which a reader takes page by page. */
  let repeated: Repeated | undefined
  /** What later transactions repeat, by the reading of the log and the formula. */
  const laterWrites = new WeakMap<
    ServedHistory,
    Map<number, { writtenAt: number; firstAt: number }[]>
  >()
  catalogue.onReload(() => {
    state = undefined
    repeated = undefined
    known.clear()
  })

  /** Values as they are known at a moment that may move on, on the days that were served at another. */
  const knownAt = (at: number, servedAt: number, served: ServedHistory) => {
    const moment = { at, servedAt, served }
    const view = formulas.viewAt(
      () => moment.at,
      (seriesId, rows) => {
        const hidden = moment.served.hidden(seriesId, moment.servedAt)
        return hidden.length === 0
          ? rows
          : rows.filter(({ observedAt }) => !isHidden(hidden, observedAt))
      },
    )
    return Object.assign(moment, { view })
  }

  const batchOf = (range: LoggedRange): number =>
    vintages.read(range.seriesId, range, 1).vintages[0]?.batchId ?? 0

  /** The first time of a formula that a transaction after one repeats. */
  const firstRepeated = ({ id }: Series, writtenAt: number, served: ServedHistory): number => {
    const ofFormulas = laterWrites.getOrInsertComputed(served, () => new Map())
    const later = ofFormulas.getOrInsertComputed(id, () => {
      const writes = log.laterForThePast(formulas.restsOn(id), writtenAt)
      for (let i = writes.length - 2; i >= 0; i -= 1)
        writes[i]!.firstAt = Math.min(writes[i]!.firstAt, writes[i + 1]!.firstAt)
      return writes
    })
    const next = firstNotBefore(later, write => write.writtenAt <= writtenAt)
    return affectedFrom(later[next]?.firstAt ?? ever.to)
  }

  /** The differences that a transaction makes, whose legs have changed from the given times on. */
  const differencesOf = (
    segments: readonly Segment[],
    changed: ReadonlyMap<number, number>,
    wanted: readonly Series[],
    served: ServedHistory,
  ) => {
    const { writtenAt, work } = segments[0]!
    const batchId = () => ('ranges' in work ? batchOf(work.ranges[0]!) : 0)
    const keyOf = (id: number) => `${writtenAt} ${id}`
    const found = new Map(wanted.map(({ id }) => [id, known.get(keyOf(id))]))
    const missing = wanted.filter(({ id }) => !found.get(id))
    const isNext =
      state !== undefined &&
      state.at < writtenAt &&
      (log.lastBefore(writtenAt - 1) ?? state.at) <= state.at
    if (!isNext && missing.length > 0) state = knownAt(writtenAt - 1, writtenAt - 1, served)
    if (!state || (!isNext && missing.length === 0)) return found
    const { view } = state
    state.served = served
    const from = affectedFrom(Math.min(...changed.values()))
    const rowsOf = ({ id }: Series) => view.between(id, from, ever.to)
    const before = missing.map(rowsOf)
    state.at = writtenAt
    state.servedAt = writtenAt
    for (const [seriesId, firstAt] of changed) view.forget(formulas.heldBy(seriesId), firstAt)
    for (const [i, series] of missing.entries()) {
      const { id } = series
      const differences = between(before[i]!, rowsOf(series), writtenAt, batchId)
      found.set(id, differences)
      if (differences.length < keptEach) known.set(keyOf(id), differences)
    }
    for (const key of [...known.keys()].slice(0, -knownMax)) known.delete(key)
    return found
  }

  /** The moments of `(after, until]` at which values of series became known, oldest first. */
  const momentsOf = (legs: readonly number[], after: number, until: number) => {
    const moments = new Map<number, Moment>()
    const see = (at: number, firstAt: number, range: LoggedRange) => {
      const { lastAt } = range
      const moment = moments.get(at)
      if (!moment) moments.set(at, { at, firstAt, lastAt, range })
      else {
        moment.firstAt = Math.min(moment.firstAt, firstAt)
        moment.lastAt = Math.max(moment.lastAt, lastAt)
      }
    }
    for (const range of log.touching(after + 1, until + 1, legs)) {
      const { seriesId, firstAt, recordedFrom, recordedTo } = range
      if (recordedFrom === recordedTo) see(recordedFrom, firstAt, range)
      else
        for (const { observedAt, recordedAt } of vintages.all(seriesId, range))
          if (after < recordedAt && recordedAt <= until) see(recordedAt, observedAt, range)
    }
    return [...moments.values()].sort((a, b) => a.at - b.at)
  }

  /**
   * The differences in a range that became known at some moments, by time and recording. `isFirst`:
   * nothing was known of the range before. Yields where others may run.
   */
  const recordedIn = function* (
    { id }: Series,
    { from, to }: Range,
    moments: readonly Moment[],
    servedAt: number,
    served: ServedHistory,
    isFirst: boolean,
  ): Generator<undefined, Difference[]> {
    if (moments.length === 0) return []
    const legs = formulas.restsOn(id)
    const moment = knownAt(moments[0]!.at - 1, servedAt, served)
    const view = to === ever.to ? moment.view : moment.view.upTo(to)
    // Later times than those of all legs have no value: the search for the newest one would be long.
    let end = isFirst ? ever.from : ever.to
    const rowsFrom = (first: number) =>
      view.between(id, first, end).filter(({ observedAt }) => observedAt < to)
    // Earlier times are not affected by any of the moments.
    const begin = Math.max(from, affectedFrom(Math.min(...moments.map(({ firstAt }) => firstAt))))
    const rows = isFirst ? [] : rowsFrom(begin)
    const held = [...new Set(legs.flatMap(formulas.heldBy))]
    const differences: Difference[] = []
    let [passed, changedFrom] = [0, ever.to]
    for (const { at, firstAt, lastAt, range } of moments) {
      end = Math.max(end, Math.min(ever.to, lastAt + nearbyMs))
      changedFrom = Math.min(changedFrom, firstAt)
      const first = Math.max(from, affectedFrom(firstAt))
      if (first >= Math.min(to, end)) {
        passed += 1
        if (passed % passedEach === 0) yield
        continue
      }
      yield
      moment.at = at
      view.forget(held, changedFrom)
      changedFrom = ever.to
      const now = rowsFrom(first)
      const before = rows.splice(firstNotBefore(rows, ({ observedAt }) => observedAt < first))
      for (const row of now) rows.push(row)
      for (const difference of between(before, now, at, () => batchOf(range)))
        differences.push(difference)
    }
    return differences.sort((a, b) => a.observedAt - b.observedAt || a.recordedAt - b.recordedAt)
  }

  /** The times of a range at which a formula may have had values. */
  const timesIn = (series: Series, range: Range): number[] => {
    const rests = formulas.restsOn(series.id)
    const isOfDays = [series, ...rests.map(catalogue.byId)].some(
      ({ terms, averageOf }) => terms?.align === 'same_day' || averageOf !== undefined,
    )
    const times = rests.flatMap(leg => vintages.times(leg, nearby(range)))
    const days = isOfDays
      ? times.flatMap(at => [-1, 0, 1].map(days => startOfDay(at) + days * dayMs))
      : []
    return [...times, ...days].filter(at => range.from <= at && at < range.to)
  }

  /**
   * The history of a range of a formula, for readers to whom it is new; to others each of its times
   * that may be another is forgotten first. Window by window, since it may be long.
   */
  const repeatedRecords = function* (
    segment: Derived,
    { from, to }: Range,
    segments: readonly Segment[],
    served: ServedHistory,
    isNew: boolean,
  ): Generator<ChangeRecord | undefined> {
    const { writtenAt, series } = segment
    const legs = formulas.restsOn(series.id)
    const extents = legs.flatMap(leg => vintages.extent(leg) ?? [])
    const first = Math.min(...extents.map(({ firstAt }) => firstAt)) - nearbyMs
    const last = Math.max(...extents.map(({ lastAt }) => lastAt)) + nearbyMs
    const end = Math.min(to, last + 1)
    const ranges = segments.flatMap(({ work }) => ('ranges' in work ? work.ranges : []))
    const until = Math.max(writtenAt, ...ranges.map(({ recordedTo }) => recordedTo))
    const key = `${writtenAt} ${series.id} ${to} ${isNew}`
    for (let begin = Math.max(from, first); begin < end; ) {
      if (repeated?.key !== key) {
        const whole = nearby({ from: first, to: end })
        const begun = legs.flatMap(leg => vintages.firstRecorded(leg, whole) ?? [])
        const moments = momentsOf(legs, Math.min(until, ...begun) - 1, until)
        repeated = { key, moments, from: begin, to: begin, records: [], spanMs: firstWindowMs }
      }
      let window = repeated
      if (begin < window.from || window.to <= begin) {
        const range = { from: begin, to: Math.min(end, begin + window.spanMs) }
        const historyAt = (servedAt: number) =>
          recordedIn(series, range, window.moments, servedAt, served, true)
        const now = yield* historyAt(writtenAt)
        const byTime = Map.groupBy(now, ({ observedAt }) => observedAt)
        // The state before is known as well where days are quarantined or released.
        const times = isNew
          ? byTime.keys()
          : ranges.length > 0
            ? [...timesIn(series, range), ...byTime.keys()]
            : timesThatDiffer(yield* historyAt(writtenAt - 1), now)
        const records = [...new Set(times)]
          .sort((a, b) => a - b)
          .flatMap(observedAt => [
            ...(isNew ? [] : [forgottenAt(segment, observedAt)]),
            ...(byTime.get(observedAt) ?? []).map(difference => shownAgain(segment, difference)),
          ])
        const share = windowDifferences / Math.max(1, now.length)
        const spanMs = window.spanMs * Math.max(1 / 8, Math.min(share, 8))
        window = { ...window, ...range, records, spanMs: Math.max(1, Math.floor(spanMs)) }
        repeated = window
      }
      yield* window.records
      begin = window.to
    }
  }

  const sees = ({ viewer }: ChangeReader, series: Series, served: ServedHistory, at: number) =>
    isSeen(served.audience(series, at), viewer) &&
    formulas
      .restsOn(series.id)
      .every(id => isSeen({ ...served.audience(catalogue.byId(id), at), isServed: true }, viewer))

  return {
    /** The records of a transaction after a place; undefined: others may run. */
    *of(
      segments: readonly Segment[],
      reader: ChangeReader,
      served: ServedHistory,
      after: Place,
    ): Generator<ChangeRecord | undefined> {
      const { writtenAt } = segments[0]!
      const changed = new Map<number, number>()
      for (const { series, work } of segments) {
        const from = firstOf(work, served)
        changed.set(series.id, Math.min(changed.get(series.id) ?? from, from))
      }
      const computed = segments.filter(({ work }) => 'event' in work && isOfFormula(work.event))
      const ids = [
        ...computed.map(({ series }) => series.id),
        ...[...changed.keys()].flatMap(id => [id, ...formulas.dependentsOf(id)]),
      ]
      const wanted = [...new Set(ids)]
        .sort((a, b) => a - b)
        .map(catalogue.byId)
        .filter(
          series =>
            series.terms?.formula !== undefined || computed.some(one => one.series === series),
        )
        .filter(series => reader.wants(series))
        // A reader who has the records of a formula needs none of them to be made again.
        .filter(({ id }) => after.writtenAt < writtenAt || firstRank + id >= after.rank)
        .filter(series => [writtenAt - 1, writtenAt].some(at => sees(reader, series, served, at)))
      // Values that were recorded for another moment may have been read before their transaction.
      const isOfNow = segments.every(
        ({ work }) =>
          'ranges' in work &&
          work.ranges.every(one => one.recordedFrom === writtenAt && one.recordedTo === writtenAt),
      )
      const differences = isOfNow
        ? differencesOf(segments, changed, wanted, served)
        : new Map<number, Difference[]>()
      for (const series of wanted) {
        const segment = { writtenAt, rank: firstRank + series.id, series }
        const [was, is] = [writtenAt - 1, writtenAt].map(at => sees(reader, series, served, at))
        const rests = formulas.restsOn(series.id)
        const isNew =
          !was || computed.some(one => one.series === series || rests.includes(one.series.id))
        const isInside = after.writtenAt === writtenAt && after.rank === segment.rank
        const firstAt = isNew ? ever.from : affectedFrom(firstIn(rests, changed))
        const range = () => ({
          from: isInside ? Math.max(firstAt, after.observedAt) : firstAt,
          // What follows from a later transaction for the past is repeated by that one.
          to: firstRepeated(series, writtenAt, served),
        })
        const isOpened = is && (isNew || !isOfNow)
        const records = isOpened
          ? repeatedRecords(segment, range(), segments, served, isNew)
          : is
            ? differences.get(series.id)!.map(difference => recordOf(segment, difference))
            : []
        const left = withheld(series.id)
        const isWanted = (record: ChangeRecord) =>
          isBefore(after, record.place) &&
          (record.observedAt === undefined || !left?.has(record.observedAt))
        const lost = forgotten(segment)
        if ((!is || (isOpened && was && isNew)) && isWanted(lost)) yield lost
        for (const record of records) if (!record || isWanted(record)) yield record
      }
    },
    /** The records that became known in `[from, to)`, as they are served now; undefined: others may run. */
    *recordedIn(
      reader: ChangeReader,
      from: number,
      to: number,
      served: ServedHistory,
    ): Generator<ChangeRecord | undefined> {
      const now = Number.POSITIVE_INFINITY
      for (const series of catalogue.everything()) {
        if (series.terms?.formula === undefined || !reader.wants(series)) continue
        if (!sees(reader, series, served, now)) continue
        const left = withheld(series.id)
        const moments = momentsOf(formulas.restsOn(series.id), from - 1, to - 1)
        for (const difference of yield* recordedIn(series, ever, moments, now, served, false)) {
          if (left?.has(difference.observedAt)) continue
          const { recordedAt: writtenAt } = difference
          yield recordOf({ writtenAt, rank: firstRank + series.id, series }, difference)
        }
      }
    },
  }
}

type Derived = Pick<Segment, 'writtenAt' | 'rank' | 'series'>

const recordOf = (
  { writtenAt, rank, series }: Derived,
  { observedAt, recordedAt, before, after, batchId }: Difference,
): ChangeRecord => ({
  place: { writtenAt, rank, observedAt, recordedAt },
  kind: after === undefined ? 'deleted' : before === undefined ? 'added' : 'revised',
  series,
  observedAt,
  value: after,
  previous: before,
  sourceId: 0,
  batchId,
  recordedAt,
  isRetroactive: false,
})

/** A value that counts from its moment on, for readers who have forgotten it. */
const shownAgain = (segment: Derived, difference: Difference): ChangeRecord => ({
  ...recordOf(segment, difference),
  // A deletion among them is of its instant, and forgets nothing.
  isRetroactive: difference.after !== undefined,
})

/** One time is forgotten, before what is shown of it. */
const forgottenAt = (segment: Derived, observedAt: number): ChangeRecord => {
  const record = forgotten(segment)
  return {
    ...record,
    place: { ...record.place, observedAt, recordedAt: everywhere.firstAt },
    observedAt,
  }
}

/** The times at which two histories are not the same, oldest first. */
function timesThatDiffer(some: readonly Difference[], others: readonly Difference[]): number[] {
  const textsOf = (history: readonly Difference[]) =>
    new Map(
      [...Map.groupBy(history, ({ observedAt }) => observedAt)].map(([at, all]) => [
        at,
        all.map(({ recordedAt, after }) => `${recordedAt} ${after}`).join(),
      ]),
    )
  const [before, after] = [textsOf(some), textsOf(others)]
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(at => before.get(at) !== after.get(at))
    .sort((a, b) => a - b)
}

/** From when on values of a series may be others. */
function firstOf(work: Segment['work'], served: ServedHistory): number {
  if ('ranges' in work) return Math.min(...work.ranges.map(range => range.firstAt))
  const { event } = work
  if (event.kind === 'quarantined') return daysOf(event).from
  if (event.kind === 'released') return served.released(event)?.from ?? ever.to
  return isOfFormula(event) ? ever.from : ever.to
}

/** Where two lists of values, oldest first, are not the same. */
function between(
  before: readonly Observation[],
  after: readonly Observation[],
  recordedAt: number,
  batchOf: () => number,
): Difference[] {
  const differences: Difference[] = []
  let batchId: number | undefined
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const [was, is] = [before[i], after[j]]
    const observedAt = Math.min(was?.observedAt ?? ever.to, is?.observedAt ?? ever.to)
    const old = was?.observedAt === observedAt ? was.value : undefined
    const value = is?.observedAt === observedAt ? is.value : undefined
    if (was?.observedAt === observedAt) i += 1
    if (is?.observedAt === observedAt) j += 1
    if (old === value) continue
    batchId ??= batchOf()
    differences.push({ observedAt, recordedAt, before: old, after: value, batchId })
  }
  return differences
}
