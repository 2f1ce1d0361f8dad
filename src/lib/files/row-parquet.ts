import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'

export type ParquetKind = Omit<SchemaElement, 'name'>

export const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
/** Milliseconds since 1970. */
export const instant = {
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const
export const number = { type: 'DOUBLE' } as const
export const count = { type: 'INT64' } as const
export const flag = { type: 'BOOLEAN' } as const

export type ParquetRow = Readonly<Record<string, string | number | boolean | null | undefined>>

/** A file of rows, of which each list that is given becomes a group; all columns may be null. */
export function* parquetRows(
  name: string,
  columns: Readonly<Record<string, ParquetKind>>,
  groups: Iterable<readonly ParquetRow[]>,
): Generator<Uint8Array<ArrayBuffer>> {
  const writer = new ByteWriter()
  const named = Object.entries(columns)
  const file = new ParquetWriter({
    writer,
    schema: [
      { name, num_children: named.length },
      ...named.map(([name, kind]) => ({ name, repetition_type: 'OPTIONAL' as const, ...kind })),
    ],
    codec: 'ZSTD',
    compressors: { ZSTD: bytes => Bun.zstdCompressSync(bytes, { level: 1 }) },
    createdBy: 'wellhead',
  })
  const cellOf = (kind: ParquetKind, value: ParquetRow[string] = null) =>
    kind.type === 'INT64' && value !== null ? BigInt(value) : value
  /** What has been written since; the writer keeps counting its bytes. */
  const taken = () => {
    const bytes = new Uint8Array(writer.getBuffer())
    writer.index = 0
    return bytes
  }
  for (const rows of groups) {
    if (rows.length === 0) continue
    void file.write({
      columnData: named.map(([column, kind]) => ({
        name: column,
        data: rows.map(row => cellOf(kind, row[column])),
      })),
      rowGroupSize: rows.length,
    })
    yield taken()
  }
  void file.finish()
  yield taken()
}
