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

/** The competing requests. */
export interface HeavyRequest {
  path: string
  /** The body of a POST; absent: it is a GET. */
  body?: object
}

/** Requests sent by turns by all clients together; the list repeats. */
export type HeavyRequests = readonly HeavyRequest[]

export type Connections = 'kept' | 'new'

const bars = { kept: { p99Ms: 10, maxMs: undefined }, new: { p99Ms: 15, maxMs: 60 } } as const

const heavyClients = 4
/**
 * The competing requests run for so long before the first price is requested: the engine compiles
 * what they need.
 */
const warmUpSeconds = 5
/** And after the last. */
const overlapSeconds = 2

/** `codes`: the codes whose prices are requested, by turns. */
export type Asked = Pick<Wellhead, 'port' | 'apiKey'> & { codes: readonly string[] }

function priceClient({ port, apiKey, codes }: Asked, connections: Connections, seconds: number) {
  const program = join(import.meta.dir, 'price-client.ts')
  const asked = [String(port), apiKey ?? '', connections, String(seconds), codes.join(',')]
  return Bun.spawn([process.execPath, program, ...asked], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
}

async function waitsOf(child: ReturnType<typeof priceClient>): Promise<Waits> {
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the client failed')
  return JSON.parse(text) as Waits
}

/** A path on each line, and behind it the body of a POST. */
const heavyScript = (list: string) => `
local requests = {}
local n = 0
function init()
  for line in io.lines('${list}') do
    n = n + 1
    local path, body = line:match('^(%S+) (.+)$')
    requests[n] = body and wrk.format('POST', path, nil, body) or wrk.format('GET', line)
  end
end
local i = 0
function request()
  i = i % n + 1
  return requests[i]
end
`

/**
 * Responses per second to four clients of `wrk`, an independent program, that request as fast as
 * they are answered.
 */
async function askHeavily(
  { port, apiKey }: Asked,
  requests: HeavyRequests,
  connections: Connections,
  seconds: number,
  dir: string,
): Promise<number> {
  const headers = {
    Authorization: `Token ${apiKey}`,
    'Accept-Encoding': 'gzip',
    ...(connections === 'new' && { Connection: 'close' }),
    ...(requests[0]?.body && { 'Content-Type': 'application/json' }),
  }
  const script = join(dir, 'heavy.lua')
  const list = join(dir, 'heavy.txt')
  const lineOf = ({ path, body }: HeavyRequest) => (body ? `${path} ${JSON.stringify(body)}` : path)
  await Bun.write(list, `${requests.map(lineOf).join('\n')}\n`)
  await Bun.write(script, heavyScript(list))
  const args = [`-c${heavyClients}`, `-d${warmUpSeconds + Math.ceil(seconds) + overlapSeconds}s`]
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  args.push('-s', script, `http://127.0.0.1:${port}`)
  // The server closes a connection that is not kept: to wrk that is an error of the socket.
  return askByWrk(args, /Non-2xx/)
}

/**
 * Requests a price fifty times a second, and reports the responses to four clients with heavier
 * requests.
 */
export async function waitsBeside(
  server: Asked,
  heavy: HeavyRequests | undefined,
  connections: Connections,
  seconds: number,
  dir: string,
): Promise<Waits & { heavyPerSecond: number | undefined }> {
  const answered = heavy && askHeavily(server, heavy, connections, seconds, dir)
  if (heavy) await Bun.sleep(warmUpSeconds * 1000)
  const waits = await waitsOf(priceClient(server, connections, seconds))
  return { ...waits, heavyPerSecond: await answered }
}

/** The same during other work of the server, for as long as that takes. */
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
