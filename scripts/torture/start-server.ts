import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const binary = resolve(import.meta.dir, '../../dist/wellhead')

/** The content of the ready file; only the first start names the credentials. */
interface Ready {
  url: string
  api_key?: string
  admin_token?: string
}

export interface ServerOptions {
  /** Variables in addition to `PATH`. */
  env?: Readonly<Record<string, string>>
  /** A command that runs the server, as strace does. */
  under?: readonly string[]
}

/** Starts the binary over `dir/data`, with `dir/wellhead.toml` where there is one, and does not wait. */
export function launchServer(dir: string, ready: string, { env, under = [] }: ServerOptions = {}) {
  const config = join(dir, 'wellhead.toml')
  return Bun.spawn(
    [
      ...under,
      binary,
      'serve',
      '--data',
      join(dir, 'data'),
      ...(existsSync(config) ? ['--config', config] : []),
      '--port',
      '0',
      '--ready-file',
      ready,
    ],
    {
      stdout: Bun.file(join(dir, 'out')),
      stderr: Bun.file(join(dir, 'log')),
      env: { PATH: process.env.PATH, ...env },
    },
  )
}

/** Starts the binary and waits until it listens. */
export async function startServer(dir: string, options?: ServerOptions) {
  const ready = join(dir, `ready-${Bun.nanoseconds()}`)
  const child = launchServer(dir, ready, options)
  while (!existsSync(ready)) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the server ended: ${readFileSync(join(dir, 'log'), 'utf8').slice(-500)}`)
    await Bun.sleep(5)
  }
  return { child, ...(JSON.parse(readFileSync(ready, 'utf8')) as Ready) }
}
