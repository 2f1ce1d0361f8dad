import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { isComputed, type Series } from '../../catalogue/store/series.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { CloseStore } from '../../prices/store/closes.ts'
import type { Change, ObservationStore } from '../../prices/store/observations.ts'
import { computeSeries } from '../math/series.ts'
import type { NoValueReason } from '../math/status.ts'
import { computedReads } from './computed-reads.ts'
import { type Averaged, type Definition, define, faultOf } from './definitions.ts'
import { measureComputed } from './extents.ts'
import { isRank } from './ranks.ts'
import { type ClearDays, createRecordedViews } from './recorded-views.ts'
import { createRelations } from './relations.ts'
import { ever, stepsTo } from './views.ts'

export {
  affectedFrom,
  between,
  type Difference,
  differencesAt,
  type Moment,
  nearbyMs,
  noteMoment,
  type Range,
} from './differences.ts'
export { ever, type View } from './views.ts'

export interface FormulaDeps {
  stored: ObservationStore
  closes: CloseStore
  catalogue: Pick<
    Catalogue,
    'everything' | 'find' | 'byId' | 'contractsOf' | 'extent' | 'onReload' | 'measureBy' | 'endAt'
  >
  quarantine: ClearDays
}

export type Formulas = ReturnType<typeof createFormulas>

/**
 * Series by formula, and daily ones that have the means of delivery periods on days without a
 * recorded value. These values are not stored: `observations` and `closes` read them as those of any
 * series, computed from the values of their legs, so that whatever reads a code reads them.
 */
export function createFormulas({ stored, closes, catalogue, quarantine }: FormulaDeps) {
  const relations = createRelations(catalogue)
  const { definitions, definitionOf, isFormula, rankParts, dependentsOf, usedBy, heldBy } =
    relations

  const views = createRecordedViews(stored, catalogue, quarantine, relations)
  const { present } = views
  /** The newest values of formulas; those from a time on, if there are any, are newer. */
  const newestOnes = new Map<number, { row: Observation | undefined; knownTo: number }>()
  /** The newest values before a transaction of formulas that it has changed so far. */
  const before = new Map<number, Observation | undefined>()
  const newestOf = (seriesId: number): Observation | undefined => {
    if (isRank(seriesId)) return present.newest(seriesId, ever.to)
    const known = newestOnes.get(seriesId)
    if (known?.knownTo === ever.to) return known.row
    const row = present.newest(seriesId, ever.to, known?.knownTo) ?? known?.row
    newestOnes.set(seriesId, { row, knownTo: ever.to })
    return row
  }
  const forgetAll = () => {
    present.clear()
    newestOnes.clear()
    before.clear()
    views.forgetPast()
  }
  const forget = (seriesId: number, from = ever.from): readonly number[] => {
    const affected = heldBy(seriesId)
    present.forget(affected, from)
    for (const id of affected) {
      const known = newestOnes.get(id)
      if (!known) continue
      known.knownTo = Math.min(known.knownTo, startOfDay(from) - dayMs)
      if (known.row && known.row.observedAt >= known.knownTo) newestOnes.delete(id)
    }
    views.forgetPast()
    return dependentsOf(seriesId)
  }
  catalogue.onReload(() => {
    relations.forget()
    // Recorded values are the same under other terms.
    present.clear(id => isRank(id) || isComputed(catalogue.byId(id)))
    newestOnes.clear()
    views.forgetPast()
  })
  measureComputed(catalogue, relations, { stored, present, newestOf })

  const sourcesOf = (id: number): readonly number[] =>
    isRank(id) ? rankParts(id).map(part => part.seriesId) : [id, ...usedBy(id)]

  const computed = computedReads({
    views,
    sourcesOf,
    heldBy,
    newest: newestOf,
    firstAt: id => catalogue.extent(catalogue.byId(id))?.firstAt,
    legsOf: seriesId =>
      isRank(seriesId)
        ? rankParts(seriesId).map(part => part.seriesId)
        : namedLegs(definitionOf(seriesId)).map(({ id }) => id),
    own: stored,
    ownCloses: closes,
    stored: () => observations,
    closes: () => closeStore,
  })
  const by =
    <A extends [seriesId: number, ...rest: unknown[]], R>(
      ofStored: (...args: A) => R,
      ofFormula: (...args: A) => R,
    ) =>
    (...args: A): R =>
      isRank(args[0]) || isFormula(args[0]) ? ofFormula(...args) : ofStored(...args)
  const observations: ObservationStore = {
    ...stored,
    between: by(stored.between, computed.between),
    oldestFirst: by(stored.oldestFirst, computed.oldestFirst),
    newest: by(stored.newest, computed.newest),
    count: by(stored.count, computed.count),
    asOf: by(stored.asOf, computed.asOf),
    firstRecorded: by(stored.firstRecorded, computed.firstRecorded),
    newestAsOf: by(stored.newestAsOf, computed.newestAsOf),
    newestWrittenAt: by(stored.newestWrittenAt, computed.newestWrittenAt),
    firstRecordedAt: by(stored.firstRecordedAt, computed.firstRecordedAt),
    pointTimes: by(stored.pointTimes, computed.pointTimes),
    vintages: by(stored.vintages, computed.vintages),
    recordings: by(stored.recordings, computed.recordings),
    after: by(stored.after, computed.after),
    copy: by(stored.copy, computed.copy),
    bars: by(stored.bars, computed.bars),
    days: by(stored.days, computed.days),
  }
  const closeStore: CloseStore = {
    all: by(closes.all, computed.closes),
    dated: by(closes.dated, () => []),
    daysRevisedSince: by(closes.daysRevisedSince, computed.daysAsOf),
    daysEverRevised: by(closes.daysEverRevised, computed.daysFirst),
    revisedAt: by(closes.revisedAt, computed.revisedAt),
  }

  return {
    observations,
    closes: closeStore,
    /** Makes a formula ready. Throws a `FormulaFault`. */
    define,
    /** Checks a formula of a series; undefined: it has no fault. */
    faultOf,
    /**
     * The series of delivery periods of which a value is the daily mean; undefined: the value is
     * recorded or by formula.
     */
    averagedFor({ id }: Pick<Series, 'id'>, { observedAt, recordedAt }: Observation) {
      const definition = definitionOf(id)
      if (!definition || !('averages' in definition)) return undefined
      const isOwn = stored.vintages(id, observedAt).some(own => own.recordedAt === recordedAt)
      return isOwn ? undefined : definition.series[0]
    },
    /** The series that its text names; none where they are not as it needs them any more. */
    legsOf: (seriesId: number) => namedLegs(definitionOf(seriesId)),
    /**
     * The newest values of a formula that no series has, oldest first, at least `limit` of them if
     * the range has as many, with the series that its text names.
     */
    preview(
      definition: Definition,
      {
        from,
        to,
        limit,
        asOf,
      }: { from: number; to: number; limit: number; asOf?: number | undefined },
    ) {
      const { compiled, align, limitsMs, series } = definition
      const view = views.alone(asOf).upTo(to)
      const inputs = series.map(({ id }) => view.inputOf(id))
      let rows: Observation[] = []
      let end = to
      let noValueReason: NoValueReason = 'no_times'
      const onTry = () => {
        if (noValueReason === 'no_times') noValueReason = 'no_value'
      }
      const onZeroDivisor = () => {
        noValueReason = 'division_by_zero'
      }
      const asked = { align, inputs, limitsMs, onTry, onZeroDivisor }
      for (const begin of stepsTo(to, from)) {
        const earlier = computeSeries(compiled, { ...asked, from: begin, to: end })
        rows = earlier.concat(rows)
        if (rows.length >= limit) break
        end = begin
      }
      const { currency, unit } = compiled
      const reason = rows.length === 0 ? noValueReason : null
      return { rows, noValueReason: reason, legs: namedLegs(definition), currency, unit }
    },
    /** The series that a formula is computed from, over any number of levels. */
    restsOn(seriesId: number): readonly number[] {
      const definition = definitionOf(seriesId)
      return !definition || 'averages' in definition ? [] : [...usedBy(seriesId)]
    },
    /** The series whose recorded values a series follows from: itself, and those it is computed from. */
    sourcesOf,
    /** Values as they were known at a moment that moves on; `clear` leaves out those not served. */
    viewAt: views.at,
    heldBy,
    /** Series by formula that use a series, each after those that it uses. */
    dependentsOf,
    /** Forgets cached values of a series; returns the series by formula that are affected. */
    forget,
    forgetAll,
    /** Before a transaction writes values of series: computes what their formulas have without them. */
    prepare(seriesIds: Iterable<number>) {
      for (const id of [...seriesIds].flatMap(heldBy)) if (isFormula(id)) newestOf(id)
    },
    /**
     * Inside a transaction, with the first time of each series that it has changed: what these changes
     * are to computed series, whose newest values alone are news. Those of a part count with the next
     * ones that are none. The mean that a removed value leaves is news as well.
     */
    changesBy(
      firstChanged: ReadonlyMap<number, number>,
      isPart = false,
      isRemoved = false,
    ): Change[] {
      const ids = [...firstChanged.keys()]
        .flatMap(heldBy)
        .filter(id => isFormula(id) && (isRemoved || !firstChanged.has(id)))
      for (const id of ids) if (!before.has(id)) before.set(id, newestOnes.get(id)?.row)
      if (ids.length > 0) for (const [seriesId, from] of firstChanged) forget(seriesId, from)
      if (isPart || before.size === 0) return []
      const changes = [...definitions().keys()]
        .filter(id => before.has(id))
        .flatMap(id => changeOf(id, before.get(id), newestOf(id)))
      // Only what is newer than all before it is news.
      for (const { seriesId: id } of changes) catalogue.endAt(id, before.get(id)?.observedAt)
      before.clear()
      return changes
    },
  }
}

function changeOf(
  seriesId: number,
  before: Observation | undefined,
  after: Observation | undefined,
): Change[] {
  if (!after || (before && after.observedAt < before.observedAt)) return []
  if (!before || after.observedAt > before.observedAt)
    return [{ seriesId, inserted: [after], revised: [], replaced: [], reborn: [] }]
  if (after.value === before.value) return []
  return [{ seriesId, inserted: [], revised: [after], replaced: [before.value], reborn: [] }]
}

function namedLegs(definition: Definition | Averaged | undefined): readonly Series[] {
  if (!definition || 'averages' in definition) return definition?.series ?? []
  return definition.series.filter(({ code }) => definition.compiled.named.includes(code))
}
