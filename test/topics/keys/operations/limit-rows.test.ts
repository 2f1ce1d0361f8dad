import { describe, expect, test } from 'bun:test'
import { defaultLimits } from '../../../../src/plans/limits.ts'
import { entitlements, specPlans, tierOf } from '../../../../src/plans/plans.ts'
import { tierIds } from '../../../../src/plans/tiers.ts'
import {
  constantsRow,
  rateLimitRows,
  tierRow,
} from '../../../../src/topics/keys/operations/limit-rows.ts'

const spec = specPlans()
const onScale = { plan: 'scale', addOns: [], trialStartedAt: null, trialEndsAt: null }

describe('tierRow, rateLimitRows and constantsRow', () => {
  test('a tier row has the shape of the contract', () => {
    expect(tierRow(spec, tierOf(spec, 'developer'))).toEqual({
      id: 'developer',
      name: 'Developer',
      tier_name: 'Exploration',
      request_quota: {
        limit: 10_000,
        window: 'monthly_counter',
        period: 'month',
        resets: 'on the 1st of each month at 00:00 UTC',
      },
      rate_limit: { limit: 60, window_seconds: 60 },
      scheduled_deliveries: 10,
      api_keys: 5,
      webhooks: { endpoints: 0, events_per_month: 0 },
      sms_per_month: 0,
      market_brief_codes: 5,
      watches: 3,
      formula_series: 3,
      min_watch_interval_seconds: 900,
      export_requests_per_10k_rows: 20,
      alerts: 0,
      features: ['calculated_metrics', 'bulk_export'],
      addons: ['futures_data', 'sms'],
    })
  })

  test('each plan has the quota and period of the specification', () => {
    const quotas = spec.tiers.map(tier => tierRow(spec, tier).request_quota)
    expect(quotas.map(quota => `${quota.limit} ${quota.window} ${quota.period}`)).toEqual([
      '50 daily_counter day',
      '10000 trial_counter trial',
      '10000 monthly_counter month',
      '50000 monthly_counter month',
      '100000 monthly_counter month',
      '1000000 monthly_counter month',
      '10000000 monthly_counter month',
    ])
  })

  test('what may be added to each tier', () => {
    expect(spec.tiers.map(tier => tierRow(spec, tier).addons.join(' '))).toEqual([
      'sms',
      'sms',
      'futures_data sms',
      'futures_data sms',
      'well_permits well_production',
      'well_production',
      '',
    ])
  })

  test('each class of requests has the rates of the specification', () => {
    expect(rateLimitRows(defaultLimits)).toEqual([
      { class: 'authenticated', limit: 60, window_seconds: 60, keyed_by: 'api_key' },
      { class: 'unauthenticated', limit: 10, window_seconds: 60, keyed_by: 'client_ip' },
      { class: 'over_quota', limit: 5, window_seconds: 60, keyed_by: 'api_key' },
      { class: 'marine', limit: 30, window_seconds: 60, keyed_by: 'api_key' },
      { class: 'marine_historical', limit: 5, window_seconds: 60, keyed_by: 'api_key' },
      { class: 'demo', limit: 20, window_seconds: 3600, keyed_by: 'client_ip' },
    ])
  })

  test('the constants of the limits are those of the specification', () => {
    expect(constantsRow(defaultLimits)).toEqual({
      max_codes_per_request: 20,
      delivery_codes_max: 25,
      delivery_name_max: 120,
      manual_send_cooldown_seconds: 600,
      dispatch_interval_seconds: 900,
      key_name_max: 100,
      windowed_per_page_max: 100,
      alerts_history_per_page_max: 100,
      futures_max_age_hours: 96,
      futures_ohlc_days_max: 1825,
      webhook_retries: 5,
      webhook_deactivate_after: 10,
    })
  })

  test('published rate limits match the limits in force', () => {
    const plans = specPlans({ ...defaultLimits, perMinute: 120 })
    expect(plans.tiers.map(tier => tierRow(plans, tier).rate_limit.limit)).toEqual(
      tierIds.map(() => 120),
    )
    expect(entitlements(plans, onScale, 0).requestsPerMinute).toBe(120)
    expect(rateLimitRows(plans.limits)[0]).toMatchObject({ class: 'authenticated', limit: 120 })
  })
})
