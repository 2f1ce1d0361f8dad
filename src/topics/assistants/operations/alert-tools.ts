import { Type } from '@sinclair/typebox'
import type { AlertShape as Alert } from '../../alerts/operations/row.ts'
import type { BacktestShape as Backtest } from '../../alerts/operations/tests.ts'
import { createTool, type Tool, wholeOf, wordsOf } from './tool.ts'

const Operator = wordsOf(
  ['greater_than', 'less_than', 'greater_than_or_equal', 'less_than_or_equal'],
  { description: 'How the price is compared with the value.' },
)

const firingsShown = 10

export const alertTools: readonly Tool[] = [
  createTool({
    name: 'list_alerts',
    title: 'Alerts of the account',
    description: "Lists the account's alerts, with how often and when they fired.",
    input: Type.Object({}),
    async run(_, ask) {
      const alerts = await ask<Alert[]>('GET', '/v1/alerts')
      return {
        alerts: alerts.map(alert => ({
          id: alert.id,
          name: alert.name,
          code: alert.commodity_code,
          operator: alert.condition_operator,
          value: alert.condition_value,
          analytics: alert.analytics_type,
          enabled: alert.enabled,
          fired: alert.trigger_count,
          last_fired_at: alert.last_triggered_at,
        })),
      }
    },
  }),
  createTool({
    name: 'create_alert',
    title: 'Create a price alert',
    description:
      'Without confirm, changes nothing and returns a preview: how often the alert would have fired over the past year. Show the preview to the user, and call again with the same arguments and confirm: true once they agree. Then the alert is created, and the account gets an e-mail whenever it fires.',
    writes: true,
    input: Type.Object({
      code: Type.String({ minLength: 1, maxLength: 80, description: 'Such as BRENT_CRUDE_USD.' }),
      operator: Operator,
      value: Type.Number({ description: 'In the unit of the code.' }),
      name: Type.Optional(
        Type.String({ minLength: 1, maxLength: 100, description: 'Name of the alert.' }),
      ),
      cooldown_minutes: wholeOf(0, 1440, 60, 'Cooldown after it fires.'),
      confirm: Type.Boolean({
        default: false,
        description: 'True only after a person has agreed.',
      }),
    }),
    async run({ code, operator, value, name, cooldown_minutes, confirm }, ask) {
      const alert = {
        name: name ?? `${code} ${operator.replaceAll('_', ' ')} ${value}`,
        commodity_code: code,
        condition_operator: operator,
        condition_value: value,
        cooldown_minutes,
      }
      if (confirm) {
        const created = await ask<Alert>('POST', '/v1/alerts', { body: { price_alert: alert } })
        return { created: true, id: created.id, name: created.name, enabled: created.enabled }
      }
      const body = { price_alert: alert }
      const backtest = await ask<Backtest>('POST', '/v1/alerts/backtest', { body })
      return {
        created: false,
        condition: backtest.condition,
        tested_from: backtest.from,
        tested_to: backtest.to,
        would_have_fired: backtest.trigger_count,
        kept_quiet: backtest.cooldown_suppressed,
        last_firings: backtest.triggers.slice(-firingsShown),
        next: 'Nothing was created. Call again with confirm: true once a person has agreed.',
      }
    },
  }),
]
