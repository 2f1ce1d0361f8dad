import { describe, expect, test } from 'bun:test'
import { dayMs, isoDay, parseDay } from '../../../../src/lib/time/instant.ts'
import {
  type BarInterval,
  bucketEnd,
  bucketStart,
  daysInBar,
  longIntervals,
} from '../../../../src/topics/prices/math/bars.ts'

const bucketOf = (interval: BarInterval, day: string) => {
  const startsAt = bucketStart(interval, parseDay(day)!)
  return `${isoDay(startsAt)} ${isoDay(bucketEnd(interval, startsAt) - 1)}`
}

describe('buckets', () => {
  test('of weeks end on the day that names them, those of week on Sunday', () => {
    // 2026-11-20 is a Friday.
    expect(bucketOf('w-fri', '2026-11-20')).toBe('2026-11-14 2026-11-20')
    expect(bucketOf('w-fri', '2026-11-21')).toBe('2026-11-21 2026-11-27')
    expect(bucketOf('w-thu', '2026-11-20')).toBe('2026-11-20 2026-11-26')
    expect(bucketOf('w-mon', '2026-11-20')).toBe('2026-11-17 2026-11-23')
    expect(bucketOf('w-sat', '2026-11-20')).toBe('2026-11-15 2026-11-21')
    expect(bucketOf('week', '2026-11-20')).toBe('2026-11-16 2026-11-22')
  })

  test('of quarters and years are those of the calendar, before 1970 too', () => {
    expect(bucketOf('quarter', '2026-11-20')).toBe('2026-10-01 2026-12-31')
    expect(bucketOf('quarter', '2024-02-29')).toBe('2024-01-01 2024-03-31')
    expect(bucketOf('quarter', '1968-06-30')).toBe('1968-04-01 1968-06-30')
    expect(bucketOf('year', '2024-12-31')).toBe('2024-01-01 2024-12-31')
    expect(bucketOf('year', '1969-01-01')).toBe('1969-01-01 1969-12-31')
  })

  test('buckets of one interval are contiguous and never exceed its maximum number of days', () => {
    for (const interval of longIntervals)
      for (let at = parseDay('1967-12-25')!; at < parseDay('1973-01-10')!; at += dayMs) {
        const startsAt = bucketStart(interval, at)
        const end = bucketEnd(interval, startsAt)
        expect(startsAt <= at && at < end).toBe(true)
        expect(bucketStart(interval, end)).toBe(end)
        expect(bucketStart(interval, end - 1)).toBe(startsAt)
        expect((end - startsAt) / dayMs <= daysInBar(interval)).toBe(true)
      }
  })
})
