import type { Runtime } from '../../../config/runtime.ts'
import { dataStatus } from '../../calendars/math/freshness.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Settings } from '../../operator/store/settings.ts'
import type { PriceServices } from '../../prices/service/open.ts'
import { createIncidentStore } from '../store/incidents.ts'
import { createQualityStore } from '../store/quality.ts'
import { createFreshness } from './freshness.ts'
import { createIncidents } from './incidents.ts'
import { createQuality } from './quality.ts'
import { createSeriesFaults } from './series-faults.ts'

export type ConditionServices = ReturnType<typeof openCondition>

export interface ConditionServicesDeps
  extends Pick<Runtime, 'db' | 'clock'>,
    Pick<
      PriceServices,
      'latestPrices' | 'quarantine' | 'observations' | 'onSeriesChange' | 'supply'
    > {
  catalogue: Catalogue
  settings: Settings
}

export function openCondition(deps: ConditionServicesDeps) {
  const store = createQualityStore(deps.db)
  const closes: typeof store.closes = (seriesId, from, limit) => {
    const newest = store.closes(seriesId, from, limit)
    const isWhole = newest.length >= limit || !deps.supply(seriesId, from)
    return isWhole ? newest : store.closes(seriesId, from, limit)
  }
  const times: typeof store.times = (seriesId, from) => {
    deps.supply(seriesId, from)
    return store.times(seriesId, from)
  }
  const isAwaited = (series: Series, lastAt: number) =>
    deps.supply.isUnwritten(series.id) && dataStatus(series, lastAt, deps.clock.now()) !== 'stale'
  /** Series that are frozen, broken or have gaps. */
  const seriesFaults = createSeriesFaults({
    ...deps,
    store: { closes, times },
    together: deps.latestPrices.together,
    now: deps.clock.now,
    isAwaited,
  })
  const quality = createQuality({
    ...deps,
    frozen: seriesFaults.frozen,
    intraday: seriesFaults.intraday,
    isAwaited,
    store: {
      days(seriesId: number, from: number) {
        deps.supply(seriesId, from)
        return store.days(seriesId, from)
      },
    },
  })
  deps.onSeriesChange(quality.forget)
  deps.onSeriesChange(seriesFaults.forget)
  return {
    freshness: createFreshness({ ...deps, now: deps.clock.now }),
    quality,
    seriesFaults,
    incidents: createIncidents({
      ...deps,
      store: createIncidentStore(deps.db),
      now: deps.clock.now,
    }),
  }
}
