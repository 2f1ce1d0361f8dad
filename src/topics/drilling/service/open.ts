import type { Runtime } from '../../../config/runtime.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { PricesView } from '../../prices/service/reads/vintage.ts'
import type { Ingest } from '../../prices/service/writes/ingest.ts'
import type { Events } from '../../webhooks/service/events.ts'
import { createFracChemicalStore } from '../store/frac-chemicals.ts'
import { createFracDisclosureStore } from '../store/frac-disclosures.ts'
import { noPermitCounts } from '../store/permit-counts.ts'
import { createWellStore } from '../store/wells.ts'
import { createDrilling, drillingStores } from './drilling.ts'
import { createPermits } from './permits.ts'
import { createWellProduction } from './well-production.ts'

export type DrillingServices = ReturnType<typeof openDrilling>

export interface DrillingServicesDeps extends Pick<Runtime, 'db'> {
  catalogue: Catalogue
  ingest: Ingest
  events: Events
}

export function openDrilling(deps: DrillingServicesDeps) {
  const { db, events } = deps
  const wells = createWellStore(db)
  const drilling = createDrilling(deps)
  const permits = createPermits({ db, events })
  return {
    drilling,
    permits,
    /** The counts as a view of the past has them; permits have no history. */
    drillingAt: ({ reads }: Pick<PricesView, 'reads'>) => ({
      drilling: { ...drilling, ...drillingStores(reads) },
      permits: reads.asOf === undefined ? permits : { ...permits, counts: noPermitCounts },
    }),
    fracDisclosures: createFracDisclosureStore(db),
    fracChemicals: createFracChemicalStore(db),
    wells,
    wellProduction: createWellProduction({ db, wells }),
  }
}
