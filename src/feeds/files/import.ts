import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import type { WriteCounts } from '../../database/write-counts.ts'
import { openSource, type Source, type SourceOpener } from './source.ts'
import type { Notation } from './spelling.ts'
import { createSpoolFolder, type SpoolFolder } from './spool-folder.ts'

/** Which file is written: its name, and the SHA-256 of its bytes in hexadecimal. */
export interface ReadFile {
  name: string
  sha256: string
}

/** Options that all kinds of data share. */
export interface FileImport {
  /** Paths; `-` is standard input. */
  files: readonly string[]
  /** Everything is checked and nothing is written, the `.rejected` file neither. */
  dryRun?: boolean
  stdin: AsyncIterable<Uint8Array>
  /** Readers of further file formats; without them only CSV and NDJSON are read. */
  open?: SourceOpener
  progress?: (progress: Progress) => void
  rejectedPath?: (file: string) => string
  spoolDirectory?: string
}

export interface Progress {
  file: string
  /** A file is read to its end before anything is written. */
  stage: 'checking' | 'importing'
  bytes: number
  sizeBytes: number
  /** Values that were read in this stage, or written. */
  read: number
}

/**
 * In values: rows, or in a wide file the cells of its mapped columns. When all is written, read is
 * the sum of all the others but `points`.
 */
export interface Counts extends WriteCounts {
  read: number
  /** Values that were passed to the writer; in a dry run, those that it would have recorded. */
  points: number
  /** Overridden by a later row of the same file. */
  superseded: number
  rejected: number
  /** Flagged values that wait for a decision. */
  held: number
  /** Left out because an operator decided so. */
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
  /** The notations of rejected cells. */
  notations: Set<Notation>
  /** The first few lines that a later row of the file contradicts. */
  supersededLines: { line: number }[]
}

export interface ImportReport extends Counts {
  files: FileReport[]
}

/** A file that was read to its end, with what its writing needs. */
export interface StagedFile {
  /** Writes it, or in a dry run reports what a write would change. */
  record(): Promise<FileReport>
}

export interface OpenFile {
  source: Source
  /** Where its rejected lines go. */
  rejectedPath: string
  folder: SpoolFolder
}

const besideInput = (file: string) => (file === '-' ? 'stdin.rejected' : `${file}.rejected`)

/**
 * Imports files one after the other. Each is read once, by `stage`; `beforeWriting` may still
 * refuse them all. Throws a sentence, before anything is written, when a file cannot be read with
 * these options; afterwards only if a writer does.
 */
export async function importFiles<Staged extends StagedFile>(
  request: FileImport,
  stage: (file: OpenFile) => Promise<Staged>,
  beforeWriting: (files: readonly Staged[]) => Promise<void> = async () => {},
): Promise<ImportReport> {
  const { files, rejectedPath = besideInput, open = openSource } = request
  const inputs = new Set(files.map(file => resolve(file)))
  const clash = files.find(file => inputs.has(resolve(rejectedPath(file))))
  if (clash)
    throw new Error(
      `${rejectedPath(clash)} is where the rejected lines of ${clash} go: rename it and import it on its own`,
    )
  const directory = request.spoolDirectory ?? tmpdir()
  const folder = createSpoolFolder(directory)
  const sources: Source[] = []
  try {
    for (const file of files) sources.push(await open(file, request.stdin, directory))
    const staged: Staged[] = []
    for (const [i, source] of sources.entries())
      staged.push(await stage({ source, rejectedPath: rejectedPath(files[i]!), folder }))
    await beforeWriting(staged)
    const reports: FileReport[] = []
    for (const file of staged) reports.push(await file.record())
    return { ...total(reports), files: reports }
  } finally {
    for (const source of sources) await source.close()
    folder.close()
  }
}

/** Counts and hashes the bytes of a file while it is read. */
export function createFileMeter(source: Source, { progress }: FileImport) {
  const { name: file, sizeBytes } = source
  const hasher = new Bun.CryptoHasher('sha256')
  let bytes = 0
  return {
    received(chunk: Uint8Array) {
      bytes += chunk.length
      hasher.update(chunk)
    },
    checked: (read: number) => progress?.({ file, stage: 'checking', bytes, sizeBytes, read }),
    /** `share`: how much of the file is written. */
    imported: (share: number, read: number) =>
      progress?.({
        file,
        stage: 'importing',
        bytes: Math.round(share * sizeBytes),
        sizeBytes,
        read: Math.round(share * read),
      }),
    sha256: () => hasher.digest('hex'),
  }
}

const samplesMax = 20

/** Counts a rejected record. */
export function addRejected(
  report: FileReport,
  line: number,
  reasons: readonly string[],
  notations: readonly Notation[] = [],
): string {
  for (const notation of notations) report.notations.add(notation)
  report.rejected += reasons.length
  const reason = [...new Set(reasons)].join(' ')
  if (report.samples.length < samplesMax) report.samples.push({ line, reason })
  return reason
}

/** Notes a line that a later one contradicts; lines may come in any order. */
export function addSuperseded(report: FileReport, line: number): void {
  report.superseded += 1
  const lines = report.supersededLines
  if (lines.length === samplesMax && line > lines.at(-1)!.line) return
  lines.push({ line })
  lines.sort((a, b) => a.line - b.line)
  lines.splice(samplesMax)
}

export function addCounts(report: Counts, counts: WriteCounts): void {
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

export const emptyReport = (file: string): FileReport => ({
  ...zeros(),
  file,
  rejectedPath: undefined,
  rejectedFault: undefined,
  samples: [],
  notations: new Set(),
  supersededLines: [],
})

function total(reports: readonly FileReport[]): Counts {
  const sum = zeros()
  for (const report of reports)
    for (const key of Object.keys(sum) as (keyof Counts)[])
      sum[key] = key === 'recordedAt' ? Math.max(sum[key], report[key]) : sum[key] + report[key]
  return sum
}
