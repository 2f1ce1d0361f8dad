import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { isoInstant } from '../../lib/instant.ts'

export interface ExportRow {
  code: string
  observedAt: number
  value: number
  currency: string | null
}

/**
 * Rows page by page, in the order of code and time; how they are fetched is the caller's business.
 */
export type ExportPages = Iterable<readonly ExportRow[]> | AsyncIterable<readonly ExportRow[]>

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

const csvLine = (row: ExportRow) =>
  `${row.code},${isoInstant(row.observedAt)},${row.value},${row.currency ?? ''}\n`

const jsonLine = ({ code, observedAt, value, currency }: ExportRow) =>
  `${JSON.stringify({ code, observed_at: isoInstant(observedAt), price: value, currency })}\n`

/**
 * Writes an export to a file, packed when its name ends in `.gz`. The file appears under its name
 * when it is whole, never half of it.
 */
export async function exportFile(
  path: string,
  pages: ExportPages,
  format: ExportFormat,
): Promise<void> {
  const partial = `${path}.partial`
  const text = Readable.from(exportText(pages, format))
  try {
    if (path.toLowerCase().endsWith('.gz'))
      await pipeline(text, createGzip(), createWriteStream(partial))
    else await pipeline(text, createWriteStream(partial))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}
