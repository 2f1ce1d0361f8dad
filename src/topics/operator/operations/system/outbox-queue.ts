import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { body, listOf } from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { parsed } from '../../../../http/input/typed.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { type Operations, operation } from '../../../../http/operations/operation.ts'
import { ValidationProblem } from '../../../../http/problem/shape.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import type { QueuedMessage } from '../../../../outbox/queue.ts'
import { kinds } from '../../../../outbox/store/rows.ts'

const operator = { operator: 'people' } as const
const states = ['waiting', 'given_up'] as const
const messageStates = ['pending', 'leased', 'retry', 'delivered', 'failed', 'skipped'] as const
const idsMax = 500
/** Later than any time that can be written: it waits for someone, not for a time. */
const latestTime = 8.64e15

export const MessageShape = t.object('QueuedMessage', {
  id: t.String({ examples: ['019aa1c6-7f00-7abc-8def-0123456789ab'] }),
  kind: t.oneOf(kinds),
  lane: t.string(
    'Messages of a lane share a receiver and its limits.',
    '00000000-0000-4000-8000-000000000402',
  ),
  event_id: t.String({ examples: ['evt_01jd6w4zr8c0n2m5k7p9q1s3t5'] }),
  event_type: t.String({ examples: ['price.updated'] }),
  about: t.orNull(t.String(), 'Internal reference of the message.'),
  account_id: t.orNull(t.String(), 'Account of the message.'),
  email: t.orNull(t.String(), 'The address of that account.'),
  state: t.oneOf(messageStates),
  attempts: t.integer({ examples: [3] }),
  status_code: t.orNull(t.integer({ examples: [503] }), 'Of the last attempt.'),
  error: t.orNull(t.String(), 'Why the last attempt failed, or why the message was abandoned.'),
  created_at: t.String({ format: 'date-time' }),
  next_attempt_at: t.orNull(t.String({ format: 'date-time' }), 'Of what waits.'),
  given_up_at: t.orNull(t.String({ format: 'date-time' }), 'Of what was given up.'),
})
export type MessageShape = (typeof MessageShape)['static']
const Listed = envelopeOf({
  messages: t.Array(MessageShape),
  counts: t.Object({
    waiting: t.integer('Pending messages of the requested kind.'),
    given_up: t.integer('Abandoned messages of the last 30 days.'),
  }),
  meta: PageMetaShape,
})
const Changed = envelopeOf({ count: t.integer('Number of affected messages.', 1) })
const IdsBody = body({
  ids: listOf(
    t.String(),
    { nouns: 'ids of messages', item: 'the id of a message' },
    idsMax,
    id => id,
  ),
})

/** The waiting and the failed messages of the outbox. */
export const queueAdminOperations: Operations = [list, changes]

function list({ queue, keys }: Context) {
  const rowOf = (message: QueuedMessage) => {
    const isOver = message.state === 'failed'
    const at = message.at > latestTime ? null : isoInstant(message.at)
    const holder = message.accountId === null ? undefined : keys.account(message.accountId)
    return answerRow(MessageShape, message, {
      about: message.ref,
      email: holder?.account.email ?? null,
      next_attempt_at: isOver ? null : at,
      given_up_at: isOver ? at : null,
    })
  }
  return [
    operation('GET /admin/v1/outbox', {
      operationId: 'listOutbox',
      summary: 'List pending and abandoned messages',
      description:
        'Returns webhooks, e-mails and text messages of every account, with the last error. Bodies are private to the account and not included.',
      access: operator,
      page: { max: 100 },
      query: {
        state: parsed.word(
          states,
          '`waiting`: pending, soonest first. `given_up`: abandoned, newest first, for 30 days.',
          'given_up',
          { default: 'waiting' },
        ),
        kind: parsed.word(kinds, `One of ${kinds.join(', ')}.`, 'email'),
      },
      answers: Listed,
      handle: ({ query, page }) => {
        const { kind, state } = query
        const counts = {
          waiting: queue.count({ state: 'waiting', kind }),
          given_up: queue.count({ state: 'given_up', kind }),
        }
        const rows = queue.list({ state, kind }, page.perPage, page.offset)
        return success({
          messages: rows.map(rowOf),
          counts,
          meta: page.meta(counts[state]),
        })
      },
    }),
  ]
}

function changes({ queue }: Context) {
  const common = {
    access: operator,
    idempotent: true,
    body: IdsBody.schema,
    answers: { 200: Changed, 422: ValidationProblem },
  } as const
  return [
    operation('POST /admin/v1/outbox/send', {
      operationId: 'sendOutboxMessages',
      summary: 'Send messages now',
      description:
        'Makes pending messages due immediately, and sends abandoned messages again under their own event id with a new retry schedule. Unknown ids are ignored.',
      ...common,
      handle: ({ body }) => success({ count: queue.send(IdsBody.read(body).ids) }),
    }),
    operation('POST /admin/v1/outbox/drop', {
      operationId: 'dropOutboxMessages',
      summary: 'Drop messages',
      description:
        'Abandons pending messages; they stay in the log as failed and do not count against the receiver. Messages that are being sent or have ended do not change.',
      ...common,
      handle: ({ body }) => success({ count: queue.drop(IdsBody.read(body).ids) }),
    }),
  ]
}
