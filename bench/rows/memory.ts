import { join } from 'node:path'
import { sleep } from '../../src/lib/time/clock.ts'
import { dayMs, isoInstant, minuteMs } from '../../src/lib/time/instant.ts'
import listed from '../../test/operations/interface.json'
import { whenIdle } from '../processor-time.ts'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead, type Wellhead } from '../server.ts'
import { pauseFeed } from '../world.ts'
import { residentMb } from './mix.ts'

const residentMbMax = 300
const connections = 4
const pushes = 24
const pushedRows = 10_000
/** An idle query worker ends after a minute. */
const settledMs = minuteMs + 10_000

interface Listed {
  method: string
  path: string
  access: string
  sample: string | null
}

/** Leaves out requests that hold a connection open or change the data. */
const isLeftOut = ({ path }: Listed) => /stream|cable|_dev\/(reset|restore)/.test(path)

/**
 * Memory of a demo instance after a mix in which no two requests are the same: every list in three
 * sizes and at three pages, the history of every code, exports and pushes, four at a time.
 */
export async function memory(options: BenchOptions): Promise<Line[]> {
  const env = { WELLHEAD_PLANS: 'unlimited' }
  const server = await serveWellhead(join(options.dir, 'memory'), 'dev', 'built', { env })
  try {
    await pauseFeed(server)
    await whenIdle(server.pid)
    for (const [name, ask] of Object.entries(await requestsOf(server))) {
      options.say(`memory: ${name}`)
      await atOnce(ask)
    }
    options.say('memory: settles')
    await sleep(settledMs)
    const settled = residentMb(server.pid)
    const ofFiles = residentMb(server.pid, 'RssFile')
    return [
      {
        row: 'resident memory after every list, histories, exports and pushes',
        ours: `${Math.round(settled)} MB, ${Math.round(ofFiles)} of them pages of the program`,
        yardstick: '',
        ratio: undefined,
        atLeast: `≤ ${residentMbMax} MB`,
        met: settled <= residentMbMax,
      },
    ]
  } finally {
    await server.stop()
  }
}

type Ask = () => Promise<unknown>

async function atOnce(asks: readonly Ask[]): Promise<void> {
  const waiting = [...asks]
  const work = async () => {
    for (let ask = waiting.shift(); ask; ask = waiting.shift()) await ask()
  }
  await Promise.all(Array.from({ length: connections }, work))
}

async function requestsOf(server: Wellhead): Promise<Record<string, Ask[]>> {
  const send = async (path: string, access: string, body?: unknown) => {
    const token = access === 'operator' ? server.adminToken : server.apiKey
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return await answer.text()
  }
  const { data } = JSON.parse(await send('/v1/commodities', 'key')) as {
    data: { code: string }[]
  }
  const lists = (listed as Listed[]).filter(
    row => row.method === 'GET' && row.sample && !isLeftOut(row),
  )
  const asked = (parameter: string) =>
    lists.map(({ sample, access }) => () => {
      const separator = sample!.includes('?') ? '&' : '?'
      return send(`${sample}${separator}${parameter}`, access)
    })
  const begun = Date.now() - 200 * dayMs
  return {
    lists: [100, 99, 98].flatMap(size => asked(`per_page=${size}`)),
    pages: [2, 3, 7].flatMap(page => asked(`page=${page}`)),
    histories: data.flatMap(({ code }) =>
      ['past_year', 'past_month', 'historical'].map(
        window => () => send(`/v1/prices/${window}?by_code=${code}&interval=1d`, 'key'),
      ),
    ),
    exports: ['', '?history=true', '?format=ndjson'].map(
      query => () => send(`/admin/v1/export${query}`, 'operator'),
    ),
    pushes: Array.from({ length: pushes }, (_, push) => () => {
      const observations = Array.from({ length: pushedRows }, (_, row) => ({
        code: 'WTI_USD',
        observed_at: isoInstant(begun + (push * pushedRows + row) * minuteMs),
        price: 60 + (row % 100) / 100,
      }))
      return send('/admin/v1/observations', 'operator', { observations })
    }),
  }
}
