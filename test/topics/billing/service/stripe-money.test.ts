import { afterEach, describe, expect, test } from 'bun:test'
import { operatorAlertsOf } from '../../../../src/instance/services/operator-alerts.ts'
import { dayMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import { createSubscriptionStore } from '../../../../src/topics/billing/store/subscriptions.ts'
import { defaultSettings } from '../../../../src/topics/webhooks/store/webhooks.ts'
import type { Thing } from '../../../support/servers/stripe-server.ts'
import {
  change,
  closeShops,
  type Shop,
  shop,
  subscribe,
} from '../../../support/servers/stripe-shop.ts'
import { type Buyer, startAt } from '../../../support/topics/billing.ts'

afterEach(closeShops)

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
