import type { Limits } from './limits.ts'
import { defaultLimits } from './limits.ts'
import type { Plans } from './plans.ts'
import { assemblePlans } from './plans.ts'
import type { Access, AddOn, Allowances, Feature, Tier } from './tiers.ts'
import {
  addOnIds,
  features,
  prerequisites,
  specAddOns,
  specTiers,
  tierIds,
  yearOf,
} from './tiers.ts'

type Values = Record<string, unknown>

/**
 * The name in the file, the field, the least and the most it may be, and whether it may be
 * unlimited.
 */
type Rule<F> = readonly [name: string, field: F, min: number, max: number, unlimited: boolean]

const countMax = 1_000_000_000_000
/** A rate window remembers every request in it: the limit is its memory. */
const rateMax = 100_000

const tierRules: readonly Rule<keyof Allowances>[] = [
  ['request_quota', 'requestQuota', 0, countMax, true],
  ['requests_per_minute', 'requestsPerMinute', 1, rateMax, false],
  ['api_keys', 'apiKeys', 1, 1000, false],
  ['scheduled_deliveries', 'scheduledDeliveries', 0, countMax, true],
  ['webhook_endpoints', 'webhookEndpoints', 0, countMax, true],
  ['webhook_events_per_month', 'webhookEventsPerMonth', 0, countMax, true],
  ['sms_per_month', 'smsPerMonth', 0, countMax, true],
  ['alerts', 'alerts', 0, countMax, true],
  ['market_brief_codes', 'marketBriefCodes', 0, 1000, false],
  ['watches', 'watches', 0, countMax, true],
  ['formula_series', 'formulaSeries', 0, countMax, true],
  ['min_watch_interval_seconds', 'minWatchIntervalSeconds', 1, 86_400, false],
  ['export_requests_per_10k_rows', 'exportRequestsPer10kRows', 0, countMax, false],
  // Less than 100, so that slots remain for other accounts.
  ['sending_slots_percent', 'sendingSlotsPercent', 1, 90, false],
  ['price_monthly', 'priceMonthlyCents', 0, countMax, false],
  ['price_yearly', 'priceYearlyCents', 0, countMax, false],
]

type AddOnNumber = 'priceMonthlyCents' | 'smsPerMonth'

const addOnRules: readonly Rule<AddOnNumber>[] = [
  ['price_monthly', 'priceMonthlyCents', 0, countMax, false],
  ['sms_per_month', 'smsPerMonth', 0, countMax, true],
]

const textNames = { name: 'name', tier_name: 'tierName' } as const
const accessWords = ['included', 'addon', 'none', 'allowance'] as const satisfies readonly Access[]

/**
 * The specification's plans with the changes of a file, for example `{"plans": {"starter":
 * {"request_quota": 75000, "features": {"futures": "included"}}}, "addons": {"sms":
 * {"price_monthly": 500}}}`. "unlimited" (in JSON also null) lifts a count. Throws an Error that
 * names the key, the value and the allowed values; an unknown key is an error too.
 */
export function plansFrom(parsed: unknown, limits: Readonly<Limits> = defaultLimits): Plans {
  const file = table(parsed, 'plans file', ['plans', 'addons'])
  const plans = table(file.plans ?? {}, 'plans', tierIds)
  const addOns = table(file.addons ?? {}, 'addons', addOnIds)
  return assemblePlans(
    specTiers(limits).map(tier =>
      plans[tier.id] === undefined ? tier : changedTier(tier, plans[tier.id], `plans.${tier.id}`),
    ),
    specAddOns.map(addOn =>
      addOns[addOn.id] === undefined
        ? addOn
        : changedAddOn(addOn, addOns[addOn.id], `addons.${addOn.id}`),
    ),
    limits,
  )
}

function changedTier(tier: Tier, value: unknown, path: string): Tier {
  const names = [
    ...Object.keys(textNames),
    'custom_pricing',
    'features',
    ...tierRules.map(([name]) => name),
  ]
  const values = table(value, path, names)
  const changed: Tier = {
    ...tier,
    ...counts<Tier, keyof Allowances>(tierRules, values, path),
    access: { ...tier.access },
  }
  for (const [name, field] of Object.entries(textNames)) {
    if (values[name] !== undefined) changed[field] = text(values[name], `${path}.${name}`)
  }
  if (values.price_monthly !== undefined && values.price_yearly === undefined)
    changed.priceYearlyCents = yearOf(changed.priceMonthlyCents)
  if (values.custom_pricing !== undefined)
    changed.customPricing = flag(values.custom_pricing, `${path}.custom_pricing`)
  changed.access = changedAccess(tier.access, values.features ?? {}, `${path}.features`)
  return changed
}

function changedAccess(access: Tier['access'], value: unknown, path: string): Tier['access'] {
  const values = table(value, path, features)
  const changed = { ...access }
  for (const feature of features) {
    if (values[feature] === undefined) continue
    const sold = specAddOns.some(addOn => addOn.feature === feature)
    const allowed = accessWords.filter(word => word !== 'addon' || sold)
    const word = allowed.find(candidate => candidate === values[feature])
    if (!word) throw refused(`${path}.${feature}`, values[feature], allowed.map(quoted).join(', '))
    changed[feature] = word
  }
  for (const [feature, needed] of Object.entries(prerequisites) as [Feature, Feature][]) {
    if (changed[feature] !== 'none' && changed[needed] !== 'included') {
      throw refused(
        `${path}.${feature}`,
        changed[feature],
        `"none", or ${path}.${needed} = "included" as well`,
      )
    }
  }
  return changed
}

function changedAddOn(addOn: AddOn, value: unknown, path: string): AddOn {
  const rules = addOnRules.filter(([, field]) => addOn[field] !== null)
  const values = table(value, path, ['name', ...rules.map(([name]) => name)])
  const name = values.name === undefined ? addOn.name : text(values.name, `${path}.name`)
  return { ...addOn, ...counts<AddOn, AddOnNumber>(rules, values, path), name }
}

/** Only a nullable rule yields null, so the fields keep the types they have in `T`. */
function counts<T, F extends string & keyof T>(
  rules: readonly Rule<F>[],
  values: Values,
  path: string,
): Partial<Pick<T, F>> {
  const numbers: Partial<Record<F, number | null>> = {}
  for (const [name, field, min, max, unlimited] of rules) {
    if (values[name] !== undefined)
      numbers[field] = count(values[name], `${path}.${name}`, min, max, unlimited)
  }
  return numbers as Partial<Pick<T, F>>
}

function count(
  value: unknown,
  path: string,
  min: number,
  max: number,
  unlimited: boolean,
): number | null {
  if (unlimited && (value === 'unlimited' || value === null)) return null
  const number = typeof value === 'bigint' ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max)
    return number
  throw refused(
    path,
    value,
    `a whole number from ${min} to ${max}${unlimited ? ', or "unlimited"' : ''}`,
  )
}

function text(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[\x20-\x7e]{1,60}$/.test(value)) return value
  throw refused(path, value, '1 to 60 printable ASCII characters')
}

function flag(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value
  throw refused(path, value, 'true or false')
}

function table(value: unknown, path: string, names: readonly string[]): Values {
  const plain =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  if (!plain) throw refused(path, value, `a table with any of ${names.join(', ')}`)
  const stranger = Object.keys(value).find(name => !names.includes(name))
  if (stranger === undefined) return value as Values
  throw refused(
    path === 'plans file' ? stranger : `${path}.${stranger}`,
    (value as Values)[stranger],
    `nothing: the keys here are ${names.join(', ')}`,
  )
}

const quoted = (value: unknown): string =>
  typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? String(value))

const refused = (path: string, value: unknown, allowed: string) =>
  new Error(`${path}: ${quoted(value).slice(0, 80)} is not allowed; allowed is ${allowed}`)
