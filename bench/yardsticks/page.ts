import { Database } from 'bun:sqlite'

/** Fields that all rows of a series share, taken from Wellhead's own response. */
export interface SeriesFields {
  code: string
  name: string
  currency: string
  unit: string
  type: string
  source: string
}

/** A page by the times of its rows: nothing has to be passed over to find it. */
export interface PageRead {
  path: string
  interval: 'raw' | 'hour' | 'day' | 'month'
  from: number
  to: number
}

export interface Settings {
  database: string
  series: SeriesFields
  decimals: number
  reads: PageRead[]
}

interface Row {
  at: number
  value: number
  recorded_at: number
  starts_at?: number
  open: number
  high: number
  low: number
  average: number
  count: number
}

// A bar of one observation has its close alone.
const bars = (span: number) =>
  `SELECT closed_at AS at, close AS value, recorded_at, starts_at, coalesce(open, close) AS open,
     coalesce(high, close) AS high, coalesce(low, close) AS low,
     coalesce(sum, close) / coalesce(count, 1) AS average, coalesce(count, 1) AS count FROM bars
   WHERE series_id = ?1 AND span = ${span} AND starts_at >= ?2 AND starts_at < ?3 ORDER BY starts_at DESC`

const queries: Record<PageRead['interval'], string> = {
  raw: `SELECT observed_at AS at, value, recorded_at FROM observations
    WHERE series_id = ?1 AND observed_at >= ?2 AND observed_at < ?3 ORDER BY observed_at DESC`,
  hour: bars(1),
  day: bars(24),
  // Months are not stored: they are made of days, and open and close are those of the first and the
  // last of them.
  month: `WITH months AS (
      SELECT strftime('%Y-%m', starts_at / 1000, 'unixepoch') AS month, min(starts_at) AS first, max(starts_at) AS last,
        max(coalesce(high, close)) AS high, min(coalesce(low, close)) AS low,
        sum(coalesce(sum, close)) / sum(coalesce(count, 1)) AS average, sum(coalesce(count, 1)) AS count,
        max(recorded_at) AS recorded_at
      FROM bars WHERE series_id = ?1 AND span = 24 AND starts_at >= ?2 AND starts_at < ?3 GROUP BY month)
    SELECT c.closed_at AS at, c.close AS value, m.recorded_at, unixepoch(m.month || '-01') * 1000 AS starts_at, coalesce(o.open, o.close) AS open, m.high, m.low,
      m.average, m.count
    FROM months m JOIN bars o ON o.series_id = ?1 AND o.span = 24 AND o.starts_at = m.first
      JOIN bars c ON c.series_id = ?1 AND c.span = 24 AND c.starts_at = m.last ORDER BY m.month DESC`,
}

/**
 * A bare server: each path runs one prepared query for its rows, gives them the fields of the API
 * and stringifies them.
 */
function serve({ database, series, decimals, reads }: Settings) {
  const db = new Database(database, { readonly: true })
  const { id } = db.query('SELECT id FROM series WHERE code = ?').get(series.code) as { id: number }
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  const { code, name, ...rest } = series
  const instant = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z')
  const rounded = (value: number, places = decimals) => Number(value.toFixed(places))
  const rowOf = (row: Row) => ({
    code,
    name,
    price: rounded(row.value),
    formatted: `$${row.value.toFixed(decimals)}`,
    ...rest,
    data_source: rest.source,
    created_at: instant(row.at),
    updated_at: instant(row.recorded_at),
    ...(row.starts_at !== undefined && {
      bucket_start: instant(row.starts_at),
      open: rounded(row.open),
      high: rounded(row.high),
      low: rounded(row.low),
      average: rounded(row.average, decimals + 2),
      sample_count: row.count,
    }),
  })
  const routes = reads.map(({ path, interval, from, to }) => {
    const rows = db.query<Row, [number, number, number]>(queries[interval])
    const answer = () =>
      new Response(
        JSON.stringify({ status: 'success', data: { prices: rows.all(id, from, to).map(rowOf) } }),
        { headers },
      )
    return [path, answer] as const
  })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    routes: Object.fromEntries(routes),
  })
  console.log(server.port)
}

if (import.meta.main) serve(JSON.parse(process.argv[2]!) as Settings)
