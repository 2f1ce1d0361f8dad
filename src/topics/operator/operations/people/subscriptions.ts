import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { body, choice, optional, whole } from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { idParameter, parsed } from '../../../../http/input/typed.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { type Operations, operation } from '../../../../http/operations/operation.ts'
import { notFound, stateForbids } from '../../../../http/problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../../../../http/problem/shape.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import { firstPlan } from '../../../../plans/plans.ts'
import { planIds } from '../../../../plans/tiers.ts'
import { periodField, resultOf, whenReachable } from '../../../billing/operations/form.ts'
import { periodName, SubscriptionShape, subscriptionRows } from '../../../billing/operations/row.ts'
import { openInvoiceChoices } from '../../../billing/service/terms.ts'
import type { Subscription } from '../../../billing/store/subscriptions.ts'
import type { Keyring } from '../../../keys/service/keyring.ts'
import { accountField } from './account-field.ts'

const operator = { operator: 'people' } as const
const centsMax = 1_000_000_000_000
const statuses = ['active', 'past_due', 'cancelled'] as const
const plansSold = planIds.filter(plan => plan !== firstPlan)

export const LedgerSubscription = t.object('LedgerSubscription', {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000902'] }),
  account_id: t.String(),
  account_email: t.String({ examples: ['eval@example.com'] }),
  plan: t.String({ examples: ['professional'] }),
  status: t.oneOf(['active', 'past_due', 'cancelled']),
  billing_period: periodName,
  price: t.integer('Of a period, in cents.', 9900),
  price_agreed: t.boolean(
    'Whether the price was agreed individually; otherwise it follows the plan.',
  ),
  credit: t.integer(
    'Of the unused time of replaced subscriptions, in cents. The next invoices use it up, also those of a later subscription.',
    0,
  ),
  current_period_start: t.String({ format: 'date-time' }),
  current_period_end: t.String({ format: 'date-time' }),
  cancel_at_period_end: t.Boolean(),
  pending_plan: t.orNull(t.String({ examples: ['starter'] })),
  past_due_at: t.instantOrNull('When its oldest overdue invoice became overdue.'),
  provider: t.String({ examples: ['manual'] }),
  created_at: t.String({ format: 'date-time' }),
  ended_at: t.instantOrNull('When it ended; null while it is running.'),
})
export type LedgerSubscription = (typeof LedgerSubscription)['static']
const One = envelopeOf({ subscription: LedgerSubscription })

const rowsOf =
  (keys: Keyring) =>
  (subscription: Subscription): LedgerSubscription =>
    answerRow(LedgerSubscription, subscription, {
      account_email: keys.account(subscription.accountId)?.account.email ?? '',
      price: subscription.priceCents,
      price_agreed: subscription.agreed,
      credit: subscription.creditCents,
      current_period_start: isoInstant(subscription.startsAt),
      current_period_end: isoInstant(subscription.endsAt),
    })

const params = { id: t.string('Id of the subscription.', '00000000-0000-4000-8000-000000000902') }

const listing = [
  operation('GET /admin/v1/subscriptions', {
    operationId: 'listAccountSubscriptions',
    summary: 'List subscriptions of all accounts',
    description:
      'Returns every subscription, running or ended, newest first. An operator-assigned plan without an agreement has none.',
    access: operator,
    page: { max: 100 },
    query: {
      status: parsed.word(statuses, 'Only subscriptions of this status.', 'active'),
      plan: parsed.word(plansSold, 'Only subscriptions to this plan.', 'professional'),
      account: idParameter('Id of an account.', '00000000-0000-4000-8000-000000000001'),
    },
    answers: envelopeOf({ subscriptions: t.Array(LedgerSubscription), meta: PageMetaShape }),
    handle: ({ at: { billing, keys }, query, page }) => {
      const filter = {
        accountId: query.account || undefined,
        status: query.status,
        plan: query.plan,
      }
      const sold = billing.sold.page(filter, page.perPage, page.offset)
      return success({
        subscriptions: sold.map(rowsOf(keys)),
        meta: page.meta(billing.sold.count(filter)),
      })
    },
  }),
  operation('GET /admin/v1/subscriptions/:id', {
    operationId: 'getAccountSubscription',
    summary: 'Get a subscription of any account',
    description: 'Returns the subscription, with its account, price and running period.',
    access: operator,
    params,
    answers: One,
    handle: ({ at: { billing, keys }, params: { id } }) => {
      const subscription = billing.sold.byId(id)
      if (!subscription) throw notFound('subscription', id)
      return success({ subscription: rowsOf(keys)(subscription) })
    },
  }),
]

const openInvoicesField = optional(
  choice(openInvoiceChoices, {
    description:
      'Handling of open invoices of the subscription that ends: `void` cancels them, `keep` leaves them owed.',
    examples: ['void'],
  }),
)

function agreeing({ billing, keys, meter, now }: Context) {
  const row = subscriptionRows({ billing, keys, meter, now })
  const agreementBody = body({
    account: accountField(keys),
    plan: choice(plansSold),
    billing_period: periodField,
    price: whole(0, centsMax, { description: 'Of a period, in cents.', examples: [120_000] }),
    open_invoices: openInvoicesField,
  })
  const Agreed = envelopeOf({
    subscription: t.Object({
      ...SubscriptionShape.properties,
      account_id: t.String(),
      price: t.integerOrNull('Of a period, in cents.'),
    }),
  })
  return [
    operation('POST /admin/v1/subscriptions', {
      operationId: 'createAccountSubscription',
      creates: '/admin/v1/subscriptions/:id',
      summary: 'Subscribe an account at an agreed price',
      description:
        "Puts an account on a plan, at a price that stays from period to period. Where the account already has this plan, billing period and price, nothing is invoiced and the same subscription is returned with 200. Otherwise a running subscription ends, and its unused time is a credit on the invoice of the new one; the rest of it is on the next invoices. If that one has open invoices, `open_invoices` must say what becomes of them; without it the request is refused with 409 `open_invoice`, and nothing changes. Invoices follow from the subscription as from every other, in the operator's ledger also where there is a processor.",
      access: operator,
      idempotent: true,
      body: agreementBody.schema,
      answers: { 200: Agreed, 201: Agreed, 409: ValidationProblem },
      handle: ({ body, reply }) => {
        const {
          account,
          plan,
          price: priceCents,
          billing_period: billingPeriod = 'monthly',
          open_invoices: openInvoices,
        } = agreementBody.read(body)
        const terms = { plan, billingPeriod, priceCents }
        const { how } = resultOf(
          billing.ledger.agree(account, terms, { openInvoices }),
          'plan',
          plan,
        )
        reply.status = how === 'same' ? 200 : 201
        return success({
          subscription: { ...row(account), account_id: account.account.id, price: priceCents },
        })
      },
    }),
  ]
}

function ending({ billing, keys }: Context) {
  const row = rowsOf(keys)
  const cancellationBody = body({
    when: optional(
      choice(['period_end', 'now'], {
        description: 'Default: `period_end`. `now` ends it without a refund.',
        examples: ['period_end'],
      }),
    ),
    open_invoices: openInvoicesField,
  })
  return [
    operation('POST /admin/v1/subscriptions/:id/cancel', {
      operationId: 'cancelAccountSubscription',
      summary: 'Cancel a subscription of any account',
      description:
        'Cancels a subscription at the end of its period, or with `"when": "now"` immediately; the account then has the free plan. An immediate cancellation requires `open_invoices` while an invoice is open (409 `open_invoice`); otherwise open invoices stay owed. A `credit` that is left stays on the account for its next subscription; at a payment processor it becomes the balance of the customer. Ended subscriptions are refused with 422 `no_active_subscription`.',
      access: operator,
      idempotent: true,
      params,
      body: cancellationBody.schema,
      answers: { 200: One, 409: ValidationProblem, 503: NestedProblem },
      prepare({ body, params: { id } }) {
        const { when = 'period_end', open_invoices: openInvoices } = cancellationBody.read(body)
        const subscription = billing.sold.byId(id)
        const account = subscription && keys.account(subscription.accountId)
        if (!subscription || !account) throw notFound('subscription', id)
        // A period that is over by now has ended first, or the next one has begun.
        if (billing.current(account)?.id !== id)
          throw stateForbids('no_active_subscription', 'The subscription has ended.')
        return whenReachable(() =>
          when === 'now'
            ? billing.subscriptions.endNow(account, openInvoices)
            : billing.subscriptions.cancel(account),
        )
      },
      handle: ({ prepared: ready }) => success({ subscription: row(resultOf(ready())) }),
    }),
  ]
}

/** Sales of the operator: subscriptions of all accounts, and plans at an agreed price. */
export const subscriptionAdminOperations: Operations = [listing, agreeing, ending]
