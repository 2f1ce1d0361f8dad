import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { flushWhileWritten } from '../../../lib/files/flush-while-written.ts'
import { csvCell } from '../../../lib/text/csv.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { ExportedRow } from '../store/export.ts'

/**
 * Rows page by page, in the order of code and time; how they are fetched is the caller's business.
 */
export type ExportPages = Iterable<readonly ExportedRow[]> | AsyncIterable<readonly ExportedRow[]>

export type ExportFormat = 'csv' | 'ndjson'

export const formatOf = (path: string): ExportFormat =>
  /\.(ndjson|jsonl)(\.gz)?$/i.test(path) ? 'ndjson' : 'csv'

/**
 * The text of an export, page by page: one spelling for each value (UTC instants, the shortest
 * number that reads back as the same double), so that equal data gives equal bytes. Throws when the
 * rows are not in order, because the same data would then have several spellings.
 */
export async function* exportText(
  pages: ExportPages,
  format: ExportFormat,
): AsyncGenerator<string> {
  const line = format === 'csv' ? csvLine : jsonLine
  if (format === 'csv') yield 'code,observed_at,price,currency\n'
  let code = ''
  let at = Number.NEGATIVE_INFINITY
  for await (const page of pages) {
    let text = ''
    for (const row of page) {
      if (row.code < code || (row.code === code && row.observedAt <= at)) {
        throw new Error(
          `${row.code} at ${isoInstant(row.observedAt)} comes after ${code} at ${isoInstant(at)}: rows must be in the order of code and time`,
        )
      }
      code = row.code
      at = row.observedAt
      text += line(row)
    }
    if (text !== '') yield text
  }
}

/** A value with its source and its recording time; or a deletion. */
export interface DatedExportRow extends ExportedRow {
  source: string
  recordedAt: number
  isDeleted: boolean
}

export type DatedExportPages =
  | Iterable<readonly DatedExportRow[]>
  | AsyncIterable<readonly DatedExportRow[]>

/** As `exportText`, of values with their source and recording. */
export async function* datedExportText(
  pages: DatedExportPages,
  format: ExportFormat,
): AsyncGenerator<string> {
  const line = format === 'csv' ? datedCsvLine : datedJsonLine
  if (format === 'csv') yield 'code,observed_at,price,currency,source,recorded_at,deleted\n'
  for await (const page of pages) {
    let text = ''
    for (const row of page) text += line(row)
    if (text !== '') yield text
  }
}

const datedCsvLine = (row: DatedExportRow) =>
  `${row.code},${isoInstant(row.observedAt)},${row.isDeleted ? '' : row.value},${row.currency ?? ''},${csvCell(row.source)},${isoInstant(row.recordedAt)},${row.isDeleted ? 'true' : ''}\n`

const datedJsonLine = (row: DatedExportRow) =>
  `${JSON.stringify({
    code: row.code,
    observed_at: isoInstant(row.observedAt),
    price: row.isDeleted ? null : row.value,
    currency: row.currency,
    source: row.source,
    recorded_at: isoInstant(row.recordedAt),
    deleted: row.isDeleted,
  })}\n`

const csvLine = (row: ExportedRow) =>
  `${row.code},${isoInstant(row.observedAt)},${row.value},${row.currency ?? ''}\n`

const jsonLine = ({ code, observedAt, value, currency }: ExportedRow) =>
  `${JSON.stringify({ code, observed_at: isoInstant(observedAt), price: value, currency })}\n`

/**
 * Writes a text to a file, packed when its name ends in `.gz`. The file appears under its name
 * when it is whole, never half of it.
 */
export async function writeText(
  path: string,
  text: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const writtenTo = (file: string) => {
    const packing = path.toLowerCase().endsWith('.gz') ? [createGzip()] : []
    return pipeline([Readable.from(text), ...packing, createWriteStream(file)])
  }
  const found = await stat(path).catch(() => undefined)
  // A pipe or a device, such as /dev/null: a file must not take its place.
  if (found && !found.isFile()) return await writtenTo(path)
  const partial = `${path}.partial`
  try {
    await flushWhileWritten(partial, writtenTo(partial))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}
