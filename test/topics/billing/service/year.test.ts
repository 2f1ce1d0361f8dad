import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import type { BillingPeriod } from '../../../../src/plans/billing/subscription.ts'
import { runs } from '../../../support/full.ts'
import { type Buyer, billingHouse, startAt } from '../../../support/topics/billing.ts'

/**
 * The plans in order, with what a month and a year of them cost, as the specification's table has
 * it.
 */
const prices = {
  free: { monthly: 0, yearly: 0 },
  developer: { monthly: 1900, yearly: 22_800 },
  starter: { monthly: 4900, yearly: 58_800 },
  professional: { monthly: 9900, yearly: 118_800 },
  scale: { monthly: 39_900, yearly: 478_800 },
}
type Plan = keyof typeof prices
const order = Object.keys(prices) as Plan[]

interface Period {
  plan: Plan
  length: BillingPeriod
  from: number
  to: number
}

/** Time that was spent on a plan, as a part of a period for which it has a price. */
interface Spent extends Period {
  since: number
  until: number
}

/**
 * A subscription by the rules alone: the plan at each time, and its price. It knows nothing of
 * invoices.
 */
class Oracle {
  plan: Plan = 'free'
  period: Period | undefined
  spent: Spent[] = []
  private since = 0
  private began = 0
  private months = 0
  private next: { plan: Plan; length: BillingPeriod } | undefined
  private ends = false

  private ending(length: BillingPeriod): number {
    this.months += length === 'monthly' ? 1 : 12
    const anchor = Temporal.Instant.fromEpochMilliseconds(this.began).toZonedDateTimeISO('UTC')
    return anchor.add({ months: this.months }).epochMilliseconds
  }
  private leave(at: number) {
    if (this.period)
      this.spent.push({ ...this.period, plan: this.plan, since: this.since, until: at })
  }
  private begin(plan: Plan, length: BillingPeriod, at: number, anew: boolean) {
    if (anew) [this.began, this.months] = [at, 0]
    this.plan = plan
    this.since = at
    this.period = { plan, length, from: at, to: this.ending(length) }
    this.next = undefined
  }
  /** Lets time pass to a moment. */
  reach(now: number) {
    while (this.period && this.period.to <= now) {
      const { to, length } = this.period
      this.leave(to)
      const { next } = this
      if (this.ends) {
        this.plan = 'free'
        this.period = undefined
        this.next = undefined
        this.ends = false
      } else this.begin(next?.plan ?? this.plan, next?.length ?? length, to, false)
    }
  }
  want(plan: Plan, length: BillingPeriod, now: number, lasting: boolean) {
    if (!this.period) {
      this.begin(plan, length, now, true)
      this.ends = false
      return
    }
    const period = this.period
    if (lasting) this.ends = false
    if (plan === this.plan && length === period.length) {
      if (this.next?.plan === 'free') this.ends = false
      this.next = undefined
    } else if (
      order.indexOf(plan) < order.indexOf(this.plan) ||
      (period.length === 'yearly' && length === 'monthly')
    ) {
      this.next = { plan, length }
      this.ends = false
    } else {
      this.leave(now)
      this.next = undefined
      if (length !== period.length) this.begin(plan, length, now, true)
      else {
        this.plan = plan
        this.since = now
      }
    }
  }
  end() {
    if (!this.period) return
    this.ends = true
  }
  endToFree() {
    if (!this.period) return
    this.ends = true
    this.next = { plan: 'free', length: this.period.length }
  }
  resume() {
    this.ends = false
    if (this.next?.plan === 'free') this.next = undefined
  }
  /** The paid amount: all time so far at its price, and the running period to its end. */
  cents(): number {
    const running = this.period
      ? [{ ...this.period, plan: this.plan, since: this.since, until: this.period.to }]
      : []
    return [...this.spent, ...running].reduce((sum, period) => sum + worth(period), 0)
  }
}

/**
 * The share of a price, rounded half up at both ends; worked out in whole numbers without a
 * division but one.
 */
function worth({ plan, length, from, to, since, until }: Spent): number {
  const upTo = (at: number) => {
    const [price, passed, all] = [
      BigInt(prices[plan][length]),
      BigInt(at - from),
      BigInt(to - from),
    ]
    const exact = price * passed
    const whole = exact / all
    return Number(2n * (exact - whole * all) >= all ? whole + 1n : whole)
  }
  return upTo(until) - upTo(since)
}

const paidPlan = fc.constantFrom<Plan>('developer', 'starter', 'professional', 'scale')
const deed = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      plan: fc.oneof(paidPlan, fc.constant<Plan>('free')),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('subscribe' as const),
      plan: paidPlan,
      length: fc.constantFrom<BillingPeriod>('monthly', 'yearly'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reactivate' as const) }) },
)
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never
const step = fc.record({
  deed,
  waitMs: fc.oneof(
    fc.constantFrom(0, 1, 999, dayMs, 30 * dayMs, 31 * dayMs),
    fc.integer({ min: 0, max: 50 * dayMs }),
  ),
})

async function act(
  instance: ReturnType<typeof billingHouse>,
  { account }: Buyer,
  oracle: Oracle,
  step: Deed,
) {
  const { subscriptions } = instance.services.billing
  const now = instance.clock.now()
  const key = instance.services.ids.uuid()
  if (step.kind === 'cancel') {
    const done = (await subscriptions.cancel(account))()
    expect('refused' in done).toBe(oracle.period === undefined)
    oracle.end()
  } else if (step.kind === 'reactivate') {
    void (await subscriptions.reactivate(account))()
    oracle.resume()
  } else if (step.kind === 'subscribe') {
    expect(
      (await subscriptions.subscribe(account, step.plan, step.length, key))(),
    ).not.toHaveProperty('refused')
    oracle.want(step.plan, step.length, now, true)
  } else {
    const done = (await subscriptions.changePlan(account, step.plan, key))()
    const isNothing = step.plan === 'free' && oracle.period === undefined
    expect('refused' in done).toBe(isNothing)
    if (isNothing) return
    if (step.plan === 'free') oracle.endToFree()
    else oracle.want(step.plan, oracle.period?.length ?? 'monthly', now, false)
  }
}

test('over any year of plan changes the invoices add up to the cent and entitlements match what was paid for', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      fc.nat(366 * dayMs),
      async (steps, offsetMs) => {
        const instance = billingHouse('dev', {}, startAt + offsetMs)
        const buyer = instance.buyer()
        const { billing } = instance.services
        const oracle = new Oracle()
        const compare = () => {
          oracle.reach(instance.clock.now())
          const invoices = billing.invoices.page({ accountId: buyer.id }, 1000, 0)
          expect(
            invoices.every(invoice => invoice.status === 'paid' && invoice.amountCents > 0),
          ).toBe(true)
          expect(
            invoices.every(
              invoice =>
                invoice.lines.reduce((sum, line) => sum + line.amountCents, 0) ===
                invoice.amountCents,
            ),
          ).toBe(true)
          expect(invoices.reduce((sum, invoice) => sum + invoice.amountCents, 0)).toBe(
            oracle.cents(),
          )
          expect(instance.plan(buyer)).toBe(oracle.plan)
          const subscription = billing.current(buyer.account)
          expect(subscription && [subscription.startsAt, subscription.endsAt]).toEqual(
            oracle.period && [oracle.period.from, oracle.period.to],
          )
        }
        const yearEnd = instance.clock.now() + 365 * dayMs
        for (const { deed: step, waitMs } of steps) {
          if (instance.clock.now() >= yearEnd) break
          await act(instance, buyer, oracle, step)
          compare()
          await instance.advance(waitMs, compare)
        }
        await instance.advance(Math.max(0, yearEnd - instance.clock.now()), compare)
        instance.services.db.close()
      },
    ),
    { numRuns: runs(50) },
  )
}, 60_000)
