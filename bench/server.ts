import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Subprocess } from 'bun'

export const root = resolve(import.meta.dir, '..')
const main = join(root, 'src/main.ts')
export const binary = join(root, 'dist/wellhead')

/** How Wellhead is run: from source, or the compiled binary. */
export const fromSource: readonly string[] = [process.execPath, main]

/** The binary where it has been built; it is measured as it stands. */
export const built = (): readonly string[] => (existsSync(binary) ? [binary] : fromSource)

export interface Server {
  port: number
  pid: number
  stop(): Promise<void>
}

/** A demo instance prints its keys at every start, other directories at their first. */
export interface Wellhead extends Server {
  apiKey: string | undefined
  adminToken: string | undefined
}

/**
 * No rolling window may end a measurement, and the quota must be on: windows of the greatest length
 * that the configuration takes, the quota of the largest plan.
 */
export const environment: Record<string, string> = {
  PATH: process.env.PATH ?? '',
  NODE_ENV: 'production',
  WELLHEAD_LIMITS_PER_MINUTE: '4000000',
  WELLHEAD_LIMITS_MARINE_PER_MINUTE: '4000000',
  WELLHEAD_LIMITS_MARINE_HISTORICAL_PER_MINUTE: '4000000',
  WELLHEAD_LIMITS_UNAUTHENTICATED_PER_MINUTE: '4000000',
  WELLHEAD_DEMO_LIMIT_PER_HOUR: '4000000',
  WELLHEAD_LOG_LEVEL: 'warn',
}

/** Starts Wellhead on a data directory and waits until it listens. */
export async function serveWellhead(
  dir: string,
  mode: 'serve' | 'dev' = 'serve',
  from: 'source' | 'built' = 'source',
  { env, args = [] }: { env?: Readonly<Record<string, string>>; args?: readonly string[] } = {},
): Promise<Wellhead> {
  const readyFile = join(dir, 'ready.json')
  rmSync(readyFile, { force: true })
  const child = spawned(
    [
      ...(from === 'built' ? built() : fromSource),
      mode,
      ...args,
      '--data',
      dir,
      '--port',
      '0',
      '--ready-file',
      readyFile,
    ],
    env,
  )
  while (!existsSync(readyFile)) await stillRunning(child)
  const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as {
    url: string
    api_key?: string
    admin_token?: string
  }
  const port = Number(new URL(ready.url).port)
  return {
    port,
    pid: child.pid,
    apiKey: ready.api_key,
    adminToken: ready.admin_token,
    stop: () => stopped(child),
  }
}

/**
 * Starts a yardstick: a program that prints its port and then serves. `settings` reach it as JSON.
 */
export async function serveYardstick(name: string, settings: unknown): Promise<Server> {
  const child = spawned([
    process.execPath,
    join(import.meta.dir, 'yardsticks', `${name}.ts`),
    JSON.stringify(settings),
  ])
  let text = ''
  for await (const chunk of child.stdout) {
    text += new TextDecoder().decode(chunk)
    if (text.includes('\n')) break
  }
  return { port: Number(text), pid: child.pid, stop: () => stopped(child) }
}

export function spawned(
  command: string[],
  env: Readonly<Record<string, string>> = {},
): Subprocess<'ignore', 'pipe', 'inherit'> {
  return Bun.spawn(command, {
    cwd: root,
    env: { ...environment, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
}

async function stillRunning(child: Subprocess) {
  if (child.exitCode !== null) throw new Error(`a server ended with exit code ${child.exitCode}`)
  await Bun.sleep(5)
}

export async function stopped(child: Subprocess): Promise<void> {
  child.kill('SIGTERM')
  await child.exited
}

/** Runs `work` and stops the servers whatever comes of it. */
export async function withServers<S extends Server, T>(
  servers: readonly Promise<S>[],
  work: (...servers: S[]) => Promise<T>,
): Promise<T> {
  const started = await Promise.all(servers)
  try {
    return await work(...started)
  } finally {
    for (const server of started) await server.stop()
  }
}
