import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Column } from './table.ts'

const kinds: Record<Column['kind'], Omit<SchemaElement, 'name'>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  instant: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  number: { type: 'DOUBLE' },
  count: { type: 'INT64' },
  flag: { type: 'BOOLEAN' },
}

/** A table as a Parquet file of one row group. Every reader has Snappy; Zstandard is smaller. */
export function parquetTable(
  columns: readonly Column[],
  codec: 'SNAPPY' | 'ZSTD' = 'SNAPPY',
): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter()
  const file = new ParquetWriter({
    writer,
    schema: [
      { name: 'rows', num_children: columns.length },
      ...columns.map(({ name, kind }) => ({
        name,
        repetition_type: 'OPTIONAL' as const,
        ...kinds[kind],
      })),
    ],
    codec,
    compressors: { ZSTD: bytes => Bun.zstdCompressSync(bytes, { level: 1 }) },
    createdBy: 'wellhead',
  })
  if ((columns[0]?.cells.length ?? 0) > 0)
    void file.write({
      columnData: columns.map(({ name, kind, cells }) => ({
        name,
        data:
          kinds[kind].type === 'INT64'
            ? cells.map(cell => (cell === null ? null : BigInt(cell)))
            : [...cells],
      })),
    })
  void file.finish()
  return new Uint8Array(writer.getBuffer())
}
