import { errorText } from '../../lib/files/error-text.ts'
import { OutputFault } from '../../lib/process/output.ts'
import { unknownName, wrongValue } from '../../lib/text/wrong-value.ts'
import type { CodeLookup, SeriesIdentity } from '../../topics/catalogue/math/lookup.ts'
import {
  type DatedExportPages,
  datedExportText,
  type ExportFormat,
  type ExportPages,
  exportText,
  formatOf,
  writeText,
} from '../../topics/prices/files/export.ts'
import { exitCodeOf } from '../exit-codes.ts'

export interface ExportOptions {
  /** A file, packed when its name ends in `.gz`; `-` or nothing is standard output. */
  output?: string
  /** `csv` or `ndjson`; by default from the file's name, otherwise CSV. */
  format?: string
  /** Every value that was ever replaced or deleted too, with sources and times. */
  history?: boolean
}

export interface ExportEnvironment {
  /** Writes text to standard output; resolves when more may be sent. */
  out(text: string): void | Promise<void>
  /** One line of standard error. */
  err(line: string): void
  catalogue: CodeLookup
  /** The rows of these series, or of all, in the order of code and time. */
  pages(series: readonly SeriesIdentity[] | undefined): ExportPages
  /** The same with every value that they ever had. */
  datedPages?(series: readonly SeriesIdentity[] | undefined): DatedExportPages
  /** How many values of these pages were left out because they may not be passed on. */
  withheldCount?(): number
}

const everythingOut = 0

/**
 * Returns the exit code: 0 if all rows were written, 1 if the export was refused or interrupted.
 */
export async function runExport(
  codes: readonly string[],
  options: ExportOptions,
  env: ExportEnvironment,
): Promise<number> {
  const { output = '-' } = options
  let rows = 0
  try {
    const format = formatFor(options.format, output)
    const series = seriesOf(codes, env.catalogue)
    const count = (added: number) => {
      rows += added
    }
    const text = options.history
      ? datedExportText(countedRows(env.datedPages!(series), count), format)
      : exportText(countedRows(env.pages(series), count), format)
    if (output === '-') for await (const part of text) await env.out(part)
    else await writeText(output, text)
  } catch (error) {
    if (error instanceof OutputFault && error.isClosed) return everythingOut
    env.err(`export: ${errorText(error)}`)
    return exitCodeOf(error)
  }
  if (output !== '-') env.err(`${output}: ${rows} rows`)
  const withheld = env.withheldCount?.() ?? 0
  if (withheld > 0)
    env.err(
      `export: ${withheld} values are excluded: the terms of their feeds do not allow redistribution`,
    )
  return everythingOut
}

function formatFor(format: string | undefined, output: string): ExportFormat {
  if (format === undefined) return formatOf(output)
  if (format === 'csv' || format === 'ndjson') return format
  throw new Error(wrongValue('--format', 'csv or ndjson', format, ['csv', 'ndjson']))
}

function seriesOf(codes: readonly string[], catalogue: CodeLookup): SeriesIdentity[] | undefined {
  if (codes.length === 0) return undefined
  const seriesById = new Map<number, SeriesIdentity>()
  for (const code of codes) {
    const series = catalogue.find(code)
    const nearest = series ? undefined : catalogue.nearest(code)
    if (!series)
      throw new Error(
        nearest === undefined
          ? `${unknownName('code', code)} "wellhead codes" searches the catalogue.`
          : unknownName('code', code, [nearest]),
      )
    seriesById.set(series.id, series)
  }
  return [...seriesById.values()].sort((a, b) => (a.code < b.code ? -1 : 1))
}

async function* countedRows<Row>(
  pages: Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>,
  add: (rows: number) => void,
): AsyncGenerator<readonly Row[]> {
  for await (const page of pages) {
    add(page.length)
    yield page
  }
}
