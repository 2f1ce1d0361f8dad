import type { WriteCounts } from '../../database/write-counts.ts'
import {
  addCounts,
  addRejected,
  addSuperseded,
  createFileMeter,
  emptyReport,
  type FileImport,
  type FileReport,
  type ImportReport,
  importFiles,
  type OpenFile,
  type ReadFile,
  type StagedFile,
} from './import.ts'
import type { Mapping } from './mapping.ts'
import { createRecordSpool } from './record-spool.ts'
import { createRejectedLines } from './rejected.ts'
import { createRepeats, type LastRow } from './repeats.ts'
import {
  createRowParser,
  type Layout,
  type ParsedRecord,
  type ParsedRowFile,
  type Row,
} from './row-parser.ts'
import { type SpellingOptions, spellingOf } from './spelling.ts'

/** The result of a batch: written as a whole, or refused for some of its rows. */
export type BatchAnswer = { counts: WriteCounts } | { faults: { row: number; reason: string }[] }

/**
 * Where rows are judged and written: a dataset judges its rows where it is written, because only
 * there is known what they refer to. Each call is all or nothing.
 */
export interface RowWriter {
  /** The most rows of one call; one record is not cut in two. */
  readonly batchMax: number
  /** Rows are judged in a dry run too. */
  write(rows: readonly Row[], dryRun: boolean): Promise<BatchAnswer>
  /** All that is written until `end` is of this file. Not in a dry run. */
  begin?(file: ReadFile): void | Promise<void>
  /** Called when a file was written to its end. */
  end?(left: { superseded: number; rejected: number }): void | Promise<void>
}

export interface DatasetImport extends FileImport {
  layout: Layout
  mapping: Mapping
  spelling?: SpellingOptions
  writer: RowWriter
}

/**
 * Imports files of a dataset one after the other, each of them read once. Throws a sentence, before
 * anything is written, when a file cannot be read with these options; afterwards only if the writer
 * does.
 */
export function importDataset(request: DatasetImport): Promise<ImportReport> {
  const { layout, mapping, spelling = {} } = request
  const parser = createRowParser(layout, mapping, spellingOf(spelling))
  return importFiles(request, async file =>
    stageRows(await parser.open(file.source), file, request),
  )
}

/** Reads a file to its end. */
async function stageRows(
  parsed: ParsedRowFile,
  { source, folder, rejectedPath }: OpenFile,
  request: DatasetImport,
): Promise<StagedFile> {
  const { writer, dryRun = false } = request
  const meter = createFileMeter(source, request)
  const spool = createRecordSpool<ParsedRecord>(folder)
  const repeats = parsed.hasKeys ? createRepeats() : undefined
  let all = 0
  for await (const records of parsed.read(meter.received)) {
    for (const record of records) {
      all += valuesOf(record)
      for (const { key, content } of record.rows) repeats?.see(key, content)
      spool.add(record)
    }
    meter.checked(all)
  }
  const lastRows = repeats?.lastRows()
  return {
    async record() {
      const report = emptyReport(source.name)
      if (!dryRun) await writer.begin?.({ name: source.name, sha256: meter.sha256() })
      const rejects = createRejectedLines(parsed.rejectedFormat, folder)
      const queue = createRowQueue({
        writer,
        dryRun,
        report,
        lastRows,
        reject: (line, reasons, text) =>
          rejects.add(line, addRejected(report, line, reasons), text),
      })
      let fault: string | undefined
      try {
        for (const record of spool.records()) {
          report.read += valuesOf(record)
          report.blank += record.blanks
          if (!queue.add(record)) continue
          await queue.write()
          await rejects.flush()
          meter.imported(report.read / all, all)
        }
        await queue.write()
        queue.end()
        meter.imported(1, all)
      } finally {
        if (!dryRun) fault = await rejects.writeTo(rejectedPath)
      }
      if (dryRun) return report
      await writer.end?.({ superseded: report.superseded, rejected: report.rejected })
      if (report.rejected > 0 && fault === undefined) report.rejectedPath = rejectedPath
      return { ...report, rejectedFault: fault }
    },
  }
}

const valuesOf = ({ rows, blanks, reasons }: ParsedRecord): number =>
  rows.length + blanks + reasons.length

interface WaitingRow {
  row: Row
  /** Where the file has it more than once. */
  key: number | undefined
  line: number
  /** The index in `records` of its record. */
  record: number
}

/** A row that a later one takes the place of. */
interface PassedRow extends WaitingRow {
  as: 'superseded' | 'unchanged'
}

interface RowQueueDeps {
  writer: RowWriter
  dryRun: boolean
  report: FileReport
  lastRows: ReadonlyMap<number, LastRow> | undefined
  reject(line: number, reasons: readonly string[], text: string): void
}

/**
 * Collects records of a file for the writer, which validates their rows: a refused row is rejected
 * with its whole record, in the order of the file. It does not replace earlier rows: the last valid
 * one of its key is written.
 */
function createRowQueue({ writer, dryRun, report, lastRows, reject }: RowQueueDeps) {
  const goodBefore = new Map<number, Row>()
  let ordinal = -1
  let rows: WaitingRow[] = []
  /** These rows are judged, but written only if a later row with their key is refused. */
  let passed: PassedRow[] = []
  let records: ParsedRecord[] = []
  /** Lines of the passed rows that stay superseded. */
  const superseded = new Map<Row, number>()

  const addRow = ({ key, content, row }: ParsedRecord['rows'][number], line: number) => {
    ordinal += 1
    const last = lastRows?.get(key)
    const waiting = { row, key: last && key, line, record: records.length }
    if (!last || last.ordinal === ordinal) {
      rows.push(waiting)
      return
    }
    const as = last.content === content ? 'unchanged' : 'superseded'
    passed.push({ ...waiting, as })
  }

  const judgePassed = async (note: (record: number, reason: string) => void) => {
    if (passed.length === 0) return
    const faults = faultsOf(
      await writer.write(
        passed.map(({ row }) => row),
        true,
      ),
    )
    for (const [i, { row, key, as, line, record }] of passed.entries()) {
      const reasons = faults.get(i)
      if (reasons) for (const reason of reasons) note(record, reason)
      else {
        goodBefore.set(key!, row)
        if (as === 'superseded') superseded.set(row, line)
        else report.unchanged += 1
      }
    }
  }

  const writeRows = async (note: (record: number, reason: string) => void) => {
    if (rows.length === 0) return
    const answer = await writer.write(
      rows.map(({ row }) => row),
      dryRun,
    )
    const faults = faultsOf(answer)
    const good = rows.filter((_, i) => !faults.has(i)).map(({ row }) => row)
    // A faulty row does not replace an earlier row with the same key.
    for (const i of faults.keys()) {
      const { key } = rows[i]!
      const row = key === undefined ? undefined : goodBefore.get(key)
      if (row === undefined) continue
      if (!superseded.delete(row)) report.unchanged -= 1
      good.push(row)
    }
    const counts =
      'counts' in answer
        ? answer.counts
        : good.length > 0
          ? countsOf(await writer.write(good, dryRun))
          : undefined
    if (counts) addCounts(report, counts)
    const left = dryRun && counts ? (counts.held ?? 0) + (counts.kept ?? 0) : 0
    report.points += good.length - left
    for (const [i, reasons] of faults) for (const reason of reasons) note(rows[i]!.record, reason)
  }

  return {
    /** Returns whether a batch is full and must be written. */
    add(record: ParsedRecord): boolean {
      for (const row of record.rows) addRow(row, record.line)
      records.push(record)
      return Math.max(rows.length, passed.length, records.length) >= writer.batchMax
    },
    async write() {
      const reasons = new Map<number, string[]>()
      const note = (record: number, reason: string) =>
        void reasons.set(record, [...(reasons.get(record) ?? []), reason])
      await judgePassed(note)
      await writeRows(note)
      for (const [i, record] of records.entries()) {
        const all = reasons.get(i) ?? record.reasons
        if (all.length > 0) reject(record.line, all, record.text)
      }
      rows = []
      passed = []
      records = []
    },
    /** Counts the rows of which it is certain now that a later one took their place. */
    end() {
      for (const line of superseded.values()) addSuperseded(report, line)
    },
  }
}

/** Why rows were refused, by their place. */
function faultsOf(answer: BatchAnswer): Map<number, string[]> {
  const faults = new Map<number, string[]>()
  if ('faults' in answer)
    for (const { row, reason } of answer.faults)
      faults.set(row, [...(faults.get(row) ?? []), reason])
  return faults
}

function countsOf(answer: BatchAnswer): WriteCounts {
  if ('counts' in answer) return answer.counts
  throw new Error(`rows that were found good were refused: ${answer.faults[0]?.reason}`)
}
