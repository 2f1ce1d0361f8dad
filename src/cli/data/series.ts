import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { fieldsOf, separatorOf } from '../../feeds/files/csv.ts'
import { withoutAbsent } from '../../lib/text/json.ts'
import { camelCase } from '../../lib/text/name-case.ts'
import { isTable, parseToml } from '../../lib/text/toml.ts'
import type { SeriesRow as SeriesLine } from '../../topics/operator/operations/data/series.ts'
import { type CommandEnvironment, type CommandTools, Refusal } from '../command.ts'
import { tableOf } from '../table.ts'

const path = '/admin/v1/series'
const pathOf = (code: string) => `${path}/${encodeURIComponent(code)}`

/** Attributes that are numbers, booleans or lists; all others are text. */
const numbers = new Set(['decimals', 'level', 'min', 'max', 'release_lag_days'])
const truths = new Set(['active', 'peak_holidays'])
const lists = new Set(['aliases', 'release_days', 'peak_days'])

/** The options of one series, each with the attribute that it sets. */
const termOptions: readonly (readonly [flag: string, about: string])[] = [
  ['--name <text>', 'display name'],
  ['--category <word>', 'a category of the catalogue, or a new one'],
  ['--unit <word>', 'unit of the price: barrel, mwh, ...'],
  ['--currency <code>', 'three-letter currency code, or none'],
  ['--decimals <number>', 'decimals that prices are rounded to'],
  ['--cadence <word>', 'intraday_2_5m, intraday_5m, twice_daily, daily, weekly or monthly'],
  ['--source <text>', 'publisher of the values'],
  ['--description <text>', 'description of the series'],
  ['--level <number>', 'a typical value'],
  ['--min <number>', 'smaller values are rejected'],
  ['--max <number>', 'larger values are rejected'],
  ['--calendar <word>', 'us_energy, london_energy, fx, weekday, every_day, ...'],
  ['--release-lag-days <number>', 'days between the date of a value and its release'],
  ['--release-days <days>', 'release days: wed, or mon,thu, or days of the month: 15, last'],
  ['--release-time <HH:MM>', 'release time on --release-days, in --time-zone'],
  ['--release-holiday <word>', 'if a release day is closed: after, before or skip'],
  ['--time-zone <zone>', 'time zone of --value-time and --release-time'],
  ['--value-time <HH:MM>', 'time of day for values that have only a date'],
  ['--license-class <word>', 'open or view'],
  ['--attribution <text>', 'required attribution'],
  ['--aliases <names>', 'other names, comma-separated'],
  [
    '--visible-to <accounts>',
    'ids or addresses of the accounts that can see it, comma-separated; all',
  ],
  ['--guards <pairs>', 'actions of the validation rules: jump=off,repeat=hold'],
  ['--formula <text>', 'how its values are computed: "BRENT_CRUDE_USD - WTI_USD"'],
  ['--align <word>', 'when a formula has values: last, same_day or drop'],
  ['--align-limit <duration>', 'how old the newest value of a leg may be: P7D'],
  ['--time <word>', 'observed, or delivery (values apply to delivery periods)'],
  ['--resolution <word>', 'length of a delivery period: PT5M, PT15M, PT30M, PT1H or P1D'],
  ['--resolutions <pairs>', 'resolutions by market day: 2018-10-01=PT1H,2025-10-01=PT15M'],
  ['--zone <zone>', 'time zone of the market day: Europe/Berlin'],
  ['--day-starts <HH:MM>', 'when the market day begins, in --zone'],
  ['--horizon <duration>', 'how far ahead a period may begin: P2D'],
  ['--gate-closes <HH:MM>', 'when the auction closes, on the day before delivery'],
  ['--publishes-at <HH:MM>', 'when prices are published, on the day before delivery'],
  ['--peak-hours <HH:MM-HH:MM>', 'peak hours, in --zone'],
  ['--peak-days <days>', 'days with peak hours: mon,tue,wed,thu,fri'],
  ['--peak-holidays <word>', 'true: closed days of --calendar have no peak hours'],
]

/** Parses guard actions from `jump=off,repeat=hold`. */
export const guardsOf = (text: string): Record<string, string> =>
  Object.fromEntries(text.split(',').map(pair => pair.split('=').map(part => part.trim())))

/** Resolutions by their first market day, from `2018-10-01=PT1H,2025-10-01=PT15M`. */
const resolutionsOf = (text: string) =>
  text.split(',').map(pair => {
    const [from, resolution] = pair.split('=').map(part => part.trim())
    return { from, resolution }
  })

/** Parses the value of an attribute for the API; an empty text removes the attribute. */
function termOf(name: string, text: string): unknown {
  const value = text.trim()
  if (name === 'currency') return value === '' || value === 'none' ? null : value
  if (value === '') return null
  if (numbers.has(name)) return Number.isNaN(Number(value)) ? value : Number(value)
  if (truths.has(name)) return value === 'true' ? true : value === 'false' ? false : value
  if (name === 'guards') return guardsOf(value)
  if (name === 'visible_to') return value === 'all' ? null : value.split(/[\s,;]+/).filter(Boolean)
  if (name === 'resolutions') return resolutionsOf(value)
  if (lists.has(name)) return value.split(/[\s,;]+/).filter(Boolean)
  return value
}

type Terms = Record<string, unknown>

/** The name of a term from its option. */
const termName = (flag: string) => flag.slice(2, flag.indexOf(' ')).replaceAll('-', '_')

/** The columns that a file of series may have. */
const fileTerms: readonly string[] = [
  'code',
  ...termOptions.map(([flag]) => termName(flag)),
  'active',
]

/** Refuses an unknown attribute, because its value would be ignored silently. */
function refuseUnknown(names: readonly string[], where: string) {
  const unknown = names.find(name => !fileTerms.includes(name))
  if (unknown !== undefined)
    throw new Error(
      `${where}: ${unknown} is not a field of a series; the fields are: ${fileTerms.join(', ')}`,
    )
}

/** Attributes that are lists or pairs, which a table may write in the form of the options. */
const composed = new Set(['visible_to', 'guards', 'resolutions', ...lists])

function termsOfTable(table: Terms, where: string): Terms {
  refuseUnknown(Object.keys(table), where)
  return Object.fromEntries(
    Object.entries(table).map(([name, value]) => [
      name,
      composed.has(name) && typeof value === 'string' ? termOf(name, value) : value,
    ]),
  )
}

function termsOf(options: Record<string, unknown>): Terms {
  const terms: Terms = {}
  for (const [flag] of termOptions) {
    const name = termName(flag)
    const option = camelCase(name)
    const value = options[option]
    if (typeof value === 'string') terms[name] = termOf(name, value)
  }
  return terms
}

/** A series from a file, with its line. */
interface FileSeries {
  terms: Terms
  /** `marks.csv:3`. */
  where: string
}

/** The series of a TOML file (`[[series]]`) or of a CSV whose columns are named as the terms. */
export function seriesOfFile(file: string, text: string): FileSeries[] {
  if (file.endsWith('.toml')) {
    const toml = parseToml(text)
    if ('fault' in toml) throw new Error(`${file}:${toml.line}:${toml.column}: ${toml.fault}`)
    const { series } = toml.table as { series?: unknown }
    if (!Array.isArray(series))
      throw new Error(`${file} must have a [[series]] table for each series`)
    return series.map((table: unknown, i) => {
      const where = `${file}: [[series]] ${i + 1}`
      if (!isTable(table))
        throw new Error(`${where} must be a table: write [[series]] and its fields`)
      return { terms: termsOfTable(table, where), where }
    })
  }
  const [header = '', ...lines] = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const separator = separatorOf(header)
  const names = fieldsOf(header, separator) ?? []
  if (!names.includes('code'))
    throw new Error(`${file} must have a column code, and one for each other field, such as unit`)
  refuseUnknown(names, `${file}:1`)
  return lines.flatMap((line, i) => {
    if (line.trim() === '') return []
    const values = fieldsOf(line, separator)
    if (values?.length !== names.length)
      throw new Error(
        `${file}:${i + 2}: a row must have ${names.length} fields, like the first line`,
      )
    const terms = names.map((name, column) => [name, termOf(name, values[column]!)] as const)
    const written = terms.filter(([name, value]) => value !== null || name === 'currency')
    return [{ terms: Object.fromEntries(written), where: `${file}:${i + 2}` }]
  })
}

const seriesTable = (series: readonly SeriesLine[]) =>
  tableOf(series, {
    CODE: 'code',
    NAME: 'name',
    CATEGORY: 'category',
    UNIT: series => (series.currency === null ? series.unit : `${series.currency}/${series.unit}`),
    CADENCE: series => series.resolution ?? series.cadence,
    SOURCE: 'source',
    STATUS: series =>
      `${series.own ? 'custom' : 'shipped'}${series.active ? '' : ', retired'}${series.has_data ? '' : ', no data'}`,
    'NEXT RELEASE': 'next_release_at',
    CHANGED: series => (series.own ? '-' : series.changed.join(' ') || '-'),
  })

/** Replaces the e-mail addresses of accounts by their ids, which the API takes. */
async function withAccountIds(env: CommandEnvironment, terms: Terms): Promise<Terms> {
  const { visible_to: named } = terms
  if (!Array.isArray(named)) return terms
  const ids: string[] = []
  for (const who of named as string[]) ids.push((await env.accountPath(who)).split('/').at(-1)!)
  return { ...terms, visible_to: ids }
}

const addSeries = async (
  env: CommandEnvironment,
  code: string | undefined,
  { file, ...options }: Record<string, unknown> & { file?: string },
): Promise<void> => {
  if ((code === undefined) === (file === undefined))
    throw new Error('give one code with its options, or --file with a TOML or CSV of many')
  if (file !== undefined) return await addFile(env, seriesOfFile(file, readFileSync(file, 'utf8')))
  const body = await withAccountIds(env, { currency: null, ...termsOf(options), code })
  await create(env, body)
}

/** Creates series; misspelled words in them are reported, and refused nowhere. */
async function create(env: CommandEnvironment, body: Terms): Promise<void> {
  const { series, warnings = [] } = await env.answer<{
    series: SeriesLine[]
    warnings?: { code: string; message: string }[]
  }>('POST', path, body)
  env.print(series, seriesTable)
  for (const { code, message } of warnings) env.err(`series add: ${code}: ${message}`)
}

/** Adds all series or none; faults are located by their line in the file. */
async function addFile(env: CommandEnvironment, rows: readonly FileSeries[]): Promise<void> {
  const all = await Promise.all(rows.map(({ terms }) => withAccountIds(env, terms)))
  try {
    await create(env, { series: all })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(
      error.lines.map(line =>
        line.replace(/^series\.(\d+)\.?/, (_, row) => `${rows[Number(row)]!.where}: `),
      ),
    )
  }
}

const changeSeries = async (
  env: CommandEnvironment,
  method: 'PATCH' | 'DELETE',
  code: string,
  change?: Terms,
): Promise<void> => {
  if (change && Object.keys(withoutAbsent(change)).length === 0)
    throw new Error('name at least one field to change, such as --name; --help lists them')
  const body = change && (await withAccountIds(env, change))
  const { series } = await env.answer<{ series: SeriesLine }>(method, pathOf(code), body)
  env.print([series], seriesTable)
}

const listSeries = async (
  env: CommandEnvironment,
  { own, changed }: { own?: boolean; changed?: boolean },
): Promise<void> => {
  const filter = new URLSearchParams({
    ...(own && { own: 'true' }),
    ...(changed && { changed: 'true' }),
  })
  await env.show(seriesTable, 'GET', `${path}?${filter}`)
}

/**
 * `series`: custom series of the operator, and attributes that override those of shipped series.
 */
export function seriesCommands({ program, leaf, run }: CommandTools) {
  const series = program
    .command('series')
    .description('manage custom series and override shipped ones')
  const withTerms = (command: Command) =>
    termOptions.reduce((made, [flag, about]) => made.option(flag, about), command)
  withTerms(leaf(series, 'add', 'create one or more custom series', ['[code]']))
    .option('--file <file>', 'TOML with [[series]], or CSV with a column for each field')
    .action(run(addSeries))
  withTerms(leaf(series, 'edit', 'change a custom or shipped series', ['<code>']))
    .option('--active', 'reactivate a retired series, or serve a shipped one without a source')
    .option('--reset', 'reset all earlier settings')
    .action(
      run((env, code: string, options: Record<string, unknown>) =>
        changeSeries(env, 'PATCH', code, {
          ...termsOf(options),
          ...(options.active === true && { active: true }),
          ...(options.reset === true && { reset: true }),
        }),
      ),
    )
  leaf(series, 'retire', 'retire a series: it is listed as discontinued, and nothing is deleted', [
    '<code>',
  ]).action(run((env, code: string) => changeSeries(env, 'DELETE', code)))
  leaf(series, 'list', 'list the series')
    .option('--own', 'only custom series')
    .option('--changed', 'only series with changed settings')
    .action(run(listSeries))
}
