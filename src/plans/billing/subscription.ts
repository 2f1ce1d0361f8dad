import { type PlanId, planIds } from '../tiers.ts'
import { type PricedPeriod, type Proration, proration, replacement } from './proration.ts'

export const billingPeriods = ['monthly', 'yearly'] as const
export type BillingPeriod = (typeof billingPeriods)[number]

const monthsOf: Readonly<Record<BillingPeriod, number>> = { monthly: 1, yearly: 12 }

/** The terms of a purchase: a plan, paid monthly or yearly, at a price per period. */
export interface Terms {
  plan: PlanId
  billingPeriod: BillingPeriod
  priceCents: number
}

/**
 * `months` calendar months after `anchorAt` (UTC), at the same time of day; where the month has no
 * such day, on its last.
 */
export function monthsAfter(anchorAt: number, months: number): number {
  const anchor = new Date(anchorAt)
  const [year, month] = [anchor.getUTCFullYear(), anchor.getUTCMonth() + months]
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const midnight = Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth(), anchor.getUTCDate())
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay)) + (anchorAt - midnight)
}

/**
 * The end of the period that begins at `startsAt`, which is the anchor or an end before. All ends
 * are counted from the anchor, so that a subscription of the 31st, after a February, ends on the
 * 31st again.
 */
export function periodEnd(
  anchorAt: number,
  startsAt: number,
  billingPeriod: BillingPeriod,
): number {
  const [anchor, start] = [new Date(anchorAt), new Date(startsAt)]
  const passed =
    (start.getUTCFullYear() - anchor.getUTCFullYear()) * 12 +
    start.getUTCMonth() -
    anchor.getUTCMonth()
  return monthsAfter(anchorAt, passed + monthsOf[billingPeriod])
}

/** A step up has a higher place in the table of plans, whatever it costs. */
export const isHigher = (plan: PlanId, than: PlanId): boolean =>
  planIds.indexOf(plan) > planIds.indexOf(than)

/** When a change of terms takes effect. */
export type TermsChange =
  | { when: 'never' }
  /** Within the running period, or with a new one that begins now. */
  | { when: 'now'; newPeriod: boolean; proration: Proration }
  | { when: 'period_end' }

/**
 * A higher plan takes effect at once, and so does the same one for a longer period. A lower plan
 * and a shorter period wait for the end of the paid period, and so does every change that would
 * leave a credit: nothing is refunded.
 */
export function changeOf(current: Terms & PricedPeriod, next: Terms, at: number): TermsChange {
  const samePeriod = current.billingPeriod === next.billingPeriod
  if (samePeriod && current.plan === next.plan) return { when: 'never' }
  const isLower = isHigher(current.plan, next.plan)
  const isShorter = monthsOf[next.billingPeriod] < monthsOf[current.billingPeriod]
  if (isLower || isShorter) return { when: 'period_end' }
  const cost = samePeriod
    ? proration(current, next.priceCents, at)
    : replacement(current, next.priceCents, at)
  if (cost.amountCents < 0) return { when: 'period_end' }
  return { when: 'now', newPeriod: !samePeriod, proration: cost }
}

/** When a payment that failed is tried again, from the failure before it on. */
export const paymentRetriesMs = [24, 72, 120].map(hours => hours * 3_600_000)
