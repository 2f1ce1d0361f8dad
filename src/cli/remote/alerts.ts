import { oneOf, shownValue, wrongValue } from '../../lib/text/wrong-value.ts'
import type { AlertShape as Alert } from '../../topics/alerts/operations/row.ts'
import type { BacktestShape as Backtest } from '../../topics/alerts/operations/tests.ts'
import { type Ask, Refusal } from '../../topics/assistants/operations/tool.ts'
import type { Write } from './prices.ts'
import { type Column, type Format, printRows } from './print.ts'

const operators: Readonly<Record<string, string>> = {
  above: 'greater_than',
  below: 'less_than',
  '>': 'greater_than',
  '<': 'less_than',
  '>=': 'greater_than_or_equal',
  '<=': 'less_than_or_equal',
}

export const operatorWords: readonly string[] = Object.keys(operators)
/** The words of the API are accepted too. */
const wireWords = new Set(Object.values(operators))

export interface NewAlert {
  code: string
  operator: string
  value: string
  name?: string
  cooldown?: string
}

const numberOf = (name: string, text: string): number => {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(number)) throw new Error(wrongValue(name, 'a number', text))
  return number
}

/** Shows what an alert would have done over the past year, and makes it where that was agreed to. */
export async function addAlert(
  ask: Ask,
  alert: NewAlert,
  { isAgreed, json }: { isAgreed: boolean; json: boolean },
  write: Write,
): Promise<void> {
  const operator = wireWords.has(alert.operator) ? alert.operator : operators[alert.operator]
  if (operator === undefined) {
    throw new Error(wrongValue('operator', oneOf(operatorWords), alert.operator, operatorWords))
  }
  const body = {
    price_alert: {
      name: alert.name ?? `${alert.code} ${alert.operator} ${alert.value}`,
      commodity_code: alert.code,
      condition_operator: operator,
      condition_value: numberOf('value', alert.value),
      ...(alert.cooldown !== undefined && {
        cooldown_minutes: numberOf('--cooldown', alert.cooldown),
      }),
    },
  }
  const backtest = await ask<Backtest>('POST', '/v1/alerts/backtest', { body })
  if (json) {
    const created = isAgreed ? await ask<Alert>('POST', '/v1/alerts', { body }) : null
    await write(`${JSON.stringify({ backtest, created }, null, 2)}\n`)
    return
  }
  const last = backtest.triggers.at(-1)
  const when = last ? `, last on ${last.triggered_at.slice(0, 10)} at ${last.value}` : ''
  const times = `${backtest.trigger_count} time${backtest.trigger_count === 1 ? '' : 's'}`
  await write(
    `${backtest.condition}: from ${backtest.from} to ${backtest.to} it would have fired ${times}${when}.\n`,
  )
  if (!isAgreed) {
    await write('Nothing was created: add --yes to create it.\n')
    return
  }
  const created = await ask<Alert>('POST', '/v1/alerts', { body })
  await write(`created ${created.id}  ${created.name}\n`)
}

const columns: readonly Column<Alert>[] = [
  { heading: 'ID', name: 'id', value: row => row.id },
  { heading: 'NAME', name: 'name', value: row => row.name },
  { heading: 'CODE', name: 'code', value: row => row.commodity_code },
  { heading: 'WHEN', name: 'operator', value: row => row.condition_operator },
  { heading: 'VALUE', name: 'value', value: row => row.condition_value },
  {
    heading: 'ENABLED',
    name: 'enabled',
    value: row => (row.enabled ? 'true' : 'false'),
    text: row => (row.enabled ? 'yes' : 'no'),
  },
  { heading: 'FIRED', name: 'fired', value: row => row.trigger_count },
  { heading: 'LAST', name: 'last_fired_at', value: row => row.last_triggered_at },
]

export async function listAlerts(ask: Ask, format: Format, write: Write): Promise<void> {
  await write(printRows(await ask<Alert[]>('GET', '/v1/alerts'), columns, format))
}

/** Deletes an alert by its id. */
export async function removeAlert(
  remove: (path: string) => Promise<Response>,
  id: string,
  write: Write,
  json = false,
): Promise<void> {
  const response = await remove(`/v1/alerts/${encodeURIComponent(id)}`)
  if (response.status === 404)
    throw new Refusal(`No alert has the id ${shownValue(id)}. Run wellhead alert list.`)
  if (!response.ok) throw new Refusal(`the server returned status ${response.status}`)
  await write(json ? `${JSON.stringify({ id, deleted: true }, null, 2)}\n` : `removed ${id}\n`)
}
