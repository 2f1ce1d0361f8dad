import {
  Bool,
  Float64,
  Int64,
  Table,
  TimestampMillisecond,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow'
import type { Column } from './table.ts'

const types = {
  text: () => new Utf8(),
  number: () => new Float64(),
  count: () => new Int64(),
  flag: () => new Bool(),
  instant: () => new TimestampMillisecond('UTC'),
}

/** A table as an Arrow stream. */
export const arrowTable = (columns: readonly Column[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    tableToIPC(
      new Table(
        Object.fromEntries(
          columns.map(({ name, kind, cells }) => [name, vectorFromArray(cells, types[kind]())]),
        ),
      ),
      'stream',
    ),
  )
