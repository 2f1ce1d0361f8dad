import type { Runtime } from '../../../config/runtime.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Ingest } from '../../prices/service/ingest.ts'
import type { Events } from '../../webhooks/service/events.ts'
import { createFracChemicalStore, type FracChemicalStore } from '../store/frac-chemicals.ts'
import { createFracDisclosureStore, type FracDisclosureStore } from '../store/frac-disclosures.ts'
import { createWellStore, type WellStore } from '../store/wells.ts'
import { createDrilling, type Drilling } from './drilling.ts'
import { createPermits, type Permits } from './permits.ts'
import { createWellProduction, type WellProduction } from './well-production.ts'

export interface DrillingServices {
  drilling: Drilling
  permits: Permits
  fracDisclosures: FracDisclosureStore
  fracChemicals: FracChemicalStore
  wells: WellStore
  wellProduction: WellProduction
}

export interface DrillingServicesDeps extends Pick<Runtime, 'db'> {
  catalogue: Catalogue
  ingest: Ingest
  events: Events
}

export function openDrilling(deps: DrillingServicesDeps): DrillingServices {
  const { db, events } = deps
  const wells = createWellStore(db)
  return {
    drilling: createDrilling(deps),
    permits: createPermits({ db, events }),
    fracDisclosures: createFracDisclosureStore(db),
    fracChemicals: createFracChemicalStore(db),
    wells,
    wellProduction: createWellProduction({ db, wells }),
  }
}
