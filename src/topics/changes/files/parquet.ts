import { parquetTable } from '../../../lib/tables/parquet.ts'
import type { Column } from '../../../lib/tables/table.ts'
import { parseInstant } from '../../../lib/time/instant.ts'

type Row = Readonly<Record<string, string | number | boolean | null>>

const kinds = {
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
} as const satisfies Record<string, Column['kind']>

/** Records of the feed as a file. */
export const changesFile = (rows: readonly Row[]): Uint8Array<ArrayBuffer> =>
  parquetTable(
    Object.entries(kinds).map(([name, kind]) => ({
      name,
      kind,
      cells: rows.map(({ [name]: value = null }) =>
        kind === 'instant' && typeof value === 'string' ? parseInstant(value)! : value,
      ),
    })),
    'ZSTD',
  )
