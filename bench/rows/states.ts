import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../duel.ts'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead, type Wellhead } from '../server.ts'
import { pauseFeed } from '../world.ts'

const timesAsked = 7
const barsMs = { small: 100, whole: 1000 }

/** The controls of a demo instance that keep its state and go back to it. */
export const states = async (options: BenchOptions): Promise<Line[]> => [
  ...(await statesOf(options, 'small')),
  ...(await statesOf(options, 'whole')),
]

async function statesOf(options: BenchOptions, world: keyof typeof barsMs): Promise<Line[]> {
  const barMs = barsMs[world]
  const dir = join(options.dir, `states-${world}`)
  mkdirSync(dir, { recursive: true })
  const server = await serveWellhead(dir, 'dev', 'built', { args: ['--world', world] })
  try {
    await pauseFeed(server)
    const lines: Line[] = []
    for (const control of ['snapshot', 'restore', 'reset']) {
      options.say(`states: ${control} of the ${world} world`)
      const times: number[] = []
      for (let i = 0; i < timesAsked; i += 1) times.push(await answerMs(server, control))
      lines.push({
        row: `${control} of the ${world} demo world`,
        ours: `${median(times).toFixed(0)} ms, worst ${Math.max(...times).toFixed(0)}`,
        yardstick: '',
        ratio: undefined,
        atLeast: `${barMs} ms`,
        met: median(times) <= barMs,
      })
    }
    return lines
  } finally {
    await server.stop()
  }
}

/** The first one of a process is counted like the others. */
async function answerMs({ port, adminToken }: Wellhead, control: string): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}/_dev/${control}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(control === 'reset' ? {} : { name: 'bench' }),
  })
  await response.arrayBuffer()
  if (response.status >= 400) throw new Error(`${control} was answered ${response.status}`)
  return performance.now() - startedAt
}
