import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { watchEventTypes } from '../math/change.ts'
import type { WatchEvent } from '../service/feed.ts'
import type { Watch } from '../service/watches.ts'

const numberOrNull = (example: number, description: string) => t.numberOrNull(description, example)

const watchFields = {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000501'] }),
  name: t.orNull(t.String({ examples: ['hourly brent'] })),
  codes: t.Array(t.String({ examples: ['BRENT_CRUDE_USD'] })),
  interval_seconds: t.integer({ examples: [3600] }),
  status: t.oneOf(['active', 'paused']),
  deliver_webhook: t.Boolean(),
  threshold_percent: numberOrNull(
    2,
    'A change of at least this percentage between two runs is a `threshold_crossed`.',
  ),
  source: t.string('The channel that created it, from the request header.', 'api'),
  tool_name: t.stringOrNull('The tool that created it, from the request header.', 'price-desk'),
  last_evaluated_at: t.instantOrNull('When it last ran.'),
  next_run_at: t.instantOrNull('When it runs next; null while it is paused.'),
  created_at: t.String({ format: 'date-time' }),
  updated_at: t.String({ format: 'date-time' }),
}

export const WatchShape = t.Object(watchFields, {
  title: 'Watch',
  description: 'Codes that are evaluated on a schedule.',
})
export type WatchShape = (typeof WatchShape)['static']

/** Existing clients read a watch at the top or under `subscription`; both are there. */
export const WatchTwice = t.Object({ ...watchFields, subscription: WatchShape })

export const watchRow = (watch: Watch): WatchShape =>
  answerRow(WatchShape, watch, { status: watch.active ? 'active' : 'paused' })

export const watchTwice = (watch: Watch) => ({ ...watchRow(watch), subscription: watchRow(watch) })

const values = {
  code: t.string('As it is watched.', 'BRENT_CRUDE_USD'),
  price: numberOrNull(74.25, 'The newest at the run; null: there was none.'),
  currency: t.orNull(t.String({ examples: ['USD'] })),
  unit: t.String({ examples: ['barrel'] }),
  previous_price: numberOrNull(
    73.9,
    'Price at the previous run or, for the first run, at creation; null without a price or if a futures family has rolled to another contract since.',
  ),
  change: numberOrNull(0.35, '`price` - `previous_price`.'),
  change_percent: numberOrNull(
    0.47,
    'The same in percent of `previous_price`; null when that is 0.',
  ),
  as_of: t.instantOrNull('When the price was observed.'),
}

export const WatchEventShape = t.Object(
  {
    seq: t.integer("Increases within the account's feed; numbers may be skipped.", 42),
    id: t.string('Id of the corresponding webhook event.', 'evt_8kq2zr5m0c4n7p9w1s3t6v8x0y'),
    watch_id: t.String({ examples: ['00000000-0000-4000-8000-000000000501'] }),
    type: t.oneOf(watchEventTypes),
    ...values,
    payload: t.Object(values, { description: 'The same values.' }),
    created_at: t.instant('When the watch ran.'),
  },
  { title: 'WatchEvent', description: 'Result of a watch run for one code.' },
)

// The API returns the events that are streamed and delivered: the feed creates the wire form, and
// this line checks its type.
export const watchEventRow = (event: WatchEvent): (typeof WatchEventShape)['static'] => event
