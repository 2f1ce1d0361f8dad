import { join } from 'node:path'
import type { Line } from './row.ts'
import type { Wellhead } from './server.ts'
import { askByWrk } from './wrk.ts'

/** How long prices were waited for, milliseconds. */
export interface Waits {
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** What others ask for meanwhile. */
export interface HeavyRequest {
  path: string
  /** Of a POST; absent: it is a GET. */
  body?: object
}

export type Connections = 'kept' | 'new'

const bars = { kept: { p99Ms: 10, maxMs: undefined }, new: { p99Ms: 15, maxMs: 60 } } as const

const heavyClients = 4
/** The others are at work before the first price is asked for: the engine compiles what they need. */
const warmUpSeconds = 5
/** And after the last. */
const overlapSeconds = 2

type Asked = Pick<Wellhead, 'port' | 'apiKey'>

function priceClient({ port, apiKey }: Asked, connections: Connections, seconds: number) {
  const program = join(import.meta.dir, 'price-client.ts')
  return Bun.spawn(
    [process.execPath, program, String(port), apiKey ?? '', connections, String(seconds)],
    { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' },
  )
}

async function waitsOf(child: ReturnType<typeof priceClient>): Promise<Waits> {
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the client failed')
  return JSON.parse(text) as Waits
}

/** Answers a second to four clients that ask as fast as they are answered: `wrk`, nobody's here. */
async function askHeavily(
  { port, apiKey }: Asked,
  { path, body }: HeavyRequest,
  connections: Connections,
  seconds: number,
  dir: string,
): Promise<number> {
  const headers = {
    Authorization: `Token ${apiKey}`,
    'Accept-Encoding': 'gzip',
    ...(connections === 'new' && { Connection: 'close' }),
    ...(body && { 'Content-Type': 'application/json' }),
  }
  const script = join(dir, 'heavy.lua')
  await Bun.write(
    script,
    body ? `wrk.method = 'POST'\nwrk.body = '${JSON.stringify(body)}'\n` : "wrk.method = 'GET'\n",
  )
  const args = [`-c${heavyClients}`, `-d${warmUpSeconds + Math.ceil(seconds) + overlapSeconds}s`]
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  args.push('-s', script, `http://127.0.0.1:${port}${path}`)
  // The server closes a connection that is not kept: to wrk that is an error of the socket.
  return askByWrk(args, /Non-2xx/)
}

/** A price fifty times a second, and what was answered to four others who asked for something heavy. */
export async function waitsBeside(
  server: Asked,
  heavy: HeavyRequest | undefined,
  connections: Connections,
  seconds: number,
  dir: string,
): Promise<Waits & { heavyPerSecond: number | undefined }> {
  const answered = heavy && askHeavily(server, heavy, connections, seconds, dir)
  if (heavy) await Bun.sleep(warmUpSeconds * 1000)
  const waits = await waitsOf(priceClient(server, connections, seconds))
  return { ...waits, heavyPerSecond: await answered }
}

/** The same beside nothing but some work of the server's, for as long as that takes. */
export async function waitsDuring(
  server: Asked,
  connections: Connections,
  work: () => Promise<unknown>,
): Promise<Waits> {
  const child = priceClient(server, connections, 0)
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
  { p50Ms, p99Ms, maxMs }: Waits,
  connections: Connections,
  heavyPerSecond?: number,
): Line {
  const bar = bars[connections]
  return {
    row: `${name}, ${connections} connections`,
    ours: `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} / ${maxMs.toFixed(1)} ms`,
    yardstick: heavyPerSecond === undefined ? '' : `${Math.round(heavyPerSecond)}/s of the other`,
    ratio: undefined,
    atLeast: bar.maxMs === undefined ? `${bar.p99Ms} ms` : `${bar.p99Ms} ms, worst ${bar.maxMs} ms`,
    met: p99Ms <= bar.p99Ms && (bar.maxMs === undefined || maxMs <= bar.maxMs),
  }
}
