import { fieldsText } from '../../lib/text/json.ts'
import type { DatasetShape as DatasetLine } from '../../topics/operator/operations/data/datasets.ts'
import type { CommandEnvironment, CommandTools } from '../command.ts'
import { tableOf } from '../table.ts'
import { guardsOf } from './series.ts'

const path = '/admin/v1/datasets'

const datasetTable = (datasets: readonly DatasetLine[]) =>
  tableOf(datasets, {
    NAME: 'name',
    'ONE ROW FOR EACH': ({ key }) => key.join(' ') || '-',
    GUARDED: ({ guarded }) => guarded.join(' ') || '-',
    GUARDS: ({ guards }) => fieldsText(guards) || 'as usual',
    DESCRIPTION: 'description',
  })

const listDatasets = (env: CommandEnvironment): Promise<void> => env.show(datasetTable, 'GET', path)

const changeDataset = async (
  env: CommandEnvironment,
  name: string,
  { guards }: { guards?: string },
): Promise<void> => {
  if (guards === undefined)
    throw new Error('set the action of a validation rule, such as --guards jump=flag')
  const { dataset } = await env.answer<{ dataset: DatasetLine }>(
    'PATCH',
    `${path}/${encodeURIComponent(name)}`,
    { guards: guardsOf(guards) },
  )
  env.print([dataset], datasetTable)
}

/**
 * `datasets`: lists the datasets that can be imported in addition to prices, and sets the guards of
 * their rows.
 */
export function datasetCommands({ program, leaf, run }: CommandTools) {
  const datasets = program
    .command('datasets')
    .description('list and configure datasets other than prices')
  leaf(datasets, 'list', 'list the importable datasets').action(run(listDatasets))
  leaf(datasets, 'edit', 'change the action of validation rules', ['<name>'])
    .option(
      '--guards <pairs>',
      'action of each rule (hold, flag, off or usual): jump=flag,repeat=off',
    )
    .action(run(changeDataset))
}
