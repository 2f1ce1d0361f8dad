import type { Command } from 'commander'
import { type Config, ConfigProblem, loadConfig, type Mode } from '../config.ts'
import type { LogFile, LogFileOptions } from '../lib/files/log-file.ts'
import { createRandomIds } from '../lib/ids.ts'
import { createLog } from '../lib/log/log.ts'
import { createLogTail } from '../lib/log/log-tail.ts'
import { createManualClock, createSystemClock } from '../lib/time/clock.ts'
import { dayMs } from '../lib/time/instant.ts'
import type { ProcessRuntime } from '../runtime.ts'
import type { ProgramEnvironment } from './environment.ts'
import { type Operator, openOperator } from './operator.ts'

/** What every command takes that works with a data directory. */
export interface Options {
  config?: string
  data?: string
  host?: string
  port?: string
  readyFile?: string
  seed?: string
  world?: string
  newMasterKey?: boolean
  replica?: boolean
  standby?: string
  clock?: string
}

export interface Results {
  /** The exit code. */
  set(code: number): void
}

/** Gives a command the options that name its data directory and its configuration. */
export const located = (command: Command): Command =>
  command
    .option('--data <dir>', 'data directory (default: wellhead-data)')
    .option(
      '--config <file>',
      'configuration file (default: wellhead.toml in the data directory, else in the working directory)',
    )

/** The configuration of a command's options; throws a ConfigProblem. */
export const configFrom = (options: Options, mode: Mode, env: ProgramEnvironment): Config =>
  loadConfig({
    mode,
    flags: {
      'data.dir': options.data,
      'server.host': options.host,
      'server.port': options.port,
      'server.ready_file': options.readyFile,
      'nats.standby': options.standby,
      'dev.seed': options.seed,
      'dev.world': options.world,
      'dev.clock': options.clock,
    },
    env: env.env,
    files: { explicit: options.config, directory: env.directory },
  })

/** The configuration of a command's options; what is wrong with it is told line by line. */
export function configOf(options: Options, mode: Mode, env: ProgramEnvironment): Config {
  try {
    return configFrom(options, mode, env)
  } catch (error) {
    if (error instanceof ConfigProblem) for (const problem of error.problems) env.err(problem)
    throw error instanceof ConfigProblem
      ? new Error('The configuration was refused; nothing was started.')
      : error
  }
}

/** Clock, ids and log of a command, or of a server where `openFile` opens its log. */
export function runtimeOf(
  config: Config,
  env: ProgramEnvironment,
  openFile?: (options: LogFileOptions) => LogFile,
): ProcessRuntime & { logFile: LogFile | undefined } {
  const clock =
    config.mode === 'dev'
      ? createManualClock(
          config.dev.clockAt ?? createSystemClock().now(),
          createSystemClock(),
          config.dev.clockAt !== undefined,
        )
      : createSystemClock()
  const toTerminal = (line: string) => env.err(line.trimEnd())
  const logFile =
    openFile && config.log.file !== ''
      ? openFile({
          path: config.log.file,
          bytesMax: config.log.fileMb * 2 ** 20,
          keepMs: config.log.fileDays * dayMs,
          clock,
          instead: toTerminal,
        })
      : undefined
  const write = logFile?.write ?? toTerminal
  const logTail = openFile && createLogTail()
  const log = createLog({
    // A command says itself what it did; what a server logs of the same is left to servers.
    level: openFile || config.provenance.get('log.level') !== 'default' ? config.log.level : 'warn',
    format: config.log.format,
    write: logTail
      ? line => {
          logTail.add(line)
          write(line)
        }
      : write,
    clock,
  })
  return { config, clock, ids: createRandomIds(), log, logFile, ...(logTail && { logTail }) }
}

/** Runs work against the data directory of the options and closes it again. */
export async function withOperator<T>(
  options: Options,
  env: ProgramEnvironment,
  work: (operator: Operator, config: Config) => Promise<T>,
): Promise<T> {
  const config = configOf(options, 'serve', env)
  const operator = await openOperator(config.data.dir, { ...runtimeOf(config, env) })
  try {
    return await work(operator, config)
  } finally {
    operator.close()
  }
}
