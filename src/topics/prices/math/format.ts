import { thousands } from '../../../lib/text/text.ts'

const signs: Record<string, string> = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', CNY: '¥' }

const powers = Array.from({ length: 16 }, (_, n) => 10 ** n)
/**
 * Below this many units of the last place the product with a power of ten errs by less than
 * `halfMargin`.
 */
const unitsMax = 1e9
/** How near to a half a product must be for its rounding to be uncertain. */
const halfMargin = 1e-6
/** Smaller values are written with an exponent. */
const plainMin = 1e-6

const decimalsMax = 20

/** How many digits a number is written with behind its decimal point; small ones as 1.5e-7. */
export function decimalsOf(number: string | number): number {
  const text = String(number)
  const exponent = Number(/e-(\d+)$/.exec(text)?.[1] ?? 0)
  return Math.min(decimalsMax, (/\.(\d+)/.exec(text)?.[1]?.length ?? 0) + exponent)
}

/** Rounds half away from zero to `decimals` places, in decimal: 1.005 becomes 1.01. */
export function roundTo(value: number, decimals: number): number {
  const units = unitsOf(value, decimals)
  return units === undefined ? roundedByText(value, decimals) : units / powers[decimals]!
}

/**
 * The same in units of the last place, an integer below 1e9; undefined where the decimal text of the
 * value must be rounded.
 */
export function unitsOf(value: number, decimals: number): number | undefined {
  const magnitude = Math.abs(value)
  const power = powers[decimals]
  const scaled = magnitude * (power ?? Number.NaN)
  if (power === undefined || !(scaled < unitsMax)) return undefined
  const whole = Math.floor(scaled)
  // Away from a half no error of the product can change the result; one division rounds as reading
  // the decimal text would. A value that this division makes of the half is written as the half.
  const isNearHalf = Math.abs(scaled - whole - 0.5) < halfMargin
  const isHalf = magnitude >= plainMin && (whole + 0.5) / power === magnitude
  if (isNearHalf && !isHalf) return undefined
  const units = isNearHalf || scaled - whole > 0.5 ? whole + 1 : whole
  return value < 0 && units !== 0 ? -units : units
}

function roundedByText(value: number, decimals: number): number {
  if (!Number.isFinite(value)) return value
  const magnitude = Math.abs(value)
  const rounded =
    magnitude >= 1e15
      ? magnitude
      : Number(`${Math.round(Number(`${magnitude}e${decimals}`))}e-${decimals}`)
  return Number.isNaN(rounded)
    ? Number(value.toFixed(decimals))
    : value < 0 && rounded !== 0
      ? -rounded
      : rounded
}

/** Digits that a decimal number keeps as a double. */
const exactDigits = 15
/** The powers of ten that doubles have exactly. */
const exactPowers = Array.from({ length: 23 }, (_, n) => Number(`1e${n}`))

/**
 * `a` - `b` as of decimal numbers: 71.23 - 75.1 is -3.87, not -3.8699999999999903. It has no more
 * decimals than the largest of the three has within fifteen digits.
 */
export function decimalDifference(a: number, b: number): number {
  const result = a - b
  const size = Math.max(Math.abs(a), Math.abs(b), Math.abs(result))
  const decimals = exactDigits - 1 - Math.floor(Math.log10(size))
  const power = exactPowers[decimals]
  if (power !== undefined) return Math.round(result * power) / power + 0
  // Powers of ten above 10^22 are rounded themselves.
  return decimals > 0 && decimals <= 100 ? Number(result.toFixed(decimals)) + 0 : result
}

/** `12,345.60`. */
export function grouped(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals)
  if (Math.abs(value) < 999) return text
  const [whole, fraction] = text.split('.') as [string, string?]
  return `${thousands(whole)}${fraction ? `.${fraction}` : ''}`
}

/**
 * A price as a person reads it: `$71.23`, `-$1.05`, `112.50p` for pence, `DKK 15.49`; exchange
 * rates and counts are bare numbers.
 */
export function formatPrice(
  value: number,
  decimals: number,
  currency: string | null,
  unit: string,
  bare: boolean,
): string {
  const number = grouped(value, decimals)
  const minus = value < 0 && Number(number.replaceAll(',', '')) !== 0 ? '-' : ''
  const { before, after } = affixesOf(currency, unit, bare)
  return minus + before + number + after
}

/** The text before and after the number of a price; a minus sign comes first. */
export function affixesOf(
  currency: string | null,
  unit: string,
  bare: boolean,
): { before: string; after: string } {
  if (bare || currency === null) return { before: '', after: '' }
  if (unit.startsWith('pence_per_')) return { before: '', after: 'p' }
  return { before: signs[currency] ?? `${currency} `, after: '' }
}
