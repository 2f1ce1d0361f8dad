import type { Database } from 'bun:sqlite'
import { dayMs } from '../../lib/time/instant.ts'
import type { DayClose } from '../../market/condition/faults.ts'
import type { DayFacts } from '../../market/condition/quality.ts'
import { barColumns } from '../bar-columns.ts'
import { lazy } from '../statement.ts'

export interface QualityStore {
  /**
   * Every day of a series that starts at or after `from`, oldest first: its bar beside what its
   * observations come to.
   */
  days(seriesId: number, from: number): DayFacts[]
  /** The closes of the days from `from` on, oldest first, at most the newest `limit` of them. */
  closes(seriesId: number, from: number, limit: number): DayClose[]
  /** When the observations from `from` on were made, oldest first, Unix ms. */
  times(seriesId: number, from: number): number[]
}

type Bar = Omit<DayFacts, 'observed'>
interface Observed {
  day: number
  count: number
  low: number
  high: number
}

export function createQualityStore(db: Database): QualityStore {
  const bars = lazy<Bar, [number, number]>(
    db,
    `SELECT ${barColumns} FROM bars b WHERE series_id = ? AND span = 24 AND starts_at >= ? ORDER BY starts_at`,
  )
  // Aggregated where the rows are: ninety days of five-minute prices are twenty-six thousand of
  // them.
  const observed = lazy<Observed, [number, number]>(
    db,
    `SELECT observed_at / ${dayMs} AS day, count(*) AS count, min(value) AS low, max(value) AS high
     FROM observations WHERE series_id = ? AND observed_at >= ? GROUP BY 1`,
  )
  const closes = lazy<DayClose, [number, number, number]>(
    db,
    `SELECT starts_at AS startsAt, close, coalesce(low, close) AS low, coalesce(high, close) AS high
     FROM bars WHERE series_id = ? AND span = 24 AND starts_at >= ? ORDER BY starts_at DESC LIMIT ?`,
  )
  const times = lazy<{ at: number }, [number, number]>(
    db,
    'SELECT observed_at AS at FROM observations WHERE series_id = ? AND observed_at >= ? ORDER BY observed_at',
  )
  return {
    times: (seriesId, from) => times.all(seriesId, from).map(row => row.at),
    closes: (seriesId, from, limit) => closes.all(seriesId, from, limit).reverse(),
    days(seriesId, from) {
      const byDay = new Map(observed.all(seriesId, from).map(day => [day.day, day]))
      return bars
        .all(seriesId, from)
        .map(bar => ({ ...bar, observed: byDay.get(bar.startsAt / dayMs) }))
    },
  }
}
