import { priceOperators } from '../../../topics/alerts/math/price-operators.ts'
import type { AlertShape, AlertWithHistory } from '../../../topics/alerts/operations/row.ts'
import { has } from '../../parts/person/account.ts'
import { words } from '../../parts/text/format.ts'

/** The fields of an alert that depend on its kind. */
interface KindFields {
  analytics_config: Record<string, number | string> | null
  metadata: { min?: number; max?: number } | null
}

export type Alert = Omit<AlertShape, keyof KindFields> & KindFields

export type WholeAlert = Omit<AlertWithHistory, keyof KindFields> & KindFields

export const operators = Object.entries(priceOperators)

export const signOf = (operator: string): string =>
  operators.find(([name]) => name === operator)?.[1].sign ?? operator

export type Draft = ReturnType<typeof draftOf>

export const emptyDraft: Draft = {
  code: 'BRENT_CRUDE_USD',
  kind: 'price',
  operator: 'greater_than',
  value: '',
  max: '',
  name: '',
  cooldownMinutes: '1440',
  period: '30',
  direction: 'both',
  webhookUrl: '',
}

export const kinds = [
  { value: 'price', text: 'the price meets a level' },
  { value: 'z_score', text: 'the price is far from its mean (z-score)' },
  { value: 'rsi', text: 'relative strength is extreme (RSI)' },
  { value: 'volatility_spike', text: 'the price moves more than usual (volatility)' },
  { value: 'trend_reversal', text: 'the trend reverses' },
] as const

export const mayMake = (kind: string): boolean =>
  has(kind === 'price' ? 'standard_alerts' : 'analytics_alerts')

/** The meaning of `value` for each kind of analytics, and its initial value in the form. */
export const thresholds: Readonly<Record<string, { label: string; first: string }>> = {
  z_score: { label: 'Standard deviations from the mean', first: '2' },
  rsi: { label: 'Overbought above', first: '70' },
  volatility_spike: { label: 'Multiple of the usual volatility', first: '2' },
}

/** The body that makes or changes the alert. */
export function bodyOf(draft: Draft) {
  const value = draft.value === '' ? undefined : Number(draft.value)
  const common = {
    name: draft.name.trim() || nameOf(draft),
    commodity_code: draft.code.trim().toUpperCase(),
    cooldown_minutes: Number(draft.cooldownMinutes),
    webhook_url: draft.webhookUrl.trim() || null,
  }
  if (draft.kind === 'price')
    return {
      ...common,
      analytics_type: null,
      condition_operator: draft.operator,
      condition_value: value,
      ...(draft.operator === 'between' && {
        metadata: { min: value, max: draft.max === '' ? undefined : Number(draft.max) },
      }),
    }
  const config: Record<string, unknown> =
    draft.kind === 'z_score'
      ? { threshold: value, direction: draft.direction }
      : draft.kind === 'rsi'
        ? { overbought: value, oversold: value === undefined ? undefined : 100 - value }
        : draft.kind === 'volatility_spike'
          ? { multiplier: value }
          : {}
  return {
    ...common,
    analytics_type: draft.kind,
    analytics_period: Number(draft.period),
    analytics_config: config,
  }
}

export const nameOf = ({ code, kind, operator, value, max }: Draft): string =>
  kind === 'price'
    ? `${code} ${signOf(operator)} ${value}${operator === 'between' ? `–${max}` : ''}`
    : `${code} ${words(kind)}${value === '' ? '' : ` ${value}`}`

export const isWhole = ({ kind, operator, value, max }: Draft): boolean =>
  kind === 'trend_reversal' || (value !== '' && (operator !== 'between' || max !== ''))

export const draftOf = (alert: WholeAlert) => {
  const config = alert.analytics_config ?? {}
  const isRange = alert.condition_operator === 'between'
  return {
    code: alert.commodity_code,
    /** `price`, or a kind of analytics. */
    kind: alert.analytics_type ?? 'price',
    operator: alert.condition_operator,
    value: String(
      alert.analytics_type
        ? (config.threshold ?? config.overbought ?? config.multiplier ?? '')
        : isRange
          ? (alert.metadata?.min ?? '')
          : alert.condition_value,
    ),
    /** The other end of a range. */
    max: String(alert.metadata?.max ?? ''),
    name: alert.name,
    cooldownMinutes: String(alert.cooldown_minutes),
    period: String(alert.analytics_period ?? 30),
    direction: String(config.direction ?? 'both'),
    webhookUrl: alert.webhook_url ?? '',
  }
}
