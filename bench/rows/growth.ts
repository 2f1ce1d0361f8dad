import { cpSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { dayMs, isoInstant } from '../../src/lib/time/instant.ts'
import { filled } from '../database.ts'
import type { BenchOptions, Line } from '../row.ts'
import { built, serveWellhead, spawned, withServers } from '../server.ts'

/** Points of ten codes; 100,000,000 take 5 GB and an hour: `--points 100000000` adds them. */
const sizes = [1_000_000, 10_000_000, 100_000_000] as const
const alwaysMax = 10_000_000
const levels = {
  WTI_USD: 70,
  BRENT_CRUDE_USD: 74,
  DUBAI_CRUDE_USD: 75,
  URALS_CRUDE_USD: 60,
  NATURAL_GAS_USD: 3.4,
  HEATING_OIL_USD: 2.3,
  GASOLINE_USD: 2.1,
  GOLD_USD: 2400,
  EUR_USD: 1.1,
  GBP_USD: 1.27,
} as const
const codes = Object.keys(levels) as (keyof typeof levels)[]
const spanMs = 19 * 365 * dayMs
const questions = 200
const rowsOfWindow = 100
const kilobytesPerMb = 1024

/**
 * Disk use of a database of 1, 10 and 100 million points, and the response times of distinct
 * requests to it.
 */
export async function growth(options: BenchOptions): Promise<Line[]> {
  const lines: Line[] = []
  for (const points of sizes)
    if (points <= Math.max(alwaysMax, options.points >= sizes[2] ? sizes[2] : 0))
      lines.push(await grown(points, options))
  return lines
}

async function grown(points: number, options: BenchOptions): Promise<Line> {
  const keyed = await filled('growth', { points: 1_000, keys: 5 }, options)
  const dir = join(options.dir, `growth-${points}`)
  const file = join(options.dir, `growth-${points}.csv`)
  const copy = join(options.dir, 'growth-out')
  rmSync(dir, { recursive: true, force: true })
  cpSync(keyed.dir, dir, { recursive: true })
  const stepMs = Math.floor(spanMs / (points / codes.length) / 1000) * 1000
  const lastAt = Math.floor(Date.now() / dayMs) * dayMs - 2 * dayMs
  const firstAt = lastAt - (points / codes.length - 1) * stepMs
  if (!existsSync(file)) await writeCsv(file, points, firstAt, stepMs)
  options.say(`growth: ${points} points`)
  try {
    const load = await timedCommand([...built(), 'import', file, '--data', dir, '--replace'])
    const diskMb = statSync(join(dir, 'wellhead.db')).size / 2 ** 20
    const { seconds: exportS } = await timedCommand([
      ...built(),
      'export',
      '-o',
      copy,
      '--data',
      dir,
    ])
    rmSync(copy, { force: true })
    const { seconds: backupS } = await timedCommand([...built(), 'backup', copy, '--data', dir])
    const startedAt = performance.now()
    return await withServers([serveWellhead(dir, 'serve', 'built')], async ({ port, pid }) => {
      const startMs = performance.now() - startedAt
      const ask = (path: string) => timed(port, keyed.tokens[0]!, path)
      const anyCode = () => codes[Math.floor(Math.random() * codes.length)]!
      /** Windows that end in a tenth of the history; no two are the same. */
      const windows = (from: number, to: number) =>
        median(() => {
          const share = from + Math.random() * (to - from)
          const start = firstAt + Math.floor(share * (lastAt - firstAt - rowsOfWindow * stepMs))
          const range = `start_date=${isoInstant(start)}&end_date=${isoInstant(start + rowsOfWindow * stepMs)}`
          return ask(
            `/v1/prices/historical?by_code=${anyCode()}&interval=raw&${range}&per_page=${rowsOfWindow}`,
          )
        })
      const latest = await median(() => ask(`/v1/prices/latest?by_code=${anyCode()}`))
      const [newest, tenth, oldest] = [
        await windows(0.9, 1),
        await windows(0.8, 0.9),
        await windows(0, 0.1),
      ]
      const day = await median(async () => {
        const start = firstAt + Math.floor((Math.random() * (lastAt - firstAt)) / dayMs) * dayMs
        const range = `start_date=${isoInstant(start)}&end_date=${isoInstant(start + dayMs)}`
        let ms = 0
        for (const code of codes)
          ms += await ask(
            `/v1/prices/historical?by_code=${code}&interval=day&${range}&per_page=${rowsOfWindow}`,
          )
        return ms
      }, questions / codes.length)
      const memoryMb = Number(
        /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1],
      )
      return {
        row: `growth: ${points.toLocaleString('en-US')} points`,
        ours: [
          `load ${perSecond(points / load.seconds)}, ${perSecond(points / load.processorS)} of processor time`,
          `start ${Math.round(startMs)} ms`,
          `latest ${latest.toFixed(2)} ms`,
          `window newest ${newest.toFixed(2)} ms, a tenth back ${tenth.toFixed(2)} ms, oldest ${oldest.toFixed(2)} ms`,
          `day of all codes ${day.toFixed(1)} ms`,
          `export ${exportS.toFixed(1)} s`,
          `backup ${backupS.toFixed(1)} s`,
          `memory ${Math.round(memoryMb / kilobytesPerMb)} MB`,
          `disk ${Math.round(diskMb)} MB`,
        ].join('; '),
        yardstick: '',
        ratio: undefined,
        atLeast: '-',
        met: undefined,
      }
    })
  } finally {
    rmSync(dir, { recursive: true, force: true })
    rmSync(copy, { force: true })
    rmSync(file, { force: true })
  }
}

/** Ten codes in the order of the time, as a feed writes them down. */
async function writeCsv(file: string, points: number, firstAt: number, stepMs: number) {
  const sink = Bun.file(file).writer()
  sink.write('code,observed_at,price\n')
  for (let i = 0; i < points / codes.length; i += 1) {
    const at = isoInstant(firstAt + i * stepMs)
    for (const code of codes) {
      const price = levels[code] * (1 + 0.1 * Math.sin(i / 5000) + (((i * 7919) % 200) - 100) / 1e4)
      sink.write(`${code},${at},${price.toFixed(3)}\n`)
    }
    if (i % 10_000 === 0) await sink.flush()
  }
  await sink.end()
}

interface Cost {
  seconds: number
  processorS: number
}

const perSecond = (rows: number) => `${Math.round(rows).toLocaleString('en-US')} rows/s`

async function timedCommand(command: string[]): Promise<Cost> {
  const startedAt = performance.now()
  const child = spawned(command)
  const [code, text] = await Promise.all([child.exited, new Response(child.stdout).text()])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with exit code ${code}: ${text}`)
  return {
    seconds: (performance.now() - startedAt) / 1000,
    processorS: Number(child.resourceUsage()!.cpuTime.total) / 1e6,
  }
}

async function timed(port: number, token: string, path: string): Promise<number> {
  const startedAt = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: `Token ${token}` },
  })
  const body = await answer.text()
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${body}`)
  return performance.now() - startedAt
}

async function median(ask: () => Promise<number>, count = questions): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < count; i += 1) times.push(await ask())
  return times.sort((a, b) => a - b)[Math.floor(count / 2)]!
}
