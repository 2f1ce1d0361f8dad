import { describe, expect, test } from 'bun:test'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import {
  basinKeys,
  basinOf,
  basins,
  ducWellCode,
  fracSpreadCode,
  isBasin,
  isState,
  rigCountCode,
} from '../../../../src/topics/drilling/math/drilling.ts'
import { stateOf, states, statesLedBy } from '../../../../src/topics/drilling/math/states.ts'

describe('a basin', () => {
  test.each([
    ['permian', 'permian'],
    ['Permian Basin', 'permian'],
    ['Eagle Ford', 'eagle_ford'],
    ['EAGLE_FORD', 'eagle_ford'],
    ['eagle-ford', 'eagle_ford'],
    ['Eagle Ford Region', 'eagle_ford'],
    ['Niobrara', 'dj_niobrara'],
    ['DJ-Niobrara', 'dj_niobrara'],
    ['williston basin', 'bakken'],
    ['Utica', 'appalachia_other'],
    ['Appalachia', 'appalachia'],
    [' other ', 'other'],
  ])('%s is %s', (text, key) => {
    expect(basinOf(text)?.key).toBe(key)
  })
  test.each(['', 'texas', 'permi', 'basin', '__proto__', 'x'.repeat(5000)])(
    '%p is not recognized as a basin',
    text => {
      expect(basinOf(text)).toBeUndefined()
    },
  )
  test('has names that no other basin has', () => {
    const names = basins.flatMap(basin => [basin.key, ...basin.aliases])
    expect(new Set(names).size).toBe(names.length)
    for (const basin of basins) expect(basinOf(basin.name)?.key).toBe(basin.key)
  })
})

describe('codes of regions', () => {
  const codes = new Set(shippedCatalogue().series.map(series => series.code))
  test('of every basin with codes are in the catalogue, in all three families', () => {
    for (const { key, codePrefix } of basins) {
      for (const codeOf of [rigCountCode, fracSpreadCode, ducWellCode]) {
        const code = codeOf(key)
        expect(code === undefined, key).toBe(codePrefix === undefined)
        if (code !== undefined) expect(codes.has(code), code).toBe(true)
      }
    }
  })
  test('cover every drilling code of the catalogue that is a basin or a state', () => {
    const otherCodes = /^(US|CANADA|INTERNATIONAL|NORTH_AMERICA|US_OIL|US_GAS|US_MISC|US_OFFSHORE)_/
    const regionNames = new Set([
      ...basinKeys.flatMap(key => [rigCountCode(key), fracSpreadCode(key), ducWellCode(key)]),
      ...states.map(state => rigCountCode(state.code)),
    ])
    const missed = [...codes].filter(
      code =>
        /_(RIG_COUNT|FRAC_SPREADS|DUC_WELLS)$/.test(code) &&
        !otherCodes.test(code) &&
        !regionNames.has(code),
    )
    expect(missed).toEqual([])
  })
  test('the aggregate of the other states has no rig count code', () => {
    expect(rigCountCode('OTHER')).toBeUndefined()
    expect([isState('OTHER'), isBasin('OTHER'), isBasin('other'), isState('US')]).toEqual([
      true,
      false,
      true,
      false,
    ])
  })
})

describe('a state', () => {
  test.each([
    ['TX', 'TX'],
    ['tx', 'TX'],
    ['texas', 'TX'],
    ['new-mexico', 'NM'],
    ['New Mexico', 'NM'],
    ['west_virginia', 'WV'],
  ])('%s is %s', (text, code) => {
    expect(stateOf(text)?.code).toBe(code)
  })
  test.each(['', 'ZZ', 'US', 'OTHER', 'newmexico', 'constructor'])(
    '%p is not recognized as a state',
    text => {
      expect(stateOf(text)).toBeUndefined()
    },
  )
  test('has basins that are known, and is led by one of them', () => {
    for (const state of states)
      for (const basin of state.basins) expect(basinKeys, state.code).toContain(basin)
    expect(basinKeys.flatMap(statesLedBy).sort()).toEqual(states.map(state => state.code).sort())
    expect(statesLedBy('permian').sort()).toEqual(['NM', 'TX'])
  })
})
