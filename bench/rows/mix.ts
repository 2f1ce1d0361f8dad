import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead } from '../server.ts'
import { waitLine, waitsBeside } from '../waits.ts'
import { wholeWorld } from '../world.ts'

/** What others ask for while one client asks for a price; the first is nobody. */
const heavyRequests: readonly (readonly [name: string, path: string, body?: object])[] = [
  ['nothing', ''],
  ['latest of every code', '/v1/prices/latest'],
  [
    'a year of ten codes by day',
    '/v1/prices/past_year?interval=1d&by_code=WTI_USD,BRENT_CRUDE_USD,NATURAL_GAS_USD,HEATING_OIL_USD,GASOLINE_USD,DIESEL_USD,JET_FUEL_USD,PROPANE_USD,DUBAI_CRUDE_USD,GOLD_USD',
  ],
  [
    'permits within 100 miles',
    '/v1/ei/well-permits/search?latitude=31.99&longitude=-102.1&radius_miles=100',
  ],
  ['cycle time of a state', '/v1/well-production/cycle-time?state=TX'],
  ['futures curve', '/v1/futures/exch-wti/curve'],
  ['statistics', '/v1/analytics/statistics?code=WTI_USD&period=365'],
  [
    'backtests',
    '/v1/alerts/backtest',
    {
      price_alert: {
        name: 'mix',
        commodity_code: 'WTI_USD',
        condition_operator: 'greater_than',
        condition_value: 75,
      },
      start_date: '2024-01-01',
      end_date: '2024-06-30',
    },
  ],
]

/** A price, asked for fifty times a second while four others ask for something heavier. */
export async function mix(options: BenchOptions): Promise<Line[]> {
  const server = await serveWellhead(join(options.dir, 'mix'), 'dev', 'built')
  try {
    await wholeWorld(server)
    const lines: Line[] = []
    for (const connections of ['kept', 'new'] as const)
      for (const [name, path, body] of heavyRequests) {
        options.say(`mix: ${name}, connections ${connections}`)
        const waits = await waitsBeside(server, path, connections, options.seconds, body)
        lines.push(waitLine(`latest beside ${name}`, waits, connections, path !== ''))
      }
    return [...lines, memoryLine(server.pid)]
  } finally {
    await server.stop()
  }
}

const residentMbMax = 300

/** What the server holds in memory after all of it; `--seconds 257` makes an hour of it. */
function memoryLine(pid: number): Line {
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  const residentMb = Number(kilobytes) / 1024
  return {
    row: 'resident memory after the mix',
    ours: `${Math.round(residentMb)} MB`,
    yardstick: '',
    ratio: undefined,
    atLeast: `≤ ${residentMbMax} MB`,
    met: residentMb <= residentMbMax,
  }
}
