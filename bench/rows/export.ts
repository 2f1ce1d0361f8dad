import { readFileSync } from 'node:fs'
import { large } from '../database.ts'
import { type BenchOptions, type Line, perSecond } from '../row.ts'
import { serveWellhead, withServers } from '../server.ts'

const leastRows = 2_000_000
const rowsWanted = 10_000_000
const memoryMaxMb = 200
const latestMaxMs = 10

/**
 * Ten million rows as one Parquet file through the whole server, while another client requests the
 * newest price repeatedly.
 */
export async function exporting(options: BenchOptions): Promise<Line[]> {
  const copy = await large(options)
  return withServers([serveWellhead(copy.dir)], async ours => {
    const { port, pid } = ours
    const headers = { authorization: `Token ${copy.tokens[0]}` }
    const address = `http://127.0.0.1:${port}/v1`
    const startAt = copy.lastAt - (copy.lastAt - copy.firstAt) * (rowsWanted / options.points)
    const columns = 'code,observed_at,price'
    let exports = 0
    /** Each from another moment. */
    const nextFile = () => {
      exports += 1
      const start = new Date(Math.max(copy.firstAt, startAt) + exports * 1000).toISOString()
      return `${address}/export/prices?codes=*&start_date=${start}&format=parquet&columns=${columns}`
    }
    const latestOf = (n: number) =>
      `${address}/prices/latest?by_code=${copy.codes[(n * 7) % copy.codes.length]}`

    /** Takes the file and keeps nothing of it. */
    const take = async () => {
      const startedAt = performance.now()
      const answer = await fetch(nextFile(), { headers })
      if (answer.status !== 200) throw new Error(await answer.text())
      let bytes = 0
      for await (const piece of answer.body!) bytes += piece.byteLength
      const seconds = (performance.now() - startedAt) / 1000
      return { rows: Number(answer.headers.get('x-total')), bytes, seconds }
    }
    // Readers start with the first heavy question.
    await (await fetch(`${address}/export/prices?codes=${copy.code}`, { headers })).text()

    const lines: Line[] = []
    let best = 0
    for (let round = 0; round < Math.min(3, options.rounds); round += 1) {
      options.say(`export of ${rowsWanted} rows: round ${round + 1}`)
      const { rows, bytes, seconds } = await take()
      best = Math.max(best, rows / seconds)
      options.say(`${rows} rows, ${(bytes / rows).toFixed(2)} bytes a row, ${seconds.toFixed(2)} s`)
    }
    lines.push({
      row: `export of ${rowsWanted} rows as Parquet, rows`,
      ours: perSecond(best),
      yardstick: '',
      ratio: undefined,
      atLeast: perSecond(leastRows),
      met: best >= leastRows,
    })

    const base = residentMb(pid)
    let isDone = false
    let peak = base
    const waits: number[] = []
    const asking = (async () => {
      while (!isDone) {
        const startedAt = performance.now()
        await (await fetch(latestOf(waits.length), { headers })).text()
        waits.push(performance.now() - startedAt)
        peak = Math.max(peak, residentMb(pid))
      }
    })()
    await take()
    isDone = true
    await asking
    const p99 = waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.99)]!
    lines.push(
      {
        row: 'export: memory of the server while it runs',
        ours: `${peak} MB (${base} MB before)`,
        yardstick: '',
        ratio: undefined,
        atLeast: `${memoryMaxMb} MB more at most`,
        met: peak - base < memoryMaxMb,
      },
      {
        row: 'export: latest while it runs, p99',
        ours: `${p99.toFixed(1)} ms of ${waits.length}`,
        yardstick: '',
        ratio: undefined,
        atLeast: `${latestMaxMs} ms`,
        met: p99 < latestMaxMs,
      },
    )
    return lines
  })
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
}
