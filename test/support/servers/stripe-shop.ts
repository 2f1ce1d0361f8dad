import { createManualClock } from '../../../src/lib/time/clock.ts'
import { type BillingHouse, type Buyer, billingHouse, startAt } from '../topics/billing.ts'
import {
  type Sent,
  type StripeServer,
  stripeServer,
  type Thing,
  webhookSecret,
} from './stripe-server.ts'

const open: StripeServer[] = []

/** Closes the processors of the shops that a test opened. */
export const closeShops = (): void => {
  for (const server of open.splice(0)) server.close()
}

/** An instance whose payments go through a processor. */
export interface Shop extends BillingHouse {
  stand: StripeServer
  /** An account that is a customer with a card. */
  customer(plan?: string, declines?: boolean): Promise<Buyer & { ref: string }>
  deliver(sent: Sent): Promise<number>
  /** The processor's own subscription of a buyer. */
  theirs(buyer: Buyer): Thing
}

export function shop(): Shop {
  // The stand-in lives on the clock of the instance.
  const clock = createManualClock(startAt)
  const stand = stripeServer(clock)
  open.push(stand)
  const instance = billingHouse(
    'serve',
    {
      'billing.provider': 'stripe',
      'billing.stripe_key': 'sk_test_stand_in',
      'billing.stripe_webhook_secret': webhookSecret,
      'billing.stripe_url': stand.url,
      'billing.credit_packs': 'pack_3:3:100',
    },
    clock,
  )
  return {
    ...instance,
    stand,
    async customer(plan, declines = false) {
      const buyer = instance.buyer(plan)
      await instance.ask('POST', '/billing/intents/setup', buyer.token)
      const ref = [...stand.things.values()].find(
        thing => thing.object === 'customer' && thing.metadata.account_id === buyer.id,
      )!.id
      stand.card(ref, `pm_${ref}`, declines)
      return { ...buyer, ref }
    },
    async deliver({ raw, signature }) {
      const response = await instance.app.handle(
        new Request('http://localhost/billing/webhooks/stripe', {
          method: 'POST',
          body: raw,
          headers: { 'stripe-signature': signature },
        }),
      )
      return response.status
    },
    theirs: buyer =>
      [...stand.things.values()].find(
        thing => thing.object === 'subscription' && thing.metadata.account_id === buyer.id,
      )!,
  }
}

export const subscribe = (instance: Shop, { token }: Buyer, plan: string, more = {}) =>
  instance.ask('POST', '/billing/subscriptions', token, { plan_id: plan, ...more })
export const change = (instance: Shop, { token }: Buyer, plan: string) =>
  instance.ask('POST', '/billing/subscriptions/change_plan', token, { new_plan_id: plan })
/** Everything that billing has written down of an account. */
export const stateOf = (instance: Shop, buyer: Buyer) => {
  const { updatedAt: _, ...subscription } = instance.services.billing.current(buyer.account) ?? {
    updatedAt: 0,
  }
  return JSON.stringify([
    instance.plan(buyer),
    subscription,
    instance.services.billing.invoices.page({ accountId: buyer.id }, 100, 0),
    instance.services.billing.credits.balance(buyer.id),
  ])
}
