import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  emissionOf,
  fuelSwitch,
  type SwitchPrices,
  switchMarkets,
} from '../../../../src/topics/analytics/math/switching.ts'

const [europe, us] = switchMarkets as unknown as [
  (typeof switchMarkets)[0],
  (typeof switchMarkets)[0],
]

describe('the cost of power', () => {
  // Worked by hand from the published figures, not from the code's constants.
  for (const [name, market, prices, gasCost, coalCost, breakevenGas] of [
    [
      'in Europe without a carbon price',
      europe,
      { gas: 30, coal: 90, carbon: undefined },
      // 30 EUR for a gross MWh that holds 0.9 of net heat, of which 53% become power.
      30 / 0.9 / 0.53,
      // 6,000 kcal/kg x 4.1868 kJ = 25.1208 GJ/t = 6.978 MWh/t, of which 44.2% become power.
      90 / 6.978 / 0.442,
      // The coal cost x 53% x 0.9.
      (90 / 6.978 / 0.442) * 0.53 * 0.9,
    ],
    [
      'in Europe with carbon at 80',
      europe,
      { gas: 30, coal: 90, carbon: 80 },
      // 56.1 kg/GJ x 3.6 = 0.20196 t/MWh of heat.
      (30 / 0.9 + 80 * 0.20196) / 0.53,
      // 94.6 kg/GJ x 3.6 = 0.34056 t/MWh of heat.
      (90 / 6.978 + 80 * 0.34056) / 0.442,
      (((90 / 6.978 + 80 * 0.34056) / 0.442) * 0.53 - 80 * 0.20196) * 0.9,
    ],
    // 7,740 Btu of gas for a kWh, 10,689 of coal at 25 MMBtu a short ton.
    [
      'in the United States',
      us,
      { gas: 3, coal: 75, carbon: undefined },
      3 * 7.74,
      (75 / 25) * 10.689,
      ((75 / 25) * 10.689) / 7.74,
    ],
  ] as const) {
    test(`${name} is what the published efficiencies and emissions give`, () => {
      const result = fuelSwitch(market, prices as SwitchPrices)
      expect(result.gasCost).toBeCloseTo(gasCost, 9)
      expect(result.coalCost).toBeCloseTo(coalCost, 9)
      expect(result.saving).toBeCloseTo(coalCost - gasCost, 9)
      expect(result.breakevenGas).toBeCloseTo(breakevenGas, 9)
    })
  }

  test('contains the emissions of the agency: 53.06 and 93.28 kg a MMBtu at 7,740 and 10,689 Btu a kWh', () => {
    expect(emissionOf(us.gas)).toBeCloseTo((53.06 * 7.74) / 1000, 6)
    expect(emissionOf(us.coal)).toBeCloseTo((93.28 * 10.689) / 1000, 6)
  })
})

const price = (max: number) => fc.double({ min: 0.5, max, noNaN: true })
const anyPrices = fc.record({
  gas: price(200),
  coal: price(400),
  carbon: fc.option(price(300), { nil: undefined }),
})

describe('for any prices', () => {
  for (const market of switchMarkets) {
    test(`${market.id}: at the break-even gas price both cost the same`, () => {
      fc.assert(
        fc.property(anyPrices, prices => {
          const { breakevenGas, coalCost } = fuelSwitch(market, prices)
          expect(
            Math.abs(fuelSwitch(market, { ...prices, gas: breakevenGas }).saving),
          ).toBeLessThan(1e-9 * Math.max(1, coalCost))
        }),
      )
    })

    test(`${market.id}: at the break-even price of carbon both cost the same, whatever is paid now`, () => {
      fc.assert(
        fc.property(anyPrices, prices => {
          const { breakevenCarbon, gasCost } = fuelSwitch(market, prices)
          expect(
            Math.abs(fuelSwitch(market, { ...prices, carbon: breakevenCarbon }).saving),
          ).toBeLessThan(1e-9 * Math.max(1, gasCost))
        }),
      )
    })

    test(`${market.id}: gas below its break-even price is the cheaper fuel, and dearer carbon favours it`, () => {
      fc.assert(
        fc.property(anyPrices, price(50), (prices, more) => {
          const { saving, breakevenGas } = fuelSwitch(market, prices)
          if (Math.abs(prices.gas - breakevenGas) > 1e-6)
            expect(saving > 0).toBe(prices.gas < breakevenGas)
          expect(
            fuelSwitch(market, { ...prices, carbon: (prices.carbon ?? 0) + more }).saving,
          ).toBeGreaterThan(saving)
        }),
      )
    })
  }
})
