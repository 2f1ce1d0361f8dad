import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
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

const instant = t.String({ format: 'date-time' })
const anyObject = t.Object({}, { additionalProperties: true })
const condition = t.string('In words.', 'price above 90')
const id = t.String({ examples: ['00000000-0000-4000-8000-000000000201'] })
const name = t.String({ examples: ['Brent above 90'] })
const code = t.String({ examples: ['BRENT_CRUDE_USD'] })
const channels = t.Array(t.String({ examples: ['email'] }), {
  description: '`webhook`, `email`, `sms`, `in_app`.',
})
const analyticsType = t.oneOf(analyticsTypes)
const operator = t.oneOf(operators)

const alertFields = {
  id,
  name,
  commodity_code: code,
  condition_operator: operator,
  condition_value: t.Number({ examples: [90] }),
  delivery_watch: t.Optional(
    t.oneOf(dayWatches, 'Figure of the next market day to compare; absent: the price.'),
  ),
  analytics_type: t.orNull(analyticsType, 'Null: a standard alert.'),
  analytics_period: t.orNull(t.integer({ examples: [30] }), 'Days; for RSI, closes.'),
  analytics_config: t.orNull(anyObject),
  webhook_url: t.orNull(t.String({ examples: ['https://desk.example.com/alerts'] })),
  cooldown_minutes: t.integer({ examples: [60] }),
  enabled: t.Boolean(),
  trigger_count: t.integer({ examples: [0] }),
  last_triggered_at: t.orNull(instant),
  created_at: instant,
  updated_at: instant,
  metadata: t.orNull(anyObject, 'Your own data, and `tolerance`, `min` and `max` of a condition.'),
  in_cooldown: t.Boolean(),
  suspended_reason: t.orNull(t.Literal('plan'), 'Why an enabled alert is not evaluated.'),
}

export const AlertShape = t.object('PriceAlert', alertFields)
export type AlertShape = (typeof AlertShape)['static']

export const AlertWithHistory = t.object('PriceAlertWithHistory', {
  ...alertFields,
  trigger_history: t.objects('Newest first, at most 20.', {
    triggered_at: instant,
    value: t.Number(),
    condition,
    channels,
    metadata: t.orNull(anyObject, 'The measured value.'),
  }),
})
export type AlertWithHistory = (typeof AlertWithHistory)['static']

export const TestShape = t.object('AlertTest', {
  alert_id: id,
  condition,
  current_price: t.Object({
    value: t.orNull(t.Number({ examples: [91.2] })),
    timestamp: t.orNull(instant),
  }),
  would_trigger: t.boolean('The condition is met and no cooldown is running.'),
  in_cooldown: t.Boolean(),
  result: t.oneOf(
    ['would_trigger', 'not_triggered', 'in_cooldown', 'no_data'],
    '`in_cooldown`: the condition is met but a cooldown is running. `no_data`: no price or too few closes; see `error`.',
  ),
  success: t.boolean('Whether the alert could be evaluated.'),
  status_code: t.orNull(t.integer(), 'Null: nothing is sent.'),
  response_time_ms: t.integer(),
  error: t.orNull(t.String()),
})

export const FiredAnalytics = t.object('TriggeredAnalyticsAlert', {
  id,
  name,
  commodity_code: code,
  analytics_type: analyticsType,
  analytics_period: t.integer(),
  analytics_config: anyObject,
  condition,
  trigger_count: t.integer(),
  last_triggered_at: instant,
  cooldown_minutes: t.integer(),
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

export const TriggerShape = t.object('AlertTrigger', {
  id: t.String(),
  alert_id: id,
  alert_name: name,
  commodity_code: code,
  condition,
  price: t.Number({ examples: [91.2] }),
  threshold: t.number('The value that the price or measurement was compared with.', 90),
  metadata: t.orNull(
    anyObject,
    'Measurements of an analytics alert: `z_score`, `mean`, `std_dev`, `rsi`, `volatility`, `trend`. Of an alert on a market day its `date`, and `start` and `end` of the period.',
  ),
  triggered_at: instant,
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
    return answerRow(AlertShape, alert, {
      commodity_code: codeOf(alert.seriesId),
      condition_operator: conditionOperator(rule),
      condition_value: conditionValue(rule),
      ...(rule.kind === 'price' && rule.watch && { delivery_watch: rule.watch }),
      analytics_type: rule.kind === 'price' ? null : rule.kind,
      analytics_period: rule.kind === 'price' ? null : rule.period,
      analytics_config: configOf(rule) ?? null,
      metadata: alert.metadata as Record<string, unknown> | null,
      in_cooldown: alerts.inCooldown(alert),
      suspended_reason: alerts.suspendedReason(alert),
    })
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
  trigger: (trigger: NamedTrigger) =>
    answerRow(TriggerShape, trigger, {
      commodity_code: codeOf(trigger.seriesId),
      metadata: trigger.metadata as Record<string, unknown> | null,
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
