import { t } from '../../../http/answer/schema.ts'
import { idempotencyHeader, type Repeatable } from '../../../http/idempotency.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { notFound, stateForbids } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import {
  createPurchaseBody,
  PaymentMethodBody,
  PortalBody,
  resultOf,
  whenReachable,
} from './form.ts'
import { billingChange, billingRead, changeRefusals } from './plans.ts'
import { MethodShape, methodRow, PackShape, PurchaseShape, packRow, purchaseRow } from './row.ts'

const ProviderName = t.string('`manual`: there is no payment processor.', 'manual')
const Methods = t.Object({
  payment_methods: t.Array(MethodShape),
  default_payment_method_id: t.orNull(t.String({ examples: ['pm_0001'] })),
  provider: ProviderName,
})
const Intent = t.Object({
  setup_intent: t.Object({
    id: t.String(),
    client_secret: t.string("For the processor's own form."),
    status: t.oneOf(['requires_payment_method', 'succeeded']),
    provider: ProviderName,
  }),
  client_secret: t.String(),
})
const Portal = t.Object({ url: t.String(), expires_at: t.String({ format: 'date-time' }) })
const Balance = t.Object({ requests_remaining: t.integer({ examples: [10_000] }) })
const Bought = t.Object({ credit_purchase: PurchaseShape, balance: Balance })

function methods({ billing }: Context) {
  const { payments } = billing
  return [
    operation('GET /billing/payment_methods', {
      operationId: 'listPaymentMethods',
      summary: 'List payment methods',
      description:
        'Returns the payment methods of the account. Without a payment processor that is payment by invoice. A demo instance has test cards; `pm_fail` is always declined.',
      access: billingRead,
      answers: { 200: Methods, 503: NestedProblem },
      handle: async ({ caller }) => {
        const { methods, defaultId } = await whenReachable(() =>
          payments.methods(caller.key.account),
        )
        return {
          payment_methods: methods.map(method => methodRow(method, defaultId)),
          default_payment_method_id: defaultId,
          provider: billing.provider,
        }
      },
    }),
    operation('PATCH /billing/payment_methods/update', {
      operationId: 'updatePaymentMethod',
      summary: 'Update the payment method',
      description:
        'Sets the default payment method. Open invoices whose payment was declined are retried immediately. Admins of an organization only.',
      access: billingChange,
      body: PaymentMethodBody.schema,
      answers: {
        200: t.Object({ payment_method: MethodShape, message: t.String() }),
        ...changeRefusals,
        404: NestedProblem,
      },
      handle: async ({ body, caller }) => {
        const { payment_method_id: id } = PaymentMethodBody.read(body)
        const method = await whenReachable(() => payments.use(caller.key.account, id))
        if (!method) throw notFound('payment method', id)
        return {
          payment_method: methodRow(method, method.id),
          message: 'This is now the default payment method.',
        }
      },
    }),
    operation('POST /billing/intents/setup', {
      operationId: 'createSetupIntent',
      summary: 'Set up a payment method',
      description:
        "Returns the data for the payment processor's card form. Card details go directly to the processor. Without a processor the status says that there is nothing to set up. Admins of an organization only.",
      access: billingChange,
      answers: { 200: Intent, ...changeRefusals },
      handle: async ({ caller }) => {
        const { id, clientSecret, status } = await whenReachable(() =>
          payments.setupIntent(caller.key.account),
        )
        return {
          setup_intent: { id, client_secret: clientSecret, status, provider: billing.provider },
          client_secret: clientSecret,
        }
      },
    }),
  ]
}

/** Payment methods of an account, and requests bought in addition to a plan. */
export const paymentOperations: Operations = [
  methods,
  operation('POST /billing/customer-portal/sessions', {
    operationId: 'createPortalSession',
    summary: 'Open the customer portal',
    description:
      "Returns the URL of a page that shows the subscription and invoices without a key: the processor's page or one of this service. Anyone with the URL can open it until it expires. Admins of an organization only.",
    access: billingChange,
    body: PortalBody.schema,
    answers: { 200: Portal, ...changeRefusals },
    handle: async ({ at: { links, billing, billingPages }, body, caller, request }) => {
      const { baseUrl } = links(request)
      const { return_url: returnUrl } = PortalBody.read(body)
      const { account } = caller.key
      const remote = await whenReachable(() =>
        billing.payments.portal(account, returnUrl ?? `${baseUrl}/`),
      )
      if (remote) return { url: remote.url, expires_at: isoInstant(remote.expiresAt) }
      const { path, expiresAt } = billingPages.open(account.account.id, returnUrl)
      return { url: `${baseUrl}${path}`, expires_at: isoInstant(expiresAt) }
    },
  }),
  credits,
]

function credits({ billing, idempotency }: Context) {
  const sales = billing.credits
  const purchaseBody = createPurchaseBody(sales.packs)
  return [
    operation('GET /billing/credit_packs', {
      operationId: 'listCreditPacks',
      summary: 'List credit packs',
      description:
        "Returns the credit packs on sale and the remaining credits. Credits are requests in addition to the plan's quota; they are used when the quota of a key is exhausted.",
      access: billingRead,
      answers: t.Object({ credit_packs: t.Array(PackShape), balance: Balance }),
      handle: ({ caller }) => ({
        credit_packs: sales.packs.map(packRow),
        balance: { requests_remaining: sales.balance(caller.key.account.account.id) },
      }),
    }),
    operation('POST /billing/credit_purchases', {
      operationId: 'buyCredits',
      summary: 'Buy a credit pack',
      description:
        'Buys credits for the account and returns the purchase. Credits are used when the quota of a key is exhausted, those that expire first before others. They are added once paid; `pending` means that the invoice is open. Admins of an organization only.',
      access: billingChange,
      headers: idempotencyHeader,
      body: purchaseBody.schema,
      answers: { 201: Bought, ...changeRefusals },
      handle: async ({ body, caller, requestContext, request, reply }) => {
        const { pack_id: pack, quantity = 1 } = purchaseBody.read(body)
        const { account } = caller.key
        const context: Repeatable = { caller, requestContext, request, reply }
        // The order is stored first, and the processor is called with its id, so that it is paid
        // once despite retries and crashes.
        const ordered = idempotency.once(context, body, () => {
          const { id } = resultOf(sales.order(account, pack, quantity))
          return { id }
        })
        const purchase = await sales.settle(ordered.id)
        if (purchase.status === 'failed') {
          const reason =
            purchase.invoiceId === null
              ? null
              : billing.invoices.byId(purchase.invoiceId)?.lastError
          throw stateForbids(
            'payment_failed',
            `The payment was not made and nothing was bought: ${reason ?? 'no reason was given.'}`,
          )
        }
        return {
          credit_purchase: purchaseRow(purchase),
          balance: { requests_remaining: sales.balance(account.account.id) },
        }
      },
    }),
  ]
}
