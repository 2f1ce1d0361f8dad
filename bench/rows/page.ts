import { join } from 'node:path'
import { type Filled, large } from '../database.ts'
import { duel } from '../duel.ts'
import { question } from '../question.ts'
import { type BenchOptions, type Line, ratioLine } from '../row.ts'
import { type Server, serveWellhead, serveYardstick, withServers } from '../server.ts'
import type { PageRead } from '../yardsticks/page.ts'

const leastRatio = 0.6
const perPage = 100
const dayMs = 86_400_000
/** Raw rows of an intraday code are served over 31 days at most. */
const rawDays = 30
/** How far into the pages the deep one lies; of those that are full. */
const depth = 0.9

const intervals = ['raw', 'hour', 'day', 'month'] as const

interface Answer {
  data: { prices: unknown[]; metadata: { interval: string } }
  meta: { total: number }
}

/** A page of 100 rows by interval, the first and one deep in the pages. */
export async function page(options: BenchOptions): Promise<Line[]> {
  const copy = await large(options)
  return withServers([serveWellhead(copy.dir)], async ours => {
    const places = (await Promise.all(intervals.map(interval => placesOf(copy, interval, ours, options)))).flat()
    const settings = { database: join(copy.dir, 'wellhead.db'), code: copy.code, reads: places.map(one => one.read) }
    return withServers([serveYardstick('page', settings)], async theirs => {
      const lines: Line[] = []
      for (const { path, read } of places) {
        const name = `page of ${perPage}, ${read.interval}, page ${1 + read.offset / perPage}`
        options.say(name)
        const asked = await question(ours.port, path, options.seconds, copy.tokens[0])
        const bare = await question(theirs.port, read.path, options.seconds)
        checkSame(name, asked.body, bare.body)
        lines.push(ratioLine(name, await duel(options.rounds, asked.run, bare.run), leastRatio))
      }
      return lines
    })
  })
}

/** The first page and a deep one, as Wellhead is asked for them and as the yardstick reads them. */
async function placesOf(copy: Filled, interval: PageRead['interval'], ours: Server, { seconds }: BenchOptions) {
  const midnight = (at: number) => Math.floor(at / dayMs) * dayMs
  const lastDay = midnight(copy.lastAt)
  const firstDay = interval === 'raw' ? lastDay - (rawDays - 1) * dayMs : midnight(copy.firstAt)
  const days = `start_date=${dayText(firstDay)}&end_date=${dayText(lastDay)}`
  const path = (n: number) => `/v1/prices/historical?by_code=${copy.code}&interval=${interval}&${days}&per_page=${perPage}&page=${n}`
  const { body } = await question(ours.port, path(1), seconds, copy.tokens[0])
  const { data, meta } = JSON.parse(body) as Answer
  if (data.metadata.interval !== interval) throw new Error(`${path(1)} was answered as ${data.metadata.interval}`)
  const deep = Math.ceil(Math.floor(meta.total / perPage) * depth)
  if (deep < 2) throw new Error(`${meta.total} rows by ${interval} are too few for a deep page: give more --points`)
  return [1, deep].map(n => {
    const read: PageRead = {
      path: `/${interval}/${n}`,
      interval,
      from: firstDay,
      to: lastDay + dayMs,
      limit: perPage,
      offset: (n - 1) * perPage,
    }
    return { path: path(n), read }
  })
}

const dayText = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Both answer the same rows, or the ratio says nothing: the first and the last are compared. */
function checkSame(name: string, asked: string, bare: string) {
  const ours = (JSON.parse(asked) as { data: { prices: { created_at: string; price: number }[] } }).data.prices
  const theirs = (JSON.parse(bare) as { prices: { at: number; value: number }[] }).prices
  for (const [a, b] of [
    [ours[0], theirs[0]],
    [ours.at(-1), theirs.at(-1)],
  ] as const) {
    const isSame = a && b && Date.parse(a.created_at) === b.at && Math.abs(a.price - b.value) < 0.01
    if (ours.length !== theirs.length || !isSame) throw new Error(`${name}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`)
  }
}
