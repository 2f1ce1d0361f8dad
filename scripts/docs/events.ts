import type { EventType } from '../../src/plans/messages/event-types.ts'

/** When each event is sent, for the page of webhook events. */
export const eventDescriptions: Readonly<Record<EventType, string>> = {
  'price.updated':
    'A new price of a code. Corrections and deletions send `price.corrected`, late prices no event.',
  'price.corrected':
    'A recorded value, of any age, was replaced or restored (`kind` is `revised`) or deleted (`kind` is `deleted`, and `value` is null): by a file, a feed, an operator or the undo of a batch. `previous_value` is null for a value that was restored. `corrections` counts the values of the code that one write corrected: the newest 100 send an event, and `/v1/changes` has all. Computed codes send none.',
  'price.significant_change': 'The newest price moved by 5% or more.',
  'price.threshold': 'The `conditions` of the endpoint hold at a new price.',
  'price.day_ahead.published':
    'Every price of a market day is known, before the day ends. Once a day.',
  'price_alert.triggered': 'A price alert fired.',
  'analytics_alert.triggered': 'An analytics alert fired.',
  'drilling.rig_count.updated': 'A rig count of a region was published.',
  'drilling.frac_spread.updated': 'The number of active frac spreads of a region was published.',
  'drilling.well_permit.new': 'A well permit of the last 30 days was recorded.',
  'drilling.well_permits.batch': 'Well permits of a state were recorded together.',
  'drilling.well_permit.updated': 'The number of well permits of a state was published.',
  'drilling.duc_well.updated': 'The drilled but uncompleted wells of a basin were published.',
  'subscription.created': 'A subscription of the account started.',
  'subscription.updated': 'The plan or the period of the subscription changed.',
  'subscription.cancelled': 'The subscription was cancelled.',
  'invoice.paid': 'An invoice was paid.',
  'invoice.payment_failed': 'A payment was declined.',
  'usage.limit_warning': 'A key has used 80% of its quota.',
  'usage.limit_exceeded': 'A key has used up its quota.',
  'watch.evaluated': 'A watch was evaluated on its schedule.',
  'watch.threshold_crossed': 'A watch found a price that crossed its threshold.',
  'webhook.test': 'You asked for a test of the endpoint.',
}
