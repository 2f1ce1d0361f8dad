import { t } from 'elysia'
import { readBodyText } from '../../../http/input/body.ts'
import { operation } from '../../../http/operations/operation.ts'
import { notFound, Problem } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import type { Billing } from '../service/billing.ts'
import { whenReachable } from './form.ts'

/** Messages of the payment processor. */
export const inboundBillingOperations = ({ billing }: { billing: Billing }) => [
  operation('POST /billing/webhooks/stripe', {
    operationId: 'receiveProcessorEvent',
    summary: 'Messages of the processor',
    description:
      'Where the payment processor tells that something happened, for `billing.provider` stripe. A message is taken by its signature over the raw body (header `Stripe-Signature`, at most five minutes old) and once by its id; what it is about is then asked of the processor, so that order and repeats do not matter.',
    access: { open: 'The processor signs what it sends.', rate: 'none' },
    answers: {
      200: t.Object({ received: t.Literal(true) }),
      400: NestedProblem,
      404: NestedProblem,
      413: NestedProblem,
      503: NestedProblem,
    },
    handle: async ({ request }) => {
      // The signature is over the bytes as they came.
      const raw = await readBodyText(request)
      const receipt = await whenReachable(() =>
        billing.receive(raw, request.headers.get('stripe-signature') ?? ''),
      )
      if (receipt === 'nobody') throw notFound('A payment processor')
      if (receipt === 'bad_signature')
        throw new Problem(
          'INVALID_SIGNATURE',
          'The message is not signed by the processor, or was long ago.',
        )
      return { received: true as const }
    },
  }),
]
