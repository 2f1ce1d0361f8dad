import type { ColumnChunk, SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import { elements } from '../../../../lib/tables/parquet.ts'
import type { PriceBlock } from '../../math/block.ts'
import type { BulkColumn } from './columns.ts'
import type { ParquetCompression } from './compression.ts'
import type { BulkWriter } from './writer.ts'

/** Rows of a group, which limits the additional rows that a reader of one code fetches. */
export const groupRows = 131_072

type NumberKind = Exclude<BulkColumn['kind'], 'text'>

const elementOf = ({ name, kind }: BulkColumn): SchemaElement => ({
  name,
  repetition_type: kind === 'text' ? 'OPTIONAL' : 'REQUIRED',
  ...elements[kind],
})

/** Texts of a group as runs: rows are in the order of their series. */
interface Run {
  text: string | null
  rows: number
}

/** The rows of a group that is being filled, by column. */
type Filling = { column: BulkColumn; runs: Run[]; values: Float64Array }

interface Codec {
  name: 'ZSTD' | 'SNAPPY'
  compress(bytes: Uint8Array): Uint8Array
}
const codecs: Record<ParquetCompression, Codec> = {
  zstd: { name: 'ZSTD', compress: bytes => Bun.zstdCompressSync(bytes, { level: 1 }) },
  snappy: { name: 'SNAPPY', compress: snappyCompress },
}

/**
 * Parquet in groups of rows that are in the order of code and time. Schema and footer are the
 * library's; the pages are written here from columns of numbers, because the library takes each
 * value as an object.
 */
export function parquetWriter(
  columns: readonly BulkColumn[],
  compression: ParquetCompression,
): BulkWriter {
  const codec = codecs[compression]
  const bytes = new ByteWriter(2 ** 20)
  const file = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'prices', num_children: columns.length }, ...columns.map(elementOf)],
    codec: codec.name,
    compressors: { [codec.name]: codec.compress },
    createdBy: 'wellhead',
  })
  const filling: Filling[] = columns.map(column => ({
    column,
    runs: [],
    values: column.kind === 'text' ? new Float64Array(0) : new Float64Array(groupRows),
  }))
  let rows = 0

  /** The bytes written since the last call; the writer keeps counting. */
  const take = (): Uint8Array => {
    const taken = new Uint8Array(bytes.getBuffer())
    bytes.index = 0
    return taken
  }

  const closeGroup = () => {
    const start = bytes.offset
    const chunks = filling.map(({ column, runs, values }) =>
      column.kind === 'text'
        ? textChunk(bytes, codec, column.name, runs, rows)
        : numberChunk(bytes, codec, column.name, column.kind, values.subarray(0, rows)),
    )
    const sizes = chunks.map(chunk => chunk.meta_data!.total_uncompressed_size)
    file.row_groups.push({
      columns: chunks,
      total_byte_size: sizes.reduce((sum, size) => sum + size, 0n),
      num_rows: BigInt(rows),
      total_compressed_size: BigInt(bytes.offset - start),
    })
    file.num_rows += BigInt(rows)
    for (const part of filling) part.runs = []
    rows = 0
  }

  return {
    begin: take,
    *block(block: PriceBlock) {
      for (let from = 0; from < block.length; ) {
        const count = Math.min(block.length - from, groupRows - rows)
        for (const { column, runs, values } of filling) {
          if (column.kind === 'text') addTexts(runs, column, block, from, count)
          else values.set(column.of(block).subarray(from, from + count), rows)
        }
        rows += count
        from += count
        if (rows === groupRows) {
          closeGroup()
          yield take()
        }
      }
    },
    *end() {
      if (rows > 0) closeGroup()
      void file.finish()
      yield take()
    },
  }
}

function addTexts(
  runs: Run[],
  column: Extract<BulkColumn, { kind: 'text' }>,
  block: PriceBlock,
  from: number,
  count: number,
): void {
  const rows = column.ofRows?.(block)
  if (!rows) addRun(runs, column.of(block.series), count)
  else
    for (let row = from; row < from + count; row += 1)
      addRun(runs, rows.texts[rows.index[row]!]!, 1)
}

function addRun(runs: Run[], text: string | null, rows: number): void {
  const last = runs.at(-1)
  if (last && last.text === text) last.rows += rows
  else runs.push({ text, rows })
}

/** A page of plain numbers. */
function numberChunk(
  file: ByteWriter,
  codec: Codec,
  name: string,
  kind: NumberKind,
  values: Float64Array,
): ColumnChunk {
  const start = file.offset
  const plain =
    kind === 'number'
      ? new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
      : wholeNumbers(values)
  const uncompressed = writePage(file, codec, values.length, 0, new Uint8Array(0), plain, 'PLAIN')
  let [min, max] = [values[0]!, values[0]!]
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  const stored = (value: number) => (kind === 'number' ? value : BigInt(value))
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: elements[kind].type!,
      encodings: ['PLAIN'],
      path_in_schema: [name],
      codec: codec.name,
      num_values: BigInt(values.length),
      total_uncompressed_size: BigInt(uncompressed),
      total_compressed_size: BigInt(file.offset - start),
      data_page_offset: BigInt(start),
      statistics: { min_value: stored(min), max_value: stored(max), null_count: 0n },
    },
  }
}

/** Whole numbers as the 64-bit integers of the format, without a BigInt for each. */
function wholeNumbers(values: Float64Array): Uint8Array {
  const words = new Uint32Array(values.length * 2)
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i]!
    const high = Math.floor(value / 2 ** 32)
    words[2 * i] = value - high * 2 ** 32
    words[2 * i + 1] = high
  }
  return new Uint8Array(words.buffer)
}

/** A dictionary of the texts and a page of runs of it. */
function textChunk(
  file: ByteWriter,
  codec: Codec,
  name: string,
  runs: readonly Run[],
  rows: number,
): ColumnChunk {
  const start = file.offset
  const texts = [...new Set(runs.flatMap(({ text }) => text ?? []))]
  const places = new Map(texts.map((text, place) => [text, place]))
  const dictionary = new ByteWriter()
  for (const text of texts) {
    const encoded = new TextEncoder().encode(text)
    dictionary.appendUint32(encoded.length)
    dictionary.appendBytes(encoded)
  }
  const stored = codec.compress(dictionary.getBytes())
  writePageHeader(file, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: dictionary.offset,
    compressed_page_size: stored.length,
    dictionary_page_header: { num_values: texts.length, encoding: 'PLAIN' },
  })
  let uncompressed = file.offset - start + dictionary.offset
  file.appendBytes(stored)

  const pageStart = file.offset
  const levels = new ByteWriter()
  const indexes = new ByteWriter()
  const bitWidth = Math.max(1, Math.ceil(Math.log2(texts.length)))
  indexes.appendUint8(bitWidth)
  let nulls = 0
  for (const { text, rows: count } of runs) {
    appendRun(levels, text === null ? 0 : 1, count, 1)
    if (text === null) nulls += count
    else appendRun(indexes, places.get(text)!, count, Math.ceil(bitWidth / 8))
  }
  uncompressed += writePage(
    file,
    codec,
    rows,
    nulls,
    levels.getBytes(),
    indexes.getBytes(),
    'RLE_DICTIONARY',
  )
  const sorted = [...texts].sort()
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: 'BYTE_ARRAY',
      encodings: ['PLAIN', 'RLE', 'RLE_DICTIONARY'],
      path_in_schema: [name],
      codec: codec.name,
      num_values: BigInt(rows),
      total_uncompressed_size: BigInt(uncompressed),
      total_compressed_size: BigInt(file.offset - start),
      data_page_offset: BigInt(pageStart),
      dictionary_page_offset: BigInt(start),
      statistics: {
        null_count: BigInt(nulls),
        ...(sorted.length > 0 && { min_value: sorted[0]!, max_value: sorted.at(-1)! }),
      },
    },
  }
}

/** A run of the hybrid encoding: how often, and what. */
function appendRun(bytes: ByteWriter, value: number, count: number, width: number): void {
  bytes.appendVarInt(count << 1)
  for (let i = 0; i < width; i += 1) bytes.appendUint8((value >> (8 * i)) & 0xff)
}

/** Writes a data page and answers its size before it was packed, with its header. */
function writePage(
  file: ByteWriter,
  codec: Codec,
  rows: number,
  nulls: number,
  levels: Uint8Array,
  values: Uint8Array,
  encoding: 'PLAIN' | 'RLE_DICTIONARY',
): number {
  const start = file.offset
  const stored = codec.compress(values)
  writePageHeader(file, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.length + values.length,
    compressed_page_size: levels.length + stored.length,
    data_page_header_v2: {
      num_values: rows,
      num_nulls: nulls,
      num_rows: rows,
      encoding,
      definition_levels_byte_length: levels.length,
      repetition_levels_byte_length: 0,
      is_compressed: true,
    },
  })
  const header = file.offset - start
  file.appendBytes(levels)
  file.appendBytes(stored)
  return header + levels.length + values.length
}
