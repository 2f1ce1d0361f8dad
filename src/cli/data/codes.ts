import type { SeriesRow as SeriesLine } from '../../topics/operator/operations/data/series.ts'
import type { CommandEnvironment, CommandTools } from '../command.ts'
import { tableOf } from '../table.ts'

interface CodesOptions {
  withData?: boolean
}

/** Finds series whose description contains every word; matches in the code come first. */
function matching(rows: readonly SeriesLine[], words: readonly string[]): SeriesLine[] {
  const wanted = words.map(word => word.toLowerCase())
  const textOf = (row: SeriesLine) =>
    [row.code, row.name, row.unit, row.source, ...row.aliases].join(' ').toLowerCase()
  const inCode = (row: SeriesLine) =>
    wanted.filter(word => row.code.toLowerCase().split('_').includes(word)).length
  return rows
    .filter(row => {
      const text = textOf(row)
      return wanted.every(word => text.includes(word))
    })
    .sort((a, b) => inCode(b) - inCode(a) || (a.code < b.code ? -1 : 1))
}

const searchCodes = async (
  env: CommandEnvironment,
  words: readonly string[],
  options: CodesOptions,
) => {
  const all = await env.answer<SeriesLine[]>('GET', '/admin/v1/series')
  const rows = matching(all, words).filter(row => !options.withData || row.has_data)
  env.print(rows, list =>
    list.length === 0
      ? [`No code matches ${words.join(' and ')} in its code, name, aliases, unit or source.`]
      : tableOf(list, {
          CODE: 'code',
          NAME: 'name',
          UNIT: row => (row.currency === null ? row.unit : `${row.currency}/${row.unit}`),
          CADENCE: 'cadence',
          SOURCE: 'source',
          DATA: row => (row.has_data ? 'yes' : row.active ? 'none yet' : 'none'),
        }),
  )
}

/** `codes`: lists all codes, including those without data, which the API does not list. */
export function codeCommands({ program, leaf, run }: CommandTools) {
  const codes = program.command('codes').description('search the catalogue of codes')
  leaf(codes, 'search', 'list codes that match all words, including codes without data', [
    '<words...>',
    'words of the code, its name, aliases, unit or source',
  ])
    .option('--with-data', 'only codes with data')
    .action(run(searchCodes))
}
