import type { Database } from 'bun:sqlite'
import { readsAsOf, readsNow } from '../../../../database/dataset-reads.ts'
import { dayMs, isoDay, parseDay } from '../../../../lib/time/instant.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import { isComputed, type Series } from '../../../catalogue/store/series.ts'
import type { Formulas } from '../../../formulas/service/formulas.ts'
import type { Observation } from '../../math/bars.ts'
import type { Close } from '../../math/window.ts'
import type { CloseStore } from '../../store/closes.ts'
import type { ObservationStore } from '../../store/observations.ts'
import { type Closes, type ClosesReach, reachFrom } from '../days/closes.ts'
import { createFx } from '../fx.ts'
import type { QuarantineList } from '../quarantine.ts'
import { type History, pastHistory } from './history.ts'
import { createLatestPrices, type FormulaOf } from './latest-prices.ts'
import { currentValues, type PeriodValues, valuesAsOf } from './period-values.ts'

/** Since when the revisions of a series are recorded. */
export type Coverage = ReturnType<typeof createCoverage>

/**
 * Coverage begins with the first value recorded of a series. A `floor` that the operator has set
 * holds for every read; the usual one is only the start of the kept revisions, and vintages that
 * were imported with their own times reach further back.
 */
export function createCoverage(
  observations: Pick<ObservationStore, 'firstRecordedAt'>,
  floor: { at: number; isSet: boolean },
  /** Whether values of a series are known before their time, as those of delivery periods. */
  isAhead: (seriesId: number) => boolean,
) {
  const firsts = new Map<number, number>()
  const firstOf = (seriesId: number): number => {
    return firsts.getOrInsertComputed(
      seriesId,
      () => observations.firstRecordedAt(seriesId) ?? Number.NEGATIVE_INFINITY,
    )
  }
  const since = (seriesId: number, asOf: number): number => {
    const first = firstOf(seriesId)
    return floor.isSet || asOf >= floor.at ? Math.max(floor.at, first) : first
  }
  return {
    /**
     * Unix ms: from then on a read as of a moment answers what was recorded by it; before, the values
     * first recorded of what speaks for that moment or an earlier one.
     */
    since,
    /** The exclusive end of what a read as of a moment answers of a series. */
    endOf: (seriesId: number, asOf: number): number =>
      asOf >= since(seriesId, asOf) && isAhead(seriesId) ? Number.MAX_SAFE_INTEGER : asOf + 1,
    forget: (seriesId: number) => void firsts.delete(seriesId),
  }
}

/**
 * The prices as they were known at a moment: the values recorded by then, of later times only where
 * those are known before. Quarantined days are left out as they are now.
 */
export type PricesView = ReturnType<PricesAt>

export type PricesAt = ReturnType<typeof createPricesAt>

export interface PricesAtDeps {
  observations: ObservationStore
  closeStore: CloseStore
  closes: Closes
  history: Pick<History, 'page' | 'count' | 'pageAsOf' | 'rowsAsOf' | 'countAsOf'>
  quarantine: QuarantineList
  coverage: Coverage
  catalogue: Catalogue
  db: Database
  /** The series with the source of one of its current or former values. */
  attributed(series: Series, observation: Observation): Series
  formulaOf: FormulaOf
  averagedFor: Formulas['averagedFor']
  now(): number
}

export function createPricesAt(deps: PricesAtDeps) {
  const { observations, quarantine, coverage, catalogue } = deps
  /** Opens a view; `endDay` (`YYYY-MM-DD`) cuts closes and newest values off after that day. */
  return ({ asOf, endDay }: { asOf?: number; endDay?: string }) => {
    const touched = new Set<number>()
    const memory = new Map<number, readonly Close[]>()
    const ofPast = asOf === undefined ? undefined : createClosesAsOf(deps, asOf)
    const now = asOf === undefined ? deps.now : () => asOf
    const endAt = endDay === undefined ? Number.MAX_SAFE_INTEGER : parseDay(endDay)! + dayMs
    const readCloses = (seriesId: number, reach?: ClosesReach): readonly Close[] => {
      if (!ofPast) return deps.closes.of(seriesId, reach && { before: endAt, ...reach })
      const isPart = reach && !reach.least && isComputed(catalogue.byId(seriesId))
      return ofPast(
        seriesId,
        isPart
          ? reachFrom(reach, before => newest(seriesId, Math.min(before, now() + 1)))
          : undefined,
      )
    }
    const closesOf = (seriesId: number, reach?: ClosesReach): readonly Close[] => {
      touched.add(seriesId)
      const known = memory.get(seriesId)
      if (known) return known
      const closes = readCloses(seriesId, reach).filter(
        close => endDay === undefined || close.day <= endDay,
      )
      if (!reach) memory.set(seriesId, closes)
      return closes
    }
    const newest = (seriesId: number, before: number) => {
      touched.add(seriesId)
      if (asOf === undefined) return observations.newest(seriesId, Math.min(before, endAt))
      const until = Math.min(before, endAt, coverage.endOf(seriesId, asOf))
      return asOf >= coverage.since(seriesId, asOf)
        ? observations.newestAsOf(seriesId, until, asOf)
        : observations.firstRecorded(seriesId, Number.MIN_SAFE_INTEGER, until, 1)[0]
    }
    const reads = asOf === undefined ? readsNow(deps.db) : readsAsOf(deps.db, asOf)
    const known =
      asOf === undefined
        ? currentValues(observations, quarantine)
        : valuesAsOf(observations, quarantine, coverage, asOf)
    const periodValues: PeriodValues = (seriesId, from, to) => {
      touched.add(seriesId)
      return known(seriesId, from, to)
    }
    const latestPrices = createLatestPrices(
      { newest, periodValues, formulaOf: deps.formulaOf, averagedFor: deps.averagedFor },
      quarantine,
      { now },
      deps.attributed,
    )
    const closes: Closes = {
      of: closesOf,
      derived: (_name, seriesIds, make) => make(seriesIds.map(id => closesOf(id))),
      revisedAt: (seriesId, from, to) => deps.closeStore.revisedAt(seriesId, from, to, asOf),
      forget: seriesId => void memory.delete(seriesId),
    }
    return {
      closes,
      latestPrices,
      periodValues,
      /** Rows and bars, made from the values of then; of a view that only ends earlier all of them. */
      history:
        asOf === undefined
          ? deps.history
          : pastHistory(deps.history, asOf, {
              since(seriesId) {
                touched.add(seriesId)
                return coverage.since(seriesId, asOf)
              },
              endOf: seriesId => coverage.endOf(seriesId, asOf),
            }),
      exchange: createFx(catalogue, latestPrices),
      now,
      /** The datasets as of that moment. */
      reads,
      /**
       * The start of the coverage of everything read so far, Unix ms; undefined before the first
       * read.
       */
      coverageSince() {
        if (asOf === undefined) return undefined
        const all = [
          reads.sinceAt() ?? Number.NaN,
          ...[...touched].map(seriesId => coverage.since(seriesId, asOf)),
        ].filter(Number.isFinite)
        return all.length === 0 ? undefined : Math.max(...all)
      },
    }
  }
}

/**
 * The closes of a series at a moment: those of days that nothing touched since are taken from the
 * bars, the others from their observations.
 */
function createClosesAsOf(
  { observations, closeStore, quarantine, coverage }: PricesAtDeps,
  asOf: number,
): (seriesId: number, from?: number) => Close[] {
  return (seriesId, from) => {
    const isCovered = asOf >= coverage.since(seriesId, asOf)
    const stored = closeStore.dated(seriesId)
    const end = asOf + 1
    const closeOf = (startsAt: number): number | undefined => {
      const until = Math.min(startsAt + dayMs, end)
      const [last] = isCovered
        ? observations.asOf(seriesId, startsAt, until, asOf, 1)
        : observations.firstRecorded(seriesId, startsAt, until, 1)
      return last?.value
    }
    const revisedDays = new Set(
      isCovered
        ? closeStore.daysRevisedSince(seriesId, asOf, from)
        : closeStore.daysEverRevised(seriesId, from),
    )
    const values = new Map<number, number | undefined>()
    for (const { startsAt, value, recordedAt, bornAt } of stored) {
      if (startsAt >= end) break
      const isWhole = startsAt + dayMs <= end
      if (revisedDays.delete(startsAt) || !isWhole) values.set(startsAt, closeOf(startsAt))
      else if (!isCovered || recordedAt <= asOf) values.set(startsAt, value)
      else if (bornAt <= asOf) values.set(startsAt, closeOf(startsAt))
    }
    // Days of which everything was withdrawn since have no bar.
    for (const startsAt of revisedDays) if (startsAt < end) values.set(startsAt, closeOf(startsAt))
    return [...values]
      .sort(([a], [b]) => a - b)
      .flatMap(([startsAt, value]) =>
        value !== undefined && quarantine.clear(seriesId, startsAt, startsAt + dayMs).length > 0
          ? [{ day: isoDay(startsAt), value }]
          : [],
      )
  }
}
