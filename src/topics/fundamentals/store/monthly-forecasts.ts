import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'

/** A forecast of the mean price of a series in a month, in the unit of the series. */
export interface StoredForecast {
  seriesId: number
  /** `YYYY-MM`. */
  month: string
  /** The publication that it belongs to, Unix ms. */
  publishedAt: number
  value: number
  low: number
  high: number
  /** Number of closes that it was computed from. */
  dataPoints: number
  /**
   * When it was computed: long after `publishedAt` for one that was made up for, from the closes
   * before it.
   */
  recordedAt: number
}

export type ForecastValue = Pick<StoredForecast, 'seriesId' | 'month' | 'publishedAt' | 'value'>

/** Months of `[fromMonth, toMonth)`; undefined: every series. */
export interface ForecastFilter {
  seriesIds: readonly number[] | undefined
  fromMonth: string
  toMonth: string
}

export type MonthlyForecastStore = ReturnType<typeof createMonthlyForecastStore>

const columns = `series_id AS seriesId, month, published_at AS publishedAt, value, low, high, data_points AS dataPoints, recorded_at AS recordedAt`
const matching =
  '(?1 IS NULL OR series_id IN (SELECT value FROM json_each(?1))) AND month >= ?2 AND month < ?3'

export function createMonthlyForecastStore(db: Database) {
  const sql = statements(db)
  const insert = sql`
    INSERT OR IGNORE INTO monthly_forecasts (series_id, month, published_at, value, low, high, data_points, recorded_at)
    VALUES ($seriesId, $month, $publishedAt, $value, $low, $high, $dataPoints, $recordedAt)`
  const newest = sql<StoredForecast, [string | null, string, string]>`
    SELECT ${columns} FROM monthly_forecasts f WHERE ${matching} AND published_at = (SELECT max(n.published_at) FROM monthly_forecasts n
      WHERE n.series_id = f.series_id AND n.month = f.month) ORDER BY month, series_id`
  const page = sql<StoredForecast, [string | null, string, string, number, number]>`
    SELECT ${columns} FROM monthly_forecasts WHERE ${matching} ORDER BY month DESC, published_at DESC, series_id LIMIT ?4 OFFSET ?5`
  // The order of the primary key, so that nothing is sorted.
  const values = sql<ForecastValue, [string | null, string, string]>`
    SELECT series_id AS seriesId, month, published_at AS publishedAt, value FROM monthly_forecasts WHERE ${matching}
    ORDER BY series_id, month, published_at`
  const count = sql<{ n: number }, [string | null, string, string]>`
    SELECT count(*) AS n FROM monthly_forecasts WHERE ${matching}`
  const publications = sql<{ at: number }, [number]>`
    SELECT DISTINCT published_at AS at FROM monthly_forecasts WHERE series_id = ?`
  const argumentsOf = ({
    seriesIds,
    fromMonth,
    toMonth,
  }: ForecastFilter): [string | null, string, string] => [
    seriesIds === undefined ? null : JSON.stringify(seriesIds),
    fromMonth,
    toMonth,
  ]
  return {
    /** One transaction. Existing forecasts are kept: a forecast is never made twice. */
    write: (rows: readonly StoredForecast[]) =>
      void transact(db, () => {
        for (const row of rows) insert.run({ ...row })
      }),
    /** The newest forecast of each month of the range, by month. */
    newest: (filter: ForecastFilter) => newest.all(...argumentsOf(filter)),
    /** Every forecast of the range: newest month first, then newest publication, then by series. */
    page: (filter: ForecastFilter, limit: number, offset: number) =>
      page.all(...argumentsOf(filter), limit, offset),
    /**
     * The values of every forecast of the range, by series and month; without columns that accuracy
     * does not need.
     */
    values: (filter: ForecastFilter) => values.all(...argumentsOf(filter)),
    count: (filter: ForecastFilter) => count.get(...argumentsOf(filter))!.n,
    publications: (seriesId: number) => publications.all(seriesId).map(row => row.at),
  }
}
