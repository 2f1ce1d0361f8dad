import type { Command } from 'commander'
import { type Config, ConfigProblem, envName, loadConfig, type Mode } from '../config/config.ts'
import type { ProcessRuntime } from '../config/runtime.ts'
import { errorText } from '../lib/files/error-text.ts'
import type { LogFile, LogFileOptions } from '../lib/files/log-file.ts'
import { createRandomIds } from '../lib/ids.ts'
import { createLog, reportLost } from '../lib/log/log.ts'
import { createLogTail } from '../lib/log/log-tail.ts'
import { createManualClock, createSystemClock } from '../lib/time/clock.ts'
import { dayMs } from '../lib/time/instant.ts'
import { defaultLimits } from '../plans/limits.ts'
import {
  type DirectoryUse,
  directoryFault,
  directoryUse,
  setDirectoryUse,
} from './data-directory.ts'
import type { ProgramEnvironment } from './environment.ts'
import { type Operator, openOperator } from './operator.ts'

/** Options of every command that works with a data directory. */
export interface Options {
  config?: string
  data?: string
  host?: string
  port?: string
  readyFile?: string
  seed?: string
  world?: string
  newMasterKey?: boolean
  newDatabase?: boolean
  replica?: boolean
  standby?: string
  clock?: string
  limits?: string
}

export interface Results {
  /** The exit code. */
  set(code: number): void
}

/**
 * Adds the options that name the data directory and the configuration to a command. By default the
 * directory must exist.
 */
export const located = (
  command: Command,
  use: (command: Command) => DirectoryUse = () => 'needed',
): Command => {
  setDirectoryUse(command, use)
  return command
    .option(
      '--data <dir>',
      'data directory (default: WELLHEAD_DATA_DIR, else /var/lib/wellhead with the Debian package, else wellhead-data)',
    )
    .option(
      '--config <file>',
      'configuration file (default: WELLHEAD_CONFIG, else wellhead.toml in the data directory; with the default data directory also /etc/wellhead/wellhead.toml or wellhead.toml in the working directory)',
    )
}

/** Throws where the data directory of a command that makes none is not there. */
export function requireDirectory(command: Command, env: ProgramEnvironment): void {
  const use = directoryUse(command)
  if (use === undefined || use === 'made') return
  const options = command.optsWithGlobals<Options>()
  const isNamed = options.data !== undefined || Boolean(env.env[envName('data.dir')])
  if (use === 'named' && !isNamed) return
  const { dir } = configOf(options, 'serve', env).data
  const { directory, installed } = env
  const fault = directoryFault(dir, {
    directory,
    installed: installed?.dataDirectory,
    needsDatabase: use === 'needed',
  })
  if (fault !== undefined) throw new Error(fault)
}

/** The limits of the plans, instead of those of a demo instance. */
function perMinuteOf(limits: string): string {
  if (limits === 'plan') return String(defaultLimits.perMinute)
  throw new ConfigProblem([`--limits must be plan; got ${limits}.`])
}

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
      'limits.per_minute': options.limits === undefined ? undefined : perMinuteOf(options.limits),
    },
    env: env.env,
    files: {
      explicit: options.config,
      directory: env.directory,
      // A demo instance is never made where the package stores its data.
      installed: mode === 'serve' ? env.installed : undefined,
    },
  })

/** The configuration of a command's options; faults are reported one per line. */
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

/** Runs work on the file that a setting names; an error names the setting too. */
function named<T>(setting: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Error(`${setting}: ${errorText(error)}`, { cause: error })
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
      ? named('log.file', () =>
          openFile({
            path: config.log.file,
            bytesMax: config.log.fileMb * 2 ** 20,
            keepMs: config.log.fileDays * dayMs,
            clock,
            instead: toTerminal,
            onFault: reason =>
              log.error('log_file_failed', { path: config.log.file, message: reason }),
          }),
        )
      : undefined
  const write = logFile?.write ?? toTerminal
  const logTail = openFile && createLogTail()
  const log = createLog({
    // A command reports its own work; log lines of a server are left to servers.
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
  env.onLost?.(reportLost(log))
  return {
    config,
    clock,
    ids: createRandomIds(),
    log,
    logFile,
    ...(logTail && { logTail }),
    ...(config.mode === 'dev' && { sessionClock: createSystemClock() }),
  }
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
