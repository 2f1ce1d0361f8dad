import { type Cadence, cadences, type FedBy } from '../math/catalogue.ts'
import type { Series } from '../store/series.ts'

/** The sources of series' values. */
export function createAttributions() {
  const attributions = new Map<number, FedBy>()
  /** The catalogue's fields of series whose source overrides them. */
  const declared = new Map<number, Pick<Series, 'publisher' | 'cadence' | 'releaseLagDays'>>()

  const attribute = (series: Series, { publisher, cadence, releaseLagDays }: FedBy) => {
    if (!declared.has(series.id)) {
      declared.set(series.id, {
        publisher: series.publisher,
        cadence: series.cadence,
        releaseLagDays: series.releaseLagDays,
      })
    }
    series.publisher = publisher
    // A daily series is not late after five minutes; but a setting of the operator takes
    // precedence. A release calendar defines both, how often and how late.
    if (!cadence || series.releases) return
    if (series.terms?.cadence === undefined && isRarer(cadence, series.cadence))
      series.cadence = cadence
    if (series.terms?.releaseLagDays === undefined) series.releaseLagDays = releaseLagDays
  }

  return {
    /** Undefined removes the source. False where it is the same already. */
    put(series: Series, fedBy: FedBy | undefined) {
      const before = attributions.get(series.id)
      if (
        before?.publisher.name === fedBy?.publisher.name &&
        before?.cadence === fedBy?.cadence &&
        before?.releaseLagDays === fedBy?.releaseLagDays
      )
        return false
      Object.assign(series, declared.get(series.id))
      if (fedBy) {
        attributions.set(series.id, fedBy)
        attribute(series, fedBy)
      } else attributions.delete(series.id)
      return true
    },
    /** Restores the sources of series that were reloaded, by id. */
    reload(all: ReadonlyMap<number, Series>) {
      declared.clear()
      for (const [id, fedBy] of attributions) {
        const series = all.get(id)
        if (series) attribute(series, fedBy)
      }
    },
  }
}

const isRarer = (cadence: Cadence, than: Cadence): boolean =>
  cadences.indexOf(cadence) > cadences.indexOf(than)
