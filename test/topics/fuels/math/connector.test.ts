import { expect, test } from 'bun:test'
import { shippedPorts } from '../../../../src/topics/catalogue/files/ports.ts'
import {
  connectorRegion,
  fuelOf,
  isMetricTon,
  portNameOf,
} from '../../../../src/topics/fuels/math/connector.ts'

const ports = shippedPorts()

test.each([
  ['vlsfo', 'VLSFO'],
  ['VLSFO_05S', 'VLSFO'],
  ['mgo', 'MGO'],
  ['MGO_05S', 'MGO'],
  ['ifo 380', 'IFO380'],
  ['HSFO', 'IFO380'],
  ['hfo180', 'IFO180'],
  ['B24 VLSFO', 'B24_VLSFO'],
  ['  biofuel (B30) ', 'BIOFUEL_B30'],
  ['---', undefined],
  ['x'.repeat(61), undefined],
])('fuel %p is called %p', (text, name) => {
  expect(fuelOf(text)).toBe(name)
})

test.each([
  ['SGSIN', 'SINGAPORE'],
  ['sin', 'SINGAPORE'],
  ['New York', 'NEW_YORK'],
  ['Algeciras', 'ALGECIRAS'],
  ['las palmas', 'LAS_PALMAS'],
  ['Łódź', 'ŁÓDŹ'],
  ['', undefined],
])('port %p is called %p', (text, name) => {
  expect(portNameOf(ports, text)).toBe(name)
})

test.each([
  ['apac', 'APAC'],
  ['Asia', 'APAC'],
  ['Middle East', 'EMEA'],
  ['europe', 'EMEA'],
  ['Americas', 'AMERICAS'],
  ['Antarctica', undefined],
])('region %p is %p', (text, name) => {
  expect(connectorRegion(text)).toBe(name)
})

test('a ton is metric only where its unit says so', () => {
  expect(['MT', 'mt', 'metric ton', 'metric_tons', 'tonne', 't'].every(isMetricTon)).toBe(true)
  expect(['ton', 'tons', 'short ton', 'gallon', 'bbl', ''].some(isMetricTon)).toBe(false)
})
