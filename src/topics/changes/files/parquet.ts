import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { parseInstant } from '../../../lib/time/instant.ts'

type Row = Readonly<Record<string, string | number | boolean | null>>

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
const instant = {
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const
const number = { type: 'DOUBLE' } as const
const flag = { type: 'BOOLEAN' } as const

const columns = {
  cursor: text,
  kind: text,
  dataset: text,
  code: text,
  observed_at: instant,
  value: number,
  previous: number,
  unit: text,
  currency: text,
  source: text,
  batch: { type: 'INT64' },
  recorded_at: instant,
  retroactive: flag,
  derived: flag,
} as const satisfies Record<string, Omit<SchemaElement, 'name'>>

const cellOf = (kind: Omit<SchemaElement, 'name'>, value: Row[string]) => {
  if (value === null || kind.type !== 'INT64') return value
  return BigInt(typeof value === 'string' ? parseInstant(value)! : Number(value))
}

/** Records of the feed as a file. */
export function changesFile(rows: readonly Row[]): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter()
  const named = Object.entries<Omit<SchemaElement, 'name'>>(columns)
  const file = new ParquetWriter({
    writer,
    schema: [
      { name: 'changes', num_children: named.length },
      ...named.map(([name, kind]) => ({ name, repetition_type: 'OPTIONAL' as const, ...kind })),
    ],
    codec: 'ZSTD',
    compressors: { ZSTD: bytes => Bun.zstdCompressSync(bytes, { level: 1 }) },
    createdBy: 'wellhead',
  })
  if (rows.length > 0)
    void file.write({
      columnData: named.map(([name, kind]) => ({
        name,
        data: rows.map(row => cellOf(kind, row[name] ?? null)),
      })),
    })
  void file.finish()
  return new Uint8Array(writer.getBuffer())
}
