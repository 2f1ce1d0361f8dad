import { join } from 'node:path'
import { median } from '../duel.ts'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead, type Wellhead } from '../server.ts'
import { wholeWorld } from '../world.ts'

const timesAsked = 7
const barMs = 100

/** The controls of an evaluation copy that keep its state and go back to it, on the whole world. */
export async function states(options: BenchOptions): Promise<Line[]> {
  const server = await serveWellhead(join(options.dir, 'states'), 'dev', 'built')
  try {
    await wholeWorld(server)
    const lines: Line[] = []
    for (const control of ['snapshot', 'restore', 'reset']) {
      options.say(`states: ${control}`)
      const times: number[] = []
      for (let i = 0; i < timesAsked; i += 1) times.push(await answerMs(server, control))
      lines.push({
        row: `${control} of the whole evaluation copy`,
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
