import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import {
  body,
  moment,
  nullable,
  optional,
  text,
  whole,
} from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { type CreditLot, giftPack } from '../../../billing/service/credit-packs.ts'
import { accountOf } from './accounts.ts'

const operator = { operator: 'people' } as const
const requestsMax = 1_000_000_000
const reasonMax = 500
const creditsMax = 100
const params = { id: t.string('Id of the account.', '00000000-0000-4000-8000-000000000001') }

export const CreditShape = t.object('OperatorCredit', {
  id: t.String(),
  kind: t.oneOf(['gift', 'bought'], 'Gift: granted by the operator.'),
  requests: t.integer('Initial number of credits.', 10_000),
  remaining: t.integer('Remaining credits.', 8_200),
  expired: t.integer('Credits that expired unused.', 0),
  created_at: t.String({ format: 'date-time' }),
  expires_at: t.instantOrNull('Null: they do not expire.'),
})
export type CreditShape = (typeof CreditShape)['static']
const Balance = t.Object({ requests_remaining: t.integer({ examples: [8_200] }) })

const rowOf = ({ purchase, remaining, expired }: CreditLot): CreditShape =>
  answerRow(CreditShape, purchase, {
    kind: purchase.packId === giftPack ? 'gift' : 'bought',
    remaining,
    expired,
  })

/** Credits of an account alongside its quota: the balance, and gifts of the operator. */
export function creditAdminOperations({ billing, keys, now }: Context) {
  const sales = billing.credits
  const giftBody = body({
    requests: whole(1, requestsMax, { description: 'How many.', examples: [10_000] }),
    expires_at: optional(
      nullable(moment({ examples: ['2027-11-20T00:00:00Z'] }), {
        description: 'Expiry. Absent or null: they do not expire.',
      }),
    ),
    reason: optional(
      text(reasonMax, {
        description: 'Note shown to the account.',
        examples: ['For the outage on 18 November.'],
      }),
    ),
  })
  const balanceOf = (id: string) => ({ requests_remaining: sales.balance(id) })
  return [
    operation('GET /admin/v1/accounts/:id/credits', {
      operationId: 'listAccountCredits',
      summary: 'List the credits of an account',
      description:
        'Returns all purchased and granted credits: those that remain in order of use, then those that are used up or expired, newest first.',
      access: operator,
      page: { max: creditsMax },
      params,
      answers: envelopeOf({
        credits: t.Array(CreditShape),
        balance: Balance,
        meta: PageMetaShape,
      }),
      handle: ({ params: { id }, page }) => {
        const { account } = accountOf(keys, id)
        const lots = sales.all(account.id)
        return success({
          credits: lots.slice(page.offset, page.offset + page.perPage).map(rowOf),
          balance: balanceOf(account.id),
          meta: page.meta(lots.length),
        })
      },
    }),
    operation('POST /admin/v1/accounts/:id/credits', {
      operationId: 'giveCredits',
      summary: 'Grant credits to an account',
      description:
        'Grants free credits, which are available immediately and used like purchased ones: when the quota of a key is exhausted, those that expire first before others. The account is notified, and the grant is recorded in the audit trail.',
      access: operator,
      idempotent: true,
      params,
      body: giftBody.schema,
      answers: { 201: envelopeOf({ credit: CreditShape, balance: Balance }) },
      handle: ({ body, params: { id } }) => {
        const account = accountOf(keys, id)
        const gift = giftBody.read(body, (form, { expires_at: expiresAt }) => {
          if (expiresAt !== undefined && expiresAt !== null && expiresAt <= now())
            form.fault('expires_at', 'must be in the future.')
        })
        const purchase = sales.grant(account, {
          requests: gift.requests,
          expiresAt: gift.expires_at ?? null,
          reason: gift.reason,
        })
        return success({
          credit: rowOf({ purchase, remaining: purchase.requests, expired: 0 }),
          balance: balanceOf(account.account.id),
        })
      },
    }),
  ]
}
