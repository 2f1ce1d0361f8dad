import type { DayWatch } from '../../delivery/math/watch.ts'

/** The prices outside of which a condition cannot hold, both ends included. */
export interface Bounds {
  low: number
  high: number
}

/** The operands of a price condition, by kind of operator. */
interface Operands {
  level: { value: number }
  tolerance: { value: number; tolerance: number }
  range: { value: number; min: number; max: number }
}

type OperandKind = keyof Operands

interface PriceOperator<K extends OperandKind> {
  takes: K
  /** After "The price", where people choose an operator. */
  choice: string
  sign: string
  /** The condition as people read it after the word "price". */
  words(operands: Operands[K]): string
  holds(price: number, operands: Operands[K]): boolean
  /** Lets the store skip conditions that a price cannot meet; may be wider than the test. */
  bounds(operands: Operands[K]): Bounds
  /** For the documentation, where the name alone does not explain the operator. */
  note?: string
}

const operator = <K extends OperandKind>(rule: PriceOperator<K>): PriceOperator<K> => rule

export const toleranceDefault = 0.01

/**
 * Differences that only the binary notation of decimals makes do not count: 100.01 is within 0.01
 * of 100.
 */
const notationError = 1e-9

const errorAt = (value: number): number => notationError * Math.max(1, Math.abs(value))

const isNear = (price: number, { value, tolerance }: Operands['tolerance']): boolean =>
  Math.abs(price - value) <= tolerance + errorAt(value)

const below = (high: number): Bounds => ({ low: Number.NEGATIVE_INFINITY, high })
const above = (low: number): Bounds => ({ low, high: Number.POSITIVE_INFINITY })
export const anyPrice: Bounds = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }

/**
 * Every operator of a condition on the price. The form, the console, the documentation, the
 * evaluation and the bounds in the store all read this table; a new one takes an entry here and a
 * test.
 */
export const priceOperators = {
  greater_than: operator({
    takes: 'level',
    choice: 'is above',
    sign: '>',
    words: ({ value }) => `above ${value}`,
    holds: (price, { value }) => price > value,
    bounds: ({ value }) => above(value),
  }),
  less_than: operator({
    takes: 'level',
    choice: 'is below',
    sign: '<',
    words: ({ value }) => `below ${value}`,
    holds: (price, { value }) => price < value,
    bounds: ({ value }) => below(value),
  }),
  equals: operator({
    takes: 'tolerance',
    choice: 'is',
    sign: '=',
    words: ({ value }) => `equal to ${value}`,
    holds: isNear,
    bounds({ value, tolerance }) {
      const reach = tolerance + 2 * errorAt(value)
      return { low: value - reach, high: value + reach }
    },
    note: `\`equals\` holds within \`metadata.tolerance\` (default: ${toleranceDefault}) of the value and \`not_equals\` is its opposite`,
  }),
  not_equals: operator({
    takes: 'tolerance',
    choice: 'is not',
    sign: '≠',
    words: ({ value }) => `different from ${value}`,
    holds: (price, operands) => !isNear(price, operands),
    bounds: () => anyPrice,
  }),
  between: operator({
    takes: 'range',
    choice: 'is between',
    sign: 'between',
    words: ({ min, max }) => `between ${min} and ${max}`,
    holds: (price, { min, max }) => price >= min && price <= max,
    bounds: ({ min, max }) => ({ low: min, high: max }),
    note: '`between` takes `metadata.min` and `metadata.max`, both included, and needs no value',
  }),
  greater_than_or_equal: operator({
    takes: 'level',
    choice: 'is at or above',
    sign: '≥',
    words: ({ value }) => `at or above ${value}`,
    holds: (price, { value }) => price >= value,
    bounds: ({ value }) => above(value),
  }),
  less_than_or_equal: operator({
    takes: 'level',
    choice: 'is at or below',
    sign: '≤',
    words: ({ value }) => `at or below ${value}`,
    holds: (price, { value }) => price <= value,
    bounds: ({ value }) => below(value),
  }),
}

export type Operator = keyof typeof priceOperators

export const operators = Object.keys(priceOperators) as Operator[]

type OperatorTaking<K extends OperandKind> = {
  [O in Operator]: (typeof priceOperators)[O] extends PriceOperator<K> ? O : never
}[Operator]

export function operatorTakes<K extends OperandKind>(
  operator: Operator,
  kind: K,
): operator is OperatorTaking<K> {
  return priceOperators[operator].takes === kind
}

export const operatorsTaking = (kind: OperandKind): Operator[] =>
  operators.filter(operator => operatorTakes(operator, kind))

/**
 * A condition on the price itself, in the unit of its series; with `watch` on a figure of the next
 * market day.
 */
export type PriceCondition = {
  [K in OperandKind]: {
    kind: 'price'
    operator: OperatorTaking<K>
    watch?: DayWatch
  } & Operands[K]
}[OperandKind]

/** The operator of a condition, which reads the condition's operands. */
export const operatorOf = ({ operator }: PriceCondition): PriceOperator<OperandKind> =>
  priceOperators[operator]
