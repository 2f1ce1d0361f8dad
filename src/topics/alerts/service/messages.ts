import { isoInstant } from '../../../lib/time/instant.ts'
import { hasFeature } from '../../../plans/plans.ts'
import { priceType } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Mail, MailMessage } from '../../messages/service/mail.ts'
import { linkedHtml } from '../../messages/service/mail-html.ts'
import type { Notices } from '../../messages/service/notices.ts'
import type { TextMessages } from '../../messages/service/sms.ts'
import type { Preferences } from '../../messages/store/preferences.ts'
import { formatPrice, roundTo } from '../../prices/math/format.ts'
import type { Events, OwnEvent } from '../../webhooks/service/events.ts'
import {
  type AlertMoment,
  conditionOperator,
  conditionValue,
  type Verdict,
} from '../math/condition.ts'
import type { WatchingAlert } from '../store/alerts.ts'

/** An alert that fires, with this trigger counted. */
export interface FiredAlert {
  alert: WatchingAlert
  /** The code that it watches. */
  watched: Series
  /** The priced series: for a futures family its front contract. */
  series: Series
  verdict: Verdict
  /** As it is answered. */
  price: number
  condition: string
  /** The measures in wire form; for a market day its date and period; else null. */
  metadata: Record<string, unknown> | null
  triggerCount: number
  triggeredAt: number
  /** Names this trigger among those of the alert. */
  observedAt: number
}

/** Ways on which an alert is sent. */
export type Channel = 'webhook' | 'email' | 'sms' | 'in_app'

export interface AlertMessagesDeps {
  events: Pick<Events, 'emitEach'>
  mail: Pick<Mail, 'postAll' | 'pageUrl' | 'reaches'>
  textMessages: Pick<TextMessages, 'post' | 'alertNumber'>
  notices: Notices
  preferences: { of(accountId: string): Preferences }
  keys: Pick<Keyring, 'account' | 'entitlements'>
  serviceName: string
}

/** Queues the notifications of the alerts that fire in one transaction. */
export interface Notifier {
  /** Queues the messages of alerts; returns the channels of each. */
  notify(fired: readonly FiredAlert[]): Channel[][]
  /** Writes the notifications: one for each account, however many of its alerts fired. */
  end(): void
}

/** The channels on which an account receives alerts. */
interface AccountChannels {
  email: string | undefined
  webhooks: boolean
  number(type: string): string | undefined
}

/** One notifier for each transaction reads the settings of an account once. */
export const createNotifiers = (deps: AlertMessagesDeps) => (): Notifier => {
  const { events, mail, textMessages, notices, serviceName } = deps
  const channelsOf = createAccountChannels(deps)
  const firedByAccount = new Map<string, FiredAlert[]>()
  return {
    notify(fired) {
      const mailMessages: MailMessage[] = []
      const deliveries = events.emitEach(fired.map(eventOf))
      const channels = fired.map((firedAlert, place) => {
        const { alert } = firedAlert
        const { accountId, webhookUrl } = alert
        const channelsOn = channelsOf(accountId)
        const alertChannels: Channel[] = []
        if (deliveries[place]! > 0 || (webhookUrl !== null && channelsOn.webhooks))
          alertChannels.push('webhook')
        if (channelsOn.email !== undefined) {
          mailMessages.push({
            to: channelsOn.email,
            ...alertMailMessage(firedAlert, serviceName, mail.pageUrl(`/alerts/${alert.id}`)),
            accountId,
            dedupe: dedupeOf(firedAlert),
            ref: `alert:${alert.id}`,
            isNotice: true,
          })
          if (mail.reaches) alertChannels.push('email')
        }
        const number = channelsOn.number(
          alert.condition.kind === 'price' ? 'price_alert' : 'analytics_alert',
        )
        if (number !== undefined) {
          const text = `${serviceName}: ${alertLine(firedAlert)}`
          if (
            textMessages.post({
              to: number,
              text,
              accountId,
              dedupe: dedupeOf(firedAlert),
              purpose: 'alert',
            }) !== undefined
          )
            alertChannels.push('sms')
        }
        alertChannels.push('in_app')
        const firedBefore = firedByAccount.get(accountId)
        if (firedBefore) firedBefore.push(firedAlert)
        else firedByAccount.set(accountId, [firedAlert])
        return alertChannels
      })
      mail.postAll(mailMessages)
      return channels
    },
    end() {
      for (const [accountId, fired] of firedByAccount)
        notices.post({ accountId, ...noticeOf(fired) }, fired[0]!.triggeredAt)
    },
  }
}

const noticeLinesMax = 5

function noticeOf(fired: readonly FiredAlert[]) {
  const { alert, watched, price } = fired[0]!
  const shared = { commodity_code: watched.code, price }
  const type = 'price_alert'
  if (fired.length === 1)
    return {
      type,
      title: alert.name,
      message: alertLine(fired[0]!),
      data: { alert_id: alert.id, ...shared },
    }
  const lines = fired.slice(0, noticeLinesMax).map(alertLine)
  const rest = fired.length > noticeLinesMax ? [`And ${fired.length - noticeLinesMax} more.`] : []
  return {
    type,
    title: `${fired.length} alerts on ${watched.code}`,
    message: [...lines, ...rest].join('\n'),
    data: { alert_ids: fired.map(firedAlert => firedAlert.alert.id), ...shared },
  }
}

function createAccountChannels({
  keys,
  preferences,
  textMessages,
}: AlertMessagesDeps): (accountId: string) => AccountChannels {
  const byAccount = new Map<string, AccountChannels>()
  const read = (accountId: string): AccountChannels => {
    const account = keys.account(accountId)
    const { email } = preferences.of(accountId)
    const numbers = new Map<string, string | undefined>()
    return {
      email: email.enabled && email.priceAlerts ? account?.account.email : undefined,
      webhooks: account !== undefined && hasFeature(keys.entitlements(account), 'webhooks'),
      number(type) {
        if (!numbers.has(type)) numbers.set(type, textMessages.alertNumber(accountId, type))
        return numbers.get(type)
      },
    }
  }
  return accountId => {
    const channelsOn = byAccount.get(accountId) ?? read(accountId)
    byAccount.set(accountId, channelsOn)
    return channelsOn
  }
}

const burstOf = ({ observedAt, watched }: FiredAlert) => `alert.${observedAt}.${watched.code}`
const dedupeOf = (fired: FiredAlert) => `${burstOf(fired)}.${fired.alert.number}`

function eventOf(fired: FiredAlert): OwnEvent {
  const {
    alert,
    watched,
    series,
    verdict,
    price,
    condition,
    triggerCount,
    triggeredAt: at,
    observedAt,
  } = fired
  const { condition: rule, accountId, webhookUrl: url } = alert
  const commodity = watched.code
  const triggered_at = isoInstant(at)
  const about = {
    at,
    dedupe: burstOf(fired),
    rank: { at: observedAt, number: alert.number },
    accountId,
    commodity,
    url,
  }
  if (rule.kind === 'price') {
    const data = {
      alert_id: alert.id,
      alert_name: alert.name,
      commodity_code: commodity,
      commodity,
      condition,
      condition_operator: conditionOperator(rule),
      condition_value: conditionValue(rule),
      current_price: price,
      price,
      ...(isCount(alert)
        ? { currency: null, unit: 'periods' }
        : { currency: series.currency, unit: series.unit }),
      threshold: verdict.threshold,
      trigger_count: triggerCount,
      ...(fired.metadata && { delivery: fired.metadata }),
      triggered_at,
    }
    return { type: 'price_alert.triggered', data, ...about }
  }
  const data = {
    alert_id: alert.id,
    alert_name: alert.name,
    commodity_code: commodity,
    analytics_type: rule.kind,
    analytics_period: rule.period,
    condition,
    current_value: shownMeasure(verdict.value),
    threshold: shownMeasure(verdict.threshold),
    trigger_count: triggerCount,
    metadata: fired.metadata ?? {},
    details: detailsOf(verdict),
    triggered_at,
  }
  return { type: 'analytics_alert.triggered', data, ...about }
}

/** Six places: more would only show noise of the arithmetic. */
export const shownMeasure = (value: number): number => roundTo(value, 6)

const shown = (value: number | undefined) => (value === undefined ? undefined : shownMeasure(value))
const present = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))

/** The market day of an alert on it and the period that met the condition; null for other alerts. */
export const deliveryRow = ({ day }: AlertMoment, { period }: Verdict) =>
  day
    ? {
        date: day.date,
        start: period ? isoInstant(period.start) : null,
        end: period ? isoInstant(period.end) : null,
      }
    : null

/** The measures, as the alert history returns them. */
export function measuredRow({ measures }: Verdict, price: number): Record<string, unknown> {
  const { trend, zScore, mean, stdDev, rsi, volatility, baselineVolatility } = measures
  return present({
    z_score: shown(zScore),
    mean: shown(mean),
    std_dev: shown(stdDev),
    rsi: shown(rsi),
    volatility: shown(volatility),
    baseline_volatility: shown(baselineVolatility),
    trend,
    current_price: price,
  })
}

function detailsOf({ measures }: Verdict): Record<string, unknown> {
  const { trend, zScore, mean, stdDev, rsi, volatility, baselineVolatility } = measures
  return present({
    trend,
    current_rsi: shown(rsi),
    z_score: shown(zScore),
    mean: shown(mean),
    std_dev: shown(stdDev),
    volatility: shown(volatility),
    baseline_volatility: shown(baselineVolatility),
  })
}

const priceText = ({ decimals, currency, unit, category }: Series, price: number) =>
  formatPrice(price, decimals, currency, unit, priceType(category, unit) === 'fx_rate')

/** One line: `Brent above 90: BRENT_CRUDE_USD is at $91.20 (price above 90).` */
const alertLine = (fired: FiredAlert): string =>
  `${fired.alert.name}: ${fired.watched.code} is at ${shownPrice(fired)} (${fired.condition}).`

/** Whether the compared value is a number of periods, not a price. */
const isCount = ({ condition }: WatchingAlert): boolean =>
  condition.kind === 'price' && condition.watch === 'negative_tomorrow'

/** The price, or the number of periods, that made an alert fire. */
const shownPrice = ({ alert, series, price }: FiredAlert): string =>
  isCount(alert) ? `${price} ${price === 1 ? 'period' : 'periods'}` : priceText(series, price)

function alertMailMessage(fired: FiredAlert, serviceName: string, pageUrl: string) {
  const line = alertLine(fired)
  const { alert, watched, series, condition, metadata, triggeredAt, triggerCount } = fired
  const rows: [string, string][] = [
    ['Alert', alert.name],
    ['Commodity', `${series.name} (${watched.code})`],
    isCount(alert)
      ? ['Negative periods', String(fired.price)]
      : ['Price', `${shownPrice(fired)} per ${series.unit}`],
    ['Condition', condition],
    ...(metadata ? measuredLines(metadata) : []),
    ['Time', isoInstant(triggeredAt)],
    ['Fired so far', String(triggerCount)],
  ]
  const rest =
    alert.cooldownMinutes > 0
      ? `It stays silent for the next ${alert.cooldownMinutes} minutes.`
      : 'It has no cooldown, and fires again at the next price that meets its condition.'
  const how = `View its history, change it or pause it: ${pageUrl}`
  const text = [
    line,
    '',
    ...rows.map(([name, value]) => `${name}: ${value}`),
    '',
    rest,
    how,
    '',
    serviceName,
  ].join('\n')
  const cells = rows
    .map(
      ([name, value]) =>
        `<tr><td>${Bun.escapeHTML(name)}</td><td>${Bun.escapeHTML(value)}</td></tr>`,
    )
    .join('')
  const html = `<p>${Bun.escapeHTML(line)}</p><table cellpadding="4">${cells}</table><p>${rest}<br>${linkedHtml(how, pageUrl)}</p><p>${Bun.escapeHTML(serviceName)}</p>`
  return { subject: `${alert.name}: ${watched.code} ${shownPrice(fired)}`, text, html }
}

const measureNames: Readonly<Record<string, string>> = {
  z_score: 'z-score',
  mean: 'Mean',
  std_dev: 'Standard deviation',
  rsi: 'RSI',
  volatility: 'Volatility, percent a year',
  baseline_volatility: 'Usual volatility, percent a year',
  trend: 'Trend',
}

const measuredLines = (metadata: Record<string, unknown>): [string, string][] =>
  Object.entries(measureNames).flatMap(([key, name]): [string, string][] =>
    metadata[key] === undefined ? [] : [[name, String(metadata[key])]],
  )
