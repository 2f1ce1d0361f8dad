import { describe, expect, test } from 'bun:test'
import { parseApiNumber } from '../../../../src/topics/drilling/math/api-number.ts'
import { permitStates, usStates } from '../../../../src/topics/geography/math/us-states.ts'

describe('an API number', () => {
  for (const [text, digits, state] of [
    ['42-329-40001', '42329400010000', 'TX'],
    ['4232940001', '42329400010000', 'TX'],
    ['42-329-40001-01', '42329400010100', 'TX'],
    ['42-329-40001-01-02', '42329400010102', 'TX'],
    ['42329400010102', '42329400010102', 'TX'],
    [' 50-103-20001 ', '50103200010000', 'AK'],
    ['01-125-20001', '01125200010000', 'AL'],
    ['60-817-40001', '60817400010000', undefined],
  ] as const) {
    test(`${text} is read as the API number ${digits}`, () => {
      const number = parseApiNumber(text)
      expect({ digits: number?.digits, code: number?.state?.code }).toEqual({ digits, code: state })
    })
  }

  for (const text of [
    '',
    '42',
    '423294000',
    '42-329-4000',
    '42-329-400011',
    '42 329 40001',
    '42-329-40001-0',
    '42-329-40001-00-000',
    'TX-329-40001',
  ]) {
    test(`${JSON.stringify(text)} is not read as an API number`, () =>
      expect(parseApiNumber(text)).toBeUndefined())
  }
})

describe('the states', () => {
  test('have the numbers of the scheme', () => {
    const byCode = Object.fromEntries(usStates.map(state => [state.code, state.apiPrefix]))
    expect(byCode).toMatchObject({
      AL: '01',
      CA: '04',
      KS: '15',
      LA: '17',
      NM: '30',
      ND: '33',
      OK: '35',
      TX: '42',
      WY: '49',
      AK: '50',
      HI: '51',
    })
    expect(usStates).toHaveLength(51)
  })

  test('whose permits are served are 26, each with its name', () => {
    expect(permitStates.map(state => state.code).join(' ')).toBe(
      'AK AL AR CA CO FL IL IN KS KY LA MI MS MT ND NE NM NV NY OH OK PA TX UT WV WY',
    )
    expect(permitStates.find(state => state.code === 'ND')).toMatchObject({
      name: 'North Dakota',
      apiPrefix: '33',
    })
  })
})
