import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import {
  isTargetUnit,
  type Product,
  productOf,
  targetUnits,
  unitsPer,
  wholeUnit,
} from '../../../../src/topics/units/math/units.ts'

const shipped = shippedCatalogue().series

describe('unitsPer', () => {
  // From NIST SP 811 and the conventions named in the source, worked out by hand.
  for (const [from, to, product, expected] of [
    ['barrel', 'gallon', undefined, 1 / 42],
    ['gallon', 'barrel', undefined, 42],
    ['barrel', 'litre', undefined, 1 / 158.987294928],
    ['litre', 'gallon', undefined, 3.785411784],
    ['cubic_metre', 'litre', undefined, 0.001],
    ['MT', 'metric_ton', undefined, 1],
    ['short_ton', 'metric_ton', undefined, 1.10231131],
    ['pound', 'metric_ton', undefined, 2204.6226218],
    ['therm', 'mmbtu', undefined, 10],
    ['mmbtu', 'mwh', undefined, 3.412141633],
    ['gigajoule', 'mmbtu', undefined, 1.05505585262],
    ['barrel', 'metric_ton', 'crude', 7.33],
    ['barrel', 'metric_ton', 'gasoline', 8.33],
    ['metric_ton', 'barrel', 'gasoil', 1 / 7.45],
    ['gallon', 'metric_ton', 'jet', 42 * 7.88],
    ['barrel', 'mmbtu', 'crude', 1 / 5.8],
    ['gallon', 'mmbtu', 'gasoil', 42 / 5.77],
    ['metric_ton', 'mmbtu', 'lng', 1 / 53.38],
    ['mmbtu', 'metric_ton', 'lng', 53.38],
  ] as const) {
    test(`there are ${expected} ${from} in one ${to}${product ? ` of ${product}` : ''}`, () => {
      expect(unitsPer(from, to, product)!).toBeCloseTo(expected, 6)
    })
  }

  test('do not convert where nothing bridges them', () => {
    expect(unitsPer('barrel', 'metric_ton')).toBeUndefined()
    expect(unitsPer('mmbtu', 'barrel', 'lng')).toBeUndefined()
    expect(unitsPer('metric_ton_co2', 'metric_ton', 'crude')).toBeUndefined()
    expect(unitsPer('day', 'barrel', 'crude')).toBeUndefined()
    expect(unitsPer('rate', 'rate')).toBe(1)
  })

  test('a way back undoes the way there, and a detour changes nothing', () => {
    const liquids: Product[] = [
      'crude',
      'gasoil',
      'gasoline',
      'jet',
      'naphtha',
      'fuelOil',
      'propane',
      'butane',
      'ethanol',
      'biodiesel',
    ]
    const unit = fc.constantFrom(...targetUnits)
    fc.assert(
      fc.property(unit, unit, unit, fc.constantFrom(...liquids), (a, b, c, product) => {
        const direct = unitsPer(a, c, product)!
        expect(unitsPer(a, b, product)! * unitsPer(b, a, product)!).toBeCloseTo(1, 12)
        expect((unitsPer(a, b, product)! * unitsPer(b, c, product)!) / direct).toBeCloseTo(1, 12)
      }),
    )
  })

  test('a price in pence is per whole unit and counts hundredths', () => {
    expect(wholeUnit('pence_per_therm')).toEqual({ unit: 'therm', perWhole: 100 })
    expect(wholeUnit('barrel')).toEqual({ unit: 'barrel', perWhole: 1 })
  })

  test('only units of the API are accepted as conversion targets', () => {
    expect(isTargetUnit('metric_ton')).toBe(true)
    expect(isTargetUnit('troy_ounce')).toBe(false)
    expect(isTargetUnit('toString')).toBe(false)
  })
})

describe('productOf: the product of a code', () => {
  for (const [code, product] of [
    ['WTI_USD', 'crude'],
    ['BRENT_FUTURES', 'crude'],
    ['GASOIL_FUTURES', 'gasoil'],
    ['GASOLINE_RBOB_USD', 'gasoline'],
    ['MOGAS_95_SINGAPORE_USD', 'gasoline'],
    ['PETROL_UK_GBP', 'gasoline'],
    ['ULSD_DIESEL_USD', 'gasoil'],
    ['HEATING_OIL_RETAIL_US_USD', 'gasoil'],
    ['DIESEL_LIST_HVO100_DKK', 'paraffinicDiesel'],
    ['SINGAPORE_JET_KEROSENE_USD', 'jet'],
    ['FUEL_OIL_380_SINGAPORE_USD', 'fuelOil'],
    ['MGO_05S_SIN_USD', 'gasoil'],
    ['HFO_380_RTM_USD', 'fuelOil'],
    ['LNG_BUNKER_USD', 'lng'],
    ['JKM_LNG_USD', 'lng'],
    ['ETHANOL_USD', 'ethanol'],
    ['PROPANE_USD', 'propane'],
    ['NATURAL_GASOLINE_USD', undefined],
    ['METHANOL_BUNKER_USD', undefined],
    ['VLSFO_SIN_USD', undefined],
    ['VGO_NWE_USD', undefined],
    ['BITUMEN_MED_USD', undefined],
    ['COAL_ARA_USD', undefined],
    ['NATURAL_GAS_USD', undefined],
    ['EUA_FUTURES', undefined],
    ['GOLD_USD', undefined],
  ] as const) {
    test(`${code}: ${product ?? 'none'}`, () => {
      const { category } = shipped.find(series => series.code === code)!
      expect(productOf(code, category)).toBe(product)
    })
  }

  test('lets every shipped crude be priced by the metric ton', () => {
    const crudes = shipped.filter(series => series.category === 'physical_crude')
    expect(crudes.length).toBeGreaterThan(100)
    for (const { code, category, unit } of crudes)
      expect(unitsPer(unit, 'metric_ton', productOf(code, category))!).toBeCloseTo(7.33, 9)
  })
})
