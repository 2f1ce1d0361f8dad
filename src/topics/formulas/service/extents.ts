import { dayMs } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { ObservationStore } from '../../prices/store/observations.ts'
import { isRank } from './ranks.ts'
import type { Relations } from './relations.ts'
import { ever, type View } from './views.ts'

/** The mean of a market day may be of a time before the first of its periods. */
const marketDayMs = 2 * dayMs

/** Gives the catalogue the times from when to when computed series have values. */
export function measureComputed(
  catalogue: Pick<Catalogue, 'measureBy'>,
  { definitionOf, rankParts }: Relations,
  {
    stored,
    present,
    newestOf,
  }: {
    stored: ObservationStore
    present: View
    newestOf(seriesId: number): Observation | undefined
  },
): void {
  /** No value that a series has, or is computed from, is older. */
  const beginOf = (id: number, known = new Map<number, number>()): number =>
    known.getOrInsertComputed(id, () => {
      if (isRank(id)) {
        const [first] = rankParts(id).flatMap(part => stored.after(part.seriesId, part.from - 1, 1))
        return first?.observedAt ?? ever.to
      }
      const own = stored.after(id, ever.from, 1)[0]?.observedAt ?? ever.to
      const definition = definitionOf(id)
      if (!definition) return own
      if ('averages' in definition)
        return Math.min(own, beginOf(definition.series[0].id, known) - marketDayMs)
      const legs = definition.series.filter(({ code }) => definition.compiled.legs.includes(code))
      return Math.min(...legs.map(leg => beginOf(leg.id, known)))
    })
  catalogue.measureBy(({ id }) => {
    const newest = newestOf(id)
    let oldest: number | undefined
    return (
      newest && {
        // It takes longer to find, and most reads of an extent are for its end.
        get firstAt() {
          oldest ??= present.oldest(id, beginOf(id))?.observedAt ?? beginOf(id)
          return oldest
        },
        set firstAt(at) {
          oldest = at
        },
        lastAt: newest.observedAt,
      }
    )
  })
}
