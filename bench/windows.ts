import { join } from 'node:path'
import { type Filled, filled } from './database.ts'
import { distinctNumbers } from './distinct.ts'
import type { BenchOptions } from './row.ts'
import type { Server } from './server.ts'
import type { SeriesFields, Settings } from './yardsticks/windows.ts'

/** Ten codes with a value every half hour: 200,000 of each reach back eleven years. */
export const distinctData = (options: BenchOptions): Promise<Filled> =>
  filled('distinct', { points: 2_000_000, keys: 5, codes: 10, stepMinutes: 30 }, options)

const dayMs = 86_400_000
const hourMs = 3_600_000
const rowsAsked = 100

/** A kind of request, with a path for each number of `[0, size)`. */
export interface Kind {
  name: string
  size: number
  pathOf(number: number): string
}

export function windowKinds({ codes, firstAt, lastAt, stepMs }: Filled) {
  const window = (number: number, interval: string, start: string, end: string) =>
    `/v1/prices/historical?by_code=${codes[number % codes.length]}&interval=${interval}&start_date=${start}&end_date=${end}&per_page=${rowsAsked}`
  const second = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z')
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  // A bucket that a range cuts would be another one than the stored.
  const firstDay = Math.ceil(firstAt / dayMs) * dayMs
  const daysOf = (span: number) => Math.floor((lastAt - firstDay - span) / dayMs)
  /** So many milliseconds from any second or hour of the data on. */
  const moments = (name: string, interval: string, spanMs: number, eachMs = 1000): Kind => ({
    name,
    size: codes.length * Math.floor((lastAt - firstDay - spanMs) / eachMs),
    pathOf(number) {
      const at = firstDay + Math.floor(number / codes.length) * eachMs
      return window(number, interval, second(at), second(at + spanMs - 1000))
    },
  })
  return {
    raw: moments(`${rowsAsked} raw rows from a random moment`, 'raw', rowsAsked * stepMs),
    rawLong: moments('page of 30 days of raw rows from a random moment', 'raw', 30 * dayMs),
    hours: moments(`${rowsAsked} hours from a random moment`, 'hour', rowsAsked * hourMs, hourMs),
    days: {
      name: `${rowsAsked} days from a random day`,
      size: codes.length * daysOf(rowsAsked * dayMs),
      pathOf(number) {
        const at = firstDay + Math.floor(number / codes.length) * dayMs
        return window(number, 'day', day(at), day(at + (rowsAsked - 1) * dayMs))
      },
    },
    latest: {
      name: 'newest price of a random code',
      // Codes repeat within a run: only their order is random.
      size: 1_000_003,
      pathOf: number => `/v1/prices/latest?by_code=${codes[(number * 7919) % codes.length]}`,
    },
  } satisfies Record<string, Kind>
}

/** As many different paths of a kind as a run can need. */
export const pathsOf = ({ size, pathOf }: Kind, count: number): string[] =>
  distinctNumbers(size, Math.min(count, size)).map(pathOf)

/** The data that a yardstick needs, read from Wellhead's own responses. */
export async function yardstickSettings(
  data: Filled,
  { port }: Pick<Server, 'port'>,
): Promise<Settings> {
  const authorization = `Token ${data.tokens[0]}`
  const series: SeriesFields[] = []
  const latest: Record<string, string> = {}
  let headers: Record<string, string> = {}
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization, 'accept-encoding': 'identity' },
    })
  for (const code of data.codes) {
    latest[code] = await (await ask(`/v1/prices/latest?by_code=${code}`)).text()
    const path = `/v1/prices/historical?by_code=${code}&interval=raw&per_page=100&start_date=${new Date(data.lastAt - 90 * data.stepMs).toISOString()}`
    const answer = await ask(path)
    const { data: body } = (await answer.json()) as { data: { prices: Priced[] } }
    const [row] = body.prices
    if (!row) throw new Error(`${path} has no rows`)
    const { name, currency, unit, type, source, formatted } = row
    const [, before = '', number = '', after = ''] = /^(\D*)([\d.,]+)(.*)$/.exec(formatted) ?? []
    const decimals = number.split('.')[1]?.length ?? 0
    series.push({ code, name, currency, unit, type, source, decimals, sign: [before, after] })
    headers = Object.fromEntries([...answer.headers].filter(([key]) => !ownHeaders.includes(key)))
  }
  const database = join(data.dir, 'wellhead.db')
  return { database, tokens: data.tokens, series, headers, latest }
}

interface Priced extends Omit<SeriesFields, 'decimals' | 'sign'> {
  formatted: string
}

/** Headers that the server sets itself, whatever the handler returns. */
export const ownHeaders = [
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
]
