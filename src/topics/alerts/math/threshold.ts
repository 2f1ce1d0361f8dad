import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import { changePercent } from '../../prices/math/change.ts'

export const timeframesMs = { '1h': hourMs, '24h': dayMs, '7d': 7 * dayMs } as const
export type Timeframe = keyof typeof timeframesMs

/** The default period of a percentage. */
export const timeframeDefault: Timeframe = '24h'

/** A condition that a receiver of prices has set on one commodity. */
export type Condition = { commodity: string } & (
  | { operator: 'greater_than' | 'less_than'; value: number }
  | { operator: 'percent_increase' | 'percent_decrease'; value: number; timeframe?: Timeframe }
  | { operator: 'between'; minValue: number; maxValue: number; triggerOn?: 'enter' | 'exit' }
)

/** The newest price of a commodity, and its reference price. */
export interface Reading {
  value: number
  /** The observation before it. */
  previous: number | undefined
  /** The price one timeframe earlier. */
  before(timeframe: Timeframe): number | undefined
}

const isWithin = (value: number, low: number, high: number) => value >= low && value <= high

/**
 * Whether a condition holds at a reading. `greater_than` and `less_than` are strict; a percentage
 * counts from the condition's value on, against the price one timeframe earlier (100 x (to / from -
 * 1)); `between` includes its ends, and with `enter` or `exit` holds only at the reading that
 * crosses them. What there is nothing to compare with does not hold.
 */
export function conditionHolds(condition: Condition, reading: Reading): boolean {
  const { value, previous } = reading
  switch (condition.operator) {
    case 'greater_than':
      return value > condition.value
    case 'less_than':
      return value < condition.value
    case 'percent_increase':
    case 'percent_decrease': {
      const from = reading.before(condition.timeframe ?? timeframeDefault)
      const percent = from === undefined ? undefined : changePercent(from, value)
      if (percent === undefined) return false
      return condition.operator === 'percent_increase'
        ? percent >= condition.value
        : percent <= -condition.value
    }
    case 'between': {
      const inside = isWithin(value, condition.minValue, condition.maxValue)
      if (condition.triggerOn === undefined) return inside
      if (previous === undefined) return false
      const wasInside = isWithin(previous, condition.minValue, condition.maxValue)
      return condition.triggerOn === 'enter' ? inside && !wasInside : wasInside && !inside
    }
  }
}

/**
 * The condition that a new price of `commodity` meets, the first of them; undefined when it meets
 * none, or when all must hold and one does not. Conditions on other commodities are read at the
 * newest price of each.
 */
export function conditionMet(
  conditions: readonly Condition[],
  logic: 'any' | 'all',
  commodity: string,
  readingOf: (commodity: string) => Reading | undefined,
): Condition | undefined {
  const holds = (condition: Condition) => {
    const reading = readingOf(condition.commodity)
    return reading !== undefined && conditionHolds(condition, reading)
  }
  const ownConditions = conditions.filter(condition => condition.commodity === commodity)
  if (logic === 'any') return ownConditions.find(holds)
  return ownConditions.length > 0 && conditions.every(holds) ? ownConditions[0] : undefined
}

/** The bounds of a condition as people write them: `80`, `5%`, `70 to 80`. */
export function boundText(condition: Condition): string {
  switch (condition.operator) {
    case 'greater_than':
    case 'less_than':
      return String(condition.value)
    case 'percent_increase':
    case 'percent_decrease':
      return `${condition.value}%`
    case 'between':
      return `${condition.minValue} to ${condition.maxValue}`
  }
}
