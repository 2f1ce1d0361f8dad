import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import { isIntraday } from '../../catalogue/math/catalogue.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { isComputed, type Series } from '../../catalogue/store/series.ts'
import { dailyMeans } from '../../delivery/math/daily-means.ts'
import { barsOf, type Observation } from '../../prices/math/bars.ts'
import type { CloseStore } from '../../prices/store/closes.ts'
import type { Change, ObservationStore } from '../../prices/store/observations.ts'
import { createCompiler } from '../math/compile.ts'
import { computeSeries } from '../math/series.ts'
import {
  type Averaged,
  type Definition,
  define,
  definitionsOf,
  type FormulaTerms,
  faultOf,
} from './definitions.ts'
import { familyIdOf, isRank, partsOf, type RankPart } from './ranks.ts'
import { createView, ever, type StoredReads, stepsTo, type View } from './views.ts'

export { ever } from './views.ts'

export interface FormulaDeps {
  stored: ObservationStore
  closes: CloseStore
  catalogue: Pick<
    Catalogue,
    'everything' | 'find' | 'byId' | 'contractsOf' | 'extent' | 'onReload' | 'measureBy' | 'endAt'
  >
  quarantine: {
    clear(seriesId: number, from: number, to: number): readonly { from: number; to: number }[]
  }
}

export type Formulas = ReturnType<typeof createFormulas>

const rowsMax = 1_000_000_000
/** At the end of a series: longer than two market days and a weekend with holidays. */
const edgeMs = 6 * dayMs
/** Moments of which values stay in memory: as of them, and before them. */
const viewsMax = 4

type Recorded = Pick<StoredReads, 'read' | 'newest'>

/**
 * Series by formula, and daily ones that have the means of delivery periods on days without a
 * recorded value. These values are not stored: `observations` and `closes` read them as those of any
 * series, computed from the values of their legs, so that whatever reads a code reads them.
 */
export function createFormulas({ stored, closes, catalogue, quarantine }: FormulaDeps) {
  const compile = createCompiler()
  let known: ReturnType<typeof definitionsOf> | undefined
  let relations: ReturnType<typeof relationsOf> = {
    uses: new Map(),
    dependents: new Map(),
    ranks: new Map(),
  }
  const parts = new Map<number, RankPart[]>()
  const rankParts = (rankId: number): readonly RankPart[] => {
    const known = parts.get(rankId)
    if (known) return known
    const family = catalogue.byId(familyIdOf(rankId))
    const made = partsOf(rankId, catalogue.contractsOf(family))
    parts.set(rankId, made)
    return made
  }
  const definitions = () => {
    if (known) return known
    parts.clear()
    known = definitionsOf(catalogue, compile)
    relations = relationsOf(known, id => rankParts(id).map(({ seriesId }) => seriesId))
    return known
  }
  const isFormula = (seriesId: number) => definitions().has(seriesId)
  const definitionOf = (seriesId: number) => definitions().get(seriesId)
  const dependentsOf = (seriesId: number): readonly number[] => {
    definitions()
    return relations.dependents.get(seriesId) ?? []
  }

  /** The series that one is computed from, over any number of levels. */
  const usedBy = (seriesId: number): Iterable<number> => {
    definitions()
    return relations.uses.get(seriesId) ?? []
  }

  /** A series with all that is computed from it. */
  const heldBy = (seriesId: number): readonly number[] => [
    seriesId,
    ...dependentsOf(seriesId),
    ...(relations.ranks.get(seriesId) ?? []),
  ]

  const isClear = (seriesId: number, rows: Observation[]): Observation[] => {
    const stretches = quarantine.clear(seriesId, ever.from, ever.to)
    if (stretches.length === 1) return rows
    return rows.filter(({ observedAt }) =>
      stretches.some(({ from, to }) => from <= observedAt && observedAt < to),
    )
  }
  const viewOf = ({ read, newest }: Recorded, clear: typeof isClear = isClear) => {
    const readClear = (seriesId: number, from: number, to: number) =>
      clear(seriesId, read(seriesId, from, to))
    /** The rows of a rank are those of its contracts, each on the days on which it has the rank. */
    const readRank = (rankId: number, from: number, to: number) =>
      rankParts(rankId).flatMap(part => {
        const [begin, end] = [Math.max(from, part.from), Math.min(to, part.to)]
        return begin < end ? readClear(part.seriesId, begin, end) : []
      })
    const newestOfRank = (rankId: number, to: number) => {
      for (const part of rankParts(rankId).toReversed()) {
        const row = part.from < to ? newest(part.seriesId, Math.min(to, part.to)) : undefined
        if (row && row.observedAt >= part.from) return row
      }
      return undefined
    }
    return createView(definitionOf, isFormula, usedBy, {
      read: (id, from, to) => (isRank(id) ? readRank : readClear)(id, from, to),
      newest: (id, to) => (isRank(id) ? newestOfRank : newest)(id, to),
      clear: (id, rows) => (isRank(id) ? rows : clear(id, rows)),
      isIntraday: id => !isRank(id) && isIntraday(catalogue.byId(id).cadence),
    })
  }
  /** Recorded values as they were known at a moment. */
  const recordedBy = (asOf: () => number): Recorded => ({
    read: (id, from, to) => stored.asOf(id, from, to, asOf(), rowsMax).reverse(),
    newest: (id, to) => stored.newestAsOf(id, to, asOf()),
  })
  const recorded = { read: stored.oldestFirst, newest: stored.newest }
  const present = viewOf(recorded)
  const first = viewOf({
    read: (id, from, to) => stored.firstRecorded(id, from, to, rowsMax).reverse(),
    newest: (id, to) => stored.firstRecorded(id, ever.from, to, 1)[0],
  })
  /** The views that were used last, of a moment each. */
  const few = (make: (moment: number) => View) => {
    const views = new Map<number, View>()
    return {
      of(moment: number): View {
        const view = views.get(moment) ?? make(moment)
        views.delete(moment)
        views.set(moment, view)
        if (views.size > viewsMax) views.delete(views.keys().next().value!)
        return view
      },
      clear: () => views.clear(),
    }
  }
  const past = few(asOf => viewOf(recordedBy(() => asOf)))
  const earlier = few(present.upTo)
  /** The newest values of formulas; those from a time on, if there are any, are newer. */
  const newestOnes = new Map<number, { row: Observation | undefined; knownTo: number }>()
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
    first.clear()
    past.clear()
    earlier.clear()
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
    first.clear()
    past.clear()
    earlier.clear()
    return dependentsOf(seriesId)
  }
  catalogue.onReload(() => {
    known = undefined
    // Recorded values are the same under other terms.
    present.clear(id => isRank(id) || isComputed(catalogue.byId(id)))
    newestOnes.clear()
    first.clear()
    past.clear()
    earlier.clear()
  })
  /** From a few days at both ends: a history of periods is long. */
  const reachOfMeans = (seriesId: number) => {
    const definition = definitionOf(seriesId)
    const means = (from: number, to: number) => {
      if (!definition || !('averages' in definition)) return []
      const {
        averages,
        isCounted,
        series: [leg],
      } = definition
      return dailyMeans(averages, isClear(leg.id, stored.oldestFirst(leg.id, from, to)), isCounted)
    }
    const reach = definition && catalogue.extent(definition.series[0]!)
    const known = [
      stored.after(seriesId, ever.from, 1)[0],
      stored.newest(seriesId, ever.to),
      ...(reach ? means(reach.firstAt, reach.firstAt + edgeMs) : []),
      ...(reach ? means(reach.lastAt - edgeMs, ever.to) : []),
    ].flatMap(row => row?.observedAt ?? [])
    return known.length === 0
      ? undefined
      : { firstAt: Math.min(...known), lastAt: Math.max(...known) }
  }
  catalogue.measureBy(series => {
    if (series.averageOf !== undefined) return { extent: reachOfMeans(series.id) }
    if (series.terms?.formula === undefined) return undefined
    const [begin, newest] = [beginOf(series.id), newestOf(series.id)]
    if (begin === undefined || !newest) return { extent: undefined }
    let oldest: number | undefined
    return {
      extent: {
        // It takes longer to find, and most reads of an extent are for its end.
        get firstAt() {
          oldest ??= present.oldest(series.id, begin)?.observedAt ?? begin
          return oldest
        },
        lastAt: newest.observedAt,
      },
    }
  })
  /** The oldest value of a leg of a formula. */
  const beginOf = (
    seriesId: number,
    known = new Map<number, number | undefined>(),
  ): number | undefined => {
    const definition = definitionOf(seriesId)
    if (!definition || !('compiled' in definition)) return undefined
    const begins = definition.series.flatMap(leg => {
      if (!definition.compiled.legs.includes(leg.code)) return []
      if (!known.has(leg.id)) known.set(leg.id, beginOfLeg(leg, known))
      return known.get(leg.id) ?? []
    })
    return begins.length === 0 ? undefined : Math.min(...begins)
  }
  const beginOfLeg = (leg: Series, known: Map<number, number | undefined>): number | undefined => {
    if (isRank(leg.id))
      return rankParts(leg.id).flatMap(part => stored.after(part.seriesId, part.from - 1, 1))[0]
        ?.observedAt
    return beginOf(leg.id, known) ?? catalogue.extent(leg)?.firstAt
  }

  const computed = computedReads({
    present,
    first,
    asOfView: past.of,
    earlierView: earlier.of,
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
    define: (terms: FormulaTerms, find: (name: string) => Series | undefined) =>
      define(terms, find, compile),
    /** Checks a formula of a series; undefined: it has no fault. */
    faultOf: (code: string, terms: FormulaTerms, find: (name: string) => Series | undefined) =>
      faultOf(code, terms, find, compile),
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
     * Values are read for this alone: no change of them would forget what is held here.
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
      const view = viewOf(asOf === undefined ? recorded : recordedBy(() => asOf)).upTo(to)
      const inputs = series.map(({ id }) => view.inputOf(id))
      let rows: Observation[] = []
      let end = to
      for (const begin of stepsTo(to, from)) {
        const earlier = computeSeries(compiled, { align, inputs, limitsMs, from: begin, to: end })
        rows = earlier.concat(rows)
        if (rows.length >= limit) break
        end = begin
      }
      return { rows, legs: namedLegs(definition) }
    },
    /** The series that a formula is computed from, over any number of levels. */
    restsOn(seriesId: number): readonly number[] {
      const definition = definitionOf(seriesId)
      return !definition || 'averages' in definition ? [] : [...relations.uses.get(seriesId)!]
    },
    /** Values as they were known at a moment that moves on, without those that are not clear then. */
    viewAt: (at: () => number, isClearAt: (seriesId: number, row: Observation) => boolean) =>
      viewOf(recordedBy(at), (id, rows) => rows.filter(row => isClearAt(id, row))),
    heldBy,
    /** Series by formula that use a series, each after those that it uses. */
    dependentsOf,
    /** Forgets cached values of a series; returns the series by formula that are affected. */
    forget,
    forgetAll,
    /** Before a transaction writes values of series: computes what their formulas have without them. */
    prepare(seriesIds: Iterable<number>) {
      for (const seriesId of seriesIds) for (const id of dependentsOf(seriesId)) newestOf(id)
    },
    /**
     * Inside a transaction: what its changes are to series by formula, whose newest values alone
     * are news.
     */
    changesBy(changes: readonly Change[]): Change[] {
      const ids = new Set(changes.flatMap(({ seriesId }) => dependentsOf(seriesId)))
      if (ids.size === 0) return []
      const written = new Set(changes.map(({ seriesId }) => seriesId))
      const ordered = [...definitions().keys()].filter(id => ids.has(id) && !written.has(id))
      const before = ordered.map(id => newestOnes.get(id)?.row)
      // Only what is newer than all before it is news.
      for (const [i, id] of ordered.entries()) catalogue.endAt(id, before[i]?.observedAt)
      for (const { seriesId, inserted, revised } of changes) {
        const from = Math.min(inserted[0]?.observedAt ?? ever.to, revised[0]?.observedAt ?? ever.to)
        forget(seriesId, from)
      }
      return ordered.flatMap((seriesId, i) => changeOf(seriesId, before[i], newestOf(seriesId)))
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

/** The series that each formula uses, and the formulas that use a series, over any number of levels. */
function relationsOf(
  definitions: ReadonlyMap<number, Definition | Averaged | undefined>,
  contractsOf: (rankId: number) => readonly number[],
) {
  const dependents = new Map<number, number[]>()
  /** Ranks by the contracts that they read. */
  const ranks = new Map<number, Set<number>>()
  const uses = new Map<number, Set<number>>()
  for (const [id, definition] of definitions) {
    const own = new Set<number>()
    for (const { id: leg } of definition?.series ?? []) {
      if (!isRank(leg)) own.add(leg)
      for (const contract of isRank(leg) ? contractsOf(leg) : []) {
        own.add(contract)
        ranks.set(contract, (ranks.get(contract) ?? new Set()).add(leg))
      }
      for (const below of uses.get(leg) ?? []) own.add(below)
    }
    uses.set(id, own)
    for (const leg of own) {
      const known = dependents.get(leg)
      if (known) known.push(id)
      else dependents.set(leg, [id])
    }
  }
  return { uses, dependents, ranks }
}

interface ComputedDeps {
  present: View
  /** The values that were first recorded. */
  first: View
  asOfView(asOf: number): View
  /** The values before a time. */
  earlierView(before: number): View
  newest(seriesId: number): Observation | undefined
  firstAt(seriesId: number): number | undefined
  legsOf(seriesId: number): readonly number[]
  stored(): ObservationStore
  closes(): CloseStore
  /** Recorded values of a series; a series by formula has none. */
  own: ObservationStore
  ownCloses: CloseStore
}

/** The reads of a store over values that are computed. */
function computedReads(deps: ComputedDeps) {
  const { present, first, asOfView, legsOf, stored, closes, own, ownCloses } = deps
  const isBorn =
    (bornBy = ever.to) =>
    (row: Observation) =>
      row.recordedAt <= bornBy
  const oldestFirst = (id: number, from: number, to: number, bornBy?: number) =>
    present.between(id, from, to).filter(isBorn(bornBy))
  const newestFirstOf =
    (view: View) => (id: number, from: number, to: number, limit: number, bornBy?: number) =>
      limit < 1 ? [] : view.last(id, from, to, limit, isBorn(bornBy)).slice(-limit).reverse()
  const daysOf = (all: readonly Observation[]) =>
    all.map(({ observedAt }) => startOfDay(observedAt))
  const latestOf = (times: readonly (number | undefined)[]): number | undefined => {
    const found = times.flatMap(at => (at === undefined ? [] : [at]))
    return found.length === 0 ? undefined : Math.max(...found)
  }
  return {
    between: newestFirstOf(present),
    oldestFirst,
    newest(id: number, before: number) {
      const newest = deps.newest(id)
      return newest && newest.observedAt >= before
        ? deps.earlierView(before).newest(id, before)
        : newest
    },
    count: (id: number, from: number, to: number, bornBy?: number) =>
      oldestFirst(id, from, to, bornBy).length,
    asOf: (id: number, from: number, to: number, asOf: number, limit: number) =>
      newestFirstOf(asOfView(asOf))(id, from, to, limit),
    firstRecorded: newestFirstOf(first),
    newestAsOf: (id: number, before: number, asOf: number) => asOfView(asOf).newest(id, before),
    newestWrittenAt: (id: number) =>
      latestOf([own.newestWrittenAt(id), ...legsOf(id).map(leg => stored().newestWrittenAt(leg))]),
    /** Means were there before the first recorded value. */
    firstRecordedAt(id: number) {
      const ofLegs = latestOf(legsOf(id).map(leg => stored().firstRecordedAt(leg)))
      const ofOwn = own.firstRecordedAt(id)
      return ofOwn === undefined || ofLegs === undefined
        ? (ofOwn ?? ofLegs)
        : Math.min(ofOwn, ofLegs)
    },
    pointTimes: (id: number, from: number, to: number, limit: number) =>
      oldestFirst(id, from, to)
        .slice(0, limit)
        .map(({ observedAt }) => observedAt),
    vintages(id: number, observedAt: number) {
      const recorded = own.vintages(id, observedAt)
      if (recorded.length > 0) return recorded
      return oldestFirst(id, observedAt, observedAt + 1).map(({ value, recordedAt }) => ({
        value,
        recordedAt,
        replacedAt: undefined,
        sourceId: 0,
        batchId: 0,
      }))
    },
    recordings: (id: number, from: number, to: number) =>
      oldestFirst(id, ever.from, ever.to)
        .filter(({ recordedAt }) => from <= recordedAt && recordedAt < to)
        .toSorted((a, b) => a.recordedAt - b.recordedAt),
    after(id: number, after: number, limit: number) {
      const lastAt = deps.newest(id)?.observedAt ?? ever.from
      let from = Math.max(after + 1, deps.firstAt(id) ?? ever.from)
      let rows: Observation[] = []
      if (from > lastAt) return rows
      for (const end of stepsTo(from, lastAt + 1)) {
        rows = rows.concat(oldestFirst(id, from, end))
        if (rows.length >= limit) break
        from = end
      }
      return rows.slice(0, limit)
    },
    copy(
      id: number,
      from: number,
      to: number,
      into: Parameters<ObservationStore['copy']>[3],
      point?: { asOf: number; isCovered: boolean },
    ) {
      const view = !point ? present : point.isCovered ? asOfView(point.asOf) : first
      const part = view.between(id, from, to).slice(0, into.value.length)
      for (const [i, { observedAt, value, recordedAt }] of part.entries()) {
        into.observedAt[i] = observedAt
        into.value[i] = value
        into.recordedAt[i] = recordedAt
      }
      return part.length
    },
    bars: (id: number, span: 1 | 24, from: number, to: number, limit: number, bornBy?: number) => {
      const interval = span === 1 ? 'hour' : 'day'
      const lengthMs = span === 1 ? dayMs / 24 : dayMs
      const bars = barsOf(interval, oldestFirst(id, from, to + lengthMs, bornBy))
      return bars
        .filter(({ startsAt }) => from <= startsAt && startsAt < to)
        .reverse()
        .slice(0, limit)
    },
    days: (id: number, bornBy?: number, from = ever.from) =>
      barsOf('day', oldestFirst(id, from, ever.to, bornBy)).map(bar => ({
        startsAt: bar.startsAt,
        count: bar.count,
        hours: bar.hours,
        recordedAt: bar.recordedAt,
      })),
    closes: (id: number, from = ever.from) =>
      present
        .closes(id, from)
        .map(({ observedAt, value }) => ({ startsAt: startOfDay(observedAt), value })),
    daysAsOf: (id: number, asOf: number, from = ever.from) =>
      daysOf(asOfView(asOf).closes(id, from)),
    daysFirst: (id: number, from = ever.from) => daysOf(first.closes(id, from)),
    revisedAt: (id: number, from: number, to: number, by?: number) =>
      latestOf([
        ownCloses.revisedAt(id, from, to, by),
        ...legsOf(id).map(leg => closes().revisedAt(leg, from, to, by)),
      ]),
  }
}
