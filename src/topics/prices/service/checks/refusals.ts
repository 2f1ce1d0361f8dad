import { isoDay } from '../../../../lib/time/instant.ts'
import { dataStatus, freshUntil } from '../../../calendars/math/freshness.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import { type GuardRule, type GuardTerms, guardAction } from '../../math/guards.ts'
import type { FlaggedValueStore } from '../../store/flagged-values.ts'
import type { ObservationStore, Point } from '../../store/observations.ts'

/** Why a value is held although its move is not suspicious. */
interface Refusal {
  rule: GuardRule
  reason: string
}

/** Holds values that an operator has not released, and the first ones of a series that had stopped. */
export function createRefusals(
  catalogue: Pick<Catalogue, 'byId'>,
  observations: Pick<ObservationStore, 'between' | 'newest'>,
  flags: Pick<FlaggedValueStore, 'notTaken' | 'statusOf'>,
) {
  const termsOf = (seriesId: number) =>
    catalogue.byId(seriesId).terms?.guards as GuardTerms | undefined

  /**
   * Why a value that is not flagged is refused nevertheless: it waits for review or was rejected,
   * and only later values have changed what the guards know. Stored values are not affected.
   */
  const listed = (seriesId: number, group: readonly Point[]) => {
    const terms = termsOf(seriesId)
    const refused = new Map(
      flags
        .notTaken(seriesId, group[0]!.observedAt, group.at(-1)!.observedAt)
        .filter(({ rule }) => guardAction(rule as GuardRule, terms) === 'hold')
        .map(value => [`${value.observedAt} ${value.value}`, value]),
    )
    return ({ observedAt, value }: Point) => {
      const reason = refused.size > 0 ? refused.get(`${observedAt} ${value}`) : undefined
      if (!reason) return undefined
      const [current] = observations.between(seriesId, observedAt, observedAt + 1, 1)
      return current?.value === value
        ? undefined
        : { rule: reason.rule as GuardRule, reason: reason.reason }
    }
  }

  /**
   * The reason to hold new points of a series that had stopped, where its operator wants that. A
   * series that was recorded recently continues, however old its points are, because a long file
   * comes in many parts.
   */
  const afterStop = (seriesId: number, at: number): ((point: Point) => Refusal | undefined) => {
    const series = catalogue.byId(seriesId)
    if (guardAction('stop', termsOf(seriesId)) !== 'hold') return () => undefined
    const newest = observations.newest(seriesId, Number.MAX_SAFE_INTEGER)
    if (!newest || dataStatus(series, newest.observedAt, at) !== 'stale') return () => undefined
    const patienceMs = freshUntil(series, newest.observedAt).delayedUntil - newest.observedAt
    if (at - newest.recordedAt <= patienceMs) return () => undefined
    const reason = `the first after ${isoDay(newest.observedAt)}, where the series had stopped`
    return point =>
      point.observedAt > newest.observedAt &&
      flags.statusOf(seriesId, point.observedAt, point.value) !== 'released'
        ? { rule: 'stop', reason }
        : undefined
  }

  return { listed, afterStop }
}
