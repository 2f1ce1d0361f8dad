import {
  AsyncByteQueue,
  type Data,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow'
import type { BlockSeries, PriceBlock } from '../../math/block.ts'
import type { BulkColumn } from './columns.ts'
import type { BulkWriter } from './writer.ts'

/** Keeps what the writer of the library writes until it is taken. */
class Sink extends AsyncByteQueue<Uint8Array> {
  parts: Uint8Array[] = []

  override write(part: ArrayBufferView | ArrayBufferLike | string): void {
    const view = part as Uint8Array
    if (view.byteLength > 0) this.parts.push(view.slice())
  }

  take(): Uint8Array[] {
    const taken = this.parts
    this.parts = []
    return taken
  }
}

/** The texts that a column can have, known before the first row. */
interface Words {
  texts: (string | null)[]
  vector: Vector<Utf8>
}

/** An Arrow stream: a record batch for each block, texts by one dictionary for all of them. */
export function arrowWriter(
  columns: readonly BulkColumn[],
  series: readonly BlockSeries[],
): BulkWriter {
  const words = columns.map((column): Words | undefined => {
    if (column.kind !== 'text') return undefined
    const all = series.flatMap(each => [column.of(each), ...(column.all?.(each) ?? [])])
    const texts = [...new Set(all)].filter(text => text !== null)
    return { texts, vector: vectorFromArray(texts.length > 0 ? texts : [''], new Utf8()) }
  })
  const types = columns.map((column, i) => {
    if (column.kind === 'text') return new Dictionary(new Utf8(), new Int32(), i)
    if (column.kind === 'instant') return new TimestampMillisecond('UTC')
    return column.kind === 'number' ? new Float64() : new Int64()
  })
  const schema = new Schema(
    columns.map(({ name, kind }, i) => new Field(name, types[i]!, kind === 'text')),
  )
  const sink = new Sink()
  const writer = new RecordBatchStreamWriter()
  writer.reset(sink, schema)

  const dataOf = (block: PriceBlock, i: number): Data => {
    const column = columns[i]!
    const { length } = block
    if (column.kind === 'text') {
      const { texts, vector } = words[i]!
      const text = column.of(block.series)
      const isNull = text === null
      const rows = column.ofRows?.(block)
      const places = rows?.texts.map(each => texts.indexOf(each))
      return makeData({
        type: types[i] as Dictionary<Utf8, Int32>,
        length,
        nullCount: isNull ? length : 0,
        ...(isNull && { nullBitmap: new Uint8Array(Math.ceil(length / 8)) }),
        data:
          rows && places
            ? Int32Array.from(rows.index.subarray(0, length), place => places[place]!)
            : new Int32Array(length).fill(Math.max(0, texts.indexOf(text))),
        dictionary: vector,
      })
    }
    const values = column.of(block).subarray(0, length)
    if (column.kind === 'number')
      return makeData({ type: new Float64(), length, nullCount: 0, data: values.slice() })
    const whole = BigInt64Array.from(values, BigInt)
    return column.kind === 'instant'
      ? makeData({ type: types[i] as TimestampMillisecond, length, nullCount: 0, data: whole })
      : makeData({ type: new Int64(), length, nullCount: 0, data: whole })
  }

  return {
    begin: () => Buffer.concat(sink.take()),
    *block(block) {
      const children = columns.map((_, i) => dataOf(block, i))
      const struct = new Struct(schema.fields)
      const batch = makeData({ type: struct, length: block.length, nullCount: 0, children })
      writer.write(new RecordBatch(schema, batch))
      yield* sink.take()
    },
    *end() {
      writer.finish()
      yield* sink.take()
    },
  }
}
