import { SingleBar } from 'cli-progress'
import type { CodeLookup } from '../feed/catalogue/lookup.ts'
import type { FileReport, ImportReport, Progress } from '../feed/files/import.ts'
import { mappingOf } from '../feed/files/mapping.ts'
import { priceFields } from '../feed/prices/columns.ts'
import { importPrices, type PointWriter } from '../feed/prices/reader.ts'
import type { Clock } from '../lib/clock.ts'

export interface ImportOptions {
  series?: string
  /** `code=Col,observed_at=Col,price=Col` */
  map?: string
  /** What every value is multiplied by, as it was written. */
  scale?: string
  dryRun?: boolean
}

/** Where an import says how far it is and how it went. */
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
  writer: PointWriter
}

export const exitCodes = { everythingIn: 0, nothingDone: 1, someRejected: 2 } as const
const lineEveryMs = 5_000
const shownMax = 5

/**
 * Answers the exit code: 0 everything went in, 2 all but the rejected rows did, 1 the import was
 * refused or broke off.
 */
export async function runImport(
  files: readonly string[],
  options: ImportOptions,
  env: ImportEnvironment,
): Promise<number> {
  const began = env.clock.monotonic()
  const meter = meterFor(env)
  let written = 0
  const writer: PointWriter = {
    batchMax: env.writer.batchMax,
    async write(points) {
      const counts = await env.writer.write(points)
      written += points.length
      return counts
    },
  }
  try {
    if (files.length === 0) throw new Error('name at least one file, or - for standard input')
    const { catalogue, stdin } = env
    const mapping = options.map === undefined ? undefined : mappingOf(options.map, priceFields)
    const report = await importPrices({
      files,
      mapping,
      series: options.series,
      dryRun: options.dryRun,
      catalogue,
      writer,
      stdin,
      ...(options.scale !== undefined && { scale: Number(options.scale) }),
      now: env.clock.now(),
      progress: meter.show,
    })
    meter.stop()
    summarize(report, env.clock.monotonic() - began, options.dryRun === true, env)
    return report.rejected > 0 ? exitCodes.someRejected : exitCodes.everythingIn
  } catch (error) {
    meter.stop()
    env.err(`import: ${(error as Error).message}`)
    if (written > 0)
      env.err(
        `import: ${written} points were written before that; importing the same files again completes the rest`,
      )
    return exitCodes.nothingDone
  }
}

/** Says file by file what went in and what did not. */
export function summarize(
  report: ImportReport,
  ms: number,
  dryRun: boolean,
  env: ImportReporting,
): void {
  for (const file of report.files) {
    env.out(`${file.file}: ${countsOf(file, dryRun)}`)
    for (const { line, reason } of file.samples.slice(0, shownMax))
      env.err(`${file.file}:${line}: ${reason}`)
    const note = rejectedNote(file)
    if (note) env.err(`${file.file}: ${note}`)
  }
  if (report.files.length > 1) env.out(`total: ${countsOf(report, dryRun)}`)
  const seconds = ms / 1000
  const pace = seconds > 0 ? `, ${Math.round(report.read / seconds)} rows/s` : ''
  env.out(`${seconds.toFixed(2)} s${pace}${dryRun ? '; dry run: nothing was written' : ''}`)
}

function countsOf(counts: Omit<ImportReport, 'files'>, dryRun: boolean): string {
  const { read, points, inserted, revised, unchanged, superseded, blank, rejected } = counts
  const shown = dryRun
    ? { read, 'would be written': points, repeated: unchanged, superseded, blank, rejected }
    : { read, inserted, revised, unchanged, superseded, blank, rejected }
  const always = (name: string) => name !== 'superseded' && name !== 'repeated'
  return Object.entries(shown)
    .filter(([name, count]) => always(name) || count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

function rejectedNote({ rejected, rejectedPath, rejectedFault }: FileReport): string | undefined {
  if (rejectedFault !== undefined)
    return `the rejected lines could not be written: ${rejectedFault}`
  if (rejectedPath === undefined) return undefined
  return `${rejected} rejected, with their reasons in ${rejectedPath}; correct that file and import it`
}

export interface Meter {
  show(progress: Progress): void
  stop(): void
}

/** A bar on a terminal, otherwise a line every few seconds. */
export const meterFor = (env: ImportReporting): Meter =>
  env.terminal ? barOn(env.terminal) : linesTo(env)

const percentOf = ({ bytes, sizeBytes }: Progress) =>
  sizeBytes > 0 ? Math.min(100, Math.floor((100 * bytes) / sizeBytes)) : 100

function barOn(stream: NodeJS.WritableStream): Meter {
  const format = '{stage} {file} [{bar}] {percentage} %, {read} rows'
  // Ctrl-C ends the process without a word to the bar: nothing may be switched in the terminal that
  // would have to be put back.
  const bar = new SingleBar({
    format,
    stream,
    clearOnComplete: true,
    gracefulExit: false,
    hideCursor: false,
    linewrap: true,
  })
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

function linesTo({ err, clock }: ImportReporting): Meter {
  let last = clock.monotonic()
  return {
    show(progress) {
      if (clock.monotonic() - last < lineEveryMs) return
      last = clock.monotonic()
      err(`${progress.stage} ${progress.file}: ${percentOf(progress)} %, ${progress.read} rows`)
    },
    stop() {},
  }
}
