import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import type { WriteCounts } from '../../database/write-counts.ts'
import { type RejectedForm, rejectedFile } from './rejected.ts'
import { createDisorder, type Repeats, repeatsAmong } from './repeats.ts'
import { openSource, type Source, type SourceOpener, sha256Of } from './source.ts'

/**
 * How the files of one kind of data are read: prices straight from their bytes, everything else row
 * by row. `Item` is what is written.
 */
export interface FileParser<Item> {
  /** Understands the beginning of a source. Throws a sentence that names the file. */
  open(source: Source): Promise<ReadableFile<Item>>
}

/** A file of which it is known where the values of a row stand. */
export interface ReadableFile<Item> {
  source: Source
  /** How its rejected lines are written. */
  rejectedForm: RejectedForm
  /**
   * Whether a file may say the same thing twice. `by_time`: keys are times, and only a series that
   * is not in their order can have a key again. `by_hash`: keys are in no order. `none`: rows have
   * no key.
   */
  repeats: 'by_time' | 'by_hash' | 'none'
  /**
   * Tells `listener` of every record in the order of the file, and pauses after each block so that
   * what was told can be written. `heard` gets the bytes that were read so far.
   */
  read(listener: RowListener<Item>, received: (bytes: number) => void): AsyncGenerator<void>
}

/** What a reader tells of a file. */
export interface RowListener<Item> {
  /**
   * One value: the group and key that tell it apart, and what it says. Answers whether it is to be
   * written: not while the file is only checked, and not where a later row has the same key.
   */
  isWanted(group: number, key: number, content: number, line: number): boolean
  /** A value that is wanted. */
  item(item: Item): void
  /** One that is not, because a later row has its key; told where the writer judges. */
  passed?(item: Item): void
  /** The record of the items since the last one; needed where the writer judges them. */
  record(line: number, text: string): void
  /** A value that is not there. */
  blank(): void
  /** A record that can not go in. */
  rejected(line: number, reasons: readonly string[], text: string): void
}

/** A key or a content as a number, where it is none. */
export const hashOf = (text: string): number =>
  Number(BigInt.asUintN(52, BigInt(Bun.hash.wyhash(text))))

/** What became of a batch: written as a whole, or refused for some of its items. */
export type BatchAnswer = { counts: WriteCounts } | { faults: { row: number; reason: string }[] }

/** Where items go: the open database, or the server that has it. Each call is all or nothing. */
export interface ItemWriter<Item> {
  /** The most items of one call; one record is not cut in two. */
  readonly batchMax: number
  /**
   * True: items are judged where they are written, which is asked in a dry run too. False: the
   * reader has judged them, none is refused, and a dry run does not write.
   */
  readonly judges: boolean
  write(items: readonly Item[], dryRun: boolean): Promise<BatchAnswer>
  /** Without judging, it says in a dry run what a write would do. */
  readonly compares?: boolean
  /** What is written or compared from here on is of this publisher, where the form of a file says so. */
  attribute?(publisher: string | undefined): void
  /** All that is written until `end` is of this file. Not in a dry run. */
  begin?(file: ReadFile): void | Promise<void>
  /** Said when a file has been read to its end. */
  end?(left: { superseded: number; rejected: number }): void | Promise<void>
}

/** Which file it is that is written: its name, and the SHA-256 of its bytes in hexadecimal. */
export interface ReadFile {
  name: string
  sha256: string
}

/** What is the same for all kinds of data. */
export interface FileImport {
  /** Paths; `-` is standard input. */
  files: readonly string[]
  /** Everything is checked and nothing is written, the `.rejected` file neither. */
  dryRun?: boolean
  stdin: AsyncIterable<Uint8Array>
  /** How files become what is read here; without it only CSV and NDJSON are. */
  open?: SourceOpener
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
  /** Doubted: they wait for a decision. */
  held: number
  /** Left out for what an operator decided. */
  kept: number
  blank: number
  /** When what was written last is recorded; 0: nothing was. */
  recordedAt: number
}

export interface FileReport extends Counts {
  file: string
  /** Where the rejected lines are, if there are any and they could be written. */
  rejectedPath: string | undefined
  /** Why they could not be written. */
  rejectedFault: string | undefined
  /** The first few rejections. */
  samples: { line: number; reason: string }[]
  /** The first few lines that a later row of the file contradicts, with what they said. */
  supersededLines: SupersededLine[]
}

interface SupersededLine {
  line: number
  /** Of a writer that judges. */
  item?: unknown
}

export interface ImportReport extends Counts {
  files: FileReport[]
}

const samplesMax = 20
/** Rows that a file of so many bytes may have: only sizes the filter that finds repeated ones. */
const rowBytesMin = 8

const besideInput = (file: string) => (file === '-' ? 'stdin.rejected' : `${file}.rejected`)

/**
 * Imports files one after the other. Throws a sentence, before anything is written, when one of
 * them can not be read as asked; afterwards only if the writer does.
 */
export async function importFiles<Item>(
  request: FileImport,
  reader: FileParser<Item>,
  writer: ItemWriter<Item>,
): Promise<ImportReport> {
  const { files, rejectedPath = besideInput, open = openSource } = request
  const inputs = new Set(files.map(file => resolve(file)))
  const clash = files.find(file => inputs.has(resolve(rejectedPath(file))))
  if (clash)
    throw new Error(
      `${rejectedPath(clash)} is where the rejected lines of ${clash} go: rename it and import it on its own`,
    )
  const sources: Source[] = []
  try {
    for (const file of files)
      sources.push(await open(file, request.stdin, request.spoolDirectory ?? tmpdir()))
    const prepared: PreparedFile<Item>[] = []
    for (const source of sources) {
      const file = await reader.open(source)
      prepared.push({ file, repeats: await repeatsIn(file, request) })
    }
    const reports: FileReport[] = []
    for (const [i, file] of prepared.entries())
      reports.push(await importFile(file, request, writer, rejectedPath(files[i]!)))
    return { ...total(reports), files: reports }
  } finally {
    for (const source of sources) await source.close()
  }
}

interface PreparedFile<Item> {
  file: ReadableFile<Item>
  repeats: Repeats | undefined
}

/**
 * Reads a whole file ahead: it is readable to its end, and what it says more than once is known.
 * Undefined when it says nothing twice.
 */
async function repeatsIn<Item>(
  file: ReadableFile<Item>,
  request: FileImport,
): Promise<Repeats | undefined> {
  if (file.repeats === 'none') {
    await lookAhead(file, request, () => {})
    return undefined
  }
  if (file.repeats === 'by_hash') {
    const repeats = repeatsAmong(new Map([[0, Math.ceil(file.source.sizeBytes / rowBytesMin)]]))
    await lookAhead(file, request, repeats.see)
    return repeats
  }
  const order = createDisorder()
  await lookAhead(file, request, order.see)
  const disordered = order.found()
  if (disordered.size === 0) return undefined
  const repeats = repeatsAmong(disordered)
  try {
    await lookAhead(file, request, repeats.see)
  } catch (error) {
    throw new Error(`${file.source.name}: ${(error as Error).message}`)
  }
  return repeats
}

async function lookAhead<Item>(
  file: ReadableFile<Item>,
  request: FileImport,
  see: (group: number, key: number, content: number) => void,
) {
  const meter = meterOf(file.source, 'checking', request)
  let read = 0
  const count = () => {
    read += 1
  }
  const listener: RowListener<Item> = {
    isWanted(group, key, content) {
      read += 1
      see(group, key, content)
      return false
    },
    item() {},
    record() {},
    blank: count,
    rejected: count,
  }
  for await (const _ of file.read(listener, meter.received)) meter.notify(read)
}

function meterOf(source: Source, stage: Progress['stage'], { progress }: FileImport) {
  const { name: file, sizeBytes } = source
  let bytes = 0
  return {
    received(readBytes: number) {
      bytes = readBytes
    },
    notify: (read: number) => progress?.({ file, stage, bytes, sizeBytes, read }),
  }
}

async function importFile<Item>(
  { file, repeats }: PreparedFile<Item>,
  request: FileImport,
  writer: ItemWriter<Item>,
  path: string,
): Promise<FileReport> {
  const report = emptyReport(file.source.name)
  const meter = meterOf(file.source, 'importing', request)
  const dryRun = request.dryRun === true
  writer.attribute?.(file.source.publisher)
  if (!dryRun && writer.begin)
    await writer.begin({ name: file.source.name, sha256: await sha256Of(file.source) })
  const rejects = dryRun ? undefined : await rejectedFile(path, file.rejectedForm)
  const reject = (line: number, reasons: readonly string[], text: string) => {
    report.rejected += reasons.length
    const reason = [...new Set(reasons)].join(' ')
    if (report.samples.length < samplesMax) report.samples.push({ line, reason })
    rejects?.add(line, reason, text)
  }
  const queue = writer.judges
    ? judgingQueue(writer, dryRun, report, reject)
    : writingQueue(writer, dryRun, report, reject)
  let ordinal = -1
  /** The key of the value that was asked about last, where the file has it more than once. */
  let repeated: number | undefined
  let passedAs: PassedAs = 'superseded'
  let noted: SupersededLine | undefined
  const listener: RowListener<Item> = {
    isWanted(group, key, content, line) {
      report.read += 1
      ordinal += 1
      const last = repeats?.last(group, key)
      repeated = last && key
      if (!last || last.ordinal === ordinal) return true
      passedAs = last.value === content ? 'unchanged' : 'superseded'
      report[passedAs] += 1
      noted = passedAs === 'superseded' ? { line } : undefined
      if (noted && report.supersededLines.length < samplesMax) report.supersededLines.push(noted)
      return false
    },
    item: item => queue.item(item, repeated),
    passed(item) {
      if (noted) noted.item = item
      queue.passed?.(item, repeated!, passedAs)
    },
    record: queue.record,
    blank() {
      report.read += 1
      report.blank += 1
    },
    rejected(line, reasons, text) {
      report.read += reasons.length
      queue.rejected(line, reasons, text)
    },
  }
  try {
    for await (const _ of file.read(listener, meter.received)) {
      await queue.write(false)
      await rejects?.flush()
      meter.notify(report.read)
    }
    await queue.write(true)
  } finally {
    await rejects?.close()
  }
  if (!dryRun) await writer.end?.({ superseded: report.superseded, rejected: report.rejected })
  const fault = rejects?.fault()
  if (report.rejected > 0 && rejects) report.rejectedPath = fault === undefined ? path : undefined
  return { ...report, rejectedFault: fault }
}

type Reject = (line: number, reasons: readonly string[], text: string) => void

/** What a value is counted as that a later row of its file takes the place of. */
type PassedAs = 'superseded' | 'unchanged'

/** Items on their way to a writer. */
interface ItemQueue<Item> extends Pick<RowListener<Item>, 'record' | 'rejected'> {
  /** `key`: where the file has it more than once. */
  item(item: Item, key?: number): void
  passed?(item: Item, key: number, as: PassedAs): void
  /** Writes the full batches, and with `last` what is left. */
  write(last: boolean): Promise<void>
}

/** For a writer that takes everything: an item costs no more than its place in a batch. */
function writingQueue<Item>(
  writer: ItemWriter<Item>,
  dryRun: boolean,
  report: Counts,
  reject: Reject,
): ItemQueue<Item> {
  let full: Item[][] = []
  let open: Item[] = []
  return {
    item(item) {
      report.points += 1
      if (dryRun && !writer.compares) return
      open.push(item)
      if (open.length < writer.batchMax) return
      full.push(open)
      open = []
    },
    record() {},
    rejected: reject,
    async write(last) {
      if (last && open.length > 0) {
        full.push(open)
        open = []
      }
      for (const batch of full) addCounts(report, countsOf(await writer.write(batch, dryRun)))
      full = []
    },
  }
}

/** A record that waits for its batch: its items, or why it can not go in. */
interface WaitingRecord {
  line: number
  text: string
  reasons: readonly string[]
}

interface JudgedBatch<Item> {
  items: Item[]
  /** The index in `records` of the record of each item. */
  recordOf: number[]
  /** The key of each item that the file has more than once. */
  keys: (number | undefined)[]
  /** Items that later rows take the place of: they are judged, and written only in their stead. */
  passed: { item: Item; key: number; as: PassedAs; record: number }[]
  records: WaitingRecord[]
}

/**
 * For a writer that judges: what it refuses is rejected with its whole record, in the order of the
 * file. A row that is refused takes the place of none: then the last good one of its key is written.
 */
function judgingQueue<Item>(
  writer: ItemWriter<Item>,
  dryRun: boolean,
  report: FileReport,
  reject: Reject,
): ItemQueue<Item> {
  const empty = (): JudgedBatch<Item> => ({
    items: [],
    recordOf: [],
    keys: [],
    passed: [],
    records: [],
  })
  const goodBefore = new Map<number, Item>()
  let full: JudgedBatch<Item>[] = []
  let open = empty()
  const add = (record: WaitingRecord) => {
    open.records.push(record)
    const most = Math.max(open.items.length, open.passed.length, open.records.length)
    if (most < writer.batchMax) return
    full.push(open)
    open = empty()
  }
  return {
    item(item, key) {
      open.items.push(item)
      open.recordOf.push(open.records.length)
      open.keys.push(key)
    },
    passed: (item, key, as) =>
      void open.passed.push({ item, key, as, record: open.records.length }),
    record: (line, text) => add({ line, text, reasons: [] }),
    rejected: (line, reasons, text) => add({ line, text, reasons }),
    async write(last) {
      if (last) {
        full.push(open)
        open = empty()
      }
      for (const batch of full)
        await writeJudged(batch, writer, dryRun, { report, reject, goodBefore })
      full = []
    },
  }
}

/** Sends a batch; items that are refused are left out, and the others are sent again. */
async function writeJudged<Item>(
  { items, recordOf, keys, passed, records }: JudgedBatch<Item>,
  writer: ItemWriter<Item>,
  dryRun: boolean,
  {
    report,
    reject,
    goodBefore,
  }: { report: FileReport; reject: Reject; goodBefore: Map<number, Item> },
): Promise<void> {
  const reasons = new Map<number, string[]>()
  const note = (record: number, reason: string) =>
    void reasons.set(record, [...(reasons.get(record) ?? []), reason])
  const forgetSuperseded = (...some: readonly unknown[]) => {
    report.supersededLines = report.supersededLines.filter(({ item }) => !some.includes(item))
  }
  if (passed.length > 0) {
    const faults = faultsOf(
      await writer.write(
        passed.map(({ item }) => item),
        true,
      ),
    )
    for (const [row, { item, key, as, record }] of passed.entries()) {
      const own = faults.get(row)
      if (own === undefined) goodBefore.set(key, item)
      else {
        report[as] -= 1
        forgetSuperseded(item)
        for (const reason of own) note(record, reason)
      }
    }
  }
  if (items.length > 0) {
    const answer = await writer.write(items, dryRun)
    const faults = faultsOf(answer)
    const good = items.filter((_, i) => !faults.has(i))
    // What takes the place of none leaves it to the row before it.
    const instead = [...faults.keys()].flatMap(row => {
      const key = keys[row]
      const item = key === undefined ? undefined : goodBefore.get(key)
      return item === undefined ? [] : [item]
    })
    report.superseded -= instead.length
    forgetSuperseded(...instead)
    good.push(...instead)
    if ('counts' in answer) addCounts(report, answer.counts)
    else if (good.length > 0) addCounts(report, countsOf(await writer.write(good, dryRun)))
    report.points += good.length
    for (const [row, own] of faults) for (const reason of own) note(recordOf[row]!, reason)
  }
  for (const [i, record] of records.entries()) {
    const all = reasons.get(i) ?? record.reasons
    if (all.length > 0) reject(record.line, all, record.text)
  }
}

/** Why items were refused, by their place. */
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

function addCounts(report: Counts, counts: WriteCounts) {
  report.inserted += counts.inserted
  report.revised += counts.revised
  report.unchanged += counts.unchanged
  report.held += counts.held ?? 0
  report.kept += counts.kept ?? 0
  report.recordedAt = Math.max(report.recordedAt, counts.recordedAt ?? 0)
}

const zeros = (): Counts => ({
  read: 0,
  points: 0,
  inserted: 0,
  revised: 0,
  unchanged: 0,
  superseded: 0,
  rejected: 0,
  held: 0,
  kept: 0,
  blank: 0,
  recordedAt: 0,
})

const emptyReport = (file: string): FileReport => ({
  ...zeros(),
  file,
  rejectedPath: undefined,
  rejectedFault: undefined,
  samples: [],
  supersededLines: [],
})

function total(reports: readonly FileReport[]): Counts {
  const sum = zeros()
  for (const report of reports)
    for (const key of Object.keys(sum) as (keyof Counts)[])
      sum[key] = key === 'recordedAt' ? Math.max(sum[key], report[key]) : sum[key] + report[key]
  return sum
}
