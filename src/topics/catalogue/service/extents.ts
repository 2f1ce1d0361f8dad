import { type Extent, isComputed, type Series } from '../store/series.ts'

/** How far the data of each series reaches, and which futures families have any. */
export function createExtents() {
  const extents = new Map<number, Extent>()
  /** Families of which some contract has data. */
  const familiesWithData = new Set<string>()
  let measured: (series: Series) => Extent | undefined = () => undefined
  const set = (series: Series, extent: Extent) => {
    extents.set(series.id, extent)
    if (series.contractOf !== null) familiesWithData.add(series.contractOf)
  }
  return {
    of(series: Series): Extent | undefined {
      const known = extents.get(series.id)
      if (known || !isComputed(series)) return known
      const extent = measured(series)
      if (extent) set(series, extent)
      return extent
    },
    measureBy(measure: typeof measured) {
      measured = measure
    },
    forget: ({ id }: Series) => void extents.delete(id),
    hasContracts: (family: string) => familiesWithData.has(family),
    put(series: Series, extent: Extent | undefined) {
      if (extent) set(series, extent)
      else extents.delete(series.id)
    },
    /** Replaces everything by what the store has, by id. */
    reload(all: readonly Series[], stored: ReadonlyMap<number, Extent>) {
      extents.clear()
      familiesWithData.clear()
      for (const series of all) {
        const extent = stored.get(series.id)
        if (extent && !isComputed(series)) set(series, extent)
      }
    },
    /** False when the data reached that far already. */
    extend(series: Series, firstAt: number, lastAt: number) {
      const extent = extents.get(series.id)
      if (!extent) {
        set(series, { firstAt, lastAt })
        return true
      }
      // Where the values of a formula begin takes long to find, and new ones change nothing of it.
      const isEarlier = series.terms?.formula === undefined && firstAt < extent.firstAt
      if (!isEarlier && extent.lastAt >= lastAt) return false
      if (isEarlier) extent.firstAt = firstAt
      extent.lastAt = Math.max(extent.lastAt, lastAt)
      return true
    },
  }
}
