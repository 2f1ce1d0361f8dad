import { join } from 'node:path'
import { median } from '../duel.ts'
import { processorMs } from '../processor-time.ts'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead, type Wellhead } from '../server.ts'
import { pauseFeed } from '../world.ts'

const codesCount = 200
const timesOpened = 25
/** Opened first and not counted: what the engine compiles for it is compiled once. */
const uncounted = 10
const barMs = 20
/** The pause after a push, so that its work ends before the board is opened. */
const settleMs = 300

/**
 * The work of the server when a watchlist of 200 codes is opened: the page, the chosen codes, and
 * their prices. Before each opening every code gets a new price, so that no response is cached.
 */
export async function board(options: BenchOptions): Promise<Line[]> {
  const server = await serveWellhead(join(options.dir, 'board'), 'dev', 'built')
  try {
    await pauseFeed(server)
    const { data } = (await (await ask(server, '/v1/commodities')).json()) as {
      data: { code: string }[]
    }
    const codes = data
      .map(({ code }) => code)
      // Futures get their prices as days of trading.
      .filter(code => !code.includes('_FUTURES'))
      .slice(0, codesCount)
    if (codes.length < codesCount) throw new Error(`there are only ${codes.length} codes`)
    await put(server, codes)
    const prices = await pricesOf(server, codes)
    const times: number[] = []
    const works: number[] = []
    for (let round = 0; round < uncounted + timesOpened; round += 1) {
      await push(server, prices, round)
      await Bun.sleep(settleMs)
      const before = processorMs(server.pid)
      const tookMs = await open(server, codes)
      const workedMs = processorMs(server.pid) - before
      options.say(`board: opening ${round + 1}, ${workedMs.toFixed(1)} ms of processor time`)
      if (round < uncounted) continue
      times.push(tookMs)
      works.push(workedMs)
    }
    const line = (row: string, ms: number): Line => ({
      row,
      ours: `${ms.toFixed(1)} ms`,
      yardstick: '',
      ratio: undefined,
      atLeast: `${barMs} ms`,
      met: ms <= barMs,
    })
    return [
      line(
        `board of ${codesCount} codes opened, processor time, median of ${timesOpened}`,
        median(works),
      ),
      line(
        `board of ${codesCount} codes opened, until the last byte, median of ${timesOpened}`,
        median(times),
      ),
    ]
  } finally {
    await server.stop()
  }
}

const ask = ({ port, apiKey }: Wellhead, path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { authorization: `Token ${apiKey}`, 'content-type': 'application/json' },
  })

async function open(server: Wellhead, codes: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  for (const path of [
    '/board',
    '/v1/prices/board/layout',
    `/v1/prices/board?codes=${codes.join(',')}`,
  ]) {
    const response = await ask(server, path)
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${path} was answered ${response.status}`)
  }
  return performance.now() - startedAt
}

async function put(server: Wellhead, codes: readonly string[]) {
  const body = JSON.stringify({ groups: [{ name: 'All', codes }] })
  const response = await ask(server, '/v1/prices/board/layout', { method: 'PUT', body })
  if (response.status !== 200) throw new Error(`the codes were refused: ${await response.text()}`)
}

/** The current price of each code, so that a push sends a plausible value. */
async function pricesOf(server: Wellhead, codes: readonly string[]) {
  const response = await ask(server, `/v1/prices/board?codes=${codes.join(',')}`)
  const { data } = (await response.json()) as { data: { rows: { code: string; price: number }[] } }
  return data.rows.map(({ code, price }) => ({ code, price }))
}

/** A new price of every code, a second after the last. */
async function push(
  { port, adminToken }: Wellhead,
  prices: readonly { code: string; price: number }[],
  round: number,
) {
  const at = new Date(Date.now() + round * 1000).toISOString()
  const response = await fetch(`http://127.0.0.1:${port}/admin/v1/observations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      observations: prices.map(({ code, price }) => ({
        code,
        price: Number((price * (1 + (round + 1) / 10_000)).toPrecision(8)),
        observed_at: at,
      })),
    }),
  })
  if (response.status >= 300) throw new Error(`the prices were refused: ${await response.text()}`)
}
