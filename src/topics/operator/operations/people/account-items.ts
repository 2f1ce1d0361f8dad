import type { Static, TSchema } from 'elysia'
import { t } from '../../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { envelope, envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { notFound } from '../../../../http/problem/problem.ts'
import { AlertShape, createAlertRows } from '../../../alerts/operations/row.ts'
import { createDeliveryRows, DeliveryShape } from '../../../deliveries/operations/row.ts'
import {
  LogShape,
  lastErrorOf,
  logRow,
  WebhookShape,
  webhookRow,
} from '../../../webhooks/operations/row.ts'

const access = { operator: 'people' } as const
export const AccountWebhook = t.object('AccountWebhook', {
  ...WebhookShape.properties,
  last_error: t.orNull(t.String(), 'Error of the newest delivery that failed or is being retried.'),
})
export type AccountWebhook = (typeof AccountWebhook)['static']
const params = { id: t.string('Id of the account.', '00000000-0000-4000-8000-000000000001') }

/** The records of an account, for an operator who helps its owner. */
export function accountItemOperations({
  keys,
  alerts,
  webhooks,
  deliveries,
  catalogue,
  outbox,
}: Context) {
  const alertRows = createAlertRows(alerts, id => catalogue.byId(id).code)
  const deliveryRows = createDeliveryRows(deliveries)
  const idOf = (id: string): string => {
    if (!keys.account(id)) throw notFound('account', id)
    return id
  }
  /** A list of what an account has. */
  const ownItems = <Row extends TSchema>(
    name: string,
    {
      row,
      list,
      ...words
    }: {
      operationId: string
      summary: string
      description: string
      row: Row
      list(id: string): Static<Row>[]
    },
  ) =>
    operation(`GET /admin/v1/accounts/:id/${name}`, {
      ...words,
      access,
      params,
      answers: envelope(t.Array(row)),
      handle: ({ params: { id } }) => success(list(idOf(id))),
    })
  return [
    ownItems('alerts', {
      operationId: 'listAccountAlerts',
      summary: 'List the alerts of an account',
      description: 'Returns the alerts as their owner sees them, in order of creation.',
      row: AlertShape,
      list: id => alerts.list(id).map(alertRows.row),
    }),
    ownItems('webhooks', {
      operationId: 'listAccountWebhooks',
      summary: 'List the webhook endpoints of an account',
      description:
        'Returns the webhook endpoints as their owner sees them, without secrets, with the error of the newest failed delivery.',
      row: AccountWebhook,
      list: id => {
        const records = webhooks.records(id)
        return webhooks.list(id).map(endpoint => ({
          ...webhookRow(endpoint, records.get(endpoint.id)),
          last_error: lastErrorOf(outbox, endpoint.id),
        }))
      },
    }),
    operation('GET /admin/v1/accounts/:id/webhooks/:webhook_id/events', {
      operationId: 'listAccountWebhookEvents',
      summary: 'List the deliveries to a webhook endpoint of an account',
      description:
        'Returns what became of each event, the newest first, as its owner sees it: attempts, status, error and the next attempt.',
      access,
      params: {
        ...params,
        webhook_id: t.string('Id of the endpoint.', '00000000-0000-4000-8000-000000000401'),
      },
      page: { max: 100 },
      answers: envelopeOf({ events: t.Array(LogShape), meta: PageMetaShape }),
      handle: ({ params: { id, webhook_id: webhookId }, page }) => {
        if (!webhooks.list(idOf(id)).some(endpoint => endpoint.id === webhookId))
          throw notFound('webhook endpoint', webhookId)
        const { entries, total } = outbox.log.page(
          'webhook',
          webhookId,
          {},
          page.perPage,
          page.offset,
        )
        return success({
          events: entries.map(entry => logRow(webhookId, entry)),
          meta: page.meta(total),
        })
      },
    }),
    ownItems('deliveries', {
      operationId: 'listAccountDeliveries',
      summary: 'List the scheduled deliveries of an account',
      description: 'Returns the scheduled deliveries as their owner sees them.',
      row: DeliveryShape,
      list: id => deliveries.list(id).map(deliveryRows.row),
    }),
  ]
}
