import { dirname } from 'node:path'
import { type Command, Option } from 'commander'
import { databasePath } from '../../instance/services/directory.ts'
import { checksumPath, writeChecksum } from '../../lib/files/checksum-file.ts'
import { createRandomIds } from '../../lib/ids.ts'
import { errorMessage } from '../../lib/text/error-message.ts'
import { createSystemClock } from '../../lib/time/clock.ts'
import { dayMs, hourMs, isoInstant, minuteMs } from '../../lib/time/instant.ts'
import { backupTimeOf } from '../../plans/backup-retention.ts'
import { type JsonOption, printJson } from '../command.ts'
import { restoreFault } from '../data-directory.ts'
import type { ProgramEnvironment } from '../environment.ts'
import { configOf, located, type Options, type Results } from '../options.ts'
import { heldLines } from '../outbox.ts'
import { backup, type Restored, restore, verifyFile } from './backup.ts'
import {
  type CheckedBackup,
  checkBackups,
  isSealed,
  listBackups,
  makeBackup,
  withFetched,
  withFile,
} from './backups.ts'
import { tryUpgrade, type UpgradeTrial } from './upgrade.ts'

type RestoreCommandOptions = Options & {
  from?: string
  create?: boolean
  releaseOutbox?: boolean
  holdOutbox?: boolean
  withoutMasterKey?: boolean
  json?: boolean
}

const dirOf = (options: Options, env: ProgramEnvironment) =>
  configOf(options, 'serve', env).data.dir

/** Commands that make, check, list, restore and upgrade backups. */
export function backupCommands(program: Command, env: ProgramEnvironment, results: Results) {
  verifyCommand(program, env, results)
  backupCommand(program, env)
  restoreCommand(program, env)
  migrateCommand(program, env)
}

/** The faults of a database file; where the file cannot be opened, the error names it. */
function faultsOf(path: string): string[] {
  try {
    return verifyFile(path)
  } catch (error) {
    const reason = errorMessage(error)
    throw new Error(reason.includes(path) ? reason : `${path}: ${reason}`)
  }
}

function verifyCommand(program: Command, env: ProgramEnvironment, results: Results) {
  located(
    program
      .command('verify')
      .argument('[file]', 'backup file (default: the database of the data directory)')
      .description('check a database'),
    command => (command.args.length > 0 ? 'named' : 'needed'),
  )
    .option('--json', 'print JSON')
    .action((file: string | undefined, options: Options & JsonOption) => {
      env.yieldTurn?.()
      const path = file ?? databasePath(dirOf(options, env))
      // An encrypted backup needs the configuration, which has its key.
      const faults = isSealed(path)
        ? withFile(configOf(options, 'serve', env), path, faultsOf)
        : faultsOf(path)
      results.set(faults.length === 0 ? 0 : 1)
      if (options.json) return printJson(env, { path, valid: faults.length === 0, faults })
      for (const fault of faults) env.err(fault)
      env.out(
        faults.length === 0
          ? `${path} is valid`
          : `${path}: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`,
      )
    })
}

function backupCommand(program: Command, env: ProgramEnvironment) {
  const backups = located(
    program
      .command('backup')
      .argument(
        '[file]',
        'file to write (default: every configured destination, as for a scheduled backup)',
      )
      .description('back up the database and verify the backup; works while the server runs'),
  ).option('--json', 'print JSON')
  backups.action(async (file: string | undefined, options: Options & JsonOption) => {
    env.yieldTurn?.()
    if (file !== undefined) {
      backup(dirOf(options, env), file)
      writeChecksum(file)
      const checksum = checksumPath(file)
      if (options.json) printJson(env, { file, checksum, valid: true })
      else env.out(`${file} is complete and valid; its checksum is in ${checksum}`)
      return
    }
    const made = await makeBackup(configOf(options, 'serve', env), createSystemClock().now())
    if (options.json) return printJson(env, made)
    const { name, bytes, places, removed } = made
    env.out(
      `${name} (${bytes} bytes) is complete and valid in ${places.join(' and ')}; ${removed} older ones were removed. It does not include master.key: store a copy of that elsewhere`,
    )
  })
  // The subcommands accept the options of the command above them as well.
  located(
    backups.command('list').description('list the backups in the configured destinations'),
    () => 'named',
  )
    .option('--json', 'print JSON')
    .action((_: Options, list: Command) => {
      const options: Options & { json?: boolean } = list.optsWithGlobals()
      return listBackups(configOf(options, 'serve', env), { ...env, json: options.json === true })
    })
  located(backups.command('check').description('verify the newest backup of every destination'))
    .option('--json', 'print JSON')
    .action(async (_: Options, check: Command) => {
      const options: Options & JsonOption = check.optsWithGlobals()
      const now = createSystemClock().now()
      const { checked, failures } = await checkBackups(configOf(options, 'serve', env))
      if (options.json) printJson(env, checked.map(checkedRow))
      else
        for (const { destination, name, at } of checked)
          env.out(
            `${destination}: ${name} is complete and valid, ${((now - at) / dayMs).toFixed(1)} days old`,
          )
      if (failures.length > 0) throw new Error(failures.join('; '))
    })
}

function restoreCommand(program: Command, env: ProgramEnvironment) {
  located(
    program
      .command('restore')
      .argument('[file]')
      .description('restore a backup into the data directory'),
    // The backup command prints its own message where it makes no backup.
    () => 'made',
  )
    .option(
      '--from <when>',
      'instead of a file: latest, or the newest configured backup from before a time',
    )
    .option('--create', 'create the data directory if it does not exist')
    .option(
      '--release-outbox',
      'send pending messages of the backup, although they may already have been sent; by default they are held',
    )
    .option(
      '--without-master-key',
      'restore without the master key of the encrypted secrets, which are then lost',
    )
    .option('--json', 'print JSON')
    // It was an option before it became what a restore does.
    .addOption(new Option('--hold-outbox').hideHelp())
    .action(async (file: string | undefined, options: RestoreCommandOptions) => {
      const { from, create, releaseOutbox, holdOutbox, withoutMasterKey } = options
      if ((file === undefined) === (from === undefined))
        throw new Error('restore needs a FILE, or --from latest or --from TIME, and not both')
      if (releaseOutbox && holdOutbox)
        throw new Error('use either --release-outbox or --hold-outbox')
      const config = configOf(options, 'serve', env)
      const { dir } = config.data
      const { directory, installed } = env
      const fault = restoreFault(dir, { directory, installed: installed?.dataDirectory })
      if (fault !== undefined && !create) throw new Error(fault)
      const now = createSystemClock().now()
      const work = (path: string) =>
        restore(dir, path, {
          at: now,
          ids: createRandomIds(),
          masterKey: config.secrets.masterKey.reveal(),
          releaseOutbox: releaseOutbox === true,
          withoutMasterKey: withoutMasterKey === true,
        })
      const [source, restored] =
        from === undefined
          ? ([file!, withFile(config, file!, work)] as const)
          : await withFetched(config, from, env.err, work)
      if (options.json) printJson(env, restoredRow(source, restored))
      else for (const line of restoredLines(source, restored, now)) env.out(line)
    })
}

const checkedRow = ({ at, ...rest }: CheckedBackup) => ({ ...rest, made_at: isoInstant(at) })

const restoredRow = (source: string, restored: Restored) => ({
  path: restored.path,
  source,
  previous_database: restored.keptAs ?? null,
  newest_record_at: restored.newestAt === undefined ? null : isoInstant(restored.newestAt),
  held_messages: restored.keptBack ?? null,
  has_master_key: restored.hasMasterKey,
})

/** The report of a restore: its path, the age of the data, and facts to know before a start. */
function restoredLines(source: string, restored: Restored, now: number): string[] {
  const { path, keptAs, keptBack, newestAt, hasMasterKey } = restored
  const madeAt = backupTimeOf(source.split(/[/ ]/).at(-1)!)
  const age =
    madeAt !== undefined
      ? `, made at ${isoInstant(madeAt)} (${ageText(now - madeAt)} ago)`
      : newestAt !== undefined
        ? `; its newest record is from ${isoInstant(newestAt)} (${ageText(now - newestAt)} ago)`
        : '; it holds no records'
  return [
    `restored ${path} from ${source}${age}`,
    ...(keptAs ? [`The database before it is ${keptAs}.`] : []),
    ...(keptBack
      ? heldLines(keptBack)
      : ['Pending messages of the backup are sent at the next start.']),
    ...(hasMasterKey
      ? []
      : [`There is no master.key in ${dirname(path)}; the next start creates a new one.`]),
  ]
}

/** A length of time in its largest unit: `6.2 days`. */
function ageText(ms: number): string {
  const age = Math.max(0, ms)
  if (age >= dayMs) return `${(age / dayMs).toFixed(1)} days`
  return age >= hourMs
    ? `${(age / hourMs).toFixed(1)} hours`
    : `${Math.round(age / minuteMs)} minutes`
}

const trialText = ({ path, from, to, seconds }: UpgradeTrial): string =>
  from === to
    ? `${path} already has schema ${to}; nothing to do`
    : `a copy of ${path} went from schema ${from} to ${to} and was verified in ${seconds.toFixed(1)} s; nothing was changed`

function migrateCommand(program: Command, env: ProgramEnvironment) {
  located(
    program
      .command('migrate')
      .description('test the database upgrade that serve would make, on a copy that is removed'),
  )
    // The only way that it ever ran; an upgrade is made by the next start.
    .addOption(new Option('--dry-run').hideHelp())
    .option('--json', 'print JSON')
    .action((options: Options & JsonOption) => {
      const tried = tryUpgrade(dirOf(options, env))
      if (options.json) printJson(env, tried)
      else env.out(trialText(tried))
    })
}
