import type { Log } from '../../lib/log/log.ts'
import { createPause } from '../../lib/process/slices.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { hourMs, isDueAgain, isoDay, minuteMs, parseDay } from '../../lib/time/instant.ts'
import type {
  FileContent,
  FileFailure,
  FileRows,
  PriceFiles,
  WantedFiles,
} from '../../topics/prices/service/exports/price-files.ts'
import type { Services } from '../services/services.ts'
import type { Job } from './job.ts'

export interface PriceFilesJobDeps {
  files: PriceFiles
  wanted(): Promise<WantedFiles>
  read(content: FileContent): Promise<FileRows>
  clock: Pick<Clock, 'now'>
  log: Log
}

/** What the files are made from: the answers of the operator's own exports. */
export function priceFileSource(
  {
    catalogue,
    datasets,
    observations,
    quarantine,
  }: Pick<Services, 'catalogue' | 'datasets' | 'observations' | 'quarantine'>,
  ask: (request: Request) => Response | Promise<Response>,
): Pick<PriceFilesJobDeps, 'wanted' | 'read'> {
  // The files are for all customers, so restricted series are left out.
  const everybodys = () => catalogue.list().filter(series => catalogue.isVisible(series, ''))
  /** The spans of series with values, and with `withPast` those in which they had values. */
  const spansOf = (withPast: boolean): Span[] => {
    const series = everybodys()
    const ids = new Set(series.map(({ id }) => id))
    return [
      ...series.flatMap(each => {
        const extent = catalogue.extent(each)
        const has: Span['has'] = (from, to) => observations.between(each.id, from, to, 1).length > 0
        return extent ? [{ ...extent, seriesId: each.id, has }] : []
      }),
      // A year of which every value was removed has no price, and a past.
      ...(withPast ? observations.revisedSpans() : [])
        .filter(({ seriesId }) => ids.has(seriesId))
        .map(span => ({
          ...span,
          has: (from: number, to: number) => observations.isRevised(span.seriesId, from, to),
        })),
    ]
  }
  /** The years that have something: one value with a wrong year makes no files of those between. */
  const years = async (kind: 'prices' | 'vintages'): Promise<number[]> => {
    const pause = createPause(sliceMs)
    const spans = spansOf(kind === 'vintages')
    const found: number[] = []
    const first = Math.min(...spans.map(span => yearOf(span.firstAt)))
    const last = Math.max(...spans.map(span => yearOf(span.lastAt)))
    for (let year = first; year <= last; year += 1) {
      const [from, to] = [startOf(year), startOf(year + 1)]
      const has = (span: Span) =>
        span.firstAt < to &&
        from <= span.lastAt &&
        quarantine.clear(span.seriesId, from, to).some(days => span.has(days.from, days.to))
      if (spans.some(has)) found.push(year)
      await pause()
    }
    return found
  }
  const answerOf = async (path: string): Promise<Response> => {
    const answer = await ask(new Request(`http://localhost/admin/v1/${path}`))
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return answer
  }
  /**
   * The years of all rows that a dataset ever had. A worker reads them, because there may be many.
   */
  const yearsOf = async (name: string): Promise<string[]> => {
    const answer = await answerOf(`datasets/${name}/years`)
    return ((await answer.json()) as { data: { years: string[] } }).data.years
  }
  const wanted = async (): Promise<WantedFiles> => {
    const failures: FileFailure[] = []
    const contents: FileContent[] = []
    for (const kind of ['prices', 'vintages'] as const)
      for (const year of await years(kind)) contents.push({ kind, of: String(year) })
    for (const { name } of datasets) contents.push({ kind: 'datasets', of: name })
    for (const { name, recordTable } of datasets)
      if (recordTable)
        try {
          for (const year of await yearsOf(name)) contents.push({ kind: name, of: year })
        } catch (error) {
          failures.push({ kind: name, name: '', reason: (error as Error).message })
        }
    return { contents, failures }
  }
  const pathOf = ({ kind, of }: FileContent): string => {
    if (kind === 'datasets') return `datasets/${of}/file`
    const isHistory = kind === 'vintages'
    if (!isHistory && kind !== 'prices') return `datasets/${kind}/file?year=${of}`
    const codes = catalogue.isRestricted
      ? everybodys()
          .map(series => series.code)
          .join()
      : ''
    const history = isHistory ? '&history=true' : ''
    return `export?format=parquet${history}&start_date=${of}-01-01&end_date=${of}-12-31&codes=${codes}`
  }
  const read = async (content: FileContent): Promise<FileRows> => {
    const answer = await answerOf(pathOf(content))
    return { rows: Number(answer.headers.get('x-total')), pieces: answer.body! }
  }
  return { wanted, read }
}

/** How long years are searched for before other work runs. */
const sliceMs = 8

/** The times of the first and the last value of a series, and whether it has one in `[from, to)`. */
interface Span {
  seriesId: number
  firstAt: number
  lastAt: number
  has(from: number, to: number): boolean
}

const yearOf = (at: number): number => Number(isoDay(at).slice(0, 4))
const startOf = (year: number): number => parseDay(`${String(year).padStart(4, '0')}-01-01`)!

/** After midnight UTC, when the day's last corrections are usually in. */
const hourOfNight = 2
const retryMs = 10 * minuteMs
/** Single files that could not be made are tried again after this time. */
const repeatMs = hourMs

/** Makes the files of all prices once a night. */
export function createPriceFilesJob({ files, wanted, read, clock, log }: PriceFilesJobDeps): Job {
  const nightOf = (at: number) => isoDay(at - hourOfNight * hourMs)
  let inProgress: Promise<void> | undefined
  let triedAt: number | undefined

  const makeIfDue = async () => {
    const manifest = await files.manifest()
    const now = clock.now()
    const repeats = manifest !== undefined && nightOf(manifest.madeAt) === nightOf(now)
    const isOver = repeats && (manifest.failures.length === 0 || now - manifest.madeAt < repeatMs)
    if (isOver) return
    const written = await files.make(await wanted(), read, { repeats })
    for (const { kind, name, reason } of written.failures)
      log.error('price_file_failed', { file: `${kind}/${name}`, reason })
    const rows = written.files.reduce((sum, file) => sum + file.rows, 0)
    log.info('price_files_made', {
      files: written.files.length,
      rows,
      message: 'The nightly files of all prices are made.',
    })
  }

  return {
    name: 'price files',
    pass() {
      const now = clock.now()
      if (inProgress || !isDueAgain(triedAt, retryMs, now)) return
      triedAt = now
      inProgress = makeIfDue()
        .catch(error => {
          files.failed(error)
          log.error('price_files_failed', { error })
        })
        .finally(() => {
          inProgress = undefined
        })
    },
    settled: async () => {
      await inProgress
    },
  }
}
