import type { BlockSeries, PriceBlock } from '../../math/block.ts'
import type { BulkColumn } from './columns.ts'
import type { ParquetCompression } from './compression.ts'
import { csvWriter, ndjsonWriter } from './text.ts'
import type { BulkWriter } from './writer.ts'

export const bulkFormats = ['csv', 'ndjson', 'parquet', 'arrow'] as const
export type BulkFormat = (typeof bulkFormats)[number]

export const bulkTypes: Readonly<Record<BulkFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
}

/** A writer of a format; the libraries of binary formats are loaded on first use. */
export async function openBulkWriter(
  format: BulkFormat,
  columns: readonly BulkColumn[],
  series: readonly BlockSeries[],
  compression: ParquetCompression = 'zstd',
): Promise<BulkWriter> {
  switch (format) {
    case 'csv':
      return csvWriter(columns)
    case 'ndjson':
      return ndjsonWriter(columns)
    case 'parquet':
      return (await import('./parquet.ts')).parquetWriter(columns, compression)
    case 'arrow':
      return (await import('./arrow.ts')).arrowWriter(columns, series)
  }
}

/** The bytes of a whole file, piece by piece. */
export function* bulkBytes(
  writer: BulkWriter,
  blocks: Iterable<PriceBlock>,
): Generator<Uint8Array, void> {
  const beginning = writer.begin()
  if (beginning.byteLength > 0) yield beginning
  for (const block of blocks) yield* writer.block(block)
  yield* writer.end()
}
