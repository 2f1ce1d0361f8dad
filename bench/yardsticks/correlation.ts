import { Database } from 'bun:sqlite'

/**
 * A bare server: for every request the closes of each code from the day bars, and the coefficients
 * in plain code.
 */
const { database, codes, period } = JSON.parse(process.argv[2]!) as {
  database: string
  codes: string[]
  period: number
}
const dayMs = 86_400_000
/** Series end on different days: the common window of a pair may begin this much earlier. */
const slackDays = 14

interface Close {
  at: number
  close: number
}

const db = new Database(database, { readonly: true })
const closes = db.query<Close, [string, number]>(
  `SELECT b.starts_at AS at, b.close FROM series s JOIN bars b ON b.series_id = s.id AND b.span = 24
   WHERE s.code = ?1 AND b.starts_at > (SELECT max(starts_at) FROM bars WHERE series_id = s.id AND span = 24) - ?2 ORDER BY b.starts_at`,
)

function pearson(xs: readonly number[], ys: readonly number[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const [mx, my] = [mean(xs), mean(ys)]
  let [xy, xx, yy] = [0, 0, 0]
  for (let i = 0; i < xs.length; i += 1) {
    const [dx, dy] = [xs[i]! - mx, ys[i]! - my]
    xy += dx * dy
    xx += dx * dx
    yy += dy * dy
  }
  return xy / Math.sqrt(xx * yy)
}

function coefficient(a: readonly Close[], b: ReadonlyMap<number, number>): number {
  const common = a.filter(bar => b.has(bar.at))
  const from = common.at(-1)!.at - period * dayMs
  const within = common.filter(bar => bar.at > from)
  const returns = (of: (one: Close) => number) =>
    within.slice(1).map((one, i) => Math.log(of(one) / of(within[i]!)))
  return pearson(
    returns(pair => pair.close),
    returns(pair => b.get(pair.at)!),
  )
}

function matrix() {
  const series = codes.map(code => closes.all(code, (period + slackDays) * dayMs))
  const byDay = series.map(rows => new Map(rows.map(row => [row.at, row.close])))
  const row = (i: number) =>
    Object.fromEntries(codes.map((code, j) => [code, coefficient(series[i]!, byDay[j]!)]))
  return { codes, matrix: Object.fromEntries(codes.map((code, i) => [code, row(i)])) }
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  development: false,
  fetch: () => Response.json(matrix()),
})
console.log(server.port)
