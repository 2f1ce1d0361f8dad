import { type Command, Option } from 'commander'
import { createRandomIds } from '../../lib/ids.ts'
import { createSystemClock } from '../../lib/time/clock.ts'
import type { ProgramEnvironment } from '../environment.ts'
import { configOf, located, type Options, type Results } from '../options.ts'
import { promote, promoteFromHere } from './promote.ts'

/** Commands that replace one instance by another. */
export function replicationCommands(program: Command, env: ProgramEnvironment, results: Results) {
  located(
    program
      .command('promote')
      .description('promote the directory to primary, from the newest snapshot and the stream')
      .option(
        '--from-here',
        'keep the database of the directory instead, even if another instance took over from it',
      )
      .addOption(
        new Option(
          '--without-master-key',
          'promote without the secrets that only a lost master key opens',
        ).conflicts('fromHere'),
      ),
    () => 'made',
  ).action(async (options: Options & { fromHere?: true; withoutMasterKey?: true }) => {
    const clock = createSystemClock()
    const run = options.fromHere ? promoteFromHere : promote
    results.set(
      await run(configOf(options, 'serve', env), {
        clock,
        ids: createRandomIds(),
        out: env.out,
        withoutMasterKey: options.withoutMasterKey === true,
      }),
    )
  })
}
