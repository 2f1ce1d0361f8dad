import type { Context } from '../../../../http/operations/context.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import type { FlaggedValue } from '../../../prices/store/flagged-values.ts'
import { datasetLines } from '../../store/dataset-rows.ts'

/** The value that is recorded for the time of a flagged one. */
interface RecordedNow {
  /** Null: there is no value. */
  value: number | null
  recordedAt: number | null
  /** How this came about after the value was held, as a clause; undefined: it did not. */
  since: string | undefined
}

/**
 * Finds what the release of a flagged value would replace. A value that was left out because of a
 * decision is on the list only while that decision is current, so nothing is newer than it.
 */
export function createRecordedNow(deps: Context) {
  const { batchStore, catalogue, datasets, db, now, observations } = deps
  const lines = datasetLines(db)

  const ofSeries = (flag: FlaggedValue & { seriesId: number }): RecordedNow => {
    const last = observations.vintages(flag.seriesId, flag.observedAt).at(-1)
    const removedAt = last?.replacedAt
    if (!last || removedAt !== undefined)
      return {
        value: null,
        recordedAt: null,
        since:
          removedAt !== undefined && removedAt > flag.flaggedAt
            ? `the value of this time was removed at ${isoInstant(removedAt)}`
            : undefined,
      }
    return recorded(flag, last.value, last.recordedAt, last.value === flag.value)
  }

  const ofRow = (flag: FlaggedValue): RecordedNow => {
    const dataset = datasets.find(({ name }) => name === flag.dataset)!
    const checked = dataset.check(JSON.parse(flag.fields!), now())
    const numbers =
      'record' in checked
        ? dataset.guarded
            ?.numbersOf(checked.record, id => catalogue.byId(id).code)
            .find(({ line }) => JSON.stringify(line) === flag.line)
        : undefined
    if (!numbers) return { value: null, recordedAt: null, since: undefined }
    const { line, time, values } = numbers
    const row = lines
      .between({ dataset: dataset.name, line, time: dataset.guarded!.time }, time, time)
      .at(-1)
    if (!row) return { value: null, recordedAt: null, since: undefined }
    const isSame = Object.entries(values).every(([column, value]) => row[column] === value)
    return recorded(flag, row[flag.column!] as number | null, Number(row.recorded_at), isSame)
  }

  return (flag: FlaggedValue): RecordedNow => {
    const { seriesId } = flag
    const current = seriesId === null ? ofRow(flag) : ofSeries({ ...flag, seriesId })
    if (flag.status !== 'waiting' && flag.status !== 'rejected')
      return { ...current, since: undefined }
    const undoneAt = batchStore.find(flag.batchId)?.undoneAt ?? undefined
    return {
      ...current,
      since:
        current.since ??
        (undoneAt === undefined
          ? undefined
          : `batch ${flag.batchId}, which contains it, was undone at ${isoInstant(undoneAt)}`),
    }
  }
}

const recorded = (
  { flaggedAt }: FlaggedValue,
  value: number | null,
  recordedAt: number,
  isSame: boolean,
): RecordedNow => ({
  value,
  recordedAt,
  since:
    !isSame && recordedAt > flaggedAt
      ? `${value ?? 'a row without this number'} was recorded at ${isoInstant(recordedAt)}`
      : undefined,
})
