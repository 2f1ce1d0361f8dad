import { isoDay } from '../../../../lib/time/instant.ts'
import type { Decision, DecisionStore } from '../../store/decisions.ts'
import type { FlaggedValueStore } from '../../store/flagged-values.ts'
import type { ObservationReads, Origin, Point } from '../../store/observations.ts'

/** A value that is left out because an operator decided against it. */
export interface KeptPoint extends Point {
  reason: string
  /** The value that is current at its point; undefined: none. */
  current: number | undefined
  /**
   * Whether to list it: rejected values are listed already, and earlier values of one moment are
   * not listed.
   */
  isNews: boolean
}

/**
 * Preserves decisions of operators: a value that was corrected, deleted, undone or rejected does
 * not come back when its source sends it again. Another value of the source is accepted.
 */
export type Decisions = ReturnType<typeof createDecisions>

/** With fewer points of a series, each is looked up separately. */
const lookedUpMax = 16
/** So many values of one write are listed; all of them are counted. */
const listedMax = 1_000

export function createDecisions({
  store,
  flags,
  observations,
  now,
}: {
  store: DecisionStore
  flags: Pick<FlaggedValueStore, 'anyRejected' | 'rejected' | 'keep' | 'forgetKept'>
  observations: Pick<ObservationReads, 'between'>
  now(): number
}) {
  /** Reads what was decided about the points of a series, in one range or point by point. */
  const around = <T>(points: readonly Point[], read: (from: number, to: number) => T[]): T[] => {
    const times = points.map(point => point.observedAt)
    if (times.length <= lookedUpMax) return [...new Set(times)].flatMap(at => read(at, at))
    let [from, to] = [times[0]!, times[0]!]
    for (const at of times) {
      if (at < from) from = at
      if (at > to) to = at
    }
    return read(from, to)
  }

  const isStored = ({ seriesId, observedAt, value }: Point): boolean =>
    observations.between(seriesId, observedAt, observedAt + 1, 1)[0]?.value === value

  /** Checks the points of one series; undefined where it has no decisions. */
  const judgeOf = (
    seriesId: number,
    points: readonly Point[],
    sourceId: number,
    replaces: boolean,
  ) => {
    const decisions = new Map(
      (replaces ? [] : around(points, (from, to) => store.between(seriesId, from, to))).map(
        decision => [decision.observedAt, decision],
      ),
    )
    const rejected = new Map(
      around(points, (from, to) => flags.rejected(seriesId, from, to)).map(value => [
        `${value.observedAt} ${value.value}`,
        value.reason,
      ]),
    )
    if (decisions.size + rejected.size === 0) return undefined
    return (point: Point): KeptPoint | undefined => {
      const decision = decisions.get(point.observedAt)
      if (decision && isOverruled(decision, point, sourceId))
        return {
          ...point,
          reason: reasonOf(decision),
          current: decision.value,
          isNews: true,
        }
      const reason = rejected.get(`${point.observedAt} ${point.value}`)
      if (reason === undefined || point.deleted || isStored(point)) return undefined
      return { ...point, reason, current: undefined, isNews: false }
    }
  }

  /** Whether no operator ever decided anything: then nothing need be sifted. */
  const isEmpty = () => !store.any() && !flags.anyRejected()

  return {
    isEmpty,
    /**
     * Parts values of one source into those that may go in and those that are left out; with
     * `replaces` these are only the rejected ones.
     */
    sift(
      points: readonly Point[],
      sourceId: number,
      replaces: boolean = false,
    ): { fresh: readonly Point[]; kept: readonly KeptPoint[] } {
      const kept: KeptPoint[] = []
      if (points.length === 0 || isEmpty()) return { fresh: points, kept }
      const left = new Set<Point>()
      for (const [seriesId, group] of Map.groupBy(points, point => point.seriesId)) {
        const judge = judgeOf(seriesId, group, sourceId, replaces)
        if (!judge) continue
        const keptAt = new Map<number, KeptPoint>()
        // The last value of a moment counts: the ones it replaced are left out too.
        for (const point of group.toReversed()) {
          const later = point.recordedAt === undefined ? keptAt.get(point.observedAt) : undefined
          const decided = later ? { ...later, ...point, isNews: false } : judge(point)
          if (!decided) continue
          kept.push(decided)
          left.add(point)
          keptAt.set(point.observedAt, decided)
        }
      }
      return {
        fresh: kept.length === 0 ? points : points.filter(point => !left.has(point)),
        kept,
      }
    },
    /** Lists the values that were left out. */
    keep(kept: readonly KeptPoint[], { sourceId, batchId }: Pick<Origin, 'sourceId' | 'batchId'>) {
      for (const point of kept.filter(value => value.isNews).slice(0, listedMax))
        flags.keep({
          seriesId: point.seriesId,
          observedAt: point.observedAt,
          value: point.value,
          before: point.current ?? null,
          rule: 'corrected',
          reason: point.reason,
          sourceId,
          batchId,
          status: 'kept',
          flaggedAt: now(),
        })
    },
    /**
     * Removes listed values from one moment to another, both inclusive, because other values were
     * written.
     */
    forget: flags.forgetKept,
  }
}

/** Whether an operator decided against this value, which its source had sent before. */
function isOverruled(decision: Decision, point: Point, sourceId: number): boolean {
  if (point.deleted || point.value === decision.value) return false
  // A value recorded before the decision becomes an earlier vintage.
  const isPast = decision.value !== undefined && (point.recordedAt ?? Infinity) < decision.decidedAt
  if (isPast) return false
  return decision.given.some(value => value.value === point.value && value.sourceId === sourceId)
}

function reasonOf({ value, kind, batchId, decidedAt, reason }: Decision): string {
  const how = kind === 'undo' ? 'an undo' : value === undefined ? 'a deletion' : 'a correction'
  const why = reason === null || reason === '' ? '' : `: ${reason}`
  return `${value ?? 'no value'} stands by ${how} of ${isoDay(decidedAt)} (batch ${batchId})${why}`
}
