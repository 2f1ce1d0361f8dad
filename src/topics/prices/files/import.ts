import type { WriteCounts } from '../../../database/write-counts.ts'
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
} from '../../../feeds/files/import.ts'
import { createRejectedLines } from '../../../feeds/files/rejected.ts'
import type { Point } from '../store/observations.ts'
import { createPriceParser, type ParsedFile, type PriceReading } from './parser.ts'
import { createPointSpool, type SpooledPoints } from './point-spool.ts'

/** Where points go: into the database, or to the server that has it. */
export interface PointWriter {
  /** The most points of one call; each call is all or nothing. */
  readonly batchMax: number
  write(points: readonly Point[]): WriteCounts | Promise<WriteCounts>
  /** Reports what a write would change; nothing is written. */
  compare?(points: readonly Point[]): WriteCounts | Promise<WriteCounts>
  /** Sets the publisher of all following values, where the format of a file names one. */
  attribute?(publisher: string | undefined): void
  /** All that is written until `end` is of this file. Not in a dry run. */
  begin?(file: ReadFile): void | Promise<void>
  /** Called when a file was written to its end. */
  end?(left: { superseded: number; rejected: number }): void | Promise<void>
}

export interface PriceImport extends PriceReading, FileImport {
  writer: PointWriter
  /** Called when all points were compared and nothing is written; throws to refuse the files. */
  refuse?: (() => void) | undefined
}

/**
 * Imports price files one after the other: each is read once into a spool, compared with the
 * recorded values where requested, and written. Throws a sentence, before anything is written, when
 * a file cannot be read with these options; afterwards only if the writer does.
 */
export async function importPrices(request: PriceImport): Promise<ImportReport> {
  const { writer, refuse, dryRun = false } = request
  const parser = createPriceParser(request)
  return importFiles(
    request,
    async file => stagePrices(await parser.open(file.source), file, request),
    async files => {
      if (!refuse || dryRun) return
      for (const { source, points } of files) {
        writer.attribute?.(source.publisher)
        for (const batch of points.batches(writer.batchMax, () => {})) await writer.compare?.(batch)
      }
      refuse()
    },
  )
}

interface StagedPrices extends StagedFile {
  source: OpenFile['source']
  points: SpooledPoints
}

/** Reads a file to its end. */
async function stagePrices(
  parsed: ParsedFile,
  { source, folder, rejectedPath }: OpenFile,
  request: PriceImport,
): Promise<StagedPrices> {
  const { writer, dryRun = false } = request
  const meter = createFileMeter(source, request)
  const staged = emptyReport(source.name)
  const spool = createPointSpool({ saysMore: parsed.saysMore, folder })
  const rejects = createRejectedLines(parsed.rejectedFormat, folder)
  const blocks = parsed.read(
    {
      add(seriesId, observedAt, value, line) {
        staged.read += 1
        spool.add(seriesId, observedAt, value, line)
      },
      point(point, line) {
        staged.read += 1
        spool.addPoint(point, line)
      },
      blank() {
        staged.read += 1
        staged.blank += 1
      },
      rejected(line, reasons, text, notations) {
        staged.read += reasons.length
        rejects.add(line, addRejected(staged, line, reasons, notations), text)
      },
    },
    meter.received,
  )
  for await (const _ of blocks) {
    await rejects.flush()
    meter.checked(staged.read)
  }
  const points = spool.finish()
  const sha256 = meter.sha256()

  const writePoints = async (report: FileReport) => {
    const all = staged.read - staged.blank - staged.rejected
    let done = 0
    const onRepeated = (line: number, isSame: boolean) => {
      done += 1
      if (isSame) report.unchanged += 1
      else addSuperseded(report, line)
    }
    for (const batch of points.batches(writer.batchMax, onRepeated)) {
      done += batch.length
      const counts = await (dryRun ? writer.compare?.(batch) : writer.write(batch))
      if (counts) addCounts(report, counts)
      report.points += dryRun && counts ? counts.inserted + counts.revised : batch.length
      meter.imported(done / all, report.read)
    }
    meter.imported(1, report.read)
  }

  return {
    source,
    points,
    async record() {
      const report: FileReport = { ...staged, samples: staged.samples }
      writer.attribute?.(source.publisher)
      if (dryRun) {
        await writePoints(report)
        return report
      }
      await writer.begin?.({ name: source.name, sha256 })
      const fault = await rejects.writeTo(rejectedPath)
      await writePoints(report)
      await writer.end?.({ superseded: report.superseded, rejected: report.rejected })
      if (report.rejected > 0 && fault === undefined) report.rejectedPath = rejectedPath
      return { ...report, rejectedFault: fault }
    },
  }
}
