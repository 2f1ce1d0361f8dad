import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead, type Wellhead } from '../server.ts'
import { wholeWorld } from '../world.ts'

/** What others ask for while one client asks for a price; the first is nobody. */
const heavyRequests: readonly (readonly [name: string, path: string])[] = [
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
]

const bars = { kept: { p99Ms: 10, maxMs: undefined }, new: { p99Ms: 15, maxMs: 60 } } as const

/** A price, asked for fifty times a second while four others ask for something heavier. */
export async function mix(options: BenchOptions): Promise<Line[]> {
  const server = await serveWellhead(join(options.dir, 'mix'), 'dev', 'built')
  try {
    await wholeWorld(server)
    const lines: Line[] = []
    for (const connections of ['kept', 'new'] as const)
      for (const [name, path] of heavyRequests) {
        options.say(`mix: ${name}, connections ${connections}`)
        lines.push(await measured(server, name, path, connections, options.seconds))
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

async function measured(
  { port, apiKey }: Wellhead,
  name: string,
  path: string,
  connections: keyof typeof bars,
  seconds: number,
): Promise<Line> {
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, '../mix-load.ts'),
      String(port),
      apiKey ?? '',
      path,
      connections,
      String(seconds),
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`the clients of "${name}" failed`)
  const { p50Ms, p99Ms, maxMs, heavyPerSecond } = JSON.parse(text) as {
    p50Ms: number
    p99Ms: number
    maxMs: number
    heavyPerSecond: number
  }
  const bar = bars[connections]
  const isFastEnough = p99Ms <= bar.p99Ms && (bar.maxMs === undefined || maxMs <= bar.maxMs)
  return {
    row: `latest beside ${name}, ${connections === 'kept' ? 'kept connections' : 'new connections'}`,
    ours: `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} / ${maxMs.toFixed(1)} ms`,
    yardstick: path === '' ? '' : `${Math.round(heavyPerSecond)}/s of the other`,
    ratio: undefined,
    atLeast: bar.maxMs === undefined ? `${bar.p99Ms} ms` : `${bar.p99Ms} ms, worst ${bar.maxMs} ms`,
    met: isFastEnough,
  }
}
