import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attempt, type CommandEnvironment, type CommandWork } from '../../../src/cli/command.ts'
import { run } from '../../../src/cli/program.ts'
import { openDatabase } from '../../../src/database/database.ts'
import type { Outcome } from './binary.ts'

async function* noInput() {}

/** Runs a command within this process, with nothing of its environment. */
export async function command(...args: string[]): Promise<Outcome> {
  return commandIn({}, ...args)
}

/** The same with additional environment variables. */
export async function commandIn(env: Record<string, string>, ...args: string[]): Promise<Outcome> {
  const texts = { out: '', err: '' }
  const code = await run(args, {
    env: { WELLHEAD_LOG_LEVEL: 'error', ...env },
    directory: tmpdir(),
    stdin: noInput(),
    terminal: undefined,
    out: line => {
      texts.out += `${line}\n`
    },
    err: line => {
      texts.err += `${line}\n`
    },
    write: text => {
      texts.out += text
    },
    onStop: () => undefined,
    exit: status => process.exit(status),
  })
  return { code, ...texts }
}

/** A data directory with an empty database, as a first start leaves it. */
export function emptyDirectory(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  openDatabase(join(dir, 'wellhead.db')).close()
  return dir
}

/** The exit code of a command's work, as the command line runs it. */
export const ran = <A extends unknown[]>(
  env: CommandEnvironment,
  words: string,
  work: (env: CommandEnvironment, ...args: A) => CommandWork,
  ...args: A
): Promise<number> => attempt(words, env, () => work(env, ...args))
