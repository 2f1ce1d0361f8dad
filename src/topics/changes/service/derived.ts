import { firstNotBefore } from '../../../lib/sorted.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { isComputed, type Series } from '../../catalogue/store/series.ts'
import {
  affectedFrom,
  between,
  ever,
  type Formulas,
  type View,
} from '../../formulas/service/formulas.ts'
import type { IsValueWithheld, Withheld } from '../../prices/store/withheld.ts'
import { beginning, isBefore, type Place } from '../math/cursor.ts'
import type { ChangeLogStore } from '../store/log.ts'
import {
  createFormulaHistory,
  type FormulaHistoryDeps,
  type RecordedDifference,
  recordOf,
} from './formula-history.ts'
import { daysOf, isSeen, type ServedHistory } from './history.ts'
import { createMeanRecords } from './mean-records.ts'
import {
  type ChangeReader,
  type ChangeRecord,
  forgotten,
  isOfFormula,
  type Segment,
} from './segments.ts'

export interface DerivedDeps extends FormulaHistoryDeps {
  log: Pick<ChangeLogStore, 'lastBefore' | 'laterForThePast' | 'oldestRecorded' | 'touching'>
  formulas: Pick<Formulas, 'dependentsOf' | 'heldBy' | 'legsOf' | 'sourcesOf' | 'viewAt'>
  catalogue: Pick<Catalogue, 'byId' | 'everything' | 'onReload'>
  withheld: Withheld
  isValueWithheld: IsValueWithheld
}

/** Records of formulas come after those of the series that were written: there are never as many. */
const firstRank = 800_000

export const isOfFormulas = ({ rank }: Place): boolean => rank >= firstRank

const firstIn = (ids: readonly number[], changed: ReadonlyMap<number, number>): number =>
  Math.min(ever.to, ...ids.flatMap(id => changed.get(id) ?? []))

/** What transactions did to series by formula, whose values are nowhere stored. */
export function createDerivedChanges(deps: DerivedDeps) {
  const { log, formulas, catalogue, withheld } = deps
  const { viewAt, batchOf, momentsOf, recordedIn, repeatedRecords } = createFormulaHistory(deps)
  /** The values as they were known after a transaction; readers mostly read one after the other. */
  let known: { at: number; view: View } | undefined
  catalogue.onReload(() => {
    known = undefined
  })
  /** What later transactions repeat, by the reading of the log and the formula. */
  const laterWrites = new WeakMap<
    ServedHistory,
    Map<number, { writtenAt: number; firstAt: number }[]>
  >()

  /** The first time of a formula that a transaction after one repeats. */
  const firstRepeated = ({ id }: Series, writtenAt: number, served: ServedHistory): number => {
    const ofFormulas = laterWrites.getOrInsertComputed(served, () => new Map())
    const later = ofFormulas.getOrInsertComputed(id, () => {
      const writes = log.laterForThePast(formulas.sourcesOf(id), writtenAt)
      for (let i = writes.length - 2; i >= 0; i -= 1)
        writes[i]!.firstAt = Math.min(writes[i]!.firstAt, writes[i + 1]!.firstAt)
      return writes
    })
    const next = firstNotBefore(later, write => write.writtenAt <= writtenAt)
    return affectedFrom(later[next]?.firstAt ?? ever.to)
  }

  const sees = ({ viewer }: ChangeReader, series: Series, served: ServedHistory, at: number) =>
    isSeen(served.audience(series, at), viewer) &&
    formulas
      .sourcesOf(series.id)
      .every(id => isSeen({ ...served.audience(catalogue.byId(id), at), isServed: true }, viewer))

  /**
   * The differences that a transaction makes, whose legs have changed from the given times on, of
   * all series that follow from them at once: they read the same legs.
   */
  const differencesOf = (
    segments: readonly Segment[],
    changed: ReadonlyMap<number, number>,
    wanted: readonly Series[],
    served: ServedHistory,
  ): ReadonlyMap<number, RecordedDifference[]> => {
    const { writtenAt, work } = segments[0]!
    const isNext = known && (log.lastBefore(writtenAt - 1) ?? known.at) <= known.at
    if (!known || !isNext || known.at >= writtenAt) {
      const moment = { at: writtenAt - 1 }
      const view = viewAt(() => moment.at, writtenAt, served)
      known = Object.assign(moment, { view })
    }
    const { view } = known
    const from = affectedFrom(Math.min(...changed.values()))
    const rowsOf = ({ id }: Series) => view.between(id, from, ever.to)
    const before = wanted.map(rowsOf)
    known.at = writtenAt
    for (const [seriesId, firstAt] of changed) view.forget(formulas.heldBy(seriesId), firstAt)
    const batchId = 'ranges' in work && wanted.length > 0 ? batchOf(work.ranges[0]!) : 0
    const recordedAt = writtenAt
    return new Map(
      wanted.map((series, i) => {
        const differences = between(before[i]!, rowsOf(series))
        return [series.id, differences.map(one => ({ ...one, recordedAt, batchId }))]
      }),
    )
  }

  const ofMeans = createMeanRecords(deps)
  /** The records of a series after a place that may be passed on. */
  const passedOn = function* (
    series: Series,
    records: Iterable<ChangeRecord | undefined>,
    after: Place = beginning,
  ): Generator<ChangeRecord | undefined> {
    const left = withheld(series.id)
    const allowed =
      series.averageOf === undefined
        ? (record: ChangeRecord) => (left?.has(record.observedAt!) ? undefined : record)
        : ofMeans(series)
    for (const made of records) {
      const record = made && isBefore(after, made.place) ? allowed(made) : undefined
      if (record || !made) yield record
    }
  }

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
        .filter(series => isComputed(series) || computed.some(one => one.series === series))
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
        : new Map<number, RecordedDifference[]>()
      for (const series of wanted) {
        const segment = { writtenAt, rank: firstRank + series.id, series }
        const [was, is] = [writtenAt - 1, writtenAt].map(at => sees(reader, series, served, at))
        const sources = formulas.sourcesOf(series.id)
        const isNew =
          !was || computed.some(one => one.series === series || sources.includes(one.series.id))
        const isInside = after.writtenAt === writtenAt && after.rank === segment.rank
        const firstAt = isNew ? ever.from : affectedFrom(firstIn(sources, changed))
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
        const lost = forgotten(segment)
        if ((!is || (isOpened && was && isNew)) && isBefore(after, lost.place)) yield lost
        yield* passedOn(series, records, after)
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
        if (!isComputed(series) || !reader.wants(series)) continue
        if (!sees(reader, series, served, now)) continue
        const moments = yield* momentsOf(formulas.sourcesOf(series.id), from - 1, to - 1)
        const all = yield* recordedIn(series, ever, moments, now, served, false)
        const rank = firstRank + series.id
        yield* passedOn(
          series,
          all.map(one => recordOf({ writtenAt: one.recordedAt, rank, series }, one)),
        )
      }
    },
  }
}

/** From when on values of a series may be others. */
function firstOf(work: Segment['work'], served: ServedHistory): number {
  if ('ranges' in work) return Math.min(...work.ranges.map(range => range.firstAt))
  const { event } = work
  if (event.kind === 'quarantined') return daysOf(event).from
  if (event.kind === 'released') return served.released(event)?.from ?? ever.to
  return isOfFormula(event) ? ever.from : ever.to
}
