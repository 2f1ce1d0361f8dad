import { Database } from 'bun:sqlite'

/**
 * A bare server: the newest day of each listed contract in one query, and the numbers of a curve in
 * plain code.
 */
const settings = JSON.parse(process.argv[2]!) as { database: string; contracts: string[] }
const db = new Database(settings.database, { readonly: true })
const listed = JSON.stringify(settings.contracts)
const newest = db.query<
  { contract: string; date: string; close: number; price: number; quoted_at: number },
  [string]
>(
  `SELECT s.code AS contract, d.traded_on AS date, d.close, coalesce(d.settlement, d.close) AS price, d.quoted_at
   FROM json_each(?) asked JOIN series s ON s.code = asked.value
     JOIN futures_days d ON d.series_id = s.id AND d.traded_on = (SELECT max(traded_on) FROM futures_days WHERE series_id = s.id)
   ORDER BY asked.key`,
)

function curve() {
  const contracts = newest.all(listed)
  const prices = contracts.map(contract => contract.price)
  const [front, back] = [prices[0]!, prices.at(-1)!]
  return {
    total_contracts: contracts.length,
    contracts,
    curve: contracts.map(({ contract, price }, i) => ({ contract, price, months_out: i })),
    curve_metrics: {
      front_month_price: front,
      back_month_price: back,
      total_slope: back - front,
      slope_percentage: 100 * (back / front - 1),
      average_price: prices.reduce((sum, price) => sum + price, 0) / prices.length,
      price_range: Math.max(...prices) - Math.min(...prices),
    },
  }
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  development: false,
  fetch: () => Response.json(curve()),
})
console.log(server.port)
