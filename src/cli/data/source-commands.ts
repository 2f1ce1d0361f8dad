import type { Command } from 'commander'
import type { JsonOption, OperatorAction } from '../command.ts'
import { listSources, syncSource } from './sources.ts'

/**
 * `sources`: the data sources of all accounts. `located` adds the options that say where the data
 * is.
 */
export function sourceCommands(
  program: Command,
  located: (command: Command) => Command,
  act: OperatorAction,
) {
  const sources = program.command('sources').description('manage data sources of accounts')
  const leaf = (command: Command) => located(command).option('--json', 'print JSON')
  leaf(sources.command('list').description('list data sources with their last sync')).action(
    (options: JsonOption) => act(options, env => listSources(env)),
  )
  leaf(
    sources
      .command('sync')
      .argument('<source>', 'name or id')
      .description('sync a data source now'),
  ).action((name: string, options: JsonOption) => act(options, env => syncSource(env, name)))
}
