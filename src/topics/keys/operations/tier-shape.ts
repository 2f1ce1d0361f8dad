import { t } from 'elysia'
import { countOrNull, integer } from '../../../http/answer/schema.ts'
import { features } from '../../../plans/tiers.ts'

export const WindowName = t.Union([
  t.Literal('daily_counter'),
  t.Literal('monthly_counter'),
  t.Literal('trial_counter'),
])

export const QuotaStateName = t.Union([
  t.Literal('paid_active'),
  t.Literal('trial_active'),
  t.Literal('free'),
  t.Literal('exhausted'),
  t.Literal('unconfirmed_capped'),
])

export const FeatureList = t.Array(t.String({ examples: [features[0]] }))

/** A plan, or the trial, in numbers: `tierRow` of keys/limit-rows. */
export const TierShape = t.Object(
  {
    id: t.String({ examples: ['starter'] }),
    name: t.String({ examples: ['Starter'] }),
    tier_name: t.String({ examples: ['Production Boost'] }),
    request_quota: t.Object({
      limit: countOrNull('Null: no quota.'),
      window: WindowName,
      period: t.Union([t.Literal('day'), t.Literal('month'), t.Literal('trial')]),
      resets: t.String({ examples: ['on the 1st of each month at 00:00 UTC'] }),
    }),
    rate_limit: t.Object({
      limit: integer({ examples: [60] }),
      window_seconds: integer({ examples: [60] }),
    }),
    scheduled_deliveries: countOrNull('Null: unlimited.'),
    api_keys: integer({ examples: [5] }),
    webhooks: t.Object({
      endpoints: countOrNull('Null: unlimited.'),
      events_per_month: countOrNull('Null: unlimited.'),
    }),
    sms_per_month: countOrNull('Null: unlimited.'),
    market_brief_codes: integer({ examples: [10] }),
    watches: countOrNull('Null: unlimited.'),
    formula_series: countOrNull('Null: unlimited.'),
    min_watch_interval_seconds: integer({ examples: [300] }),
    export_requests_per_10k_rows: integer(
      'Requests of the quota that 10,000 rows of `GET /v1/export/prices` count as.',
      5,
    ),
    alerts: countOrNull('Null: unlimited.'),
    features: FeatureList,
    addons: t.Array(t.String(), { description: 'Add-ons available on this plan.' }),
  },
  { title: 'Tier', description: 'Limits and features of a plan.' },
)
