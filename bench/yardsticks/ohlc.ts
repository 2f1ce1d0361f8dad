import { Database } from 'bun:sqlite'

/** A bare server: the days of one contract in one query, as they come. */
const { database, contract, from } = JSON.parse(process.argv[2]!) as {
  database: string
  contract: string
  from: string
}
const db = new Database(database, { readonly: true })
const days = db.query<Record<string, unknown>, [string, string]>(
  `SELECT d.traded_on AS date, s.code AS contract, d.open, d.high, d.low, d.close, d.volume, d.open_interest, d.settlement
   FROM series s JOIN futures_days d ON d.series_id = s.id WHERE s.code = ? AND d.traded_on > ? ORDER BY d.traded_on DESC`,
)

function answer() {
  const ohlc = days.all(contract, from)
  return { ...ohlc[0], ohlc, count: ohlc.length }
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  development: false,
  fetch: () => Response.json(answer()),
})
console.log(server.port)
