import { t } from '../../../../http/answer/schema.ts'
import { body, field, optional, requiredAs, text } from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { envelope, envelopeOf, success } from '../../../../http/operations/answer.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { nameNotFound } from '../../../../http/problem/problem.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import { plainAddress } from '../../../../send/messages/mailer.ts'
import type { Suppression } from '../../../messages/store/suppressions.ts'

const operator = { operator: 'people' } as const
const addressMax = 254
const reasonMax = 200
const notAnAddress = 'must be an e-mail address.'
const operatorReason = 'Added by the operator.'

export const SuppressionShape = t.Object({
  address: t.String({ examples: ['gone@example.com'] }),
  reason: t.String({ examples: ['550 5.1.1 no such user'] }),
  created_at: t.String({ format: 'date-time' }),
})
export type SuppressionShape = (typeof SuppressionShape)['static']
const Listed = envelopeOf({ suppressions: t.Array(SuppressionShape), meta: PageMetaShape })
const SuppressionBody = body({
  address: requiredAs(
    field(t.String({ maxLength: addressMax, examples: ['gone@example.com'] }), (form, name) => {
      const written = form.text(name, addressMax)
      if (written === undefined) return undefined
      const address = plainAddress(written)
      return address?.toLowerCase() ?? form.fault(name, notAnAddress)
    }),
    notAnAddress,
  ),
  reason: optional(text(reasonMax, { examples: ['asked not to be written to'] })),
})
const params = { address: t.string('The e-mail address, in any letter case.', 'gone@example.com') }
const rowOf = ({ address, reason, createdAt }: Suppression) => ({
  address,
  reason,
  created_at: isoInstant(createdAt),
})

/** The addresses that nothing is sent to, for the operator. */
export const mailAdminOperations = [
  operation('GET /admin/v1/suppressions', {
    operationId: 'listSuppressions',
    summary: 'List suppressed e-mail addresses',
    description:
      'Returns addresses that permanently rejected mail or were added by the operator, newest first. Nothing is sent to them.',
    access: operator,
    page: { max: 100 },
    answers: Listed,
    handle: ({ at, page }) => {
      const { suppressions } = at
      const rows = suppressions.page(page.perPage, page.offset)
      return success({
        suppressions: rows.map(rowOf),
        meta: page.meta(suppressions.count()),
      })
    },
  }),
  operation('POST /admin/v1/suppressions', {
    operationId: 'addSuppression',
    summary: 'Suppress an e-mail address',
    description: 'Returns the suppressed address. A listed address keeps its reason.',
    access: operator,
    idempotent: true,
    body: SuppressionBody.schema,
    answers: { 201: envelope(SuppressionShape) },
    handle: ({ at, body }) => {
      const { suppressions, now } = at
      const { address, reason } = SuppressionBody.read(body)
      suppressions.add({ address, reason: reason || operatorReason, createdAt: now() })
      return success(rowOf(suppressions.find(address)!))
    },
  }),
  operation('DELETE /admin/v1/suppressions/:address', {
    operationId: 'removeSuppression',
    summary: 'Remove a suppression',
    description: 'Removes the address from the list. E-mails skipped in the meantime are not sent.',
    access: operator,
    params,
    answers: envelopeOf({ address: t.String(), deleted: t.Literal(true) }),
    handle: ({ at, params: { address } }) => {
      const { suppressions } = at
      if (!suppressions.remove(address.toLowerCase())) throw nameNotFound('address', address)
      return success({ address: address.toLowerCase(), deleted: true as const })
    },
  }),
]
