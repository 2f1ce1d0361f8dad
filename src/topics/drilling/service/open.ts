import type { Runtime } from '../../../config/runtime.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Ingest } from '../../prices/service/ingest.ts'
import type { PricesView } from '../../prices/service/vintage.ts'
import type { Events } from '../../webhooks/service/events.ts'
import { createFracChemicalStore, type FracChemicalStore } from '../store/frac-chemicals.ts'
import { createFracDisclosureStore, type FracDisclosureStore } from '../store/frac-disclosures.ts'
import { noPermitCounts } from '../store/permit-counts.ts'
import { createWellStore, type WellStore } from '../store/wells.ts'
import { createDrilling, type Drilling, drillingStores } from './drilling.ts'
import { createPermits, type Permits } from './permits.ts'
import { createWellProduction, type WellProduction } from './well-production.ts'

export interface DrillingServices {
  drilling: Drilling
  permits: Permits
  fracDisclosures: FracDisclosureStore
  fracChemicals: FracChemicalStore
  wells: WellStore
  wellProduction: WellProduction
  /** The counts as a view of the past has them; permits keep no past. */
  drillingAt(view: Pick<PricesView, 'reads'>): Pick<DrillingServices, 'drilling' | 'permits'>
}

export interface DrillingServicesDeps extends Pick<Runtime, 'db'> {
  catalogue: Catalogue
  ingest: Ingest
  events: Events
}

export function openDrilling(deps: DrillingServicesDeps): DrillingServices {
  const { db, events } = deps
  const wells = createWellStore(db)
  const drilling = createDrilling(deps)
  const permits = createPermits({ db, events })
  return {
    drilling,
    permits,
    drillingAt: ({ reads }) => ({
      drilling: { ...drilling, ...drillingStores(reads) },
      permits: reads.asOf === undefined ? permits : { ...permits, counts: noPermitCounts },
    }),
    fracDisclosures: createFracDisclosureStore(db),
    fracChemicals: createFracChemicalStore(db),
    wells,
    wellProduction: createWellProduction({ db, wells }),
  }
}
