import { join } from 'node:path'
import interfaceRows from '../../test/api/interface.json'
import type { BenchOptions, Line } from '../row.ts'
import { serveWellhead, type Wellhead } from '../server.ts'
import { wholeWorld } from '../world.ts'

const timesAsked = 9
const shown = 5
const barMs = 5
const drillingBarMs = 3
const drillingPath = /drilling|rig-counts|rig_counts|duc_wells|frac|well-permits/

/** What never ends is not timed, and neither is what makes a document of its own for each caller. */
const isTimed = ({ method, path, sample }: (typeof interfaceRows)[number]) =>
  method === 'GET' && sample !== null && !path.includes('stream')

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
    for (const row of interfaceRows.filter(isTimed)) {
      options.say(`routes: ${row.path}`)
      timed.push({ path: row.path, medianMs: await median(server, row.access, row.sample!) })
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

async function median({ port, apiKey, adminToken }: Wellhead, access: string, path: string) {
  const times: number[] = []
  for (let i = 0; i < timesAsked; i += 1) {
    const startedAt = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: {
        'x-bench-round': String(i),
        ...(access === 'operator' && { authorization: `Bearer ${adminToken}` }),
        ...(access.startsWith('key') &&
          access !== 'keyless' && { authorization: `Token ${apiKey}` }),
      },
    })
    await response.arrayBuffer()
    if (response.status >= 400) throw new Error(`${path} was answered ${response.status}`)
    times.push(performance.now() - startedAt)
  }
  return times.sort((a, b) => a - b)[timesAsked >> 1]!
}
