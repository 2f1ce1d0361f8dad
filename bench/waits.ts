import { join } from 'node:path'
import type { Line } from './row.ts'
import type { Wellhead } from './server.ts'

/** How long prices were waited for, and what was answered to the others meanwhile. */
export interface Waits {
  p50Ms: number
  p99Ms: number
  maxMs: number
  heavyPerSecond: number
}

export type Connections = 'kept' | 'new'

const bars = { kept: { p99Ms: 10, maxMs: undefined }, new: { p99Ms: 15, maxMs: 60 } } as const

function loadOf({ port, apiKey }: Pick<Wellhead, 'port' | 'apiKey'>, ...args: readonly string[]) {
  return Bun.spawn(
    [process.execPath, join(import.meta.dir, 'mix-load.ts'), String(port), apiKey ?? '', ...args],
    { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' },
  )
}

async function waitsOf(child: ReturnType<typeof loadOf>): Promise<Waits> {
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the clients failed')
  return JSON.parse(text) as Waits
}

/** A price fifty times a second while four others ask for a path, from a process of their own. */
export const waitsBeside = (
  server: Wellhead,
  path: string,
  connections: Connections,
  seconds: number,
  body?: object,
): Promise<Waits> =>
  waitsOf(loadOf(server, path, connections, String(seconds), body ? JSON.stringify(body) : ''))

/** The same for as long as some work takes. */
export async function waitsDuring(
  server: Pick<Wellhead, 'port' | 'apiKey'>,
  connections: Connections,
  work: () => Promise<unknown>,
): Promise<Waits> {
  const child = loadOf(server, '', connections, '0')
  const waits = waitsOf(child)
  try {
    await work()
  } finally {
    child.stdin.end()
  }
  return waits
}

export function waitLine(
  name: string,
  { p50Ms, p99Ms, maxMs, heavyPerSecond }: Waits,
  connections: Connections,
  isBesideOthers: boolean,
): Line {
  const bar = bars[connections]
  return {
    row: `${name}, ${connections} connections`,
    ours: `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} / ${maxMs.toFixed(1)} ms`,
    yardstick: isBesideOthers ? `${Math.round(heavyPerSecond)}/s of the other` : '',
    ratio: undefined,
    atLeast: bar.maxMs === undefined ? `${bar.p99Ms} ms` : `${bar.p99Ms} ms, worst ${bar.maxMs} ms`,
    met: p99Ms <= bar.p99Ms && (bar.maxMs === undefined || maxMs <= bar.maxMs),
  }
}
