import { describe, expect, test } from 'bun:test'
import type { PlanAccount } from '../../src/plans/plans.ts'
import {
  cheapestWith,
  entitlements,
  hasFeature,
  offeredPlans,
  recommendedPlan,
  specPlans,
  tierOf,
  unlimitedPlans,
} from '../../src/plans/plans.ts'
import { quotaRefusals } from '../../src/plans/quota.ts'
import type { AddOnId, Feature, PlanId, Tier, TierId } from '../../src/plans/tiers.ts'
import { addOnIds, features, planIds, prerequisites, tierIds } from '../../src/plans/tiers.ts'

const now = Date.UTC(2026, 10, 21, 12)
const dayMs = 86_400_000
const spec = specPlans()

const account = (plan: string, addOns: string[] = [], trial?: [number, number]): PlanAccount => ({
  plan,
  addOns,
  trialStartedAt: trial?.[0] ?? null,
  trialEndsAt: trial?.[1] ?? null,
})

/** An account on a column of the tables: the trial is a running one on free. */
const onTier = (id: string, addOns: string[] = []) =>
  entitlements(
    spec,
    id === 'trial' ? account('free', addOns, [now - dayMs, now + dayMs]) : account(id, addOns),
    now,
  )

/** Rows of a Markdown table whose columns are the tiers. */
const rowsOf = (table: string): [string, string[]][] =>
  table
    .trim()
    .split('\n')
    .map(line => line.split('|').map(cell => cell.trim().replaceAll('`', '')))
    .map(([, name, ...cells]) => [name!, cells.slice(0, tierIds.length)])

// The numbers of the contract, row by row, in its own notation.
const numberRows = rowsOf(`
| tier name | Free | Free trial | Exploration | Production Boost | Reservoir Mastery | Scale | Enterprise |
| request quota | 50/day | 10,000/7 days | 10,000/month | 50,000/month | 100,000/month | 1,000,000/month | 10,000,000/month |
| quota used up | 402 | 429 trial | 429 monthly | 429 monthly | 429 monthly | 429 monthly | 429 monthly |
| rolling rate / 60 s | 60 | 60 | 60 | 60 | 60 | 60 | 60 |
| active API keys | 5 | 5 | 5 | 5 | 5 | 5 | 5 |
| scheduled deliveries | 1 | 1 | 10 | 10 | 10 | unlimited | unlimited |
| webhook endpoints | 0 | 0 | 0 | 0 | 25 | 25 | 25 |
| webhook events / month | 0 | 0 | 0 | 0 | 250,000 | 250,000 | 250,000 |
| SMS / month | 0 (10 with add-on) | 0 (10 with add-on) | 0 (10 with add-on) | 0 (10 with add-on) | 50 | 200 | unlimited |
| price alerts | 0 | 0 | 0 | 100 | 100 | 100 | 100 |
| codes per market brief | 3 | 5 | 5 | 10 | 20 | 20 | 20 |
| watches | 1 | 3 | 3 | 10 | 25 | 100 | unlimited |
| formulas | 0 | 3 | 3 | 10 | 50 | unlimited | unlimited |
| shortest watch interval, s | 3600 | 900 | 900 | 300 | 60 | 60 | 60 |
| price per month | 0 | 0 | 1900 | 4900 | 9900 | 39900 | 0 custom |
| plan of users/me | free | free | exploration | production | reservoir_mastery | reservoir_mastery | reservoir_mastery |
`)

const spell = (count: number | null) =>
  count === null ? 'unlimited' : count.toLocaleString('en-US')
const periods = { daily_counter: 'day', trial_counter: '7 days', monthly_counter: 'month' }
const refusals = {
  PAYMENT_REQUIRED: '402',
  TRIAL_LIMIT_EXCEEDED: '429 trial',
  MONTHLY_QUOTA_EXCEEDED: '429 monthly',
}

const written: Record<string, (tier: Tier, id: string) => string> = {
  'tier name': tier => tier.tierName,
  'request quota': tier => `${spell(tier.requestQuota)}/${periods[tier.quotaKind]}`,
  'quota used up': tier => refusals[quotaRefusals[tier.quotaKind].code],
  'rolling rate / 60 s': tier => spell(tier.requestsPerMinute),
  'active API keys': tier => spell(tier.apiKeys),
  'scheduled deliveries': tier => spell(tier.scheduledDeliveries),
  'webhook endpoints': tier => spell(tier.webhookEndpoints),
  'webhook events / month': tier => spell(tier.webhookEventsPerMonth),
  'SMS / month': (tier, id) => {
    const messages = onTier(id, ['sms']).smsPerMonth
    return (
      spell(tier.smsPerMonth) + (messages === tier.smsPerMonth ? '' : ` (${messages} with add-on)`)
    )
  },
  'price alerts': tier => spell(tier.alerts),
  'codes per market brief': tier => spell(tier.marketBriefCodes),
  watches: tier => spell(tier.watches),
  formulas: tier => spell(tier.formulaSeries),
  'shortest watch interval, s': tier => String(tier.minWatchIntervalSeconds),
  'price per month': tier => `${tier.priceMonthlyCents}${tier.customPricing ? ' custom' : ''}`,
  'plan of users/me': tier => tier.legacyName,
}

describe('specPlans: numbers', () => {
  test('every row of the contract is checked', () => {
    expect(numberRows.map(([name]) => name)).toEqual(Object.keys(written))
  })

  for (const [name, cells] of numberRows) {
    test.each(cells.map((cell, column) => [tierIds[column]!, cell] as const))(
      `${name}: %s has %s`,
      (id, cell) => {
        expect(written[name]!(tierOf(spec, id), id)).toBe(cell)
      },
    )
  }

  test('what an account gets are the numbers of its tier', () => {
    for (const id of tierIds) {
      const tier = tierOf(spec, id)
      const { name: _name, id: _id, access: _access, ...numbers } = tier
      expect(onTier(id)).toMatchObject({ ...numbers, tier: id, planName: tier.name })
    }
  })
})

const featureRows = rowsOf(`
| calculated_metrics | - | Y | Y | Y | Y | Y | Y |
| analytics | - | - | - | Y | Y | Y | Y |
| forecast | - | - | - | - | Y | Y | Y |
| energy_intelligence | - | - | - | - | Y | Y | Y |
| well_permits | - | - | - | - | A | Y | Y |
| well_production | - | - | - | - | A | A | Y |
| webhooks | - | - | - | - | Y | Y | Y |
| standard_alerts | - | - | - | - | Y | Y | Y |
| analytics_alerts | - | - | - | Y | Y | Y | Y |
| futures | D | D | A | A | Y | Y | Y |
| sms | A | A | A | A | Y | Y | Y |
| streaming | - | - | - | - | Y | Y | Y |
| data_connector | - | - | - | - | Y | Y | Y |
| bulk_export | D | D | Y | Y | Y | Y | Y |
`) as [Feature, string[]][]

const addOnOf: Partial<Record<Feature, AddOnId>> = {
  futures: 'futures_data',
  well_permits: 'well_permits',
  well_production: 'well_production',
  sms: 'sms',
}

describe('specPlans: features', () => {
  test('every feature has a row', () => {
    expect(featureRows.map(([feature]) => feature)).toEqual([...features])
  })

  for (const [feature, cells] of featureRows) {
    test.each(cells.map((cell, column) => [tierIds[column]!, cell] as const))(
      `${feature}: %s has %s`,
      (id, cell) => {
        const alone = hasFeature(onTier(id), feature)
        const withEverything = hasFeature(onTier(id, [...addOnIds]), feature)
        const withOthers = hasFeature(
          onTier(
            id,
            addOnIds.filter(addOn => addOn !== addOnOf[feature]),
          ),
          feature,
        )
        const features =
          cell === 'Y' || cell === 'D'
            ? [true, true, true]
            : cell === 'A'
              ? [false, true, false]
              : [false, false, false]
        expect([alone, withEverything, withOthers]).toEqual(features)
      },
    )
  }

  test('no tier has or sells a feature without the one it needs', () => {
    for (const plans of [spec, unlimitedPlans()]) {
      for (const { access } of plans.tiers) {
        for (const [feature, needed] of Object.entries(prerequisites) as [Feature, Feature][]) {
          expect(access[feature] === 'none' || access[needed] === 'included').toBe(true)
        }
      }
    }
  })

  test('an add-on counts only where the plan may add it', () => {
    expect(onTier('professional', ['well_permits', 'sms']).addOns).toEqual(['well_permits'])
    expect(onTier('starter', ['well_permits']).addOns).toEqual([])
    expect(onTier('starter', ['futures_data', 'sms', 'no_such_add_on']).addOns).toEqual([
      'futures_data',
      'sms',
    ])
  })

  test('the SMS add-on does not lower what a plan includes', () => {
    expect(onTier('professional', ['sms']).smsPerMonth).toBe(50)
    expect(onTier('enterprise', ['sms']).smsPerMonth).toBeNull()
  })
})

describe('entitlements: the trial', () => {
  const start = Date.UTC(2026, 10, 14, 9, 30)
  const end = start + 7 * dayMs
  const at = (instant: number, plan = 'free') =>
    entitlements(spec, account(plan, [], [start, end]), instant)

  test('it runs from its start up to its end', () => {
    const tiers = [start - 1, start, end - 1, end].map(instant => at(instant).tier)
    expect(tiers).toEqual(['free', 'trial', 'trial', 'free'])
    expect(at(start)).toMatchObject({
      planId: 'free',
      tier: 'trial',
      tierName: 'Free trial',
      trialActive: true,
      state: 'trial_active',
    })
  })

  test('an expired trial is exactly free', () => {
    expect(at(end)).toBe(entitlements(spec, account('free'), end))
  })

  test('a paid plan has no trial', () => {
    expect(at(start, 'starter')).toBe(entitlements(spec, account('starter'), start))
  })

  test('it adds calculated metrics, its quota and its designed numbers', () => {
    const [free, trial] = [onTier('free'), onTier('trial')]
    expect([...trial.features].filter(feature => !free.features.has(feature))).toEqual([
      'calculated_metrics',
    ])
    expect([...free.features].every(feature => trial.features.has(feature))).toBe(true)
  })
})

test('a plan that does not exist is refused by name', () => {
  expect(() => entitlements(spec, account('gold'), now)).toThrow(
    'account.plan: "gold" is not a plan; one of free, developer',
  )
  expect(() => entitlements(spec, account('trial'), now)).toThrow('"trial" is not a plan')
})

describe('cheapestWith and recommendedPlan', () => {
  const table: [Feature, PlanId, AddOnId | undefined][] = [
    ['calculated_metrics', 'developer', undefined],
    ['analytics', 'starter', undefined],
    ['forecast', 'professional', undefined],
    ['energy_intelligence', 'professional', undefined],
    ['well_permits', 'scale', undefined],
    ['well_production', 'enterprise', undefined],
    ['webhooks', 'professional', undefined],
    ['standard_alerts', 'professional', undefined],
    ['analytics_alerts', 'starter', undefined],
    ['futures', 'professional', 'futures_data'],
    ['sms', 'professional', 'sms'],
    ['streaming', 'professional', undefined],
    ['data_connector', 'professional', undefined],
  ]
  test.each(table)('%s on developer: the plan is %s, the add-on %s', (feature, plan, addOn) => {
    const offer = cheapestWith(spec, feature, 'developer')
    expect({ plan: offer?.plan.id, addOn: offer?.addOn?.id }).toEqual({ plan, addOn })
  })

  test('well permits can be added to professional, well production to professional and scale', () => {
    expect(cheapestWith(spec, 'well_permits', 'professional')?.addOn?.id).toBe('well_permits')
    expect(cheapestWith(spec, 'well_production', 'professional')?.addOn?.id).toBe('well_production')
    expect(cheapestWith(spec, 'well_production', 'scale')?.addOn?.id).toBe('well_production')
    expect(cheapestWith(spec, 'well_permits', 'starter')?.addOn).toBeUndefined()
  })

  const next: [TierId, PlanId][] = [
    ['free', 'developer'],
    ['trial', 'starter'],
    ['developer', 'starter'],
    ['starter', 'professional'],
    ['professional', 'scale'],
    ['scale', 'enterprise'],
    ['enterprise', 'enterprise'],
  ]
  test.each(next)('%s used up: %s is recommended', (id, plan) => {
    expect(recommendedPlan(spec, id).id).toBe(plan)
  })

  test('an unconfirmed account on a paid plan needs no other plan', () => {
    expect(recommendedPlan(spec, 'professional', true).id).toBe('professional')
    expect(recommendedPlan(spec, 'free', true).id).toBe('developer')
    expect(recommendedPlan(spec, 'trial', true).id).toBe('developer')
  })

  test('the trial is not for sale', () => {
    expect(offeredPlans(spec).map(tier => tier.id)).toEqual([...planIds])
  })
})

describe('unlimitedPlans', () => {
  const open = unlimitedPlans()

  test('has every feature on every tier and no count that could run out', () => {
    for (const plan of planIds) {
      const entitled = entitlements(open, account(plan), now)
      expect([...entitled.features]).toEqual([...features])
      const {
        requestQuota,
        unconfirmedQuota,
        scheduledDeliveries,
        webhookEndpoints,
        webhookEventsPerMonth,
        smsPerMonth,
        alerts,
        watches,
        formulaSeries,
      } = entitled
      const counts = [
        requestQuota,
        unconfirmedQuota,
        scheduledDeliveries,
        webhookEndpoints,
        webhookEventsPerMonth,
        smsPerMonth,
        alerts,
        watches,
        formulaSeries,
      ]
      expect(counts.every(count => count === null)).toBe(true)
    }
  })

  test('keeps what bounds one request and one account', () => {
    expect(entitlements(open, account('free'), now)).toMatchObject({
      requestsPerMinute: 60,
      apiKeys: 5,
      marketBriefCodes: 20,
      minWatchIntervalSeconds: 60,
      tier: 'free',
      tierName: 'Free',
    })
  })
})
