import { type Product, unitsPer, wholeUnit } from '../../units/math/units.ts'

/**
 * The kind of a part of a formula: a bare number, a price with its unit, or units of `to` for one
 * `from`.
 */
export type Kind =
  | { kind: 'bare' }
  | Price
  | {
      kind: 'rate'
      from: string
      to: string
    }

export interface Price {
  kind: 'price'
  /** Null: a count or a level. */
  currency: string | null
  unit: string
  /** The product whose density and heating value conversions use. */
  product: Product | undefined
}

export const bare: Kind = { kind: 'bare' }

/** The conversion of a price: times `factor`, then at a rate. */
export interface Conversion {
  factor: number
  rate: { from: string; to: string } | undefined
  result: Price
}

/** Why a price cannot be combined with another unit or currency. */
export type Contradiction = 'units' | 'currency'

/**
 * A price in another currency and per another unit. Hundredths are made whole where either becomes
 * another. It does not check that a rate is known.
 */
export function conversionOf(
  price: Price,
  { currency, unit }: Pick<Price, 'currency' | 'unit'>,
): Conversion | Contradiction {
  const result: Price = { ...price, currency, unit }
  if (price.unit === unit && price.currency === currency)
    return { factor: 1, rate: undefined, result }
  if ((price.currency === null) !== (currency === null)) return 'currency'
  const [own, target] = [wholeUnit(price.unit), wholeUnit(unit)]
  const factor = unitsPer(own.unit, target.unit, price.product)
  if (factor === undefined) return 'units'
  const rate =
    price.currency === null || currency === null || price.currency === currency
      ? undefined
      : { from: price.currency, to: currency }
  return { factor: (factor * target.perWhole) / own.perWhole, rate, result }
}
