import { expect, test } from 'bun:test'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import {
  againstAverage,
  dieselCode,
  nationalDieselCode,
  stateCode,
} from '../../../../src/topics/fuels/math/diesel.ts'
import { usStates } from '../../../../src/topics/geography/math/us-states.ts'

test('every state and the country have a series', () => {
  const codes = new Set(shippedCatalogue().series.map(series => series.code))
  expect(
    [nationalDieselCode, ...usStates.map(state => dieselCode(state.code))].filter(
      code => !codes.has(code),
    ),
  ).toEqual([])
})

test.each([
  ['CA', 'CA'],
  [' tx ', 'TX'],
  ['dc', 'DC'],
  ['PR', undefined],
  ['California', undefined],
  ['', undefined],
])('state %p is %p', (text, code) => {
  expect(stateCode(text)).toBe(code)
})

test.each([
  [3.419, 3.441, -0.022, '0.6% below average'],
  [3.6, 3.441, 0.159, '4.6% above average'],
  [3.441, 3.441, 0, 'at average'],
  [3.442, 3.441, 0.001, 'at average'],
])('%p against an average of %p is %p, %p', (price, average, delta, text) => {
  expect(againstAverage(price, average)).toEqual({ delta, text })
})
