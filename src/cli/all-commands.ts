import { Argument, type Command } from 'commander'
import { schemaVersion } from '../database/migrations.ts'
import { build, version } from '../version.ts'
import { billingCommands } from './accounts/billing.ts'
import { accountCommands } from './accounts/commands.ts'
import { itemCommands } from './accounts/items.ts'
import { firstLine } from './accounts/sign-in.ts'
import { auditCommands } from './audit.ts'
import { backupCommands } from './backups/commands.ts'
import { wordArgument } from './choice.ts'
import {
  attempt,
  type CommandTools,
  commandEnvironment,
  type JsonOption,
  printJson,
} from './command.ts'
import { configExplain } from './config.ts'
import { confirmIrreversible } from './confirm.ts'
import { batchCommands } from './data/batches.ts'
import { codeCommands } from './data/codes.ts'
import { dataCommands } from './data/commands.ts'
import { datasetCommands } from './data/datasets.ts'
import { feedCommands } from './data/feeds.ts'
import { quarantineCommands } from './data/quarantine.ts'
import { reviewCommands } from './data/review.ts'
import { seriesCommands } from './data/series.ts'
import { sourceCommands } from './data/sources.ts'
import { doctorCommands } from './doctor/commands.ts'
import { emptyProgram } from './empty-program.ts'
import type { ProgramEnvironment } from './environment.ts'
import { groupCommands } from './groups.ts'
import { testMail } from './mail.ts'
import { completion, type Shell, shells } from './manual/completion.ts'
import { manualPage } from './manual/man.ts'
import { addExamples, commandTable } from './manual/table.ts'
import { testNotices } from './notices.ts'
import {
  configOf,
  located,
  type Options,
  type Results,
  runtimeOf,
  withOperator,
} from './options.ts'
import { outboxCommands } from './outbox.ts'
import { listPlans } from './plans.ts'
import { explainProfile, listShippedProfiles } from './profiles.ts'
import { remoteCommands } from './remote/commands.ts'
import { replicationCommands } from './replication/commands.ts'
import { serverCommands } from './server/commands.ts'
import { setupAgain } from './server/setup.ts'

/** Builds the program with all commands. Exit codes go to `results`. */
export function programOf(env: ProgramEnvironment, results: Results): Command {
  const program = emptyProgram(env)
  serverCommands(program, env, results)
  dataCommands(program, env, results)
  const leaf: CommandTools['leaf'] = (group, name, description, ...names) => {
    const command = group.command(name).description(description)
    for (const [flags, meaning] of names) command.argument(flags, meaning)
    return located(command).option('--json', 'print JSON')
  }
  const run: CommandTools['run'] =
    work =>
    (...args) => {
      // After its arguments an action gets its options and the command.
      const [{ json, ...options }, command] = args.slice(-2) as [Options & JsonOption, Command]
      return withOperator(options, env, async operator => {
        const { out, err, terminal, width } = env
        const parts = { operator, out, err, terminal, width, json: json === true }
        const attempted = () => work(commandEnvironment(parts), ...args)
        results.set(await attempt(wordsOf(command), env, attempted))
      })
    }
  const tools: CommandTools = { program, leaf, run }
  quarantineCommands(tools)
  accountCommands(tools, () => firstLine(env.stdin))
  leaf(program, 'setup', 'manage the first credentials of a data directory')
    .requiredOption('--again', 'create and show new first credentials, if the old ones are unused')
    .action(
      run((operator, options: Options) =>
        setupAgain(operator, configOf(options, 'serve', env).data.dir),
      ),
    )
  billingCommands(tools)
  itemCommands(tools)
  codeCommands(tools)
  sourceCommands(tools)
  seriesCommands(tools)
  batchCommands(tools)
  datasetCommands(tools)
  reviewCommands(tools)
  auditCommands(tools)
  feedCommands(tools)
  outboxCommands(tools)
  backupCommands(program, env, results)
  replicationCommands(program, env, results)
  doctorCommands(program, env, results)
  settingsCommands(program, env)
  trialCommands(program, env, results)
  remoteCommands(program, env)
  manualCommands(program, env)
  confirmIrreversible(program, env)
  groupCommands(program)
  addExamples(program)
  return program
}

/** The words of a command after the program's name. */
const wordsOf = (command: Command): string =>
  command.parent?.parent ? `${wordsOf(command.parent)} ${command.name()}` : command.name()

/** Commands that write the files of packages: manual and completions. */
function manualCommands(program: Command, env: ProgramEnvironment) {
  program
    .command('completion')
    .addArgument(wordArgument(new Argument('<shell>', 'shell'), shells))
    .description('print shell completions')
    .action((shell: Shell) => env.write(completion(shell, program.name(), commandTable(program))))
  program
    .command('manual')
    .description('print the manual page')
    .action(() => {
      const about = { name: program.name(), description: program.description(), version }
      return env.write(manualPage(about, commandTable(program)))
    })
}

/** Commands about the effective settings. */
function settingsCommands(program: Command, env: ProgramEnvironment) {
  const config = program.command('config').description('show and check the configuration')
  located(
    config.command('explain').description('show every effective setting and its source'),
    () => 'named',
  )
    .option('--json', 'print JSON')
    .action((options: Options & { json?: boolean }) =>
      configExplain(configOf(options, 'serve', env), {
        out: env.out,
        width: env.width,
        json: options.json === true,
      }),
    )
  const plans = program.command('plans').description('show plans and prices')
  located(
    plans.command('list', { isDefault: true }).description('list the configured plans'),
    () => 'named',
  )
    .option('--json', 'print JSON')
    .action((options: Options & { json?: boolean }) =>
      listPlans(configOf(options, 'serve', env), env.out, options.json === true),
    )
  const profiles = program
    .command('profiles')
    .description('manage compatibility profiles for existing clients')
  located(
    profiles
      .command('explain')
      .requiredOption('--header <line...>', "a header of the client: 'User-Agent: prices-go/1.2'")
      .description('show the profile that matches the headers of a client, and its changes'),
    () => 'named',
  )
    .option('--json', 'print JSON')
    .action((options: Options & { header: string[]; json?: boolean }) =>
      explainProfile(options.header, configOf(options, 'serve', env), env.out, options.json),
    )
  profiles
    .command('list')
    .description('list the shipped profiles')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => listShippedProfiles(env.out, options.json === true))
  program
    .command('version')
    .description('print the version, the commit, its date, and the schema of its databases')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: boolean }) =>
      env.out(
        json
          ? JSON.stringify({
              version,
              commit: build?.commit ?? null,
              day: build?.day ?? null,
              schema: schemaVersion,
            })
          : `${version} (${build ? `commit ${build.commit} of ${build.day}` : 'built without history'}, schema ${schemaVersion})`,
      ),
    )
}

/** Prints the result of a test; as JSON where that was requested. */
const trialEnv = (env: ProgramEnvironment, { json = false }: { json?: boolean }) =>
  json
    ? {
        out: (message: string) => printJson(env, { accepted: true, message }),
        err: (message: string) => printJson(env, { accepted: false, message }),
      }
    : env

/** A test e-mail and a test notice, to see that they arrive. */
function trialCommands(program: Command, env: ProgramEnvironment, results: Results) {
  const mail = program.command('mail').description('test e-mail delivery')
  located(
    mail
      .command('test')
      .argument('<address>', 'recipient')
      .description('send a test e-mail with the configured provider'),
    () => 'named',
  )
    .option('--json', 'print JSON')
    .action(async (to: string, options: Options & { json?: boolean }) =>
      results.set(
        await testMail(runtimeOf(configOf(options, 'serve', env), env), to, trialEnv(env, options)),
      ),
    )
  const notices = program.command('notices').description('test operator notices')
  located(
    notices.command('test').description('send a test notice to each configured channel'),
    () => 'named',
  )
    .option('--json', 'print JSON')
    .action(async (options: Options & { json?: boolean }) =>
      results.set(
        await testNotices(runtimeOf(configOf(options, 'serve', env), env), trialEnv(env, options)),
      ),
    )
}
