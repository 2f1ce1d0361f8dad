import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  type StartOptions,
  startWellhead,
  type Wellhead,
} from '../../../clients/testkit/src/testkit.ts'
import { binary } from '../instance/binary.ts'
import { until } from '../until.ts'

export const root = resolve(import.meta.dir, '../../..')

let packages: string | undefined

/** The directory of the packages of the clients, written once a test run from the sources as they are. */
export function clientPackages(): string {
  if (packages) return packages
  const directory = mkdtempSync(join(tmpdir(), 'wellhead-clients-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const outcome = Bun.spawnSync([process.execPath, 'scripts/clients.ts', directory], {
    cwd: root,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  if (outcome.exitCode !== 0) throw new Error(`the clients could not be built:\n${outcome.stderr}`)
  packages = directory
  return directory
}

/** A directory in which the packages of JavaScript are installed, with the files of a folder in it. */
export function installedIn(sources?: string): string {
  const directory = join(clientPackages(), `installed-${Bun.nanoseconds()}`)
  const modules = join(directory, 'node_modules')
  mkdirSync(modules, { recursive: true })
  symlinkSync(join(clientPackages(), 'typescript'), join(modules, 'wellhead-client'))
  symlinkSync(join(clientPackages(), 'testkit'), join(modules, 'wellhead-testkit'))
  if (sources) cpSync(sources, directory, { recursive: true })
  return directory
}

/** No limits, because tests make requests faster than a client may. */
const unlimited = {
  WELLHEAD_LIMITS_PER_MINUTE: '100000',
  WELLHEAD_LIMITS_UNAUTHENTICATED_PER_MINUTE: '100000',
  WELLHEAD_DEMO_LIMIT_PER_HOUR: '100000',
  // Visitors are anonymous, as on any other instance; tests of visitors turn the setting on.
  WELLHEAD_DEMO_VISITOR: 'false',
}

/** The binary as a demo instance with all of its data, when it has come to rest. */
export async function startInstance(options: StartOptions = {}): Promise<Wellhead> {
  const instance = await startWellhead({
    clock: '2026-11-20T15:00:00Z',
    ...options,
    binary: binary(),
    settings: { ...unlimited, ...options.settings },
  })
  const isOperational = async () => {
    const response = await instance.get('/v1/status')
    const { data } = (await response.json()) as {
      data: { components: { name: string; status: string }[] }
    }
    return data.components.some(({ name, status }) => name === 'api' && status === 'operational')
  }
  await until('the API is operational', isOperational, 120_000)
  return instance
}

/**
 * A copy that a shell ends, and whose files it removes, when this process is gone: the runner calls
 * no one at its end.
 */
async function startGuarded(): Promise<Wellhead> {
  const data = mkdtempSync(join(tmpdir(), 'wellhead-shared-'))
  const instance = await startInstance({ data })
  const guard = `while kill -0 ${process.pid}; do sleep 1; done; kill -9 ${instance.pid}; rm -rf '${data}'`
  Bun.spawn(['setsid', 'sh', '-c', guard], { stdio: ['ignore', 'ignore', 'ignore'] }).unref()
  return instance
}

const shared = globalThis as { runningInstance?: Promise<Wellhead> }

/**
 * One instance for all tests of clients, because starting it takes seconds. It ends with the
 * process.
 */
export function sharedInstance(): Promise<Wellhead> {
  shared.runningInstance ??= startGuarded()
  return shared.runningInstance
}

export interface Outcome {
  code: number
  text: string
}

/** Runs a program to its end; its text is the output of both streams. */
export async function runProgram(
  command: string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Outcome> {
  const child = Bun.spawn(command, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, text: `${out}${err}` }
}

/** The environment by which test programs find the instance. */
export const environmentOf = ({ url, apiKey, adminToken }: Wellhead): Record<string, string> => ({
  WELLHEAD_URL: url,
  WELLHEAD_API_KEY: apiKey,
  WELLHEAD_ADMIN_TOKEN: adminToken,
})
