import { parquetFile } from '../../../lib/tables/parquet.ts'
import type { Kinds } from '../../../lib/tables/table.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { SourcedRow } from './dated-rows.ts'

/** A value with when it was known. */
interface VintageRow {
  code: string
  observed_at: number
  value: number
  currency: string | null
  unit: string
  source: string
  batch: number | null
  valid_from: number
  /** Null: it is current. */
  valid_to: number | null
  [column: string]: string | number | null
}

interface Range {
  from: number
  to: number
}

const kinds: Kinds = {
  code: 'text',
  observed_at: 'instant',
  value: 'number',
  currency: 'text',
  unit: 'text',
  source: 'text',
  batch: 'count',
  valid_from: 'instant',
  valid_to: 'instant',
}

/** Every value that was known of series at any time, by code, time and recording, page by page. */
export function* vintagePages(
  series: readonly Series[],
  range: Range,
  pages: (series: readonly Series[], withPast: boolean, range: Range) => Iterable<SourcedRow[]>,
  quarantine: { clear(seriesId: number, from: number, to: number): readonly Range[] },
): Generator<VintageRow[]> {
  for (const each of series)
    for (const stretch of quarantine.clear(each.id, range.from, range.to))
      for (const page of pages([each], true, stretch))
        yield page
          .filter(row => !row.isDeleted && row.replacedAt !== row.recordedAt)
          .map(row => ({
            code: row.code,
            observed_at: row.observedAt,
            value: row.value,
            currency: row.currency,
            unit: each.unit,
            source: row.source || each.source,
            batch: row.batchId || null,
            valid_from: row.recordedAt,
            valid_to: row.replacedAt ?? null,
          }))
}

export const vintagesFile = (pages: Iterable<VintageRow[]>) =>
  parquetFile('vintages', kinds, rowsOf(pages))

function* rowsOf(pages: Iterable<VintageRow[]>): Generator<VintageRow> {
  for (const page of pages) yield* page
}
