import { t } from '../../../http/answer/schema.ts'
import { features } from '../../../plans/tiers.ts'

export const WindowName = t.oneOf(['daily_counter', 'monthly_counter', 'trial_counter'])

export const QuotaStateName = t.oneOf([
  'paid_active',
  'trial_active',
  'free',
  'exhausted',
  'unconfirmed_capped',
])

export const FeatureList = t.Array(t.String({ examples: [features[0]] }))

/** A plan, or the trial, in numbers: `tierRow` of keys/limit-rows. */
export const TierShape = t.Object(
  {
    id: t.String({ examples: ['starter'] }),
    name: t.String({ examples: ['Starter'] }),
    tier_name: t.String({ examples: ['Production Boost'] }),
    request_quota: t.Object({
      limit: t.integerOrNull('Null: no quota.'),
      window: WindowName,
      period: t.oneOf(['day', 'month', 'trial']),
      resets: t.String({ examples: ['on the 1st of each month at 00:00 UTC'] }),
    }),
    rate_limit: t.Object({
      limit: t.integer({ examples: [60] }),
      window_seconds: t.integer({ examples: [60] }),
    }),
    scheduled_deliveries: t.integerOrNull('Null: unlimited.'),
    api_keys: t.integer({ examples: [5] }),
    webhooks: t.Object({
      endpoints: t.integerOrNull('Null: unlimited.'),
      events_per_month: t.integerOrNull('Null: unlimited.'),
    }),
    sms_per_month: t.integerOrNull('Null: unlimited.'),
    market_brief_codes: t.integer({ examples: [10] }),
    watches: t.integerOrNull('Null: unlimited.'),
    formula_series: t.integerOrNull('Null: unlimited.'),
    min_watch_interval_seconds: t.integer({ examples: [300] }),
    export_requests_per_10k_rows: t.integer(
      'Requests of the quota that 10,000 rows of `GET /v1/export/prices` count as.',
      5,
    ),
    alerts: t.integerOrNull('Null: unlimited.'),
    features: FeatureList,
    addons: t.Array(t.String(), { description: 'Add-ons available on this plan.' }),
  },
  { title: 'Tier', description: 'Limits and features of a plan.' },
)
