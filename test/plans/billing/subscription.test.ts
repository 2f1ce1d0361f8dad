import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, isoInstant } from '../../../src/lib/time/instant.ts'
import {
  type BillingPeriod,
  changeOf,
  monthsAfter,
  periodEnd,
  type Terms,
} from '../../../src/plans/billing/subscription.ts'

const at = (text: string) => Date.parse(text)

describe('periodEnd', () => {
  test.each([
    ['2026-01-31T10:20:30.400Z', 1, '2026-02-28T10:20:30.400Z'],
    ['2028-01-31T00:00:00.000Z', 1, '2028-02-29T00:00:00Z'],
    ['2026-01-31T23:59:59.999Z', 3, '2026-04-30T23:59:59.999Z'],
    ['2026-11-20T15:00:00.000Z', 2, '2027-01-20T15:00:00Z'],
    ['2028-02-29T12:00:00.000Z', 12, '2029-02-28T12:00:00Z'],
    ['2028-02-29T12:00:00.000Z', 48, '2032-02-29T12:00:00Z'],
  ])('of %s and %d months ends at %s', (from, months, to) => {
    expect(isoInstant(monthsAfter(at(from), months))).toBe(to)
  })

  test('a billing period ends on the calendar date counted from its anchor, for months and for years', () => {
    const anchor = fc.date({
      min: new Date('2020-01-01T00:00:00Z'),
      max: new Date('2035-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(
        anchor,
        fc.array(fc.constantFrom<BillingPeriod>('monthly', 'yearly'), { maxLength: 30 }),
        (date, periods) => {
          const began = Temporal.Instant.fromEpochMilliseconds(date.getTime()).toZonedDateTimeISO(
            'UTC',
          )
          let [startsAt, months] = [date.getTime(), 0]
          for (const period of periods) {
            months += period === 'monthly' ? 1 : 12
            startsAt = periodEnd(date.getTime(), startsAt, period)
            expect(startsAt).toBe(began.add({ months }).epochMilliseconds)
          }
        },
      ),
    )
  })
})

const month = { startsAt: 0, endsAt: 30 * dayMs }
const terms = (plan: Terms['plan'], billingPeriod: BillingPeriod, priceCents: number): Terms => ({
  plan,
  billingPeriod,
  priceCents,
})
const starter = { ...terms('starter', 'monthly', 4900), ...month }

describe('changeOf', () => {
  test.each([
    ['the same', starter, terms('starter', 'monthly', 4900), 'never'],
    ['a higher plan', starter, terms('professional', 'monthly', 9900), 'now'],
    ['a lower plan', starter, terms('developer', 'monthly', 1900), 'period_end'],
    ['the same by the year', starter, terms('starter', 'yearly', 58_800), 'now'],
    ['a lower plan by the year', starter, terms('developer', 'yearly', 22_800), 'period_end'],
    ['a higher plan by the year', starter, terms('scale', 'yearly', 478_800), 'now'],
    [
      'the same by the month',
      { ...starter, billingPeriod: 'yearly' as const },
      terms('starter', 'monthly', 4900),
      'period_end',
    ],
    [
      'a higher plan by the month',
      { ...starter, billingPeriod: 'yearly' as const },
      terms('scale', 'monthly', 39_900),
      'period_end',
    ],
    ['a higher plan that costs less', starter, terms('professional', 'monthly', 100), 'period_end'],
    ['a year that costs less than is left', starter, terms('starter', 'yearly', 100), 'period_end'],
  ])('to %s', (_name, current, next, when) => {
    expect(changeOf(current, next, 10 * dayMs).when).toBe(when as 'now')
  })

  test('keeps the period where its length stays, and begins a new one where it does not', () => {
    const higher = changeOf(starter, terms('professional', 'monthly', 9900), 15 * dayMs)
    expect(higher).toEqual({
      when: 'now',
      newPeriod: false,
      proration: { creditCents: 2450, chargeCents: 4950, amountCents: 2500 },
    })
    const longer = changeOf(starter, terms('starter', 'yearly', 58_800), 15 * dayMs)
    expect(longer).toEqual({
      when: 'now',
      newPeriod: true,
      proration: { creditCents: 2450, chargeCents: 58_800, amountCents: 56_350 },
    })
  })
})
