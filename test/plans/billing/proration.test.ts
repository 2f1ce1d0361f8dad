import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs } from '../../../src/lib/time/instant.ts'
import {
  earnedCents,
  type PricedPeriod,
  proration,
  replacement,
  unusedCents,
} from '../../../src/plans/billing/proration.ts'
import { periodEnd } from '../../../src/plans/billing/subscription.ts'

const period = fc
  .record({
    startsAt: fc.integer({ min: 0, max: 4e12 }),
    lengthMs: fc.integer({ min: 1, max: 366 * dayMs }),
    priceCents: fc.nat(1e12),
  })
  .map(
    ({ startsAt, lengthMs, priceCents }): PricedPeriod => ({
      startsAt,
      endsAt: startsAt + lengthMs,
      priceCents,
    }),
  )
const share = fc.double({ min: 0, max: 1, noNaN: true })
const within = ({ startsAt, endsAt }: PricedPeriod, part: number) =>
  startsAt + Math.round(part * (endsAt - startsAt))

describe('the unused time of a period by the calendar', () => {
  test.each([
    ['January 31 to leap day', '2028-01-31', '2028-02-29', '2028-02-14T12:00:00Z', 5000],
    ['leap day to March 31', '2028-02-29', '2028-03-31', '2028-03-15T12:00:00Z', 5000],
    ['a month of 31 days', '2027-01-15', '2027-02-15', '2027-01-16T00:00:00Z', 9677],
    ['a leap year', '2028-01-31', '2029-01-31', '2028-02-01T00:00:00Z', 9973],
  ])('%s', (name, start, end, at, cents) => {
    const [anchor, startsAt] = ['2028-01-31', start].map(day => Date.parse(day)) as [number, number]
    const isYear = name === 'a leap year'
    const endsAt = periodEnd(
      name.startsWith('leap day') ? anchor : startsAt,
      startsAt,
      isYear ? 'yearly' : 'monthly',
    )
    expect(new Date(endsAt).toISOString().slice(0, 10)).toBe(end)
    expect(unusedCents({ startsAt, endsAt, priceCents: 10_000 }, Date.parse(at))).toBe(cents)
  })
})

describe('earnedCents', () => {
  test('is nothing before, all of it after, and half up between', () => {
    const cents = (priceCents: number, lengthMs: number, at: number) =>
      earnedCents({ startsAt: 0, endsAt: lengthMs, priceCents }, at)
    expect([cents(100, 10, -5), cents(100, 10, 0), cents(100, 10, 10), cents(100, 10, 99)]).toEqual(
      [0, 0, 100, 100],
    )
    expect([cents(1, 2, 1), cents(1, 3, 1), cents(1, 3, 2), cents(3, 2, 1)]).toEqual([1, 0, 1, 2])
    // A price times a month in milliseconds is past what a number holds exactly.
    expect(cents(999_999_999_999, 31 * dayMs, 31 * dayMs - 1)).toBe(999_999_999_626)
  })

  test('adds up to the price over any division of the period, and no part is negative', () => {
    fc.assert(
      fc.property(period, fc.array(share, { maxLength: 12 }), (period, parts) => {
        const cuts = [
          period.startsAt,
          ...parts.map(part => within(period, part)).sort((a, b) => a - b),
          period.endsAt,
        ]
        const amounts = cuts
          .slice(1)
          .map((to, i) => earnedCents(period, to) - earnedCents(period, cuts[i]!))
        expect(Math.min(...amounts)).toBeGreaterThanOrEqual(0)
        expect(amounts.reduce((sum, cents) => sum + cents, 0)).toBe(period.priceCents)
      }),
    )
  })

  test('is off by half a cent at most', () => {
    fc.assert(
      fc.property(period, share, (period, part) => {
        const at = within(period, part)
        const [lengthMs, passedMs] = [
          BigInt(period.endsAt - period.startsAt),
          BigInt(at - period.startsAt),
        ]
        const off =
          BigInt(earnedCents(period, at)) * lengthMs - BigInt(period.priceCents) * passedMs
        expect(2n * (off < 0n ? -off : off) <= lengthMs).toBe(true)
      }),
    )
  })
})

test('a change within a period costs the rest at the new price less the rest at the old one', () => {
  const month = { startsAt: 0, endsAt: 30 * dayMs, priceCents: 1900 }
  expect(proration(month, 4900, 10 * dayMs)).toEqual({
    creditCents: 1267,
    chargeCents: 3267,
    amountCents: 2000,
  })
  expect(proration(month, 4900, 0)).toEqual({
    creditCents: 1900,
    chargeCents: 4900,
    amountCents: 3000,
  })
  expect(proration(month, 4900, 30 * dayMs)).toEqual({
    creditCents: 0,
    chargeCents: 0,
    amountCents: 0,
  })
  expect(replacement(month, 22_800, 10 * dayMs)).toEqual({
    creditCents: 1267,
    chargeCents: 22_800,
    amountCents: 21_533,
  })
  expect(unusedCents(month, 10 * dayMs)).toBe(1267)
})
