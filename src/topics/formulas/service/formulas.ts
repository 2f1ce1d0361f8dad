import { firstNotBefore } from '../../../lib/sorted.ts'
import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { dailyMeans } from '../../delivery/math/daily-means.ts'
import { barsOf, type Observation } from '../../prices/math/bars.ts'
import type { CloseStore } from '../../prices/store/closes.ts'
import type { Change, ObservationStore } from '../../prices/store/observations.ts'
import { createInput } from '../math/input.ts'
import { computeSeries } from '../math/series.ts'
import { type Averaged, type Definition, definitionsOf } from './definitions.ts'
import { familyIdOf, isRank, partsOf, type RankPart } from './ranks.ts'
import { createView, firstSpanMs, type ReadStored, type View } from './views.ts'

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

/** All of time. */
export const ever = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }
const rowsMax = 1_000_000_000
/** At the end of a series: longer than two market days and a weekend with holidays. */
const edgeMs = 6 * dayMs
/** Moments of the past of which values stay in memory. */
const pastViewsMax = 4

/**
 * Series by formula, and daily ones that have the means of delivery periods on days without a
 * recorded value. These values are not stored: `observations` and `closes` read them as those of any
 * series, computed from the values of their legs, so that whatever reads a code reads them.
 */
export function createFormulas({ stored, closes, catalogue, quarantine }: FormulaDeps) {
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
    known = definitionsOf(catalogue)
    relations = relationsOf(known, id => rankParts(id).map(({ seriesId }) => seriesId))
    return known
  }
  const isFormula = (seriesId: number) => definitions().has(seriesId)
  const definitionOf = (seriesId: number) => definitions().get(seriesId)
  const dependentsOf = (seriesId: number): readonly number[] => {
    definitions()
    return relations.dependents.get(seriesId) ?? []
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
  const viewOf = (read: ReadStored, clear: typeof isClear = isClear) => {
    /** The rows of a rank are those of its contracts, each on the days on which it has the rank. */
    const readRank = (rankId: number, from: number) =>
      rankParts(rankId).flatMap(part => {
        if (part.to <= from) return []
        const rows = clear(part.seriesId, read(part.seriesId, Math.max(from, part.from)))
        return rows.filter(({ observedAt }) => observedAt < part.to)
      })
    return createView(
      definitionOf,
      isFormula,
      (id, from) => (isRank(id) ? readRank(id, from) : read(id, from)),
      (id, rows) => (isRank(id) ? rows : clear(id, rows)),
    )
  }
  /** Recorded values, now or as they were known at a moment. */
  const recorded =
    (asOf: number | undefined): ReadStored =>
    (id, from) =>
      asOf === undefined
        ? stored.oldestFirst(id, from, ever.to)
        : stored.asOf(id, from, ever.to, asOf, rowsMax).reverse()
  const present = viewOf(recorded(undefined))
  const first = viewOf((id, from) => stored.firstRecorded(id, from, ever.to, rowsMax).reverse())
  const past = new Map<number, View>()
  const asOfView = (asOf: number): View => {
    const view = past.get(asOf) ?? viewOf(recorded(asOf))
    past.delete(asOf)
    past.set(asOf, view)
    if (past.size > pastViewsMax) past.delete(past.keys().next().value!)
    return view
  }
  /** The newest values of formulas, which are needed far more often than their histories. */
  const newestOnes = new Map<number, Observation | undefined>()
  const newestOf = (seriesId: number): Observation | undefined => {
    if (isRank(seriesId)) return present.newest(seriesId, Number.MAX_SAFE_INTEGER)
    if (!newestOnes.has(seriesId))
      newestOnes.set(seriesId, present.newest(seriesId, Number.MAX_SAFE_INTEGER))
    return newestOnes.get(seriesId)
  }
  const forgetAll = () => {
    present.clear()
    newestOnes.clear()
    first.clear()
    past.clear()
  }
  const forget = (seriesId: number, from = Number.MIN_SAFE_INTEGER): readonly number[] => {
    const ids = dependentsOf(seriesId)
    if (ids.length === 0 && !isFormula(seriesId)) return ids
    for (const id of heldBy(seriesId)) {
      present.forget(id, from)
      newestOnes.delete(id)
    }
    first.clear()
    past.clear()
    return ids
  }
  catalogue.onReload(() => {
    known = undefined
    forgetAll()
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
    const [oldest, newest] = [present.oldest(series.id), newestOf(series.id)]
    return { extent: oldest && newest && { firstAt: oldest.observedAt, lastAt: newest.observedAt } }
  })

  const computed = computedReads({
    rows: (id, from = ever.from, to = ever.to) => present.between(id, from, to),
    rowsAsOf: (id, asOf, from = ever.from, to = ever.to) => asOfView(asOf).between(id, from, to),
    rowsFirst: (id, from = ever.from, to = ever.to) => first.between(id, from, to),
    newestAsOf: (id, before, asOf) => asOfView(asOf).newest(id, before),
    newest: (seriesId, before) => {
      const newest = newestOf(seriesId)
      return newest && newest.observedAt >= before ? present.newest(seriesId, before) : newest
    },
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
     * Recorded values are read for this alone: no change of them would forget what is held here.
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
      const held = asOf === undefined ? present : asOfView(asOf)
      const read = viewOf(recorded(asOf))
      const inputOf = ({ id }: Series) =>
        (isFormula(id) || held.isValid(id) ? held : read).inputOf(id)
      const inputs = series.map(inputOf)
      let rows: Observation[] = []
      let end = to
      for (let spanMs = firstSpanMs; end > from && rows.length < limit; spanMs *= 4) {
        const begin = Math.max(from, end - spanMs)
        const earlier = computeSeries(compiled, { align, inputs, limitsMs, from: begin, to: end })
        rows = earlier.concat(rows)
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
      viewOf(
        (id, from) => recorded(at())(id, from),
        (id, rows) => rows.filter(row => isClearAt(id, row)),
      ),
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
      const before = ordered.map(id => newestOnes.get(id))
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
  /** At least the values of a range; without one, all. */
  rows(seriesId: number, from?: number, to?: number): readonly Observation[]
  rowsAsOf(seriesId: number, asOf: number, from?: number, to?: number): readonly Observation[]
  rowsFirst(seriesId: number, from?: number, to?: number): readonly Observation[]
  newestAsOf(seriesId: number, before: number, asOf: number): Observation | undefined
  newest(seriesId: number, before: number): Observation | undefined
  legsOf(seriesId: number): readonly number[]
  stored(): ObservationStore
  closes(): CloseStore
  /** Recorded values of a series; a series by formula has none. */
  own: ObservationStore
  ownCloses: CloseStore
}

/** The reads of a store over values that are computed. */
function computedReads(deps: ComputedDeps) {
  const { rows, rowsAsOf, rowsFirst, legsOf, stored, closes, own, ownCloses } = deps
  const within = (all: readonly Observation[], from: number, to: number, bornBy = ever.to) => {
    const part = all.slice(placeOf(all, from), placeOf(all, to))
    return bornBy === ever.to ? part : part.filter(row => row.recordedAt <= bornBy)
  }
  const newestFirst = (part: Observation[], limit: number) =>
    (part.length > limit ? part.slice(-limit) : part).reverse()
  const daysOf = (all: readonly Observation[]) =>
    createInput(all)
      .closes()
      .map(({ observedAt }) => startOfDay(observedAt))
  const latestOf = (times: readonly (number | undefined)[]): number | undefined => {
    const found = times.flatMap(at => (at === undefined ? [] : [at]))
    return found.length === 0 ? undefined : Math.max(...found)
  }
  return {
    between: (id: number, from: number, to: number, limit: number, bornBy?: number) =>
      newestFirst(within(rows(id, from, to), from, to, bornBy), limit),
    oldestFirst: (id: number, from: number, to: number, bornBy?: number) =>
      within(rows(id, from, to), from, to, bornBy),
    newest: deps.newest,
    count: (id: number, from: number, to: number, bornBy?: number) =>
      within(rows(id, from, to), from, to, bornBy).length,
    asOf: (id: number, from: number, to: number, asOf: number, limit: number) =>
      newestFirst(within(rowsAsOf(id, asOf, from, to), from, to), limit),
    firstRecorded: (id: number, from: number, to: number, limit: number, bornBy?: number) =>
      newestFirst(within(rowsFirst(id, from, to), from, to, bornBy), limit),
    newestAsOf: deps.newestAsOf,
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
      within(rows(id, from, to), from, to)
        .slice(0, limit)
        .map(({ observedAt }) => observedAt),
    vintages(id: number, observedAt: number) {
      const recorded = own.vintages(id, observedAt)
      if (recorded.length > 0) return recorded
      return within(rows(id, observedAt, observedAt + 1), observedAt, observedAt + 1).map(
        ({ value, recordedAt }) => ({
          value,
          recordedAt,
          replacedAt: undefined,
          sourceId: 0,
          batchId: 0,
        }),
      )
    },
    recordings: (id: number, from: number, to: number) =>
      rows(id)
        .filter(({ recordedAt }) => from <= recordedAt && recordedAt < to)
        .toSorted((a, b) => a.recordedAt - b.recordedAt),
    after: (id: number, after: number, limit: number) =>
      within(rows(id), after + 1, ever.to).slice(0, limit),
    copy(
      id: number,
      from: number,
      to: number,
      into: Parameters<ObservationStore['copy']>[3],
      point?: { asOf: number; isCovered: boolean },
    ) {
      const all = !point
        ? rows(id, from, to)
        : point.isCovered
          ? rowsAsOf(id, point.asOf, from, to)
          : rowsFirst(id, from, to)
      const part = within(all, from, to).slice(0, into.value.length)
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
      const bars = barsOf(
        interval,
        within(rows(id, from, to + lengthMs), from, to + lengthMs, bornBy),
      )
      return bars
        .filter(({ startsAt }) => from <= startsAt && startsAt < to)
        .reverse()
        .slice(0, limit)
    },
    days: (id: number, bornBy?: number, from = ever.from) =>
      barsOf('day', within(rows(id), from, ever.to, bornBy)).map(bar => ({
        startsAt: bar.startsAt,
        count: bar.count,
        hours: bar.hours,
        recordedAt: bar.recordedAt,
      })),
    closes: (id: number) =>
      createInput(rows(id))
        .closes()
        .map(({ observedAt, value }) => ({ startsAt: startOfDay(observedAt), value })),
    daysAsOf: (id: number, asOf: number) => daysOf(rowsAsOf(id, asOf)),
    daysFirst: (id: number) => daysOf(rowsFirst(id)),
    revisedAt: (id: number, from: number, to: number, by?: number) =>
      latestOf([
        ownCloses.revisedAt(id, from, to, by),
        ...legsOf(id).map(leg => closes().revisedAt(leg, from, to, by)),
      ]),
  }
}

/** The place of the first row at a time or after it. */
const placeOf = (rows: readonly Observation[], at: number): number =>
  firstNotBefore(rows, ({ observedAt }) => observedAt < at)
