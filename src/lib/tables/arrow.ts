import {
  Table as ArrowTable,
  Bool,
  Float64,
  Int64,
  TimestampMillisecond,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow'
import { cellOf, type Table } from './table.ts'

const types = {
  text: () => new Utf8(),
  number: () => new Float64(),
  count: () => new Int64(),
  flag: () => new Bool(),
  instant: () => new TimestampMillisecond('UTC'),
}

/** A table as an Arrow stream. */
export function arrowTable({ kinds, rows }: Table): Uint8Array<ArrayBuffer> {
  const vectors = Object.entries(kinds).map(([name, kind]) => {
    const cells = rows.map(row => cellOf(kind, row[name]))
    return [name, vectorFromArray(cells, types[kind]())]
  })
  return new Uint8Array(tableToIPC(new ArrowTable(Object.fromEntries(vectors)), 'stream'))
}
