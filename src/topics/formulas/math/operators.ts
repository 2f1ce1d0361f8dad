import { FormulaFault, type Spot } from './fault.ts'
import { bare, type Kind } from './kinds.ts'
import type { Evaluated, Scope } from './reads.ts'
import type { Comparison } from './syntax.ts'

export const comparisons: Readonly<Record<Comparison, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
}

/** What follows from a part; nothing where it has no value. */
export const of =
  <A, B>(part: Evaluated<A>, change: (x: A) => B | undefined): Evaluated<B> =>
  scope => {
    const value = part(scope)
    return value === undefined ? undefined : change(value)
  }

/** What follows from two parts; nothing where one has no value. */
export const both =
  <A, B>(
    left: Evaluated<A>,
    right: Evaluated<A>,
    combine: (a: A, b: A, scope: Scope) => B | undefined,
  ): Evaluated<B> =>
  scope => {
    const a = left(scope)
    if (a === undefined) return undefined
    const b = right(scope)
    return b === undefined ? undefined : combine(a, b, scope)
  }

/** A division by zero gives no value. */
export function quotient(x: number, y: number, { onZeroDivisor }: Scope): number | undefined {
  if (y !== 0) return x / y
  onZeroDivisor?.()
  return undefined
}

/** Halves away from zero, on the shortest decimal form of the number. */
export function rounded(value: number, digits: number): number {
  const scale = 10 ** digits
  const scaled = Math.abs(value) * scale
  const whole = Math.round(scaled)
  // The decimal form is needed only where the product may be on the wrong side of a half.
  const isNearHalf = Math.abs(scaled - Math.floor(scaled) - 0.5) <= scaled * 1e-15 + 1e-12
  if (scaled < 1e12 && !isNearHalf) return (Math.sign(value) * whole) / scale
  const [mantissa, exponent = '0'] = String(Math.abs(value)).split('e')
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`))
  return Math.sign(value) * Number(`${shifted}e-${digits}`)
}

/** The kind of a product of two parts. */
export function productKind(left: Kind, right: Kind, spot: Spot): Kind {
  if (left.kind === 'bare') return right
  if (right.kind === 'bare') return left
  const price = left.kind === 'price' ? left : right
  const rate = left.kind === 'rate' ? left : right
  if (price.kind === 'price' && rate.kind === 'rate') {
    if (price.currency === rate.from) return { ...price, currency: rate.to }
    throw new FormulaFault('currency', spot, `must multiply this rate by a price in ${rate.from}.`)
  }
  if (price.kind === 'rate') return bare
  throw new FormulaFault('units', spot, 'must not multiply two prices; write one as plain(…).')
}

/** The kind of a quotient; two prices are brought to the same unit first. */
export function quotientKind(left: Kind, right: Kind, spot: Spot): Kind {
  if (right.kind === 'bare') return left
  if (left.kind === right.kind) return bare
  if (right.kind === 'price')
    throw left.kind === 'rate'
      ? new FormulaFault('currency', spot, 'must not divide a rate by a price.')
      : new FormulaFault(
          'units',
          spot,
          'must not divide a number by a price; write it as plain(…).',
        )
  if (left.kind !== 'price') return { kind: 'rate', from: right.to, to: right.from }
  if (left.currency === right.to) return { ...left, currency: right.from }
  throw new FormulaFault('currency', spot, `must divide a price in ${right.to} by this rate.`)
}
