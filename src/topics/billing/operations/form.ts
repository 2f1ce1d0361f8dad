import { createHash } from 'node:crypto'

import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import {
  body,
  choice,
  field,
  nullableAs,
  optional,
  text,
  whole,
} from '../../../http/input/body-schema.ts'
import { Problem, stateForbids, validationFailed } from '../../../http/problem/problem.ts'
import type { CreditPack } from '../../../plans/billing/credit-packs.ts'
import { billingPeriods } from '../../../plans/billing/subscription.ts'
import { ProcessorUnavailable } from '../../../send/billing/processor.ts'
import { type BillingRefusal, isRefusal } from '../service/terms.ts'

const idMax = 200
const urlMax = 2000
const quantityMax = 100
const planField = text(idMax, {
  description: 'Id of a plan of `GET /billing/plans`.',
  examples: ['professional'],
})

export const periodField = optional(choice(billingPeriods))

export const SubscribeBody = body({ plan_id: planField, billing_period: periodField })

export const PlanChangeBody = body({ new_plan_id: planField })

export const PaymentMethodBody = body({
  payment_method_id: text(idMax, { examples: ['pm_0002'] }),
})

const webAddress = field(
  t.string('URL that the page links back to.', 'https://example.com/account', {
    maxLength: urlMax,
  }),
  (form, name) => {
    const address = form.text(name, urlMax)
    if (address === undefined) return undefined
    const url = URL.parse(address)
    return url && /^https?:$/.test(url.protocol)
      ? url.href
      : form.fault(name, 'must be an http or https address.')
  },
)

export const PortalBody = body({ return_url: optional(nullableAs(webAddress, undefined)) })

/** The packs on sale come from the configuration. */
export const createPurchaseBody = (packs: readonly CreditPack[]) =>
  body({
    pack_id: field(t.String({ maxLength: idMax, examples: ['pack_10k'] }), (form, name) => {
      const id = form.text(name, idMax)
      if (id === undefined) return undefined
      return (
        packs.find(pack => pack.id === id) ??
        form.wrongWord(
          name,
          packs.map(pack => pack.id),
        )
      )
    }),
    quantity: optional(whole(1, quantityMax)),
  })

/** The result of a change, or its refusal thrown. */
export function resultOf<T extends object | undefined>(
  result: T | BillingRefusal,
  field = 'plan_id',
  value: unknown = null,
): T {
  if (!isRefusal(result)) return result
  switch (result.refused) {
    case 'invalid_plan':
      throw validationFailed([{ field, message: `${field} ${result.why}`, value }], 'invalid_plan')
    case 'payment_failed':
      throw stateForbids(
        'payment_failed',
        `The payment was not made and nothing has changed: ${result.why}`,
      )
    case 'invoice_closed':
    case 'open_invoice':
      throw stateForbids(result.refused, result.why)
    case 'no_active_subscription':
      throw stateForbids(
        'no_active_subscription',
        'The account has no subscription. Create one with POST /billing/subscriptions.',
      )
    case 'subscription_past_due':
      throw stateForbids(
        'subscription_past_due',
        'An invoice of the subscription is overdue. Pay it first.',
      )
  }
}

/** Returns 503 when the processor is unreachable, which is not a fault of the caller. */
export async function whenReachable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ProcessorUnavailable)) throw error
    const headers = { 'retry-after': '30' }
    throw new Problem(
      'PROCESSOR_UNAVAILABLE',
      'The payment processor does not respond. Try again.',
      {},
      { headers },
    )
  }
}

/** Names a request towards the processor: the same request of the same key has the same name. */
export function idempotencyKeyOf(request: Request, { key }: Caller, fresh: () => string): string {
  const header = request.headers.get('idempotency-key')
  return header === null
    ? fresh()
    : createHash('sha256').update(`${key.key.id}\n${header}`).digest('hex')
}
