import { dayMs } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { isBefore } from '../math/cursor.ts'
import type { ChangeLogStore } from '../store/log.ts'
import type { createDatasetChanges } from './dataset-changes.ts'
import type { createDerivedChanges } from './derived.ts'
import { audienceOf, createServedHistory, isSeen, type ServedHistory } from './history.ts'
import { beforeSegment, type createPriceChanges, stretchesOf } from './price-changes.ts'
import { type AnyRecord, type ChangeReader, type ChangeRecord, readsRecorded } from './segments.ts'
import type { TransactionReader } from './transactions.ts'

/** The spans that a replay reads and orders at a time: as long as their records are few enough. */
const firstReplayMs = dayMs / 24
const replayMaxMs = 64 * dayMs
const replayRecordsMax = 50_000
/** Records of a replay that are read before others may run. */
const pauseEach = 500
/** Nothing is recorded later than its transaction is written, but for some milliseconds. */
const laterMs = dayMs

/** Reads records in the order in which they became known. */
export function createReplay({
  log,
  catalogue,
  transactions,
  prices,
  datasets,
  derived,
}: {
  log: ChangeLogStore
  catalogue: Pick<Catalogue, 'everything'>
  transactions: TransactionReader
  prices: ReturnType<typeof createPriceChanges>
  datasets: ReturnType<typeof createDatasetChanges>
  derived: ReturnType<typeof createDerivedChanges>
}) {
  /**
   * Records of `[from, to)` that are not forgotten, in the order of recording; undefined if they are
   * too many. Yields where others may run.
   */
  const recordedIn = function* (
    reader: ChangeReader,
    from: number,
    to: number,
    served: ServedHistory,
  ): Generator<undefined, AnyRecord[] | undefined> {
    const found = new Map<string, AnyRecord>()
    const add = (record: ChangeRecord) =>
      found.set(`${record.series.id} ${record.observedAt} ${record.recordedAt}`, record)
    const isTooMany = () => found.size > replayRecordsMax && to - from > 1
    const wanted = catalogue
      .everything()
      .filter(one => readsRecorded(reader, one) && isSeen(audienceOf(one), reader.viewer))
    const ids = new Set(wanted.map(({ id }) => id))
    const ranges = log.touching(from, to, [...ids])
    for (const writtenAt of new Set(ranges.map(range => range.writtenAt)))
      for (const segment of transactions.segmentsOf(
        writtenAt,
        log.between(writtenAt, writtenAt),
        [],
      )) {
        const { series, work } = segment
        if (!ids.has(series.id) || !('ranges' in work)) continue
        const hidden = served.hidden(series.id, Number.POSITIVE_INFINITY)
        for (const stretch of stretchesOf(work.ranges)) {
          const recordedFrom = Math.max(stretch.recordedFrom, from)
          const recordedTo = Math.min(stretch.recordedTo, to - 1)
          const part = { ...stretch, recordedFrom, recordedTo }
          for (const record of prices.vintagesOf(
            segment,
            part,
            beforeSegment(segment),
            hidden,
            false,
          )) {
            add(record)
            if (found.size % pauseEach === 0) yield
            if (isTooMany()) return undefined
          }
          yield
        }
      }
    for (const table of reader.tables)
      for (const rows of log.rows.touching(table, from, to))
        for (const record of datasets.of([rows], reader, beforeSegment(rows))) {
          if (!record) {
            yield
            continue
          }
          found.set(
            `${table} ${record.recordedAt} ${rows.writtenAt} ${record.place.recordedAt}`,
            record,
          )
          if (isTooMany()) return undefined
        }
    if (reader.isDerived)
      for (const record of derived.recordedIn(reader, from, to, served)) {
        if (record) add(record)
        else yield
        if (isTooMany()) return undefined
      }
    return [...found.values()].sort(
      (a, b) => a.recordedAt - b.recordedAt || (isBefore(a.place, b.place) ? -1 : 1),
    )
  }

  /** The records of `[from, to)` by their recording, as they are read; undefined: others may run. */
  return function* (
    reader: ChangeReader,
    from: number,
    to: number,
  ): Generator<AnyRecord | undefined> {
    const served = createServedHistory(log.events.ofSeries)
    const begin = Math.max(from, log.oldestRecorded() ?? to)
    const end = Math.min(to, (log.newest() ?? begin) + laterMs)
    let spanMs = firstReplayMs
    for (let at = begin; at < end; ) {
      const until = Math.min(end, at + spanMs)
      const found = yield* recordedIn(reader, at, until, served)
      if (!found) {
        spanMs = Math.max(1, Math.floor((until - at) / 8))
        continue
      }
      yield* found
      at = until
      if (found.length < replayRecordsMax / 8) spanMs = Math.min(2 * spanMs, replayMaxMs)
    }
  }
}
