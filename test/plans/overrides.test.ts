import { describe, expect, test } from 'bun:test'
import { parse } from 'smol-toml'
import { defaultLimits } from '../../src/plans/limits.ts'
import { plansFrom } from '../../src/plans/overrides.ts'
import { cheapestWith, entitlements, specPlans, tierOf } from '../../src/plans/plans.ts'
import { tierRow } from '../../src/topics/keys/operations/limit-rows.ts'

const account = (plan: string, addOns: string[] = []) => ({
  plan,
  addOns,
  trialStartedAt: null,
  trialEndsAt: null,
})

test('an empty file is the specification', () => {
  expect(plansFrom({})).toEqual(specPlans())
})

test('a TOML file changes what it names and nothing else', () => {
  const plans = plansFrom(
    parse(`
      [plans.starter]
      request_quota = 75_000
      scheduled_deliveries = "unlimited"
      price_monthly = 5900
      tier_name = "Starter Plus"
      features = { futures = "included", analytics_alerts = "none" }

      [plans.free]
      request_quota = 100
      requests_per_minute = 20

      [addons.sms]
      sms_per_month = 25
      price_monthly = 500
    `),
  )
  const starter = entitlements(plans, account('starter', ['sms']), 0)
  expect(starter).toMatchObject({
    requestQuota: 75_000,
    scheduledDeliveries: null,
    priceMonthlyCents: 5900,
    priceYearlyCents: 70_800,
    tierName: 'Starter Plus',
    smsPerMonth: 25,
    alerts: 100,
    unconfirmedQuota: 100,
  })
  expect([...starter.features]).toEqual([
    'calculated_metrics',
    'analytics',
    'futures',
    'sms',
    'bulk_export',
  ])
  expect(entitlements(plans, account('free'), 0).requestsPerMinute).toBe(20)
  expect(tierRow(plans, tierOf(plans, 'starter')).addons).toEqual(['sms'])
  expect(cheapestWith(plans, 'futures', 'developer')?.plan.id).toBe('starter')
  expect(cheapestWith(plans, 'analytics_alerts', 'starter')?.plan.id).toBe('professional')
  const untouched = ['trial', 'developer', 'professional', 'scale', 'enterprise'] as const
  for (const id of untouched) expect(tierOf(plans, id)).toEqual(tierOf(specPlans(), id))
  expect(plans.addOns.find(addOn => addOn.id === 'sms')).toMatchObject({
    priceMonthlyCents: 500,
    smsPerMonth: 25,
  })
})

test('JSON null is unlimited too', () => {
  expect(
    tierOf(plansFrom({ plans: { free: { request_quota: null } } }), 'free').requestQuota,
  ).toBeNull()
})

test('settings are the runtime that the file builds on', () => {
  const plans = plansFrom(
    { plans: { scale: { requests_per_minute: 600 } } },
    { ...defaultLimits, perMinute: 90 },
  )
  expect([
    tierOf(plans, 'starter').requestsPerMinute,
    tierOf(plans, 'scale').requestsPerMinute,
  ]).toEqual([90, 600])
})

test('a plan keeps the yearly price that is configured for it', () => {
  const plans = plansFrom({ plans: { scale: { price_monthly: 30_000, price_yearly: 300_000 } } })
  expect(tierOf(plans, 'scale').priceYearlyCents).toBe(300_000)
})

test('a feature that no plan includes names the cheapest that can add it, and one that cannot be had names none', () => {
  const sold = plansFrom({
    plans: {
      professional: { features: { sms: 'addon' } },
      scale: { features: { sms: 'addon' } },
      enterprise: { features: { sms: 'addon' } },
    },
  })
  expect(cheapestWith(sold, 'sms', 'scale')).toMatchObject({
    plan: { id: 'free' },
    addOn: { id: 'sms' },
  })
  const gone = ['professional', 'scale', 'enterprise'].map(id => [
    id,
    { features: { streaming: 'none' } },
  ])
  expect(
    cheapestWith(plansFrom({ plans: Object.fromEntries(gone) }), 'streaming', 'free'),
  ).toBeUndefined()
})

describe('plansFrom: a bad value names the key, itself and what is allowed', () => {
  const cases: [unknown, string][] = [
    [null, 'plans file: null is not allowed; allowed is a table with any of plans, addons'],
    [[], 'plans file: [] is not allowed'],
    [{ plan: {} }, 'plan: {} is not allowed; allowed is nothing: the keys here are plans, addons'],
    [
      { plans: 3 },
      'plans: 3 is not allowed; allowed is a table with any of free, trial, developer',
    ],
    [
      { plans: { gold: {} } },
      'plans.gold: {} is not allowed; allowed is nothing: the keys here are free, trial, developer',
    ],
    [{ plans: { free: null } }, 'plans.free: null is not allowed; allowed is a table'],
    [
      { plans: { free: { quota: 3 } } },
      'plans.free.quota: 3 is not allowed; allowed is nothing: the keys here are name, tier_name',
    ],
    [
      { plans: { free: { request_quota: '50' } } },
      'plans.free.request_quota: "50" is not allowed; allowed is a whole number from 0 to 1000000000000, or "unlimited"',
    ],
    [{ plans: { free: { request_quota: -1 } } }, 'plans.free.request_quota: -1 is not allowed'],
    [{ plans: { free: { request_quota: 1.5 } } }, 'plans.free.request_quota: 1.5 is not allowed'],
    [
      { plans: { free: { request_quota: Number.NaN } } },
      'plans.free.request_quota: null is not allowed',
    ],
    [
      { plans: { free: { api_keys: 0 } } },
      'plans.free.api_keys: 0 is not allowed; allowed is a whole number from 1 to 1000',
    ],
    [
      { plans: { free: { api_keys: 'unlimited' } } },
      'plans.free.api_keys: "unlimited" is not allowed',
    ],
    [
      { plans: { free: { requests_per_minute: 0 } } },
      'plans.free.requests_per_minute: 0 is not allowed; allowed is a whole number from 1',
    ],
    [
      { plans: { free: { min_watch_interval_seconds: 0 } } },
      'plans.free.min_watch_interval_seconds: 0 is not allowed',
    ],
    [{ plans: { free: { price_monthly: null } } }, 'plans.free.price_monthly: null is not allowed'],
    [
      { plans: { free: { name: '' } } },
      'plans.free.name: "" is not allowed; allowed is 1 to 60 printable ASCII characters',
    ],
    [{ plans: { free: { tier_name: 'a\nb' } } }, 'plans.free.tier_name: "a\\nb" is not allowed'],
    [
      { plans: { free: { custom_pricing: 'yes' } } },
      'plans.free.custom_pricing: "yes" is not allowed; allowed is true or false',
    ],
    [
      { plans: { free: { features: ['sms'] } } },
      'plans.free.features: ["sms"] is not allowed; allowed is a table with any of calculated_metrics',
    ],
    [
      { plans: { free: { features: { charts: 'included' } } } },
      'plans.free.features.charts: "included" is not allowed; allowed is nothing',
    ],
    [
      { plans: { free: { features: { sms: true } } } },
      'plans.free.features.sms: true is not allowed; allowed is "included", "addon", "none", "allowance"',
    ],
    [
      { plans: { free: { features: { analytics: 'addon' } } } },
      'plans.free.features.analytics: "addon" is not allowed; allowed is "included", "none", "allowance"',
    ],
    [
      { plans: { starter: { features: { well_permits: 'addon' } } } },
      'plans.starter.features.well_permits: "addon" is not allowed; allowed is "none", or plans.starter.features.energy_intelligence = "included" as well',
    ],
    [
      { plans: { professional: { features: { energy_intelligence: 'none' } } } },
      'plans.professional.features.well_permits: "addon" is not allowed',
    ],
    [{ addons: { gold: {} } }, 'addons.gold: {} is not allowed'],
    [{ addons: { sms: { price_monthly: '9' } } }, 'addons.sms.price_monthly: "9" is not allowed'],
    [
      { addons: { futures_data: { sms_per_month: 3 } } },
      'addons.futures_data.sms_per_month: 3 is not allowed; allowed is nothing',
    ],
  ]
  test.each(cases)(
    'the plans file %j is refused with the key and what it accepts',
    (file, message) => {
      expect(() => plansFrom(file)).toThrow(message)
    },
  )

  test('the shipped plans are untouched by a file that failed', () => {
    expect(() =>
      plansFrom({ plans: { free: { request_quota: 1, features: { sms: 'x' } } } }),
    ).toThrow()
    expect(tierOf(specPlans(), 'free').requestQuota).toBe(50)
  })
})
