import { parquetFile } from '../../../lib/tables/parquet.ts'
import type { Kinds } from '../../../lib/tables/table.ts'

type Row = Readonly<Record<string, string | number | boolean | null>>

const kinds: Kinds = {
  cursor: 'text',
  kind: 'text',
  dataset: 'text',
  code: 'text',
  observed_at: 'instant',
  value: 'number',
  previous: 'number',
  unit: 'text',
  currency: 'text',
  source: 'text',
  batch: 'count',
  recorded_at: 'instant',
  retroactive: 'flag',
  derived: 'flag',
}

/** Records of the feed as a file. */
export const changesFile = (rows: readonly Row[]): Uint8Array<ArrayBuffer> =>
  Buffer.concat([...parquetFile('rows', kinds, rows)])
