import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { distinctNumbers } from '../distinct.ts'
import { whenIdle } from '../processor-time.ts'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead, type Wellhead } from '../server.ts'
import {
  type Asked,
  type HeavyRequest,
  type HeavyRequests,
  waitLine,
  waitsBeside,
} from '../waits.ts'
import { pauseFeed } from '../world.ts'

const questions = 50_000
const dayMs = 86_400_000
const periodMin = 60
const slugs = ['exch-wti', 'exch-brent']

const backtest = (conditionValue: number, start: string) => ({
  price_alert: {
    name: 'mix',
    commodity_code: 'WTI_USD',
    condition_operator: 'greater_than',
    condition_value: conditionValue,
  },
  start_date: start,
  end_date: '2026-06-30',
})

const day = (start: number, days: number) =>
  new Date(start + days * dayMs).toISOString().slice(0, 10)

/** The competing requests, each of them different, while one client requests prices. */
function distinctRequests(
  codes: readonly string[],
  daily: readonly string[],
): Readonly<Record<string, HeavyRequests | undefined>> {
  const all = (requestOf: (n: number) => HeavyRequest): HeavyRequests =>
    distinctNumbers(questions, questions).map(requestOf)
  const several = (n: number, count: number) =>
    Array.from({ length: count }, (_, i) => codes[(n * 31 + i * (1 + (n % 13))) % codes.length])
  return {
    nothing: undefined,
    'latest of twenty codes': all(n => ({
      path: `/v1/prices/latest?by_code=${several(n, 20).join()}`,
    })),
    'a year of ten codes by day': all(n => ({
      path: `/v1/prices/historical?interval=1d&by_code=${several(n, 10).join()}&start_date=${day(Date.UTC(2024, 0, 1), n % 500)}&end_date=${day(Date.UTC(2025, 0, 1), n % 500)}`,
    })),
    'permits within 100 miles': all(n => ({
      path: `/v1/ei/well-permits/search?latitude=${(31.5 + (n % 100) / 100).toFixed(2)}&longitude=-${(101.6 + n / questions).toFixed(5)}&radius_miles=100`,
    })),
    'cycle time of a state': all(n => ({
      path: `/v1/well-production/cycle-time?state=TX&start_date=${day(Date.UTC(2025, 0, 1), n % 250)}&end_date=${day(Date.UTC(2026, 1, 1), Math.floor(n / 250))}`,
    })),
    'futures curve': all(n => ({
      path: `/v1/futures/${slugs[n % slugs.length]}/curve?date=${day(Date.UTC(2025, 0, 1), Math.floor(n / slugs.length) % 690)}`,
    })),
    statistics: all(n => ({
      path: `/v1/analytics/statistics?code=${daily[n % daily.length]}&period=${periodMin + (Math.floor(n / daily.length) % 300)}`,
    })),
    backtests: all(n => ({
      path: '/v1/alerts/backtest',
      body: backtest(50 + (n % 5000) / 100, day(Date.UTC(2024, 0, 1), Math.floor(n / 5000))),
    })),
    // There is one document.
    'the OpenAPI document': [{ path: '/openapi.json' }],
  }
}

const windowPath =
  '/v1/prices/past_year?interval=1d&by_code=WTI_USD,BRENT_CRUDE_USD,NATURAL_GAS_USD,HEATING_OIL_USD,GASOLINE_USD,DIESEL_USD,JET_FUEL_USD,PROPANE_USD,DUBAI_CRUDE_USD,GOLD_USD'
const permitsPath = '/v1/ei/well-permits/search?latitude=31.99&longitude=-102.1&radius_miles=100'

/** One request of each kind, repeated. */
const repeatedRequests: Readonly<Record<string, HeavyRequests | undefined>> = {
  nothing: undefined,
  'latest of every code': [{ path: '/v1/prices/latest' }],
  'a year of ten codes by day': [{ path: windowPath }],
  'permits within 100 miles': [{ path: permitsPath }],
  'cycle time of a state': [{ path: '/v1/well-production/cycle-time?state=TX' }],
  'futures curve': [{ path: '/v1/futures/exch-wti/curve' }],
  statistics: [{ path: '/v1/analytics/statistics?code=WTI_USD&period=365' }],
  backtests: [{ path: '/v1/alerts/backtest', body: backtest(75, '2024-01-01') }],
  'the OpenAPI document': [{ path: '/openapi.json' }],
}

/** A longer run makes more requests than any plan includes in a month. */
const secondsWithQuota = 60

/**
 * Prices of random codes, requested fifty times a second while four clients request something
 * heavier.
 */
export const mix = (options: BenchOptions): Promise<Line[]> =>
  underLoad(options, '', async server => {
    const codes = await codesOf(server)
    return { codes, requests: distinctRequests(codes, await dailyOf(server, codes)) }
  })

/** The price of one code, and one heavy request of each kind, again and again. */
export const mixRepeated = (options: BenchOptions): Promise<Line[]> =>
  underLoad(options, ', repeated', () =>
    Promise.resolve({ codes: ['WTI_USD'], requests: repeatedRequests }),
  )

type Questions = Pick<Asked, 'codes'> & {
  requests: Readonly<Record<string, HeavyRequests | undefined>>
}

async function underLoad(
  options: BenchOptions,
  suffix: string,
  questionsOf: (server: Wellhead) => Promise<Questions>,
): Promise<Line[]> {
  const env = options.seconds > secondsWithQuota ? { WELLHEAD_PLANS: 'unlimited' } : undefined
  const dir = join(options.dir, 'mix')
  // The first start unpacks the demo data, which no server in production does.
  await (await serveWellhead(dir, 'dev', 'built', { env })).stop()
  const server = await serveWellhead(dir, 'dev', 'built', { env })
  try {
    await pauseFeed(server)
    // The first line has no competing work, not even that of a demo instance after its start.
    await whenIdle(server.pid)
    const { codes, requests } = await questionsOf(server)
    const lines: Line[] = []
    const residentMbs: number[] = []
    for (const connections of ['kept', 'new'] as const)
      for (const [name, heavy] of Object.entries(requests)) {
        options.say(`mix: ${name}, connections ${connections}`)
        const { heavyPerSecond, ...waits } = await waitsBeside(
          { ...server, codes },
          heavy,
          connections,
          options.seconds,
          options.dir,
        )
        const load = heavy ? ` under load of ${name}` : ', no other load'
        lines.push(waitLine(`latest${load}${suffix}`, waits, connections, heavyPerSecond))
        residentMbs.push(residentMb(server.pid))
      }
    return [...lines, ...memoryLines(residentMbs)]
  } finally {
    await server.stop()
  }
}

/** Codes that have a price. */
async function codesOf(server: Wellhead): Promise<string[]> {
  const { data } = await ask<{ data: { prices: { code: string }[] } }>(server, '/v1/prices/latest')
  return data.prices.map(({ code }) => code)
}

/** Those with enough daily prices for statistics. */
async function dailyOf({ port, apiKey }: Wellhead, codes: readonly string[]): Promise<string[]> {
  const daily: string[] = []
  for (const code of codes) {
    const answer = await fetch(
      `http://127.0.0.1:${port}/v1/analytics/statistics?code=${code}&period=${periodMin}`,
      { headers: { authorization: `Token ${apiKey}` } },
    )
    if (answer.ok) daily.push(code)
  }
  return daily
}

async function ask<T>({ port, apiKey }: Wellhead, path: string): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: `Token ${apiKey}` },
  })
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`)
  return (await answer.json()) as T
}

const residentMbMax = 300

/**
 * The resident memory in MB; `RssFile` are pages of files, which the system can drop and read
 * again.
 */
export function residentMb(pid: number, kind: 'VmRSS' | 'RssFile' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const [, kilobytes] = new RegExp(`^${kind}:\\s+(\\d+) kB$`, 'm').exec(status) ?? []
  return Number(kilobytes) / 1024
}

/** The server's memory at the end of each line; `--seconds 193` makes an hour of it. */
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
