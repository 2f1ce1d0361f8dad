import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { decimalDifference, roundTo } from '../../prices/math/format.ts'
import type { History } from '../../prices/service/reads/history.ts'
import type { Ingest } from '../../prices/service/writes/ingest.ts'
import { type InventoryPlace, inventoryPlaces } from '../math/inventories.ts'
import { levelDecimals } from '../math/storage.ts'
import {
  type InventoryStore,
  type LevelFilter,
  type NumberedLevel,
  weekBeforeDays,
} from '../store/inventories.ts'

/** Returns the level of one place on one day. Levels and changes in million barrels. */
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

/** Selects places and days (half-open, Unix ms). */
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
  /** The same over other prices, as those of a moment. */
  at(prices: { history: Pick<History, 'page'> }): Inventories
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

  ingest.listenInside(changes => {
    const changed = new Set(changes.map(change => change.seriesId))
    const family = seriesOf(inventoryPlaces)
    if (!family.some(series => changed.has(series.id))) return
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
      change:
        weekBefore === undefined
          ? undefined
          : roundTo(decimalDifference(level, weekBefore), decimals),
    }
  }
  const filterOf = ({ places, from, to }: InventoryFilter) => ({
    seriesIds: seriesOf(places).map(series => series.id),
    from,
    to,
  })
  const always = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }

  const recordsOf = (levels: LevelReads): Inventories => ({
    page: (filter, limit, offset) => levels.page(filterOf(filter), limit, offset).map(recordOf),
    count: filter => levels.count(filterOf(filter)),
    byId(id) {
      const row = levels.byId(id)
      return row && recordOf(row)
    },
    latest(place) {
      const row = levels.page(filterOf({ places: [place], ...always }), 1, 0)[0]
      return row && recordOf(row)
    },
    at: ({ history }) => recordsOf(levelsOf(store, history)),
  })
  return recordsOf(store)
}

/** A century of weeks; the levels are weekly. */
const levelsMax = 100_000

type LevelReads = Pick<InventoryStore, 'page' | 'count' | 'byId'>

/** Numbered levels out of the bars of a history; the numbers are those of now, which never change. */
function levelsOf(store: InventoryStore, history: Pick<History, 'page'>): LevelReads {
  const inRange = ({ seriesIds, from, to }: LevelFilter): NumberedLevel[] => {
    const idOf = new Map(
      store.numbers(seriesIds).map(({ id, seriesId, startsAt }) => [`${seriesId} ${startsAt}`, id]),
    )
    const levels = seriesIds.flatMap(seriesId => {
      const { rows } = history.page({
        seriesIds: [seriesId],
        interval: 'day',
        from: Math.max(from - weekBeforeDays.most * dayMs, Number.MIN_SAFE_INTEGER),
        to,
        limit: levelsMax,
        offset: 0,
      })
      const bars = rows.map(row => row.bar!)
      return bars.flatMap(({ startsAt, close, recordedAt }, i): NumberedLevel[] => {
        const id = idOf.get(`${seriesId} ${startsAt}`)
        if (id === undefined || startsAt < from) return []
        const weekBefore = bars
          .slice(i + 1, i + 1 + weekBeforeDays.most)
          .find(before => before.startsAt <= startsAt - weekBeforeDays.least * dayMs)
        const isNear = weekBefore && weekBefore.startsAt >= startsAt - weekBeforeDays.most * dayMs
        return [
          {
            id,
            seriesId,
            startsAt,
            level: close,
            recordedAt,
            weekBefore: isNear ? weekBefore.close : undefined,
          },
        ]
      })
    })
    return levels.sort((a, b) => b.startsAt - a.startsAt || a.id - b.id)
  }
  return {
    page: (filter, limit, offset) => inRange(filter).slice(offset, offset + limit),
    count: filter => inRange(filter).length,
    byId(id) {
      const place = store.numbered(id)
      if (!place) return undefined
      const { seriesId, startsAt } = place
      return inRange({ seriesIds: [seriesId], from: startsAt, to: startsAt + dayMs })[0]
    },
  }
}
