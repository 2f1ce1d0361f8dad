import { thousands } from '../../../lib/text/text.ts'

const signs: Record<string, string> = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', CNY: '¥' }

const powers = Array.from({ length: 16 }, (_, n) => 10 ** n)
/**
 * Below this many units of the last place the product with a power of ten errs by less than
 * `doubt`.
 */
const unitsMax = 1e9
/** How near to a half the product must be for its rounding to be in doubt. */
const flag = 1e-6

/** Rounds half away from zero to `decimals` places, in decimal: 1.005 becomes 1.01. */
export function roundTo(value: number, decimals: number): number {
  const magnitude = Math.abs(value)
  const power = powers[decimals]
  const scaled = magnitude * (power ?? Number.NaN)
  if (power === undefined || !(scaled < unitsMax)) return roundedByText(value, decimals)
  const whole = Math.floor(scaled)
  // Away from a half no error of the product can change the result; one division rounds as reading
  // the decimal text would.
  if (Math.abs(scaled - whole - 0.5) < flag) return roundedByText(value, decimals)
  const rounded = (scaled - whole > 0.5 ? whole + 1 : whole) / power
  return value < 0 && rounded !== 0 ? -rounded : rounded
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
  if (bare || currency === null) return minus + number
  if (unit.startsWith('pence_per_')) return `${minus}${number}p`
  const sign = signs[currency]
  return sign ? minus + sign + number : `${minus}${currency} ${number}`
}
