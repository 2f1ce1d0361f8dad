import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { noBody } from '../../../http/input/body-schema.ts'
import { envelope, envelopeOf, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { stateForbids } from '../../../http/problem/problem.ts'
import { featureMissing } from '../../../http/problem/refusals.ts'
import type { LimitReached } from '../../../plans/limits.ts'
import { isPermitEvent } from '../../../plans/messages/event-types.ts'
import { hasFeature } from '../../../plans/plans.ts'
import type { EndpointWithSecret } from '../service/webhooks.ts'
import type { Endpoint } from '../store/webhooks.ts'
import { webhookDeliveryOperations } from './deliveries.ts'
import { createWebhookForms, eventNamesOf, RotationBody, rotationOf } from './form.ts'
import { ownEndpoint, webhookAccess, webhookParams, webhookWrite } from './route.ts'
import { WebhookShape, webhookRow } from './row.ts'

const Listed = envelopeOf({
  webhooks: t.Array(WebhookShape),
  count: t.integer(),
  limit: t.integerOrNull('Endpoints that the plan allows; null: no limit.'),
})
const One = envelope(WebhookShape)
/** Existing clients look for the id and the secret of a new endpoint at the top. */
const Created = t.Object({
  ...One.properties,
  id: t.string('The same as `data.id`.'),
  secret: t.string('The same as `data.secret`.'),
})
const rotating = { ...webhookWrite, action: 'read_secrets' } as const
/** A new endpoint shows its secret, and a change may set another. */
const withSecret = { ...webhookWrite, secret: true } as const
const Deleted = envelopeOf({ id: t.String(), deleted: t.Literal(true) })

/** The webhook endpoints of the caller's account and the log of each. */
export const webhookOperations: Operations = [listAndCreate, changeOne, webhookDeliveryOperations]

/** The helpers of creating and changing. */
function shared({ catalogue, checkTarget, plans, links, now }: Context) {
  const codeOf = (text: string) =>
    catalogue.named(text)?.code ?? catalogue.resolve(text, now())?.code
  return {
    forms: createWebhookForms({ codeOf, checkTarget }),
    /** Throws 403 where the plan does not include an event that is requested by name. */
    refuseEvents(body: unknown, { entitled }: Caller, request: Request) {
      if (hasFeature(entitled, 'well_permits') || !eventNamesOf(body).some(isPermitEvent)) return
      throw featureMissing(plans, links(request), entitled, 'well_permits')
    },
  }
}

function listAndCreate(deps: Context) {
  const { webhooks } = deps
  const { forms, refuseEvents } = shared(deps)
  return [
    operation('GET /v1/webhooks', {
      operationId: 'listWebhooks',
      summary: 'List webhook endpoints',
      description: 'Returns the webhook endpoints of the account, newest first, without secrets.',
      access: webhookAccess,
      answers: Listed,
      handle: ({ caller: { key, entitled } }) => {
        const accountId = key.account.account.id
        const records = webhooks.records(accountId)
        const rows = webhooks
          .list(accountId)
          .map(endpoint => webhookRow(endpoint, records.get(endpoint.id)))
        return success({ webhooks: rows, count: rows.length, limit: entitled.webhookEndpoints })
      },
    }),
    operation('POST /v1/webhooks', {
      operationId: 'createWebhook',
      summary: 'Create a webhook endpoint',
      description: creation,
      access: withSecret,
      idempotent: true,
      body: forms.newWebhook,
      creates: '/v1/webhooks/:id',
      answers: { 201: Created },
      handle: ({ body, caller, request }) => {
        refuseEvents(body, caller, request)
        const { settings, secret } = forms.created(
          body,
          deps.switched(request, 'signature_body') ? 'body' : 'timestamped',
        )
        const created = granted(
          webhooks.create(caller.key.account, settings, secret === undefined ? {} : { secret }),
        )
        const row = webhookRow(created.endpoint, undefined, created.secret)
        return { ...success(row), id: row.id, secret: created.secret }
      },
    }),
  ]
}

const creation = `Creates a webhook endpoint and returns it with its \`secret\`, only in this response. Every event that matches \`events\` and the filters is sent to \`url\` by POST, signed with \`secret\`. Targets must be public https URLs.

**Prices.** A price event is created when a new price is recorded. Historical imports do not trigger events, and several observations in one write make one event. A correction or deletion of any value triggers \`price.corrected\` alone, which \`events\` must name. \`price.significant_change\` is a change of more than 5% between consecutive observations. \`price.day_ahead.published\` is sent once for each market day of a series of delivery periods, when its last price is recorded before the day ends; prices of periods that have not begun make no other event unless they are corrected.

**Conditions.** \`price.threshold\` is sent for every new price that meets the conditions: any condition on its commodity, or with \`all\` every condition, using the newest prices of other commodities. \`greater_than\` and \`less_than\` are strict; percentage conditions include \`value\` and apply over the \`timeframe\` (default: 24h); \`between\` includes its bounds and with \`trigger_on\` fires only when the price crosses them. Other price events of commodities without a condition are skipped.

**Filters.** An empty filter matches everything. A futures family stands for its contracts.

**Skipped events.** A subscribed event that is not sent has the status \`skipped\` in the log, with the reason in \`last_error\`:

| \`last_error\` | The event is not sent because |
|---|---|
| \`commodity_filter\`, \`state_filter\`, \`conditions\` | a filter of the endpoint excludes it |
| \`monthly_event_limit_reached\` | the plan's events for this month are exhausted |
| \`feature_not_in_plan\` | the plan does not include it; \`data\` is empty |
| \`series_not_visible\` | the account cannot see the series that \`commodity_filters\` names; once a day, \`data\` is empty |
| \`daily_skip_log_limit_reached\` | the log has recorded 100 skipped events today (UTC), the maximum |

Events that occur while an endpoint is disabled are not recorded for it. Pending events are sent when it is active again.`

function changeOne(deps: Context) {
  const { webhooks } = deps
  const { forms, refuseEvents } = shared(deps)
  const row = (endpoint: Endpoint, secret?: string) =>
    webhookRow(endpoint, webhooks.records(endpoint.accountId).get(endpoint.id), secret)
  const common = { access: webhookWrite, params: webhookParams.properties }
  return [
    operation('GET /v1/webhooks/:id', {
      operationId: 'getWebhook',
      counted: /^(?:last_\w+|\w+_deliveries|consecutive_failures)$/,
      summary: 'Get a webhook endpoint',
      description: 'Returns a webhook endpoint with its delivery status, without its secret.',
      access: webhookAccess,
      params: webhookParams.properties,
      answers: One,
      handle: ({ caller, params: { id } }) => success(row(ownEndpoint(webhooks, id, caller))),
    }),
    operation('PATCH /v1/webhooks/:id', {
      operationId: 'updateWebhook',
      summary: 'Update a webhook endpoint',
      description:
        'Updates the given fields. `status: "active"` resets the failure count and sends pending events. A `secret` replaces the old one immediately.',
      ...common,
      access: withSecret,
      body: forms.webhookChange,
      answers: One,
      handle: ({ body, caller, params: { id }, request }) => {
        refuseEvents(body, caller, request)
        const endpoint = ownEndpoint(webhooks, id, caller)
        const { settings, secret } = forms.changed(body)
        return success(row(webhooks.change(endpoint, settings, secret), secret))
      },
    }),
    operation('DELETE /v1/webhooks/:id', {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook endpoint',
      description: 'Deletes the endpoint permanently and drops its pending events.',
      ...common,
      body: noBody,
      answers: Deleted,
      handle: ({ caller, params: { id } }) => {
        webhooks.remove(ownEndpoint(webhooks, id, caller))
        return success({ id, deleted: true as const })
      },
    }),
    operation('POST /v1/webhooks/:id/rotate_secret', {
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook endpoint',
      description:
        'Replaces the secret, with yours or a generated one, and returns it only in this response. `X-Service-Signature` uses the new secret immediately; for `overlap_seconds` the header `webhook-signature` carries a signature with each.',
      ...common,
      access: rotating,
      idempotent: true,
      body: RotationBody.schema,
      answers: One,
      handle: ({ body, caller, params: { id } }) => {
        const rotated = webhooks.rotate(ownEndpoint(webhooks, id, caller), rotationOf(body))
        return success(row(rotated.endpoint, rotated.secret))
      },
    }),
  ]
}

/** The result of a creation, or its refusal thrown. */
function granted(result: EndpointWithSecret | LimitReached): EndpointWithSecret {
  if (!('refused' in result)) return result
  const { limit, count } = result
  throw stateForbids(
    'webhook_limit_reached',
    `The account has ${count} webhook endpoints of ${limit} allowed by its plan. Delete one first.`,
    { limit, current_count: count },
  )
}
