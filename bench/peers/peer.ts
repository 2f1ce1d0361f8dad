import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { processorMs } from '../processor-time.ts'
import { serveYardstick, spawned, stopped } from '../server.ts'
import type { Settings } from '../yardsticks/windows.ts'

/** The kinds of questions that every peer answers. */
export type Question = 'raw' | 'days' | 'latest'

/** A request as it is sent to Wellhead. */
export interface Asked {
  path: string
  code: string
  question: Question
  /** Unix ms; `to` is exclusive. Of a newest price both are 0. */
  from: number
  to: number
}

/** Another database, with the same prices in it. */
export interface Peer {
  name: string
  /** Loads a CSV of code, time and price into an empty database; resolves once it can be read. */
  load(csv: string): Promise<void>
  /** Answers by HTTP once the prices are loaded. */
  serve(): Promise<PeerServer>
  stop(): Promise<void>
  /** Bytes on the disk. */
  bytes(): number
}

export interface PeerServer {
  port: number
  pathOf(asked: Asked): string
  /** Rows in the body of an answer. */
  rowsIn(body: string): number
  /** Every process that works for an answer. */
  pids(): readonly number[]
  stop(): Promise<void>
}

export interface PeerOptions {
  /** An empty directory. */
  dir: string
  /** When the newest price of every code was observed, Unix ms. */
  lastAt: number
  /** The settings of the bare server, where the peer is behind one. */
  settings: Settings
}

/** Undefined: it is not installed here. */
export type OpenPeer = (options: PeerOptions) => Promise<Peer | undefined>

/** The bare server in front of a database without HTTP; it gets the same requests as Wellhead. */
export async function behindBareServer(
  settings: Settings,
  pids: () => readonly number[] = () => [],
): Promise<PeerServer> {
  const bare = await serveYardstick('windows', { ...settings, latest: undefined })
  return {
    port: bare.port,
    pathOf: ({ path }) => path,
    rowsIn: rowsOfWindow,
    pids: () => [bare.pid, ...pids()],
    stop: bare.stop,
  }
}

/** Rows in a response of Wellhead or of the bare server. */
export function rowsOfWindow(body: string): number {
  const { data } = JSON.parse(body) as { data: { prices?: unknown[] } }
  return data.prices?.length ?? 1
}

/** Runs a command that must succeed; returns its output. */
export async function run(command: string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawned(command, env)
  const [code, text] = await Promise.all([child.exited, new Response(child.stdout).text()])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with exit code ${code}: ${text}`)
  return text
}

/** A server in the background, polled until it responds. */
export async function inBackground(
  command: string[],
  isReady: () => Promise<boolean>,
): Promise<{ pid: number; stop(): Promise<void> }> {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
  const startedAt = performance.now()
  while (!(await isReady().catch(() => false))) {
    if (child.exitCode !== null || performance.now() - startedAt > 30_000)
      throw new Error(`${command.join(' ')} does not answer`)
    await Bun.sleep(20)
  }
  return { pid: child.pid, stop: () => stopped(child as never) }
}

/** A free port of the loopback. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

/** A process and its children. */
export const withChildren = (pid: number): number[] => [
  pid,
  ...readdirSync(`/proc/${pid}/task`).flatMap(thread =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number),
  ),
]

/** Processor time of some processes; of one that ended nothing. */
export const workedMs = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    try {
      return sum + processorMs(pid)
    } catch {
      return sum
    }
  }, 0)

/** Bytes of all files below a directory. */
export const bytesBelow = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) => sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0),
    0,
  )

export const second = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z')
