import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { dayMs } from '../../src/lib/time/instant.ts'
import { type Filled, filled } from '../database.ts'
import { load, requestBytes } from '../load.ts'
import { processorMs } from '../processor-time.ts'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead, withServers } from '../server.ts'

/** Points and keys (five of an account) that grow apart from each other. */
const sizes = [
  { points: 1_000_000, keys: 50 },
  { points: 1_000_000, keys: 50_000 },
  { points: 20_000_000, keys: 50 },
] as const
const kilobytesPerMb = 1024

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / kilobytesPerMb

/** Requirements of a database of a size: disk, memory, and processor time of a request. */
export async function sizing(options: BenchOptions): Promise<Line[]> {
  const lines: Line[] = []
  for (const size of sizes) lines.push(await sized(size, options))
  return lines
}

async function sized(
  { points, keys }: (typeof sizes)[number],
  options: BenchOptions,
): Promise<Line> {
  const copy = await filled('sizing', { points, keys }, options)
  options.say(`sizing: ${points} points, ${keys} keys`)
  const diskMb = statSync(join(copy.dir, 'wellhead.db')).size / 2 ** 20
  return withServers([serveWellhead(copy.dir, 'serve', 'built')], async ({ port, pid }) => {
    const startMb = residentMb(pid)
    const costMs = async (path: string) => {
      const { perSecond, workedMs } = await loaded(copy, port, pid, path, options)
      return `${(workedMs / options.seconds / perSecond).toFixed(2)} ms`
    }
    const latest = await costMs(`/v1/prices/latest?by_code=${copy.code}`)
    const day = (at: number) => new Date(at).toISOString().slice(0, 10)
    const days = `start_date=${day(copy.lastAt - 30 * dayMs)}&end_date=${day(copy.lastAt - dayMs)}`
    const page = await costMs(
      `/v1/prices/historical?by_code=${copy.code}&interval=raw&${days}&per_page=100`,
    )
    const parts = [
      `disk ${Math.round(diskMb)} MB`,
      `memory ${Math.round(startMb)} MB, ${Math.round(residentMb(pid))} after the load`,
      `processor ${latest} a price, ${page} a page`,
    ]
    return {
      row: `${points.toLocaleString('en-US')} points, ${(keys / 5).toLocaleString('en-US')} accounts`,
      ours: parts.join('; '),
      yardstick: '',
      ratio: undefined,
      atLeast: '-',
      met: undefined,
    }
  })
}

/** Requests at full load, by turns with every key, and their processor time. */
async function loaded(
  copy: Filled,
  port: number,
  pid: number,
  path: string,
  { seconds }: BenchOptions,
) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: `Token ${copy.tokens[0]}` },
  })
  const body = await answer.text()
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${body}`)
  const requests = copy.tokens.map(token =>
    requestBytes(port, path, { Authorization: `Token ${token}` }),
  )
  const before = processorMs(pid)
  const perSecond = await load({ port, requests, bodyBytes: Buffer.byteLength(body), seconds })
  return { perSecond, workedMs: processorMs(pid) - before }
}
