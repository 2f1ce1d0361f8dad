import type { Command } from 'commander'
import { holderOf } from '../../lib/files/directory-lock.ts'
import { openLogFile } from '../../lib/files/log-file.ts'
import { commandOf } from '../child.ts'
import type { ProgramEnvironment } from '../environment.ts'
import { configOf, located, type Options, type Results, runtimeOf } from '../options.ts'
import { configuredUrl, healthcheck } from './health.ts'
import { printOpenapi } from './openapi.ts'
import { serveReplica } from './replica.ts'
import { serve } from './serve.ts'

/** The server itself, how it is, and what it answers. */
export function serverCommands(program: Command, env: ProgramEnvironment, results: Results) {
  serveCommands(program, env, results)
  healthCommand(program, env, results)
  openapiCommand(program, env)
}

function serveCommands(program: Command, env: ProgramEnvironment, results: Results) {
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
    if (mode === 'serve')
      command
        .option(
          '--replica',
          'answer reads from a copy of the primary at replica.primary, and pass on to it what else is asked',
        )
        .option(
          '--standby <mode>',
          'auto: write only while holding the lease of the primary; with --replica: take over when nobody renews it',
        )
    if (mode === 'dev')
      command
        .option('--seed <number>', 'seed of the fixture world')
        .option('--world <size>', 'whole, or small: fewer codes and a year of history, for tests')
        .option('--clock <time>', 'where the clock stands until advanced')
    command.action(async (options: Options) => {
      const config = configOf(options, mode, env)
      const start = options.replica === true ? serveReplica : serve
      results.set(
        await start({
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
        }),
      )
    })
  }
}

function healthCommand(program: Command, env: ProgramEnvironment, results: Results) {
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
}

function openapiCommand(program: Command, env: ProgramEnvironment) {
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
