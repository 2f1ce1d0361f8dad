import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import type { Point } from '../../store/prices/observations.ts'
import type { WriteCounts } from '../../store/write-counts.ts'
import { type ColumnRequest, checkRequest, type Mapping } from '../files/columns.ts'
import { rejectedFile } from '../files/rejected.ts'
import { createDisorder, type Repeats, repeatsAmong } from '../files/repeats.ts'
import { openSource, type Source } from '../files/source.ts'
import { laneOf } from './fast-lane.ts'
import { blocksOf, recordText, rowsIn, type Table, tableOf } from './file.ts'
import { type Catalogue, checkRow } from './rows.ts'

/** Where points go: into the database, or to the server that has it. */
export interface PointWriter {
  /** The most points of one call; each call is all or nothing. */
  readonly batchMax: number
  write(points: readonly Point[]): WriteCounts | Promise<WriteCounts>
}

export interface ImportRequest {
  /** Paths; `-` is standard input. */
  files: readonly string[]
  mapping?: Mapping
  /** The one code that all rows belong to. */
  series?: string
  /**
   * What every value is multiplied by (1): 0.001 for a file in thousands of the unit of its series.
   */
  scale?: number
  /** Everything is checked and nothing is written, the `.rejected` file neither. */
  dryRun?: boolean
  catalogue: Catalogue
  writer: PointWriter
  now: number
  stdin: AsyncIterable<Uint8Array>
  progress?: (progress: Progress) => void
  rejectedPath?: (file: string) => string
  spoolDirectory?: string
}

export interface Progress {
  file: string
  /** A file is read twice: everything is checked before anything is written. */
  stage: 'checking' | 'importing'
  bytes: number
  sizeBytes: number
  /** Values read from this file in this stage. */
  read: number
}

/**
 * In values: rows, or in a wide file the cells of its mapped columns. When all is written, read is
 * the sum of all the others but `points`.
 */
export interface Counts extends WriteCounts {
  read: number
  /** What was handed to the writer, or would have been in a dry run. */
  points: number
  /** Contradicted by a later row of the same file. */
  superseded: number
  rejected: number
  blank: number
}

export interface FileReport extends Counts {
  file: string
  /** Where the rejected lines are, if there are any and they could be written. */
  rejectedPath: string | undefined
  /** Why they could not be written. */
  rejectedFault: string | undefined
  /** The first few rejections. */
  samples: { line: number; reason: string }[]
}

export interface ImportReport extends Counts {
  files: FileReport[]
}

const samplesMax = 20

const besideInput = (file: string) => (file === '-' ? 'stdin.rejected' : `${file}.rejected`)

/**
 * Imports files one after the other. Throws a sentence, before anything is written, when one of
 * them cannot be read as asked; afterwards only if the writer does.
 */
export async function importFiles(request: ImportRequest): Promise<ImportReport> {
  const {
    files,
    mapping = new Map(),
    series,
    scale = 1,
    catalogue,
    now,
    rejectedPath = besideInput,
  } = request
  if (!(scale > 0 && Number.isFinite(scale)))
    throw new Error(`--scale ${scale} is not a number above 0: write for example --scale 0.001`)
  const columns: ColumnRequest = { mapping, series, catalogue, now }
  checkRequest(columns)
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
    const prepared: Prepared[] = []
    for (const source of sources) {
      const table = await tableOf(source, columns)
      prepared.push({ table, repeats: await repeatsIn(table, request) })
    }
    const reports: FileReport[] = []
    for (const [i, one] of prepared.entries())
      reports.push(await importTable(one, request, rejectedPath(files[i]!)))
    return { ...total(reports), files: reports }
  } finally {
    for (const source of sources) await source.close()
  }
}

interface Prepared {
  table: Table
  repeats: Repeats | undefined
}

/**
 * Reads a whole file ahead: it is readable to its end, and what it says more than once is known.
 * Undefined when it says nothing twice.
 */
async function repeatsIn(table: Table, request: ImportRequest): Promise<Repeats | undefined> {
  const order = createDisorder()
  await lookAhead(table, request, order.see)
  const found = order.found()
  if (found.size === 0) return undefined
  const repeats = repeatsAmong(found)
  try {
    await lookAhead(table, request, repeats.see)
  } catch (error) {
    throw new Error(`${table.source.name}: ${(error as Error).message}`)
  }
  return repeats
}

async function lookAhead(
  table: Table,
  request: ImportRequest,
  see: (seriesId: number, observedAt: number, value: number) => void,
) {
  const meter = meterOf(table, 'checking', request)
  let read = 0
  const count = () => {
    read += 1
  }
  const point = (seriesId: number, observedAt: number, value: number) => {
    read += 1
    see(seriesId, observedAt, value)
  }
  const scan = judge(table, request, { point, blank: count, rejected: count }, meter.heard)
  for await (const _ of scan) meter.tell(read)
}

function meterOf(table: Table, stage: Progress['stage'], { progress }: ImportRequest) {
  const { name: file, sizeBytes } = table.source
  let bytes = 0
  return {
    heard(total: number) {
      bytes = total
    },
    tell: (read: number) => progress?.({ file, stage, bytes, sizeBytes, read }),
  }
}

interface Verdicts {
  point(seriesId: number, observedAt: number, value: number): void
  blank(): void
  rejected(line: number, reasons: string[], text: string): void
}

/**
 * Judges every row of a table, pausing after each block so that the caller can pass on what it was
 * told.
 */
async function* judge(
  table: Table,
  request: ImportRequest,
  verdicts: Verdicts,
  heard: (bytes: number) => void,
): AsyncGenerator<void> {
  const lane = table.format === 'csv' ? laneOf(table, request) : undefined
  for await (const block of blocksOf(table, heard)) {
    const { bytes, starts, ends, lines } = block
    for (let i = block.first; i < block.count; i += 1) {
      if (lane?.read(bytes, starts[i]!, ends[i]!))
        verdicts.point(lane.seriesId, lane.observedAt, lane.value)
      else judgeText(table, recordText(block, i), lines[i]!, request, verdicts)
    }
    yield
  }
}

function judgeText(
  table: Table,
  text: string,
  line: number,
  { catalogue, now, scale }: ImportRequest,
  verdicts: Verdicts,
): void {
  const rows = rowsIn(table, text)
  if (typeof rows === 'string') {
    verdicts.rejected(line, [rows], text)
    return
  }
  const reasons: string[] = []
  for (const row of rows) {
    const checked = checkRow(row, catalogue, now, scale)
    if (checked.kind === 'point')
      verdicts.point(checked.point.seriesId, checked.point.observedAt, checked.point.value)
    else if (checked.kind === 'blank') verdicts.blank()
    else
      reasons.push(
        rows.length > 1 && checked.field === 'price'
          ? `${row.code}: ${checked.reason}`
          : checked.reason,
      )
  }
  if (reasons.length > 0) verdicts.rejected(line, reasons, text)
}

async function importTable(
  { table, repeats }: Prepared,
  request: ImportRequest,
  path: string,
): Promise<FileReport> {
  const report = emptyReport(table.source.name)
  const meter = meterOf(table, 'importing', request)
  const rejects = request.dryRun ? undefined : await rejectedFile(path, table)
  const batches = batchesFor(request.writer)
  let ordinal = -1
  const verdicts: Verdicts = {
    point(seriesId, observedAt, value) {
      report.read += 1
      ordinal += 1
      const last = repeats?.last(seriesId, observedAt)
      if (last && last.ordinal !== ordinal) {
        report[last.value === value ? 'unchanged' : 'superseded'] += 1
        return
      }
      report.points += 1
      if (!request.dryRun) batches.add({ seriesId, observedAt, value })
    },
    blank() {
      report.read += 1
      report.blank += 1
    },
    rejected(line, reasons, text) {
      report.read += reasons.length
      report.rejected += reasons.length
      const reason = [...new Set(reasons)].join(' ')
      if (report.samples.length < samplesMax) report.samples.push({ line, reason })
      rejects?.add(line, reason, text)
    },
  }
  try {
    for await (const _ of judge(table, request, verdicts, meter.heard)) {
      await batches.write(report, false)
      await rejects?.flush()
      meter.tell(report.read)
    }
    await batches.write(report, true)
  } finally {
    await rejects?.close()
  }
  const fault = rejects?.fault()
  if (report.rejected > 0 && rejects) report.rejectedPath = fault === undefined ? path : undefined
  return { ...report, rejectedFault: fault }
}

function batchesFor(writer: PointWriter) {
  let full: Point[][] = []
  let open: Point[] = []
  return {
    add(point: Point) {
      open.push(point)
      if (open.length < writer.batchMax) return
      full.push(open)
      open = []
    },
    /** Writes the full batches, and at the end the last one. */
    async write(counts: WriteCounts, last: boolean) {
      if (last && open.length > 0) full.push(open)
      for (const batch of full) {
        const written = await writer.write(batch)
        counts.inserted += written.inserted
        counts.revised += written.revised
        counts.unchanged += written.unchanged
      }
      full = []
      if (last) open = []
    },
  }
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

const emptyReport = (file: string): FileReport => ({
  ...zeros(),
  file,
  rejectedPath: undefined,
  rejectedFault: undefined,
  samples: [],
})

function total(reports: readonly FileReport[]): Counts {
  const sum = zeros()
  for (const report of reports)
    for (const key of Object.keys(sum) as (keyof Counts)[]) sum[key] += report[key]
  return sum
}
