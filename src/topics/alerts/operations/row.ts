import { t } from 'elysia'
import {
  boolean,
  integer,
  number,
  object,
  objects,
  oneOf,
  orNull,
  string,
} from '../../../http/answer/schema.ts'
import { isoInstant, isoOrNull } from '../../../lib/time/instant.ts'
import { dayWatches } from '../../delivery/math/watch.ts'
import {
  type AlertCondition,
  analyticsTypes,
  conditionOperator,
  conditionValue,
} from '../math/condition.ts'
import { operators } from '../math/price-operators.ts'
import type { Alert, Alerts, AlertTest } from '../service/alerts.ts'
import type { AlertTrigger, NamedTrigger } from '../store/triggers.ts'

const instant = (description?: string) =>
  t.String({ format: 'date-time', ...(description && { description }) })
const anyObject = t.Object({}, { additionalProperties: true })
const condition = string('In words.', 'price above 90')
const id = t.String({ examples: ['00000000-0000-4000-8000-000000000201'] })
const name = t.String({ examples: ['Brent above 90'] })
const code = t.String({ examples: ['BRENT_CRUDE_USD'] })
const channels = t.Array(t.String({ examples: ['email'] }), {
  description: '`webhook`, `email`, `sms`, `in_app`.',
})
const analyticsType = oneOf(analyticsTypes)
const operator = oneOf(operators)

const alertFields = {
  id,
  name,
  commodity_code: code,
  condition_operator: operator,
  condition_value: t.Number({ examples: [90] }),
  delivery_watch: t.Optional(
    oneOf(dayWatches, 'The figure of the next market day that is compared; absent: the price.'),
  ),
  analytics_type: orNull(analyticsType, 'Null: a standard alert.'),
  analytics_period: orNull(integer({ examples: [30] }), 'Days; for RSI, closes.'),
  analytics_config: orNull(anyObject),
  webhook_url: orNull(t.String({ examples: ['https://desk.example.com/alerts'] })),
  cooldown_minutes: integer({ examples: [60] }),
  enabled: t.Boolean(),
  trigger_count: integer({ examples: [0] }),
  last_triggered_at: orNull(instant()),
  created_at: instant(),
  updated_at: instant(),
  metadata: orNull(anyObject, 'Your own data, and `tolerance`, `min` and `max` of a condition.'),
  in_cooldown: t.Boolean(),
  suspended_reason: orNull(t.Literal('plan'), 'Why an enabled alert is not evaluated.'),
}

export const AlertShape = t.Object(alertFields, { title: 'PriceAlert' })
export type AlertShape = (typeof AlertShape)['static']

export const AlertWithHistory = object('PriceAlertWithHistory', {
  ...alertFields,
  trigger_history: objects('Newest first, at most 20.', {
    triggered_at: instant(),
    value: t.Number(),
    condition,
    channels,
    metadata: orNull(anyObject, 'The measured value.'),
  }),
})
export type AlertWithHistory = (typeof AlertWithHistory)['static']

export const TestShape = object('AlertTest', {
  alert_id: id,
  condition,
  current_price: t.Object({
    value: orNull(t.Number({ examples: [91.2] })),
    timestamp: orNull(instant()),
  }),
  would_trigger: boolean('The condition is met and no cooldown is running.'),
  in_cooldown: t.Boolean(),
  result: oneOf(
    ['would_trigger', 'not_triggered', 'in_cooldown', 'no_data'],
    '`in_cooldown`: the condition is met but a cooldown is running. `no_data`: no price or too few closes; see `error`.',
  ),
  success: boolean('Whether the alert could be evaluated.'),
  status_code: orNull(integer(), 'Null: nothing is sent.'),
  response_time_ms: integer(),
  error: orNull(t.String()),
})

export const FiredAnalytics = object('TriggeredAnalyticsAlert', {
  id,
  name,
  commodity_code: code,
  analytics_type: analyticsType,
  analytics_period: integer(),
  analytics_config: anyObject,
  condition,
  trigger_count: integer(),
  last_triggered_at: instant(),
  cooldown_minutes: integer(),
  enabled: t.Boolean(),
  metadata: t.Object(
    { current_price: t.Optional(t.Number()) },
    {
      additionalProperties: true,
      description:
        'Measurements at the newest trigger: `z_score`, `mean`, `std_dev`, `rsi`, `volatility`, `trend`.',
    },
  ),
})

export const TriggerShape = object('AlertTrigger', {
  id: t.String(),
  alert_id: id,
  alert_name: name,
  commodity_code: code,
  condition,
  price: t.Number({ examples: [91.2] }),
  threshold: number('The value that the price or measurement was compared with.', 90),
  metadata: orNull(
    anyObject,
    'Measurements of an analytics alert: `z_score`, `mean`, `std_dev`, `rsi`, `volatility`, `trend`. Of an alert on a market day its `date`, and `start` and `end` of the period.',
  ),
  triggered_at: instant(),
  channels,
})
export type TriggerShape = (typeof TriggerShape)['static']

/** The configuration of an analytics kind; undefined for standard alerts. */
export function configOf(rule: AlertCondition): Record<string, unknown> | undefined {
  switch (rule.kind) {
    case 'price':
      return undefined
    case 'z_score':
      return { threshold: rule.threshold, direction: rule.direction }
    case 'rsi':
      return { overbought: rule.overbought, oversold: rule.oversold }
    case 'volatility_spike':
      return { multiplier: rule.multiplier }
    case 'trend_reversal':
      return {}
  }
}

/** An alert on the wire; `codeOf` names its code. */
export const createAlertRows = (
  alerts: Pick<Alerts, 'inCooldown' | 'suspendedReason'>,
  codeOf: (seriesId: number) => string,
) => ({
  row(alert: Alert) {
    const { condition: rule } = alert
    return {
      id: alert.id,
      name: alert.name,
      commodity_code: codeOf(alert.seriesId),
      condition_operator: conditionOperator(rule),
      condition_value: conditionValue(rule),
      ...(rule.kind === 'price' && rule.watch && { delivery_watch: rule.watch }),
      analytics_type: rule.kind === 'price' ? null : rule.kind,
      analytics_period: rule.kind === 'price' ? null : rule.period,
      analytics_config: configOf(rule) ?? null,
      webhook_url: alert.webhookUrl,
      cooldown_minutes: alert.cooldownMinutes,
      enabled: alert.enabled,
      trigger_count: alert.triggerCount,
      last_triggered_at: isoOrNull(alert.lastTriggeredAt),
      created_at: isoInstant(alert.createdAt),
      updated_at: isoInstant(alert.updatedAt),
      metadata: alert.metadata as Record<string, unknown> | null,
      in_cooldown: alerts.inCooldown(alert),
      suspended_reason: alerts.suspendedReason(alert),
    }
  },
  history: ({
    triggeredAt,
    value,
    condition: text,
    channels: channelNames,
    metadata,
  }: AlertTrigger) => ({
    triggered_at: isoInstant(triggeredAt),
    value,
    condition: text,
    channels: [...channelNames],
    metadata: metadata as Record<string, unknown> | null,
  }),
  trigger: (trigger: NamedTrigger) => ({
    id: trigger.id,
    alert_id: trigger.alertId,
    alert_name: trigger.alertName,
    commodity_code: codeOf(trigger.seriesId),
    condition: trigger.condition,
    price: trigger.price,
    threshold: trigger.threshold,
    metadata: trigger.metadata as Record<string, unknown> | null,
    triggered_at: isoInstant(trigger.triggeredAt),
    channels: [...trigger.channels],
  }),
})

export const testRow = (
  { alert, condition: text, price, inCooldown, result, missing }: AlertTest,
  responseTimeMs: number,
) => ({
  alert_id: alert.id,
  condition: text,
  current_price: {
    value: price?.value ?? null,
    timestamp: price ? isoInstant(price.observedAt) : null,
  },
  would_trigger: result === 'would_trigger',
  in_cooldown: inCooldown,
  result,
  success: missing === undefined,
  status_code: null,
  response_time_ms: Math.round(responseTimeMs),
  error: missing ?? null,
})
