import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { csvCell } from '../../lib/text/csv.ts'
import { isoInstant } from '../../lib/time/instant.ts'
import type { QuarantineRow } from '../../topics/operator/operations/data/quarantine.ts'
import { datedExportText, writeText } from '../../topics/prices/files/export.ts'
import { type CommandEnvironment, commandEnvironment } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Operator } from '../operator.ts'
import { runDatasetImport } from './dataset.ts'
import { type ImportReporting, runImport } from './import.ts'
import type { ArchiveSource } from './pages.ts'
import { dataOf } from './writer.ts'

/** The manifest of an export directory. */
interface Manifest {
  wellhead_export: 1
  made_at: string
  /** Whether values that were replaced and deleted are in it. */
  history: boolean
  /** In the order in which they go in. */
  files: ArchivedFile[]
}

interface ArchivedFile {
  file: string
  dataset?: string
  /** It has rows of the dataset that stood before. */
  earlier?: true
  rows: number
}

const manifestName = 'wellhead-export.json'
const seriesName = 'series.ndjson'
const quarantineName = 'quarantine.ndjson'
const pricesName = 'prices.csv.gz'
const seriesEach = 500
const earlierEach = 1_000

/** Whether a path is a directory that an export of everything wrote. */
export const isArchive = (path: string): boolean =>
  existsSync(path) && statSync(path).isDirectory() && existsSync(join(path, manifestName))

/**
 * Writes all data of an instance into a new directory, one file per kind, as a single snapshot.
 * Throws where the directory is not empty.
 */
export async function writeArchive(
  dir: string,
  source: ArchiveSource,
  { history, now, err }: { history: boolean; now: number; err(line: string): void },
): Promise<void> {
  if (existsSync(dir) && readdirSync(dir).length > 0)
    throw new Error(`${dir} must be an empty or new directory`)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const files: Manifest['files'] = []
  const write = async (file: string, text: Lines, of: Partial<ArchivedFile> = {}) => {
    await writeText(join(dir, file), text.lines())
    files.push({ file, ...of, rows: text.rows() })
    err(`${join(dir, file)}: ${text.rows()} rows`)
  }
  await write(seriesName, countedLines(source.series(), jsonLine))
  for (const dataset of source.datasets) {
    const columns = source.columns(dataset)
    const text = countedLines(
      source.rows(dataset),
      row => csvLine(columns, row),
      `${columns.join(',')}\n`,
    )
    // A dataset without rows gets no file.
    if (source.hasRows(dataset)) await write(`${dataset}.csv`, text, { dataset })
  }
  // Follows all current rows, because a day of futures also refers to its ticks.
  for (const dataset of history ? source.earlierDatasets() : [])
    await write(
      `${dataset}.earlier.ndjson`,
      countedLines(source.earlierRows(dataset), row => jsonLine(withInstants(row))),
      { dataset, earlier: true },
    )
  await write(pricesName, countedText(datedExportText(source.prices(history), 'csv')))
  await write(quarantineName, countedLines(source.quarantine(), jsonLine))
  const manifest: Manifest = { wellhead_export: 1, made_at: isoInstant(now), history, files }
  writeFileSync(join(dir, manifestName), `${JSON.stringify(manifest, null, 2)}\n`)
  if (source.viewOnly() > 0)
    err(
      `export: ${source.viewOnly()} values come from feeds whose terms do not allow redistribution: use this export only yourself`,
    )
}

interface Lines {
  lines(): AsyncGenerator<string>
  rows(): number
}

const jsonLine = (row: object): string => `${JSON.stringify(row)}\n`

/** A row with its times as instants. */
const withInstants = (row: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      name.endsWith('_at') && typeof value === 'number' ? isoInstant(value) : value,
    ]),
  )

const csvLine = (columns: readonly string[], row: Readonly<Record<string, unknown>>): string =>
  `${columns.map(name => cellOf(name, row[name])).join(',')}\n`

/** Times are instants, everything else is as it is. */
function cellOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return name.endsWith('_at') ? isoInstant(value) : String(value)
  return csvCell(String(value))
}

const linesEach = 1_000

/** Writes rows as lines, many at a time, and counts them. */
function countedLines<Row>(rows: Iterable<Row>, line: (row: Row) => string, head = ''): Lines {
  let count = 0
  return {
    rows: () => count,
    async *lines() {
      let text = head
      for (const row of rows) {
        text += line(row)
        count += 1
        if (count % linesEach !== 0) continue
        yield text
        text = ''
      }
      if (text !== '') yield text
    },
  }
}

/** Counts the rows of finished lines, the first of which is the header. */
function countedText(text: AsyncIterable<string>): Lines {
  let count = -1
  return {
    rows: () => count,
    async *lines() {
      for await (const part of text) {
        for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) count += 1
        yield part
      }
    },
  }
}

interface SeriesLine {
  code: string
  own: boolean
  terms: Record<string, unknown>
}

interface ArchiveEnvironment extends ImportReporting {
  operator: Operator
  stdin: AsyncIterable<Uint8Array>
}

/**
 * Imports an export of everything as another instance recorded it: nothing is flagged, and every
 * value keeps its source and its recording time. Returns the exit code of an import.
 */
export async function readArchive(
  dir: string,
  options: { dryRun?: boolean; json?: boolean },
  env: ArchiveEnvironment,
): Promise<number> {
  const manifest = manifestOf(dir)
  if (options.dryRun || options.json)
    throw new Error(`${dir} is an export of everything: import it without --dry-run and --json`)
  const operator = commandEnvironment({ ...env, json: false, width: undefined })
  const series = linesOf<SeriesLine>(join(dir, seriesName))
  await recordSeries(operator, series)
  env.out(`${join(dir, seriesName)}: ${series.length} series`)
  let exit: number = exitCodes.done
  for (const { file, dataset, earlier } of manifest.files) {
    const path = join(dir, file)
    if (file === seriesName || file === quarantineName) continue
    if (earlier && dataset !== undefined) {
      const rows = await recordEarlierRows(operator, path, dataset)
      env.out(`${path}: ${rows} rows`)
      continue
    }
    const code =
      dataset === undefined
        ? await runImport(
            [path],
            { asRecorded: true },
            {
              ...env,
              ...(await dataOf(env.operator, { asRecorded: true })),
            },
          )
        : await runDatasetImport([path], { dataset, asRecorded: true }, env)
    if (code !== exitCodes.done && code !== exitCodes.incomplete) return code
    exit = Math.max(exit, code)
  }
  for (const { code, terms } of series.filter(line => line.terms.active === false))
    await operator.answer('PATCH', seriesPath(code), { active: terms.active })
  const ranges = await recordQuarantine(operator, linesOf(join(dir, quarantineName)))
  env.out(`${join(dir, quarantineName)}: ${ranges} ranges`)
  return exit
}

function manifestOf(dir: string): Manifest {
  const manifest = JSON.parse(readFileSync(join(dir, manifestName), 'utf8')) as Partial<Manifest>
  if (manifest.wellhead_export !== 1 || !Array.isArray(manifest.files))
    throw new Error(`${join(dir, manifestName)} was not written by an export of this version`)
  const missing = manifest.files.find(({ file }) => !existsSync(join(dir, file)))
  if (missing) throw new Error(`${join(dir, missing.file)} is missing`)
  return manifest as Manifest
}

const linesOf = <T>(path: string): T[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as T)

const seriesPath = (code: string) => `/admin/v1/series/${encodeURIComponent(code)}`

/** A retired series accepts no values, so it is retired after they are imported. */
const whileFilled = ({ active, ...terms }: Record<string, unknown>) =>
  active === false ? terms : { ...terms, ...(active !== undefined && { active }) }

async function recordSeries(operator: CommandEnvironment, series: readonly SeriesLine[]) {
  const listed = await operator.answer<{ code: string }[]>('GET', '/admin/v1/series')
  const listedCodes = new Set(listed.map(({ code }) => code))
  const added = series
    .filter(({ code, own }) => own && !listedCodes.has(code))
    .map(({ code, terms }) => ({ code, ...whileFilled(terms) }))
  for (let i = 0; i < added.length; i += seriesEach)
    await operator.answer('POST', '/admin/v1/series', { series: added.slice(i, i + seriesEach) })
  for (const { code, terms } of series.filter(({ code }) => listedCodes.has(code)))
    await operator.answer('PATCH', seriesPath(code), { reset: true, ...whileFilled(terms) })
}

/** Records earlier rows of a dataset; returns their number. */
async function recordEarlierRows(operator: CommandEnvironment, path: string, dataset: string) {
  const { batch } = await operator.answer<{ batch: { id: number } }>('POST', '/admin/v1/batches', {
    file_name: basename(path),
    dataset,
    as_recorded: true,
  })
  let count = 0
  for await (const rows of linePages(path, earlierEach)) {
    await operator.answer('POST', `/admin/v1/datasets/${dataset}`, {
      rows,
      batch: batch.id,
      earlier: true,
    })
    count += rows.length
  }
  await operator.answer('POST', `/admin/v1/batches/${batch.id}/end`, {
    superseded: 0,
    rejected: 0,
  })
  return count
}

/** Parses the lines of a file in batches, because the file may be large. */
async function* linePages(path: string, size: number): AsyncGenerator<unknown[]> {
  let page: unknown[] = []
  for await (const line of createInterface({ input: createReadStream(path) })) {
    page.push(JSON.parse(line))
    if (page.length < size) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

type RangeLine = Pick<QuarantineRow, 'code' | 'from' | 'to' | 'reason'>

async function recordQuarantine(operator: CommandEnvironment, ranges: readonly RangeLine[]) {
  const path = '/admin/v1/quarantine'
  const key = ({ code, from, to }: RangeLine) => `${code} ${from} ${to}`
  const listedRanges = new Set((await operator.answer<RangeLine[]>('GET', path)).map(key))
  for (const { code, from, to, reason } of ranges)
    if (!listedRanges.has(key({ code, from, to, reason })))
      await operator.answer('POST', path, { code, from, to, reason })
  return ranges.length
}
