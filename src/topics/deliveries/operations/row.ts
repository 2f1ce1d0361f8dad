import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { deliveryCadences } from '../../../plans/messages/delivery-schedule.ts'
import type { Deliveries, Delivery } from '../service/deliveries.ts'

const textOrNull = (description: string) => t.orNull(t.String(), description)

export const runId = t.String({ examples: ['01936f2a-0c00-7b1e-9a53-1d5c2f8e7a01'] })
export const runStatus = t.oneOf(
  ['pending', 'processing', 'sent', 'skipped', 'suppressed'],
  '`pending` and `processing`: being sent, retried automatically. `sent`: accepted by the mail provider. `skipped`: paused, or no code has a current price. `suppressed`: the address is suppressed or was rejected by the provider.',
)
export const runError = textOrNull('Why it was not sent, or the error of the last attempt.')

const Run = t.object('ScheduledDeliveryRun', {
  id: runId,
  trigger: t.oneOf(['scheduled', 'manual']),
  status: runStatus,
  sent_at: t.instantOrNull('When the mail provider accepted it.'),
  error: runError,
  created_at: t.String({ format: 'date-time' }),
})

const fields = {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000301'] }),
  name: t.orNull(t.String({ examples: ['Morning prices'] })),
  commodity_codes: t.Array(t.String({ examples: ['BRENT_CRUDE_USD'] })),
  cadence: t.oneOf(deliveryCadences),
  weekday: t.orNull(
    t.integer({ minimum: 1, maximum: 7 }),
    '1 = Monday to 7 = Sunday; null unless weekly.',
  ),
  delivery_time: t.string('`HH:MM` in `time_zone`.', '07:00'),
  time_zone: t.String({ examples: ['Europe/Berlin'] }),
  destination: t.Literal('email'),
  recipient_email: t.String({ examples: ['desk@example.com'] }),
  recipient_status: t.oneOf(
    ['own', 'confirmed', 'waiting', 'declined'],
    'An address outside the account must confirm by e-mail first (`waiting`); nothing is sent before it confirms or after it declines.',
  ),
  enabled: t.boolean('False: paused.'),
  source: t.string('The channel that created it.', 'api'),
  deliveries_count: t.integer('Deliveries sent, scheduled and manual.', 12),
  last_delivered_on: t.orNull(
    t.String({ format: 'date' }),
    'Local day of the newest delivery sent.',
  ),
  next_delivery_at: t.instantOrNull(
    'Null while paused. Deliveries are sent at the next quarter-hour check.',
  ),
  last_run: t.orNull(Run),
  created_at: t.String({ format: 'date-time' }),
  updated_at: t.String({ format: 'date-time' }),
}

export const DeliveryShape = t.object('ScheduledDelivery', fields)
export type DeliveryShape = (typeof DeliveryShape)['static']

/**
 * The delivery, at the top level and under its name: the specification's `data` can be read both
 * ways.
 */
export const DeliveryTwice = t.object('ScheduledDeliveryAnswer', {
  ...fields,
  delivery: DeliveryShape,
})

/** A delivery in a response. */
export function createDeliveryRows(
  deliveries: Pick<Deliveries, 'enabled' | 'lastRun' | 'recipient' | 'recipientState'>,
) {
  const row = (delivery: Delivery) => {
    const run = deliveries.lastRun(delivery)
    return answerRow(DeliveryShape, delivery, {
      destination: 'email',
      recipient_email: deliveries.recipient(delivery),
      recipient_status: deliveries.recipientState(delivery),
      next_delivery_at: deliveries.enabled && delivery.next ? isoInstant(delivery.next.at) : null,
      last_run: run ? answerRow(Run, run, {}) : null,
    })
  }
  return {
    row,
    twice(delivery: Delivery) {
      const fieldsRow = row(delivery)
      return { ...fieldsRow, delivery: fieldsRow }
    },
  }
}
