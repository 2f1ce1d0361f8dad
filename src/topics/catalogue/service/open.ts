import type { Runtime } from '../../../config/runtime.ts'
import { createSeriesStore } from '../store/series.ts'
import { createCatalogue } from './catalogue.ts'
import { contractCalendar } from './contract-calendar.ts'
import { createViewers } from './viewers.ts'

export type CatalogueServices = ReturnType<typeof openCatalogue>

export function openCatalogue({ db }: Pick<Runtime, 'db'>) {
  const [series, viewers] = [createSeriesStore(db), createViewers()]
  return { series, catalogue: createCatalogue(series, contractCalendar, viewers), viewers }
}
