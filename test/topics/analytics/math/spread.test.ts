import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import fc from 'fast-check'
import {
  codesOf,
  combine,
  coverage,
  gasoilCrack,
  spreadHistory,
  spreadStatistics,
} from '../../../../src/topics/analytics/math/spread.ts'
import type { Close } from '../../../../src/topics/prices/math/window.ts'
import {
  analyticsSpreads,
  barrelsPerTonne,
  type SpreadIdentity,
  spreads,
} from '../../../../src/topics/units/math/identities.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses } from '../../../support/real-data.ts'

const everySpread: readonly SpreadIdentity[] = [
  ...analyticsSpreads,
  ...Object.values(spreads).flat(),
]
const byId = (list: readonly SpreadIdentity[], id: string): SpreadIdentity =>
  list.find(item => item.id === id)!
const catalogue = new Map(
  readFileSync(resolve(import.meta.dir, '../../../../fixtures/codes.tsv'), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map(line => line.split('\t'))
    .map(([code, , , currency, unit, , , , available, level]) => [
      code!,
      { currency, unit, available, level: Number(level) },
    ]),
)

/** The definitions written out once more, over prices by code. */
const formulas: Record<string, (p: Record<string, number>) => number> = {
  wti_brent: p => p.WTI_USD! - p.BRENT_CRUDE_USD!,
  wti_dubai: p => p.WTI_USD! - p.DUBAI_CRUDE_USD!,
  '321': p => (2 * p.GASOLINE_USD! * 42 + 1 * p.HEATING_OIL_USD! * 42 - 3 * p.WTI_USD!) / 3,
  wti_321: p => (2 * p.GASOLINE_USD! * 42 + 1 * p.HEATING_OIL_USD! * 42 - 3 * p.WTI_USD!) / 3,
  wti_211: p => (p.GASOLINE_USD! * 42 + p.HEATING_OIL_USD! * 42 - 2 * p.WTI_USD!) / 2,
  gasoline_crack: p => p.GASOLINE_USD! * 42 - p.WTI_USD!,
  wti_gasoline: p => p.GASOLINE_USD! * 42 - p.WTI_USD!,
  heating_oil_crack: p => p.HEATING_OIL_USD! * 42 - p.WTI_USD!,
  wti_heating_oil: p => p.HEATING_OIL_USD! * 42 - p.WTI_USD!,
  gas_oil_ratio: p => p.WTI_USD! / (p.NATURAL_GAS_USD! * 5.8),
  brent_gasoil: p => p.GASOIL_USD! / 7.45 - p.BRENT_CRUDE_USD!,
  brent_jet: p => p.JET_FUEL_NWE_USD! / 7.88 - p.BRENT_CRUDE_USD!,
  dubai_jet: p => p.SINGAPORE_JET_KEROSENE_USD! - p.DUBAI_CRUDE_USD!,
  wcs_wti: p => p.WCS_CRUDE_USD! - p.WTI_USD!,
  midland_wti: p => p.WTI_MIDLAND_USD! - p.WTI_USD!,
  mars_wti: p => p.MARS_USD! - p.WTI_USD!,
  lls_wti: p => p.LOUISIANA_LIGHT_USD! - p.WTI_USD!,
  waha_henry_hub: p => p.GAS_WAHA_USD! - p.GAS_HENRY_HUB_SPOT_USD!,
  ttf_henry_hub: p => (p.DUTCH_TTF_EUR! * p.EUR_USD!) / 3.412142 - p.NATURAL_GAS_USD!,
  jkm_ttf: p => p.JKM_LNG_USD! - (p.DUTCH_TTF_EUR! * p.EUR_USD!) / 3.412142,
  us_gulf_321: p =>
    (2 * p.GASOLINE_CBOB_USGC_USD! * 42 + p.ULSD_USGC_USD! * 42 - 3 * p.LOUISIANA_LIGHT_USD!) / 3,
  nwe_simple: p =>
    (0.17 * p.GASOLINE_EUROBOB_NWE_USD!) / 8.33 +
    (0.06 * p.NAPHTHA_NWE_USD!) / 8.9 +
    (0.1 * p.JET_FUEL_NWE_USD!) / 7.88 +
    (0.34 * p.DIESEL_10PPM_ARA_BARGE_USD!) / 7.45 +
    (0.3 * p.FUEL_OIL_1_0_NWE_USD!) / 6.35 -
    p.DATED_BRENT_USD!,
  nwe_complex: p =>
    (0.31 * p.GASOLINE_EUROBOB_NWE_USD!) / 8.33 +
    (0.04 * p.NAPHTHA_NWE_USD!) / 8.9 +
    (0.12 * p.JET_FUEL_NWE_USD!) / 7.88 +
    (0.38 * p.DIESEL_10PPM_ARA_BARGE_USD!) / 7.45 +
    (0.1 * p.FUEL_OIL_3_5_NWE_USD!) / 6.35 -
    p.DATED_BRENT_USD!,
  singapore_complex: p =>
    0.21 * p.SINGAPORE_MOGAS_92_USD! +
    0.09 * p.NAPHTHA_SINGAPORE_USD! +
    0.16 * p.SINGAPORE_JET_KEROSENE_USD! +
    0.34 * p.GASOIL_10PPM_SINGAPORE_USD! +
    (0.15 * p.FUEL_OIL_380_SINGAPORE_USD!) / 6.35 -
    p.DUBAI_CRUDE_USD!,
  murban_dubai: p => p.MURBAN_CRUDE_USD! - p.DUBAI_CRUDE_USD!,
  johan_sverdrup_brent: p => p.JOHAN_SVERDRUP_USD! - p.DATED_BRENT_USD!,
  bonny_light_brent: p => p.BONNY_LIGHT_USD! - p.DATED_BRENT_USD!,
  espo_dubai: p => p.ESPO_CRUDE_USD! - p.DUBAI_CRUDE_USD!,
  oman_dubai: p => p.OMAN_CRUDE_USD! - p.DUBAI_CRUDE_USD!,
  forties_brent: p => p.FORTIES_USD! - p.DATED_BRENT_USD!,
}

describe('identities', () => {
  test('the available spreads are those that the API defines, with the default first', () => {
    expect(analyticsSpreads.map(s => s.id)).toEqual([
      'wti_brent',
      'wti_dubai',
      '321',
      'gasoline_crack',
      'heating_oil_crack',
      'gas_oil_ratio',
    ])
    expect(
      Object.fromEntries(
        Object.entries(spreads).map(([type, list]) => [type, list.map(s => s.id)]),
      ),
    ).toEqual({
      crack: [
        'brent_gasoil',
        'wti_321',
        'wti_gasoline',
        'wti_heating_oil',
        'brent_jet',
        'dubai_jet',
        'wti_211',
      ],
      basis: [
        'wti_brent',
        'wcs_wti',
        'midland_wti',
        'mars_wti',
        'lls_wti',
        'waha_henry_hub',
        'ttf_henry_hub',
        'jkm_ttf',
      ],
      'refining-margin': ['us_gulf_321', 'nwe_simple', 'nwe_complex', 'singapore_complex'],
      'physical-premium': [
        'murban_dubai',
        'johan_sverdrup_brent',
        'bonny_light_brent',
        'espo_dubai',
        'oman_dubai',
        'forties_brent',
      ],
    })
  })

  test('follow their written formulas for any prices, and a difference is the sum of price x weight', () => {
    for (const identity of everySpread) {
      const codes = codesOf(identity)
      fc.assert(
        fc.property(
          fc.array(fc.double({ min: 0.1, max: 900, noNaN: true }), {
            minLength: codes.length,
            maxLength: codes.length,
          }),
          values => {
            const prices = Object.fromEntries(codes.map((code, i) => [code, values[i]!]))
            const result = combine(identity, code => prices[code])
            if (!result.complete) throw new Error(`${identity.id} has every price`)
            const expected = formulas[identity.id]!(prices)
            expect(Math.abs(result.value - expected)).toBeLessThanOrEqual(
              1e-9 * Math.max(1, Math.abs(expected)),
            )
            const summed = result.legs.reduce((sum, { price, weight }) => sum + price * weight, 0)
            if (identity.form === 'difference') expect(result.value).toBe(summed)
          },
        ),
        { numRuns: 20 },
      )
    }
  })

  test('use codes of the catalogue, in units that their factors expect, and give plausible values at its levels', () => {
    const unitsByFactor: Record<string, string[]> = {
      '1': ['barrel', 'mmbtu'],
      '42': ['gallon'],
      '5.8': ['mmbtu'],
      [String(1 / 3.412142)]: ['mwh'],
      ...Object.fromEntries(
        Object.values(barrelsPerTonne).map(factor => [String(1 / factor), ['metric_ton']]),
      ),
    }
    for (const identity of everySpread) {
      for (const { code, factor, fx } of identity.legs) {
        const series = catalogue.get(code)
        expect(series, code).toMatchObject({ available: 'true', currency: fx ? 'EUR' : 'USD' })
        expect(unitsByFactor[String(factor)], `${identity.id} ${code}`).toContain(series!.unit!)
      }
      const result = combine(identity, code => catalogue.get(code)?.level)
      if (!result.complete)
        throw new Error(`${identity.id}: ${result.missing} is not in the catalogue`)
      expect(Math.abs(result.value), identity.id).toBeLessThan(45)
      for (const code of codesOf(identity)) expect(identity.formula).toContain(code)
    }
  })

  test('barrels per tonne stand for the densities they name', () => {
    const densities = { gasoil: 0.845, jet: 0.798, gasoline: 0.755, naphtha: 0.7067, fuelOil: 0.99 }
    for (const [product, density] of Object.entries(densities)) {
      const exact = 1000 / density / 158.987294928
      expect(Math.abs(barrelsPerTonne[product as keyof typeof densities] / exact - 1)).toBeLessThan(
        0.002,
      )
    }
  })
})

describe('combine', () => {
  test('names the leg or rate without a price, in the order of the legs', () => {
    const prices: Record<string, number> = { DUTCH_TTF_EUR: 31, NATURAL_GAS_USD: 3 }
    const ttf = byId(spreads.basis, 'ttf_henry_hub')
    expect(combine(ttf, code => prices[code])).toEqual({ complete: false, missing: 'EUR_USD' })
    expect(combine(ttf, code => ({ EUR_USD: 1.1 })[code])).toEqual({
      complete: false,
      missing: 'DUTCH_TTF_EUR',
    })
    expect(codesOf(ttf)).toEqual(['DUTCH_TTF_EUR', 'NATURAL_GAS_USD', 'EUR_USD'])
  })

  test('a ratio over 0 has no value', () => {
    const ratio = byId(analyticsSpreads, 'gas_oil_ratio')
    expect(combine(ratio, code => (code === 'WTI_USD' ? 70 : 0))).toEqual({
      complete: false,
      missing: 'NATURAL_GAS_USD',
    })
    expect(combine(ratio, code => (code === 'WTI_USD' ? 58 : 2))).toMatchObject({
      complete: true,
      value: 5,
    })
  })

  test('the gasoil crack divides by 7.45', () => {
    expect(gasoilCrack(745, 74.25)).toEqual({
      value: 25.75,
      gasoilPerBarrel: 100,
      barrelsPerTonne: 7.45,
    })
  })
})

describe('history', () => {
  const closes: Record<string, Close[]> = {
    WTI_USD: ['2024-06-03', '2024-06-04', '2024-06-05', '2024-06-06'].map((day, i) => ({
      day,
      value: 70 + i,
    })),
    BRENT_CRUDE_USD: ['2024-06-03', '2024-06-05', '2024-06-06', '2024-06-07'].map((day, i) => ({
      day,
      value: 75 + 2 * i,
    })),
  }

  test('a spread history has only the dates that its legs share, with the prices behind each value', () => {
    expect(spreadHistory(byId(analyticsSpreads, 'wti_brent'), code => closes[code] ?? [])).toEqual([
      { day: '2024-06-03', value: -5, prices: { WTI_USD: 70, BRENT_CRUDE_USD: 75 } },
      { day: '2024-06-05', value: -5, prices: { WTI_USD: 72, BRENT_CRUDE_USD: 77 } },
      { day: '2024-06-06', value: -6, prices: { WTI_USD: 73, BRENT_CRUDE_USD: 79 } },
    ])
  })

  test('of a leg without data is empty, and its statistics count 0 closes', () => {
    const history = spreadHistory(byId(analyticsSpreads, 'wti_dubai'), code => closes[code] ?? [])
    expect(history).toEqual([])
    expect(spreadStatistics(history, 30)).toEqual({ enough: false, have: 0, need: 5 })
  })

  test('equal differences of decimal prices are equal, whatever their doubles leave behind', () => {
    const prices = [
      [71.23, 75.1],
      [70.1, 73.97],
      [72.41, 76.28],
      [69.99, 73.86],
      [64.03, 67.9],
    ] as const
    // The doubles of these differences are not all -3.87.
    expect(new Set(prices.map(([wti, brent]) => wti - brent)).size).toBeGreaterThan(1)
    const legs: Record<string, Close[]> = {
      WTI_USD: prices.map(([value], i) => ({ day: `2024-06-0${i + 3}`, value })),
      BRENT_CRUDE_USD: prices.map(([, value], i) => ({ day: `2024-06-0${i + 3}`, value })),
    }
    const history = spreadHistory(byId(analyticsSpreads, 'wti_brent'), code => legs[code] ?? [])
    expect(history.map(({ value }) => value)).toEqual([-3.87, -3.87, -3.87, -3.87, -3.87])
    const result = spreadStatistics(history, 30)
    if (!result.enough) throw new Error('enough closes')
    const { min, max, stdDev, zScore, percentile } = result.value
    expect({ min, max, stdDev, zScore, percentile }).toEqual({
      min: -3.87,
      max: -3.87,
      stdDev: 0,
      zScore: undefined,
      percentile: 100,
    })
  })

  test('a spread that did not move has no z-score and reports the reason', () => {
    const history = [3, 4, 5, 6, 7].map(d => ({ day: `2024-06-0${d}`, value: -4.5, prices: {} }))
    const result = spreadStatistics(history, 30)
    expect(result).toMatchObject({
      enough: true,
      value: { stdDev: 0, interpretation: 'the spread did not move in the period' },
    })
  })
})

describe('coverage', () => {
  test('is complete when every weekday of the asked range has an observation', () => {
    const week = ['2024-06-03', '2024-06-04', '2024-06-05', '2024-06-06', '2024-06-07']
    expect(coverage(week, '2024-06-01', '2024-06-09')).toEqual({
      from: '2024-06-03',
      to: '2024-06-07',
      observations: 5,
      complete: true,
    })
    expect(coverage(week, '2024-06-03', '2024-06-10').complete).toBe(false)
    expect(coverage(week.toSpliced(2, 1), '2024-06-03', '2024-06-07')).toMatchObject({
      observations: 4,
      complete: false,
    })
    expect(coverage([...week, '2024-06-08'], '2024-06-04', '2024-06-08')).toMatchObject({
      from: '2024-06-04',
      observations: 5,
      complete: true,
    })
    expect(coverage([], '2024-06-03', '2024-06-07')).toEqual({
      from: null,
      to: null,
      observations: 0,
      complete: false,
    })
  })
})

describe('real series', () => {
  needs('../shared/data').test(
    'WTI - Brent over 30 days to 2024-06-28 as computed independently',
    () => {
      const files: Record<string, string> = {
        WTI_USD: 'oil-prices/wti-daily.csv',
        BRENT_CRUDE_USD: 'oil-prices/brent-daily.csv',
      }
      const result = spreadStatistics(
        spreadHistory(byId(analyticsSpreads, 'wti_brent'), code =>
          realCloses(files[code]!, '2024-06-28'),
        ),
        30,
      )
      if (!result.enough) throw new Error('enough closes')
      expect(result.value.dataPoints).toBe(21)
      expect(result.value.current.value).toBeCloseTo(-4.43, 10)
      expect(result.value.mean).toBeCloseTo(-2.2666666666666693, 10)
      expect(result.value.stdDev).toBeCloseTo(1.4243361026574228, 10)
      expect([result.value.min, result.value.max].map(v => v.toFixed(2))).toEqual([
        '-4.84',
        '-0.33',
      ])
    },
  )

  needs('../shared/data').test(
    'cracks of 2024-06-28 worked by hand from 82.83, 2.527 and 2.506',
    () => {
      const files: Record<string, string> = {
        WTI_USD: 'eia-spot-products/DCOILWTICO.csv',
        GASOLINE_USD: 'eia-spot-products/DGASNYH.csv',
        HEATING_OIL_USD: 'eia-spot-products/DDFUELNYH.csv',
        NATURAL_GAS_USD: 'natural-gas/daily.csv',
      }
      const worked: [string, number][] = [
        ['321', 23.01],
        ['gasoline_crack', 23.304],
        ['heating_oil_crack', 22.422],
        ['gas_oil_ratio', 5.901253918495298],
      ]
      for (const [id, value] of worked) {
        const history = spreadHistory(byId(analyticsSpreads, id), code =>
          realCloses(files[code]!, '2024-06-28'),
        )
        expect(history.at(-1)!.day).toBe('2024-06-28')
        expect(history.at(-1)!.value, id).toBeCloseTo(value, 9)
      }
      const result = spreadStatistics(
        spreadHistory(byId(spreads.crack, 'wti_321'), code =>
          realCloses(files[code]!, '2024-06-28'),
        ),
        30,
      )
      if (!result.enough) throw new Error('enough closes')
      expect({ mean: result.value.mean, stdDev: result.value.stdDev }).toEqual({
        mean: expect.closeTo(22.584666666666667, 9),
        stdDev: expect.closeTo(0.7484579703185315, 9),
      })
    },
  )
})
