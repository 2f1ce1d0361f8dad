import { t } from '../../../http/answer/schema.ts'
import { noBody } from '../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { textParameter, wordParameter } from '../../../http/input/typed.ts'
import { envelope, envelopeOf, success } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, notFound, Problem } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { eventTypeOf } from '../../../plans/messages/event-types.ts'
import { eventBody } from '../service/event-messages.ts'
import { laneOf } from '../service/lanes.ts'
import { testRef } from '../service/record.ts'
import { isWithheld } from '../service/skips.ts'
import { ReplayBody, replayOf, TestBody, testTypeOf } from './form.ts'
import { ownEndpoint, webhookAccess, webhookParams, webhookWrite } from './route.ts'
import { LogShape, logRow, logStatuses, stateOf } from './row.ts'
import { sampleData } from './sample.ts'

const perPageMax = 100
const perPageDefault = 50
const replayMax = 10_000
/** The caller waits for the answer, on a connection that may idle for ten seconds. */
const testTimeoutMs = 8000

const integerOrNull = t.orNull(t.integer())
const Tested = envelopeOf({
  success: t.Boolean(),
  status: t.oneOf(['delivered', 'failed']),
  status_code: integerOrNull,
  response_code: integerOrNull,
  response_time_ms: t.integer({ examples: [84] }),
  response_body: t.orNull(t.String(), 'Its first KB.'),
  error: t.orNull(t.String()),
  event_id: t.String({ examples: ['evt_01jd6w4zr8c0n2m5k7p9q1s3t5'] }),
})
const LogPage = t.Object({
  webhook_events: t.Array(LogShape),
  events: t.Array(LogShape),
  meta: PageMetaShape,
})
const Replayed = envelopeOf({
  replayed: t.integer({ examples: [12] }),
  from: t.String({ format: 'date-time' }),
  to: t.String({ format: 'date-time' }),
})

/** Tests, the log, and sending again. */
export const webhookDeliveryOperations = [
  operation('POST /v1/webhooks/:id/test', {
    operationId: 'testWebhook',
    summary: 'Test a webhook endpoint',
    description:
      'Sends one `webhook.test` event, or a sample of `event_type`, immediately and returns the result: 200 whatever the receiver returned within 8 seconds. Disabled endpoints can be tested. The test is logged, not retried, and does not count as a failure.',
    access: webhookWrite,
    params: webhookParams.properties,
    body: TestBody.schema,
    answers: Tested,
    handle: async ({ at: { webhooks, now, ids, outbox }, body, caller, params: { id } }) => {
      const endpoint = ownEndpoint(webhooks, id, caller)
      const eventType = testTypeOf(body)
      const at = now()
      const eventId = ids.event(at)
      const lane = laneOf(endpoint, webhooks.secrets(endpoint))
      const outcome = await outbox.sendNow(
        {
          kind: 'webhook',
          accountId: endpoint.accountId,
          lane: id,
          eventId,
          eventType,
          ref: testRef,
          body: eventBody(eventId, eventType, at, sampleData(eventType, id, at)),
        },
        {
          ...lane,
          timeoutMs: Math.min(lane.timeoutMs ?? testTimeoutMs, testTimeoutMs),
          debug: true,
        },
      )
      const delivered = outcome.state === 'delivered'
      const statusCode = outcome.statusCode ?? null
      return success({
        success: delivered,
        status: delivered ? ('delivered' as const) : ('failed' as const),
        status_code: statusCode,
        response_code: statusCode,
        response_time_ms: Math.round(outcome.durationMs),
        response_body: statusCode === null ? null : (outcome.exchange?.responseBody ?? null),
        error: outcome.error ?? null,
        event_id: eventId,
      })
    },
  }),
  operation('GET /v1/webhooks/:id/events', {
    operationId: 'listWebhookEvents',
    summary: 'List the deliveries of a webhook endpoint',
    description:
      'Returns the deliveries of a webhook endpoint, newest first, for 30 days. After a 5xx response, a timeout or a failed connection a delivery is retried after 1 min, 5 min, 15 min, 1 h and 6 h.',
    access: webhookAccess,
    params: webhookParams.properties,
    page: { max: perPageMax, default: perPageDefault },
    query: {
      status: wordParameter(logStatuses, `One of ${logStatuses.join(', ')}.`, 'failed'),
      event_type: textParameter('A type or alias.', 'price.updated'),
    },
    answers: LogPage,
    handle: ({
      at: {
        webhooks,
        outbox: { log },
      },
      caller,
      params: { id },
      query,
      page,
    }) => {
      const state = query.status === undefined ? undefined : stateOf(query.status)
      if (query.status !== undefined && state === undefined) {
        throw invalidParameter('status', query.status, logStatuses)
      }
      const { id: lane } = ownEndpoint(webhooks, id, caller)
      const type =
        query.event_type === undefined
          ? undefined
          : (eventTypeOf(query.event_type) ?? query.event_type)
      const filter = {
        ...(state && { states: [state] }),
        ...(type !== undefined && { eventTypes: [type] }),
      }
      const { entries, total } = log.page('webhook', lane, filter, page.perPage, page.offset)
      const rows = entries.map(entry => logRow(lane, entry))
      const meta = page.meta(total)
      return { webhook_events: rows, events: rows, meta }
    },
  }),
  operation('POST /v1/webhooks/:id/events/:event_id/resend', {
    operationId: 'resendWebhookEvent',
    summary: 'Resend a webhook event',
    description:
      'Sends an event again with the same id and body and a new timestamp. A disabled endpoint gets it once it is active again. A skipped event that was recorded without data gets 404.',
    access: webhookWrite,
    idempotent: true,
    params: {
      ...webhookParams.properties,
      event_id: t.string(
        '`id` of the log, or the `evt_…` id.',
        '00000000-0000-4000-8000-000000000411',
      ),
    },
    body: noBody,
    answers: { 202: envelope(LogShape) },
    handle: ({ at, caller, params: { id, event_id: eventId } }) => {
      const { log } = at.outbox
      const { id: lane } = ownEndpoint(at.webhooks, id, caller)
      const logged = log.find('webhook', lane, eventId)
      if (logged?.state === 'skipped' && isWithheld(logged.error ?? ''))
        throw new Problem(
          'DATA_NOT_AVAILABLE',
          `The event was recorded without its data (${logged.error}), so it cannot be sent.`,
        )
      const entry = log.resend('webhook', lane, eventId)
      if (!entry) throw notFound('event', eventId)
      return success(logRow(lane, entry))
    },
  }),
  operation('POST /v1/webhooks/:id/replay', {
    operationId: 'replayWebhookEvents',
    summary: 'Replay webhook events',
    description:
      'Resends failed events created from `from` until `to`, or with `all` also delivered ones: oldest first, at most 10,000, with the same ids and bodies.',
    access: webhookWrite,
    idempotent: true,
    params: webhookParams.properties,
    body: ReplayBody.schema,
    answers: { 202: Replayed },
    async prepare({ at, body, caller, params: { id } }) {
      const { id: lane } = ownEndpoint(at.webhooks, id, caller)
      const now = at.now()
      const { from, to, states, eventTypes } = replayOf(body, now)
      // Includes deliveries created in this very millisecond.
      const range = { from, to: to ?? now + 1, states, ...(eventTypes && { eventTypes }) }
      const replayed = await at.outbox.log.replay('webhook', lane, range, replayMax)
      return { replayed, from: isoInstant(from), to: isoInstant(to ?? now) }
    },
    handle: ({ prepared }) => success(prepared),
  }),
]
