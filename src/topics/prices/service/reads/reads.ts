import { revisionsKeptSince } from '../../../../config/keys.ts'
import type { Runtime } from '../../../../config/runtime.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import { isComputed, type Series } from '../../../catalogue/store/series.ts'
import type { Formulas } from '../../../formulas/service/formulas.ts'
import type { Observation } from '../../math/bars.ts'
import type { FlaggedValueStore } from '../../store/flagged-values.ts'
import { createCloses } from '../days/closes.ts'
import { createFx } from '../fx.ts'
import type { QuarantineList } from '../quarantine.ts'
import { createHistory } from './history.ts'
import { createLatestPrices, type FormulaOf } from './latest-prices.ts'
import { currentValues } from './period-values.ts'
import { createCoverage, createPricesAt } from './vintage.ts'

export interface ReadsDeps extends Pick<Runtime, 'db' | 'clock' | 'config'> {
  catalogue: Catalogue
  formulas: Formulas
  quarantine: QuarantineList
  flaggedValues: FlaggedValueStore
  /** The series with the source of one of its values as its publisher. */
  attributed(series: Series, observation: Observation): Series
}

/** All ways to read prices, outside quarantine: the current values, and those of a moment. */
export function openReads(deps: ReadsDeps) {
  const { db, clock, config, catalogue, formulas, quarantine, attributed } = deps
  const { observations, closes: closeStore, averagedFor } = formulas
  /** Whether values of a series are known before their time, as those of delivery periods. */
  const isAhead = (seriesId: number): boolean => {
    const { delivery, averageOf } = catalogue.byId(seriesId)
    return delivery !== undefined || averageOf !== undefined
  }
  const formulaOf = formulaReader(deps)
  const periodValues = currentValues(observations, quarantine)
  const latestPrices = createLatestPrices(
    { ...observations, periodValues, formulaOf, averagedFor },
    quarantine,
    clock,
    attributed,
  )
  const history = createHistory(observations, quarantine)
  const closes = createCloses({
    store: closeStore,
    quarantine,
    observations,
    now: clock.now,
    isComputed: seriesId => isComputed(catalogue.byId(seriesId)),
  })
  const { coverageSinceAt } = config.vintage
  const coverage = createCoverage(
    observations,
    { at: coverageSinceAt, isSet: coverageSinceAt !== revisionsKeptSince },
    isAhead,
  )
  return {
    observations,
    latestPrices,
    /** Values by their time, in the future too. */
    periodValues,
    history,
    closes,
    coverage,
    exchange: createFx(catalogue, latestPrices),
    /** The prices as they were known at a moment. */
    pricesAt: createPricesAt({
      observations,
      closeStore,
      closes,
      history,
      quarantine,
      coverage,
      catalogue,
      db,
      attributed,
      formulaOf,
      averagedFor,
      now: clock.now,
    }),
    /** Drops what is cached of a series; `from`: nothing that was observed earlier has changed. */
    forget(seriesId: number, from?: number) {
      latestPrices.forget(seriesId, from)
      history.forget(seriesId, from)
      closes.forget(seriesId)
      coverage.forget(seriesId)
    },
  }
}

/** Reads the formula of a series, and why a newer value of one of its legs is not used. */
const formulaReader =
  ({ formulas, flaggedValues, quarantine }: ReadsDeps): FormulaOf =>
  (series, legs = formulas.legsOf(series.id)) => {
    const text = series.terms?.formula
    if (text === undefined) return undefined
    const end = Number.MAX_SAFE_INTEGER
    return {
      text,
      legs,
      newerUnused({ id }, at) {
        if (flaggedValues.waitingDays(id, at + 1, end).length > 0) return 'held'
        const newest = formulas.observations.newest(id, end)?.observedAt ?? at
        return newest > at && quarantine.clear(id, newest, newest + 1).length === 0
          ? 'quarantined'
          : undefined
      },
    }
  }
