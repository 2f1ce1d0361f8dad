import type { Database } from 'bun:sqlite'
import { statements } from '../../../../database/statement.ts'
import { dayMs } from '../../../../lib/time/instant.ts'
import { bucketStart } from '../../math/bars.ts'
import {
  createFold,
  daySpan,
  foldStored,
  hourSpan,
  isDense,
  type OldestFirst,
  type spans,
} from './recomputed.ts'

/**
 * Brings the hour and day bars up to date after observations of one series were withdrawn: a bucket
 * that has none left has no bar.
 */
export function createBarWithdrawer(
  db: Database,
  oldestFirst: OldestFirst,
): (seriesId: number, observedAts: readonly number[]) => void {
  const sql = statements(db)
  const drop = sql`DELETE FROM bars WHERE series_id = ? AND span = ? AND starts_at = ?`
  const put = sql`
    UPDATE bars SET open = ?, high = ?, low = ?, close = ?, sum = ?, count = ?, hours = ?, closed_at = ?, recorded_at = ?
    WHERE series_id = ? AND span = ? AND starts_at = ?`
  const foldRange = createFold(db, oldestFirst)
  const dropHours = sql`
    DELETE FROM bars WHERE series_id = ? AND span = 1 AND starts_at >= ? AND starts_at < ?`
  /** Recomputes the buckets that contain `ats`. */
  const fold = (
    seriesId: number,
    { span, interval }: (typeof spans)[number],
    ats: readonly number[],
  ) => {
    const starts = [...new Set(ats.map(at => bucketStart(interval, at)))]
    const bars = foldStored(foldRange, seriesId, interval, starts)
    for (const startsAt of starts) {
      const bar = bars.get(startsAt)
      if (!bar) {
        drop.run(seriesId, span, startsAt)
        continue
      }
      const { open, high, low, close, sum, count, hours, closedAt, recordedAt } = bar
      const values = [open, high, low, close, sum, count, hours, closedAt, recordedAt]
      put.run(...values, seriesId, span, startsAt)
    }
    return bars
  }
  return (seriesId, observedAts) => {
    const days = fold(seriesId, daySpan, observedAts)
    for (const [startsAt, ofDay] of Map.groupBy(observedAts, at => bucketStart('day', at))) {
      const day = days.get(startsAt)
      if (day && isDense(day)) fold(seriesId, hourSpan, ofDay)
      else dropHours.run(seriesId, startsAt, startsAt + dayMs)
    }
  }
}
