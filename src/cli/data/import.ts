import type { FileReport, ImportReport, Progress } from '../../feeds/files/import.ts'
import { mappingOf } from '../../feeds/files/mapping.ts'
import type { SourceOpener } from '../../feeds/files/source.ts'
import type { Notation, SpellingOptions } from '../../feeds/files/spelling.ts'
import { createOpener } from '../../feeds/formats/open.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { isoInstant } from '../../lib/time/instant.ts'
import type { CodeLookup } from '../../topics/catalogue/math/lookup.ts'
import { priceFields } from '../../topics/prices/files/columns.ts'
import { importPrices, type PointWriter } from '../../topics/prices/files/import.ts'
import type { Comparison } from '../../topics/prices/service/checks/comparison.ts'
import type { Point } from '../../topics/prices/store/observations.ts'
import { exitCodeOf, exitCodes } from '../exit-codes.ts'
import { progressBar } from '../progress.ts'
import { checkLines, createImportCheck, type ImportCheck } from './import-check.ts'

/** Options that imports of prices and of datasets share. */
export interface FileOptions extends SpellingOptions {
  /** `code=Col,observed_at=Col,price=Col`, once or several times */
  map?: string | readonly string[]
  sheet?: string
  headerRow?: string
  records?: string
  dryRun?: boolean
  /** The result as JSON on standard output. */
  json?: boolean
}

export interface ImportOptions extends FileOptions {
  series?: string
  /** The factor for every value, as it was written. */
  scale?: string
  /** The name of the values' source. */
  source?: string
  /** The values are stored as another instance recorded them. */
  asRecorded?: boolean
  /** Imports even if a coarser file would replace a finer one, or many values would be revised. */
  replace?: boolean
}

/** The output of an import: its progress and its result. */
export interface ImportReporting {
  /** One line of standard output. */
  out(line: string): void
  /** One line of standard error. */
  err(line: string): void
  /** The terminal that the progress bar is drawn on; undefined for plain lines. */
  terminal: NodeJS.WritableStream | undefined
  clock: Clock
}

export interface ImportEnvironment extends ImportReporting {
  stdin: AsyncIterable<Uint8Array>
  catalogue: CodeLookup
  writer: Omit<PointWriter, 'compare'> & {
    /** Reports what a write would change; nothing is written. */
    compare?(points: readonly Point[]): Comparison | Promise<Comparison>
    /** Whether anything is recorded that an import could replace. */
    hasData?: boolean
  }
}

const lineEveryMs = 5_000
const shownMax = 5

/**
 * Returns the exit code: 0 if everything was imported, 2 if all but held or rejected rows were, 1
 * if the import was refused or interrupted.
 */
export async function runImport(
  files: readonly string[],
  options: ImportOptions,
  env: ImportEnvironment,
): Promise<number> {
  const began = env.clock.monotonic()
  const meter = await meterFor(env)
  let written = 0
  const check = createImportCheck()
  const { compare } = env.writer
  const writer: PointWriter = {
    batchMax: env.writer.batchMax,
    ...(compare && {
      async compare(all) {
        const points = all.filter(point => !point.deleted)
        const part = await compare(points)
        check.add(part)
        return part
      },
    }),
    attribute: publisher => env.writer.attribute?.(publisher),
    begin: file => env.writer.begin?.(file),
    end: left => env.writer.end?.(left),
    async write(points) {
      const counts = await env.writer.write(points)
      written += points.length
      return counts
    },
  }
  try {
    if (files.length === 0) throw new Error('name at least one file, or - for standard input')
    const { catalogue, stdin } = env
    const mapping = mappingOf(options.map ?? [], priceFields)
    const isMapped = mapping.size > 0 || options.series !== undefined
    const isChecked = env.writer.hasData && !options.replace && !options.asRecorded
    const report = await importPrices({
      files,
      mapping,
      series: options.series,
      dryRun: options.dryRun === true,
      open: openerOf(options, isMapped),
      spelling: options,
      asRecorded: options.asRecorded === true,
      catalogue,
      writer,
      stdin,
      ...(options.scale !== undefined && { scale: Number(options.scale) }),
      now: env.clock.now(),
      progress: meter.show,
      refuse: isChecked ? () => refuseReplacing(check) : undefined,
    })
    meter.stop()
    if (options.dryRun && !options.json) for (const line of checkLines(check)) env.out(line)
    for (const warning of options.dryRun ? check.warnings() : [])
      env.err(`${warning}; refused without --replace`)
    for (const note of check.revertedNotes()) env.err(note)
    // Files that replace what is recorded are written without a comparison.
    const isCompared = options.dryRun || !(options.replace || options.asRecorded)
    const more = isCompared ? { reverted: check.reverted() } : {}
    return conclude(report, env.clock.monotonic() - began, options, env, more)
  } catch (error) {
    meter.stop()
    return giveUp(error as Error, { count: written, what: 'points' }, options, env)
  }
}

/** Throws if the import would have an effect that is probably a mistake. */
function refuseReplacing(check: ImportCheck) {
  const warnings = check.warnings()
  if (warnings.length > 0)
    throw new Error(`${warnings.join('; ')}. Nothing was written; --replace imports it anyway`)
}

/** Opens the files of an import of whatever format. */
export const openerOf = (
  { sheet, headerRow, records }: FileOptions,
  isMapped: boolean,
): SourceOpener =>
  createOpener({
    isMapped,
    ...(sheet !== undefined && { sheet }),
    ...(headerRow !== undefined && { headerRow }),
    ...(records !== undefined && { records }),
  })

/** Prints the reason why an import stopped, and returns its exit code. */
export function giveUp(
  error: Error,
  written: { count: number; what: 'points' | 'rows' },
  { json }: FileOptions,
  env: ImportReporting,
): number {
  env.err(`import: ${error.message}`)
  if (written.count > 0)
    env.err(
      `import: at least ${written.count} ${written.what} were written before that; import the same files again to complete the rest`,
    )
  const exit = exitCodeOf(error)
  if (json)
    env.out(
      JSON.stringify({
        exit_code: exit,
        error: { message: error.message },
        written: written.count,
      }),
    )
  return exit
}

/**
 * Reports the counts of an import, and returns the exit code. An empty file counts like rejected
 * rows, so that a scheduled import does not take it for a success.
 */
export function conclude(
  report: ImportReport,
  ms: number,
  options: FileOptions,
  env: ImportReporting,
  more: object = {},
): number {
  const dryRun = options.dryRun === true
  const isIncomplete = report.rejected > 0 || report.held > 0 || report.files.some(isEmpty)
  const exit = isIncomplete ? exitCodes.incomplete : exitCodes.done
  if (options.json) {
    for (const file of report.files) for (const line of remarksOn(file, dryRun)) env.err(line)
    env.out(JSON.stringify({ ...resultOf(report, ms, dryRun, exit), ...more }, null, 2))
  } else summarize(report, ms, dryRun, env)
  return exit
}

const isEmpty = (file: FileReport): boolean => file.read === 0

const emptyNote = (file: FileReport): string =>
  `${file.file} has a header but no rows: nothing was imported from it`

const wireCounts = (counts: Omit<ImportReport, 'files'>) => ({
  read: counts.read,
  inserted: counts.inserted,
  revised: counts.revised,
  unchanged: counts.unchanged,
  superseded: counts.superseded,
  blank: counts.blank,
  rejected: counts.rejected,
  held: counts.held,
  kept_as_corrected: counts.kept,
})

/**
 * The result of an import for `--json`. In a dry run `would_be_written` is the number of values
 * that were not written.
 */
function resultOf(report: ImportReport, ms: number, dryRun: boolean, exit: number) {
  return {
    exit_code: exit,
    dry_run: dryRun,
    took_ms: Math.round(ms),
    ...wireCounts(report),
    ...(dryRun && { would_be_written: report.points }),
    recorded_at: report.recordedAt > 0 ? isoInstant(report.recordedAt) : null,
    files: report.files.map(file => ({
      file: file.file,
      ...wireCounts(file),
      ...(dryRun && { would_be_written: file.points }),
      rejected_path: file.rejectedPath ?? null,
      rejections: file.samples,
      superseded_lines: file.supersededLines.map(({ line }) => line),
      problem: isEmpty(file) ? emptyNote(file) : (file.rejectedFault ?? null),
    })),
  }
}

/** Facts about a file to report in addition to its counts. */
function remarksOn(file: FileReport, dryRun: boolean): string[] {
  const lines = file.samples
    .slice(0, shownMax)
    .map(({ line, reason }) => `${file.file}:${line}: ${reason}`)
  const replaced = supersededNote(file)
  if (replaced) lines.push(`${file.file}: ${replaced}`)
  const note = rejectedNote(file)
  if (note) lines.push(`${file.file}: ${note}`)
  lines.push(...notationNotes(file).map(note => `${file.file}: ${note}`))
  if (isEmpty(file)) lines.push(emptyNote(file))
  if (!dryRun) lines.push(...decisionNotes(file).map(note => `${file.file}: ${note}`))
  return lines
}

/** Prints for each file how many rows were imported, rejected and held. */
function summarize(report: ImportReport, ms: number, dryRun: boolean, env: ImportReporting): void {
  for (const file of report.files) {
    env.out(`${file.file}: ${countsOf(file, dryRun)}`)
    for (const line of remarksOn(file, dryRun)) env.err(line)
  }
  if (report.files.length > 1) env.out(`total: ${countsOf(report, dryRun)}`)
  const seconds = ms / 1000
  const pace = seconds > 0 ? `, ${Math.round(report.read / seconds)} rows/s` : ''
  env.out(`${seconds.toFixed(2)} s${pace}${dryRun ? '; dry run: nothing was written' : ''}`)
}

function countsOf(counts: Omit<ImportReport, 'files'>, dryRun: boolean): string {
  const { read, points, inserted, revised, unchanged, superseded, blank, rejected, held } = counts
  const kept = counts.kept > 0 ? { 'kept as corrected': counts.kept } : {}
  const shown = dryRun
    ? {
        read,
        'would be written': points,
        inserted,
        revised,
        unchanged,
        superseded,
        blank,
        rejected,
        held,
        ...kept,
      }
    : { read, inserted, revised, unchanged, superseded, blank, rejected, held, ...kept }
  const optional = dryRun
    ? ['inserted', 'revised', 'unchanged', 'superseded', 'held']
    : ['superseded', 'held']
  const always = (name: string) => !optional.includes(name)
  return Object.entries(shown)
    .filter(([name, count]) => always(name) || count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

/** Notes about values that wait for review, or were left out because of a decision. */
function decisionNotes({ held, kept }: FileReport): string[] {
  const values = (count: number) => (count === 1 ? '1 value is' : `${count} values are`)
  const notes: string[] = []
  if (held > 0) notes.push(`${values(held)} held for review; wellhead review list shows why`)
  if (kept > 0)
    notes.push(
      `${values(kept)} kept as corrected: the file repeats values that were corrected, deleted, undone or rejected here. wellhead review list --status all shows it; --replace imports it, unless it was rejected`,
    )
  return notes
}

/** Lists lines that a later line of the same file contradicts; the later one counts. */
function supersededNote({ superseded, supersededLines }: FileReport): string | undefined {
  if (superseded === 0) return undefined
  const shown = supersededLines.slice(0, shownMax).map(({ line }) => line)
  const more = superseded > shown.length ? ` and ${superseded - shown.length} more` : ''
  const noun = superseded === 1 ? 'line' : 'lines'
  return `a later line has a different value for the same time and replaces ${noun} ${shown.join(', ')}${more}`
}

const notationWords: Readonly<Record<Notation, string>> = {
  decimal_comma: 'if the comma is the decimal mark, add --decimal-comma',
  date_format: 'if the days have one other format, name it, such as --date-format DD.MM.YYYY',
  time_format:
    'if the times have one other format, name it with their zone, such as --date-format "DD.MM.YYYY HH:mm" --zone Europe/Berlin',
}

/** Names the options for a file that has another notation of numbers or days. */
const notationNotes = ({ notations }: FileReport): string[] =>
  [...notations].map(notation => notationWords[notation])

function rejectedNote({ rejected, rejectedPath, rejectedFault }: FileReport): string | undefined {
  if (rejectedFault !== undefined)
    return `the rejected lines could not be written: ${rejectedFault}`
  if (rejectedPath === undefined) return undefined
  return `${rejected} rejected, with their reasons in ${rejectedPath}; correct that file and import it`
}

export type Meter = ReturnType<typeof linesTo>

/** A bar on a terminal, otherwise a line every few seconds. */
export const meterFor = async (env: ImportReporting): Promise<Meter> =>
  env.terminal ? await barOn(env.terminal) : linesTo(env)

const percentOf = ({ bytes, sizeBytes }: Progress) =>
  sizeBytes > 0 ? Math.min(100, Math.floor((100 * bytes) / sizeBytes)) : 100

async function barOn(stream: NodeJS.WritableStream): Promise<Meter> {
  const bar = await progressBar(stream, '{stage} {file} [{bar}] {percentage}%, {read} rows')
  let running = false
  let current = ''
  return {
    show(progress) {
      const { stage, file, bytes, sizeBytes, read } = progress
      if (current !== `${stage} ${file}`) {
        if (running) bar.stop()
        bar.start(Math.max(1, sizeBytes), 0, { stage, file, read: 0 })
        running = true
        current = `${stage} ${file}`
      }
      bar.update(Math.min(bytes, sizeBytes), { stage, file, read })
    },
    stop() {
      if (running) bar.stop()
      running = false
    },
  }
}

function linesTo({ err, clock }: ImportReporting) {
  let last = clock.monotonic()
  let shown = ''
  return {
    show(progress: Progress) {
      if (clock.monotonic() - last < lineEveryMs) return
      last = clock.monotonic()
      const line = `${progress.stage} ${progress.file}: ${percentOf(progress)}%, ${progress.read} rows`
      // A log file does not need the same line twice.
      if (line === shown) return
      shown = line
      err(line)
    },
    stop() {},
  }
}
