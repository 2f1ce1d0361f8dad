import { describe, expect, test } from 'bun:test'
import { createBillingJob } from '../../../src/instance/jobs/billing.ts'
import { dayMs, isoInstant } from '../../../src/lib/time/instant.ts'
import { defaultSettings } from '../../../src/topics/webhooks/store/webhooks.ts'
import {
  type BillingHouse,
  type Buyer,
  billingHouse,
  startAt,
} from '../../support/topics/billing.ts'

const day = (n: number) => startAt + n * dayMs
const monthDays = 30

/** A buyer on a plan with webhooks, whose events can be checked. */
async function subscriber(instance: BillingHouse, plan = 'professional'): Promise<Buyer> {
  const buyer = instance.buyer()
  await instance.change(buyer, plan)
  instance.services.webhooks.create(buyer.account, {
    ...defaultSettings,
    url: 'https://hooks.example.com/a',
    events: ['*'],
  })
  return buyer
}

const use = (instance: BillingHouse, { account }: Buyer, method: string) =>
  instance.services.billing.payments.use(account, method)
const current = (instance: BillingHouse, { account }: Buyer) =>
  instance.services.billing.current(account)
const invoicesOf = (instance: BillingHouse, { id }: Buyer) =>
  instance.services.billing.invoices.page({ accountId: id }, 100, 0).toReversed()

describe('createBillingJob: a period that ends', () => {
  test('an ended billing period is followed at once by the next one, which is paid and notified', async () => {
    const instance = billingHouse()
    const buyer = await subscriber(instance)
    await instance.advance(monthDays * dayMs - 1)
    expect(invoicesOf(instance, buyer)).toHaveLength(1)
    await instance.advance(1)
    expect(current(instance, buyer)).toMatchObject({
      startsAt: day(30),
      endsAt: Date.parse('2027-01-20T15:00:00Z'),
      status: 'active',
    })
    expect(
      invoicesOf(instance, buyer).map(invoice => [
        invoice.amountCents,
        invoice.status,
        invoice.startsAt,
      ]),
    ).toEqual([
      [9900, 'paid', startAt],
      [9900, 'paid', day(30)],
    ])
    expect(instance.events(buyer.account).map(event => event.type)).toEqual([
      'subscription.updated',
      'invoice.paid',
    ])
    const [updated, paid] = instance.events(buyer.account)
    expect(updated!.data).toEqual({
      subscription_id: current(instance, buyer)!.id,
      plan_id: 'professional',
      plan_name: 'Professional',
      status: 'active',
      billing_period: 'monthly',
      current_period_start: '2026-12-20T15:00:00Z',
      current_period_end: '2027-01-20T15:00:00Z',
      previous_plan_id: null,
      cancel_at_period_end: false,
      updated_at: '2026-12-20T15:00:00Z',
    })
    expect(paid!.data).toEqual({
      invoice_id: invoicesOf(instance, buyer)[1]!.id,
      subscription_id: current(instance, buyer)!.id,
      amount: 9900,
      currency: 'USD',
      status: 'paid',
      period_start: '2026-12-20T15:00:00Z',
      period_end: '2027-01-20T15:00:00Z',
      paid_at: '2026-12-20T15:00:00Z',
      pdf_url: null,
    })
  })

  test('while the service was down is made up for, without invoices for periods in which it never ran, and none twice', () => {
    const instance = billingHouse()
    const buyer = instance.buyer()
    const { subscriptions } = instance.services.billing
    return subscriptions.subscribe(buyer.account, 'starter', 'monthly', 'a').then(ready => {
      ready()
      instance.clock.advance(100 * dayMs)
      const job = createBillingJob(instance.services)
      job.pass()
      job.pass()
      expect(invoicesOf(instance, buyer).map(invoice => isoInstant(invoice.startsAt))).toEqual([
        '2026-11-20T15:00:00Z',
        '2027-02-20T15:00:00Z',
      ])
      expect(instance.log.filter(line => line.includes('billing_period_missed'))).toHaveLength(2)
      expect(current(instance, buyer)).toMatchObject({
        startsAt: Date.parse('2027-02-20T15:00:00Z'),
        endsAt: Date.parse('2027-03-20T15:00:00Z'),
      })
    })
  })

  test('the end of a cancelled subscription still notifies the webhooks that the account loses', async () => {
    const instance = billingHouse()
    const buyer = await subscriber(instance)
    void (await instance.services.billing.subscriptions.cancel(buyer.account))()
    await instance.advance(monthDays * dayMs)
    expect({ plan: instance.plan(buyer), current: current(instance, buyer) }).toEqual({
      plan: 'free',
      current: undefined,
    })
    expect(instance.services.billing.statusOf(buyer.account)).toEqual({
      status: 'cancelled',
      cancelAtPeriodEnd: false,
    })
    const [request, ended] = instance.events(buyer.account)
    expect({ type: request!.type, data: request!.data }).toEqual({
      type: 'subscription.cancelled',
      data: {
        subscription_id: request!.data.subscription_id,
        plan_id: 'professional',
        plan_name: 'Professional',
        cancelled_at: '2026-11-20T15:00:00Z',
        effective_end_date: '2026-12-20',
      },
    })
    expect({ type: ended!.type, status: ended!.data.status }).toEqual({
      type: 'subscription.updated',
      status: 'cancelled',
    })
  })

  test('the end of a cancelled subscription keeps a plan that the operator has assigned', async () => {
    const instance = billingHouse()
    const buyer = await subscriber(instance)
    instance.services.keys.putAccount({ ...buyer.account.account, plan: 'enterprise' })
    void (await instance.services.billing.subscriptions.cancel(buyer.account))()
    await instance.advance(monthDays * dayMs)
    expect(instance.plan(buyer)).toBe('enterprise')
    expect(instance.services.billing.statusOf(buyer.account).status).toBe('active')
  })
})

describe('createBillingJob: a payment that is refused', () => {
  test('is tried again after a day, three days and five, while the plan continues, and after 14 days the plan ends', async () => {
    const instance = billingHouse()
    const buyer = await subscriber(instance)
    await use(instance, buyer, 'pm_fail')
    const attempts: [number, number][] = []
    await instance.advance(43 * dayMs, () => {
      const { attempts: count } = invoicesOf(instance, buyer).at(-1)!
      if (instance.clock.now() >= day(30) && count !== attempts.at(-1)?.[1])
        attempts.push([(instance.clock.now() - startAt) / dayMs, count])
      expect(instance.plan(buyer)).toBe('professional')
    })
    expect(attempts).toEqual([
      [30, 1],
      [31, 2],
      [34, 3],
      [39, 4],
    ])
    expect(current(instance, buyer)).toMatchObject({ status: 'past_due', pastDueAt: day(30) })
    const failures = instance
      .events(buyer.account)
      .filter(event => event.type === 'invoice.payment_failed')
    expect(
      failures.map(failure => [
        failure.data.attempt_count,
        failure.data.next_attempt_at,
        failure.data.status,
        failure.data.error,
      ]),
    ).toEqual([
      [1, isoInstant(day(31)), 'open', 'The card was declined.'],
      [2, isoInstant(day(34)), 'open', 'The card was declined.'],
      [3, isoInstant(day(39)), 'open', 'The card was declined.'],
      [4, null, 'open', 'The card was declined.'],
    ])
    await instance.advance(dayMs)
    expect({
      plan: instance.plan(buyer),
      status: invoicesOf(instance, buyer).at(-1)!.status,
    }).toEqual({ plan: 'free', status: 'uncollectible' })
    const last = instance.events(buyer.account).at(-1)!
    expect({ type: last.type, effective_end_date: last.data.effective_end_date }).toEqual({
      type: 'subscription.cancelled',
      effective_end_date: '2027-01-03',
    })
    const subjects = instance
      .mailMessages()
      .filter(mailMessage => mailMessage.to === buyer.account.account.email)
      .map(({ subject }) => subject)
    expect({ subjects: subjects.length, last: subjects.at(-1) }).toEqual({
      subjects: 5,
      last: 'Wellhead: the Professional plan has ended',
    })
  })

  test('that is made good by another method leaves the subscription as it was, at once', async () => {
    const instance = billingHouse()
    const buyer = await subscriber(instance)
    await use(instance, buyer, 'pm_fail')
    await instance.advance(31 * dayMs)
    expect(instance.services.billing.statusOf(buyer.account).status).toBe('past_due')
    const refused = (
      await instance.services.billing.subscriptions.changePlan(buyer.account, 'scale', 'k')
    )()
    expect(refused).toEqual({ refused: 'subscription_past_due' })
    await use(instance, buyer, 'pm_0002')
    expect(current(instance, buyer)).toMatchObject({ status: 'active', pastDueAt: null })
    expect(invoicesOf(instance, buyer).at(-1)).toMatchObject({
      status: 'paid',
      attempts: 3,
      nextAttemptAt: null,
      lastError: null,
    })
    await instance.advance(20 * dayMs)
    expect(instance.plan(buyer)).toBe('professional')
  })

  test('changes nothing where it would have bought something', async () => {
    const instance = billingHouse()
    const buyer = instance.buyer()
    await use(instance, buyer, 'pm_fail')
    const { subscriptions } = instance.services.billing
    expect(
      (await subscriptions.subscribe(buyer.account, 'starter', 'monthly', 'k'))(),
    ).toMatchObject({ refused: 'payment_failed' })
    expect({
      plan: instance.plan(buyer),
      invoices: invoicesOf(instance, buyer),
      current: current(instance, buyer),
    }).toEqual({ plan: 'free', invoices: [], current: undefined })
    await use(instance, buyer, 'pm_0001')
    await instance.change(buyer, 'starter')
    await use(instance, buyer, 'pm_fail')
    const before = current(instance, buyer)
    expect((await subscriptions.changePlan(buyer.account, 'scale', 'k'))()).toMatchObject({
      refused: 'payment_failed',
    })
    expect({
      plan: instance.plan(buyer),
      invoices: invoicesOf(instance, buyer).length,
      current: current(instance, buyer),
    }).toEqual({ plan: 'starter', invoices: 1, current: before })
  })
})

describe('createBillingJob: an invoice in the operator’s ledger', () => {
  test('leaves its plan alone until it is due, then past due, and ends it after the grace', async () => {
    const instance = billingHouse('serve', { 'billing.terms': '10d', 'billing.grace': '5d' })
    const buyer = await subscriber(instance)
    expect(invoicesOf(instance, buyer)).toMatchObject([{ status: 'open', dueAt: day(10) }])
    await instance.advance(10 * dayMs - 1)
    expect(current(instance, buyer)!.status).toBe('active')
    await instance.advance(1)
    expect(current(instance, buyer)).toMatchObject({ status: 'past_due', pastDueAt: day(10) })
    expect(instance.events(buyer.account).map(event => event.type)).toEqual([
      'invoice.payment_failed',
      'subscription.updated',
    ])
    await instance.advance(5 * dayMs - 1)
    expect(instance.plan(buyer)).toBe('professional')
    await instance.advance(1)
    expect({ plan: instance.plan(buyer), status: invoicesOf(instance, buyer)[0]!.status }).toEqual({
      plan: 'free',
      status: 'uncollectible',
    })
  })

  test('whose grace ended while the server was stopped is followed by no further invoice', async () => {
    const instance = billingHouse('serve', { 'billing.terms': '10d', 'billing.grace': '5d' })
    const buyer = await subscriber(instance)
    await instance.advance(10 * dayMs)
    expect(current(instance, buyer)!.status).toBe('past_due')
    instance.clock.set(startAt + 75 * dayMs)
    createBillingJob(instance.services).pass()
    expect(instance.plan(buyer)).toBe('free')
    expect(invoicesOf(instance, buyer)).toMatchObject([{ status: 'uncollectible' }])
  })

  test('that is marked as paid or void makes the subscription active again', async () => {
    for (const status of ['paid', 'void'] as const) {
      const instance = billingHouse('serve', { 'billing.terms': '10d' })
      const buyer = await subscriber(instance)
      await instance.advance(10 * dayMs)
      expect(current(instance, buyer)!.status).toBe('past_due')
      instance.services.billing.ledger.mark(invoicesOf(instance, buyer)[0]!, status)
      expect(current(instance, buyer)).toMatchObject({ status: 'active', pastDueAt: null })
      await instance.advance(18 * dayMs)
      expect(instance.plan(buyer)).toBe('professional')
      expect(instance.events(buyer.account).some(event => event.type === 'invoice.paid')).toBe(
        status === 'paid',
      )
    }
  })
})

test('a moved clock stops at every moment at which something is due, and nowhere else', async () => {
  const instance = billingHouse('serve', { 'billing.terms': '10d', 'billing.grace': '5d' })
  await subscriber(instance)
  const job = createBillingJob(instance.services)
  const stops: number[] = []
  for (let at = startAt; stops.length < 10; at = stops.at(-1)!) {
    const next = job.nextStop!(at)
    if (next === Number.POSITIVE_INFINITY) break
    expect(next).toBeGreaterThan(at)
    stops.push(next)
    instance.clock.set(next)
    job.pass()
  }
  expect(stops.map(at => (at - startAt) / dayMs)).toEqual([10, 15])
})

test('an account that has bought nothing costs the job nothing and stays as it is', async () => {
  const instance = billingHouse()
  const buyer = instance.buyer('scale', { addOns: ['well_production'] })
  const before = { ...buyer.account.account }
  await instance.advance(400 * dayMs)
  expect(buyer.account.account).toEqual(before)
  expect(createBillingJob(instance.services).nextStop!(instance.clock.now())).toBe(
    Number.POSITIVE_INFINITY,
  )
})
