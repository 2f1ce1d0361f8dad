import { createHash } from 'node:crypto'
import { t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import type { Caller } from '../../http/gate/gate.ts'
import { formBody, formOf } from '../../http/input/form.ts'
import { Problem, stateForbids, validationFailed } from '../../http/problem/problem.ts'
import type { CreditPack } from '../../plan/credit-packs.ts'
import { type BillingPeriod, billingPeriods } from '../../plan/subscription.ts'
import { ProcessorUnavailable } from '../../send/billing/processor.ts'
import { type BillingRefusal, isRefusal } from '../../service/billing/terms.ts'
import { periodName } from './row.ts'

const idMax = 200
const urlMax = 2000
const quantityMax = 100
const planField = t.String({
  description: 'Id of a plan of `GET /billing/plans`.',
  examples: ['professional'],
})

export const subscribeBody = formBody(
  t.Object({ plan_id: planField, billing_period: t.Optional(periodName) }),
)
export const changePlanBody = formBody(t.Object({ new_plan_id: planField }))
export const methodBody = formBody(
  t.Object({ payment_method_id: t.String({ examples: ['pm_0002'] }) }),
)
export const portalBody = formBody(
  t.Object({
    return_url: t.Optional(
      t.String({
        maxLength: urlMax,
        description: 'Where the page leads back to.',
        examples: ['https://example.com/account'],
      }),
    ),
  }),
)
export const purchaseBody = formBody(
  t.Object({
    pack_id: t.String({ examples: ['pack_10k'] }),
    quantity: t.Optional(integer({ minimum: 1, maximum: quantityMax })),
  }),
)

/** A text that a body must have. */
function requiredOf(body: unknown, field: string) {
  const form = formOf(body)
  const value = form.text(field, idMax)
  if (!form.has(field)) form.fault(field, 'is required.')
  return { form, value: value ?? '' }
}

export function subscribeOf(body: unknown): { plan: string; billingPeriod: BillingPeriod } {
  const { form, value: plan } = requiredOf(body, 'plan_id')
  const billingPeriod = form.choice('billing_period', billingPeriods)
  form.check()
  return { plan, billingPeriod: billingPeriod ?? 'monthly' }
}

export function textOf(body: unknown, field: string): string {
  const { form, value } = requiredOf(body, field)
  form.check()
  return value
}

export function returnUrlOf(body: unknown): string | undefined {
  const form = formOf(body)
  const text = form.isNull('return_url') ? undefined : form.text('return_url', urlMax)
  const url = text === undefined ? undefined : URL.parse(text)
  if (text !== undefined && !(url && /^https?:$/.test(url.protocol)))
    form.fault('return_url', 'must be an http or https address.')
  form.check()
  return url?.href
}

export function purchaseOf(
  body: unknown,
  packs: readonly CreditPack[],
): { pack: CreditPack; quantity: number } {
  const { form, value } = requiredOf(body, 'pack_id')
  const pack = packs.find(pack => pack.id === value)
  if (form.has('pack_id') && !pack)
    form.fault('pack_id', `must be one of ${packs.map(pack => pack.id).join(', ')}.`)
  const quantity = form.integer('quantity', 1, quantityMax) ?? 1
  form.check()
  return { pack: pack!, quantity }
}

/** The result of a change, or its refusal thrown. */
export function resultOf<T extends object | undefined>(
  result: T | BillingRefusal,
  field = 'plan_id',
  value: unknown = null,
): T {
  if (!isRefusal(result)) return result
  switch (result.refused) {
    case 'invalid_plan':
      throw validationFailed([{ field, message: `${field}: ${result.why}`, value }], 'invalid_plan')
    case 'payment_failed':
      throw stateForbids(
        'payment_failed',
        `The payment was refused, and nothing has changed: ${result.why}`,
      )
    case 'invoice_closed':
      throw stateForbids('invoice_closed', result.why)
    case 'no_active_subscription':
      throw stateForbids(
        'no_active_subscription',
        'The account has no subscription; POST /billing/subscriptions makes one.',
      )
    case 'subscription_past_due':
      throw stateForbids(
        'subscription_past_due',
        'An invoice of the subscription is overdue; it has to be paid first.',
      )
  }
}

/** What is asked of the processor may go unanswered; that is no fault of the caller's. */
export async function whenReachable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ProcessorUnavailable)) throw error
    const headers = { 'retry-after': '30' }
    throw new Problem(
      'PROCESSOR_UNAVAILABLE',
      'The payment processor does not answer; nothing is known to have changed. Try again.',
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
