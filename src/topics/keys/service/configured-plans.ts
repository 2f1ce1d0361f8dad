import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Config } from '../../../config/config.ts'
import { reasonOfCode } from '../../../lib/files/error-text.ts'
import { isTable, parseToml } from '../../../lib/text/toml.ts'
import { nearestWord } from '../../../lib/text/wrong-value.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import { defaultLimits, type Limits } from '../../../plans/limits.ts'
import { plansFrom } from '../../../plans/overrides.ts'
import { type Plans, specPlans, unlimitedPlans } from '../../../plans/plans.ts'

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

/**
 * `spec`, `unlimited`, or a file with changes to the specification's table. Throws the error of the
 * file, with its name and the place that names it.
 */
export function configuredPlans(config: Config, limits: Limits): Plans {
  const { plans: path } = config
  if (path === 'spec') return specPlans(limits)
  if (path === 'unlimited') return unlimitedPlans(limits)
  try {
    return plansFrom(readPlanFile(path), limits)
  } catch (error) {
    const source = config.provenance.get('plans') ?? 'plans'
    throw new Error(`${source}: plans: ${path}: ${(error as Error).message}`, { cause: error })
  }
}

const ownWords = ['spec', 'unlimited']

function readPlanFile(path: string): unknown {
  const parsed = parsedFile(path, textOf(path))
  if (isTable(parsed) && parsed.plans === undefined && parsed.addons === undefined)
    throw new Error(
      'the file changes no plan; it must have tables under plans or addons, such as [plans.starter]',
    )
  return parsed
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new Error(`it must be a file that can be read; ${reasonOfCode(error) ?? String(error)}`)
    const word = basename(path)
    const meant = nearestWord(word, ownWords)
    throw new Error(
      `there is no such file; plans must be "spec", "unlimited" or a file of plans${meant ? `; did you mean "${meant}"?` : ''}`,
    )
  }
}

function parsedFile(path: string, text: string): unknown {
  if (path.endsWith('.json')) return JSON.parse(text)
  const parsed = parseToml(text)
  if ('fault' in parsed)
    throw new Error(`line ${parsed.line}, column ${parsed.column}: ${parsed.fault}`)
  return parsed.table
}
