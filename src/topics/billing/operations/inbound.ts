import { t } from '../../../http/answer/schema.ts'
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
    summary: 'Receive an event of the payment processor',
    description:
      'Receives events of the payment processor when `billing.provider` is `stripe`. The signature over the raw body (header `Stripe-Signature`, at most five minutes old) is verified, and each event id is processed once. The current state is then read from the processor, so order and repeats do not matter.',
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
          'The message is not signed by the processor, or the signature is too old.',
        )
      return { received: true as const }
    },
  }),
]
