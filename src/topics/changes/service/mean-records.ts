import { isoDay } from '../../../lib/time/instant.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { dayOfDate } from '../../delivery/math/days.ts'
import type { Formulas } from '../../formulas/service/formulas.ts'
import type { IsValueWithheld, Withheld } from '../../prices/store/withheld.ts'
import type { VintageReader } from '../store/vintages.ts'
import { leftBySource } from './price-changes.ts'
import type { ChangeRecord } from './segments.ts'

/**
 * Records of series that have the means of delivery periods on days without a recorded value: the
 * recorded ones get their source, and what must not be passed on is left out of each.
 */
export function createMeanRecords({
  vintages,
  formulas,
  withheld,
  isValueWithheld,
}: {
  vintages: VintageReader
  formulas: Pick<Formulas, 'legsOf'>
  withheld: Withheld
  isValueWithheld: IsValueWithheld
}) {
  const isLeftOf = (seriesId: number) => leftBySource(isValueWithheld, seriesId)
  return ({ id }: Series) => {
    const [leg] = formulas.legsOf(id)
    const [isRecordedLeft, isPeriodLeft] = [isLeftOf(id), isLeftOf(leg?.id ?? id)]
    const hasPeriodsLeft = leg !== undefined && withheld(leg.id) !== undefined
    /** Whether the mean of a day, as it was known, is not passed on: one of its periods is enough. */
    const isMeanLeft = (at: number, recordedTo: number): boolean => {
      if (!hasPeriodsLeft || !leg.delivery) return false
      const { from, to } = dayOfDate(leg.delivery, isoDay(at))
      const range = { firstAt: from, lastAt: to - 1, recordedFrom: Number.MIN_SAFE_INTEGER }
      const isLeft = new Map<number, boolean>()
      for (const { observedAt, value, sourceId } of vintages.all(leg.id, { ...range, recordedTo }))
        isLeft.set(observedAt, value !== undefined && isPeriodLeft(sourceId))
      return [...isLeft.values()].includes(true)
    }
    const hasRecorded = vintages.extent(id) !== undefined
    return (record: ChangeRecord): ChangeRecord | undefined => {
      const { observedAt, recordedAt, value } = record
      if (observedAt === undefined || (value === undefined && record.isRetroactive)) return record
      const range = { firstAt: observedAt, lastAt: observedAt, recordedFrom: recordedAt }
      const own = hasRecorded
        ? vintages
            .read(id, { ...range, recordedTo: recordedAt }, 1)
            .vintages.find(vintage => vintage.recordedAt === recordedAt)
        : undefined
      const isPreviousLeft =
        own?.previous === undefined
          ? isMeanLeft(observedAt, recordedAt - 1)
          : isRecordedLeft(own.previousSourceId)
      const previous = isPreviousLeft ? undefined : record.previous
      const isLeft =
        own?.value === undefined ? isMeanLeft(observedAt, recordedAt) : isRecordedLeft(own.sourceId)
      if (value === undefined || isLeft)
        return previous === undefined
          ? undefined
          : { ...record, kind: 'deleted', value: undefined, previous, isRetroactive: false }
      return {
        ...record,
        kind: previous === undefined ? 'added' : 'revised',
        previous,
        ...(own?.value !== undefined && {
          sourceId: own.sourceId,
          batchId: own.batchId,
          isRecorded: true,
        }),
      }
    }
  }
}
