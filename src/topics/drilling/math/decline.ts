/** The decline of a well's output, after J. J. Arps, "Analysis of Decline Curves" (1945). */
export interface Decline {
  /** Output a day at the beginning. */
  initialRate: number
  /** Nominal decline at the beginning, 1/day. */
  initialDecline: number
  /** Arps' b: 0 is exponential, 1 harmonic, between and above them hyperbolic. */
  exponent: number
}

/** Everything that came out in the first `days`: the integral of the rate, in closed form. */
export function outputAfter(decline: Decline, days: number): number {
  const { initialRate, initialDecline, exponent } = decline
  if (exponent === 0) return (initialRate * -Math.expm1(-initialDecline * days)) / initialDecline
  const stretch = 1 + exponent * initialDecline * days
  if (exponent === 1) return (initialRate / initialDecline) * Math.log(stretch)
  return (initialRate / ((1 - exponent) * initialDecline)) * (1 - stretch ** (1 - 1 / exponent))
}
