import { describe, expect, test } from 'bun:test'
import { billingJob } from '../../src/jobs/billing.ts'
import { dayMs, isoInstant } from '../../src/lib/instant.ts'
import { defaultSettings } from '../../src/store/webhooks/webhooks.ts'
import { type BillingHouse, type Buyer, billingHouse, startAt } from '../support/billing.ts'

const day = (n: number) => startAt + n * dayMs
const monthDays = 30

/** A buyer on a plan with webhooks, whose events can be looked at. */
async function subscriber(house: BillingHouse, plan = 'professional'): Promise<Buyer> {
  const buyer = house.buyer()
  await house.change(buyer, plan)
  house.services.webhooks.create(buyer.account, {
    ...defaultSettings,
    url: 'https://hooks.example.com/a',
    events: ['*'],
  })
  return buyer
}

const use = (house: BillingHouse, { account }: Buyer, method: string) =>
  house.services.billing.payments.use(account, method)
const current = (house: BillingHouse, { account }: Buyer) => house.services.billing.current(account)
const invoicesOf = (house: BillingHouse, { id }: Buyer) =>
  house.services.billing.invoices.page({ accountId: id }, 100, 0).toReversed()

describe('a period that ends', () => {
  test('is followed by the next at the same moment, paid and told', async () => {
    const house = billingHouse()
    const buyer = await subscriber(house)
    await house.advance(monthDays * dayMs - 1)
    expect(invoicesOf(house, buyer)).toHaveLength(1)
    await house.advance(1)
    expect(current(house, buyer)).toMatchObject({
      startsAt: day(30),
      endsAt: Date.parse('2027-01-20T15:00:00Z'),
      status: 'active',
    })
    expect(
      invoicesOf(house, buyer).map(one => [one.amountCents, one.status, one.startsAt]),
    ).toEqual([
      [9900, 'paid', startAt],
      [9900, 'paid', day(30)],
    ])
    expect(house.events(buyer.account).map(one => one.type)).toEqual([
      'subscription.updated',
      'invoice.paid',
    ])
    const [updated, paid] = house.events(buyer.account)
    expect(updated!.data).toEqual({
      subscription_id: current(house, buyer)!.id,
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
      invoice_id: invoicesOf(house, buyer)[1]!.id,
      subscription_id: current(house, buyer)!.id,
      amount: 9900,
      currency: 'USD',
      status: 'paid',
      period_start: '2026-12-20T15:00:00Z',
      period_end: '2027-01-20T15:00:00Z',
      paid_at: '2026-12-20T15:00:00Z',
      pdf_url: null,
    })
  })

  test('while the service was down is made up for, each period with its own invoice, and none twice', () => {
    const house = billingHouse()
    const buyer = house.buyer()
    const { subscriptions } = house.services.billing
    return subscriptions.subscribe(buyer.account, 'starter', 'monthly', 'a').then(ready => {
      ready()
      house.clock.advance(100 * dayMs)
      const job = billingJob(house.services)
      job.pass()
      job.pass()
      expect(invoicesOf(house, buyer).map(one => isoInstant(one.startsAt))).toEqual([
        '2026-11-20T15:00:00Z',
        '2026-12-20T15:00:00Z',
        '2027-01-20T15:00:00Z',
        '2027-02-20T15:00:00Z',
      ])
    })
  })

  test('ends a cancelled subscription, and whoever loses webhooks by it still hears of it', async () => {
    const house = billingHouse()
    const buyer = await subscriber(house)
    void (await house.services.billing.subscriptions.cancel(buyer.account))()
    await house.advance(monthDays * dayMs)
    expect([house.plan(buyer), current(house, buyer)]).toEqual(['free', undefined])
    expect(house.services.billing.standing(buyer.account)).toEqual({
      status: 'cancelled',
      cancelAtPeriodEnd: false,
    })
    const [asked, ended] = house.events(buyer.account)
    expect([asked!.type, asked!.data]).toEqual([
      'subscription.cancelled',
      {
        subscription_id: asked!.data.subscription_id,
        plan_id: 'professional',
        plan_name: 'Professional',
        cancelled_at: '2026-11-20T15:00:00Z',
        effective_end_date: '2026-12-20',
      },
    ])
    expect([ended!.type, ended!.data.status]).toEqual(['subscription.updated', 'cancelled'])
  })

  test('of a plan that the operator has set by hand meanwhile leaves the operator their way', async () => {
    const house = billingHouse()
    const buyer = await subscriber(house)
    house.services.keys.putAccount({ ...buyer.account.account, plan: 'enterprise' })
    void (await house.services.billing.subscriptions.cancel(buyer.account))()
    await house.advance(monthDays * dayMs)
    expect(house.plan(buyer)).toBe('enterprise')
    expect(house.services.billing.standing(buyer.account).status).toBe('active')
  })
})

describe('a payment that is refused', () => {
  test('is tried again after a day, three days and five, with the plan going on, and after 14 days the plan ends', async () => {
    const house = billingHouse()
    const buyer = await subscriber(house)
    await use(house, buyer, 'pm_fail')
    const attempts: [number, number][] = []
    await house.advance(43 * dayMs, () => {
      const { attempts: made } = invoicesOf(house, buyer).at(-1)!
      if (house.clock.now() >= day(30) && made !== attempts.at(-1)?.[1])
        attempts.push([(house.clock.now() - startAt) / dayMs, made])
      expect(house.plan(buyer)).toBe('professional')
    })
    expect(attempts).toEqual([
      [30, 1],
      [31, 2],
      [34, 3],
      [39, 4],
    ])
    expect(current(house, buyer)).toMatchObject({ status: 'past_due', pastDueAt: day(30) })
    const failures = house
      .events(buyer.account)
      .filter(one => one.type === 'invoice.payment_failed')
    expect(
      failures.map(one => [
        one.data.attempt_count,
        one.data.next_attempt_at,
        one.data.status,
        one.data.error,
      ]),
    ).toEqual([
      [1, isoInstant(day(31)), 'open', 'The card was declined.'],
      [2, isoInstant(day(34)), 'open', 'The card was declined.'],
      [3, isoInstant(day(39)), 'open', 'The card was declined.'],
      [4, null, 'open', 'The card was declined.'],
    ])
    await house.advance(dayMs)
    expect([house.plan(buyer), invoicesOf(house, buyer).at(-1)!.status]).toEqual([
      'free',
      'uncollectible',
    ])
    const last = house.events(buyer.account).at(-1)!
    expect([last.type, last.data.effective_end_date]).toEqual([
      'subscription.cancelled',
      '2027-01-03',
    ])
    expect(house.letters().filter(one => one.to === buyer.account.account.email)).toHaveLength(4)
  })

  test('that is made good by another method leaves the subscription as it was, at once', async () => {
    const house = billingHouse()
    const buyer = await subscriber(house)
    await use(house, buyer, 'pm_fail')
    await house.advance(31 * dayMs)
    expect(house.services.billing.standing(buyer.account).status).toBe('past_due')
    const refused = (
      await house.services.billing.subscriptions.changePlan(buyer.account, 'scale', 'k')
    )()
    expect(refused).toEqual({ refused: 'subscription_past_due' })
    await use(house, buyer, 'pm_0002')
    expect(current(house, buyer)).toMatchObject({ status: 'active', pastDueAt: null })
    expect(invoicesOf(house, buyer).at(-1)).toMatchObject({
      status: 'paid',
      attempts: 3,
      nextAttemptAt: null,
      lastError: null,
    })
    await house.advance(20 * dayMs)
    expect(house.plan(buyer)).toBe('professional')
  })

  test('changes nothing where it would have bought something', async () => {
    const house = billingHouse()
    const buyer = house.buyer()
    await use(house, buyer, 'pm_fail')
    const { subscriptions } = house.services.billing
    expect(
      (await subscriptions.subscribe(buyer.account, 'starter', 'monthly', 'k'))(),
    ).toMatchObject({ refused: 'payment_failed' })
    expect([house.plan(buyer), invoicesOf(house, buyer), current(house, buyer)]).toEqual([
      'free',
      [],
      undefined,
    ])
    await use(house, buyer, 'pm_0001')
    await house.change(buyer, 'starter')
    await use(house, buyer, 'pm_fail')
    const before = current(house, buyer)
    expect((await subscriptions.changePlan(buyer.account, 'scale', 'k'))()).toMatchObject({
      refused: 'payment_failed',
    })
    expect([house.plan(buyer), invoicesOf(house, buyer).length, current(house, buyer)]).toEqual([
      'starter',
      1,
      before,
    ])
  })
})

describe('an invoice in the operator’s ledger', () => {
  test('leaves its plan alone until it is due, then past due, and ends it after the grace', async () => {
    const house = billingHouse('serve', { 'billing.terms': '10d', 'billing.grace': '5d' })
    const buyer = await subscriber(house)
    expect(invoicesOf(house, buyer)).toMatchObject([{ status: 'open', dueAt: day(10) }])
    await house.advance(10 * dayMs - 1)
    expect(current(house, buyer)!.status).toBe('active')
    await house.advance(1)
    expect(current(house, buyer)).toMatchObject({ status: 'past_due', pastDueAt: day(10) })
    expect(house.events(buyer.account).map(one => one.type)).toEqual([
      'invoice.payment_failed',
      'subscription.updated',
    ])
    await house.advance(5 * dayMs - 1)
    expect(house.plan(buyer)).toBe('professional')
    await house.advance(1)
    expect([house.plan(buyer), invoicesOf(house, buyer)[0]!.status]).toEqual([
      'free',
      'uncollectible',
    ])
  })

  test('that is marked as paid or void makes the subscription active again', async () => {
    for (const status of ['paid', 'void'] as const) {
      const house = billingHouse('serve', { 'billing.terms': '10d' })
      const buyer = await subscriber(house)
      await house.advance(10 * dayMs)
      expect(current(house, buyer)!.status).toBe('past_due')
      house.services.billing.ledger.mark(invoicesOf(house, buyer)[0]!, status)
      expect(current(house, buyer)).toMatchObject({ status: 'active', pastDueAt: null })
      await house.advance(18 * dayMs)
      expect(house.plan(buyer)).toBe('professional')
      expect(house.events(buyer.account).some(one => one.type === 'invoice.paid')).toBe(
        status === 'paid',
      )
    }
  })
})

test('a moved clock stops at every moment at which something is due, and nowhere else', async () => {
  const house = billingHouse('serve', { 'billing.terms': '10d', 'billing.grace': '5d' })
  await subscriber(house)
  const job = billingJob(house.services)
  const stops: number[] = []
  for (let at = startAt; stops.length < 10; at = stops.at(-1)!) {
    const next = job.nextStop!(at)
    if (next === Number.POSITIVE_INFINITY) break
    expect(next).toBeGreaterThan(at)
    stops.push(next)
    house.clock.set(next)
    job.pass()
  }
  expect(stops.map(at => (at - startAt) / dayMs)).toEqual([10, 15])
})

test('an account that has bought nothing costs the job nothing and stays as it is', async () => {
  const house = billingHouse()
  const buyer = house.buyer('scale', { addOns: ['well_production'] })
  const before = { ...buyer.account.account }
  await house.advance(400 * dayMs)
  expect(buyer.account.account).toEqual(before)
  expect(billingJob(house.services).nextStop!(house.clock.now())).toBe(Number.POSITIVE_INFINITY)
})
