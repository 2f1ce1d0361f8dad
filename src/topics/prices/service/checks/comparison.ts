import type { WriteCounts } from '../../../../database/write-counts.ts'
import { createPause } from '../../../../lib/process/slices.ts'
import type { Clock } from '../../../../lib/time/clock.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import { type BigChange, createBigChanges } from '../../math/big-changes.ts'
import type { ObservationStore, Point } from '../../store/observations.ts'
import type { ValueSourceStore } from '../../store/value-sources.ts'
import type { Decisions } from './decisions.ts'
import type { Guards } from './guards.ts'
import { createStoredNeighbours } from './stored-neighbours.ts'

/** The effects of points on one series. */
export interface SeriesComparison {
  code: string
  points: number
  revised: number
  /** How many of the revised values become one that they had before. */
  reverted: number
  /** The times of the first and the last point, Unix ms. */
  firstAt: number
  lastAt: number
  /** Values that are recorded between the two, and of the whole series. */
  recordedBetween: number
  recorded: number
}

/** The effects of a write. */
export interface Comparison extends WriteCounts {
  held: number
  kept: number
  biggest: BigChange[]
  series: SeriesComparison[]
}

/** The source of the compared values, and whether they override decisions of operators. */
export interface ComparedWrite {
  source?: string
  replace?: boolean
}

export type Compare = (points: readonly Point[], write?: ComparedWrite) => Promise<Comparison>

/** Points that are compared before the time is read. */
const pointsEach = 500
/** How long points are compared before other requests run. */
const sliceMs = 5

/** Says what a write of points would do, and writes nothing. */
export function createComparison({
  observations,
  catalogue,
  newGuards,
  decisions,
  sources,
  stopwatch,
}: {
  observations: Pick<ObservationStore, 'newest' | 'after' | 'count' | 'vintages'>
  catalogue: Pick<Catalogue, 'byId'>
  /** Guards of one comparison: those of writes must not learn from values that are only checked. */
  newGuards(): Pick<Guards, 'judge'>
  decisions: Pick<Decisions, 'sift'>
  sources: Pick<ValueSourceStore, 'named'>
  stopwatch: Pick<Clock, 'monotonic'>
}): Compare {
  const anyTime = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const
  /** Values of several sources are sifted source by source, as a batch writes them. */
  const siftOf = (points: readonly Point[], usual: string | undefined, replaces: boolean) =>
    [...Map.groupBy(points, point => point.source ?? usual)].flatMap(([name, own]) => [
      ...decisions.sift(own, name === undefined ? 0 : sources.named(name), replaces).fresh,
    ])
  return async (points, { source, replace = false } = {}) => {
    const pause = createPause(sliceMs, { stopwatch })
    const guards = newGuards()
    const good: Point[] = []
    let freshCount = 0
    for (let i = 0; i < points.length; i += pointsEach) {
      const fresh = siftOf(points.slice(i, i + pointsEach), source, replace)
      freshCount += fresh.length
      good.push(...guards.judge(fresh).good)
      await pause()
    }
    const biggest = createBigChanges()
    const counts = { inserted: 0, revised: 0, unchanged: 0 }
    const series: SeriesComparison[] = []
    for (const [seriesId, group] of Map.groupBy(good, point => point.seriesId)) {
      const { code } = catalogue.byId(seriesId)
      const ordered = group.toSorted((a, b) => a.observedAt - b.observedAt)
      const [firstAt, lastAt] = [ordered[0]!.observedAt, ordered.at(-1)!.observedAt]
      let [revised, reverted] = [0, 0]
      const neighbours = createStoredNeighbours(observations, seriesId)
      let before = neighbours.before(firstAt)?.value
      for (const [i, { observedAt, value }] of ordered.entries()) {
        if (i % pointsEach === 0) await pause()
        const old = neighbours.at(observedAt)
        if (!old) {
          counts.inserted += 1
          if (before !== undefined) biggest.add(code, observedAt, before, value, true)
        } else if (old.value === value) counts.unchanged += 1
        else {
          revised += 1
          const earlier = observations.vintages(seriesId, observedAt)
          if (earlier.some(vintage => vintage.value === value)) reverted += 1
          biggest.add(code, observedAt, old.value, value)
        }
        before = value
      }
      counts.revised += revised
      series.push({
        code,
        points: group.length,
        revised,
        reverted,
        firstAt,
        lastAt,
        recordedBetween: observations.count(seriesId, firstAt, lastAt + 1),
        recorded: observations.count(seriesId, ...anyTime),
      })
    }
    return {
      ...counts,
      held: freshCount - good.length,
      kept: points.length - freshCount,
      biggest: biggest.list(),
      series,
    }
  }
}
