import type { Command } from 'commander'
import {
  accountPath,
  answerOf,
  type CommandEnvironment,
  type JsonOption,
  type OperatorAction,
  print,
  runAgainstServer,
} from '../command.ts'
import { tableLines } from '../table.ts'

interface AlertLine {
  id: string
  name: string
  commodity_code: string
  condition_operator: string
  condition_value: number
  analytics_type: string | null
  enabled: boolean
  trigger_count: number
  last_triggered_at: string | null
}

interface WebhookLine {
  id: string
  url: string
  events: string[]
  status: string
  successful_deliveries: number
  failed_deliveries: number
  consecutive_failures: number
}

interface DeliveryLine {
  id: string
  name: string
  cadence: string
  delivery_time: string
  time_zone: string
  recipient_email: string
  enabled: boolean
  next_delivery_at: string | null
}

const yes = (isSo: boolean) => (isSo ? 'yes' : 'no')

const alertTable = (rows: readonly AlertLine[]) =>
  tableLines(
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
  tableLines(
    ['ID', 'URL', 'STATUS', 'TAKEN', 'FAILED', 'IN A ROW', 'EVENTS'],
    rows.map(row => [
      row.id,
      row.url,
      row.status,
      String(row.successful_deliveries),
      String(row.failed_deliveries),
      String(row.consecutive_failures),
      row.events.join(','),
    ]),
  )

const deliveryTable = (rows: readonly DeliveryLine[]) =>
  tableLines(
    ['ID', 'NAME', 'CADENCE', 'AT', 'ZONE', 'TO', 'ON', 'NEXT'],
    rows.map(row => [
      row.id,
      row.name,
      row.cadence,
      row.delivery_time,
      row.time_zone,
      row.recipient_email,
      yes(row.enabled),
      row.next_delivery_at ?? '-',
    ]),
  )

const listThings = <T>(
  env: CommandEnvironment,
  who: string,
  name: string,
  table: (rows: readonly T[]) => string[],
) =>
  runAgainstServer(env, `${name} list`, async () => {
    const path = await accountPath(env, who)
    const rows = await answerOf<T[]>(env, 'GET', `${path}/${name}`)
    print(env, rows, list => (list.length === 0 ? [`${who} has no ${name}.`] : table(list)))
  })

/** `alerts`, `webhooks` and `deliveries`: what an account has made. */
export function thingCommands(
  program: Command,
  located: (command: Command) => Command,
  act: OperatorAction,
): void {
  const add = <T>(name: string, what: string, table: (rows: readonly T[]) => string[]) =>
    located(
      program
        .command(name)
        .description(`${what} of accounts`)
        .command('list')
        .argument('<account>', 'id or e-mail address')
        .description(`${what} of an account`),
    )
      .option('--json', 'print JSON')
      .action((who: string, options: JsonOption) =>
        act(options, env => listThings(env, who, name, table)),
      )
  add('alerts', 'price alerts', alertTable)
  add('webhooks', 'webhook endpoints', webhookTable)
  add('deliveries', 'scheduled deliveries', deliveryTable)
}
