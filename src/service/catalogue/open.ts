import type { Runtime } from '../../runtime.ts'
import { createSeriesStore, type SeriesStore } from '../../store/catalogue/series.ts'
import { type Catalogue, createCatalogue } from './catalogue.ts'
import { contractCalendar } from './contract-calendar.ts'

export interface CatalogueServices {
  series: SeriesStore
  catalogue: Catalogue
}

export function openCatalogue({ db }: Pick<Runtime, 'db'>): CatalogueServices {
  const series = createSeriesStore(db)
  return { series, catalogue: createCatalogue(series, contractCalendar) }
}
