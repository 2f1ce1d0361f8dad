/** A number as a fraction: exact, whatever is computed. */
export interface Rational {
  over: bigint
  under: bigint
}

function divisorOf(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b]
  while (y > 0n) [x, y] = [y, x % y]
  return x
}

export function rational(over: bigint, under = 1n): Rational {
  const sign = under < 0n ? -1n : 1n
  const shared = divisorOf(over, sign * under) * sign
  return { over: over / shared, under: under / shared }
}

/** A decimal number, digit by digit. */
export function decimal(text: string | number): Rational {
  const [whole = '', rest = ''] = String(text).split('.')
  return rational(BigInt(whole + rest), 10n ** BigInt(rest.length))
}

export const plus = (a: Rational, b: Rational) =>
  rational(a.over * b.under + b.over * a.under, a.under * b.under)
export const times = (a: Rational, b: Rational) => rational(a.over * b.over, a.under * b.under)
export const negative = ({ over, under }: Rational): Rational => ({ over: -over, under })
export const minus = (a: Rational, b: Rational) => plus(a, negative(b))
/** Undefined: the divisor is zero. */
export const ratio = (a: Rational, b: Rational) =>
  b.over === 0n ? undefined : rational(a.over * b.under, a.under * b.over)
export const isLess = (a: Rational, b: Rational) => a.over * b.under < b.over * a.under
export const meanOf = (values: readonly Rational[]) =>
  values.length === 0
    ? undefined
    : ratio(
        values.reduce((sum, value) => plus(sum, value)),
        rational(BigInt(values.length)),
      )
/** The difference of a number from it, relative to it, or absolute below 1. */
export function errorOf(value: number, exact: Rational): number {
  const [digits, exponent = '0'] = value.toExponential().split('e')
  const scale = 10n ** BigInt(Math.abs(Number(exponent)))
  const power = Number(exponent) < 0 ? rational(1n, scale) : rational(scale)
  const difference = minus(times(decimal(digits!), power), exact)
  const size = Math.max(1, Math.abs(Number((exact.over * 10n ** 6n) / exact.under) / 1e6))
  return Math.abs(Number((difference.over * 10n ** 18n) / difference.under) / 1e18) / size
}
