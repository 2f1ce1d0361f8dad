import type { AlertShape as AlertLine } from '../../topics/alerts/operations/row.ts'
import type { DeliveryShape as DeliveryLine } from '../../topics/deliveries/operations/row.ts'
import type { AccountWebhook as WebhookLine } from '../../topics/operator/operations/people/account-items.ts'
import type { LogShape as EventLine } from '../../topics/webhooks/operations/row.ts'
import { anAccount, type CommandEnvironment, type CommandTools } from '../command.ts'
import { type Table, tableOf } from '../table.ts'

const yes = (isSo: boolean) => (isSo ? 'yes' : 'no')

const alertTable = (rows: readonly AlertLine[]) =>
  tableOf(rows, {
    ID: 'id',
    NAME: 'name',
    CODE: 'commodity_code',
    CONDITION: row =>
      `${row.analytics_type ?? 'price'} ${row.condition_operator} ${row.condition_value}`,
    ON: row => yes(row.enabled),
    FIRED: 'trigger_count',
    'LAST FIRED': 'last_triggered_at',
  })

const webhookTable = (rows: readonly WebhookLine[]) =>
  tableOf(rows, {
    ID: 'id',
    URL: 'url',
    STATUS: 'status',
    DELIVERED: 'successful_deliveries',
    FAILED: 'failed_deliveries',
    'CONSECUTIVE FAILURES': 'consecutive_failures',
    EVENTS: row => row.events.join(','),
    'LAST ERROR': 'last_error',
  })

const deliveryTable = (rows: readonly DeliveryLine[]) =>
  tableOf(rows, {
    ID: 'id',
    NAME: 'name',
    CADENCE: 'cadence',
    TIME: 'delivery_time',
    ZONE: 'time_zone',
    RECIPIENT: 'recipient_email',
    ON: row => yes(row.enabled),
    NEXT: 'next_delivery_at',
  })

const listItems = async <T>(
  env: CommandEnvironment,
  who: string,
  name: string,
  tableOf: (rows: readonly T[]) => readonly [Table],
) => {
  const lines = (rows: readonly T[]) =>
    rows.length === 0 ? [`${who} has no ${name}.`] : tableOf(rows)
  await env.show(lines, 'GET', `${await env.accountPath(who)}/${name}`)
}

const eventLines = (rows: readonly EventLine[]) =>
  rows.length === 0
    ? ['No deliveries to this endpoint in the last 30 days.']
    : tableOf(rows, {
        CREATED: 'created_at',
        EVENT: 'event_type',
        STATUS: 'status',
        ATTEMPTS: 'attempts',
        CODE: row => (row.status_code === null ? '-' : String(row.status_code)),
        NEXT: 'next_attempt_at',
        ERROR: 'error',
      })

const listEvents = async (env: CommandEnvironment, who: string, webhook: string) => {
  const path = `${await env.accountPath(who)}/webhooks/${encodeURIComponent(webhook)}/events`
  await env.showField('events', eventLines, 'GET', path)
}

/** `alerts`, `webhooks` and `deliveries`: the items of an account. */
export function itemCommands({ program, leaf, run }: CommandTools) {
  const add = <T>(
    name: string,
    what: string,
    tableOf: (rows: readonly T[]) => readonly [Table],
  ) => {
    const group = program.command(name).description(`list ${what} of accounts`)
    leaf(group, 'list', `list ${what} of an account`, anAccount).action(
      run((env, who: string) => listItems(env, who, name, tableOf)),
    )
    return group
  }
  add('alerts', 'price alerts', alertTable)
  const webhooks = add('webhooks', 'webhook endpoints', webhookTable)
  leaf(
    webhooks,
    'events',
    'list the newest deliveries to an endpoint, with attempts and errors',
    anAccount,
    ['<webhook>', 'id of the endpoint'],
  ).action(run(listEvents))
  add('deliveries', 'scheduled deliveries', deliveryTable)
}
