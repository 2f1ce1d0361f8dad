import { t } from 'elysia'
import { integer, orNull } from '../../../http/answer/schema.ts'
import { isoInstant, isoMillis } from '../../../lib/time/instant.ts'
import { cursorText } from '../math/cursor.ts'
import type { ChangeRecord } from '../service/feed.ts'
import type { Changes } from '../service/open.ts'

const example = {
  cursor: '0l3u9d0gq0000000l3u7c5s00l3u9d0gq3fa91c',
  observed_at: '2026-11-23T00:00:00Z',
  recorded_at: '2026-11-28T11:54:48.836Z',
}

/** The place of a record in the feed, as answers and parameters have it. */
export const cursorField = t.String({
  description: 'Place of the record: as bytes, cursors rise from record to record.',
  examples: [example.cursor],
})

export const ChangeRow = t.Object(
  {
    cursor: cursorField,
    kind: t.Union([t.Literal('added'), t.Literal('revised'), t.Literal('deleted')], {
      description: 'What it does to the value of `code` at `observed_at`.',
    }),
    dataset: t.String({ description: '`prices`.', examples: ['prices'] }),
    code: t.String({ examples: ['WTI_USD'] }),
    observed_at: orNull(
      t.String({ format: 'date-time', examples: [example.observed_at] }),
      'Time of the value; null: every value of the code.',
    ),
    value: orNull(
      t.Number({ examples: [70.6] }),
      'With every stored digit, in `unit`; null if deleted.',
    ),
    previous: orNull(
      t.Number({ examples: [70.5] }),
      'The value just before `recorded_at`; null if there was none.',
    ),
    unit: t.String({ examples: ['barrel'] }),
    currency: orNull(t.String({ examples: ['USD'] }), 'Null for counts and levels.'),
    source: t.String({ description: 'Source of the value.', examples: ['EIA'] }),
    batch: orNull(
      integer({ examples: [17] }),
      'Number of its batch: a file, a push, a feed run, an undo; null if not stored.',
    ),
    recorded_at: t.String({
      format: 'date-time',
      description: 'From when on `as_of` returns it; always with milliseconds.',
      examples: [example.recorded_at],
    }),
    retroactive: t.Boolean({
      description: 'It applies to every `as_of`, not only from `recorded_at` on.',
    }),
    derived: t.Boolean({ description: 'It is a value of a series by formula.' }),
  },
  { title: 'Change' },
)

export type ChangeRowWire = typeof ChangeRow.static

/** Records as the API returns them. */
export function rowsOf(
  records: readonly ChangeRecord[],
  cursorOf: ReturnType<Changes['cursors']>,
  sourceNameOf: (seriesId: number, sourceId: number) => string,
): ChangeRowWire[] {
  return records.map(record => ({
    cursor: cursorText(cursorOf(record.place)),
    kind: record.kind,
    dataset: 'prices',
    code: record.series.code,
    observed_at: record.observedAt === undefined ? null : isoInstant(record.observedAt),
    value: record.value ?? null,
    previous: record.previous ?? null,
    unit: record.series.unit,
    currency: record.series.currency,
    source: sourceNameOf(record.series.id, record.sourceId),
    batch: record.batchId || null,
    recorded_at: isoMillis(record.recordedAt),
    retroactive: record.isRetroactive,
    derived: false,
  }))
}
