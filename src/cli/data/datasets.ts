import type { DatasetShape as DatasetLine } from '../../topics/operator/operations/data/datasets.ts'
import {
  answerOf,
  type CommandEnvironment,
  type CommandTools,
  print,
  runAgainstServer,
} from '../command.ts'
import { table } from '../table.ts'
import { guardsOf } from './series.ts'

const path = '/admin/v1/datasets'

const datasetTable = (datasets: readonly DatasetLine[]) =>
  table(
    ['NAME', 'ONE ROW FOR EACH', 'GUARDED', 'GUARDS', 'ABOUT'],
    datasets.map(({ name, key, guarded, guards, description }) => [
      name,
      key.join(' ') || '-',
      guarded.join(' ') || '-',
      Object.entries(guards)
        .map(pair => pair.join('='))
        .join(' ') || 'as usual',
      description,
    ]),
  )

const listDatasets = (env: CommandEnvironment): Promise<number> =>
  runAgainstServer(env, 'datasets list', async () => {
    print(env, await answerOf<DatasetLine[]>(env, 'GET', path), datasetTable)
  })

const changeDataset = (
  env: CommandEnvironment,
  name: string,
  { guards }: { guards?: string },
): Promise<number> =>
  runAgainstServer(env, 'datasets edit', async () => {
    if (guards === undefined)
      throw new Error('set the action of a validation rule, such as --guards jump=flag')
    const { dataset } = await answerOf<{ dataset: DatasetLine }>(
      env,
      'PATCH',
      `${path}/${encodeURIComponent(name)}`,
      { guards: guardsOf(guards) },
    )
    print(env, [dataset], datasetTable)
  })

/**
 * `datasets`: lists the datasets that can be imported in addition to prices, and sets the guards of
 * their rows.
 */
export function datasetCommands({ program, leaf, run }: CommandTools) {
  const datasets = program
    .command('datasets')
    .description('list and configure datasets other than prices')
  leaf(datasets.command('list').description('list the importable datasets')).action(
    run(listDatasets),
  )
  leaf(
    datasets
      .command('edit')
      .argument('<name>')
      .description('change the action of validation rules'),
  )
    .option('--guards <pairs>', 'hold, flag, off or usual for each: jump=flag,repeat=off')
    .action(run(changeDataset))
}
