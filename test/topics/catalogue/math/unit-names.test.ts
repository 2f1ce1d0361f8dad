import { expect, test } from 'bun:test'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { unitDescription } from '../../../../src/topics/catalogue/math/unit-names.ts'

test('every unit of the shipped catalogue is described', () => {
  const units = new Set(shippedCatalogue().series.map(series => series.unit))
  expect([...units].filter(unit => unitDescription(unit) === unit.replaceAll('_', ' '))).toEqual([])
})

test('a unit without a description is described by its own name in words', () => {
  expect(unitDescription('cargo_of_ice')).toBe('cargo of ice')
})
