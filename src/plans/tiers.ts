import type { Limits } from './limits.ts'

const paidIds = ['developer', 'starter', 'professional', 'scale', 'enterprise'] as const
export const planIds = ['free', ...paidIds] as const
export type PlanId = (typeof planIds)[number]

/**
 * A plan, or the trial that an account on the free plan may be in. The columns of the tables below.
 */
export const tierIds = ['free', 'trial', ...paidIds] as const
export type TierId = (typeof tierIds)[number]

export const features = [
  'calculated_metrics',
  'analytics',
  'forecast',
  'energy_intelligence',
  'well_permits',
  'well_production',
  'webhooks',
  'standard_alerts',
  'analytics_alerts',
  'futures',
  'sms',
  'streaming',
  'data_connector',
  'bulk_export',
] as const
export type Feature = (typeof features)[number]

/** Features as the subject of a sentence about a plan, with the verb that they take. */
export const featureSubjects: Readonly<Record<Feature, string>> = {
  calculated_metrics: 'Calculated metrics are',
  analytics: 'Analytics are',
  forecast: 'Forecasts are',
  energy_intelligence: 'Energy Intelligence is',
  well_permits: 'Well permits are',
  well_production: 'Well production is',
  webhooks: 'Webhooks are',
  standard_alerts: 'Price alerts are',
  analytics_alerts: 'Analytics alerts are',
  futures: 'Futures are',
  sms: 'Text messages are',
  streaming: 'Streaming is',
  data_connector: 'Data sources are',
  bulk_export: 'Bulk exports are',
}

export const addOnIds = ['futures_data', 'well_permits', 'well_production', 'sms'] as const
export type AddOnId = (typeof addOnIds)[number]

/**
 * `allowance`: callable like `included`, but only within the tier's quota as a courtesy: no message
 * recommends the plan for it.
 */
export type Access = 'included' | 'allowance' | 'addon' | 'none'

export type QuotaKind = 'daily_counter' | 'monthly_counter' | 'trial_counter'

/** The allowances of a tier; null is unlimited. Money in minor units of USD. */
export interface Allowances {
  requestQuota: number | null
  requestsPerMinute: number
  apiKeys: number
  scheduledDeliveries: number | null
  webhookEndpoints: number | null
  webhookEventsPerMonth: number | null
  smsPerMonth: number | null
  alerts: number | null
  marketBriefCodes: number
  watches: number | null
  /** Series by formula of an account's own. */
  formulaSeries: number | null
  minWatchIntervalSeconds: number
  /** Requests of the quota that 10,000 exported rows count as; begun ones count as whole. */
  exportRequestsPer10kRows: number
  /** How much of the sending slots that no one else holds an account's webhooks may hold. */
  sendingSlotsPercent: number
  priceMonthlyCents: number
  priceYearlyCents: number
}

export interface Tier extends Allowances {
  id: TierId
  /** The plan the account is on: its own id, or `free` for the trial. */
  planId: PlanId
  name: string
  tierName: string
  /** The plan's name in `/v1/users/me`. */
  legacyName: 'free' | 'exploration' | 'production' | 'reservoir_mastery'
  /** The price is agreed, not listed. */
  customPricing: boolean
  quotaKind: QuotaKind
  /** The entitlement state while quota is left. */
  state: 'paid_active' | 'trial_active' | 'free'
  access: Readonly<Record<Feature, Access>>
}

export interface AddOn {
  id: AddOnId
  name: string
  feature: Feature
  priceMonthlyCents: number
  /** Messages a month that the add-on gives; null for add-ons that are not about messages. */
  smsPerMonth: number | null
}

type Row<T> = readonly [
  free: T,
  trial: T,
  developer: T,
  starter: T,
  professional: T,
  scale: T,
  enterprise: T,
]

const identity = {
  planId: ['free', 'free', 'developer', 'starter', 'professional', 'scale', 'enterprise'],
  name: ['Free', 'Free trial', 'Developer', 'Starter', 'Professional', 'Scale', 'Enterprise'],
  tierName: [
    'Free',
    'Free trial',
    'Exploration',
    'Production Boost',
    'Reservoir Mastery',
    'Scale',
    'Enterprise',
  ],
  legacyName: [
    'free',
    'free',
    'exploration',
    'production',
    'reservoir_mastery',
    'reservoir_mastery',
    'reservoir_mastery',
  ],
  customPricing: [false, false, false, false, false, false, true],
  quotaKind: [
    'daily_counter',
    'trial_counter',
    'monthly_counter',
    'monthly_counter',
    'monthly_counter',
    'monthly_counter',
    'monthly_counter',
  ],
  state: [
    'free',
    'trial_active',
    'paid_active',
    'paid_active',
    'paid_active',
    'paid_active',
    'paid_active',
  ],
} satisfies { [K in keyof Omit<Tier, keyof Allowances | 'id' | 'access'>]: Row<Tier[K]> }

/** A year costs twelve months. */
export const yearOf = (monthlyCents: number) => 12 * monthlyCents
const priceMonthlyCents: Row<number> = [0, 0, 1900, 4900, 9900, 39_900, 0]

const numbers: {
  [K in Exclude<keyof Allowances, 'requestsPerMinute' | 'apiKeys' | 'priceYearlyCents'>]: Row<
    Allowances[K]
  >
} = {
  // The last is a setting.
  requestQuota: [50, 10_000, 10_000, 50_000, 100_000, 1_000_000, null],
  scheduledDeliveries: [1, 1, 10, 10, 10, null, null],
  webhookEndpoints: [0, 0, 0, 0, 25, 25, 25],
  webhookEventsPerMonth: [0, 0, 0, 0, 250_000, 250_000, 250_000],
  smsPerMonth: [0, 0, 0, 0, 50, 200, null],
  alerts: [0, 0, 0, 100, 100, 100, 100],
  marketBriefCodes: [3, 5, 5, 10, 20, 20, 20],
  watches: [1, 3, 3, 10, 25, 100, null],
  formulaSeries: [0, 3, 3, 10, 50, null, null],
  minWatchIntervalSeconds: [3600, 900, 900, 300, 60, 60, 60],
  exportRequestsPer10kRows: [5, 20, 20, 10, 5, 2, 1],
  sendingSlotsPercent: [25, 25, 25, 25, 40, 50, 60],
  priceMonthlyCents,
}

const words = { Y: 'included', D: 'allowance', A: 'addon', '-': 'none' } as const

const cells: Record<Feature, Row<keyof typeof words>> = {
  calculated_metrics: ['-', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y'],
  analytics: ['-', '-', '-', 'Y', 'Y', 'Y', 'Y'],
  forecast: ['-', '-', '-', '-', 'Y', 'Y', 'Y'],
  energy_intelligence: ['-', '-', '-', '-', 'Y', 'Y', 'Y'],
  well_permits: ['-', '-', '-', '-', 'A', 'Y', 'Y'],
  well_production: ['-', '-', '-', '-', 'A', 'A', 'Y'],
  webhooks: ['-', '-', '-', '-', 'Y', 'Y', 'Y'],
  standard_alerts: ['-', '-', '-', '-', 'Y', 'Y', 'Y'],
  analytics_alerts: ['-', '-', '-', 'Y', 'Y', 'Y', 'Y'],
  futures: ['D', 'D', 'A', 'A', 'Y', 'Y', 'Y'],
  sms: ['A', 'A', 'A', 'A', 'Y', 'Y', 'Y'],
  streaming: ['-', '-', '-', '-', 'Y', 'Y', 'Y'],
  data_connector: ['-', '-', '-', '-', 'Y', 'Y', 'Y'],
  bulk_export: ['D', 'D', 'Y', 'Y', 'Y', 'Y', 'Y'],
}

/**
 * A feature that is worth nothing without another one: no tier has or sells it unless it includes
 * the other.
 */
export const prerequisites: Readonly<Partial<Record<Feature, Feature>>> = {
  well_permits: 'energy_intelligence',
}

export const specAddOns: readonly AddOn[] = [
  {
    id: 'futures_data',
    name: 'Futures Data',
    feature: 'futures',
    priceMonthlyCents: 4900,
    smsPerMonth: null,
  },
  {
    id: 'well_permits',
    name: 'Well Permits',
    feature: 'well_permits',
    priceMonthlyCents: 9900,
    smsPerMonth: null,
  },
  {
    id: 'well_production',
    name: 'Well Production',
    feature: 'well_production',
    priceMonthlyCents: 19_900,
    smsPerMonth: null,
  },
  { id: 'sms', name: 'SMS', feature: 'sms', priceMonthlyCents: 900, smsPerMonth: 10 },
]

export const recordOf = <K extends string, V>(keys: readonly K[], value: (key: K) => V) =>
  Object.fromEntries(keys.map(key => [key, value(key)])) as Record<K, V>

function specTier(id: TierId, column: number, limits: Limits): Tier {
  const cell = <T extends Record<string, Row<unknown>>>(table: T) =>
    recordOf(Object.keys(table) as (keyof T & string)[], key => table[key]![column]) as {
      [K in keyof T]: T[K][number]
    }
  return {
    id,
    ...cell(identity),
    ...cell(numbers),
    requestsPerMinute: limits.perMinute,
    apiKeys: limits.keysMax,
    requestQuota:
      id === 'enterprise' ? limits.enterprisePerMonth : (numbers.requestQuota[column] ?? null),
    priceYearlyCents: yearOf(priceMonthlyCents[column]!),
    access: recordOf(features, feature => words[cells[feature][column]!]),
  }
}

export const specTiers = (limits: Limits): readonly Tier[] =>
  tierIds.map((id, column) => specTier(id, column, limits))
