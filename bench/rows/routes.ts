import { join } from 'node:path'
import type { BenchOptions, Line } from '../row.ts'
import { type Sample, samples } from '../samples.ts'
import { serveWellhead, type Wellhead } from '../server.ts'
import { wholeWorld } from '../world.ts'

const timesAsked = 9
const shown = 5
const barMs = 5
const drillingBarMs = 3
const drillingPath = /drilling|rig-counts|rig_counts|duc_wells|frac|well-permits/

interface Timed {
  path: string
  medianMs: number
}

/**
 * Every GET of the interface with its sample, alone, over one kept connection. Each request carries
 * a header of its own, so that none is answered with what an earlier one was.
 */
export async function routes(options: BenchOptions): Promise<Line[]> {
  const server = await serveWellhead(join(options.dir, 'routes'), 'dev', 'built')
  try {
    await wholeWorld(server)
    const timed: Timed[] = []
    for (const sample of samples) {
      options.say(`routes: ${sample.path}`)
      timed.push({ path: sample.path, medianMs: await median(server, sample) })
    }
    timed.sort((a, b) => b.medianMs - a.medianMs)
    const drilling = timed.filter(({ path }) => drillingPath.test(path))
    return [
      ...timed.slice(0, shown).map(route => lineOf(`GET ${route.path}`, route, barMs)),
      lineOf(
        `slowest of ${drilling.length} drilling lists: ${drilling[0]!.path}`,
        drilling[0]!,
        drillingBarMs,
      ),
    ]
  } finally {
    await server.stop()
  }
}

const lineOf = (row: string, { medianMs }: Timed, atMostMs: number): Line => ({
  row,
  ours: `${medianMs.toFixed(1)} ms`,
  yardstick: '',
  ratio: undefined,
  atLeast: `${atMostMs} ms`,
  met: medianMs <= atMostMs,
})

async function median(server: Wellhead, { path, sample, headersOf }: Sample): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < timesAsked; i += 1) {
    const startedAt = performance.now()
    const response = await fetch(`http://127.0.0.1:${server.port}${sample}`, {
      headers: { 'x-bench-round': String(i), ...headersOf(server) },
    })
    await response.arrayBuffer()
    if (response.status >= 400) throw new Error(`${path} was answered ${response.status}`)
    times.push(performance.now() - startedAt)
  }
  return times.sort((a, b) => a - b)[timesAsked >> 1]!
}
