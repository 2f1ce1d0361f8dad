import { shownValue } from '../../lib/text/wrong-value.ts'
import type { OwnedSource as SourceLine } from '../../topics/operator/operations/data/sources.ts'
import type { LogShape as SyncLine } from '../../topics/sources/operations/row.ts'
import { type CommandEnvironment, type CommandTools, Refusal } from '../command.ts'
import { tableLines, tableOf } from '../table.ts'

const sourcesPath = '/admin/v1/sources'
const rejectionsShown = 5

/** All sources, or those of a name or id. */
const sourcesOf = (env: CommandEnvironment, name?: string) =>
  env.rows<SourceLine>(sourcesPath, 'sources', { name })

const sourceTable = (sources: readonly SourceLine[]) =>
  tableOf(sources, {
    ID: 'id',
    NAME: 'name',
    TYPE: 'source_type',
    ACCOUNT: source => source.account_email ?? source.account_id,
    STATUS: 'status',
    'LAST SYNC': 'last_sync_at',
    'NEXT SYNC': 'next_sync_at',
    'LAST ERROR': 'last_error',
  })

/** Lists the data sources of all accounts, the oldest first. */
export const listSources = async (env: CommandEnvironment): Promise<void> =>
  env.print(await sourcesOf(env), sourceTable)

/**
 * Syncs one source now and prints the counts; a source that cannot be read, or a name that matches
 * several, is a failure.
 */
export const syncSource = async (env: CommandEnvironment, name: string): Promise<void> => {
  const source = sourceNamed(await sourcesOf(env, name), name)
  const done = await env.answer<SyncLine>('POST', `${sourcesPath}/${source.id}/sync`)
  env.print(done, ({ received, inserted, revised, unchanged, rejected }) => [
    `${source.name}: read ${received}, inserted ${inserted}, revised ${revised}, unchanged ${unchanged}, rejected ${rejected}`,
  ])
  const parts = [
    ...(done.error === null ? [] : [done.error]),
    ...done.rejections.slice(0, rejectionsShown),
  ]
  if (done.status === 'failed') throw new Refusal(parts)
  for (const rejection of parts) env.err(`sources sync: ${rejection}`)
}

/** An id is one source's alone, whatever others are called. */
function sourceNamed(sources: readonly SourceLine[], name: string): SourceLine {
  const [first, ...others] = sources
  if (!first)
    throw new Error(
      `No data source has the name or id ${shownValue(name)}. Run wellhead sources list.`,
    )
  const byId = sources.find(source => source.id === name)
  if (byId || others.length === 0) return byId ?? first
  throw new Refusal([
    `${sources.length} data sources have the name ${name}; use the id of one of these:`,
    ...sourceTable(sources).flatMap(({ headings, rows }) => tableLines(headings, rows)),
  ])
}

/** `sources`: the data sources of all accounts. */
export function sourceCommands({ program, leaf, run }: CommandTools) {
  const sources = program.command('sources').description('manage data sources of accounts')
  leaf(sources, 'list', 'list data sources with their last sync').action(run(listSources))
  leaf(sources, 'sync', 'sync a data source now', ['<source>', 'name or id']).action(
    run(syncSource),
  )
}
