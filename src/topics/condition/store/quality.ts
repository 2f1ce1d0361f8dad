import type { Database } from 'bun:sqlite'
import { barColumnsOf } from '../../../database/bar-columns.ts'
import { statements } from '../../../database/statement.ts'
import { barsOf, type Observation } from '../../prices/math/bars.ts'
import type { DayClose } from '../math/faults.ts'
import type { DayFacts } from '../math/quality.ts'

export type QualityStore = ReturnType<typeof createQualityStore>

/** The stored bar of a day, without the bar computed from its observations. */
type StoredDay = Omit<DayFacts, 'observed'> & Partial<Pick<DayFacts, 'observed'>>

/** Fewer fields than a bar has, because every day of every code is read. */
const dayColumns = barColumnsOf([
  'startsAt',
  'open',
  'high',
  'low',
  'close',
  'sum',
  'count',
  'closedAt',
  'bornAt',
])

export function createQualityStore(db: Database) {
  const sql = statements(db)
  const bars = sql<StoredDay, [number, number]>`
    SELECT ${dayColumns} FROM bars b WHERE series_id = ? AND span = 24 AND starts_at >= ? ORDER BY starts_at`
  // Not grouped by the database: it would sort by the day what is in the order of time.
  const observations = sql<Observation, [number, number]>`
    SELECT observed_at AS observedAt, value, recorded_at AS recordedAt FROM observations
    WHERE series_id = ? AND observed_at >= ? ORDER BY observed_at`
  const closes = sql<DayClose, [number, number, number]>`
    SELECT starts_at AS startsAt, close, coalesce(low, close) AS low, coalesce(high, close) AS high
    FROM bars WHERE series_id = ? AND span = 24 AND starts_at >= ? ORDER BY starts_at DESC LIMIT ?`
  const times = sql<{ at: number }, [number, number]>`
    SELECT observed_at AS at FROM observations WHERE series_id = ? AND observed_at >= ? ORDER BY observed_at`
  return {
    /** When the observations from `from` on were made, oldest first, Unix ms. */
    times: (seriesId: number, from: number) => times.all(seriesId, from).map(row => row.at),
    /** The closes of the days from `from` on, oldest first, at most the newest `limit` of them. */
    closes: (seriesId: number, from: number, limit: number) =>
      closes.all(seriesId, from, limit).reverse(),
    /**
     * Every day of a series that starts at or after `from`, oldest first: its stored bar, the bar
     * computed from its observations, and the last of these.
     */
    days(seriesId: number, from: number) {
      const observedAll = observations.all(seriesId, from)
      const observed = barsOf('day', observedAll)
      const days = bars.all(seriesId, from)
      // Both are in the order of time.
      let place = 0
      for (const day of days) {
        while (place < observed.length && observed[place]!.startsAt < day.startsAt) place += 1
        day.observed = observed[place]?.startsAt === day.startsAt ? observed[place] : undefined
      }
      return { days: days as DayFacts[], newest: observedAll.at(-1) }
    },
  }
}
