import type { Runtime } from '../../../config/runtime.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
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
    Pick<PriceServices, 'latestPrices' | 'quarantine' | 'observations' | 'onSeriesChange'> {
  catalogue: Catalogue
  settings: Settings
  retention: { mayForget(): boolean }
}

export function openCondition(deps: ConditionServicesDeps) {
  const store = createQualityStore(deps.db)
  /** Series that are frozen, broken or have gaps. */
  const seriesFaults = createSeriesFaults({
    ...deps,
    store,
    together: deps.latestPrices.together,
    now: deps.clock.now,
  })
  const quality = createQuality({ ...deps, seriesFaults, store })
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
