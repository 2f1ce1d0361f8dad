import { dayMs } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { dailyMeans } from '../../delivery/math/daily-means.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { ObservationStore } from '../../prices/store/observations.ts'
import { isRank } from './ranks.ts'
import type { Relations } from './relations.ts'
import { ever, type View } from './views.ts'

/** At the end of a series: longer than two market days and a weekend with holidays. */
const edgeMs = 6 * dayMs

/** Gives the catalogue the times from when to when computed series have values. */
export function measureComputed(
  catalogue: Pick<Catalogue, 'extent' | 'measureBy'>,
  { definitionOf, rankParts }: Relations,
  {
    stored,
    present,
    newestOf,
    isClear,
  }: {
    stored: ObservationStore
    present: View
    newestOf(seriesId: number): Observation | undefined
    isClear(seriesId: number, rows: Observation[]): Observation[]
  },
): void {
  /** From a few days at both ends: a history of periods is long. */
  const reachOfMeans = (seriesId: number) => {
    const definition = definitionOf(seriesId)
    const means = (from: number, to: number) => {
      if (!definition || !('averages' in definition)) return []
      const {
        averages,
        isCounted,
        series: [leg],
      } = definition
      return dailyMeans(averages, isClear(leg.id, stored.oldestFirst(leg.id, from, to)), isCounted)
    }
    const reach = definition && catalogue.extent(definition.series[0]!)
    const known = [
      stored.after(seriesId, ever.from, 1)[0],
      stored.newest(seriesId, ever.to),
      ...(reach ? means(reach.firstAt, reach.firstAt + edgeMs) : []),
      ...(reach ? means(reach.lastAt - edgeMs, ever.to) : []),
    ].flatMap(row => row?.observedAt ?? [])
    return known.length === 0
      ? undefined
      : { firstAt: Math.min(...known), lastAt: Math.max(...known) }
  }
  catalogue.measureBy(series => {
    if (series.averageOf !== undefined) return { extent: reachOfMeans(series.id) }
    if (series.terms?.formula === undefined) return undefined
    const [begin, newest] = [beginOf(series.id), newestOf(series.id)]
    if (begin === undefined || !newest) return { extent: undefined }
    let oldest: number | undefined
    return {
      extent: {
        // It takes longer to find, and most reads of an extent are for its end.
        get firstAt() {
          oldest ??= present.oldest(series.id, begin)?.observedAt ?? begin
          return oldest
        },
        lastAt: newest.observedAt,
      },
    }
  })
  /** The oldest value of a leg of a formula. */
  const beginOf = (
    seriesId: number,
    known = new Map<number, number | undefined>(),
  ): number | undefined => {
    const definition = definitionOf(seriesId)
    if (!definition || !('compiled' in definition)) return undefined
    const begins = definition.series.flatMap(leg => {
      if (!definition.compiled.legs.includes(leg.code)) return []
      if (!known.has(leg.id)) known.set(leg.id, beginOfLeg(leg, known))
      return known.get(leg.id) ?? []
    })
    return begins.length === 0 ? undefined : Math.min(...begins)
  }
  const beginOfLeg = (leg: Series, known: Map<number, number | undefined>): number | undefined => {
    if (isRank(leg.id))
      return rankParts(leg.id).flatMap(part => stored.after(part.seriesId, part.from - 1, 1))[0]
        ?.observedAt
    return beginOf(leg.id, known) ?? catalogue.extent(leg)?.firstAt
  }
}
