import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { ever, type Formulas } from '../../formulas/service/formulas.ts'

import type { Observation } from '../../prices/math/bars.ts'
import type { Withheld } from '../../prices/store/withheld.ts'
import { isBefore, type Place } from '../math/cursor.ts'
import type { ChangeLogStore } from '../store/log.ts'
import { daysOf, isSeen, type ServedHistory } from './history.ts'
import {
  type ChangeReader,
  type ChangeRecord,
  forgotten,
  isOfFormula,
  type Segment,
} from './segments.ts'

export interface DerivedDeps {
  log: Pick<ChangeLogStore, 'lastBefore'>
  formulas: Pick<Formulas, 'dependentsOf' | 'heldBy' | 'restsOn' | 'viewAt'>
  catalogue: Pick<Catalogue, 'byId' | 'onReload'>
  withheld: Withheld
  /** The batch of the first value of a segment; 0: unknown. */
  batchOf(segment: Segment): number
}

type View = ReturnType<Formulas['viewAt']>

/** A value of a formula that a transaction has changed. */
interface Difference {
  observedAt: number
  before: number | undefined
  after: number | undefined
}

/** Records of formulas come after those of the series that were written: there are never as many. */
const firstRank = 800_000
/** Transactions and formulas of which differences stay in memory, for readers that follow. */
const knownMax = 1_000
const keptEach = 1_000

/** What transactions did to series by formula, whose values are nowhere stored. */
export function createDerivedChanges(deps: DerivedDeps) {
  const { log, formulas, catalogue, withheld, batchOf } = deps
  const known = new Map<string, readonly Difference[]>()
  /** The values as they were known after a transaction; readers mostly read one after the other. */
  let state: { at: number; served: ServedHistory; view: View } | undefined
  catalogue.onReload(() => {
    state = undefined
    known.clear()
  })

  const stateAt = (at: number, served: ServedHistory) => {
    const made = { at, served, view: undefined as never as View }
    made.view = formulas.viewAt(
      () => made.at,
      (seriesId, { observedAt }) =>
        !made.served
          .hidden(seriesId, made.at)
          .some(({ from, to }) => from <= observedAt && observedAt < to),
    )
    return made
  }

  /** The differences of formulas, whose legs have changed from the given times on. */
  const differencesOf = (
    writtenAt: number,
    changed: ReadonlyMap<number, number>,
    wanted: readonly Series[],
    served: ServedHistory,
  ) => {
    const keyOf = (id: number) => `${writtenAt} ${id}`
    const found = new Map(wanted.map(({ id }) => [id, known.get(keyOf(id))]))
    const missing = wanted.filter(({ id }) => !found.get(id))
    const isNext =
      state !== undefined &&
      state.at < writtenAt &&
      (log.lastBefore(writtenAt - 1) ?? state.at) <= state.at
    if (!isNext && missing.length > 0) state = stateAt(writtenAt - 1, served)
    if (!state || (!isNext && missing.length === 0)) return found
    const { view } = state
    state.served = served
    const rowsOf = ({ id }: Series) => view.between(id, ever.from, ever.to)
    const before = missing.map(rowsOf)
    state.at = writtenAt
    for (const [seriesId, from] of changed) view.forget(formulas.heldBy(seriesId), from)
    for (const [i, series] of missing.entries()) {
      const { id } = series
      const differences = between(before[i]!, rowsOf(series))
      found.set(id, differences)
      if (differences.length < keptEach) known.set(keyOf(id), differences)
    }
    for (const key of [...known.keys()].slice(0, -knownMax)) known.delete(key)
    return found
  }

  return {
    /** The records of a transaction after a place. */
    *of(
      segments: readonly Segment[],
      reader: ChangeReader,
      served: ServedHistory,
      after: Place,
    ): Generator<ChangeRecord> {
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
      const sees = (series: Series, at: number) =>
        isSeen(served.audience(series, at), reader.viewer) &&
        formulas.restsOn(series.id).every(id => {
          const audience = served.audience(catalogue.byId(id), at)
          return isSeen({ ...audience, isServed: true }, reader.viewer)
        })
      const wanted = [...new Set(ids)]
        .sort((a, b) => a - b)
        .map(catalogue.byId)
        .filter(
          series =>
            series.terms?.formula !== undefined || computed.some(one => one.series === series),
        )
        .filter(series => reader.wants(series))
        .filter(series => sees(series, writtenAt - 1) || sees(series, writtenAt))
      // Values that were recorded for the past may have been read before their transaction.
      const isBackdated = segments.some(
        ({ work }) => 'ranges' in work && work.ranges.some(range => range.recordedFrom < writtenAt),
      )
      const differences = differencesOf(writtenAt, changed, wanted, served)
      const [source] = segments.filter(({ work }) => 'ranges' in work)
      for (const series of wanted) {
        const segment = { writtenAt, rank: firstRank + series.id, series }
        const [was, is] = [sees(series, writtenAt - 1), sees(series, writtenAt)]
        const isNew =
          isBackdated ||
          computed.some(
            ({ series: { id } }) => id === series.id || formulas.restsOn(series.id).includes(id),
          )
        const records = !is
          ? [forgotten(segment)]
          : was && !isNew
            ? (differences.get(series.id) ?? []).map(difference =>
                recordOf(segment, difference, {
                  batchId: source ? batchOf(source) : 0,
                  isRetroactive: !source && difference.after === undefined,
                }),
              )
            : [
                ...(was ? [forgotten(segment)] : []),
                ...shownRows(
                  segment,
                  stateAt(writtenAt, served).view.between(series.id, ever.from, ever.to),
                ),
              ]
        const left = withheld(series.id)
        for (const record of records) {
          const isLeft = record.observedAt !== undefined && left?.has(record.observedAt)
          if (!isLeft && isBefore(after, record.place)) yield record
        }
      }
    },
  }
}

type Derived = Pick<Segment, 'writtenAt' | 'rank' | 'series'>

const recordOf = (
  { writtenAt, rank, series }: Derived,
  { observedAt, before, after }: Difference,
  about: Pick<ChangeRecord, 'batchId' | 'isRetroactive'>,
): ChangeRecord => ({
  place: { writtenAt, rank, observedAt, recordedAt: writtenAt },
  kind: after === undefined ? 'deleted' : before === undefined ? 'added' : 'revised',
  series,
  observedAt,
  value: after,
  previous: before,
  sourceId: 0,
  recordedAt: writtenAt,
  ...about,
})

/** Every value of a formula that becomes visible, each with its own instant. */
const shownRows = (segment: Derived, rows: readonly Observation[]): ChangeRecord[] =>
  rows.map(({ observedAt, value, recordedAt }) => {
    const difference = { observedAt, before: undefined, after: value }
    const record = recordOf(segment, difference, { batchId: 0, isRetroactive: true })
    return { ...record, recordedAt: Math.min(recordedAt, segment.writtenAt) }
  })

/** From when on values of a series may be others. */
function firstOf(work: Segment['work'], served: ServedHistory): number {
  if ('ranges' in work) return Math.min(...work.ranges.map(range => range.firstAt))
  const { event } = work
  if (event.kind === 'quarantined') return daysOf(event).from
  if (event.kind === 'released') return served.released(event)?.from ?? ever.to
  return isOfFormula(event) ? ever.from : ever.to
}

/** Where two lists of values, oldest first, are not the same. */
function between(before: readonly Observation[], after: readonly Observation[]): Difference[] {
  const differences: Difference[] = []
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const [was, is] = [before[i], after[j]]
    const at = Math.min(was?.observedAt ?? ever.to, is?.observedAt ?? ever.to)
    const old = was?.observedAt === at ? was.value : undefined
    const value = is?.observedAt === at ? is.value : undefined
    if (was?.observedAt === at) i += 1
    if (is?.observedAt === at) j += 1
    if (old !== value) differences.push({ observedAt: at, before: old, after: value })
  }
  return differences
}
