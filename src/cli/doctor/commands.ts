import type { Command } from 'commander'
import { envName, loadConfig } from '../../config/config.ts'
import { createSystemClock } from '../../lib/time/clock.ts'
import { paintFor } from '../colours.ts'
import type { ProgramEnvironment } from '../environment.ts'
import { configFrom, located, type Options, type Results } from '../options.ts'
import { runDoctor } from './doctor.ts'

export function doctorCommands(program: Command, env: ProgramEnvironment, results: Results) {
  located(
    program.command('doctor').description('diagnose problems (read-only)'),
    // It reports a missing directory among its findings.
    () => 'made',
  )
    .option('--json', 'print JSON')
    .option(
      '--offline',
      'do not connect to the providers of mail, text messages, payments and sign-in',
    )
    .action(async (options: Options & { json?: boolean; offline?: boolean }) => {
      const { directory } = env
      const dir = options.data ?? (env.env[envName('data.dir')] || undefined)
      results.set(
        await runDoctor({
          out: env.out,
          json: options.json === true,
          online: options.offline !== true,
          paint: paintFor(env),
          clock: createSystemClock(),
          sources: { env: env.env, directory },
          config: mode => configFrom(options, mode, env),
          fallback: () =>
            loadConfig({
              flags: { 'data.dir': dir },
              env: {},
              files: { directory, installed: env.installed },
              readFile: () => undefined,
            }),
        }),
      )
    })
}
