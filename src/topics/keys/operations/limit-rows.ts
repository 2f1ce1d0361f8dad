import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { type Limits, rateRules } from '../../../plans/limits.ts'
import { addOnFits, type Plans, quotaPeriods } from '../../../plans/plans.ts'
import type { Tier } from '../../../plans/tiers.ts'
import { TierShape } from './tier-shape.ts'

/** One of `tiers` of `GET /v1/meta/limits`, and `limits` of the account. */
export const tierRow = (plans: Plans, tier: Tier) =>
  answerRow(TierShape, tier, {
    request_quota: {
      limit: tier.requestQuota,
      window: tier.quotaKind,
      ...quotaPeriods[tier.quotaKind],
    },
    rate_limit: { limit: tier.requestsPerMinute, window_seconds: 60 },
    webhooks: { endpoints: tier.webhookEndpoints, events_per_month: tier.webhookEventsPerMonth },
    features: [...plans.entitlements.get(tier.id)![0]!.features],
    addons: plans.addOns.filter(addOn => addOnFits(tier, addOn)).map(addOn => addOn.id),
  })

const constant = (example: number) => t.integer({ examples: [example] })

/** One of `rate_limits` of `GET /v1/meta/limits`. */
export const RateLimit = t.Object({
  class: t.String({ examples: ['authenticated'] }),
  limit: constant(60),
  window_seconds: constant(60),
  keyed_by: t.oneOf(['api_key', 'client_ip']),
})
export const rateLimitRows = (limits: Limits) =>
  rateRules(limits).map(rule => answerRow(RateLimit, rule, {}))

/** `constants` of `GET /v1/meta/limits`. */
export const Constants = t.Object({
  max_codes_per_request: constant(20),
  delivery_codes_max: constant(25),
  delivery_name_max: constant(120),
  manual_send_cooldown_seconds: constant(600),
  dispatch_interval_seconds: constant(900),
  key_name_max: constant(100),
  windowed_per_page_max: constant(100),
  alerts_history_per_page_max: constant(100),
  futures_max_age_hours: constant(96),
  futures_ohlc_days_max: constant(1825),
  webhook_retries: constant(5),
  webhook_deactivate_after: constant(10),
})
export const constantsRow = (limits: Limits) =>
  answerRow(Constants, limits, { max_codes_per_request: limits.codesPerRequestMax })
