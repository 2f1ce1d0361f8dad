import type { Command } from 'commander'
import { databasePath } from '../../directory.ts'
import { createRandomIds } from '../../lib/ids.ts'
import { createSystemClock } from '../../lib/time/clock.ts'
import type { ProgramEnvironment } from '../environment.ts'
import { configOf, located, type Options, type Results } from '../options.ts'
import { heldLines } from '../outbox.ts'
import { backup, restore, verifyFile } from './backup.ts'
import { checkBackups, listBackups, makeBackup, withFetched } from './backups.ts'
import { tryUpgrade } from './upgrade.ts'

type RestoreCommandOptions = Options & { holdOutbox?: boolean; from?: string }

const dirOf = (options: Options, env: ProgramEnvironment) =>
  configOf(options, 'serve', env).data.dir

/** Copies of the database: checked, made, listed, put back, and upgraded on trial. */
export function backupCommands(program: Command, env: ProgramEnvironment, results: Results) {
  verifyCommand(program, env, results)
  backupCommand(program, env)
  restoreCommand(program, env)
  migrateCommand(program, env)
}

/** What is wrong with a database file; what cannot be opened at all is told with its name. */
function faultsOf(path: string): string[] {
  try {
    return verifyFile(path)
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function verifyCommand(program: Command, env: ProgramEnvironment, results: Results) {
  located(
    program
      .command('verify')
      .argument('[file]', 'a backup; default: the database of the data directory')
      .description('check a database'),
  ).action((file: string | undefined, options: Options) => {
    env.giveWay?.()
    const path = file ?? databasePath(dirOf(options, env))
    const faults = faultsOf(path)
    for (const fault of faults) env.err(fault)
    env.out(faults.length === 0 ? `${path} is sound` : `${path}: ${faults.length} faults`)
    results.set(faults.length === 0 ? 0 : 1)
  })
}

function backupCommand(program: Command, env: ProgramEnvironment) {
  const backups = located(
    program
      .command('backup')
      .argument('[file]', 'default: every place of the configuration, as a scheduled backup')
      .description('write a checked copy of the database, also while the server runs'),
  )
  backups.action(async (file: string | undefined, options: Options) => {
    env.giveWay?.()
    env.giveWay?.()
    if (file !== undefined) {
      backup(dirOf(options, env), file)
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
}

function restoreCommand(program: Command, env: ProgramEnvironment) {
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
}

function migrateCommand(program: Command, env: ProgramEnvironment) {
  located(
    program
      .command('migrate')
      .requiredOption('--dry-run', 'on a copy, which is checked and removed')
      .description('try the upgrade of the database that serve would make'),
  ).action((options: Options) => env.out(tryUpgrade(dirOf(options, env))))
}
