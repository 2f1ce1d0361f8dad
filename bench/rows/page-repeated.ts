import { join } from 'node:path'
import { type Filled, large } from '../database.ts'
import { duel } from '../duel.ts'
import { type Question, question } from '../question.ts'
import { type BenchOptions, type Line, ratioLine } from '../row.ts'
import { type Server, serveWellhead, serveYardstick, withServers } from '../server.ts'
import type { PageRead, SeriesFields, Settings } from '../yardsticks/page.ts'

const leastRatio = 0.6
const perPage = 100
const dayMs = 86_400_000
/** Raw rows of an intraday code are served over 31 days at most. */
const rawDays = 30
/** How far into the pages the deep one lies; of those that are full. */
const depth = 0.9
/** Prices of the code that is read. */
const decimals = 2

const intervals = ['raw', 'hour', 'day', 'month'] as const

interface Row extends SeriesFields {
  price: number
  created_at: string
  bucket_start?: string
}

interface Answer {
  data: { prices: Row[]; metadata: { interval: string } }
  meta: { total: number }
}

interface Place {
  name: string
  asked: Question
  rows: Row[]
  read: PageRead
}

/** A page of 100 rows by interval, the first and one deep in the pages; each is requested again and again. */
export async function pageRepeated(options: BenchOptions): Promise<Line[]> {
  const copy = await large(options)
  return withServers([serveWellhead(copy.dir)], async ours => {
    const places: Place[] = []
    for (const interval of intervals)
      places.push(...(await placesOf(copy, interval, ours, options)))
    const { code, name, currency, unit, type, source } = places[0]!.rows[0]!
    const settings: Settings = {
      database: join(copy.dir, 'wellhead.db'),
      series: { code, name, currency, unit, type, source },
      decimals,
      reads: places.map(place => place.read),
    }
    return withServers([serveYardstick('page', settings)], async theirs => {
      const lines: Line[] = []
      for (const { name, asked, rows, read } of places) {
        options.say(name)
        const bare = await question(theirs.port, read.path, options.seconds)
        checkSame(name, rows, (JSON.parse(bare.body) as Answer).data.prices)
        lines.push(ratioLine(name, await duel(options.rounds, asked.run, bare.run), leastRatio))
      }
      return lines
    })
  })
}

/** The first page and a deep one, as requested from Wellhead and as the yardstick reads them. */
async function placesOf(
  copy: Filled,
  interval: PageRead['interval'],
  ours: Server,
  { seconds }: BenchOptions,
): Promise<Place[]> {
  const midnight = (at: number) => Math.floor(at / dayMs) * dayMs
  const lastDay = midnight(copy.lastAt)
  const firstDay = interval === 'raw' ? lastDay - (rawDays - 1) * dayMs : midnight(copy.firstAt)
  const days = `start_date=${dayText(firstDay)}&end_date=${dayText(lastDay)}`
  const path = (n: number) =>
    `/v1/prices/historical?by_code=${copy.code}&interval=${interval}&${days}&per_page=${perPage}&page=${n}`
  const ask = async (n: number) => {
    const timed = await question(ours.port, path(n), seconds, copy.tokens[0])
    return { n, asked: timed, ...(JSON.parse(timed.body) as Answer) }
  }
  const first = await ask(1)
  const served = first.data.metadata.interval
  if (served !== interval) throw new Error(`${path(1)} was answered as ${served}`)
  const deep = Math.ceil(Math.floor(first.meta.total / perPage) * depth)
  if (deep < 2)
    throw new Error(
      `${first.meta.total} rows by ${interval} are too few for a deep page: give more --points`,
    )
  return [first, await ask(deep)].map(({ n, asked, data }) => ({
    name: `page of ${perPage}, ${interval}, page ${n}`,
    asked,
    rows: data.prices,
    read: {
      path: `/${interval}/${n}`,
      interval,
      from: Math.max(firstDay, startOf(data.prices.at(-1)!)),
      to:
        interval === 'month'
          ? Math.min(lastDay + dayMs, nextMonth(startOf(data.prices[0]!)))
          : startOf(data.prices[0]!) + 1,
    },
  }))
}

const dayText = (at: number) => new Date(at).toISOString().slice(0, 10)
const startOf = (row: Row) => Date.parse(row.bucket_start ?? row.created_at)

function nextMonth(at: number): number {
  const start = new Date(at)
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1)
}

/**
 * Both must return the same rows with the same fields, or the ratio means nothing. Numbers may
 * differ where a half is rounded.
 */
function checkSame(name: string, ours: readonly Row[], theirs: readonly Row[]) {
  const differs = (a: Row, b: Row | undefined) => {
    const same = (field: string) => {
      const [own, other] = [a[field as keyof Row], b?.[field as keyof Row]]
      return typeof own === 'number'
        ? Math.abs(own - Number(other)) < 0.011
        : field === 'formatted' || own === other
    }
    return Object.keys(a).join() !== Object.keys(b ?? {}).join() || !Object.keys(a).every(same)
  }
  const at = ours.findIndex((row, i) => differs(row, theirs[i]))
  if (ours.length !== perPage || theirs.length !== perPage || at >= 0)
    throw new Error(
      `${name}: ${JSON.stringify(ours[at] ?? ours.length)} is not ${JSON.stringify(theirs[at] ?? theirs.length)}`,
    )
}
