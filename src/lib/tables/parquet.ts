import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { type Cell, type CellRow, cellOf, type Kind, type Kinds } from './table.ts'

/** How the format stores each kind. */
export const elements: Record<Kind, Omit<SchemaElement, 'name'>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  instant: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  number: { type: 'DOUBLE' },
  count: { type: 'INT64' },
  flag: { type: 'BOOLEAN' },
}

const stored = (kind: Kind, cell: Cell) =>
  cell !== null && elements[kind].type === 'INT64' ? BigInt(cell) : cell

/** Rows of a group, which a reader of one row fetches at most. */
const groupRows = 100_000

/**
 * Rows as a Parquet file, piece by piece; every column may be null. Every reader has Snappy;
 * Zstandard is smaller.
 */
export function* parquetFile(
  name: string,
  kinds: Kinds,
  rows: Iterable<CellRow>,
  codec: 'SNAPPY' | 'ZSTD' = 'ZSTD',
): Generator<Uint8Array<ArrayBuffer>> {
  const writer = new ByteWriter()
  const columns = Object.entries(kinds)
  const file = new ParquetWriter({
    writer,
    schema: [
      { name, num_children: columns.length },
      ...columns.map(([column, kind]) => ({
        name: column,
        repetition_type: 'OPTIONAL' as const,
        ...elements[kind],
      })),
    ],
    codec,
    compressors: { ZSTD: bytes => Bun.zstdCompressSync(bytes, { level: 1 }) },
    createdBy: 'wellhead',
  })
  let group: CellRow[] = []
  /** Writes the group and takes the bytes since the last one; the writer keeps counting them. */
  const taken = () => {
    if (group.length > 0)
      void file.write({
        columnData: columns.map(([column, kind]) => ({
          name: column,
          data: group.map(row => stored(kind, cellOf(kind, row[column]))),
        })),
        rowGroupSize: group.length,
      })
    group = []
    const bytes = new Uint8Array(writer.getBuffer())
    writer.index = 0
    return bytes
  }
  for (const row of rows) if (group.push(row) === groupRows) yield taken()
  yield taken()
  void file.finish()
  yield taken()
}
