import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { stateForbids } from '../../../http/problem/problem.ts'
import { featureMissing } from '../../../http/problem/refusals.ts'
import type { LimitReached } from '../../../plans/limits.ts'
import { hasFeature } from '../../../plans/plans.ts'
import { operators, priceOperators } from '../math/price-operators.ts'
import { featureOf } from '../service/firing.ts'
import { isAnalytics } from './form.ts'
import { alertHistoryOperations } from './history.ts'
import { type AlertContext, alertParams, createAlertContext, reading, writing } from './route.ts'
import { AlertShape, AlertWithHistory } from './row.ts'
import { alertTestOperations } from './tests.ts'

const historyShown = 20

/** Alerts of the account on prices and on analytics of daily closes. */
export function alertOperations(deps: Context) {
  const context = createAlertContext(deps)
  return [
    ...listAndCreate(deps, context),
    ...changeOne(deps, context),
    ...alertTestOperations(deps, context),
    ...alertHistoryOperations(deps, context),
  ]
}

const evaluationNote =
  '**Evaluation.** A standard alert is evaluated for every new price of its code, rounded as served. An analytics alert is evaluated on the daily closes up to that price and fires at most once a day. Only the newest observation, or its correction, is evaluated: older prices, imported history and the price that was current when you created or changed the alert do not fire it. Prices are evaluated immediately; after one that fired alerts of its code, the next ones wait until `alerts.interval` (default: 60 s) has passed.'
const operatorNote = `${operators.flatMap(name => priceOperators[name].note ?? []).join('; ')}.`
const analyticsNote = `**Analytics conditions** use the daily closes of \`GET /v1/analytics/statistics\` and \`/trend\`; the newest is the price itself. With fewer than five closes in a window (RSI: its period plus one) nothing fires.

- \`z_score\`: (last - mean) / sample standard deviation over \`analytics_period\` calendar days, strictly above \`threshold\`, below its negative, or either.
- \`rsi\`: Wilder over \`analytics_period\` closes, strictly above \`overbought\` or below \`oversold\`.
- \`volatility_spike\`: annualised volatility of the closes in the period, strictly above \`multiplier\` times the baseline, which is the same number over the 365 days that end with the first close of the period.
- \`trend_reversal\`: the least-squares trend over the period is up and its last direction but sideways, at a close at most one period earlier, was down, or the other way round.`

const listAndCreate = ({ alerts, plans, links }: Context, { rows, forms }: AlertContext) => [
  operation('GET /v1/alerts', {
    operationId: 'listAlerts',
    summary: 'List alerts',
    description:
      "Returns the account's alerts as an array, sorted by code and creation. An alert that the plan no longer includes is not evaluated and has `suspended_reason` `plan`.",
    access: reading,
    answers: t.Array(AlertShape),
    handle: ({ caller }) => alerts.list(caller.key.account.account.id).map(rows.row),
  }),
  operation('POST /v1/alerts', {
    operationId: 'createAlert',
    summary: 'Create an alert',
    description: `Creates an alert and returns it. The body may be wrapped in \`price_alert\`.\n\n| Kind | Set | Plan feature |\n|---|---|---|\n| Price alert | \`condition_operator\` | \`standard_alerts\` |\n| Analytics alert | \`analytics_type\` | \`analytics_alerts\`; the response includes an equivalent operator and value |\n\n${evaluationNote}\n\n${operatorNote}\n\n${analyticsNote}\n\n**Delivery.** An alert that fires notifies its \`webhook_url\`, the webhook endpoints subscribed to \`price_alert.triggered\` or \`analytics_alert.triggered\`, the account's e-mail and phone according to its notification settings, and the list of notifications. Then its cooldown starts.`,
    access: writing,
    idempotent: true,
    body: forms.newAlert,
    creates: '/v1/alerts/:id',
    answers: { 201: AlertShape },
    handle: ({ body, caller, request }) => {
      const feature = isAnalytics(body) ? 'analytics_alerts' : 'standard_alerts'
      if (!hasFeature(caller.entitled, feature))
        throw featureMissing(plans, links(request), caller.entitled, feature)
      const created = alerts.create(caller.key.account, forms.created(body))
      if ('refused' in created) throw limitReached(created)
      return rows.row(created)
    },
  }),
]

const limitReached = ({ limit, count }: LimitReached) =>
  stateForbids(
    'alert_limit_reached',
    `The account has ${count} alerts of ${limit} allowed. Delete one first.`,
    { limit, current_count: count },
  )

const changeOne = ({ alerts, plans, links }: Context, { rows, forms, own }: AlertContext) => [
  operation('GET /v1/alerts/:id', {
    operationId: 'getAlert',
    counted: /^(?:trigger_\w+|last_triggered_at|in_cooldown)$/,
    summary: 'Get an alert',
    description:
      'Returns the alert with its newest triggers. The newest 10,000 triggers of each alert are stored.',
    access: reading,
    params: alertParams,
    answers: AlertWithHistory,
    handle: ({ caller, params: { id } }) => {
      const alert = own(id, caller)
      return {
        ...rows.row(alert),
        trigger_history: alerts.history(alert, historyShown).map(rows.history),
      }
    },
  }),
  operation('PATCH /v1/alerts/:id', {
    operationId: 'updateAlert',
    summary: 'Update an alert',
    description:
      'Updates the given fields and returns the alert. Changing the code, operator, value or analytics resets the cooldown, and only later prices are evaluated. Null clears `webhook_url` and `metadata`; an `analytics_type` of null turns it into a price alert.',
    access: writing,
    params: alertParams,
    body: forms.alertChange,
    answers: AlertShape,
    handle: ({ body, caller, params: { id }, request }) => {
      const alert = own(id, caller)
      const settings = forms.changed(body, alert)
      const feature = featureOf(settings)
      // An account that lost the right to a kind may still switch off its alerts, but not create
      // new ones.
      const becomes = feature !== featureOf(alert)
      if (becomes && !hasFeature(caller.entitled, feature))
        throw featureMissing(plans, links(request), caller.entitled, feature)
      return rows.row(alerts.change(alert, settings))
    },
  }),
  operation('DELETE /v1/alerts/:id', {
    operationId: 'deleteAlert',
    summary: 'Delete an alert',
    description: 'Deletes the alert and its history. Notifications already queued are still sent.',
    access: writing,
    params: alertParams,
    answers: { 204: t.Void() },
    handle: ({ caller, params: { id } }) => {
      alerts.remove(own(id, caller))
    },
  }),
]
