import { t } from '../../../http/answer/schema.ts'
import { isoMillis, isoOrNull } from '../../../lib/time/instant.ts'
import { cursorText } from '../math/cursor.ts'
import { type AnyRecord, isOfDataset, isOfFormulas } from '../service/feed.ts'
import type { Changes } from '../service/open.ts'

const example = {
  cursor: 'imx0crzwk0000imwsi1hc0imx0crzwk3fa91c',
  observed_at: '2026-11-23T00:00:00Z',
  recorded_at: '2026-11-28T11:54:48.836Z',
}

/** The place of a record in the feed, as answers and parameters have it. */
export const cursorField = t.String({
  description: 'Cursor of the record. Compared as bytes, cursors increase from record to record.',
  examples: [example.cursor],
})

export const ChangeRow = t.Object(
  {
    cursor: cursorField,
    kind: t.Union([t.Literal('added'), t.Literal('revised'), t.Literal('deleted')], {
      description: 'Kind of change to the value of `code` at `observed_at`.',
    }),
    dataset: t.Literal('prices'),
    code: t.String({ examples: ['WTI_USD'] }),
    observed_at: t.orNull(
      t.String({ format: 'date-time', examples: [example.observed_at] }),
      'Time of the value; null: every value of the code.',
    ),
    value: t.numberOrNull('With every stored digit, in `unit`; null if deleted.', 70.6),
    previous: t.numberOrNull('The value just before `recorded_at`; null if there was none.', 70.5),
    unit: t.String({ examples: ['barrel'] }),
    currency: t.stringOrNull('Null for counts and levels.', 'USD'),
    source: t.String({ description: 'Source of the value.', examples: ['EIA'] }),
    batch: t.orNull(
      t.integer({ examples: [17] }),
      'Number of its batch: a file, a push, a feed run, an undo; null if not stored.',
    ),
    recorded_at: t.String({
      format: 'date-time',
      description: 'Time from which `as_of` returns it; always with milliseconds.',
      examples: [example.recorded_at],
    }),
    retroactive: t.Boolean({
      description: 'True if it applies to every `as_of`, not only from `recorded_at` on.',
    }),
    derived: t.Boolean({
      description:
        'True for a value of a series by formula, and for a daily mean of delivery periods.',
    }),
  },
  { title: 'Change' },
)

/** A row by the columns that the import of its dataset takes. */
const Cells = t.Record(t.String(), t.orNull(t.Union([t.String(), t.Number()])))

export const DatasetChangeRow = t.Object(
  {
    ...t.Pick(ChangeRow, ['cursor', 'kind', 'batch', 'recorded_at']).properties,
    dataset: t.String({
      description: 'Name of the dataset, as in `GET /admin/v1/datasets`.',
      examples: ['rig-counts'],
    }),
    key: t.Record(t.String(), t.orNull(t.Union([t.String(), t.Number()])), {
      description: 'The columns that identify the row.',
      examples: [{ region: 'US', date: '2026-11-13' }],
    }),
    row: t.orNull(Cells, 'The row in the columns of the import of its dataset; null if deleted.'),
    previous: t.orNull(Cells, 'The row just before; null if there was none.'),
    source: t.orNull(t.String(), 'Source of the row.'),
    retroactive: t.Boolean({ description: 'Always false.' }),
  },
  { title: 'Dataset change' },
)

export type ChangeRowWire = typeof ChangeRow.static

/** Records as the API returns them, as JSON. */
export const textsOf = (
  records: readonly AnyRecord[],
  cursorOf: ReturnType<Changes['cursors']>,
  sourceNameOf: (seriesId: number, sourceId: number) => string,
): string[] =>
  records.map(record => {
    const { place, kind, batchId, recordedAt, isRetroactive } = record
    const known = {
      batch: batchId || null,
      recorded_at: isoMillis(recordedAt),
      retroactive: isRetroactive,
    }
    const cursor = cursorText(cursorOf(place))
    if (isOfDataset(record)) {
      const { dataset, key, row = null, previous = null } = record
      const source = (row ?? previous)?.source ?? null
      return JSON.stringify({ cursor, kind, dataset, key, row, previous, source, ...known })
    }
    const { series, observedAt, sourceId, isRecorded, value = null, previous = null } = record
    const { id, code, unit, currency } = series
    return JSON.stringify({
      cursor,
      kind,
      dataset: 'prices',
      code,
      observed_at: isoOrNull(observedAt),
      value,
      previous,
      unit,
      currency,
      source: sourceNameOf(id, sourceId),
      ...known,
      derived: isOfFormulas(place) && !isRecorded,
    })
  })
