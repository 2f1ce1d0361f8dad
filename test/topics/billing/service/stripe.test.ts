import { afterEach, describe, expect, test } from 'bun:test'
import { dayMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import {
  change,
  closeShops,
  shop,
  stateOf,
  subscribe,
} from '../../../support/servers/stripe-shop.ts'
import { type Buyer, billingHouse, codeOf } from '../../../support/topics/billing.ts'

afterEach(closeShops)

describe('createRemoteSubscriptions through the processor', () => {
  test('a customer is made once, sets up a card with the processor and pays with it', async () => {
    const instance = shop()
    const { token, id } = instance.buyer()
    expect((await instance.ask('GET', '/billing/payment_methods', token)).body).toEqual({
      payment_methods: [],
      default_payment_method_id: null,
      provider: 'stripe',
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
    instance.stand.card(buyer.ref, `pm_${buyer.ref}`, true)
    expect(codeOf(await change(instance, buyer, 'scale'))).toBe('payment_failed')
    instance.stand.card(buyer.ref, `pm_${buyer.ref}`)
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
