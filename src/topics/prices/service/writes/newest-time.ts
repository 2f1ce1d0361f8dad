import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import type { Series } from '../../../catalogue/store/series.ts'
import type { Observation } from '../../math/bars.ts'
import type { Change, ObservationStore } from '../../store/observations.ts'

export interface NewestTimeDeps {
  catalogue: Pick<Catalogue, 'extent'>
  observations: Pick<ObservationStore, 'newest'>
}

/**
 * Returns the time of the newest value of a series that is not in the future, inside the
 * transaction that writes a change of it. Of delivery periods it is the last one that is known.
 */
export const createNewestTime =
  ({ catalogue, observations }: NewestTimeDeps) =>
  ({ inserted }: Pick<Change, 'inserted'>, series: Series, now: number): number => {
    const earlier = catalogue.extent(series)?.lastAt ?? Number.NEGATIVE_INFINITY
    const lastAt = Math.max(earlier, inserted.at(-1)?.observedAt ?? earlier)
    if (lastAt <= now || series.delivery) return lastAt
    return observations.newest(series.id, now + 1)?.observedAt ?? Number.NEGATIVE_INFINITY
  }

/** The value of ascending observations at a moment. */
export function valueAt(observations: readonly Observation[], at: number): Observation | undefined {
  const last = observations.findLast(({ observedAt }) => observedAt <= at)
  return last?.observedAt === at ? last : undefined
}
