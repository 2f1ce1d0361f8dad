import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Compressors, FileMetaData, ParquetParsers, SchemaElement } from 'hyparquet'
import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import type { Source } from '../files/source.ts'
import { spooled } from './spool.ts'

const rowsEach = 20_000

const compressors: Compressors = {
  GZIP: input => gunzipSync(input),
  ZSTD: input => zstdDecompressSync(input),
  BROTLI: input => brotliDecompressSync(input),
}

const iso = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toString()

/** Days and times as the text that is read everywhere else. */
const parsers: Partial<ParquetParsers> = {
  timestampFromMilliseconds: millis => iso(Number(millis)),
  timestampFromMicroseconds: micros => iso(Number(micros / 1000n)),
  timestampFromNanoseconds: nanos => iso(Number(nanos / 1_000_000n)),
  dateFromDays: days => iso(days * 86_400_000).slice(0, 10),
}

/** The rows of a Parquet file, one JSON object a line: row n is on line n. */
export async function parquetSource(source: Source, directory: string): Promise<Source> {
  const content = Bun.file(source.path)
  const file = {
    byteLength: content.size,
    slice: (start: number, end?: number) => content.slice(start, end).arrayBuffer(),
  }
  try {
    const metadata = await parquetMetadataAsync(file)
    return await spooled(source, directory, linesOf(file, metadata))
  } catch (error) {
    throw new Error(`${source.name} is not Parquet that can be read: ${(error as Error).message}`)
  }
}

interface ParquetFile {
  byteLength: number
  slice(start: number, end?: number): Promise<ArrayBuffer>
}

async function* linesOf(file: ParquetFile, metadata: FileMetaData): AsyncGenerator<string> {
  const local = metadata.schema.filter(isLocalTime).map(({ name }) => name)
  const total = Number(metadata.num_rows)
  for (let rowStart = 0; rowStart < total; rowStart += rowsEach) {
    const rowEnd = Math.min(total, rowStart + rowsEach)
    const rows = await parquetReadObjects({
      file,
      metadata,
      rowStart,
      rowEnd,
      compressors,
      parsers: parsers as ParquetParsers,
    })
    yield rows.map(row => `${JSON.stringify(withoutZone(row, local), plainNumber)}\n`).join('')
  }
}

/** Whether a column has times of a clock on some wall, not moments. */
const isLocalTime = ({ logical_type: logical }: SchemaElement): boolean =>
  logical?.type === 'TIMESTAMP' && !logical.isAdjustedToUTC

function withoutZone(row: Record<string, unknown>, columns: readonly string[]) {
  for (const name of columns) {
    const time = row[name]
    if (typeof time === 'string')
      row[name] = time.replace(/Z$/, '').replace(/T00:00:00(\.0+)?$/, '')
  }
  return row
}

const plainNumber = (_: string, value: unknown): unknown => {
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}
