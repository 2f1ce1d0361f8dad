import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  boundText,
  type Condition,
  conditionHolds,
  conditionMet,
  type Reading,
  type Timeframe,
} from '../../../../src/topics/alerts/math/threshold.ts'
import { runs } from '../../../support/full.ts'

const reading = (
  value: number,
  previous?: number,
  before: Partial<Record<Timeframe, number>> = {},
): Reading => ({
  value,
  previous,
  before: timeframe => before[timeframe],
})
const above = { commodity: 'WTI_USD', operator: 'greater_than', value: 80 } as const
const below = { commodity: 'WTI_USD', operator: 'less_than', value: 80 } as const
const up = { commodity: 'WTI_USD', operator: 'percent_increase', value: 5 } as const
const down = { commodity: 'WTI_USD', operator: 'percent_decrease', value: 5 } as const
const between = { commodity: 'WTI_USD', operator: 'between', minValue: 70, maxValue: 80 } as const

describe('a condition', () => {
  const table: [name: string, Condition, Reading, boolean][] = [
    ['greater_than is strict', above, reading(80), false],
    ['greater_than above', above, reading(80.01), true],
    ['less_than is strict', below, reading(80), false],
    ['less_than below', below, reading(79.99), true],
    ['percent_increase from its value on', up, reading(105, 100, { '24h': 100 }), true],
    ['percent_increase short of it', up, reading(104.99, 100, { '24h': 100 }), false],
    ['percent_increase does not take a fall', up, reading(90, 100, { '24h': 100 }), false],
    [
      'percent_increase over its own timeframe',
      { ...up, timeframe: '1h' },
      reading(105, 104, { '1h': 104, '24h': 100 }),
      false,
    ],
    [
      'percent_increase over 7d',
      { ...up, timeframe: '7d' },
      reading(105, 104, { '24h': 104, '7d': 100 }),
      true,
    ],
    ['a percentage without a base does not hold', up, reading(105, 100), false],
    ['a percentage from zero does not hold', up, reading(105, 100, { '24h': 0 }), false],
    ['percent_decrease from its value on', down, reading(95, 100, { '24h': 100 }), true],
    ['percent_decrease does not take a rise', down, reading(105, 100, { '24h': 100 }), false],
    ['a fall below zero is a decrease', down, reading(-37.63, 18.27, { '24h': 18.27 }), true],
    ['a rise from below zero is an increase', up, reading(-10, -20, { '24h': -20 }), true],
    ['between takes its lower end', between, reading(70), true],
    ['between takes its upper end', between, reading(80), true],
    ['between not below', between, reading(69.99), false],
    ['between not above', between, reading(80.01), false],
    [
      'enter needs to come from outside',
      { ...between, triggerOn: 'enter' },
      reading(75, 76),
      false,
    ],
    ['enter from below', { ...between, triggerOn: 'enter' }, reading(70, 69), true],
    ['enter from above', { ...between, triggerOn: 'enter' }, reading(80, 81), true],
    ['enter is not an exit', { ...between, triggerOn: 'enter' }, reading(81, 80), false],
    ['a first price enters nothing', { ...between, triggerOn: 'enter' }, reading(75), false],
    ['exit upward', { ...between, triggerOn: 'exit' }, reading(81, 80), true],
    ['exit downward', { ...between, triggerOn: 'exit' }, reading(69, 70), true],
    ['exit only once', { ...between, triggerOn: 'exit' }, reading(82, 81), false],
    [
      'a jump over the range neither enters',
      { ...between, triggerOn: 'enter' },
      reading(81, 69),
      false,
    ],
    ['nor exits', { ...between, triggerOn: 'exit' }, reading(81, 69), false],
  ]
  for (const [name, condition, at, holds] of table) {
    test(name, () => expect(conditionHolds(condition, at)).toBe(holds))
  }
})

describe('several conditions', () => {
  const brent = { commodity: 'BRENT_CRUDE_USD', operator: 'greater_than', value: 85 } as const
  const prices = (wti: number, brentAt?: number) => (code: string) =>
    code === 'WTI_USD' ? reading(wti) : brentAt === undefined ? undefined : reading(brentAt)

  const table: [
    name: string,
    logic: 'any' | 'all',
    commodity: string,
    readings: ReturnType<typeof prices>,
    met: Condition | undefined,
  ][] = [
    ['any: one on the commodity is enough', 'any', 'WTI_USD', prices(81, 1), above],
    [
      'any: one on another commodity says nothing of this price',
      'any',
      'WTI_USD',
      prices(79, 90),
      undefined,
    ],
    ['all: both hold', 'all', 'WTI_USD', prices(81, 86), above],
    ['all: notified of the price that came', 'all', 'BRENT_CRUDE_USD', prices(81, 86), brent],
    ['all: the other does not hold', 'all', 'WTI_USD', prices(81, 84), undefined],
    ['all: the other has no price', 'all', 'WTI_USD', prices(81), undefined],
    ['all: a price that none is on', 'all', 'GOLD_USD', prices(81, 86), undefined],
  ]
  for (const [name, logic, commodity, readings, met] of table) {
    test(name, () => expect(conditionMet([above, brent], logic, commodity, readings)).toEqual(met))
  }
})

/** The same definitions, written down once more in the plainest way. */
function naive(
  condition: Condition,
  value: number,
  previous: number | undefined,
  before: Partial<Record<Timeframe, number>>,
): boolean {
  if (condition.operator === 'greater_than') return value > condition.value
  if (condition.operator === 'less_than') return value < condition.value
  if (condition.operator === 'between') {
    const states = [previous, value].map(value =>
      value === undefined
        ? 'none'
        : value < condition.minValue || value > condition.maxValue
          ? 'out'
          : 'in',
    )
    const crossings = { enter: 'out in', exit: 'in out' }
    return condition.triggerOn
      ? states.join(' ') === crossings[condition.triggerOn]
      : states[1] === 'in'
  }
  const { timeframe = '24h' } = condition as { timeframe?: Timeframe }
  const base = before[timeframe]
  if (base === undefined || base === 0) return false
  const percent = (100 * (value - base)) / Math.abs(base)
  return condition.operator === 'percent_increase'
    ? percent >= condition.value
    : -percent >= condition.value
}

const price = fc.integer({ min: -20, max: 20 })
const timeframe = fc.option(fc.constantFrom<Timeframe>('1h', '24h', '7d'), { nil: undefined })
const condition = fc.oneof(
  fc.record({
    operator: fc.constantFrom('greater_than' as const, 'less_than' as const),
    value: price,
  }),
  fc
    .record({
      operator: fc.constantFrom('percent_increase' as const, 'percent_decrease' as const),
      value: fc.integer({ min: 1, max: 200 }),
      timeframe,
    })
    .map(({ timeframe: named, ...rest }) => ({ ...rest, ...(named && { timeframe: named }) })),
  fc
    .record({
      minValue: price,
      width: fc.integer({ min: 0, max: 10 }),
      triggerOn: fc.constantFrom(undefined, 'enter' as const, 'exit' as const),
    })
    .map(({ minValue, width, triggerOn }) => ({
      operator: 'between' as const,
      minValue,
      maxValue: minValue + width,
      ...(triggerOn && { triggerOn }),
    })),
)
const codes = ['A', 'B', 'C'] as const
const world = fc.record({
  value: price,
  previous: fc.option(price, { nil: undefined }),
  before: fc.record({ '1h': price, '24h': price, '7d': price }, { requiredKeys: [] }),
})

test('threshold conditions hold exactly where a plain reading of their definitions says so', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...codes), condition), { maxLength: 5 }),
      fc.constantFrom('any' as const, 'all' as const),
      fc.constantFrom(...codes),
      fc.record({ A: world, B: world, C: world }),
      (list, logic, commodity, worlds) => {
        const conditions = list.map(([code, rest]) => ({ ...rest, commodity: code }) as Condition)
        const holds = conditions.map(condition => {
          const { value, previous, before } = worlds[condition.commodity as 'A']
          return naive(condition, value, previous, before)
        })
        const judgedConditions = conditions
          .map((condition, i) => ({ condition, holds: holds[i]! }))
          .filter(({ condition }) => condition.commodity === commodity)
        const expected =
          logic === 'any'
            ? judgedConditions.some(judged => judged.holds)
            : judgedConditions.length > 0 && holds.every(Boolean)
        const met = conditionMet(conditions, logic, commodity, code => {
          const { value, previous, before } = worlds[code as 'A']
          return reading(value, previous, before)
        })
        expect(met !== undefined).toBe(expected)
        if (met) expect(met.commodity).toBe(commodity)
      },
    ),
    { numRuns: runs(2000) },
  )
})

test('threshold bounds are formatted as people write them', () => {
  expect([above, up, between].map(boundText)).toEqual(['80', '5%', '70 to 80'])
})
