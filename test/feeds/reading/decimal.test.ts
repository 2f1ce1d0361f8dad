import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cellOf, quotient, timesDecimal } from '../../../src/feeds/reading/decimal.ts'

describe('numbers as publishers write them', () => {
  const values: [written: unknown, text: string][] = [
    ['25.78', '25.78'],
    ['.833', '0.833'],
    ['-.5', '-0.5'],
    ['-36.98', '-36.98'],
    ['5.', '5'],
    ['+2.10', '2.1'],
    ['2.2057396058', '2.2057396058'],
    ['1e-7', '0.0000001'],
    [3.5787, '3.5787'],
    [1e21, '1000000000000000000000'],
    ['  7 ', '7'],
  ]
  for (const [written, text] of values) {
    test(`${JSON.stringify(written)} is ${text}`, () => {
      expect(cellOf(written)).toEqual({ kind: 'value', text })
    })
  }

  const blanks = ['', '.', 'w', 'W', '--', 'NULL', '…', '...', 'N/A', null, undefined]
  for (const written of blanks) {
    test(`${JSON.stringify(written)} is a blank`, () => {
      expect(cellOf(written).kind).toBe('blank')
    })
  }

  for (const written of ['12x', '1,234.5', '1.2.3', 'about 3', '1,23', true, Number.NaN, {}]) {
    test(`${JSON.stringify(written)} is not a number`, () => {
      expect(cellOf(written).kind).toBe('fault')
    })
  }

  test('groups of thousands are read only where the publisher writes them', () => {
    expect(cellOf('1,234,567.5', { thousands: true })).toEqual({ kind: 'value', text: '1234567.5' })
    expect(cellOf('1,23', { thousands: true }).kind).toBe('fault')
    expect(cellOf('827.649', { thousands: true })).toEqual({ kind: 'value', text: '827.649' })
  })

  test('a factor leaves no trace of binary fractions', () => {
    expect(timesDecimal('11677', '0.001')).toBe('11.677')
    expect(timesDecimal('0.1', '3')).toBe('0.3')
  })

  test('a quotient is the decimal one, half to even at the tenth place', () => {
    expect(quotient('11.3945', '1.0689')).toBe('10.6600243241')
    expect(quotient('1', '3')).toBe('0.3333333333')
    expect(quotient('1', '0')).toBeUndefined()
  })

  test('every finite number comes back as itself', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), number => {
        const cell = cellOf(number)
        expect(cell.kind === 'value' && Number(cell.text)).toBe(number === 0 ? 0 : number)
      }),
    )
  })
})
