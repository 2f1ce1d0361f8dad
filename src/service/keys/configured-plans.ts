import { readFileSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { secondMs } from '../../lib/instant.ts'
import { parseToml } from '../../lib/toml.ts'
import { defaultLimits, type Limits } from '../../plan/limits.ts'
import { plansFrom } from '../../plan/overrides.ts'
import { type Plans, specPlans, unlimitedPlans } from '../../plan/plans.ts'

/** The limits of the specification with those that are settings. */
export function configuredLimits(config: Config): Limits {
  return {
    ...defaultLimits,
    perMinute: config.limits.perMinute,
    unauthenticated: config.limits.unauthenticatedPerMinute,
    overQuota: config.limits.overQuotaPerMinute,
    marine: config.limits.marinePerMinute,
    marineHistorical: config.limits.marineHistoricalPerMinute,
    demoPerHour: config.demo.limitPerHour,
    keysMax: config.limits.keysMax,
    enterprisePerMonth: config.limits.enterprisePerMonth,
    dispatchIntervalSeconds: config.deliveries.dispatchIntervalMs / secondMs,
  }
}

/** `spec`, `unlimited`, or a file with changes to the specification's table. */
export function configuredPlans(config: Config, limits: Limits): Plans {
  if (config.plans === 'spec') return specPlans(limits)
  if (config.plans === 'unlimited') return unlimitedPlans(limits)
  return plansFrom(readPlanFile(config.plans), limits)
}

function readPlanFile(path: string): unknown {
  const text = readFileSync(path, 'utf8')
  if (path.endsWith('.json')) return JSON.parse(text)
  const parsed = parseToml(text)
  if ('fault' in parsed) throw new Error(`${path}:${parsed.line}:${parsed.column}: ${parsed.fault}`)
  return parsed.table
}
