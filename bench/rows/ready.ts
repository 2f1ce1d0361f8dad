import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '../../src/lib/time/clock.ts'
import { dayMs, isoInstant } from '../../src/lib/time/instant.ts'
import { median } from '../duel.ts'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead } from '../server.ts'

const starts = 5
/** Users rarely start a binary, with the data in it, as soon after its build as here. */
const laterDays = 30

/** From the start of `dev` in a new directory to its ready line, by where its data comes from. */
export async function ready(options: BenchOptions): Promise<Line[]> {
  const now = createSystemClock().now()
  const later = isoInstant(now + laterDays * dayMs)
  // Before the build, so that the binary has no such world.
  const earlier = isoInstant(now - laterDays * dayMs)
  const kinds: readonly (readonly [what: string, args: readonly string[], barMs: number])[] = [
    ['whole world of the binary', [], 1000],
    [`whole world of a binary ${laterDays} days old`, ['--clock', later], 3000],
    ['small world of the binary', ['--world', 'small'], 300],
    ['whole world that is generated', ['--clock', earlier], 10_000],
    ['small world that is generated', ['--world', 'small', '--clock', earlier], 1000],
  ]
  const lines: Line[] = []
  for (const [what, args, barMs] of kinds) {
    options.say(`ready: ${what}`)
    const times: number[] = []
    for (let i = 0; i < starts; i += 1) times.push(await readyMs(join(options.dir, 'ready'), args))
    lines.push({
      row: `ready line, ${what}`,
      ours: `${median(times).toFixed(0)} ms, worst ${Math.max(...times).toFixed(0)}`,
      yardstick: '',
      ratio: undefined,
      atLeast: `${barMs} ms`,
      met: median(times) <= barMs,
    })
  }
  return lines
}

async function readyMs(dir: string, args: readonly string[]): Promise<number> {
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  const startedAt = performance.now()
  const server = await serveWellhead(dir, 'dev', 'built', { args })
  const ms = performance.now() - startedAt
  await server.stop()
  rmSync(dir, { recursive: true, force: true })
  return ms
}
