/** A span of time [startsAt, endsAt) and what all of it costs, in minor units. */
export interface PricedPeriod {
  startsAt: number
  endsAt: number
  priceCents: number
}

/**
 * The cost of the part of a period before `at`: the price times the milliseconds that have passed
 * over those that there are, rounded half up once, from exact integers. Every other amount is a
 * difference of two of these, so that the parts of a period add up to its price to the cent,
 * however often it is divided.
 */
export function earnedCents({ startsAt, endsAt, priceCents }: PricedPeriod, at: number): number {
  const lengthMs = BigInt(endsAt - startsAt)
  const passedMs = BigInt(Math.min(Math.max(at, startsAt), endsAt) - startsAt)
  return Number((2n * BigInt(priceCents) * passedMs + lengthMs) / (2n * lengthMs))
}

/** The unused share of a period's price at `at`. */
export const unusedCents = (period: PricedPeriod, at: number): number =>
  period.priceCents - earnedCents(period, at)

export interface Proration {
  /** The price already paid for time that another purchase now covers; not negative. */
  creditCents: number
  chargeCents: number
  /** The charge without the credit. */
  amountCents: number
}

/**
 * From one price to another within a period: the rest of it at the new price, less the rest at the
 * old one.
 */
export function proration(period: PricedPeriod, newPriceCents: number, at: number): Proration {
  return settled(unusedCents(period, at), unusedCents({ ...period, priceCents: newPriceCents }, at))
}

/** A new period instead of a running one: its whole price, less the rest of the old one. */
export const replacement = (period: PricedPeriod, newPriceCents: number, at: number): Proration =>
  settled(unusedCents(period, at), newPriceCents)

const settled = (creditCents: number, chargeCents: number): Proration => ({
  creditCents,
  chargeCents,
  amountCents: chargeCents - creditCents,
})
