import { mmbtuPerBarrel, mmbtuPerMwh } from './identities.ts'

/** A price of the stream by its place in `prices`, and how it becomes one per MMBtu. */
export interface HeatPrice {
  code: string
  group: 'oil' | 'natural_gas'
  name: 'brent' | 'wti' | 'uk' | 'us' | 'eu'
  unit: 'barrel_oil' | 'mmbtu'
  /** Currency units per answered unit, out of one unit of the price as it is quoted. */
  scale: number
  /** MMBtu in the answered unit. */
  heat: number
}

const thermsPerMmbtu = 10
const pencePerPound = 100

/**
 * The five prices that are compared by their heat: a barrel of crude is 5.8 MMBtu, a MWh 3.412142,
 * and ten therms are one.
 */
export const heatPrices: readonly HeatPrice[] = [
  {
    code: 'BRENT_CRUDE_USD',
    group: 'oil',
    name: 'brent',
    unit: 'barrel_oil',
    scale: 1,
    heat: mmbtuPerBarrel,
  },
  {
    code: 'WTI_USD',
    group: 'oil',
    name: 'wti',
    unit: 'barrel_oil',
    scale: 1,
    heat: mmbtuPerBarrel,
  },
  {
    code: 'NATURAL_GAS_GBP',
    group: 'natural_gas',
    name: 'uk',
    unit: 'mmbtu',
    scale: thermsPerMmbtu / pencePerPound,
    heat: 1,
  },
  { code: 'NATURAL_GAS_USD', group: 'natural_gas', name: 'us', unit: 'mmbtu', scale: 1, heat: 1 },
  {
    code: 'DUTCH_TTF_EUR',
    group: 'natural_gas',
    name: 'eu',
    unit: 'mmbtu',
    scale: 1 / mmbtuPerMwh,
    heat: 1,
  },
]
