import type {
  BatchDetail,
  BatchShape as BatchLine,
  ChangedValue,
  Undone,
} from '../../topics/operator/operations/data/batches.ts'
import { type CommandEnvironment, type CommandTools, listPath } from '../command.ts'
import { tableOf } from '../table.ts'

const path = '/admin/v1/batches'
const shownMax = 50

const statusOf = (batch: BatchLine): string =>
  batch.undone_at === null ? batch.status.replace('_', ' ') : 'undone'

const detailsOf = (batch: BatchLine): string =>
  [
    batch.file_name,
    batch.dataset,
    batch.undoes === null ? null : `undoes ${batch.undoes}`,
    batch.reason,
  ]
    .filter(part => part !== null)
    .join('; ') || '-'

const batchTable = (batches: readonly BatchLine[]) =>
  tableOf(batches, {
    ID: 'id',
    KIND: 'kind',
    STARTED: 'started_at',
    ACTOR: 'actor',
    SOURCE: 'source',
    NEW: 'inserted',
    REVISED: 'revised',
    REMOVED: 'removed',
    REJECTED: 'rejected',
    HELD: 'held',
    KEPT: 'kept_as_corrected',
    STATUS: batch => statusOf(batch),
    DETAILS: batch => detailsOf(batch),
  })

interface ListOptions {
  kind?: string
  code?: string
  since?: string
}

const listBatches = (
  env: CommandEnvironment,
  { kind, code, since }: ListOptions,
): Promise<void> => {
  const list = listPath(path, { per_page: String(shownMax), kind, code, since })
  return env.showField('batches', batchTable, 'GET', list)
}

const percentOf = (percent: number | null) =>
  percent === null ? '-' : `${percent > 0 ? '+' : ''}${percent.toFixed(2)}%`

const batchLines = ({ batch, series, rows }: BatchDetail) => [
  ...batchTable([batch]),
  ...(batch.sha256 === null ? [] : [`SHA-256 ${batch.sha256}`]),
  '',
  ...tableOf(series, {
    SERIES: 'code',
    CHANGES: 'points',
    FROM: 'from',
    TO: 'to',
  }),
  '',
  ...tableOf(batch.biggest_changes, {
    'BIGGEST CHANGES': 'code',
    AT: 'observed_at',
    BEFORE: 'before',
    AFTER: 'after',
    CHANGE: biggest_change => percentOf(biggest_change.percent),
  }),
  ...(rows.length === 0
    ? []
    : [
        '',
        ...tableOf(rows, {
          'ROWS CHANGED MOST': 'row',
          BEFORE: 'before',
          NOW: 'now',
          CHANGE: ({ percent }) => percentOf(percent),
        }),
      ]),
]

const showBatch = (env: CommandEnvironment, id: string): Promise<void> =>
  env.show(batchLines, 'GET', `${path}/${encodeURIComponent(id)}`)

const undoBatch = async (
  env: CommandEnvironment,
  id: string,
  { onlyUntouched, reason }: { onlyUntouched?: boolean; reason?: string },
): Promise<void> => {
  const lines = ({ batch, restored, removed, left }: Undone) => [
    `undone as batch ${batch.id}: ${restored} as before, ${removed} gone${left > 0 ? `, ${left} skipped because they were written later` : ''}`,
  ]
  const body = { ...(onlyUntouched && { only_untouched: true }), reason }
  await env.show(lines, 'POST', `${path}/${encodeURIComponent(id)}/undo`, body)
}

const changeLines = ({ code, observed_at: at, before, after, batch }: ChangedValue) => [
  `${code} ${at}: ${before} -> ${after ?? 'gone'} (batch ${batch})`,
]

const changeValue = (
  env: CommandEnvironment,
  method: 'PATCH' | 'DELETE',
  body: Record<string, unknown>,
): Promise<void> => env.show(changeLines, method, '/admin/v1/values', body)

/** `batches` and `values`: values written together, and single ones. */
export function batchCommands({ program, leaf, run }: CommandTools) {
  const batches = program.command('batches').description('manage batches of writes')
  leaf(batches, 'list', 'list the newest batches')
    .option('--kind <kind>', 'file, push, feed, correction, undo or release')
    .option('--code <code>', 'only batches that changed this series')
    .option('--since <time>', 'only batches opened since this time')
    .action(run(listBatches))
  leaf(batches, 'show', 'show a batch with its series and largest changes', ['<id>']).action(
    run(showBatch),
  )
  leaf(batches, 'undo', 'undo a batch: restore the earlier values as new revisions', ['<id>'])
    .option('--only-untouched', 'skip values and rows that were written again later')
    .option('--reason <text>', 'reason, for the audit trail')
    .action(run(undoBatch))
  const values = program.command('values').description('correct and delete recorded values')
  const aTime = ['<time>', 'time with its zone, or a day'] as const
  leaf(values, 'correct', 'correct a value', ['<code>'], aTime, ['<value>'])
    .requiredOption('--reason <text>', 'reason, for the audit trail')
    .action(
      run((env, code: string, time: string, value: string, { reason }: { reason: string }) =>
        changeValue(env, 'PATCH', {
          code,
          observed_at: time,
          price: Number.isNaN(Number(value)) ? value : Number(value),
          reason,
        }),
      ),
    )
  leaf(values, 'delete', 'delete a value from all reads', ['<code>'], aTime)
    .requiredOption('--reason <text>', 'reason, for the audit trail')
    .action(
      run((env, code: string, time: string, { reason }: { reason: string }) =>
        changeValue(env, 'DELETE', { code, observed_at: time, reason }),
      ),
    )
}
