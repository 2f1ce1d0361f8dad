import { Argument, Command, CommanderError } from 'commander'
import { type Config, ConfigProblem, envName, loadConfig, type Mode } from '../config.ts'
import { databasePath } from '../instance.ts'
import { createManualClock, createSystemClock } from '../lib/clock.ts'
import { holderOf } from '../lib/directory-lock.ts'
import { createRandomIds } from '../lib/ids.ts'
import { dayMs } from '../lib/instant.ts'
import { createLog } from '../lib/log.ts'
import { type LogFile, type LogFileOptions, openLogFile } from '../lib/log-file.ts'
import type { ProcessRuntime } from '../runtime.ts'
import { version } from '../version.ts'
import { accountCommands } from './accounts/commands.ts'
import { firstLine } from './accounts/sign-in.ts'
import { thingCommands } from './accounts/things.ts'
import { auditCommands } from './audit.ts'
import { backup, restore, verifyFile } from './backups/backup.ts'
import { checkBackups, listBackups, makeBackup, withFetched } from './backups/backups.ts'
import { tryUpgrade } from './backups/upgrade.ts'
import { commandOf } from './child.ts'
import type { OperatorAction } from './command.ts'
import { configExplain } from './config.ts'
import { batchCommands } from './data/batches.ts'
import { codeCommands } from './data/codes.ts'
import { runDatasetImport } from './data/dataset.ts'
import { runExport } from './data/export.ts'
import { feedCommands } from './data/feeds.ts'
import { type ImportOptions, runImport } from './data/import.ts'
import { exportSource } from './data/pages.ts'
import { addQuarantine, listQuarantine, removeQuarantine } from './data/quarantine.ts'
import { reviewCommands } from './data/review.ts'
import { seriesCommands } from './data/series.ts'
import { sourceCommands } from './data/source-commands.ts'
import { dataOf } from './data/writer.ts'
import { runDoctor } from './doctor/doctor.ts'
import type { ProgramEnvironment } from './environment.ts'
import { testMail } from './mail.ts'
import { completion, type Shell, shells } from './manual/completion.ts'
import { manualPage } from './manual/man.ts'
import { addExamples, commandTable } from './manual/table.ts'
import { testNotices } from './notices.ts'
import { Occupied, type Operator, openOperator } from './operator.ts'
import { heldLines, outboxCommands } from './outbox.ts'
import { listPlans } from './plans.ts'
import { explainProfile, listShippedProfiles } from './profiles.ts'
import { exportOverHttp, isRemoteExport, remoteCommands } from './remote/commands.ts'
import type { Range } from './remote/prices.ts'
import type { ServerChoice } from './remote/servers.ts'
import { promote } from './replication/promote.ts'
import { configuredUrl, healthcheck } from './server/health.ts'
import { printOpenapi } from './server/openapi.ts'
import { serve } from './server/serve.ts'
import { setupAgain } from './server/setup.ts'

const occupied = 75

type ExportOptions = Options &
  ServerChoice &
  Range & { output: string; format?: string; source?: string }

interface Options {
  config?: string
  data?: string
  host?: string
  port?: string
  readyFile?: string
  seed?: string
  newMasterKey?: boolean
  clock?: string
}

/** Runs a command line; the answer is the exit code. */
export async function run(argv: readonly string[], env: ProgramEnvironment): Promise<number> {
  let code = 0
  const program = programOf(env, {
    set(value) {
      code = value
    },
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    env.err(error instanceof Error ? error.message : String(error))
    return error instanceof Occupied ? occupied : 1
  }
  return code
}

/** The table of commands; what a command makes of it goes to `results`. */
export function programOf(env: ProgramEnvironment, results: Results): Command {
  const program = new Command('wellhead')
    .description('Self-hosted energy price data service')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: text => env.out(text.trimEnd()),
      writeErr: text => env.err(text.trimEnd()),
    })
    .showHelpAfterError()
  serving(program, env, results)
  dataCommands(program, env, results)
  const act: OperatorAction = (options, work) =>
    withOperator(options as Options, env, async operator =>
      results.set(
        await work({
          operator,
          out: env.out,
          err: env.err,
          terminal: env.terminal,
          json: options.json === true,
          width: env.width,
        }),
      ),
    )
  accountCommands(program, located, act, () => firstLine(env.stdin))
  located(program.command('setup').description('the first credentials of a directory'))
    .requiredOption('--again', 'make and show them anew, as long as nobody has used them')
    .option('--json', 'print JSON')
    .action((options: Options & { json?: boolean }) =>
      act(options, operator => setupAgain(operator, configOf(options, 'serve', env).data.dir)),
    )
  thingCommands(program, located, act)
  codeCommands(program, located, act)
  sourceCommands(program, located, act)
  seriesCommands(program, located, act)
  batchCommands(program, located, act)
  reviewCommands(program, located, act)
  auditCommands(program, located, act)
  feedCommands(program, located, act)
  outboxCommands(program, located, act)
  keepingCommands(program, env, results)
  remoteCommands(program, env)
  manualCommands(program, env)
  addExamples(program)
  return program
}

/** What packages bring beside the program. */
function manualCommands(program: Command, env: ProgramEnvironment) {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'of which shell').choices(shells))
    .description('print the completions of a shell')
    .action((shell: Shell) => env.write(completion(shell, program.name(), commandTable(program))))
  program
    .command('manual')
    .description('print the manual page')
    .action(() => {
      const about = { name: program.name(), description: program.description(), version }
      return env.write(manualPage(about, commandTable(program)))
    })
}

export interface Results {
  /** The exit code. */
  set(code: number): void
}

const located = (command: Command): Command =>
  command
    .option('--data <dir>', 'data directory (default: wellhead-data)')
    .option(
      '--config <file>',
      'configuration file (default: wellhead.toml in the data directory, else in the working directory)',
    )

const configFrom = (options: Options, mode: Mode, env: ProgramEnvironment): Config =>
  loadConfig({
    mode,
    flags: {
      'data.dir': options.data,
      'server.host': options.host,
      'server.port': options.port,
      'server.ready_file': options.readyFile,
      'dev.seed': options.seed,
      'dev.clock': options.clock,
    },
    env: env.env,
    files: { explicit: options.config, directory: env.directory },
  })

function configOf(options: Options, mode: Mode, env: ProgramEnvironment): Config {
  try {
    return configFrom(options, mode, env)
  } catch (error) {
    if (error instanceof ConfigProblem) for (const problem of error.problems) env.err(problem)
    throw error instanceof ConfigProblem
      ? new Error('The configuration was refused; nothing was started.')
      : error
  }
}

function runtimeOf(
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
  const log = createLog({
    // A command says itself what it did; what a server logs of the same is left to servers.
    level: openFile || config.provenance.get('log.level') !== 'default' ? config.log.level : 'warn',
    format: config.log.format,
    write: logFile?.write ?? toTerminal,
    clock,
  })
  return { config, clock, ids: createRandomIds(), log, logFile }
}

function serving(program: Command, env: ProgramEnvironment, results: Results) {
  for (const [mode, summary] of [
    ['serve', 'serve a data directory (production)'],
    ['dev', 'serve an evaluation copy with fixture data and controls, on this machine only'],
  ] as const) {
    const command = located(program.command(mode).description(summary))
      .option('--host <address>', 'address to listen on')
      .option('--port <number>', 'port to listen on; 0 takes a free one')
      .option(
        '--ready-file <file>',
        'file that gets {"url","api_key","admin_token"} once the server listens',
      )
    if (mode === 'serve')
      command.option(
        '--new-master-key',
        'start although the master key is lost: webhooks get new secrets, data sources lose their credentials',
      )
    if (mode === 'dev')
      command
        .option('--seed <number>', 'seed of the fixture world')
        .option('--clock <time>', 'where the clock stands until advanced')
    command.action(async (options: Options) => {
      const config = configOf(options, mode, env)
      results.set(
        await serve({
          runtime: {
            ...runtimeOf(config, env, openLogFile),
            takesNewMasterKey: options.newMasterKey === true,
          },
          ...(mode === 'serve' && { command: commandOf(config.data.dir, options.config) }),
          dir: config.data.dir,
          out: env.out,
          err: env.err,
          isTerminal: env.isTerminal === true,
          onStop: env.onStop,
          exit: env.exit,
        }),
      )
    })
  }
}

/** Runs work against the data directory of the options and closes it again. */
async function withOperator<T>(
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

function dataCommands(program: Command, env: ProgramEnvironment, results: Results) {
  located(
    program
      .command('import')
      .argument(
        '<files...>',
        'CSV, NDJSON, JSON, .xlsx or Parquet, plain, gzip or ZIP; - is standard input',
      )
      .description(
        'record the observations of files, or with --dataset the rows of another dataset',
      ),
  )
    .option(
      '--dataset <name>',
      'what the files are: futures-settlements, futures-ticks, ... (default: prices)',
    )
    .option('--series <code>', 'every row belongs to this code')
    .option(
      '--map <pairs>',
      'columns by name: code=Col,observed_at=Col,price=Col, or CODE=Col for a column of one code; may be given again',
      (pairs: string, before: readonly string[] = []) => [...before, pairs],
    )
    .option(
      '--scale <factor>',
      'multiply every value: 0.001 for a file in thousands of the unit of its series',
    )
    .option('--sheet <name>', 'the sheet of a workbook (default: its first)')
    .option('--header-row <number>', 'the row that has the names of the columns (default: 1)')
    .option('--records <path>', 'where the rows of a JSON document are: response.data')
    .option(
      '--date-format <format>',
      'how days are written: DD/MM/YYYY, D MMM YYYY, YYYYMMDD, serial for day numbers',
    )
    .option('--decimal-comma', 'numbers are written 1.234,56')
    .option('--time <time>', 'time of day of values that come with their day alone: 16:00')
    .option('--zone <zone>', 'the zone of it, and of times without one: America/New_York')
    .option('--source <name>', 'whose values they are: EIA, Desk, ...')
    .option(
      '--replace',
      'also where a coarser file takes the place of a finer one, or much is revised',
    )
    .option('--dry-run', 'check everything, write nothing')
    .option('--json', 'print the result as JSON')
    .action((files: string[], options: Options & ImportOptions & { dataset?: string }) =>
      withOperator(options, env, async operator => {
        const { out, err, terminal, stdin } = env
        const { dataset } = options
        if (dataset !== undefined) {
          for (const name of ['series', 'scale', 'time', 'source', 'replace'] as const) {
            if (options[name] !== undefined)
              throw new Error(`--${name} is for prices: leave it out with --dataset`)
          }
          results.set(
            await runDatasetImport(
              files,
              { ...options, dataset },
              { out, err, terminal, stdin, clock: createSystemClock(), operator },
            ),
          )
          return
        }
        results.set(
          await runImport(files, options, {
            out,
            err,
            terminal,
            stdin,
            clock: createSystemClock(),
            ...(await dataOf(operator, options.source)),
          }),
        )
      }),
    )
  located(
    program
      .command('export')
      .argument('[codes...]', 'codes to export; none: all')
      .description('write observations in the form that import takes'),
  )
    .option('-o, --output <file>', 'file to write; .gz packs it; - is standard output', '-')
    .option('--format <format>', 'csv or ndjson (default: by the name of the file)')
    .option('--source <name>', 'only values of this source: EIA, a feed, ...')
    .option('--server <name>', 'ask a saved server over HTTP: CSV of a history')
    .option('--url <address>', 'ask the server at an address over HTTP')
    .option('--key <key>', 'API key for it')
    .option('--start <date>', 'over HTTP: first day (default: 30 days ago)')
    .option('--end <date>', 'over HTTP: last day (default: now)')
    .option('--interval <interval>', 'over HTTP: raw, hour, day, week or month (default: raw)')
    .action(async (codes: string[], options: ExportOptions) => {
      if (isRemoteExport(options)) {
        await exportOverHttp(codes, options, env)
        return
      }
      const source = exportSource(configOf(options, 'serve', env).data.dir, options.source)
      try {
        results.set(await runExport(codes, options, { out: env.write, err: env.err, ...source }))
      } finally {
        source.close()
      }
    })
  const quarantine = program
    .command('quarantine')
    .description('days of a series that reads leave out')
  located(
    quarantine
      .command('add')
      .argument('<code>')
      .argument('<from>')
      .argument('[to]')
      .requiredOption('--reason <text>', 'why'),
  )
    .description('leave out a day or a range of days')
    .action(
      (code: string, from: string, to: string | undefined, options: Options & { reason: string }) =>
        withOperator(options, env, operator =>
          addQuarantine(
            operator,
            { code, from, ...(to && { to }), reason: options.reason },
            env.out,
          ),
        ),
    )
  located(quarantine.command('list').description('show the ranges'))
    .option('--json', 'print JSON')
    .action((options: Options & { json?: boolean }) =>
      withOperator(options, env, operator =>
        listQuarantine(operator, env.out, options.json === true),
      ),
    )
  located(quarantine.command('remove').argument('<id>').description('lift a range')).action(
    (id: string, options: Options) =>
      withOperator(options, env, operator => removeQuarantine(operator, id, env.out)),
  )
}

type RestoreCommandOptions = Options & { holdOutbox?: boolean; from?: string }

/** What is wrong with a database file; what cannot be opened at all is told with its name. */
function faultsOf(path: string): string[] {
  try {
    return verifyFile(path)
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function keepingCommands(program: Command, env: ProgramEnvironment, results: Results) {
  const dirOf = (options: Options) => configOf(options, 'serve', env).data.dir
  located(
    program
      .command('verify')
      .argument('[file]', 'a backup; default: the database of the data directory')
      .description('check a database'),
  ).action((file: string | undefined, options: Options) => {
    const path = file ?? databasePath(dirOf(options))
    const faults = faultsOf(path)
    for (const fault of faults) env.err(fault)
    env.out(faults.length === 0 ? `${path} is sound` : `${path}: ${faults.length} faults`)
    results.set(faults.length === 0 ? 0 : 1)
  })
  const backups = located(
    program
      .command('backup')
      .argument('[file]', 'default: every place of the configuration, as a scheduled backup')
      .description('write a checked copy of the database, also while the server runs'),
  )
  backups.action(async (file: string | undefined, options: Options) => {
    if (file !== undefined) {
      backup(dirOf(options), file)
      env.out(`${file} is complete and sound`)
      return
    }
    const { name, bytes, places, removed } = await makeBackup(
      configOf(options, 'serve', env),
      createSystemClock().now(),
    )
    env.out(
      `${name} (${bytes} bytes) is complete and sound in ${places.join(' and ')}; ${removed} older ones were removed. master.key is not in it: keep a copy of it elsewhere`,
    )
  })
  // The options of the command above them are theirs too: it takes them wherever they stand.
  located(backups.command('list').description('the backups in the places of the configuration'))
    .option('--json', 'print JSON')
    .action((_: Options, list: Command) => {
      const options: Options & { json?: boolean } = list.optsWithGlobals()
      return listBackups(configOf(options, 'serve', env), { ...env, json: options.json === true })
    })
  located(
    backups.command('check').description('fetch the newest backup of every place and check it'),
  ).action((_: Options, check: Command) =>
    checkBackups(configOf(check.optsWithGlobals(), 'serve', env), {
      out: env.out,
      now: createSystemClock().now(),
    }),
  )
  located(
    program
      .command('promote')
      .description('make the directory the primary, with what the stream and its snapshot hold'),
  ).action(async (options: Options) => {
    const clock = createSystemClock()
    results.set(
      await promote(configOf(options, 'serve', env), {
        clock,
        ids: createRandomIds(),
        out: env.out,
      }),
    )
  })
  located(
    program
      .command('restore')
      .argument('[file]')
      .description('put a backup in place of the database'),
  )
    .option(
      '--from <when>',
      'in place of a file: latest, or the newest backup of the configured places from before a time',
    )
    .option(
      '--hold-outbox',
      'send nothing that waits in the backup: it may have been sent after the backup was made',
    )
    .action(async (file: string | undefined, options: RestoreCommandOptions) => {
      const { holdOutbox = false, from } = options
      if ((file === undefined) === (from === undefined))
        throw new Error('restore needs a FILE, or --from latest or --from TIME, and not both')
      const config = configOf(options, 'serve', env)
      const { dir } = config.data
      const work = (path: string) =>
        restore(dir, path, {
          at: createSystemClock().now(),
          ids: createRandomIds(),
          holdOutbox,
        })
      const [source, { keptAs, keptBack }] =
        from === undefined
          ? ([file!, work(file!)] as const)
          : await withFetched(config, from, env.err, work)
      env.out(`restored from ${source}${keptAs ? `; the database before it is ${keptAs}` : ''}`)
      for (const line of keptBack ? heldLines(keptBack) : []) env.out(line)
    })
  located(
    program
      .command('migrate')
      .requiredOption('--dry-run', 'on a copy, which is checked and removed')
      .description('try the upgrade of the database that serve would make'),
  ).action((options: Options) => env.out(tryUpgrade(dirOf(options))))
  const plans = program.command('plans').description('what accounts pay for')
  located(plans.command('list').description('the plans of the configuration'))
    .option('--json', 'print JSON')
    .action((options: Options & { json?: boolean }) =>
      listPlans(configOf(options, 'serve', env), env.out, options.json === true),
    )
  const mail = program.command('mail').description('letters of this copy')
  located(
    mail
      .command('test')
      .argument('<address>', 'to whom')
      .description('send a letter now, with the provider of the configuration'),
  ).action(async (to: string, options: Options) =>
    results.set(await testMail(runtimeOf(configOf(options, 'serve', env), env), to, env)),
  )
  const notices = program.command('notices').description('what is told to the operator')
  located(notices.command('test').description('post a notice now, as one that has begun')).action(
    async (options: Options) => {
      const config = configOf(options, 'serve', env)
      results.set(await testNotices(config, createSystemClock().now(), env))
    },
  )
  const config = program.command('config').description('the configuration')
  located(config.command('explain').description('every setting in force and where it comes from'))
    .option('--json', 'print JSON')
    .action((options: Options & { json?: boolean }) =>
      configExplain(configOf(options, 'serve', env), {
        out: env.out,
        width: env.width,
        json: options.json === true,
      }),
    )
  located(program.command('healthcheck').description('ask the running server for its health'))
    .option('--host <address>', 'address the server listens on')
    .option('--port <number>', 'port the server listens on')
    .action(async (options: Options) => {
      const config = configOf(options, 'serve', env)
      const running =
        options.host === undefined && options.port === undefined
          ? holderOf(config.data.dir)?.heldBy?.url
          : undefined
      results.set(await healthcheck(running ?? configuredUrl(config), env))
    })
  inspecting(program, env, results)
  const profiles = program.command('profiles').description('shapes for sorts of existing clients')
  located(
    profiles
      .command('explain')
      .requiredOption('--header <line...>', "a header of the client: 'User-Agent: prices-go/1.2'")
      .description('which profile a client gets by its headers, and what it switches'),
  ).action((options: Options & { header: string[] }) =>
    explainProfile(options.header, configOf(options, 'serve', env), env.out),
  )
  profiles
    .command('list')
    .description('the profiles that are shipped')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => listShippedProfiles(env.out, options.json === true))
  program
    .command('version')
    .description('print the version')
    .action(() => env.out(version))
}

function inspecting(program: Command, env: ProgramEnvironment, results: Results) {
  located(
    program
      .command('doctor')
      .description('look for what keeps a copy from running well; changes nothing'),
  )
    .option('--json', 'print JSON')
    .action(async (options: Options & { json?: boolean }) => {
      const { directory } = env
      const dir = options.data ?? (env.env[envName('data.dir')] || undefined)
      results.set(
        await runDoctor({
          out: env.out,
          json: options.json === true,
          clock: createSystemClock(),
          sources: { env: env.env, directory },
          config: mode => configFrom(options, mode, env),
          fallback: () =>
            loadConfig({
              flags: { 'data.dir': dir },
              env: {},
              files: { directory },
              readFile: () => undefined,
            }),
        }),
      )
    })
  located(
    program
      .command('openapi')
      .description(
        'print the description of the interface, as a server of this configuration answers it',
      ),
  )
    .option('--out <file>', 'file to write in place of standard output')
    .action(async (options: Options & { out?: string }) =>
      printOpenapi(runtimeOf(configOf(options, 'serve', env), env), options.out, env.write),
    )
}
