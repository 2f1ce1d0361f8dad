import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { idParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { conditionText } from '../math/condition.ts'
import { type AlertContext, reading } from './route.ts'
import { configOf, FiredAnalytics, TriggerShape } from './row.ts'

const analyticsPerPage = 20
const triggersPerPage = 50

const Analytics = t.Object({
  triggered_alerts: t.Array(FiredAnalytics),
  pagination: t.Object({ page: t.integer(), per_page: t.integer(), total: t.integer() }),
})
const Triggers = t.Object({ triggers: t.Array(TriggerShape), meta: PageMetaShape })

/** The alerts that have fired. */
export function alertHistoryOperations(
  { alerts, limits }: Context,
  { codeOf, own, rows }: AlertContext,
) {
  const firedRow = ({ alert, last }: ReturnType<typeof alerts.firedAnalytics>['rows'][number]) => {
    const { condition: rule } = alert
    if (rule.kind === 'price') return []
    return [
      answerRow(FiredAnalytics, alert, {
        commodity_code: codeOf(alert.seriesId),
        analytics_type: rule.kind,
        analytics_period: rule.period,
        analytics_config: configOf(rule) ?? {},
        condition: conditionText(rule),
        last_triggered_at: isoInstant(alert.lastTriggeredAt ?? alert.updatedAt),
        metadata: { ...last?.metadata },
      }),
    ]
  }
  return [
    operation('GET /v1/alerts/analytics_history', {
      operationId: 'listTriggeredAnalyticsAlerts',
      summary: 'List fired analytics alerts',
      description:
        'Returns each analytics alert of the account that has fired, with the values measured at its newest trigger, newest first.',
      access: { meter: true, feature: 'analytics_alerts' },
      page: { max: limits.alertsHistoryPerPageMax, default: analyticsPerPage },
      answers: Analytics,
      handle: ({ caller, page }) => {
        const fired = alerts.firedAnalytics(
          caller.key.account.account.id,
          page.perPage,
          page.offset,
        )
        const meta = page.meta(fired.total)
        return {
          triggered_alerts: fired.rows.flatMap(firedRow),
          pagination: { page: meta.page, per_page: meta.per_page, total: meta.total },
        }
      },
    }),
    operation('GET /v1/alerts/triggers', {
      operationId: 'listAlertTriggers',
      summary: 'List alert triggers',
      description:
        "Returns each trigger of the account's alerts, newest first, with the condition at that time.",
      access: reading,
      page: { max: limits.alertsHistoryPerPageMax, default: triggersPerPage },
      query: {
        alert_id: idParameter(
          'Only triggers of this alert.',
          '00000000-0000-4000-8000-000000000201',
        ),
      },
      answers: { 200: Triggers, 404: NestedProblem },
      handle: ({ caller, query, page }) => {
        const alert = query.alert_id ? own(query.alert_id, caller) : undefined
        const triggers = alerts.triggers(
          caller.key.account.account.id,
          alert,
          page.perPage,
          page.offset,
        )
        const meta = page.meta(triggers.total)
        return { triggers: triggers.rows.map(rows.trigger), meta }
      },
    }),
  ]
}
