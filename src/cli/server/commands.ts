import type { Command } from 'commander'
import { listeningUrl } from '../../config/address.ts'
import { holderOf } from '../../lib/files/directory-lock.ts'
import { openLogFile } from '../../lib/files/log-file.ts'
import { commandOf } from '../child.ts'
import type { ProgramEnvironment } from '../environment.ts'
import { configOf, located, type Options, type Results, runtimeOf } from '../options.ts'
import { directoryHealth, healthcheck } from './health.ts'
import { printOpenapi } from './openapi.ts'
import { serveReplica } from './replica.ts'
import { serve } from './serve.ts'

/** Commands that run a server, check its state and print its document. */
export function serverCommands(program: Command, env: ProgramEnvironment, results: Results) {
  serveCommands(program, env, results)
  healthCommand(program, env, results)
  openapiCommand(program, env)
}

function serveCommands(program: Command, env: ProgramEnvironment, results: Results) {
  for (const [mode, summary] of [
    ['serve', 'serve a data directory (production)'],
    ['dev', 'serve a demo instance with generated data and controls, on this machine only'],
  ] as const) {
    const command = located(program.command(mode).description(summary), () => 'made')
      .option('--host <address>', 'address to listen on')
      .option('--port <number>', 'port to listen on; 0: any free port')
      .option(
        '--ready-file <file>',
        'write {"url","api_key","admin_token"} to this file once the server listens',
      )
      .option(
        '--new-database',
        'start with an empty database even if the directory has files of an earlier one',
      )
    if (mode === 'serve')
      command.option(
        '--new-master-key',
        'start without the lost master key: webhooks get new secrets, data sources lose their credentials',
      )
    if (mode === 'serve')
      command
        .option(
          '--replica',
          'serve reads from a replica of replica.primary and forward all other requests to it',
        )
        .option(
          '--standby <mode>',
          'auto: write only while holding the primary lease; with --replica: take over when the lease expires',
        )
    if (mode === 'dev')
      command
        .option('--seed <number>', 'seed of the demo world')
        .option(
          '--world <size>',
          'whole, or small (fewer codes and one year of history, for tests)',
        )
        .option('--clock <time>', 'time at which the clock stands until advanced')
        .option(
          '--limits <which>',
          'plan: apply the rate limits of the plans, instead of 600 a minute',
        )
    command.action(async (options: Options) => {
      const config = configOf(options, mode, env)
      const start = options.replica === true ? serveReplica : serve
      results.set(
        await start({
          runtime: {
            ...runtimeOf(config, env, openLogFile),
            takesNewMasterKey: options.newMasterKey === true,
            takesNewDatabase: options.newDatabase === true,
          },
          ...(mode === 'serve' && { command: commandOf(config.data.dir, config.file) }),
          dir: config.data.dir,
          out: env.out,
          err: env.err,
          isTerminal: env.isTerminal === true,
          terminal: env.terminal,
          onStop: env.onStop,
        }),
      )
    })
  }
}

function healthCommand(program: Command, env: ProgramEnvironment, results: Results) {
  const isAddressed = ({ host, port }: Options) => host !== undefined || port !== undefined
  located(
    program
      .command('healthcheck')
      .description('check the health of the server that uses the data directory'),
    command => (isAddressed(command.opts()) ? 'named' : 'needed'),
  )
    .option('--host <address>', 'check the server at this address')
    .option('--port <number>', 'check the server on this port')
    .action(async (options: Options) => {
      const config = configOf(options, 'serve', env)
      const { dir } = config.data
      results.set(
        await (isAddressed(options)
          ? healthcheck(listeningUrl(config.server), env)
          : directoryHealth(dir, holderOf(dir)?.heldBy, env)),
      )
    })
}

function openapiCommand(program: Command, env: ProgramEnvironment) {
  located(
    program.command('openapi').description('print the OpenAPI document for this configuration'),
    () => 'named',
  )
    .option('--out <file>', 'file to write instead of standard output')
    .action(async (options: Options & { out?: string }) =>
      printOpenapi(runtimeOf(configOf(options, 'serve', env), env), options.out, env.write),
    )
}
