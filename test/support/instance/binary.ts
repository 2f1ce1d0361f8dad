import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { until } from '../until.ts'

const root = resolve(import.meta.dir, '../../..')

let built: string | undefined
const buildCommand = [process.execPath, 'scripts/build.ts']

/** All that the binary is made of. */
const parts = ['src', 'scripts', 'fixtures', 'docs', 'package.json', 'bun.lock', 'tsconfig.json']

/** A path below one of the parts, or the part itself, has been written after the file was. */
function isOutdated(file: string): boolean {
  if (!existsSync(file)) return true
  const builtMs = statSync(file).mtimeMs
  return parts.some(part => {
    const path = join(root, part)
    const below = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map(name => join(path, name))
      : []
    return [path, ...below].some(each => statSync(each).mtimeMs > builtMs)
  })
}

const binaryPath = join(root, 'dist/wellhead')

/** Whether the compiled binary is newer than its sources. */
export const isBinaryBuilt = (): boolean => !isOutdated(binaryPath)

/** The compiled binary, built where the sources are newer than the one that is there. */
export function binary(): string {
  if (built) return built
  if (!isBinaryBuilt()) {
    const outcome = Bun.spawnSync(buildCommand, { cwd: root, stdout: 'pipe', stderr: 'pipe' })
    failUnless(outcome.exitCode, String(outcome.stderr))
  }
  built = binaryPath
  return built
}

/** Builds the binary while other work continues; `running` holds the process until it ends. */
export async function buildBinary(running: Set<Bun.Subprocess>): Promise<void> {
  const child = Bun.spawn(buildCommand, { cwd: root, stdout: 'ignore', stderr: 'pipe' })
  running.add(child)
  const errors = await new Response(child.stderr).text()
  const code = await child.exited
  running.delete(child)
  failUnless(code, errors)
}

function failUnless(code: number, errors: string): void {
  if (code !== 0) throw new Error(`the build failed:\n${errors}`)
}

export const temporaryDir = (): string => mkdtempSync(join(tmpdir(), 'wellhead-test-'))

export const remove = (dir: string) => rmSync(dir, { recursive: true, force: true })

export interface Outcome {
  code: number
  out: string
  err: string
}

/** Runs a command to its end with nothing of this machine's environment but the path. */
export async function run(...args: string[]): Promise<Outcome> {
  const child = Bun.spawn([binary(), ...args], {
    env: { PATH: process.env.PATH },
    stdout: 'pipe',
    stderr: 'pipe',
    cwd: tmpdir(),
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

export interface Server {
  url: string
  apiKey: string
  adminToken: string
  process: Bun.Subprocess
  get(path: string, headers?: Record<string, string>): Promise<Response>
  /** SIGTERM, and the exit code. */
  stop(): Promise<number>
}

/** Starts `serve` or `dev` and waits until it listens. */
export const start = (command: 'serve' | 'dev', dir: string, ...args: string[]): Promise<Server> =>
  startWith([binary()], command, dir, ...args)

/** The same of another program than the binary. */
export async function startWith(
  program: readonly string[],
  command: 'serve' | 'dev',
  dir: string,
  ...args: string[]
): Promise<Server> {
  mkdirSync(dir, { recursive: true })
  const ready = join(dir, `ready-${Bun.nanoseconds()}`)
  const child = Bun.spawn(
    [
      ...program,
      command,
      '--data',
      join(dir, 'data'),
      '--port',
      '0',
      '--ready-file',
      ready,
      ...args,
    ],
    {
      // Tests make requests faster than a client may.
      env: {
        PATH: process.env.PATH,
        WELLHEAD_LIMITS_PER_MINUTE: '100000',
        WELLHEAD_LIMITS_UNAUTHENTICATED_PER_MINUTE: '100000',
      },
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: tmpdir(),
    },
  )
  const isReady = async () => {
    if (child.exitCode !== null)
      throw new Error(
        `${command} ended with ${child.exitCode}: ${await new Response(child.stderr).text()}`,
      )
    return existsSync(ready)
  }
  await until(`${command} listens`, isReady, 120_000)
  const address = JSON.parse(readFileSync(ready, 'utf8')) as {
    url: string
    api_key?: string
    admin_token?: string
  }
  const keysPath = join(dir, 'keys.json')
  if (address.api_key) await Bun.write(keysPath, JSON.stringify(address))
  const keys = JSON.parse(readFileSync(keysPath, 'utf8')) as {
    api_key: string
    admin_token: string
  }
  return {
    url: address.url,
    apiKey: keys.api_key,
    adminToken: keys.admin_token,
    process: child,
    get: (path, headers = {}) =>
      fetch(`${address.url}${path}`, {
        headers: { authorization: `Token ${keys.api_key}`, ...headers },
      }),
    async stop() {
      child.kill('SIGTERM')
      return await child.exited
    },
  }
}
