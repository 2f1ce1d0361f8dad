import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { whenIdle } from '../processor-time.ts'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead } from '../server.ts'
import { type HeavyRequest, waitLine, waitsBeside } from '../waits.ts'
import { pauseFeed } from '../world.ts'

const windowPath =
  '/v1/prices/past_year?interval=1d&by_code=WTI_USD,BRENT_CRUDE_USD,NATURAL_GAS_USD,HEATING_OIL_USD,GASOLINE_USD,DIESEL_USD,JET_FUEL_USD,PROPANE_USD,DUBAI_CRUDE_USD,GOLD_USD'
const permitsPath = '/v1/ei/well-permits/search?latitude=31.99&longitude=-102.1&radius_miles=100'
const backtest = {
  price_alert: {
    name: 'mix',
    commodity_code: 'WTI_USD',
    condition_operator: 'greater_than',
    condition_value: 75,
  },
  start_date: '2024-01-01',
  end_date: '2024-06-30',
}

/** What others ask for while one client asks for a price; first nothing at all. */
const heavyRequests: readonly (readonly [name: string, heavy: HeavyRequest | undefined])[] = [
  ['nothing', undefined],
  ['latest of every code', { path: '/v1/prices/latest' }],
  ['a year of ten codes by day', { path: windowPath }],
  ['permits within 100 miles', { path: permitsPath }],
  ['cycle time of a state', { path: '/v1/well-production/cycle-time?state=TX' }],
  ['futures curve', { path: '/v1/futures/exch-wti/curve' }],
  ['statistics', { path: '/v1/analytics/statistics?code=WTI_USD&period=365' }],
  ['backtests', { path: '/v1/alerts/backtest', body: backtest }],
  ['the document', { path: '/openapi.json' }],
]

/** A longer run asks more than any plan grants in a month. */
const secondsWithQuota = 60

/** A price, asked for fifty times a second while four others ask for something heavier. */
export async function mix(options: BenchOptions): Promise<Line[]> {
  const env = options.seconds > secondsWithQuota ? { WELLHEAD_PLANS: 'unlimited' } : undefined
  const server = await serveWellhead(join(options.dir, 'mix'), 'dev', 'built', { env })
  try {
    await pauseFeed(server)
    // Beside nothing means also: beside nothing that a copy does once it is whole.
    await whenIdle(server.pid)
    const lines: Line[] = []
    const residentMbs: number[] = []
    for (const connections of ['kept', 'new'] as const)
      for (const [name, heavy] of heavyRequests) {
        options.say(`mix: ${name}, connections ${connections}`)
        const { heavyPerSecond, ...waits } = await waitsBeside(
          server,
          heavy,
          connections,
          options.seconds,
          options.dir,
        )
        lines.push(waitLine(`latest beside ${name}`, waits, connections, heavyPerSecond))
        residentMbs.push(residentMb(server.pid))
      }
    return [...lines, ...memoryLines(residentMbs)]
  } finally {
    await server.stop()
  }
}

const residentMbMax = 300

function residentMb(pid: number): number {
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

/** What the server holds in memory as each line ends; `--seconds 193` makes an hour of it. */
function memoryLines(residentMbs: readonly number[]): Line[] {
  const atEnd = residentMbs.at(-1)!
  return [
    {
      row: 'resident memory after the mix',
      ours: `${Math.round(atEnd)} MB`,
      yardstick: '',
      ratio: undefined,
      atLeast: `≤ ${residentMbMax} MB`,
      met: atEnd <= residentMbMax,
    },
    {
      row: 'resident memory after each line of it',
      ours: residentMbs.map(Math.round).join(', '),
      yardstick: '',
      ratio: undefined,
      atLeast: 'none',
      met: undefined,
    },
  ]
}
