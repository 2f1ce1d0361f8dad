import { isoDay } from '../../lib/instant.ts'
import { type InventoryPlace, inventoryPlaces } from '../../market/fundamentals/inventories.ts'
import { levelDecimals } from '../../market/fundamentals/storage.ts'
import { roundTo } from '../../market/prices/format.ts'
import type { Series } from '../../store/catalogue/series.ts'
import type { InventoryStore, NumberedLevel } from '../../store/fundamentals/inventories.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Ingest } from '../prices/ingest.ts'

/** The level of one place on one day. Levels and changes in million barrels. */
export interface InventoryRecord {
  id: number
  series: Series
  place: InventoryPlace
  on: string
  level: number
  /** Against the level of a week before (7 to 13 days older). */
  change: number | undefined
  recordedAt: number
}

/** Of which places and days (half-open, Unix ms). */
export interface InventoryFilter {
  places: readonly InventoryPlace[]
  from: number
  to: number
}

/**
 * The weekly inventories: the storage series that the agency publishes together, as records with
 * numbers.
 */
export interface Inventories {
  page(filter: InventoryFilter, limit: number, offset: number): InventoryRecord[]
  count(filter: InventoryFilter): number
  byId(id: number): InventoryRecord | undefined
  latest(place: InventoryPlace): InventoryRecord | undefined
}

export function createInventories(deps: {
  store: InventoryStore
  catalogue: Catalogue
  ingest: Ingest
}): Inventories {
  const { store, catalogue, ingest } = deps
  const placeOf = new Map(inventoryPlaces.map(place => [place.code, place]))
  const seriesOf = (places: readonly InventoryPlace[]) =>
    places.flatMap(place => catalogue.named(place.code) ?? [])

  // An evaluation copy fills code by code: numbered before the last of them is there, the records
  // would not be in the order of their days.
  ingest.listenInside(changes => {
    const changed = new Set(changes.map(change => change.seriesId))
    const family = seriesOf(inventoryPlaces)
    if (!family.some(series => changed.has(series.id))) return
    if (
      family.some(series => series.fixture && !catalogue.extent(series) && !changed.has(series.id))
    )
      return
    store.number(family.map(series => series.id))
  })

  const recordOf = ({
    id,
    seriesId,
    startsAt,
    level,
    weekBefore,
    recordedAt,
  }: NumberedLevel): InventoryRecord => {
    const series = catalogue.byId(seriesId)
    const decimals = levelDecimals(series)
    return {
      id,
      series,
      place: placeOf.get(series.code)!,
      on: isoDay(startsAt),
      recordedAt,
      level: roundTo(level, decimals),
      change: weekBefore === undefined ? undefined : roundTo(level - weekBefore, decimals),
    }
  }
  const filterOf = ({ places, from, to }: InventoryFilter) => ({
    seriesIds: seriesOf(places).map(series => series.id),
    from,
    to,
  })
  const always = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }

  return {
    page: (filter, limit, offset) => store.page(filterOf(filter), limit, offset).map(recordOf),
    count: filter => store.count(filterOf(filter)),
    byId(id) {
      const row = store.byId(id)
      return row && recordOf(row)
    },
    latest(place) {
      const row = store.page(filterOf({ places: [place], ...always }), 1, 0)[0]
      return row && recordOf(row)
    },
  }
}
