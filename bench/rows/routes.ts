import { join } from 'node:path'
import { median } from '../duel.ts'
import { whenIdle } from '../processor-time.ts'
import type { BenchOptions, Line } from '../row.ts'
import { type Sample, samples } from '../samples.ts'
import { serveWellhead, type Wellhead } from '../server.ts'
import { pauseFeed } from '../world.ts'

const timesAsked = 41
/** Those in which the code of a route has hardly run yet. */
const firstAsked = 9
const shown = 5
const barMs = 5
const drillingBarMs = 3
const drillingPath = /drilling|rig-counts|rig_counts|duc_wells|frac|well-permits/

interface Timed {
  path: string
  /** The median of requests that were not sent before. */
  medianMs: number
  /** The time of the first of them, in a server that has not answered the operation before. */
  firstMs: number
  /** The time of a repeated request, as clients send it. */
  againMs: number
}

/**
 * Every GET operation of the API with its sample, alone, over one kept connection. Each request has
 * a different parameter that nothing reads, so that none is answered from a cache; then the same
 * request is repeated.
 */
export async function routes(options: BenchOptions): Promise<Line[]> {
  const server = await serveWellhead(join(options.dir, 'routes'), 'dev', 'built')
  try {
    await pauseFeed(server)
    // Work that a demo instance does after its start is not measured.
    await whenIdle(server.pid)
    const timed: Timed[] = []
    for (const sample of samples) {
      options.say(`routes: ${sample.path}`)
      const anew = await timesOf(server, sample, round => ofItsOwn(sample.sample, round))
      timed.push({
        path: sample.path,
        medianMs: median(anew),
        firstMs: median(anew.slice(0, firstAsked)),
        againMs: median(await timesOf(server, sample, () => sample.sample)),
      })
    }
    timed.sort((a, b) => b.medianMs - a.medianMs)
    const drilling = timed.filter(({ path }) => drillingPath.test(path))
    const slowestBy = (time: 'firstMs' | 'againMs') =>
      timed.reduce((slowest, route) => (route[time] > slowest[time] ? route : slowest))
    const [first, again, slowestDrilling] = [
      slowestBy('firstMs'),
      slowestBy('againMs'),
      drilling[0]!,
    ]
    return [
      ...timed.slice(0, shown).map(({ path, medianMs }) => lineOf(`GET ${path}`, medianMs, barMs)),
      lineOf(
        `slowest of ${drilling.length} drilling lists: ${slowestDrilling.path}`,
        slowestDrilling.medianMs,
        drillingBarMs,
      ),
      lineOf(
        `slowest of the first ${firstAsked} requests: GET ${first.path}`,
        first.firstMs,
        barMs,
      ),
      lineOf(`slowest repeated request: GET ${again.path}`, again.againMs, barMs),
    ]
  } finally {
    await server.stop()
  }
}

const ofItsOwn = (address: string, round: number): string =>
  `${address}${address.includes('?') ? '&' : '?'}_=${round}`

const lineOf = (row: string, medianMs: number, atMostMs: number): Line => ({
  row,
  ours: `${medianMs.toFixed(1)} ms`,
  yardstick: '',
  ratio: undefined,
  atLeast: `${atMostMs} ms`,
  met: medianMs <= atMostMs,
})

async function timesOf(
  server: Wellhead,
  { path, headersOf }: Sample,
  addressOf: (round: number) => string,
): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < timesAsked; i += 1) {
    const startedAt = performance.now()
    const response = await fetch(`http://127.0.0.1:${server.port}${addressOf(i)}`, {
      headers: headersOf(server),
    })
    await response.arrayBuffer()
    if (response.status >= 400) throw new Error(`${path} was answered ${response.status}`)
    times.push(performance.now() - startedAt)
  }
  return times
}
