import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { operatorAlertsOf } from '../../../../src/instance/services/operator-alerts.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import { createSubscriptionStore } from '../../../../src/topics/billing/store/subscriptions.ts'
import { defaultSettings } from '../../../../src/topics/webhooks/store/webhooks.ts'
import {
  type Sent,
  type StripeServer,
  stripeServer,
  type Thing,
  webhookSecret,
} from '../../../support/servers/stripe-server.ts'
import {
  type BillingHouse,
  type Buyer,
  billingHouse,
  codeOf,
  startAt,
} from '../../../support/topics/billing.ts'

const open: StripeServer[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

interface Shop extends BillingHouse {
  stand: StripeServer
  /** An account that is a customer with a card. */
  customer(plan?: string, declines?: boolean): Promise<Buyer & { ref: string }>
  deliver(sent: Sent): Promise<number>
  /** The processor's own subscription of a buyer. */
  theirs(buyer: Buyer): Thing
}

function shop(): Shop {
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

const subscribe = (instance: Shop, { token }: Buyer, plan: string, more = {}) =>
  instance.ask('POST', '/billing/subscriptions', token, { plan_id: plan, ...more })
const change = (instance: Shop, { token }: Buyer, plan: string) =>
  instance.ask('POST', '/billing/subscriptions/change_plan', token, { new_plan_id: plan })
/** Everything that billing has written down of an account. */
const stateOf = (instance: Shop, buyer: Buyer) => {
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

describe('createRemoteSubscriptions through the processor', () => {
  test('a customer is made once, sets up a card with the processor and pays with it', async () => {
    const instance = shop()
    const { token, id } = instance.buyer()
    expect((await instance.ask('GET', '/billing/payment_methods', token)).body).toEqual({
      payment_methods: [],
      default_payment_method_id: null,
    })
    expect(instance.stand.writes).toEqual([])
    const intent = await instance.ask('POST', '/billing/intents/setup', token)
    expect(intent.body).toEqual({
      setup_intent: {
        id: expect.stringMatching(/^seti_/),
        client_secret: 'seti_secret',
        status: 'requires_payment_method',
        provider: 'stripe',
      },
      client_secret: 'seti_secret',
    })
    await instance.ask('POST', '/billing/intents/setup', token)
    const customers = instance.stand.writes.filter(write => write.path === '/v1/customers')
    expect(customers.map(customer => [customer.fields.metadata.account_id, customer.key])).toEqual([
      [id, `customer:${id}`],
    ])
    const customer = [...instance.stand.things.values()].find(
      thing => thing.object === 'customer',
    )!.id
    instance.stand.card(customer, 'pm_a')
    instance.stand.card(customer, 'pm_b')
    instance.stand.card('cus_of_somebody_else', 'pm_strange')
    const chosen = await instance.ask('PATCH', '/billing/payment_methods/update', token, {
      payment_method_id: 'pm_a',
    })
    expect({ status: chosen.status, payment_method: chosen.body.payment_method }).toEqual({
      status: 200,
      payment_method: {
        id: 'pm_a',
        type: 'card',
        brand: 'visa',
        last4: '4242',
        exp_month: 12,
        exp_year: 2039,
        is_default: true,
      },
    })
    expect(
      (await instance.ask('GET', '/billing/payment_methods', token)).body.default_payment_method_id,
    ).toBe('pm_a')
    for (const strange of ['pm_strange', 'pm_nothing']) {
      expect(
        (
          await instance.ask('PATCH', '/billing/payment_methods/update', token, {
            payment_method_id: strange,
          })
        ).status,
      ).toBe(404)
    }
  })

  test('a subscription is paid and holds at once; up at once, down at the end, cancelled and taken up again', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    const created = await subscribe(instance, buyer, 'starter')
    expect({
      status: created.status,
      plan: created.body.subscription.plan,
      current_period_end: created.body.subscription.current_period_end,
    }).toEqual({ status: 201, plan: 'starter', current_period_end: '2026-12-20T15:00:00Z' })
    expect(instance.plan(buyer)).toBe('starter')
    instance.clock.advance(15 * dayMs)
    const up = await change(instance, buyer, 'professional')
    expect({ proration: up.body.proration, plan: instance.plan(buyer) }).toEqual({
      proration: { amount: 2500, currency: 'USD' },
      plan: 'professional',
    })
    const down = await change(instance, buyer, 'developer')
    expect({
      pending_plan: down.body.subscription.pending_plan,
      effective_at: down.body.effective_at,
      plan: instance.plan(buyer),
    }).toEqual({
      pending_plan: 'developer',
      effective_at: '2026-12-20T15:00:00Z',
      plan: 'professional',
    })
    // An upgrade while a lower plan is pending costs the difference to the paid price.
    const higher = await change(instance, buyer, 'scale')
    expect({
      amount: higher.body.proration.amount,
      pending_plan: higher.body.subscription.pending_plan,
    }).toEqual({ amount: 15_000, pending_plan: null })
    expect((await change(instance, buyer, 'starter')).body.subscription).toMatchObject({
      plan: 'scale',
      pending_plan: 'starter',
    })

    const ended = await instance.ask('POST', '/billing/subscriptions/cancel', buyer.token)
    expect({
      cancel_at_period_end: ended.body.subscription.cancel_at_period_end,
      theirs: instance.theirs(buyer),
    }).toEqual({
      cancel_at_period_end: true,
      theirs: expect.objectContaining({ cancel_at_period_end: true }),
    })
    const again = await instance.ask('POST', '/billing/subscriptions/reactivate', buyer.token)
    expect(again.body.subscription).toMatchObject({
      cancel_at_period_end: false,
      pending_plan: 'starter',
    })

    instance.clock.advance(15 * dayMs)
    const renewed = instance.stand.renew(instance.theirs(buyer).id)
    expect(await instance.deliver(instance.stand.message('invoice.paid', renewed))).toBe(200)
    expect({
      plan: instance.plan(buyer),
      pendingPlan: instance.services.billing.current(buyer.account)!.pendingPlan,
    }).toEqual({ plan: 'starter', pendingPlan: null })
    const amounts = instance.services.billing.invoices
      .page({ accountId: buyer.id }, 10, 0)
      .map(invoice => [invoice.amountCents, invoice.status])
    expect(amounts).toEqual([
      [4900, 'paid'],
      [15_000, 'paid'],
      [2500, 'paid'],
      [4900, 'paid'],
    ])
    const { id } = instance.services.billing.invoices.page({ accountId: buyer.id }, 1, 0)[0]!
    expect((await instance.ask('GET', `/billing/invoices/${id}/pdf`, buyer.token)).status).toBe(200)
  })

  test('a choice of the next plan lifts the cancellation both here and at the payment processor', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'professional')
    await instance.ask('POST', '/billing/subscriptions/cancel', buyer.token)
    const next = await change(instance, buyer, 'starter')
    expect(next.body.subscription).toMatchObject({
      plan: 'professional',
      pending_plan: 'starter',
      cancel_at_period_end: false,
    })
    expect(instance.theirs(buyer).cancel_at_period_end).toBe(false)
    expect((await change(instance, buyer, 'free')).body.subscription.cancel_at_period_end).toBe(
      true,
    )
    expect(instance.theirs(buyer).cancel_at_period_end).toBe(true)
  })

  test('a card that is declined buys nothing and leaves everything as it was', async () => {
    const instance = shop()
    const buyer = await instance.customer('free', true)
    const refused = await subscribe(instance, buyer, 'starter')
    expect({
      status: refused.status,
      code: codeOf(refused),
      message: refused.body.message,
    }).toEqual({
      status: 422,
      code: 'payment_failed',
      message: expect.stringContaining('Your card was declined.'),
    })
    expect({
      plan: instance.plan(buyer),
      count: instance.services.billing.invoices.count({ accountId: buyer.id }),
    }).toEqual({ plan: 'free', count: 0 })
    instance.stand.card(buyer.ref, `pm_${buyer.ref}`)
    expect((await subscribe(instance, buyer, 'professional')).status).toBe(201)
    await change(instance, buyer, 'starter')
    instance.stand.card(buyer.ref, `pm_${buyer.ref}`, true)
    const before = stateOf(instance, buyer)
    instance.clock.advance(dayMs)
    expect(codeOf(await change(instance, buyer, 'scale'))).toBe('payment_failed')
    expect(stateOf(instance, buyer)).toBe(before)
    // The pending change is still pending.
    expect(
      await instance.deliver(
        instance.stand.message('customer.subscription.updated', instance.theirs(buyer)),
      ),
    ).toBe(200)
    expect(stateOf(instance, buyer)).toBe(before)
  })

  test('a new card pays what the old one could not at once, and every later period', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'professional')
    const theirs = instance.theirs(buyer)
    // A subscription of an earlier version names its card.
    for (const own of [null, `pm_${buyer.ref}`]) {
      theirs.default_payment_method = own
      instance.stand.card(buyer.ref, `pm_${buyer.ref}`, true)
      instance.clock.advance(31 * dayMs)
      const unpaid = instance.stand.renew(theirs.id, false)
      await instance.deliver(instance.stand.message('invoice.payment_failed', unpaid))
      expect(instance.services.billing.statusOf(buyer.account).status).toBe('past_due')
      const use = (id: string) =>
        instance.ask('PATCH', '/billing/payment_methods/update', buyer.token, {
          payment_method_id: id,
        })
      // The card that is declined still: the invoice stays open, and the card is the default.
      expect((await use(`pm_${buyer.ref}`)).status).toBe(200)
      expect(unpaid.status).toBe('open')
      instance.stand.card(buyer.ref, `pm_new_${own}`)
      expect((await use(`pm_new_${own}`)).status).toBe(200)
      expect({ status: unpaid.status, own: theirs.default_payment_method }).toEqual({
        status: 'paid',
        own: null,
      })
      expect(instance.services.billing.statusOf(buyer.account).status).toBe('active')
      const [invoice] = instance.services.billing.invoices.page({ accountId: buyer.id }, 1, 0)
      expect(invoice).toMatchObject({ status: 'paid', providerRef: unpaid.id })
    }
    expect((await change(instance, buyer, 'scale')).status).toBe(200)
  })

  test('a card that expires is reported at each attempt, ends the plan when the processor gives up, and another buys again', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'professional')
    const theirs = instance.theirs(buyer)
    instance.stand.card(buyer.ref, `pm_${buyer.ref}`, true)
    await instance.advance(31 * dayMs)
    const unpaid = instance.stand.renew(theirs.id, false)
    for (const attempt of [1, 2, 3]) {
      unpaid.attempt_count = attempt
      const sent = instance.stand.message('invoice.payment_failed', unpaid, {
        id: `evt_${attempt}`,
      })
      await instance.deliver(sent)
      expect(instance.services.billing.statusOf(buyer.account).status).toBe('past_due')
      expect(instance.plan(buyer)).toBe('professional')
      await instance.advance(dayMs)
    }
    Object.assign(theirs, { status: 'canceled', ended_at: Math.floor(instance.clock.now() / 1000) })
    await instance.deliver(instance.stand.message('customer.subscription.deleted', theirs))
    expect(instance.plan(buyer)).toBe('free')
    const subjects = instance.mailMessages().map(({ subject }) => subject.replace(/^.*?: /, ''))
    expect(subjects).toEqual([
      ...Array(3).fill(expect.stringMatching(/^invoice 2026-\d+ is not paid$/)),
      'the Professional plan has ended',
    ])
    instance.stand.card(buyer.ref, 'pm_new')
    const used = await instance.ask('PATCH', '/billing/payment_methods/update', buyer.token, {
      payment_method_id: 'pm_new',
    })
    expect(used.status).toBe(200)
    expect((await subscribe(instance, buyer, 'professional')).status).toBe(201)
    expect(instance.plan(buyer)).toBe('professional')
  })

  test('without a card nothing can be bought', async () => {
    const instance = shop()
    const { token } = instance.buyer()
    for (const [path, body] of [
      ['/billing/subscriptions', { plan_id: 'starter' }],
      ['/billing/credit_purchases', { pack_id: 'pack_3' }],
    ] as const) {
      const answer = await instance.ask('POST', path, token, body)
      expect({ status: answer.status, code: codeOf(answer), message: answer.body.message }).toEqual(
        {
          status: 422,
          code: 'payment_failed',
          message: expect.stringContaining('no payment method'),
        },
      )
    }
  })

  test('a year is begun at once, and a shorter period is refused while it runs', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    const yearly = await subscribe(instance, buyer, 'starter', { billing_period: 'yearly' })
    expect(yearly.body.subscription).toMatchObject({
      billing_period: 'yearly',
      current_period_end: '2027-11-20T15:00:00Z',
    })
    expect(codeOf(await subscribe(instance, buyer, 'starter', { billing_period: 'monthly' }))).toBe(
      'invalid_plan',
    )
  })

  test('an answer that was lost is not paid twice, neither by the library nor by who asks again', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    instance.stand.losesNextAnswer = true
    await subscribe(instance, buyer, 'starter')
    await subscribe(instance, buyer, 'starter')
    expect(
      [...instance.stand.things.values()].filter(thing => thing.object === 'subscription'),
    ).toHaveLength(1)
    expect(instance.services.billing.invoices.count({ accountId: buyer.id })).toBe(1)
    // The service died between the processor's answer and its own books.
    instance.services.db.run('DELETE FROM invoices')
    instance.services.db.run('DELETE FROM subscriptions')
    expect((await subscribe(instance, buyer, 'starter')).status).toBe(201)
    expect(
      [...instance.stand.things.values()].filter(thing => thing.object === 'subscription'),
    ).toHaveLength(1)
    expect({
      plan: instance.plan(buyer),
      count: instance.services.billing.invoices.count({ accountId: buyer.id }),
    }).toEqual({ plan: 'starter', count: 1 })
  })

  test('a processor that fails is 503 without its words, and nothing has changed', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    for (const [method, path, body, status] of [
      ['POST', '/billing/subscriptions', { plan_id: 'starter' }, 500],
      ['GET', '/billing/payment_methods', undefined, 429],
      ['POST', '/billing/intents/setup', undefined, 403],
      ['POST', '/billing/customer-portal/sessions', undefined, 400],
    ] as const) {
      instance.stand.broken = status
      const answer = await instance.ask(method, path, buyer.token, body)
      expect(
        {
          status: answer.status,
          code: codeOf(answer),
          retryAfter: answer.headers.get('retry-after'),
        },
        path,
      ).toEqual({ status: 503, code: 'PROCESSOR_UNAVAILABLE', retryAfter: '30' })
      expect(JSON.stringify(answer.body)).not.toContain('secret words')
    }
    expect(instance.plan(buyer)).toBe('free')
  }, 20_000)

  test('the portal is the processor’s', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    const { body } = await instance.ask('POST', '/billing/customer-portal/sessions', buyer.token, {
      return_url: 'https://example.com/',
    })
    expect(body).toEqual({
      url: `https://portal.example.com/${buyer.ref}`,
      expires_at: '2026-11-20T15:05:00Z',
    })
    expect(instance.stand.writes.at(-1)!.fields.return_url).toBe('https://example.com/')
  })

  test('requests are bought once, however often the purchase is sent, and a declined card buys none', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    const buy = (key: string) =>
      instance.ask(
        'POST',
        '/billing/credit_purchases',
        buyer.token,
        { pack_id: 'pack_3' },
        { 'idempotency-key': key },
      )
    const [first, second] = [await buy('k'), await buy('k')]
    expect({
      firstStatus: first.status,
      creditPurchaseStatus: first.body.credit_purchase.status,
      balance: first.body.balance,
    }).toEqual({
      firstStatus: 201,
      creditPurchaseStatus: 'completed',
      balance: { requests_remaining: 3 },
    })
    expect(second.body).toEqual(first.body)
    const paid = instance.stand.writes.filter(write => write.path === '/v1/payment_intents')
    expect(paid.map(write => [write.fields.amount, write.fields.off_session, write.key])).toEqual([
      ['100', 'true', `purchase:${first.body.credit_purchase.id}`],
    ])
    instance.stand.card(buyer.ref, `pm_${buyer.ref}`, true)
    expect(codeOf(await buy('l'))).toBe('payment_failed')
    expect(codeOf(await buy('l'))).toBe('payment_failed')
    expect(instance.services.billing.credits.balance(buyer.id)).toBe(3)
  })

  test('a purchase that was left half-way is taken up by the job, and paid once', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    instance.stand.broken = 403
    const left = await instance.ask('POST', '/billing/credit_purchases', buyer.token, {
      pack_id: 'pack_3',
    })
    expect({ left: left.status, creditPurchase: left.body.credit_purchase.status }).toEqual({
      left: 201,
      creditPurchase: 'pending',
    })
    instance.stand.broken = undefined
    await instance.advance(2 * minuteMs)
    await instance.advance(2 * minuteMs)
    expect(instance.services.billing.credits.balance(buyer.id)).toBe(3)
    expect(
      instance.stand.writes.filter(write => write.path === '/v1/payment_intents'),
    ).toHaveLength(1)
  }, 20_000)

  test('a renewal that no webhook reported is fetched when the period is over', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    instance.clock.advance(30 * dayMs)
    instance.stand.renew(instance.theirs(buyer).id)
    await instance.advance(11 * minuteMs)
    expect(instance.services.billing.current(buyer.account)).toMatchObject({
      startsAt: Date.parse('2026-12-20T15:00:00Z'),
      status: 'active',
    })
    expect(instance.services.billing.invoices.count({ accountId: buyer.id })).toBe(2)
  })

  test('the operator’s ledger leaves the processor’s invoices alone', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    const { id } = instance.services.billing.invoices.page({ accountId: buyer.id }, 1, 0)[0]!
    expect(codeOf(await instance.operator('POST', `/admin/v1/invoices/${id}/void`))).toBe(
      'invoice_closed',
    )
    const agreed = await instance.operator('POST', '/admin/v1/subscriptions', {
      account: buyer.id,
      plan: 'enterprise',
      price: 120_000,
    })
    expect({ code: codeOf(agreed), plan: instance.plan(buyer) }).toEqual({
      code: 'invalid_plan',
      plan: 'starter',
    })
  })
})

test('a credit that an agreement left pays for what is bought at the processor, once', async () => {
  const instance = shop()
  const buyer = await instance.customer()
  const account = buyer.id
  await instance.operator('POST', '/admin/v1/subscriptions', {
    account,
    plan: 'scale',
    price: 40_000,
  })
  const [first] = instance.services.billing.invoices.page({ accountId: buyer.id }, 1, 0)
  await instance.operator('POST', `/admin/v1/invoices/${first!.id}/pay`)
  await instance.operator('POST', '/admin/v1/subscriptions', {
    account,
    plan: 'starter',
    price: 5000,
  })
  const { id, creditCents } = instance.services.billing.current(buyer.account)!
  expect(creditCents).toBe(35_000)
  await instance.operator('POST', `/admin/v1/subscriptions/${id}/cancel`, { when: 'now' })

  instance.stand.losesNextAnswer = true
  expect((await subscribe(instance, buyer, 'starter')).status).toBe(201)
  const credits = instance.stand.writes.filter(({ path }) => path.endsWith('balance_transactions'))
  expect(credits.map(({ fields }) => fields.amount)).toEqual(['-35000'])
  const price = 4900
  expect(instance.stand.things.get(buyer.ref)!.balance).toBe(price - 35_000)
  const [invoice] = instance.services.billing.invoices.page({ accountId: buyer.id }, 1, 0)
  expect(invoice).toMatchObject({
    provider: 'stripe',
    status: 'paid',
    amountCents: 0,
    lines: [{ amountCents: price }, { description: 'Account balance', amountCents: -price }],
  })
  const ended = await instance.operator('GET', `/admin/v1/subscriptions/${id}`)
  expect(ended.body.data.subscription.credit).toBe(0)
})

test('a credit of an account that already pays the processor is handed over, once, and pays its next invoice', async () => {
  const instance = shop()
  const buyer = await instance.customer()
  await subscribe(instance, buyer, 'starter')
  const { db, billing } = instance.services
  const running = billing.current(buyer.account)!
  // What an earlier version left: an agreement that had ended with a credit.
  const earlier = { ...running, provider: 'manual', status: 'cancelled', endedAt: startAt } as const
  const { put } = createSubscriptionStore(db)
  for (const [name, creditCents] of [
    ['one', 3000],
    ['other', 3000],
  ] as const)
    put({ ...earlier, id: `agreement-${name}`, providerRef: null, creditCents })
  const credits = () =>
    instance.stand.writes.filter(({ path }) => path.endsWith('balance_transactions'))
  instance.stand.broken = 403
  await instance.advance(2 * minuteMs)
  expect(credits()).toEqual([])
  instance.stand.broken = undefined
  instance.stand.losesNextAnswer = true
  await instance.advance(2 * minuteMs)
  // A backup from before the credit was handed over, restored after the processor forgot the keys.
  db.run("UPDATE subscriptions SET credit_cents = 3000 WHERE id = 'agreement-one'")
  instance.stand.forgetKeys()
  await instance.advance(2 * minuteMs)
  expect(credits().map(({ fields }) => fields.amount)).toEqual(['-3000', '-3000'])
  expect(instance.stand.things.get(buyer.ref)!.balance).toBe(-6000)
  const shown = await instance.operator('GET', '/admin/v1/subscriptions/agreement-one')
  expect(shown.body.data.subscription.credit).toBe(0)

  await instance.advance(30 * dayMs)
  const renewed = instance.stand.renew(instance.theirs(buyer).id)
  await instance.deliver(instance.stand.message('invoice.paid', renewed))
  const [invoice] = billing.invoices.page({ accountId: buyer.id }, 1, 0)
  expect(invoice).toMatchObject({
    amountCents: 0,
    lines: [{ amountCents: 4900 }, { description: 'Account balance', amountCents: -4900 }],
  })
})

test('a credit that the processor refuses holds up neither other credits nor addresses', async () => {
  const instance = shop()
  const buyers: (Buyer & { ref: string })[] = []
  // More than a pass takes, and the last is behind all that are refused.
  for (let each = 0; each < 23; each += 1) buyers.push(await instance.customer())
  for (const buyer of buyers) await subscribe(instance, buyer, 'starter')
  const { db, billing } = instance.services
  const { put } = createSubscriptionStore(db)
  for (const [index, buyer] of buyers.entries()) {
    const running = billing.current(buyer.account)!
    const earlier = { provider: 'manual', status: 'cancelled', endedAt: startAt } as const
    const id = `agreement-${String(index).padStart(2, '0')}`
    put({ ...running, ...earlier, id, providerRef: null, creditCents: 3000 })
  }
  const creditors = createSubscriptionStore(db).creditors('stripe', 100)
  const last = buyers.find(({ id }) => id === creditors.at(-1))!
  // The processor no longer has the customers of the others.
  const others = buyers.filter(buyer => buyer !== last)
  for (const { ref } of others) instance.stand.things.delete(ref)
  await instance.operator('PATCH', `/admin/v1/accounts/${last.id}`, { email: 'new@example.com' })
  for (let pass = 0; pass < 3; pass += 1) await instance.advance(2 * minuteMs)
  const { balance, email } = instance.stand.things.get(last.ref)!
  expect({ balance, email }).toEqual({ balance: -3000, email: 'new@example.com' })
  expect(createSubscriptionStore(db).creditors('stripe', 100)).toHaveLength(others.length)
})

describe('the e-mail address of a customer', () => {
  const addressOf = (instance: Shop, { ref }: { ref: string }) =>
    instance.stand.things.get(ref)!.email
  const change = (instance: Shop, { id }: Buyer, email: string) =>
    instance.operator('PATCH', `/admin/v1/accounts/${id}`, { email })

  test('is the one of the account, also after a change while the processor is unreachable', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    expect(addressOf(instance, buyer)).toBe('buyer1@example.com')
    instance.stand.broken = 403
    expect((await change(instance, buyer, 'new@example.com')).status).toBe(200)
    await instance.advance(2 * minuteMs)
    expect(addressOf(instance, buyer)).toBe('buyer1@example.com')
    instance.stand.broken = undefined
    await instance.advance(2 * minuteMs)
    expect(addressOf(instance, buyer)).toBe('new@example.com')
    const sent = instance.stand.writes.length
    await instance.advance(5 * minuteMs)
    expect(instance.stand.writes).toHaveLength(sent)
  })

  test('is sent although the address changed between a lost answer and its repetition', async () => {
    const instance = shop()
    const buyer = instance.buyer()
    const setUp = () => instance.ask('POST', '/billing/intents/setup', buyer.token)
    // The customer exists there, and is not known here.
    await setUp()
    instance.services.db.run('DELETE FROM billing_customers')
    await change(instance, buyer, 'new@example.com')
    expect((await setUp()).status).toBe(200)
    const customers = [...instance.stand.things.values()].filter(
      ({ object }) => object === 'customer',
    )
    expect(customers.map(({ email }) => email)).toEqual(['new@example.com'])
  })

  test('that the processor refuses is logged once and holds up no other', async () => {
    const instance = shop()
    const [first, second] = [await instance.customer(), await instance.customer()]
    await change(instance, first, 'a@refused.example')
    await change(instance, second, 'b@example.com')
    await instance.advance(5 * minuteMs)
    expect([addressOf(instance, first), addressOf(instance, second)]).toEqual([
      'buyer1@example.com',
      'b@example.com',
    ])
    expect(instance.log.filter(line => line.includes('customer_email_refused'))).toHaveLength(1)
  })

  test('is compared with that of the account only after an address has changed', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await instance.advance(2 * minuteMs)
    // Nothing changes an account like this, so no pass looks for it.
    instance.services.db.run("UPDATE billing_customers SET email = 'other@example.com'")
    const sent = instance.stand.writes.length
    await instance.advance(5 * minuteMs)
    expect(instance.stand.writes).toHaveLength(sent)
    await change(instance, buyer, 'new@example.com')
    await instance.advance(2 * minuteMs)
    expect(addressOf(instance, buyer)).toBe('new@example.com')
  })

  test('is sent by a later pass if the processor failed after it had made the customer', async () => {
    const instance = shop()
    await instance.advance(2 * minuteMs)
    const buyer = instance.buyer()
    let requests = 0
    const broken = {
      get() {
        requests += 1
        return requests === 1 ? undefined : 403
      },
    }
    Object.defineProperty(instance.stand, 'broken', { configurable: true, ...broken })
    await instance.ask('POST', '/billing/intents/setup', buyer.token)
    Object.defineProperty(instance.stand, 'broken', { value: undefined })
    await instance.advance(2 * minuteMs)
    const customers = [...instance.stand.things.values()].filter(
      ({ object }) => object === 'customer',
    )
    expect(customers.map(({ email }) => email)).toEqual([buyer.account.account.email])
  })

  test('is removed when the person is erased', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    expect(addressOf(instance, buyer)).toBe('buyer1@example.com')
    expect((await instance.operator('DELETE', `/admin/v1/accounts/${buyer.id}`)).status).toBe(200)
    expect((await instance.operator('POST', `/admin/v1/accounts/${buyer.id}/erase`)).status).toBe(
      200,
    )
    await instance.advance(2 * minuteMs)
    expect(addressOf(instance, buyer)).toBe('')
  })
})

describe('money that went back', () => {
  const invoiceOf = async (instance: Shop, { token }: Buyer) =>
    (await instance.ask('GET', '/billing/invoices', token)).body.invoices[0]
  const paidBy = (instance: Shop, { ref }: { ref: string }) =>
    [...instance.stand.things.values()].findLast(
      thing =>
        (thing.object === 'invoice' || thing.object === 'payment_intent') && thing.customer === ref,
    )!

  test('a refund is shown on the invoice, in the PDF and to the customer, once for each part', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    const { amount } = await invoiceOf(instance, buyer)
    const charge = instance.stand.chargeOf(paidBy(instance, buyer))
    charge.amount_refunded = 1234
    const sent = instance.stand.message('charge.refunded', charge)
    expect(await instance.deliver(sent)).toBe(200)
    expect(await instance.deliver(sent)).toBe(200)
    expect(await invoiceOf(instance, buyer)).toMatchObject({
      amount,
      status: 'paid',
      amount_refunded: 1234,
      dispute: null,
    })
    charge.amount_refunded = amount
    const refund = { id: 're_1', object: 'refund', charge: charge.id }
    await instance.deliver(instance.stand.message('refund.created', refund))
    expect((await invoiceOf(instance, buyer)).amount_refunded).toBe(amount)
    const refunds = instance.mailMessages().filter(({ subject }) => subject.includes('refund'))
    expect(refunds.map(({ text }) => text.split('\n')[0])).toEqual([
      expect.stringMatching(/^USD 12\.34 of invoice 2026-\d+ has been refunded\.$/),
      expect.stringMatching(/^USD 36\.66 of invoice 2026-\d+ has been refunded\.$/),
    ])
  })

  test.each(['refund', 'dispute'])(
    'a %s of the whole payment leaves the plan, and notifies the operator until it is ended',
    async how => {
      const instance = shop()
      const buyer = await instance.customer()
      await subscribe(instance, buyer, 'starter')
      const notices = () =>
        operatorAlertsOf(instance.services).filter(({ id }) => id.startsWith('returned'))
      const charge = instance.stand.chargeOf(paidBy(instance, buyer))
      if (how === 'refund') {
        charge.amount_refunded = charge.amount - 1
        await instance.deliver(instance.stand.message('charge.refunded', charge))
        expect(notices()).toEqual([])
        charge.amount_refunded = charge.amount
        await instance.deliver(
          instance.stand.message('charge.refunded', charge, { id: 'evt_full' }),
        )
      } else {
        const dispute = { id: 'dp_1', object: 'dispute', charge: charge.id, status: 'lost' }
        instance.stand.things.set(dispute.id, dispute)
        charge.disputed = true
        await instance.deliver(instance.stand.message('charge.dispute.closed', dispute))
      }
      expect(instance.plan(buyer)).toBe('starter')
      const { number } = await invoiceOf(instance, buyer)
      expect(notices().map(({ text }) => text)).toEqual([
        `the payment of invoice ${number} of buyer1@example.com was returned, and the plan continues. To end it: wellhead subscriptions cancel buyer1@example.com --now`,
      ])
      const { id } = instance.services.billing.current(buyer.account)!
      await instance.operator('POST', `/admin/v1/subscriptions/${id}/cancel`, { when: 'now' })
      expect({ notices: notices(), plan: instance.plan(buyer) }).toEqual({
        notices: [],
        plan: 'free',
      })
    },
  )

  test('two returned payments of one plan, as after an upgrade, are one line for the operator', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    await instance.advance(dayMs)
    await change(instance, buyer, 'professional')
    const paid = [...instance.stand.things.values()].filter(({ object }) => object === 'invoice')
    for (const invoice of paid) {
      const charge = instance.stand.chargeOf(invoice)
      charge.amount_refunded = charge.amount
      await instance.deliver(instance.stand.message('charge.refunded', charge))
    }
    const numbers = instance.services.billing.invoices
      .page({ accountId: buyer.id }, 10, 0)
      .map(({ number }) => number)
      .toReversed()
    expect(
      operatorAlertsOf(instance.services)
        .filter(({ id }) => id.startsWith('returned'))
        .map(({ text }) => text),
    ).toEqual([
      `the payments of invoices ${numbers.join(', ')} of buyer1@example.com were returned, and the plan continues. To end it: wellhead subscriptions cancel buyer1@example.com --now`,
    ])
  })

  test('the operator is no longer notified of a returned payment when the next period is paid', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    const charge = instance.stand.chargeOf(paidBy(instance, buyer))
    charge.amount_refunded = charge.amount
    await instance.deliver(instance.stand.message('charge.refunded', charge))
    expect(instance.services.billing.invoices.returned(20)).toHaveLength(1)
    await instance.advance(31 * dayMs)
    const renewed = instance.stand.renew(instance.theirs(buyer).id)
    await instance.deliver(instance.stand.message('invoice.paid', renewed))
    expect(instance.services.billing.invoices.returned(20)).toEqual([])
  })

  test('a dispute is shown as it is decided, and logged for the operator', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    const charge = instance.stand.chargeOf(paidBy(instance, buyer))
    const dispute = {
      id: 'dp_1',
      object: 'dispute',
      charge: charge.id,
      status: 'needs_response',
      metadata: {},
    }
    instance.stand.things.set(dispute.id, dispute)
    charge.disputed = true
    for (const [status, shown] of [
      ['needs_response', 'open'],
      ['under_review', 'open'],
      ['won', 'won'],
      ['lost', 'lost'],
    ] as const) {
      dispute.status = status
      await instance.deliver(
        instance.stand.message('charge.dispute.updated', dispute, { id: `evt_${status}` }),
      )
      expect((await invoiceOf(instance, buyer)).dispute).toBe(shown)
    }
    const lines = instance.log.filter(line => line.includes('payment_disputed'))
    expect(lines.map(line => JSON.parse(line).dispute)).toEqual(['open', 'won', 'lost'])
    expect(
      instance.mailMessages().filter(({ subject }) => subject.endsWith('is disputed')),
    ).toHaveLength(3)
  })

  test('a pack whose payment was refunded loses the requests that are left', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    const bought = await instance.ask('POST', '/billing/credit_purchases', buyer.token, {
      pack_id: 'pack_3',
      quantity: 2,
    })
    expect({
      status: bought.status,
      balance: instance.services.billing.credits.balance(buyer.id),
    }).toEqual({ status: 201, balance: 6 })
    const charge = instance.stand.chargeOf(paidBy(instance, buyer))
    charge.amount_refunded = charge.amount
    await instance.deliver(instance.stand.message('charge.refunded', charge))
    expect(instance.services.billing.credits.balance(buyer.id)).toBe(0)
    expect(await invoiceOf(instance, buyer)).toMatchObject({ amount: 200, amount_refunded: 200 })
  })

  test('a bank debit that fails days later is reported once, when it fails', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'professional')
    const invoice = instance.stand.renew(instance.theirs(buyer).id, false)
    const payment_intent: Thing = { id: 'pi_debit', object: 'payment_intent', status: 'processing' }
    invoice.payments = { object: 'list', data: [{ payment: { payment_intent } }] }
    const failures = () =>
      instance.events(buyer.account).filter(({ type }) => type === 'invoice.payment_failed').length
    instance.services.webhooks.create(buyer.account, {
      ...defaultSettings,
      url: 'https://hooks.example.com/a',
      events: ['*'],
    })
    await instance.deliver(instance.stand.message('invoice.finalized', invoice))
    expect({ status: (await invoiceOf(instance, buyer)).status, failures: failures() }).toEqual({
      status: 'open',
      failures: 0,
    })
    payment_intent.status = 'requires_payment_method'
    await instance.deliver(instance.stand.message('invoice.payment_failed', invoice))
    expect(failures()).toBe(1)
    await instance.deliver(
      instance.stand.message('invoice.payment_failed', invoice, { id: 'evt_again' }),
    )
    expect(failures()).toBe(1)
  })
})

describe('the operator ends a subscription of the processor at once', () => {
  test('it ends there and here, and the account has the free plan', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    const { id } = instance.services.billing.current(buyer.account)!
    const ended = await instance.operator('POST', `/admin/v1/subscriptions/${id}/cancel`, {
      when: 'now',
    })
    expect({ ended: ended.status, subscription: ended.body.data.subscription.status }).toEqual({
      ended: 200,
      subscription: 'cancelled',
    })
    expect({ status: instance.theirs(buyer).status, plan: instance.plan(buyer) }).toEqual({
      status: 'canceled',
      plan: 'free',
    })
    await instance.deliver(
      instance.stand.message('customer.subscription.deleted', instance.theirs(buyer)),
    )
    expect(
      instance.mailMessages().filter(({ subject }) => subject.endsWith('Starter plan has ended')),
    ).toHaveLength(1)
    const again = await instance.operator('POST', `/admin/v1/subscriptions/${id}/cancel`, {
      when: 'now',
    })
    expect(codeOf(again)).toBe('no_active_subscription')
    // The account can buy again.
    expect((await subscribe(instance, buyer, 'starter')).status).toBe(201)
  })

  test('open invoices are voided or kept, and without that choice nothing changes', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    const theirs = instance.stand.renew(instance.theirs(buyer).id, false)
    await instance.deliver(instance.stand.message('invoice.payment_failed', theirs))
    const { id } = instance.services.billing.current(buyer.account)!
    const cancel = (more: object) =>
      instance.operator('POST', `/admin/v1/subscriptions/${id}/cancel`, { when: 'now', ...more })
    const undecided = await cancel({})
    expect({
      status: undecided.status,
      code: codeOf(undecided),
      plan: instance.plan(buyer),
    }).toEqual({ status: 409, code: 'open_invoice', plan: 'starter' })
    expect((await cancel({ open_invoices: 'void' })).status).toBe(200)
    const [invoice] = instance.services.billing.invoices.page({ accountId: buyer.id }, 1, 0)
    expect({
      invoiceStatus: invoice!.status,
      theirsStatus: theirs.status,
      plan: instance.plan(buyer),
    }).toEqual({ invoiceStatus: 'void', theirsStatus: 'void', plan: 'free' })
  })
})

describe('POST /billing/webhooks/stripe', () => {
  test('a failed payment and its later success are each reported once', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'professional')
    instance.services.webhooks.create(buyer.account, {
      ...defaultSettings,
      url: 'https://hooks.example.com/a',
      events: ['*'],
    })
    instance.clock.advance(30 * dayMs)
    const invoice = instance.stand.renew(instance.theirs(buyer).id, false)
    const failed = instance.stand.message('invoice.payment_failed', invoice)
    for (const sent of [failed, failed]) expect(await instance.deliver(sent)).toBe(200)
    expect(instance.services.billing.statusOf(buyer.account).status).toBe('past_due')
    expect(instance.plan(buyer)).toBe('professional')
    Object.assign(invoice, {
      status: 'paid',
      attempt_count: 2,
      next_payment_attempt: null,
      status_transitions: { paid_at: Math.floor(instance.clock.now() / 1000) },
    })
    Object.assign(instance.theirs(buyer), { status: 'active' })
    for (const type of ['invoice.paid', 'invoice.payment_succeeded', 'invoice.updated'])
      await instance.deliver(instance.stand.message(type, invoice))
    expect(instance.services.billing.statusOf(buyer.account).status).toBe('active')
    const types = instance.events(buyer.account).map(event => event.type)
    expect(types.filter(type => type.startsWith('invoice.'))).toEqual([
      'invoice.payment_failed',
      'invoice.paid',
    ])
    // An older message that comes in now finds what is so now.
    const before = stateOf(instance, buyer)
    await instance.deliver({
      ...instance.stand.message(
        'invoice.payment_failed',
        { ...invoice, status: 'open' },
        { id: 'evt_late' },
      ),
    })
    expect(stateOf(instance, buyer)).toBe(before)
  })

  test('about a price that was made in the dashboard keeps the plan, and the log names it', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'professional')
    const before = stateOf(instance, buyer)
    const theirs = instance.theirs(buyer)
    theirs.items.data[0].price = { id: 'price_dashboard', unit_amount: 777, metadata: {} }
    await instance.deliver(instance.stand.message('customer.subscription.updated', theirs))
    expect(stateOf(instance, buyer)).toBe(before)
    expect(instance.log.join('\n')).toContain('subscription_unreadable')
  })

  test('ends the plan when the processor has ended the subscription', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    Object.assign(instance.theirs(buyer), {
      status: 'canceled',
      ended_at: Math.floor(instance.clock.now() / 1000),
    })
    await instance.deliver(
      instance.stand.message('customer.subscription.deleted', instance.theirs(buyer)),
    )
    expect({
      plan: instance.plan(buyer),
      status: instance.services.billing.statusOf(buyer.account).status,
    }).toEqual({ plan: 'free', status: 'cancelled' })
  })

  test('that is not signed, signed by another, changed, or long ago is refused and changes nothing', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    Object.assign(instance.theirs(buyer), {
      status: 'canceled',
      ended_at: Math.floor(instance.clock.now() / 1000),
    })
    const before = stateOf(instance, buyer)
    const at = Math.floor(instance.clock.now() / 1000)
    const type = 'customer.subscription.deleted'
    const good = instance.stand.message(type, instance.theirs(buyer))
    const bad: Sent[] = [
      { raw: good.raw, signature: '' },
      { raw: good.raw, signature: 'nonsense' },
      { raw: good.raw, signature: `t=${at},v1=${'0'.repeat(64)}` },
      { raw: `${good.raw} `, signature: good.signature },
      instance.stand.message(type, instance.theirs(buyer), { secret: 'whsec_other' }),
      instance.stand.message(type, instance.theirs(buyer), { secret: '' }),
      instance.stand.message(type, instance.theirs(buyer), { at: at - 301 }),
      { raw: '', signature: good.signature },
    ]
    for (const sent of bad) expect(await instance.deliver(sent)).toBe(400)
    expect(stateOf(instance, buyer)).toBe(before)
    expect(await instance.deliver(good)).toBe(200)
    expect(instance.plan(buyer)).toBe('free')
  })

  test('about what this service did not make, or about another account’s customer, is taken and changes nothing', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    const before = stateOf(instance, buyer)
    const strange = { ...instance.theirs(buyer), id: 'sub_strange', metadata: {} }
    instance.stand.things.set('sub_strange', strange)
    const nobody = {
      ...instance.theirs(buyer),
      id: 'sub_nobody',
      metadata: { account_id: 'nobody' },
    }
    instance.stand.things.set('sub_nobody', nobody)
    const second = { ...instance.theirs(buyer), id: 'sub_second' }
    instance.stand.things.set('sub_second', second)
    for (const thing of [
      strange,
      nobody,
      second,
      { id: 'sub_gone', object: 'subscription' },
      { id: 'cus_1', object: 'customer' },
      { id: 'in_x', object: 'invoice' },
    ]) {
      expect(
        await instance.deliver(instance.stand.message('any.thing', thing)),
        JSON.stringify(thing.id),
      ).toBe(200)
    }
    expect(stateOf(instance, buyer)).toBe(before)
  })

  test('a Stripe webhook that cannot be verified now is checked again later and then takes effect', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    instance.clock.advance(30 * dayMs)
    const sent = instance.stand.message(
      'invoice.paid',
      instance.stand.renew(instance.theirs(buyer).id),
    )
    instance.stand.broken = 403
    expect(await instance.deliver(sent)).toBe(503)
    instance.stand.broken = undefined
    expect(await instance.deliver(sent)).toBe(200)
    expect(instance.services.billing.invoices.count({ accountId: buyer.id })).toBe(2)
  }, 20_000)

  test('comes to the same in any order, any number of times, and all at once', async () => {
    const deeds = fc.array(
      fc.record({
        deed: fc.constantFrom('renew', 'fail', 'recover', 'end at period end', 'go on', 'end'),
        outcome: fc.boolean(),
      }),
      { minLength: 1, maxLength: 5 },
    )
    await fc.assert(
      fc.asyncProperty(deeds, fc.infiniteStream(fc.nat(1_000_000)), async (story, chance) => {
        const instance = shop()
        const buyer = await instance.customer()
        await subscribe(instance, buyer, 'starter')
        const theirs = instance.theirs(buyer)
        const messages: Sent[] = []
        let invoice: Thing | undefined
        for (const { deed, outcome } of story) {
          if (theirs.status === 'canceled') break
          if (deed === 'renew' || deed === 'fail') {
            instance.clock.advance(31 * dayMs)
            invoice = instance.stand.renew(theirs.id, deed === 'renew')
          } else if (deed === 'recover' && invoice?.status === 'open') {
            Object.assign(invoice, {
              status: 'paid',
              attempt_count: 2,
              next_payment_attempt: null,
              status_transitions: { paid_at: Math.floor(instance.clock.now() / 1000) },
            })
            theirs.status = 'active'
          } else if (deed === 'end')
            Object.assign(theirs, {
              status: 'canceled',
              ended_at: Math.floor(instance.clock.now() / 1000),
            })
          else theirs.cancel_at_period_end = deed === 'end at period end'
          const sentMessages = [
            instance.stand.message('customer.subscription.updated', theirs, {
              id: `evt_${messages.length}_a`,
            }),
            ...(invoice
              ? [
                  instance.stand.message('invoice.updated', invoice, {
                    id: `evt_${messages.length}_b`,
                  }),
                ]
              : []),
          ]
          messages.push(...sentMessages)
          if (outcome) for (const message of sentMessages) await instance.deliver(message)
        }
        // All of them again, signed again, in another order and at once.
        const later = [...messages, ...messages]
          .map(message => ({ message, at: chance.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ message }) => {
            const event = JSON.parse(message.raw)
            return instance.stand.message(event.type, event.data.object, { id: event.id })
          })
        await Promise.all(later.map(instance.deliver))
        for (const message of later) await instance.deliver(message)
        const ended = theirs.status === 'canceled'
        expect(instance.plan(buyer)).toBe(ended ? 'free' : 'starter')
        const subscription = instance.services.billing.current(buyer.account)
        if (ended) expect(subscription).toBeUndefined()
        else
          expect(subscription).toMatchObject({
            status: theirs.status,
            cancelAtPeriodEnd: theirs.cancel_at_period_end,
          })
        // Every invoice that was notified of, as it is there, and none twice.
        const refs = new Set(
          messages
            .map(message => JSON.parse(message.raw).data.object)
            .filter(object => object.object === 'invoice')
            .map(object => object.id),
        )
        for (const ref of refs) {
          const copies = instance.services.billing.invoices
            .page({ accountId: buyer.id }, 100, 0)
            .filter(invoice => invoice.providerRef === ref)
          expect(copies.map(copy => copy.status)).toEqual([instance.stand.things.get(ref)!.status])
        }
        instance.stand.close()
        instance.services.db.close()
      }),
      { numRuns: 12 },
    )
  }, 60_000)
})

test('subscriptions that cannot be read do not keep others from being read', async () => {
  const instance = shop()
  const buyers: (Buyer & { ref: string })[] = []
  for (let each = 0; each < 22; each += 1) buyers.push(await instance.customer())
  for (const buyer of buyers) {
    await subscribe(instance, buyer, 'starter')
    await instance.advance(minuteMs)
  }
  const last = buyers.at(-1)!
  for (const buyer of buyers.slice(0, -1)) instance.stand.things.delete(instance.theirs(buyer).id)
  await instance.advance(30 * dayMs)
  instance.stand.renew(instance.theirs(last).id)
  for (let pass = 0; pass < 3; pass += 1) await instance.advance(11 * minuteMs)
  const { endsAt } = instance.services.billing.current(last.account)!
  expect(endsAt).toBeGreaterThan(instance.clock.now())
})

test('the processor is chosen with its secrets or not at all', () => {
  const flags = {
    'billing.provider': 'stripe',
    'billing.stripe_key': 'sk_test',
    'billing.stripe_webhook_secret': 'whsec',
  }
  for (const missing of ['billing.stripe_key', 'billing.stripe_webhook_secret'] as const) {
    expect(() => billingHouse('serve', { ...flags, [missing]: '' })).toThrow(missing)
  }
  expect(billingHouse('serve', flags).services.billing.provider).toBe('stripe')
})
