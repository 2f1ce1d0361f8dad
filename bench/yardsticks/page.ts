import { Database } from 'bun:sqlite'

/** A bare server: each path runs one prepared query for a page of rows and stringifies them as they come. */
export interface PageRead {
  path: string
  interval: 'raw' | 'hour' | 'day' | 'month'
  from: number
  to: number
  limit: number
  offset: number
}

interface Settings {
  database: string
  code: string
  reads: PageRead[]
}

const bars = (span: number) =>
  `SELECT closed_at AS at, close AS value, recorded_at, starts_at, open, high, low, sum / count AS average, count FROM bars
   WHERE series_id = ?1 AND span = ${span} AND starts_at >= ?2 AND starts_at < ?3 ORDER BY starts_at DESC LIMIT ?4 OFFSET ?5`

const queries: Record<PageRead['interval'], string> = {
  raw: `SELECT observed_at AS at, value, recorded_at FROM observations
    WHERE series_id = ?1 AND observed_at >= ?2 AND observed_at < ?3 ORDER BY observed_at DESC LIMIT ?4 OFFSET ?5`,
  hour: bars(1),
  day: bars(24),
  // Months are not stored: they are made of days, and open and close are those of the first and the last of them.
  month: `WITH months AS (
      SELECT strftime('%Y-%m', starts_at / 1000, 'unixepoch') AS month, min(starts_at) AS first, max(starts_at) AS last, max(high) AS high,
        min(low) AS low, sum(sum) / sum(count) AS average, sum(count) AS count, max(recorded_at) AS recorded_at
      FROM bars WHERE series_id = ?1 AND span = 24 AND starts_at >= ?2 AND starts_at < ?3 GROUP BY month ORDER BY month DESC LIMIT ?4 OFFSET ?5)
    SELECT c.closed_at AS at, c.close AS value, m.recorded_at, m.month, o.open, m.high, m.low, m.average, m.count
    FROM months m JOIN bars o ON o.series_id = ?1 AND o.span = 24 AND o.starts_at = m.first
      JOIN bars c ON c.series_id = ?1 AND c.span = 24 AND c.starts_at = m.last ORDER BY m.month DESC`,
}

function serve({ database, code, reads }: Settings) {
  const db = new Database(database, { readonly: true })
  const { id } = db.query('SELECT id FROM series WHERE code = ?').get(code) as { id: number }
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  const routes = reads.map(({ path, interval, from, to, limit, offset }) => {
    const rows = db.query(queries[interval])
    return [path, () => new Response(JSON.stringify({ prices: rows.all(id, from, to, limit, offset) }), { headers })] as const
  })
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, routes: Object.fromEntries(routes) })
  console.log(server.port)
}

if (import.meta.main) serve(JSON.parse(process.argv[2]!) as Settings)
