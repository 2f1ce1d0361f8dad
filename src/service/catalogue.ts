import { isoDay } from '../lib/instant.ts'
import { suggestCodes } from '../market/suggest.ts'
import type { Extent, Series, SeriesStore } from '../store/series.ts'

/** Why a code of the catalogue answers no prices. */
export type UnavailableReason = 'no_source' | 'no_observations' | 'discontinued' | 'restricted'

export interface Resolved {
  series: Series
  /** The code that answers: the series' own, or the front contract of a futures family. */
  code: string
  /** What was asked, upper case, when it is not the code that answers. */
  requestedCode: string | undefined
}

/** The catalogue in memory: every code and alias, and how far the data of each reaches. */
export interface Catalogue {
  list(): readonly Series[]
  byId(id: number): Series
  /** A code or alias in any letter case. */
  resolve(text: string, now: number): Resolved | undefined
  /** Known codes near to `text`, closest first. */
  suggest(text: string): Series[]
  extent(series: Series): Extent | undefined
  hasData(series: Series): boolean
  unavailableReason(series: Series): UnavailableReason | undefined
  /** Takes in what a write added: bounds of the data and the fixture mark. */
  extend(id: number, firstAt: number, lastAt: number): void
  reload(): void
}

/** `frontContract` names the contract that answers for a futures family on a day, undefined for any other code. */
export function catalogue(store: SeriesStore, frontContract: (code: string, day: string) => string | undefined): Catalogue {
  let list: Series[] = []
  let ids = new Map<number, Series>()
  let names = new Map<string, Series>()
  const extents = new Map<number, Extent>()

  const reload = () => {
    list = store.all()
    ids = new Map(list.map(one => [one.id, one]))
    names = new Map(list.flatMap(one => one.aliases.map(alias => [alias, one] as const)))
    for (const one of list) {
      names.set(one.code, one)
      const extent = store.extent(one.id)
      if (extent) extents.set(one.id, extent)
    }
  }
  reload()

  const hasData = (series: Series) => series.unavailableReason === null && extents.has(series.id)
  return {
    list: () => list,
    byId: id => ids.get(id)!,
    resolve(text, now) {
      const asked = text.trim().toUpperCase()
      const series = names.get(asked)
      if (!series) return undefined
      const code = frontContract(series.code, isoDay(now)) ?? series.code
      return { series, code, requestedCode: asked === code ? undefined : asked }
    },
    suggest: text => suggestCodes(text, list),
    extent: series => extents.get(series.id),
    hasData,
    unavailableReason(series) {
      if (series.unavailableReason) return series.unavailableReason as UnavailableReason
      return hasData(series) ? undefined : 'no_observations'
    },
    extend(id, firstAt, lastAt) {
      const held = extents.get(id)
      if (held) {
        held.firstAt = Math.min(held.firstAt, firstAt)
        held.lastAt = Math.max(held.lastAt, lastAt)
      } else extents.set(id, { firstAt, lastAt })
    },
    reload,
  }
}
