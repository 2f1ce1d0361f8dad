import { mmbtuPerMwh } from '../../units/math/identities.ts'

const gigajoulesPerMwh = 3.6

/**
 * European plants: harmonised efficiency reference values for plants built from 2016 to 2023, on
 * net heat (Commission Delegated Regulation (EU) 2015/2402, annex I: G10 natural gas, S1 hard
 * coal).
 */
const europeanEfficiency = { gas: 0.53, coal: 0.442 } as const

/**
 * Tonnes of carbon dioxide per gigajoule of net heat: IPCC Guidelines 2006, volume 2, table 2.2,
 * natural gas and other bituminous coal.
 */
const tonnesPerGigajoule = { gas: 0.0561, coal: 0.0946 } as const

/**
 * Gas is traded by gross heat; its net heat is about 10% less (IPCC Guidelines 2006, volume 2,
 * section 1.4.1.2).
 */
const netOfGrossGas = 0.9

/**
 * Seaborne thermal coal is traded on 6,000 kcal/kg net as received; a kilocalorie (International
 * Table) is 4.1868 kJ.
 */
const seaborneGigajoulesPerTonne = (6000 * 4.1868) / 1000

/**
 * United States plants, Btu of gross heat per kWh: EIA Electric Power Annual, table 8.1, average
 * operating heat rates of 2022.
 */
const americanHeatRate = { gas: 7740, coal: 10_689 } as const

/**
 * Kilograms of carbon dioxide per MMBtu of gross heat: 40 CFR part 98, table C-1, natural gas and
 * bituminous coal.
 */
const kilogramsPerMmbtu = { gas: 53.06, coal: 93.28 } as const

/** Central Appalachian coal of EIA's price table: 12,500 Btu/lb, and 2,000 lb in a short ton. */
const appalachianMmbtuPerShortTon = (12_500 * 2000) / 1_000_000

/**
 * A fuel at the price of a code, and the plant that burns it. Heat is net or gross throughout one
 * market.
 */
export interface PlantFuel {
  code: string
  /** MWh of heat in one unit of the price. */
  heatMwh: number
  /** MWh of electricity from one MWh of heat. */
  efficiency: number
  /** Tonnes of carbon dioxide from one MWh of heat. */
  emission: number
}

/** Where power plants choose between gas and coal. */
export interface SwitchMarket {
  id: 'europe' | 'us'
  name: string
  /** The currency of the costs. */
  currency: string
  gas: PlantFuel
  coal: PlantFuel
  /**
   * Code of the exchange rate that the price of coal is divided by to be in the currency of the
   * market; undefined where it is.
   */
  coalRate: string | undefined
  /**
   * Code of the price of emitting a tonne, in the currency of the market; undefined where emitting
   * costs nothing.
   */
  carbon: string | undefined
  /** Unit of the gas price, for people. */
  gasUnit: string
}

const kilograms = 1000

export const switchMarkets: readonly [SwitchMarket, ...SwitchMarket[]] = [
  {
    id: 'europe',
    name: 'Northwest Europe',
    currency: 'EUR',
    gas: {
      code: 'DUTCH_TTF_EUR',
      heatMwh: netOfGrossGas,
      efficiency: europeanEfficiency.gas,
      emission: tonnesPerGigajoule.gas * gigajoulesPerMwh,
    },
    coal: {
      code: 'COAL_ARA_USD',
      heatMwh: seaborneGigajoulesPerTonne / gigajoulesPerMwh,
      efficiency: europeanEfficiency.coal,
      emission: tonnesPerGigajoule.coal * gigajoulesPerMwh,
    },
    coalRate: 'EUR_USD',
    carbon: 'EU_CARBON_EUR',
    gasUnit: 'EUR/MWh',
  },
  {
    id: 'us',
    name: 'United States',
    currency: 'USD',
    gas: {
      code: 'NATURAL_GAS_USD',
      heatMwh: 1 / mmbtuPerMwh,
      efficiency: (1000 * mmbtuPerMwh) / americanHeatRate.gas,
      emission: (kilogramsPerMmbtu.gas / kilograms) * mmbtuPerMwh,
    },
    coal: {
      code: 'CAPP_COAL_USD',
      heatMwh: appalachianMmbtuPerShortTon / mmbtuPerMwh,
      efficiency: (1000 * mmbtuPerMwh) / americanHeatRate.coal,
      emission: (kilogramsPerMmbtu.coal / kilograms) * mmbtuPerMwh,
    },
    coalRate: undefined,
    carbon: undefined,
    gasUnit: 'USD/MMBtu',
  },
]

/** Prices in the currency of the market, each per unit of its code; carbon per tonne. */
export interface SwitchPrices {
  gas: number
  coal: number
  carbon: number | undefined
}

/** Cost of a MWh of electricity = (price / heatMwh + carbon price x emission) / efficiency. */
export function fuelSwitch(
  { gas, coal }: Pick<SwitchMarket, 'gas' | 'coal'>,
  prices: SwitchPrices,
) {
  const carbon = prices.carbon ?? 0
  const gasCost = costOf(gas, prices.gas, carbon)
  const coalCost = costOf(coal, prices.coal, carbon)
  return {
    gasCost,
    coalCost,
    /** `coalCost` - `gasCost`: what a MWh costs less from gas. */
    saving: coalCost - gasCost,
    /** The gas price, per unit of its code, at which both cost the same. */
    breakevenGas: gas.heatMwh * (coalCost * gas.efficiency - carbon * gas.emission),
    /**
     * The price of a tonne at which both cost the same, whether or not one is paid; negative where
     * gas is cheaper without one.
     */
    breakevenCarbon:
      (costOf(gas, prices.gas, 0) - costOf(coal, prices.coal, 0)) /
      (emissionOf(coal) - emissionOf(gas)),
  }
}

const costOf = (fuel: PlantFuel, price: number, carbon: number): number =>
  (price / fuel.heatMwh + carbon * fuel.emission) / fuel.efficiency

/** Tonnes per MWh of electricity. */
export const emissionOf = ({ emission, efficiency }: PlantFuel): number => emission / efficiency
