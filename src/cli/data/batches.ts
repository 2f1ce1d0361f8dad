import type { BatchShape as BatchLine } from '../../topics/operator/operations/data/batches.ts'
import {
  answerOf,
  type CommandEnvironment,
  type CommandTools,
  listPath,
  print,
  runAgainstServer,
} from '../command.ts'
import { table } from '../table.ts'

const path = '/admin/v1/batches'
const shownMax = 50

const standingOf = (batch: BatchLine): string => {
  if (batch.undone_at !== null) return 'undone'
  return batch.finished_at === null ? 'under way' : 'done'
}

const aboutOf = (batch: BatchLine): string =>
  [
    batch.file_name,
    batch.dataset,
    batch.undoes === null ? null : `undoes ${batch.undoes}`,
    batch.reason,
  ]
    .filter(part => part !== null)
    .join('; ') || '-'

const batchTable = (batches: readonly BatchLine[]) =>
  table(
    [
      'ID',
      'KIND',
      'STARTED',
      'ACTOR',
      'SOURCE',
      'NEW',
      'REVISED',
      'GONE',
      'REJECTED',
      'HELD',
      'KEPT',
      'STATUS',
      'ABOUT',
    ],
    batches.map(batch => [
      String(batch.id),
      batch.kind,
      batch.started_at,
      batch.actor,
      batch.source ?? '-',
      String(batch.inserted),
      String(batch.revised),
      String(batch.removed),
      String(batch.rejected),
      String(batch.held),
      String(batch.kept_as_corrected),
      standingOf(batch),
      aboutOf(batch),
    ]),
  )

interface ListOptions {
  kind?: string
  code?: string
  since?: string
}

const listBatches = (
  env: CommandEnvironment,
  { kind, code, since }: ListOptions,
): Promise<number> =>
  runAgainstServer(env, 'batches list', async () => {
    const list = listPath(path, { per_page: String(shownMax), kind, code, since })
    const { batches } = await answerOf<{ batches: BatchLine[] }>(env, 'GET', list)
    print(env, batches, batchTable)
  })

interface Shown {
  batch: BatchLine
  series: { code: string; points: number; from: string; to: string }[]
  rows: { row: string; before: number; now: number; percent: number | null }[]
}

const percentOf = (percent: number | null) =>
  percent === null ? '-' : `${percent > 0 ? '+' : ''}${percent.toFixed(2)}%`

const showBatch = (env: CommandEnvironment, id: string): Promise<number> =>
  runAgainstServer(env, 'batches show', async () => {
    const shown = await answerOf<Shown>(env, 'GET', `${path}/${encodeURIComponent(id)}`)
    print(env, shown, ({ batch, series, rows }) => [
      ...batchTable([batch]),
      ...(batch.sha256 === null ? [] : [`SHA-256 ${batch.sha256}`]),
      '',
      ...table(
        ['SERIES', 'CHANGES', 'FROM', 'TO'],
        series.map(series => [series.code, String(series.points), series.from, series.to]),
      ),
      '',
      ...table(
        ['BIGGEST CHANGES', 'AT', 'BEFORE', 'AFTER', 'CHANGE'],
        batch.biggest_changes.map(biggest_change => [
          biggest_change.code,
          biggest_change.observed_at,
          String(biggest_change.before),
          String(biggest_change.after),
          percentOf(biggest_change.percent),
        ]),
      ),
      ...(rows.length === 0
        ? []
        : [
            '',
            ...table(
              ['ROWS CHANGED MOST', 'BEFORE', 'NOW', 'CHANGE'],
              rows.map(({ row, before, now, percent }) => [
                row,
                String(before),
                String(now),
                percentOf(percent),
              ]),
            ),
          ]),
    ])
  })

const undoBatch = (
  env: CommandEnvironment,
  id: string,
  { onlyUntouched, reason }: { onlyUntouched?: boolean; reason?: string },
): Promise<number> =>
  runAgainstServer(env, 'batches undo', async () => {
    const undone = await answerOf<{
      batch: BatchLine
      restored: number
      removed: number
      left: number
    }>(env, 'POST', `${path}/${encodeURIComponent(id)}/undo`, {
      ...(onlyUntouched && { only_untouched: true }),
      reason,
    })
    print(env, undone, ({ batch, restored, removed, left }) => [
      `undone as batch ${batch.id}: ${restored} as before, ${removed} gone${left > 0 ? `, ${left} skipped because they were written later` : ''}`,
    ])
  })

interface Changed {
  code: string
  observed_at: string
  before: number
  after: number | null
  batch: number
}

const changeValue = (
  env: CommandEnvironment,
  name: string,
  method: 'PATCH' | 'DELETE',
  body: Record<string, unknown>,
): Promise<number> =>
  runAgainstServer(env, name, async () => {
    const changed = await answerOf<Changed>(env, method, '/admin/v1/values', body)
    print(env, changed, ({ code, observed_at: at, before, after, batch }) => [
      `${code} ${at}: ${before} -> ${after ?? 'gone'} (batch ${batch})`,
    ])
  })

/** `batches` and `values`: values written together, and single ones. */
export function batchCommands({ program, leaf, run }: CommandTools) {
  const batches = program.command('batches').description('manage batches of writes')
  leaf(batches.command('list').description('list the newest batches'))
    .option('--kind <kind>', 'file, push, feed, correction, undo or release')
    .option('--code <code>', 'only batches that changed this series')
    .option('--since <time>', 'only batches opened since this time')
    .action(run(listBatches))
  leaf(
    batches
      .command('show')
      .argument('<id>')
      .description('show a batch with its series and largest changes'),
  ).action(run(showBatch))
  leaf(
    batches
      .command('undo')
      .argument('<id>')
      .description('undo a batch: restore the earlier values as new revisions'),
  )
    .option('--only-untouched', 'skip values and rows that were written again later')
    .option('--reason <text>', 'why')
    .action(run(undoBatch))
  const values = program.command('values').description('correct and delete recorded values')
  leaf(
    values
      .command('correct')
      .argument('<code>')
      .argument('<time>', 'time with its zone, or a day')
      .argument('<value>')
      .requiredOption('--reason <text>', 'why')
      .description('correct a value'),
  ).action(
    run((env, code: string, time: string, value: string, { reason }: { reason: string }) =>
      changeValue(env, 'values correct', 'PATCH', {
        code,
        observed_at: time,
        price: Number.isNaN(Number(value)) ? value : Number(value),
        reason,
      }),
    ),
  )
  leaf(
    values
      .command('delete')
      .argument('<code>')
      .argument('<time>', 'time with its zone, or a day')
      .requiredOption('--reason <text>', 'why')
      .description('delete a value from all reads'),
  ).action(
    run((env, code: string, time: string, { reason }: { reason: string }) =>
      changeValue(env, 'values delete', 'DELETE', { code, observed_at: time, reason }),
    ),
  )
}
