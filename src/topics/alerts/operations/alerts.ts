import { t } from 'elysia'
import { idempotencyHeader } from '../../../http/idempotency.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { stateForbids } from '../../../http/problem/problem.ts'
import { featureMissing } from '../../../http/problem/refusals.ts'
import { hasFeature } from '../../../plans/plans.ts'
import { operators, priceOperators } from '../math/price-operators.ts'
import type { AlertRefusal } from '../service/alerts.ts'
import { featureOf } from '../service/firing.ts'
import { isAnalytics } from './form.ts'
import { alertHistoryOperations } from './history.ts'
import { type AlertContext, alertParams, createAlertContext, reading, writing } from './route.ts'
import { AlertShape, AlertWithHistory } from './row.ts'
import { alertTestOperations } from './tests.ts'

const historyShown = 20

/** The account's alerts on prices and on what daily closes come to. */
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
  'A standard alert is judged by every recorded price of its code, rounded as it is answered; an analytics alert by the daily closes up to that price, and it fires at most once for a day. Only the newest observation counts, or its correction: older rows and history older than a week that is stale trigger nothing, and neither does the price that is there already when the alert is made or changed. A price is judged at once; after one that fired alerts of its code the next ones wait until `alerts.interval` (60 s) is over, and are then judged one by one.'
const operatorNote = `${operators.flatMap(name => priceOperators[name].note ?? []).join('; ')}.`
const analyticsNote = `Analytics conditions look at the daily closes of \`GET /v1/analytics/statistics\` and \`/trend\`, of which the newest is the price itself. With fewer than five closes in a window (RSI: one more than its period) nothing fires.

- \`z_score\`: (last - mean) / sample standard deviation over \`analytics_period\` calendar days, strictly above \`threshold\`, below its negative, or either.
- \`rsi\`: Wilder over \`analytics_period\` closes, strictly above \`overbought\` or below \`oversold\`.
- \`volatility_spike\`: annualised volatility of the closes in the period, strictly above \`multiplier\` times the baseline, which is the same number over the 365 days that end with the first close of the period.
- \`trend_reversal\`: the least-squares trend over the period is up and its last direction but sideways, at a close at most one period earlier, was down, or the other way round.`

function listAndCreate(deps: Context, { rows, forms }: AlertContext) {
  const { alerts, plans, links, idempotency } = deps
  return [
    operation('GET /v1/alerts', {
      operationId: 'listAlerts',
      summary: 'List alerts',
      description:
        'Every alert of the account, by code and then by creation: a bare list. An alert whose kind the plan does not include any more is not evaluated: `suspended_reason` is `plan`.',
      access: reading,
      answers: { 200: t.Array(AlertShape) },
      handle: ({ caller }) => alerts.list(caller.key.account.account.id).map(rows.row),
    }),
    operation('POST /v1/alerts', {
      operationId: 'createAlert',
      summary: 'Create an alert',
      description: `An alert with \`condition_operator\` is a standard one and needs \`standard_alerts\`; one with \`analytics_type\` needs \`analytics_alerts\` and answers an operator and a value that stand for it. The fields may stand in \`price_alert\` or bare.\n\n${evaluationNote}\n\n${operatorNote}\n\n${analyticsNote}\n\nWhen it fires it tells its \`webhook_url\`, the webhook endpoints that subscribed to \`price_alert.triggered\` or \`analytics_alert.triggered\`, the account's e-mail and phone as their preferences say, and the list of notifications; then its cooldown runs.`,
      access: writing,
      headers: idempotencyHeader,
      body: forms.newAlert,
      answers: { 201: AlertShape },
      handle: ({ body, caller, requestContext, request, reply }) => {
        const feature = isAnalytics(body) ? 'analytics_alerts' : 'standard_alerts'
        if (!hasFeature(caller.entitled, feature))
          throw featureMissing(plans, links(request), caller.entitled, feature)
        return idempotency.once({ caller, requestContext, request, set: reply }, body, () => {
          const created = alerts.create(caller.key.account, forms.created(body))
          if ('refused' in created) throw limitReached(created)
          reply.status = 201
          return rows.row(created)
        })
      },
    }),
  ]
}

const limitReached = ({ limit, count }: AlertRefusal) =>
  stateForbids(
    'alert_limit_reached',
    `The account has ${count} alerts of ${limit} it may have; delete one first.`,
    {
      limit,
      current_count: count,
    },
  )

function changeOne(deps: Context, { rows, forms, own }: AlertContext) {
  const { alerts, plans, links } = deps
  return [
    operation('GET /v1/alerts/:id', {
      operationId: 'getAlert',
      summary: 'One alert',
      description:
        'The alert with its newest triggers. Of each alert the newest 10,000 triggers are kept.',
      access: reading,
      params: alertParams.properties,
      answers: { 200: AlertWithHistory },
      handle: ({ caller, params: { id } }) => {
        const alert = own(id, caller)
        return {
          ...rows.row(alert),
          trigger_history: alerts.history(alert, historyShown).map(rows.history),
        }
      },
    }),
    operation('PATCH /v1/alerts/:id', {
      operationId: 'changeAlert',
      summary: 'Change an alert',
      description:
        'What the body does not name stays. Another code, operator, value or anything of the analytics ends the cooldown, and only prices that come in from then on are judged. `webhook_url` and `metadata` are cleared by null; an `analytics_type` of null makes a standard alert of it.',
      access: writing,
      params: alertParams.properties,
      body: forms.alertChange,
      answers: { 200: AlertShape },
      handle: ({ body, caller, params: { id }, request }) => {
        const alert = own(id, caller)
        const settings = forms.changed(body, alert)
        const feature = featureOf(settings)
        // Whoever lost a kind may still switch its alerts off, and make none of them anew.
        const becomes = feature !== featureOf(alert)
        if (becomes && !hasFeature(caller.entitled, feature))
          throw featureMissing(plans, links(request), caller.entitled, feature)
        return rows.row(alerts.change(alert, settings))
      },
    }),
    operation('DELETE /v1/alerts/:id', {
      operationId: 'deleteAlert',
      summary: 'Delete an alert',
      description: 'The alert and its triggers are gone; what was to be sent of them is sent.',
      access: writing,
      params: alertParams.properties,
      answers: { 204: t.Void() },
      handle: ({ caller, params: { id }, reply }) => {
        alerts.remove(own(id, caller))
        reply.status = 204
      },
    }),
  ]
}
