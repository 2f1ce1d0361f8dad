import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { body, choice, listOf, optional } from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { parsed } from '../../../../http/input/typed.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import { operation } from '../../../../http/operations/operation.ts'
import type { HeldMessage } from '../../../../outbox/held-back.ts'
import { kinds } from '../../../../outbox/store/rows.ts'

const operator = { operator: 'people' } as const
const idsMax = 1000
/** Less than a second of work, in slices. */
const releaseMax = 2000

export const HeldShape = t.object('HeldMessage', {
  id: t.String({ examples: ['019aa1c6-7f00-7abc-8def-0123456789ab'] }),
  kind: t.oneOf(kinds),
  event_id: t.string('Stays the same when it is sent.', 'evt_01jd6w4zr8c0n2m5k7p9q1s3t5'),
  event_type: t.String({ examples: ['price.updated'] }),
  about: t.orNull(t.String({ examples: ['delivery_run:019aa1c6-7f00-7abc-8def-0123456789ab'] })),
  account_id: t.orNull(t.String()),
  created_at: t.String({ format: 'date-time' }),
  held_at: t.instant('When the database was restored.'),
})
export type HeldShape = (typeof HeldShape)['static']
const Listed = envelopeOf({
  held: t.Array(HeldShape),
  counts: t.Object({ webhook: t.integer(), email: t.integer(), sms: t.integer() }),
  meta: PageMetaShape,
})
const Released = envelopeOf({
  released: t.integer({ examples: [12] }),
  more: t.boolean('Repeat the request for the rest.'),
})
const ReleaseBody = body({
  kind: optional(choice(kinds)),
  ids: optional(
    listOf(
      t.String(),
      { nouns: 'ids of messages', item: 'the id of a message' },
      idsMax,
      id => id,
      {
        description: 'Only these messages.',
      },
    ),
  ),
})
const rowOf = (message: HeldMessage) => answerRow(HeldShape, message, { about: message.ref })

/** The messages that `restore` held back, for the operator. */
export const outboxAdminOperations = [
  operation('GET /admin/v1/outbox/held', {
    operationId: 'listHeldMessages',
    summary: 'List messages held by a restore',
    description:
      'Returns messages that were pending in a restored backup and were not sent, in order of creation, for 30 days after the restore. Released messages are no longer listed.',
    access: operator,
    page: { max: 100 },
    query: {
      kind: parsed.word(kinds, `One of ${kinds.join(', ')}.`, 'email'),
    },
    answers: Listed,
    handle: ({ at, query, page }) => {
      const { heldMessages: held } = at
      const { kind } = query
      const counts = held.counts()
      const total = kind ? counts[kind] : counts.webhook + counts.email + counts.sms
      const rows = held.list(kind ? { kind } : {}, page.perPage, page.offset)
      return success({ held: rows.map(rowOf), counts, meta: page.meta(total) })
    },
  }),
  operation('POST /admin/v1/outbox/release', {
    operationId: 'releaseHeldMessages',
    summary: 'Release messages held by a restore',
    description: `Sends held messages under their own event ids, oldest first, at most ${releaseMax} per request; without \`kind\` and \`ids\` all of them. Ids of messages that are not held are ignored.`,
    access: operator,
    idempotent: true,
    body: ReleaseBody.schema,
    answers: Released,
    prepare({ at, body }) {
      const { kind, ids } = ReleaseBody.read(body)
      return at.heldMessages.release({ ...(kind && { kind }), ...(ids && { ids }) }, releaseMax)
    },
    handle: ({ prepared: released }) => success({ released, more: released === releaseMax }),
  }),
]
