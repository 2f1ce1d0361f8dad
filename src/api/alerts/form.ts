import { t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { type Form, formBody, formOf } from '../../http/input/form.ts'
import { validationFailed } from '../../http/problem/problem.ts'
import { isObject, isPlainJson } from '../../lib/json.ts'
import { unprintable } from '../../lib/text.ts'
import {
  type AlertCondition,
  type AnalyticsType,
  analyticsTypes,
  conditionOperator,
  conditionValue,
  directions,
  operators,
  toleranceDefault,
} from '../../market/alerts/condition.ts'
import type { Alert, AlertSettings } from '../../service/alerts/alerts.ts'
import type { Series } from '../../store/catalogue/series.ts'
import { configOf } from './row.ts'

const nameMax = 100
const codeMax = 100
const urlMax = 2048
const valueMax = 1_000_000
const cooldownMax = 1440
const metadataMax = 4096
const period = { min: 2, max: 365, default: 30 } as const
const cooldownDefaults = { standard: 60, analytics: 1440 } as const

const orNull = <T extends Parameters<typeof t.Union>[0][number]>(one: T) => t.Union([one, t.Null()])

const fields = t.Object({
  name: t.String({ minLength: 1, maxLength: nameMax, examples: ['Brent above 90'] }),
  commodity_code: t.String({ description: 'A code or alias.', examples: ['BRENT_CRUDE_USD'] }),
  condition_operator: t.Optional(t.Union(operators.map(one => t.Literal(one)))),
  condition_value: t.Optional(t.Number({ minimum: -valueMax, maximum: valueMax, examples: [90] })),
  analytics_type: t.Optional(orNull(t.Union(analyticsTypes.map(one => t.Literal(one))))),
  analytics_period: t.Optional(
    integer({ minimum: period.min, maximum: period.max, default: period.default }),
  ),
  analytics_config: t.Optional(
    t.Object(
      {},
      {
        additionalProperties: true,
        description:
          'z_score: `threshold` above 0, `direction` both (default), above or below. rsi: whole numbers `overbought` and `oversold`, 1 to 99. volatility_spike: `multiplier` above 1. trend_reversal: nothing.',
      },
    ),
  ),
  webhook_url: t.Optional(
    orNull(t.String({ maxLength: urlMax, examples: ['https://desk.example.com/alerts'] })),
  ),
  cooldown_minutes: t.Optional(
    integer({
      minimum: 0,
      maximum: cooldownMax,
      description: '60 by default, 1440 for analytics alerts; 0: none.',
    }),
  ),
  enabled: t.Optional(t.Boolean({ default: true })),
  metadata: t.Optional(
    orNull(
      t.Object(
        {},
        {
          additionalProperties: true,
          description: `Up to ${metadataMax} characters. \`tolerance\` of equals and not_equals (${toleranceDefault}), \`min\` and \`max\` of between; the rest is the caller's own.`,
        },
      ),
    ),
  ),
})

const either = (one: typeof fields | ReturnType<typeof t.Partial>) =>
  t.Union([t.Object({ price_alert: one }), one])
export const alertBody = formBody(either(fields))
export const alertChangeBody = formBody(either(t.Partial(fields)))
export const backtestBody = formBody(
  t.Object({
    price_alert: fields,
    start_date: t.Optional(t.String({ format: 'date', examples: ['2024-01-01'] })),
    end_date: t.Optional(
      t.String({ format: 'date', description: 'Included.', examples: ['2024-06-30'] }),
    ),
  }),
)

type Fields = Readonly<Record<string, unknown>>

/** The fields of an alert, wrapped in `price_alert` or bare. */
function fieldsOf(body: unknown): Fields {
  if (!isObject(body)) {
    // Refuses what is neither an object nor absent.
    formOf(body)
    return {}
  }
  if (!Object.hasOwn(body, 'price_alert')) return body
  const { price_alert: wrapped } = body
  if (isObject(wrapped)) return wrapped
  throw validationFailed([
    { field: 'price_alert', message: 'price_alert: must be a JSON object.', value: null },
  ])
}

const isAbsent = (value: unknown) => value === undefined || value === null

/**
 * Whether a body is about an analytics alert, before anything of it is checked: what a plan does
 * not include is refused first.
 */
export function isAnalytics(body: unknown): boolean {
  const given = isObject(body) && isObject(body.price_alert) ? body.price_alert : body
  return isObject(given) && !isAbsent(given.analytics_type)
}

export interface AlertFormDeps {
  seriesOf(code: string): Series | undefined
  /** Known codes near to one that is none. */
  near(code: string): string[]
  codeOf(seriesId: number): string
  /** Why a target may not be called; undefined when it may. */
  checkTarget(url: string): string | undefined
}

/** Reads what is written of alerts; what a change does not name stays. */
export const createAlertForms = (deps: AlertFormDeps) => ({
  created: (body: unknown): AlertSettings => settingsOf(fieldsOf(body), {}, deps),
  changed: (body: unknown, alert: Alert): AlertSettings =>
    settingsOf(fieldsOf(body), wireOf(alert, deps.codeOf), deps),
})

/** An alert as a body that would make it, without what follows from its kind. */
function wireOf(
  { name, seriesId, condition, metadata, webhookUrl, cooldownMinutes, enabled }: Alert,
  codeOf: AlertFormDeps['codeOf'],
): Fields {
  const rule =
    condition.kind === 'price'
      ? {
          condition_operator: conditionOperator(condition),
          condition_value: conditionValue(condition),
        }
      : {
          analytics_type: condition.kind,
          analytics_period: condition.period,
          analytics_config: configOf(condition),
        }
  return {
    name,
    commodity_code: codeOf(seriesId),
    webhook_url: webhookUrl,
    cooldown_minutes: cooldownMinutes,
    enabled,
    metadata,
    ...rule,
  }
}

/** Fields in which null says something; elsewhere it says as much as nothing. */
const nullable = new Set(['webhook_url', 'metadata', 'analytics_type', 'name', 'commodity_code'])

/**
 * What was there before with what is said now. Another type of analytics begins without the
 * configuration of the one before it.
 */
function merged(given: Fields, before: Fields): Fields {
  const said = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => value !== null || nullable.has(name)),
  )
  const kept = { ...before } as Record<string, unknown>
  if (Object.hasOwn(said, 'analytics_type') && said.analytics_type !== before.analytics_type)
    delete kept.analytics_config
  return { ...kept, ...said }
}

function settingsOf(
  given: Fields,
  before: Fields,
  { seriesOf, near, checkTarget }: AlertFormDeps,
): AlertSettings {
  const all = merged(given, before)
  const form = formOf(all)
  const name = form.has('name') ? form.text('name', nameMax) : form.fault('name', 'is required.')
  if (name !== undefined && (name.trim() === '' || unprintable.test(name)))
    form.fault('name', 'must be 1 to 100 printable characters.')
  const series = codeIn(form, seriesOf, near)
  const isOnAnalytics = !isAbsent(all.analytics_type)
  if (isOnAnalytics && !Object.hasOwn(given, 'analytics_type')) refuseDerived(form, given)
  const metadata = metadataIn(form, all.metadata)
  const bounds = isAbsent(all.metadata) ? undefined : form.part('metadata')
  const condition = isOnAnalytics ? analyticsIn(form) : standardIn(form, bounds)
  const cooldown = form.integer('cooldown_minutes', 0, cooldownMax)
  const enabled = form.flag('enabled')
  const webhookUrl = form.isNull('webhook_url') ? null : form.text('webhook_url', urlMax)
  const refusal =
    typeof webhookUrl === 'string' && webhookUrl !== before.webhook_url
      ? checkTarget(webhookUrl)
      : undefined
  if (refusal !== undefined) form.fault('webhook_url', refusal)
  form.check()
  return {
    name: name!,
    seriesId: series!.id,
    condition: condition!,
    metadata,
    webhookUrl: webhookUrl ?? null,
    cooldownMinutes: cooldown ?? cooldownDefaults[isOnAnalytics ? 'analytics' : 'standard'],
    enabled: enabled ?? true,
  }
}

function codeIn(
  form: Form,
  seriesOf: AlertFormDeps['seriesOf'],
  near: AlertFormDeps['near'],
): Series | undefined {
  const code = form.has('commodity_code')
    ? form.text('commodity_code', codeMax)
    : form.fault('commodity_code', 'is required.')
  if (code === undefined) return undefined
  const series = seriesOf(code)
  if (series) return series
  const meant = near(code).slice(0, 3)
  const hint = meant.length > 0 ? ` Did you mean ${meant.join(', ')}?` : ''
  return form.fault(
    'commodity_code',
    `is no commodity code.${hint} GET /v1/commodities lists them.`,
  )
}

/**
 * Operator and value of an analytics alert follow from its configuration. A body with its type may
 * repeat them, as a list answers them.
 */
function refuseDerived(form: Form, given: Fields) {
  for (const field of ['condition_operator', 'condition_value']) {
    if (!isAbsent(given[field]))
      form.fault(field, 'of an analytics alert follows from analytics_config.')
  }
}

/** Of an object; what is none has been refused with its part. */
function metadataIn(form: Form, given: unknown): Fields | null {
  if (!isObject(given)) return null
  const text = JSON.stringify(given)
  if (text.length > metadataMax || !isPlainJson(text)) {
    form.fault(
      'metadata',
      `must be at most ${metadataMax} characters of JSON, without unpaired surrogates and null characters.`,
    )
  }
  return given
}

function standardIn(form: Form, metadata: Form | undefined): AlertCondition | undefined {
  const operator = form.has('condition_operator')
    ? form.choice('condition_operator', operators)
    : form.fault('condition_operator', 'is required, or analytics_type.')
  if (operator === undefined) return undefined
  const number = (field: string) =>
    form.has(field) ? form.number(field, -valueMax, valueMax) : undefined
  const value = number('condition_value')
  if (operator === 'between') {
    const bound = (field: string) =>
      metadata?.has(field)
        ? metadata.number(field, -valueMax, valueMax)
        : form.fault('metadata', `must have ${field} for between.`)
    const [min, max] = [bound('min'), bound('max')]
    if (min === undefined || max === undefined) return undefined
    if (min > max) return form.fault('metadata', 'must have a max that is not below its min.')
    return { kind: 'price', operator, value: value ?? min, min, max }
  }
  if (!form.has('condition_value'))
    return form.fault('condition_value', 'is required for this operator.')
  const tolerance = metadata?.has('tolerance')
    ? metadata.number('tolerance', 0, valueMax)
    : toleranceDefault
  if (value === undefined || tolerance === undefined) return undefined
  return operator === 'equals' || operator === 'not_equals'
    ? { kind: 'price', operator, value, tolerance }
    : { kind: 'price', operator, value }
}

function analyticsIn(form: Form): AlertCondition | undefined {
  const kind = form.choice('analytics_type', analyticsTypes)
  const days = form.integer('analytics_period', period.min, period.max) ?? period.default
  return kind && configured[kind](form.part('analytics_config'), days)
}

const required = <T>(config: Form, field: string, read: () => T | undefined): T | undefined =>
  config.has(field) && !config.isNull(field) ? read() : config.fault(field, 'is required.')

/** A number above `floor`. */
const above = (config: Form, field: string, floor: number): number | undefined => {
  const value = required(config, field, () => config.number(field, floor, valueMax))
  return value === floor ? config.fault(field, `must be above ${floor}.`) : value
}

const configured: Record<
  AnalyticsType,
  (config: Form, days: number) => AlertCondition | undefined
> = {
  z_score(config, days) {
    const threshold = above(config, 'threshold', 0)
    const direction = config.isNull('direction')
      ? 'both'
      : (config.choice('direction', directions) ?? 'both')
    return threshold === undefined
      ? undefined
      : { kind: 'z_score', period: days, threshold, direction }
  },
  rsi(config, days) {
    const level = (field: string) => required(config, field, () => config.integer(field, 1, 99))
    const [overbought, oversold] = [level('overbought'), level('oversold')]
    if (overbought === undefined || oversold === undefined) return undefined
    if (oversold >= overbought) return config.fault('oversold', 'must be below overbought.')
    return { kind: 'rsi', period: days, overbought, oversold }
  },
  volatility_spike(config, days) {
    const multiplier = above(config, 'multiplier', 1)
    return multiplier === undefined
      ? undefined
      : { kind: 'volatility_spike', period: days, multiplier }
  },
  trend_reversal: (_config, days) => ({ kind: 'trend_reversal', period: days }),
}
