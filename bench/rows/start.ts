import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Filled, large } from '../database.ts'
import { median } from '../duel.ts'
import type { BenchOptions, Line } from '../row.ts'
import { binary, built, spawned, stopped } from '../server.ts'

const startMsMax = 150
const residentMbMax = 150

interface Start {
  healthMs: number
  latestMs: number
  residentMb: number
}

/**
 * The time from the start of the process to its first responses on the large database, and its
 * memory then.
 */
export async function start(options: BenchOptions): Promise<Line[]> {
  const copy = await large(options)
  const command = built()
  const kind = command[0] === binary ? 'binary' : 'source'
  const yardstick = join(import.meta.dir, '../yardsticks/start.ts')
  const settings = (port: number) =>
    JSON.stringify({ database: join(copy.dir, 'wellhead.db'), code: copy.code, port })
  options.say(`start (${kind})`)
  const ours: Start[] = []
  const theirs: Start[] = []
  for (let round = 0; round <= options.rounds; round += 1) {
    ours.push(
      await started(copy, port => [
        ...command,
        'serve',
        '--data',
        copy.dir,
        '--port',
        String(port),
      ]),
    )
    theirs.push(await started(copy, port => [process.execPath, yardstick, settings(port)]))
  }
  const line = (row: string, of: keyof Start, max: number, unit: string): Line => {
    // The first of each brought the files into memory and does not count.
    const [own, bare] = [ours, theirs].map(all => median(all.slice(1).map(start => start[of])))
    const shown = (value: number) => `${Math.round(value)} ${unit}`
    return {
      row: `${row} (${kind})`,
      ours: shown(own!),
      yardstick: shown(bare!),
      ratio: undefined,
      atLeast: `≤ ${max} ${unit}`,
      met: own! <= max,
    }
  }
  return [
    line('start to first answer', 'healthMs', startMsMax, 'ms'),
    line('start to first price', 'latestMs', startMsMax, 'ms'),
    line('resident memory after it', 'residentMb', residentMbMax, 'MB'),
  ]
}

async function started(copy: Filled, command: (port: number) => string[]): Promise<Start> {
  const port = freePort()
  const startedAt = performance.now()
  const child = spawned(command(port))
  try {
    while (!(await answers(port, '/health'))) {
      if (child.exitCode !== null)
        throw new Error(`a server ended with exit code ${child.exitCode}`)
      await Bun.sleep(1)
    }
    const healthMs = performance.now() - startedAt
    if (!(await answers(port, `/v1/prices/latest?by_code=${copy.code}`, copy.tokens[0])))
      throw new Error('no latest price after the start')
    const latestMs = performance.now() - startedAt
    const [, kilobytes] =
      /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    return { healthMs, latestMs, residentMb: Number(kilobytes) / 1024 }
  } finally {
    await stopped(child)
  }
}

async function answers(port: number, path: string, token = ''): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Token ${token}` },
    })
    await answer.text()
    return answer.status === 200
  } catch {
    return false
  }
}

/**
 * A port that was free a moment ago: requests must begin before the server can report its own port.
 */
function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  probe.stop(true)
  return probe.port
}
