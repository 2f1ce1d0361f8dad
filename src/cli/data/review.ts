import type { FlagShape as FlagLine } from '../../topics/operator/operations/data/review.ts'
import { type CommandEnvironment, type CommandTools, listPath } from '../command.ts'
import { tableOf } from '../table.ts'

const path = '/admin/v1/review'
const perPage = 100

const flagTable = (values: readonly FlagLine[]) =>
  tableOf(values, {
    ID: 'id',
    'CODE OR ROW': value =>
      value.code ?? `${value.dataset} ${Object.values(value.line ?? {}).join(' ')}`,
    OBSERVED: 'observed_at',
    VALUE: 'price',
    BEFORE: value => (value.before === null ? '-' : String(value.before)),
    RECORDED: value =>
      `${value.recorded ?? '-'}${value.superseded === null ? '' : ` (${value.superseded})`}`,
    RULE: 'rule',
    REASON: 'reason',
    SOURCE: 'source',
    BATCH: 'batch',
    STATUS: 'status',
  })

interface ListOptions {
  status?: string
  code?: string
  dataset?: string
}

const listFlags = (
  env: CommandEnvironment,
  { status, code, dataset }: ListOptions,
): Promise<void> => {
  const list = listPath(path, { per_page: String(perPage), status, code, dataset })
  const lines = (rows: FlagLine[]) => (rows.length === 0 ? ['No values.'] : flagTable(rows))
  return env.showField('values', lines, 'GET', list)
}

interface DecisionOptions {
  reason?: string
  replace?: boolean
}

const decide = async (
  env: CommandEnvironment,
  verb: 'release' | 'reject',
  ids: readonly string[],
  { reason, replace }: DecisionOptions,
) => {
  const wrong = ids.find(id => !/^\d{1,15}$/.test(id))
  if (wrong !== undefined)
    throw new Error(`${wrong} must be the number of a held value: see wellhead review list`)
  const body = { ids: ids.map(Number), reason, replace }
  await env.showField('values', flagTable, 'POST', `${path}/${verb}`, body)
}

/** `review`: values that the guards at the door hold back. */
export function reviewCommands({ program, leaf, run }: CommandTools) {
  const review = program.command('review').description('review values held for a decision')
  leaf(review, 'list', 'list held and flagged values')
    .option('--status <status>', 'waiting (default), flagged, released, rejected, kept or all')
    .option('--code <code>', 'only values of this series')
    .option('--dataset <name>', 'only rows of this dataset')
    .action(run(listFlags))
  for (const [verb, about] of [
    ['release', 'record held values'],
    ['reject', 'discard held values permanently'],
  ] as const) {
    const command = leaf(review, verb, about, ['<ids...>'])
      .option('--reason <text>', 'reason, for the audit trail')
      .action(
        run((env, ids: string[], options: DecisionOptions) => decide(env, verb, ids, options)),
      )
    if (verb === 'release')
      command.option('--replace', 'replace also what was recorded after the hold')
  }
}
