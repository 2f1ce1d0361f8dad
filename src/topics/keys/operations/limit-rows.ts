import { type Limits, rateRules } from '../../../plans/limits.ts'
import { addOnFits, type Plans, quotaPeriods } from '../../../plans/plans.ts'
import type { Tier } from '../../../plans/tiers.ts'

/** One of `tiers` of `GET /v1/meta/limits`, and `limits` of the account. */
export const tierRow = (plans: Plans, tier: Tier) => ({
  id: tier.id,
  name: tier.name,
  tier_name: tier.tierName,
  request_quota: {
    limit: tier.requestQuota,
    window: tier.quotaKind,
    ...quotaPeriods[tier.quotaKind],
  },
  rate_limit: { limit: tier.requestsPerMinute, window_seconds: 60 },
  scheduled_deliveries: tier.scheduledDeliveries,
  api_keys: tier.apiKeys,
  webhooks: { endpoints: tier.webhookEndpoints, events_per_month: tier.webhookEventsPerMonth },
  sms_per_month: tier.smsPerMonth,
  market_brief_codes: tier.marketBriefCodes,
  watches: tier.watches,
  formula_series: tier.formulaSeries,
  min_watch_interval_seconds: tier.minWatchIntervalSeconds,
  export_requests_per_10k_rows: tier.exportRequestsPer10kRows,
  alerts: tier.alerts,
  features: [...plans.entitlements.get(tier.id)![0]!.features],
  addons: plans.addOns.filter(addOn => addOnFits(tier, addOn)).map(addOn => addOn.id),
})

/** `rate_limits` of `GET /v1/meta/limits`. */
export const rateLimitRows = (limits: Limits) =>
  rateRules(limits).map(rule => ({
    class: rule.class,
    limit: rule.limit,
    window_seconds: rule.windowSeconds,
    keyed_by: rule.keyedBy,
  }))

/** `constants` of `GET /v1/meta/limits`. */
export const constantsRow = (limits: Limits) => ({
  max_codes_per_request: limits.codesPerRequestMax,
  delivery_codes_max: limits.deliveryCodesMax,
  delivery_name_max: limits.deliveryNameMax,
  manual_send_cooldown_seconds: limits.manualSendCooldownSeconds,
  dispatch_interval_seconds: limits.dispatchIntervalSeconds,
  key_name_max: limits.keyNameMax,
  windowed_per_page_max: limits.windowedPerPageMax,
  alerts_history_per_page_max: limits.alertsHistoryPerPageMax,
  futures_max_age_hours: limits.futuresMaxAgeHours,
  futures_ohlc_days_max: limits.futuresOhlcDaysMax,
  webhook_retries: limits.webhookRetries,
  webhook_deactivate_after: limits.webhookDeactivateAfter,
})
