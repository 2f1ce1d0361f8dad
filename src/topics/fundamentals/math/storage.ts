import { dayMs, isoDay, startOfMonth, startOfWeek } from '../../../lib/time/instant.ts'
import { slackDays, spanDays } from '../../calendars/math/weeks.ts'
import { decimalDifference, roundTo } from '../../prices/math/format.ts'
import { type Close, dayAfter, dayNumber } from '../../prices/math/window.ts'

/** Weekly surveys are compared with those of the same weekday. */
export type StorageSpan = 'week' | 'month' | 'year'

/** Agencies count thousands of barrels; a level in millions keeps them. */
export const levelDecimals = ({ unit, decimals }: { unit: string; decimals: number }): number =>
  unit === 'million_barrels' ? Math.max(3, decimals) : decimals

/** 100 x level / working capacity; undefined without a capacity. */
export const utilizationPercent = (
  level: number,
  capacity: number | undefined,
): number | undefined =>
  capacity === undefined || capacity <= 0 ? undefined : (100 * level) / capacity

/**
 * The level that the newest of `closes` (oldest first) is compared with over a span; undefined
 * where there is not one of about that day.
 */
export function levelBefore(closes: readonly Close[], span: StorageSpan): Close | undefined {
  const last = closes.at(-1)
  if (!last) return undefined
  const day = dayAfter(last.day, -spanDays[span])
  const oldest = dayAfter(day, -slackDays)
  const earlier = closes.findLast(close => close.day <= day)
  return earlier && earlier.day >= oldest ? earlier : undefined
}

export type StorageInterval = 'daily' | 'weekly' | 'monthly'

/**
 * A level and how it differs from the row before, also where that lies before the range; undefined
 * for the first there is.
 */
export interface LevelRow extends Close {
  change: number | undefined
}

/** Buckets are weeks from Monday and calendar months. */
const bucketOf: Record<StorageInterval, (day: string) => string> = {
  daily: day => day,
  weekly: day => isoDay(startOfWeek(dayNumber(day) * dayMs)),
  monthly: day => isoDay(startOfMonth(dayNumber(day) * dayMs)),
}

/**
 * The rows of `closes` (oldest first) from `fromOn` to `toOn`, both inclusive, newest first: of
 * each bucket the last level.
 */
export function levelRows(
  closes: readonly Close[],
  interval: StorageInterval,
  fromOn: string,
  toOn: string,
  decimals: number,
): LevelRow[] {
  const lasts: Close[] = []
  let bucket: string | undefined
  for (const close of closes) {
    if (close.day > toOn) break
    const closeBucket = bucketOf[interval](close.day)
    if (closeBucket === bucket) lasts[lasts.length - 1] = close
    else lasts.push(close)
    bucket = closeBucket
  }
  return lasts
    .map((row, i) => ({
      ...row,
      change:
        i === 0 ? undefined : roundTo(decimalDifference(row.value, lasts[i - 1]!.value), decimals),
    }))
    .filter(row => row.day >= fromOn)
    .reverse()
}
