import { isoInstant } from '../../../lib/time/instant.ts'
import type { EventType } from '../../../plans/messages/event-types.ts'

type Data = Readonly<Record<string, unknown>>

const id = '00000000-0000-4000-8000-000000000000'

const price = {
  commodity: 'WTI_USD',
  commodity_code: 'WTI_USD',
  name: 'WTI Crude Oil',
  value: 71.23,
  price: 71.23,
  currency: 'USD',
  unit: 'barrel',
}
const rigCount = {
  commodity: 'US_RIG_COUNT',
  region: 'US',
  value: 540,
  previous_value: 537,
  change: 3,
  change_percent: 0.56,
}
const permit = {
  api_number: '42329400010000',
  api_number_raw: '42-329-40001',
  state_code: 'TX',
  county: 'Midland',
  permit_number: '900001',
  permit_type: 'new_drill',
  permit_status: 'approved',
  permit_date: '2026-11-19',
  operator: { name: 'Example Operating', name_raw: 'EXAMPLE OPERATING LLC', number: '100001' },
  well: { name: 'Example Unit', number: '1H', type: 'horizontal' },
  location: {
    latitude: 31.99,
    longitude: -102.08,
    county: 'Midland',
    section: null,
    township: null,
    range: null,
  },
  target: { formation: 'Wolfcamp', formation_raw: 'WOLFCAMP', total_depth_proposed: 19_500 },
  provenance: { source: 'sample', source_url: null, fetched_at: null, data_as_of: '2026-11-19' },
}
const standardAlert = {
  alert_id: id,
  alert_name: 'Sample alert',
  commodity_code: 'WTI_USD',
  commodity: 'WTI_USD',
  condition: 'greater_than 70',
  condition_operator: 'greater_than',
  condition_value: 70,
  current_price: 71.23,
  price: 71.23,
  currency: 'USD',
  unit: 'barrel',
  threshold: 70,
  trigger_count: 1,
}
const analyticsAlert = {
  alert_id: id,
  alert_name: 'Sample alert',
  commodity_code: 'WTI_USD',
  analytics_type: 'z_score',
  analytics_period: 30,
  condition: 'z_score above 2',
  current_value: 2.31,
  threshold: 2,
  trigger_count: 1,
  metadata: { z_score: 2.31, mean: 68.4, std_dev: 1.22, current_price: 71.23 },
  details: { z_score: 2.31, mean: 68.4, std_dev: 1.22 },
}
const subscription = { subscription_id: id, plan_id: 'professional', plan_name: 'Professional' }
const invoice = { invoice_id: id, subscription_id: id, amount: 9900, currency: 'USD' }
const usage = {
  resource: 'requests',
  usage: 80_000,
  limit: 100_000,
  percentage: 80,
  period: 'month',
  key_id: id,
}
const watch = {
  seq: 1,
  id,
  watch_id: id,
  type: 'evaluated',
  code: 'WTI_USD',
  price: 71.23,
  currency: 'USD',
  unit: 'barrel',
  previous_price: 70.8,
  change: 0.43,
  change_percent: 0.61,
}

/** When a sample is made, and for which endpoint. */
interface SampleMoment {
  now: string
  day: string
  webhookId: string
}

const updated = ({ now }: SampleMoment) => ({
  ...price,
  change_percent: 0.61,
  previous_value: 70.8,
  source: 'market_reporting',
  timestamp: now,
})
const week = ({ now, day }: SampleMoment) => ({
  source: 'sample',
  report_date: day,
  timestamp: now,
})
const watched = ({ now }: SampleMoment) => ({
  ...watch,
  as_of: now,
  payload: { price: 71.23, previous_price: 70.8 },
  created_at: now,
})
const period = ({ now }: SampleMoment) => ({
  status: 'active',
  billing_period: 'monthly',
  current_period_start: now,
  current_period_end: now,
})

const samples: Readonly<Record<EventType, (moment: SampleMoment) => Data>> = {
  'price.updated': updated,
  'price.corrected': ({ now }) => ({
    commodity: 'WTI_USD',
    commodity_code: 'WTI_USD',
    name: 'WTI Crude Oil',
    kind: 'revised',
    value: 71.23,
    previous_value: 72.13,
    currency: 'USD',
    unit: 'barrel',
    observed_at: '2026-11-19T15:00:00Z',
    recorded_at: now,
    corrections: 1,
  }),
  'price.significant_change': moment => ({
    ...updated(moment),
    change_percent: 6.1,
    previous_value: 67.13,
    threshold_exceeded: '5%',
    alert_type: 'surge',
  }),
  'price.threshold': ({ now }) => ({
    ...price,
    previous_value: 69.8,
    condition_logic: 'any',
    timestamp: now,
    condition_triggered: {
      operator: 'greater_than',
      threshold: '70',
      value: 70,
      min_value: null,
      max_value: null,
      timeframe: null,
      trigger_on: null,
    },
  }),
  'price.day_ahead.published': () => ({
    commodity: 'POWER_DE_EUR',
    commodity_code: 'POWER_DE_EUR',
    name: 'German Power',
    date: '2026-11-21',
    zone: 'Europe/Berlin',
    resolution: 'PT15M',
    periods: 96,
    base: 84.31,
    peak: 92.4,
    off_peak: 76.22,
    min: { price: -2.5, start: '2026-11-21T12:00:00Z', end: '2026-11-21T12:15:00Z' },
    max: { price: 164.9, start: '2026-11-21T16:45:00Z', end: '2026-11-21T17:00:00Z' },
    negative_periods: 3,
    currency: 'EUR',
    unit: 'mwh',
    published_at: '2026-11-20T11:47:12Z',
    timestamp: '2026-11-20T23:00:00Z',
  }),
  'price_alert.triggered': ({ now }) => ({ ...standardAlert, triggered_at: now }),
  'analytics_alert.triggered': ({ now }) => ({ ...analyticsAlert, triggered_at: now }),
  'drilling.rig_count.updated': ({ now, day }) => ({
    ...rigCount,
    unit: 'rigs',
    source: 'sample',
    breakdown: { oil_rigs: 430, gas_rigs: 104, misc_rigs: 6 },
    rig_count: 540,
    oil_rigs: 430,
    gas_rigs: 104,
    change_from_prior_week: 3,
    change_from_prior_year: -12,
    report_date: day,
    timestamp: now,
  }),
  'drilling.frac_spread.updated': moment => ({
    ...rigCount,
    commodity: 'PERMIAN_FRAC_SPREADS',
    region: 'Permian',
    unit: 'frac_spreads',
    frac_spreads_count: 540,
    change_from_prior_week: 3,
    ...week(moment),
  }),
  'drilling.well_permit.new': () => permit,
  'drilling.well_permits.batch': ({ now }) => ({
    state: 'TX',
    batch_id: id,
    count: 1,
    permits: [permit],
    truncated: false,
    pagination: { page: 1, total_pages: 1, per_page: 100, total_count: 1, has_next: false },
    batch_timestamp: now,
  }),
  'drilling.well_permit.updated': ({ now }) => ({
    ...rigCount,
    commodity: 'TEXAS_WELL_PERMITS',
    region: 'Texas',
    state_code: 'TX',
    unit: 'permits',
    source: 'sample',
    api_number: null,
    permit_status: null,
    status_change: null,
    timestamp: now,
  }),
  'drilling.duc_well.updated': moment => ({
    ...rigCount,
    commodity: 'PERMIAN_DUC_WELLS',
    region: 'Permian',
    duc_count: 540,
    change_from_prior_month: 3,
    completions_this_month: 410,
    unit: 'wells',
    ...week(moment),
  }),
  'subscription.created': moment => ({
    ...subscription,
    ...period(moment),
    created_at: moment.now,
  }),
  'subscription.updated': moment => ({
    ...subscription,
    ...period(moment),
    previous_plan_id: 'starter',
    cancel_at_period_end: false,
    updated_at: moment.now,
  }),
  'subscription.cancelled': ({ now, day }) => ({
    ...subscription,
    cancelled_at: now,
    effective_end_date: day,
  }),
  'invoice.paid': ({ now }) => ({
    ...invoice,
    status: 'paid',
    period_start: now,
    period_end: now,
    paid_at: now,
    pdf_url: null,
  }),
  'invoice.payment_failed': ({ now }) => ({
    ...invoice,
    status: 'open',
    attempt_count: 1,
    next_attempt_at: null,
    error: 'The card was declined.',
    failed_at: now,
  }),
  'usage.limit_warning': ({ now }) => ({ ...usage, reset_at: now, timestamp: now }),
  'usage.limit_exceeded': ({ now }) => ({
    ...usage,
    usage: 100_000,
    percentage: 100,
    reset_at: now,
    timestamp: now,
    exceeded_at: now,
  }),
  'watch.evaluated': watched,
  'watch.threshold_crossed': moment => ({ ...watched(moment), type: 'threshold_crossed' }),
  'webhook.test': ({ now, webhookId }) => ({
    message: 'This is a test of your webhook endpoint.',
    webhook_id: webhookId,
    timestamp: now,
  }),
}

/** An example of an event type, with invented values: the `data` of a test that names the type. */
export function sampleData(type: EventType, webhookId: string, at: number): Data {
  const now = isoInstant(at)
  return samples[type]({ now, day: now.slice(0, 10), webhookId })
}
