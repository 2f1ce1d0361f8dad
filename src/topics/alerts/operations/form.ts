import { t } from '../../../http/answer/schema.ts'
import {
  type Body,
  body,
  changeOf,
  checked,
  choice,
  decimal,
  type Field,
  field,
  flag,
  nullable,
  omittable,
  optional,
  part,
  readField,
  ruled,
  text,
  whole,
} from '../../../http/input/body-schema.ts'
import type { Form } from '../../../http/input/form.ts'
import { isObject, isPlainJson } from '../../../lib/text/json.ts'
import { unprintable } from '../../../lib/text/text.ts'
import { oneOf } from '../../../lib/text/wrong-value.ts'
import { parseDay, parseInstant, startOfDay } from '../../../lib/time/instant.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { deliveryWatches } from '../../delivery/math/watch.ts'
import {
  type AlertCondition,
  type AnalyticsType,
  analyticsTypes,
  conditionOperator,
  conditionValue,
  directions,
} from '../math/condition.ts'
import {
  operators,
  operatorsTaking,
  operatorTakes,
  priceOperators,
  toleranceDefault,
} from '../math/price-operators.ts'
import type { Alert, AlertSettings } from '../service/alerts.ts'
import { configOf } from './row.ts'

const nameMax = 100
const codeMax = 100
const urlMax = 2048
const valueMax = 1_000_000
const cooldownMax = 1440
const metadataMax = 4096
const period = { min: 2, max: 365, default: 30 } as const
const cooldownDefaults = { standard: 60, analytics: 1440 } as const

type Fields = Readonly<Record<string, unknown>>

export interface AlertFormDeps {
  seriesOf(code: string): Series | undefined
  /** Codes near to an unknown one. */
  near(code: string): string[]
  codeOf(seriesId: number): string
  /** Why a target may not be called; undefined when it may. */
  checkTarget(url: string): string | undefined
}

/** Spellings of operators in programming languages. */
const typedSigns: Readonly<Record<string, string>> = { '>=': '≥', '<=': '≤', '==': '=', '!=': '≠' }

const operatorOfSign = (typed: string) =>
  operators.find(
    operator =>
      operator !== typed && priceOperators[operator].sign === (typedSigns[typed] ?? typed),
  )

/** The fields of standard and of analytics alerts. */
const operatorField = field(choice(operators), (form, name) => {
  const meant = operatorOfSign(String(form.value(name)))
  return meant === undefined
    ? form.choice(name, operators)
    : form.fault(name, `must be ${oneOf(operators)}. Did you mean ${meant}?`)
})
const valueField = decimal(-valueMax, valueMax, { examples: [90] })
const analyticsTypeField = choice(analyticsTypes)
const periodField = whole(period.min, period.max, {
  description: `Number of closes that the measure uses. Default: ${period.default}.`,
  examples: [period.default],
})

const anyObject = (options: Record<string, unknown>): Field<Fields> =>
  field(t.Object({}, { additionalProperties: true, ...options }), (form, name) => {
    const value = form.value(name)
    return isObject(value) ? value : form.fault(name, 'must be a JSON object.')
  })

const metadataField = checked(
  anyObject({
    description: `Up to ${metadataMax} characters. \`tolerance\` of ${operatorsTaking('tolerance').join(' and ')} (default: ${toleranceDefault}), \`min\` and \`max\` of ${operatorsTaking('range').join(' and ')}; all other members are free for your use.`,
  }),
  metadata => {
    const json = JSON.stringify(metadata)
    return json.length > metadataMax || !isPlainJson(json)
      ? `must be at most ${metadataMax} characters of JSON, without unpaired surrogates and null characters.`
      : undefined
  },
)

const alertFields = ({ seriesOf, near }: Pick<AlertFormDeps, 'seriesOf' | 'near'>) => ({
  name: checked(text(nameMax, { minLength: 1, examples: ['Brent above 90'] }), name =>
    name.trim() === '' || unprintable.test(name)
      ? 'must be 1 to 100 printable characters.'
      : undefined,
  ),
  commodity_code: seriesField(seriesOf, near),
  condition_operator: ruled(operatorField),
  condition_value: ruled(valueField),
  delivery_watch: ruled(
    choice(deliveryWatches, {
      description:
        'Only for series of delivery periods: what the condition compares. `now` (default) is the price of the current delivery period; `any_tomorrow` each price of the next market day, `base_tomorrow` its mean, `negative_tomorrow` the number of its negative periods, `spread_tomorrow` its highest minus its lowest price. These four are evaluated once, when all prices of the day are known.',
    }),
  ),
  analytics_type: optional(nullable(analyticsTypeField)),
  analytics_period: ruled(periodField),
  analytics_config: ruled(
    anyObject({
      description:
        'z_score: `threshold` above 0, `direction` both (default), above or below. rsi: whole numbers `overbought` and `oversold`, 1 to 99. volatility_spike: `multiplier` above 1. trend_reversal: nothing.',
    }),
  ),
  webhook_url: optional(nullable(text(urlMax, { examples: ['https://desk.example.com/alerts'] }))),
  cooldown_minutes: optional(
    whole(0, cooldownMax, {
      description: 'Default: 60, or 1440 for analytics alerts; 0 disables it.',
    }),
  ),
  enabled: optional(flag({ description: 'Default for new alerts: true.', examples: [true] })),
  metadata: optional(nullable(metadataField)),
})

/** The series of a code or alias. */
function seriesField(
  seriesOf: AlertFormDeps['seriesOf'],
  near: AlertFormDeps['near'],
): Field<Series> {
  const code = text(codeMax, { description: 'A code or alias.', examples: ['BRENT_CRUDE_USD'] })
  return field(code, (form, name) => {
    const named = readField(code, form, name)
    if (named === undefined) return undefined
    const series = seriesOf(named)
    if (series) return series
    const suggestions = near(named).slice(0, 3)
    const hint = suggestions.length > 0 ? ` Did you mean ${suggestions.join(', ')}?` : ''
    return form.fault(name, `must be a commodity code.${hint} GET /v1/commodities lists them.`)
  })
}

const isAbsent = (value: unknown) => value === undefined || value === null

/**
 * Whether a body is for an analytics alert; decided before validation, because a missing plan
 * feature is refused first.
 */
export function isAnalytics(input: unknown): boolean {
  const fields = isObject(input) && isObject(input.price_alert) ? input.price_alert : input
  return isObject(fields) && !isAbsent(fields.analytics_type)
}

const dayCharactersMax = 40

/** The start of a day, named by a date or by any moment of it. */
const dayField = (options: Record<string, unknown>) =>
  omittable(
    field(t.String({ format: 'date', ...options }), (form, name) => {
      const written = form.text(name, dayCharactersMax)
      if (written === undefined) return undefined
      const at = parseDay(written) ?? parseInstant(written)
      return at === undefined
        ? form.fault(name, 'must be a date such as 2027-01-31.')
        : startOfDay(at)
    }),
  )

const backtestDays = {
  start_date: dayField({ examples: ['2024-01-01'] }),
  end_date: dayField({ description: 'Included.', examples: ['2024-06-30'] }),
  vintage: omittable(
    flag({
      description:
        '`true` replays values in the order they were recorded, including corrections; days are then those of recording.',
      examples: [true],
    }),
  ),
}

/** The days that a backtest names, apart from the alert that it is for. */
export const BacktestRange = body(backtestDays)

const example = {
  name: 'Brent above 90',
  commodity_code: 'BRENT_CRUDE_USD',
  condition_operator: 'greater_than',
  condition_value: 90,
  cooldown_minutes: 60,
}

/** The bodies of alerts; fields that a change does not have are kept. */
export function createAlertForms(deps: AlertFormDeps) {
  const fields = alertFields(deps)
  const wrapped = body(fields, {
    wrapper: 'price_alert',
    example: { price_alert: example },
  })
  const alertBody = body(fields)
  const read = (input: unknown, before: Fields) =>
    settingsOf(alertBody, wrapped.fields(input), before, deps.checkTarget)
  return {
    newAlert: wrapped.schema,
    alertChange: body(changeOf(fields), {
      wrapper: 'price_alert',
      example: { price_alert: { condition_value: 95, enabled: true } },
    }).schema,
    backtest: body(
      { price_alert: part(fields), ...backtestDays },
      { example: { price_alert: example, start_date: '2026-01-01', end_date: '2026-06-30' } },
    ).schema,
    created: (input: unknown): AlertSettings => read(input, {}),
    changed: (input: unknown, alert: Alert): AlertSettings =>
      read(input, wireOf(alert, deps.codeOf)),
  }
}

/** An alert as the body that would create it, without fields that follow from its kind. */
function wireOf(
  { name, seriesId, condition, metadata, webhookUrl, cooldownMinutes, enabled }: Alert,
  codeOf: AlertFormDeps['codeOf'],
): Fields {
  const rule =
    condition.kind === 'price'
      ? {
          condition_operator: conditionOperator(condition),
          condition_value: conditionValue(condition),
          ...(condition.watch && { delivery_watch: condition.watch }),
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

/** Fields in which null has a meaning; elsewhere null equals an absent field. */
const nullableNames = new Set([
  'webhook_url',
  'metadata',
  'analytics_type',
  'name',
  'commodity_code',
])

/**
 * The alert with the fields of the body. Another type of analytics drops the configuration of the
 * previous one.
 */
function merged(named: Fields, before: Fields): Fields {
  const changes = Object.fromEntries(
    Object.entries(named).filter(([name, value]) => value !== null || nullableNames.has(name)),
  )
  const rest = { ...before } as Record<string, unknown>
  if (Object.hasOwn(changes, 'analytics_type') && changes.analytics_type !== before.analytics_type)
    delete rest.analytics_config
  return { ...rest, ...changes }
}

function settingsOf(
  alertBody: Body<ReturnType<typeof alertFields>>,
  named: Fields,
  before: Fields,
  checkTarget: AlertFormDeps['checkTarget'],
): AlertSettings {
  const all = merged(named, before)
  const isOnAnalytics = !isAbsent(all.analytics_type)
  let condition: AlertCondition | undefined
  const values = alertBody.read(all, (form, fields) => {
    const { analytics_type: kind, webhook_url: url, commodity_code: series } = fields
    if (isOnAnalytics && !Object.hasOwn(named, 'analytics_type')) refuseDerived(form, named)
    condition = isOnAnalytics ? analyticsIn(form, kind) : standardIn(form)
    const watch = watchIn(form, series, isOnAnalytics)
    if (condition?.kind === 'price' && watch) condition.watch = watch
    const refusal =
      typeof url === 'string' && url !== before.webhook_url ? checkTarget(url) : undefined
    if (refusal !== undefined) form.fault('webhook_url', refusal)
  })
  return {
    name: values.name,
    seriesId: values.commodity_code.id,
    condition: condition!,
    metadata: values.metadata ?? null,
    webhookUrl: values.webhook_url ?? null,
    cooldownMinutes:
      values.cooldown_minutes ?? cooldownDefaults[isOnAnalytics ? 'analytics' : 'standard'],
    enabled: values.enabled ?? true,
  }
}

/**
 * Operator and value of an analytics alert follow from its configuration. A body with its type may
 * repeat them, as a list answers them.
 */
function refuseDerived(form: Form, named: Fields) {
  for (const field of ['condition_operator', 'condition_value']) {
    if (!isAbsent(named[field]))
      form.fault(field, 'must be absent for an analytics alert: it follows from analytics_config.')
  }
}

/** The figure of the next market day that is compared; undefined: a price. */
function watchIn(form: Form, series: Series | undefined, isOnAnalytics: boolean) {
  if (!form.has('delivery_watch') || form.isNull('delivery_watch')) return undefined
  const watch = form.choice('delivery_watch', deliveryWatches)
  if (series?.delivery === undefined || isOnAnalytics)
    return form.fault('delivery_watch', 'requires a price alert on a series of delivery periods.')
  return watch === 'now' ? undefined : watch
}

function standardIn(form: Form): AlertCondition | undefined {
  const operator = form.has('condition_operator')
    ? readField(operatorField, form, 'condition_operator')
    : form.fault('condition_operator', 'is required, or analytics_type.')
  if (operator === undefined) return undefined
  const metadata = isObject(form.value('metadata')) ? form.part('metadata') : undefined
  const value = readField(valueField, form, 'condition_value')
  if (operatorTakes(operator, 'range')) {
    const bound = (field: string) =>
      metadata?.has(field)
        ? metadata.number(field, -valueMax, valueMax)
        : form.fault('metadata', `must have ${field} for ${operator}.`)
    const [min, max] = [bound('min'), bound('max')]
    if (min === undefined || max === undefined) return undefined
    if (min > max) return form.fault('metadata', 'must have a max of at least its min.')
    return { kind: 'price', operator, value: value ?? min, min, max }
  }
  if (!form.has('condition_value'))
    return form.fault('condition_value', 'is required for this operator.')
  const tolerance = metadata?.has('tolerance')
    ? metadata.number('tolerance', 0, valueMax)
    : toleranceDefault
  if (value === undefined || tolerance === undefined) return undefined
  return operatorTakes(operator, 'tolerance')
    ? { kind: 'price', operator, value, tolerance }
    : { kind: 'price', operator, value }
}

function analyticsIn(
  form: Form,
  kind: AnalyticsType | null | undefined,
): AlertCondition | undefined {
  const days = readField(periodField, form, 'analytics_period') ?? period.default
  return kind ? configured[kind](form.part('analytics_config'), days) : undefined
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
