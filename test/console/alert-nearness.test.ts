import { expect, test } from 'bun:test'
import { distanceOf, nearestFirst } from '../../src/console/pages/alerts/nearness.ts'
import type { AlertShape } from '../../src/topics/alerts/operations/row.ts'

const alert = (condition_operator: AlertShape['condition_operator'], condition_value: number) => ({
  analytics_type: null,
  condition_operator,
  condition_value,
})

test.each([
  ['greater_than', 110, 100, 10],
  ['less_than', 90, 100, -10],
  ['greater_than', 90, 100, 0],
  ['less_than_or_equal', 110, 100, 0],
  ['between', 90, 100, undefined],
  ['greater_than', 90, -3, undefined],
  ['greater_than', 90, undefined, undefined],
] as const)('a price alert %s %p is, at %p, %p percent away', (operator, level, price, percent) => {
  expect(distanceOf(alert(operator, level), price)).toBe(percent)
})

test('alerts are listed by how near their level is, those without a level last', () => {
  const distances = { far: 37, none: undefined, near: -3, met: 0 }
  const names = Object.keys(distances) as (keyof typeof distances)[]
  expect(nearestFirst(names, name => distances[name])).toEqual(['met', 'near', 'far', 'none'])
})
