import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import type { WriteCounts } from '../../store/write-counts.ts'
import type { Counts, FileReport, ImportReport, Progress } from '../prices/import.ts'
import {
  type DatasetTable,
  datasetTable,
  fileRecords,
  type Layout,
  type Row,
} from './dataset-file.ts'
import { rejectedFile } from './rejected.ts'
import { type RepeatFilter, repeatsAmong } from './repeats.ts'
import { openSource, type Source } from './source.ts'

/**
 * What became of a batch: written as a whole (or found good, when nothing is to be written), or
 * refused for some of its rows.
 */
export type BatchAnswer = { counts: WriteCounts } | { faults: { row: number; reason: string }[] }

/**
 * Where rows are judged and written: the open database, or the server that has it. Each call is all
 * or nothing.
 */
export interface RowWriter {
  readonly batchMax: number
  write(rows: readonly Row[], dryRun: boolean): Promise<BatchAnswer>
}

export interface DatasetImport {
  /** Paths; `-` is standard input. */
  files: readonly string[]
  layout: Layout
  mapping: ReadonlyMap<string, string>
  dryRun: boolean
  writer: RowWriter
  stdin: AsyncIterable<Uint8Array>
  progress?: (progress: Progress) => void
  rejectedPath?: (file: string) => string
  spoolDirectory?: string
}

const samplesMax = 20
/** Rows that a file of so many bytes may have: only sizes the filter that finds repeated ones. */
const rowBytesMin = 8

const besideInput = (file: string) => (file === '-' ? 'stdin.rejected' : `${file}.rejected`)

/**
 * Imports files one after the other. Throws a sentence, before anything is written, when one of
 * them can not be read as asked; afterwards only if the writer does.
 */
export async function importDataset(request: DatasetImport): Promise<ImportReport> {
  const { files, layout, mapping, rejectedPath = besideInput } = request
  const inputs = new Set(files.map(file => resolve(file)))
  const clash = files.find(file => inputs.has(resolve(rejectedPath(file))))
  if (clash)
    throw new Error(
      `${rejectedPath(clash)} is where the rejected lines of ${clash} go: rename it and import it on its own`,
    )
  const sources: Source[] = []
  try {
    for (const file of files)
      sources.push(await openSource(file, request.stdin, request.spoolDirectory ?? tmpdir()))
    const prepared: { table: DatasetTable; repeats: RepeatFilter | undefined }[] = []
    for (const source of sources) {
      const table = await datasetTable(source, layout, mapping)
      prepared.push({ table, repeats: await repeatsIn(table, request) })
    }
    const reports: FileReport[] = []
    for (const [i, { table, repeats }] of prepared.entries())
      reports.push(await importTable(table, repeats, request, rejectedPath(files[i]!)))
    return { ...total(reports), files: reports }
  } finally {
    for (const source of sources) await source.close()
  }
}

/** Any one name: keys of rows are looked for by their hash. */
const anySeries = 1
const hashOf = (text: string): number => Number(BigInt.asUintN(52, BigInt(Bun.hash.wyhash(text))))

const keyOf = (key: readonly string[], row: Row): number =>
  hashOf(key.map(name => String(row[name] ?? '').toUpperCase()).join('\n'))
const contentOf = (row: Row): number => hashOf(JSON.stringify(row))

/**
 * Reads a whole file ahead: it is readable to its end, and which of its rows come again is known.
 */
async function repeatsIn(
  table: DatasetTable,
  { layout, progress }: DatasetImport,
): Promise<RepeatFilter | undefined> {
  const { key } = layout
  const { name: file, sizeBytes } = table.source
  const repeats = key && repeatsAmong(new Map([[anySeries, Math.ceil(sizeBytes / rowBytesMin)]]))
  let [bytes, read] = [0, 0]
  const heard = (total: number) => {
    bytes = total
  }
  for await (const records of fileRecords(table, heard)) {
    for (const { rows } of records) {
      if (typeof rows === 'string') continue
      read += rows.length
      if (repeats) for (const row of rows) repeats.see(anySeries, keyOf(key, row), contentOf(row))
    }
    progress?.({ file, stage: 'checking', bytes, sizeBytes, read })
  }
  return repeats
}

interface Waiting {
  line: number
  text: string
  rows: Row[]
}

async function importTable(
  table: DatasetTable,
  repeats: RepeatFilter | undefined,
  request: DatasetImport,
  path: string,
): Promise<FileReport> {
  const { name: file, sizeBytes } = table.source
  const report: FileReport = {
    ...zeros(),
    file,
    rejectedPath: undefined,
    rejectedFault: undefined,
    samples: [],
  }
  const rejects = request.dryRun
    ? undefined
    : await rejectedFile(
        path,
        table.format === 'csv'
          ? { format: 'csv', separator: table.separator, header: table.header }
          : { format: 'ndjson' },
      )
  const reject = (line: number, reasons: readonly string[], text: string) => {
    report.rejected += reasons.length
    const reason = [...new Set(reasons)].join(' ')
    if (report.samples.length < samplesMax) report.samples.push({ line, reason })
    rejects?.add(line, reason, text)
  }
  let ordinal = -1
  const isLast = (row: Row): boolean => {
    ordinal += 1
    const last = repeats?.last(anySeries, keyOf(request.layout.key!, row))
    if (!last || last.ordinal === ordinal) return true
    report[last.value === contentOf(row) ? 'unchanged' : 'superseded'] += 1
    return false
  }
  let waiting: Waiting[] = []
  let bytes = 0
  const heard = (total: number) => {
    bytes = total
  }
  const flush = async () => {
    if (waiting.length > 0) await writeBatch(waiting, request, report, reject)
    waiting = []
    await rejects?.flush()
  }
  try {
    for await (const records of fileRecords(table, heard)) {
      for (const { line, text, rows, blank } of records) {
        report.read += blank + (typeof rows === 'string' ? 1 : rows.length)
        report.blank += blank
        // In the order of the file: what was judged before this line is told before it.
        if (typeof rows === 'string') await flush()
        if (typeof rows === 'string') reject(line, [rows], text)
        else waiting.push({ line, text, rows: rows.filter(isLast) })
        if (waiting.reduce((sum, one) => sum + one.rows.length, 0) >= request.writer.batchMax)
          await flush()
      }
      request.progress?.({ file, stage: 'importing', bytes, sizeBytes, read: report.read })
    }
    await flush()
  } finally {
    await rejects?.close()
  }
  const fault = rejects?.fault()
  if (report.rejected > 0 && rejects) report.rejectedPath = fault === undefined ? path : undefined
  return { ...report, rejectedFault: fault }
}

/**
 * Sends the rows of some records; those that are refused are left out, and the others sent again.
 */
async function writeBatch(
  waiting: readonly Waiting[],
  { writer, dryRun }: DatasetImport,
  report: FileReport,
  reject: (line: number, reasons: readonly string[], text: string) => void,
): Promise<void> {
  const rows = waiting.flatMap((record, at) => record.rows.map(row => ({ row, at })))
  if (rows.length === 0) return
  const answer = await writer.write(
    rows.map(one => one.row),
    dryRun,
  )
  if ('counts' in answer) return add(report, answer.counts, rows.length)
  const reasons = Map.groupBy(answer.faults, fault => rows[fault.row]!.at)
  const refused = new Set(answer.faults.map(fault => fault.row))
  const good = rows.filter((_, i) => !refused.has(i)).map(one => one.row)
  if (good.length > 0) {
    const again = await writer.write(good, dryRun)
    if (!('counts' in again))
      throw new Error(`rows that were found good were refused: ${again.faults[0]?.reason}`)
    add(report, again.counts, good.length)
  }
  for (const [at, { line, text }] of waiting.entries()) {
    const found = reasons.get(at)
    if (found)
      reject(
        line,
        found.map(fault => fault.reason),
        text,
      )
  }
}

function add(report: Counts, counts: WriteCounts, points: number) {
  report.points += points
  report.inserted += counts.inserted
  report.revised += counts.revised
  report.unchanged += counts.unchanged
}

const zeros = (): Counts => ({
  read: 0,
  points: 0,
  inserted: 0,
  revised: 0,
  unchanged: 0,
  superseded: 0,
  rejected: 0,
  blank: 0,
})

function total(reports: readonly FileReport[]): Counts {
  const sum = zeros()
  for (const report of reports)
    for (const key of Object.keys(sum) as (keyof Counts)[]) sum[key] += report[key]
  return sum
}
