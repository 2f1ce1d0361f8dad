import type { Runtime } from '../../../config/runtime.ts'
import { createSeriesStore, type SeriesStore } from '../store/series.ts'
import { type Catalogue, createCatalogue } from './catalogue.ts'
import { contractCalendar } from './contract-calendar.ts'
import { createViewers, type Viewers } from './viewers.ts'

export interface CatalogueServices {
  series: SeriesStore
  catalogue: Catalogue
  viewers: Viewers
}

export function openCatalogue({ db }: Pick<Runtime, 'db'>): CatalogueServices {
  const [series, viewers] = [createSeriesStore(db), createViewers()]
  return { series, catalogue: createCatalogue(series, contractCalendar, viewers), viewers }
}
