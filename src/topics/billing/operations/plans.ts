import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { NestedProblem, ValidationProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Changed } from '../service/terms.ts'
import { idempotencyKeyOf, PlanChangeBody, resultOf, SubscribeBody, whenReachable } from './form.ts'
import {
  AddOnShape,
  addOnRows,
  PlanShape,
  planRows,
  SubscriptionShape,
  subscriptionRows,
} from './row.ts'

export const billingRead = { meter: false } as const
/** Only admins of an organization change what it pays for. */
export const billingChange = { meter: false, header: true, action: 'change_billing' } as const
/** The errors of the processor when a subscription changes. */
export const changeRefusals = { 422: ValidationProblem, 503: NestedProblem }
const Answer = t.Object({ subscription: SubscriptionShape, message: t.String() })
const PlanList = t.Object({ plans: t.Array(PlanShape), addons: t.Array(AddOnShape) })
const PlanChange = t.Object({
  subscription: SubscriptionShape,
  proration: t.Object({
    amount: t.integer('Amount charged now, in cents.', 2500),
    currency: t.Literal('USD'),
  }),
  effective_at: t.String({ format: 'date-time' }),
  message: t.String(),
})

export const planOperations: Operations = [reading, subscribing, ending]

function reading({ billing, plans, keys, meter, now }: Context) {
  const row = subscriptionRows({ billing, keys, meter, now })
  return [
    operation('GET /billing/plans', {
      operationId: 'listPlans',
      summary: 'List plans and prices',
      description:
        'Returns the plans with their monthly and yearly prices in cents, and the available add-ons. Add-ons are granted by the operator.',
      access: billingRead,
      answers: PlanList,
      handle: () => ({ plans: planRows(plans), addons: addOnRows(plans) }),
    }),
    operation('GET /billing/subscriptions/current', {
      operationId: 'getBillingSubscription',
      summary: 'Get the current subscription',
      description:
        'Returns the current subscription. An operator-assigned plan has one too, by calendar month and free of charge, with the id of the account. The free plan and trials have none; the period is then that of the quota.',
      access: billingRead,
      answers: t.Object({ subscription: SubscriptionShape }),
      handle: ({ caller }) => ({ subscription: row(caller.key.account) }),
    }),
  ]
}

/** One sentence on what has become of a change. */
function messageOf(
  { how, subscription, effectiveAt }: Changed,
  nameOf: (plan: string) => string,
): string {
  const { plan, pendingPlan, cancelAtPeriodEnd } = subscription
  switch (how) {
    case 'created':
      return `The ${nameOf(plan)} plan has started.`
    case 'changed':
      return `The ${nameOf(plan)} plan takes effect now.`
    case 'pending':
      return `The ${nameOf(pendingPlan ?? plan)} plan begins at ${isoInstant(effectiveAt)}; until then the ${nameOf(plan)} plan continues.`
    case 'same':
      return `The ${nameOf(plan)} plan continues${cancelAtPeriodEnd ? ' to the end of its period' : ''}.`
  }
}

function subscribing({ billing, plans, keys, meter, ids, now }: Context) {
  const row = subscriptionRows({ billing, keys, meter, now })
  const nameOf = (plan: string) => plans.tiers.find(tier => tier.id === plan)?.name ?? plan
  const { subscriptions } = billing
  const repeatKey = (request: Request, caller: Caller) =>
    idempotencyKeyOf(request, caller, ids.uuid)
  return [
    operation('POST /billing/subscriptions', {
      operationId: 'createBillingSubscription',
      summary: 'Subscribe to a plan',
      description:
        'Starts a subscription and charges its first period; a declined payment changes nothing (422 `payment_failed`). A running subscription is changed: upgrades, and switching to yearly, take effect immediately for the difference; downgrades and shorter periods take effect at the end of the paid period. With a payment processor, a shorter period is refused (422 `invalid_plan`): cancel first. A pending cancellation is withdrawn. Plans with agreed pricing are assigned by the operator (422 `invalid_plan`). Admins of an organization only.',
      access: billingChange,
      idempotent: true,
      body: SubscribeBody.schema,
      answers: { 201: Answer, ...changeRefusals },
      async prepare({ body, caller, request }) {
        const { plan_id: plan, billing_period: billingPeriod = 'monthly' } =
          SubscribeBody.read(body)
        const ready = await whenReachable(() =>
          subscriptions.subscribe(
            caller.key.account,
            plan,
            billingPeriod,
            repeatKey(request, caller),
          ),
        )
        return { plan, ready }
      },
      handle({ caller, prepared: { plan, ready } }) {
        const changed = resultOf(ready(), 'plan_id', plan)
        return { subscription: row(caller.key.account), message: messageOf(changed, nameOf) }
      },
    }),
    operation('POST /billing/subscriptions/change_plan', {
      operationId: 'changePlan',
      summary: 'Change the plan',
      description:
        'Changes the plan and returns the subscription. An upgrade takes effect immediately and is prorated to the cent. A downgrade is set as `pending_plan` and takes effect at the end of the period; changing back to the current plan withdraws it. From the free plan this starts a monthly subscription; to the free plan it cancels. Admins of an organization only.',
      access: billingChange,
      idempotent: true,
      body: PlanChangeBody.schema,
      answers: { 200: PlanChange, ...changeRefusals },
      async prepare({ body, caller, request }) {
        const { new_plan_id: plan } = PlanChangeBody.read(body)
        const ready = await whenReachable(() =>
          subscriptions.changePlan(caller.key.account, plan, repeatKey(request, caller)),
        )
        return { plan, ready }
      },
      handle({ caller, prepared: { plan, ready } }) {
        const changed = resultOf(ready(), 'new_plan_id', plan)
        return {
          subscription: row(caller.key.account),
          proration: { amount: changed.amountCents, currency: 'USD' as const },
          effective_at: isoInstant(changed.effectiveAt),
          message: messageOf(changed, nameOf),
        }
      },
    }),
  ]
}

function ending({ billing, keys, meter, now }: Context) {
  const row = subscriptionRows({ billing, keys, meter, now })
  const { subscriptions } = billing
  return [
    operation('POST /billing/subscriptions/cancel', {
      operationId: 'cancelBillingSubscription',
      summary: 'Cancel the subscription at the end of the period',
      description:
        'Cancels at the end of the paid period; the account then moves to the free plan. Without a subscription: 422 `no_active_subscription`. Admins of an organization only.',
      access: billingChange,
      answers: { 200: Answer, ...changeRefusals },
      handle: async ({ caller }) => {
        const { account } = caller.key
        const ended = resultOf((await whenReachable(() => subscriptions.cancel(account)))())
        return {
          subscription: row(account),
          message: `The subscription ends at ${isoInstant(ended.endsAt)}; until then nothing changes.`,
        }
      },
    }),
    operation('POST /billing/subscriptions/reactivate', {
      operationId: 'reactivateBillingSubscription',
      summary: 'Resume a cancelled subscription',
      description:
        'Withdraws a cancellation, so that the subscription renews. Otherwise nothing changes. Admins of an organization only.',
      access: billingChange,
      answers: { 200: Answer, ...changeRefusals },
      handle: async ({ caller }) => {
        const { account } = caller.key
        const subscription = resultOf(
          (await whenReachable(() => subscriptions.reactivate(account)))(),
        )
        return {
          subscription: row(account),
          message: subscription
            ? 'The subscription continues.'
            : 'There is no subscription, and nothing has changed.',
        }
      },
    }),
  ]
}
