import type { Series } from '../../../catalogue/store/series.ts'
import type { Observation } from '../../math/bars.ts'
import { baseAgeMaxMs, type ChangeSpan, changeBases } from '../../math/change.ts'
import type { ObservationStore } from '../../store/observations.ts'

/** Observations read ahead of a base: it moves on by one of them with about every new price. */
const aheadMax = 16

/** Neighbours, oldest first, between whose first and `to` the base is known without a read. */
interface Ahead {
  observations: Observation[]
  /** A base before a moment up to this one, inclusive, is among them. */
  to: number
}

/** The observations of earlier days that the prices of one day are compared with. */
export type ChangeBases = ReturnType<typeof createChangeBases>

export interface ChangeBasesDeps {
  /** Nothing before it may change while they are used. */
  dayStart: number
  newestBefore(seriesId: number, before: number): Observation | undefined
  /** Observations after a moment, oldest first. Without it nothing is read ahead. */
  after?: ObservationStore['after'] | undefined
  /** Whether reads may use what was observed then. */
  isClear(seriesId: number, observedAt: number): boolean
}

/** Finds the bases again and again while new prices of one day come in. */
export function createChangeBases(deps: ChangeBasesDeps) {
  const { dayStart, newestBefore, after, isClear } = deps
  /**
   * Undefined after the first read of a span. Most days of most series are read once, so only the
   * second read looks ahead.
   */
  const aheadBySpan = new Map<ChangeSpan, Ahead | undefined>()

  const readAhead = (seriesId: number, before: number, base: Observation): Ahead | undefined => {
    const later = after?.(seriesId, before - 1, aheadMax)
    const last = later?.at(-1)
    if (!later || !last) return undefined
    const bases = later.filter(
      ({ observedAt }) => observedAt < dayStart && isClear(seriesId, observedAt),
    )
    const to = later.length < aheadMax ? dayStart : Math.min(last.observedAt, dayStart)
    return { observations: [base, ...bases], to }
  }

  const baseOf = (span: ChangeSpan, seriesId: number, before: number): Observation | undefined => {
    const ahead = aheadBySpan.get(span)
    if (ahead && before > ahead.observations[0]!.observedAt && before <= ahead.to)
      return ahead.observations.findLast(({ observedAt }) => observedAt < before)
    const base = newestBefore(seriesId, before)
    const isAgain = aheadBySpan.has(span)
    aheadBySpan.set(span, base && isAgain ? readAhead(seriesId, before, base) : undefined)
    return base
  }

  return {
    of: (series: Series, newestAt: number): [span: ChangeSpan, base: Observation][] =>
      changeBases(series.cadence, newestAt).flatMap(([span, before]) => {
        const base = baseOf(span, series.id, before)
        const moment = before - 1
        const since = moment - baseAgeMaxMs(series.cadence)
        return base && base.observedAt >= since ? [[span, base]] : []
      }),
  }
}
