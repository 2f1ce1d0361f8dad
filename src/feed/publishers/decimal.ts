import Big from 'big.js'

/** What a publisher wrote where a number belongs: a number as exact decimal text, nothing, or something else. */
export type Cell =
  | { kind: 'value'; text: string }
  | { kind: 'blank' }
  | { kind: 'fault'; written: string }

/** How publishers write that there is no number: missing, withheld, not quoted, not available. */
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
    return { kind: 'value', text: new Big(written).toFixed() }
  }
  if (typeof written !== 'string') return { kind: 'fault', written: shortened(String(written)) }
  const text = written.trim()
  if (blanks.has(text.toLowerCase())) return blank
  const number = thousands && grouped.test(text) ? text.replaceAll(',', '') : text
  if (!plain.test(number)) return { kind: 'fault', written: shortened(text) }
  // The library wants a digit before the point and none of the plus.
  const bare = number
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=$|e)/i, '')
  return { kind: 'value', text: new Big(bare).toFixed() }
}

const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text)

/** `text` times `factor`, exactly: 11677 times 0.001 is 11.677. */
export const timesDecimal = (text: string, factor: string): string =>
  factor === '1' ? text : new Big(text).times(factor).toFixed()

/** More decimals than any answer shows, so that a quotient of two rates loses nothing that counts. */
const quotientDecimals = 10

const quotients = Big()
quotients.DP = quotientDecimals
quotients.RM = quotients.roundHalfEven

/** The quotient of two decimals, rounded half to even at the tenth decimal; undefined where the divisor is 0. */
export function quotient(dividend: string, divisor: string): string | undefined {
  const by = new quotients(divisor)
  return by.eq(0) ? undefined : new quotients(dividend).div(by).toFixed()
}
