/**
 * The content of a cell where a number belongs: a number as exact decimal text, nothing, or
 * something else.
 */
export type Cell =
  | { kind: 'value'; text: string }
  | { kind: 'blank' }
  | { kind: 'fault'; written: string }

/** Publishers' marks for a missing number: missing, withheld, not quoted, not available. */
const blanks: ReadonlySet<string> = new Set([
  '',
  '.',
  '..',
  '...',
  '…',
  '-',
  '--',
  '–',
  'w',
  'na',
  'n/a',
  'null',
  'nan',
])

const plain = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const grouped = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/

const blank: Cell = { kind: 'blank' }

/**
 * A number as it was sent, without a binary fraction in between: `.833` is 0.833. `thousands` is for
 * publishers that group digits by commas; elsewhere `1,234.5` is a fault.
 */
export function cellOf(written: unknown, { thousands = false } = {}): Cell {
  if (written === null || written === undefined) return blank
  if (typeof written === 'number') {
    if (!Number.isFinite(written)) return { kind: 'fault', written: String(written) }
    return { kind: 'value', text: textOf(partsOf(String(written))) }
  }
  if (typeof written !== 'string') return { kind: 'fault', written: shortened(String(written)) }
  const text = written.trim()
  if (blanks.has(text.toLowerCase())) return blank
  const number = thousands && grouped.test(text) ? text.replaceAll(',', '') : text
  if (!plain.test(number)) return { kind: 'fault', written: shortened(text) }
  return { kind: 'value', text: plainText(number) }
}

const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text)

/** A decimal as a whole number and how many of its digits stand behind the point. */
interface Parts {
  digits: bigint
  decimals: number
}

function partsOf(number: string): Parts {
  const [mantissa = '', exponent = '0'] = number.split(/[eE]/)
  const [whole = '', fraction = ''] = mantissa.replace('+', '').split('.')
  const decimals = fraction.length - Number(exponent)
  const digits = BigInt(`${whole === '-' ? '-0' : whole || '0'}${fraction}`)
  return decimals < 0 ? { digits: digits * tens(-decimals), decimals: 0 } : { digits, decimals }
}

const tens = (count: number): bigint => 10n ** BigInt(count)

/** In one spelling: a digit before the point, no zeros at either end, no exponent. */
function textOf({ digits, decimals }: Parts): string {
  const isNegative = digits < 0n
  const all = String(isNegative ? -digits : digits).padStart(decimals + 1, '0')
  const whole = all.slice(0, all.length - decimals)
  const fraction = all.slice(all.length - decimals).replace(/0+$/, '')
  const text = fraction === '' ? whole : `${whole}.${fraction}`
  return isNegative ? `-${text}` : text
}

/** A decimal in one spelling; most are in it already. */
function plainText(number: string): string {
  return /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/.test(number) && number !== '-0'
    ? number
    : textOf(partsOf(number))
}

/** `text` times `factor`, exactly: 11677 times 0.001 is 11.677. */
export function timesDecimal(text: string, factor: string): string {
  if (factor === '1') return text
  const [a, b] = [partsOf(text), partsOf(factor)]
  return textOf({ digits: a.digits * b.digits, decimals: a.decimals + b.decimals })
}

export const sumDecimals = (texts: readonly string[]): string =>
  textOf(
    texts.map(partsOf).reduce((a, b) => {
      const decimals = Math.max(a.decimals, b.decimals)
      const digits = a.digits * tens(decimals - a.decimals) + b.digits * tens(decimals - b.decimals)
      return { digits, decimals }
    }),
  )

/** More decimals than any answer shows, so that a quotient of two rates loses nothing that counts. */
const quotientDecimals = 10

/** The quotient of two decimals, rounded half to even at the tenth decimal; undefined where the divisor is 0. */
export function quotient(dividend: string, divisor: string): string | undefined {
  const [a, b] = [partsOf(dividend), partsOf(divisor)]
  if (b.digits === 0n) return undefined
  const isNegative = a.digits < 0n !== b.digits < 0n
  const over = absolute(a.digits) * tens(b.decimals + quotientDecimals)
  const under = absolute(b.digits) * tens(a.decimals)
  const whole = over / under
  const rest = 2n * (over % under)
  const up = rest > under || (rest === under && whole % 2n === 1n)
  const digits = up ? whole + 1n : whole
  return textOf({ digits: isNegative ? -digits : digits, decimals: quotientDecimals })
}

const absolute = (digits: bigint): bigint => (digits < 0n ? -digits : digits)
