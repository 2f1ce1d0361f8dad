import type { Observation } from '../../math/bars.ts'
import type { ObservationReads } from '../../store/observations.ts'
import type { QuarantineList } from '../quarantine.ts'

/** Values with a time in `[from, to)`, oldest first, without quarantined days; in the future too. */
export type PeriodValues = (seriesId: number, from: number, to: number) => Observation[]

/** Far more than the periods of the longest range that is read. */
const valuesMax = 200_000

/** Since when the recording times of a series are known. */
interface Covered {
  since(seriesId: number, asOf: number): number
}

type Read = (seriesId: number, from: number, to: number) => Observation[]

const clearOf =
  (quarantine: Pick<QuarantineList, 'clear'>, read: Read): PeriodValues =>
  (seriesId, from, to) =>
    quarantine
      .clear(seriesId, from, to)
      .flatMap(stretch => read(seriesId, stretch.from, stretch.to).reverse())

export const currentValues = (
  observations: Pick<ObservationReads, 'between'>,
  quarantine: Pick<QuarantineList, 'clear'>,
): PeriodValues =>
  clearOf(quarantine, (id, from, to) => observations.between(id, from, to, valuesMax))

/**
 * The values that were known at a moment, whichever time or period they are for. Before coverage
 * there is no record of when a value came: those of periods that had not begun are taken as
 * unknown.
 */
export const valuesAsOf = (
  observations: Pick<ObservationReads, 'asOf' | 'firstRecorded'>,
  quarantine: Pick<QuarantineList, 'clear'>,
  coverage: Covered,
  asOf: number,
): PeriodValues =>
  clearOf(quarantine, (id, from, to) =>
    asOf >= coverage.since(id, asOf)
      ? observations.asOf(id, from, to, asOf, valuesMax)
      : observations.firstRecorded(id, from, Math.min(to, asOf + 1), valuesMax),
  )
