import type { AlertShape as AlertLine } from '../../topics/alerts/operations/row.ts'
import type { DeliveryShape as DeliveryLine } from '../../topics/deliveries/operations/row.ts'
import type { AccountWebhook as WebhookLine } from '../../topics/operator/operations/people/account-items.ts'
import type { LogShape as EventLine } from '../../topics/webhooks/operations/row.ts'
import {
  accountPath,
  answerOf,
  type CommandEnvironment,
  type CommandTools,
  print,
  runAgainstServer,
} from '../command.ts'
import { type Table, table } from '../table.ts'

const yes = (isSo: boolean) => (isSo ? 'yes' : 'no')

const alertTable = (rows: readonly AlertLine[]) =>
  table(
    ['ID', 'NAME', 'CODE', 'CONDITION', 'ON', 'FIRED', 'LAST'],
    rows.map(row => [
      row.id,
      row.name,
      row.commodity_code,
      `${row.analytics_type ?? 'price'} ${row.condition_operator} ${row.condition_value}`,
      yes(row.enabled),
      String(row.trigger_count),
      row.last_triggered_at ?? '-',
    ]),
  )

const webhookTable = (rows: readonly WebhookLine[]) =>
  table(
    ['ID', 'URL', 'STATUS', 'TAKEN', 'FAILED', 'IN A ROW', 'EVENTS', 'LAST ERROR'],
    rows.map(row => [
      row.id,
      row.url,
      row.status,
      String(row.successful_deliveries),
      String(row.failed_deliveries),
      String(row.consecutive_failures),
      row.events.join(','),
      row.last_error ?? '-',
    ]),
  )

const deliveryTable = (rows: readonly DeliveryLine[]) =>
  table(
    ['ID', 'NAME', 'CADENCE', 'AT', 'ZONE', 'TO', 'ON', 'NEXT'],
    rows.map(row => [
      row.id,
      row.name ?? '-',
      row.cadence,
      row.delivery_time,
      row.time_zone,
      row.recipient_email,
      yes(row.enabled),
      row.next_delivery_at ?? '-',
    ]),
  )

const listItems = <T>(
  env: CommandEnvironment,
  who: string,
  name: string,
  tableOf: (rows: readonly T[]) => readonly [Table],
) =>
  runAgainstServer(env, `${name} list`, async () => {
    const path = await accountPath(env, who)
    const rows = await answerOf<T[]>(env, 'GET', `${path}/${name}`)
    print(env, rows, list => (list.length === 0 ? [`${who} has no ${name}.`] : tableOf(list)))
  })

const listEvents = (env: CommandEnvironment, who: string, webhook: string) =>
  runAgainstServer(env, 'webhooks events', async () => {
    const path = `${await accountPath(env, who)}/webhooks/${encodeURIComponent(webhook)}/events`
    const { events } = await answerOf<{ events: EventLine[] }>(env, 'GET', path)
    print(env, events, rows =>
      rows.length === 0
        ? ['No deliveries to this endpoint in the last 30 days.']
        : table(
            ['CREATED', 'EVENT', 'STATUS', 'ATTEMPTS', 'CODE', 'NEXT', 'ERROR'],
            rows.map(row => [
              row.created_at,
              row.event_type,
              row.status,
              String(row.attempts),
              row.status_code === null ? '-' : String(row.status_code),
              row.next_attempt_at ?? '-',
              row.error ?? '-',
            ]),
          ),
    )
  })

/** `alerts`, `webhooks` and `deliveries`: what an account has made. */
export function itemCommands({ program, leaf, run }: CommandTools) {
  const add = <T>(
    name: string,
    what: string,
    tableOf: (rows: readonly T[]) => readonly [Table],
  ) => {
    const group = program.command(name).description(`${what} of accounts`)
    leaf(
      group
        .command('list')
        .argument('<account>', 'id or e-mail address')
        .description(`${what} of an account`),
    ).action(run((env, who: string) => listItems(env, who, name, tableOf)))
    return group
  }
  add('alerts', 'price alerts', alertTable)
  const webhooks = add('webhooks', 'webhook endpoints', webhookTable)
  leaf(
    webhooks
      .command('events')
      .argument('<account>', 'id or e-mail address')
      .argument('<webhook>', 'id of the endpoint')
      .description('list the newest deliveries to an endpoint, with attempts and errors'),
  ).action(run(listEvents))
  add('deliveries', 'scheduled deliveries', deliveryTable)
}
