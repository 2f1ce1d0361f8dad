import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import {
  type Difference,
  differencesAt,
  ever,
  type Formulas,
  type Moment,
  nearbyMs,
  noteMoment,
  type Range,
  type View,
} from '../../formulas/service/formulas.ts'
import type { ChangeLogStore, LoggedRange } from '../store/log.ts'
import type { VintageReader } from '../store/vintages.ts'
import { isHidden, type ServedHistory } from './history.ts'
import { type ChangeRecord, everywhere, forgotten, type Segment } from './segments.ts'

export interface FormulaHistoryDeps {
  log: Pick<ChangeLogStore, 'oldestRecorded' | 'touching'>
  vintages: VintageReader
  formulas: Pick<Formulas, 'heldBy' | 'sourcesOf' | 'viewAt'>
  catalogue: Pick<Catalogue, 'byId' | 'onReload'>
}

/** A value of a formula that is another from an instant on. */
export interface RecordedDifference extends Difference {
  recordedAt: number
  batchId: number
}

/** A moment, and the values that became known at it. */
interface LoggedMoment extends Moment {
  range: LoggedRange
}

/** The records of a window of a history, and all moments of the history. */
interface Repeated extends Range {
  key: string
  moments: readonly LoggedMoment[]
  records: readonly ChangeRecord[]
  /** The length of the next window. */
  nextMs: number
}

/** A history is made in windows of time, each with about so many values in memory. */
const [windowDifferences, firstWindowMs] = [8_000, 64 * dayMs]
/** So many windows stay in memory, or the last one alone where they have more moments and records. */
const [windowsMax, keptMax] = [8, 500_000]
/** The moments of a history are read in spans of time with about so many. */
const [momentsEach, firstSpanMs] = [500, dayMs / 24]

const nearby = ({ from, to }: Range) => ({
  firstAt: Math.max(everywhere.firstAt, from - nearbyMs),
  lastAt: Math.min(everywhere.lastAt, to + nearbyMs),
})

/** All that series by formula had as values, computed from all that their legs had. */
export function createFormulaHistory({ log, vintages, formulas, catalogue }: FormulaHistoryDeps) {
  /** The windows that were read last, the newest first: each reader takes its own page by page. */
  let windows: readonly Repeated[] = []
  const keep = (window: Repeated) => {
    let size = 0
    windows = [window, ...windows.filter(other => other !== window)]
      .slice(0, windowsMax)
      .filter(({ moments, records }, i) => {
        size += moments.length + records.length
        return i === 0 || size <= keptMax
      })
  }
  catalogue.onReload(() => {
    windows = []
  })

  /** Values as they are known at a moment that moves on, on the days that were served at another. */
  const viewAt = (at: () => number, servedAt: number, served: ServedHistory): View =>
    formulas.viewAt(at, (seriesId, rows) => {
      const hidden = served.hidden(seriesId, servedAt)
      return hidden.length === 0
        ? rows
        : rows.filter(({ observedAt }) => !isHidden(hidden, observedAt))
    })

  const batchOf = (range: LoggedRange): number =>
    vintages.read(range.seriesId, range, 1).vintages[0]?.batchId ?? 0

  /** The moments of `(after, until]` at which values of series became known, in any order. */
  const momentsIn = (legs: readonly number[], after: number, until: number): LoggedMoment[] => {
    const moments = new Map<number, LoggedMoment>()
    for (const range of log.touching(after + 1, until + 1, legs)) {
      const { seriesId, firstAt, lastAt, recordedFrom, recordedTo } = range
      if (recordedFrom === recordedTo)
        noteMoment(moments, { at: recordedFrom, firstAt, lastAt, range })
      else {
        const within = {
          ...range,
          recordedFrom: Math.max(recordedFrom, after + 1),
          recordedTo: Math.min(recordedTo, until),
        }
        for (const { observedAt, recordedAt: at } of vintages.all(seriesId, within))
          noteMoment(moments, { at, firstAt: observedAt, lastAt, range })
      }
    }
    return [...moments.values()]
  }

  /** The same, oldest first, from spans with few of them. Yields where others may run. */
  const momentsOf = function* (
    legs: readonly number[],
    after: number,
    until: number,
  ): Generator<undefined, LoggedMoment[]> {
    const all: LoggedMoment[] = []
    let spanMs = firstSpanMs
    for (let from = after; from < until; ) {
      const to = Math.min(until, from + spanMs)
      const found = momentsIn(legs, from, to).sort((a, b) => a.at - b.at)
      for (const moment of found) all.push(moment)
      from = to
      if (found.length < momentsEach / 2) spanMs *= 2
      else if (found.length > momentsEach) spanMs = Math.max(1, Math.floor(spanMs / 2))
      yield
    }
    return all
  }

  /**
   * The differences in a range that became known at some moments, by time and recording. `isFirst`:
   * nothing was known of the range before. Yields where others may run.
   */
  const recordedIn = function* (
    { id }: Series,
    range: Range,
    moments: readonly LoggedMoment[],
    servedAt: number,
    served: ServedHistory,
    isFirst: boolean,
  ): Generator<undefined, RecordedDifference[]> {
    const held = formulas.sourcesOf(id).flatMap(formulas.heldBy)
    const knownTo = isFirst ? ever.from : ever.to
    const all: RecordedDifference[] = []
    for (const step of differencesAt(
      at => viewAt(at, servedAt, served),
      id,
      range,
      moments,
      held,
      knownTo,
    )) {
      if (!step || step.differences.length === 0) {
        yield
        continue
      }
      const { at: recordedAt, range } = step.moment
      const batchId = batchOf(range)
      for (const one of step.differences) all.push({ ...one, recordedAt, batchId })
    }
    return all.sort((a, b) => a.observedAt - b.observedAt || a.recordedAt - b.recordedAt)
  }

  /** The times of a range at which a formula may have had values. */
  const timesIn = (series: Series, range: Range): number[] => {
    const sources = formulas.sourcesOf(series.id)
    const isOfDays = sources
      .map(catalogue.byId)
      .some(({ terms, averageOf }) => terms?.align === 'same_day' || averageOf !== undefined)
    const times = sources.flatMap(leg => vintages.times(leg, nearby(range)))
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
    const legs = formulas.sourcesOf(series.id)
    const extents = legs.flatMap(leg => vintages.extent(leg) ?? [])
    const first = Math.min(...extents.map(({ firstAt }) => firstAt)) - nearbyMs
    const last = Math.max(...extents.map(({ lastAt }) => lastAt)) + nearbyMs
    const end = Math.min(to, last + 1)
    const ranges = segments.flatMap(({ work }) => ('ranges' in work ? work.ranges : []))
    const until = Math.max(writtenAt, ...ranges.map(({ recordedTo }) => recordedTo))
    const key = `${writtenAt} ${series.id} ${to} ${isNew}`
    const begun = (log.oldestRecorded() ?? until) - 1
    const windowAt = function* (begin: number): Generator<undefined, Repeated> {
      const own = windows.filter(window => window.key === key)
      const known = own.find(window => window.from <= begin && begin < window.to)
      if (known) return known
      const moments = own[0]?.moments ?? (yield* momentsOf(legs, begun, until))
      const lengthMs = own[0]?.nextMs ?? firstWindowMs
      const range = { from: begin, to: Math.min(end, begin + lengthMs) }
      const historyAt = (servedAt: number) =>
        recordedIn(series, range, moments, servedAt, served, true)
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
      const nextMs = Math.max(1, Math.floor(lengthMs * Math.max(1 / 8, Math.min(share, 8))))
      return { key, moments, ...range, records, nextMs }
    }
    for (let begin = Math.max(from, first); begin < end; ) {
      const window = yield* windowAt(begin)
      keep(window)
      // A window that another reader began later may overlap the one before it.
      yield* window.records.filter(({ observedAt }) => observedAt! >= begin)
      begin = window.to
    }
  }

  return { viewAt, batchOf, momentsOf, recordedIn, repeatedRecords }
}

type Derived = Pick<Segment, 'writtenAt' | 'rank' | 'series'>

export const recordOf = (
  { writtenAt, rank, series }: Derived,
  { observedAt, recordedAt, before, after, batchId }: RecordedDifference,
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
const shownAgain = (segment: Derived, difference: RecordedDifference): ChangeRecord => ({
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
function timesThatDiffer(
  some: readonly RecordedDifference[],
  others: readonly RecordedDifference[],
): number[] {
  const textsOf = (history: readonly RecordedDifference[]) =>
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
