import type { Observation } from '../../math/bars.ts'
import type { ObservationStore } from '../../store/observations.ts'

/**
 * Two distant points must not read everything between them; many points read long stretches at
 * once.
 */
const [firstRows, rowsMax] = [4, 1024]

/**
 * Reads stored values of a series next to points that come oldest first. One query for each point
 * would take most of the time of a repeated import.
 */
export function createStoredNeighbours(
  observations: Pick<ObservationStore, 'newest' | 'after'>,
  seriesId: number,
) {
  let rows: readonly Observation[] = []
  let rowsAsked = firstRows
  let index = 0
  let isLast = false
  let previous: Observation | undefined

  const seek = (observedAt: number) => {
    for (; index < rows.length && rows[index]!.observedAt < observedAt; index += 1)
      previous = rows[index]
    if (index < rows.length || isLast) return
    previous = observations.newest(seriesId, observedAt)
    rows = observations.after(seriesId, observedAt - 1, rowsAsked)
    index = 0
    isLast = rows.length < rowsAsked
    rowsAsked = Math.min(rowsAsked * 2, rowsMax)
  }

  return {
    /** The newest before a moment. */
    before(observedAt: number) {
      seek(observedAt)
      return previous
    },
    /** The stored value of that moment itself. */
    at(observedAt: number) {
      seek(observedAt)
      const row = rows[index]
      return row?.observedAt === observedAt ? row : undefined
    },
  }
}
