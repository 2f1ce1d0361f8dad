import { europeanGasStorage } from '../../calendars/math/calendar.ts'

export interface Factor {
  halfLifeDays: number
  /** The part of the movement that lasts for years. */
  slow: number
}

/**
 * Factors that codes share. Loads on them are shares of a code's daily movement; the rest of it is
 * specific to the code.
 */
export const factors = {
  crude: { halfLifeDays: 60, slow: 0.2 },
  distillate: { halfLifeDays: 30, slow: 0.1 },
  light: { halfLifeDays: 30, slow: 0.1 },
  residual: { halfLifeDays: 30, slow: 0.1 },
  usGas: { halfLifeDays: 35, slow: 0.15 },
  euGas: { halfLifeDays: 40, slow: 0.15 },
  coal: { halfLifeDays: 60, slow: 0.15 },
  euCarbon: { halfLifeDays: 60, slow: 0.2 },
  usCarbon: { halfLifeDays: 60, slow: 0.2 },
  euPower: { halfLifeDays: 10, slow: 0.1 },
  usPower: { halfLifeDays: 10, slow: 0.1 },
  precious: { halfLifeDays: 60, slow: 0.2 },
  gold: { halfLifeDays: 60, slow: 0.15 },
  silver: { halfLifeDays: 45, slow: 0.15 },
  base: { halfLifeDays: 60, slow: 0.2 },
  copper: { halfLifeDays: 45, slow: 0.15 },
  steel: { halfLifeDays: 60, slow: 0.2 },
  battery: { halfLifeDays: 60, slow: 0.2 },
  ngl: { halfLifeDays: 40, slow: 0.2 },
  chemical: { halfLifeDays: 60, slow: 0.2 },
  bio: { halfLifeDays: 60, slow: 0.2 },
  rin: { halfLifeDays: 40, slow: 0.2 },
  freight: { halfLifeDays: 40, slow: 0.1 },
  drilling: { halfLifeDays: 150, slow: 0.2 },
  euStorage: { halfLifeDays: 60, slow: 0.1 },
  list: { halfLifeDays: 60, slow: 0.1 },
  dollar: { halfLifeDays: 60, slow: 0.15 },
} satisfies Record<string, Factor>

export type FactorName = keyof typeof factors
type Loads = Partial<Record<FactorName, number>>

/**
 * `[codes, loads, half-life of the code's own movement in days, smoothed]`; the first one that
 * fits.
 */
export type Rule = readonly [
  pattern: RegExp,
  loads: Loads,
  ownHalfLifeDays: number,
  smooth?: boolean,
]

const distillateLoads: Loads = { crude: 0.73, distillate: 0.64 }
const gasolineLoads: Loads = { crude: 0.71, light: 0.64 }

/** The common movement of the codes of a category. */
export const rules: Readonly<Record<string, readonly Rule[]>> = {
  crude_oil: [
    [/FRONT_SPREAD/, {}, 20],
    [/./, { crude: 0.995 }, 7],
  ],
  physical_crude: [[/./, { crude: 0.995 }, 7]],
  refined_products: [
    [/GASOLINE|MOGAS/, gasolineLoads, 10],
    [/NAPHTHA/, { crude: 0.76, light: 0.5 }, 10],
    [/JET|KEROSENE|DIESEL|GASOIL|ULSD|HEATING/, distillateLoads, 10],
    [/FUEL_OIL|VGO/, { crude: 0.73, residual: 0.63 }, 10],
    [/./, { crude: 0.5, residual: 0.6 }, 30],
  ],
  marine_fuels: [
    [/^BIO_/, { crude: 0.6, residual: 0.4, bio: 0.5 }, 10],
    [/^LNG_/, { euGas: 0.92 }, 20],
    [/^METHANOL_/, { chemical: 0.8 }, 20],
    [/MGO|ULSFO/, { crude: 0.73, distillate: 0.65 }, 5],
    [/./, { crude: 0.73, residual: 0.65 }, 5],
  ],
  natural_gas: [
    [/JAPAN_CONTRACT/, { crude: 0.7 }, 30, true],
    [/ASIA/, { euGas: 0.9 }, 20],
    [/INDIA/, { euGas: 0.6 }, 30],
    [/_AUD$/, { euGas: 0.25 }, 30],
    [/_(EUR|GBP)$/, { euGas: 0.985 }, 7],
    [
      /ALGONQUIN|IROQUOIS|WAHA|EL_PASO|SOCAL|SUMAS|_CAD$|ZONE6|TETCO/,
      { usGas: 0.8, euGas: 0.15 },
      7,
    ],
    [/./, { usGas: 0.95, euGas: 0.18 }, 7],
  ],
  lng: [
    [/FREIGHT/, { freight: 0.8 }, 20],
    [/TRUCKED/, { euGas: 0.5 }, 30],
    [/USGC/, { euGas: 0.88, usGas: 0.2 }, 20],
    [/./, { euGas: 0.97 }, 7],
  ],
  carbon: [
    [/^(EU|UK|SWISS)_/, { euCarbon: 0.93, euGas: 0.2 }, 20],
    [/^RIN_/, { rin: 0.94 }, 20],
    [/^(CALIFORNIA|WASHINGTON|RGGI|LCFS|OREGON)_/, { usCarbon: 0.75 }, 60],
    [/./, {}, 90],
  ],
  coal: [
    [/COKING|COKE|PCI/, { coal: 0.45, steel: 0.75 }, 20],
    [/./, { coal: 0.92, euGas: 0.2 }, 20],
  ],
  power: [
    [/_(EUR|GBP)$/, { euGas: 0.45, euCarbon: 0.1, euPower: 0.6 }, 3],
    [/_USD$/, { usGas: 0.45, usPower: 0.5 }, 3],
    [/./, {}, 5],
  ],
  metals: [
    [/^GOLD_/, { precious: 0.9, gold: 0.43 }, 3],
    [/^SILVER_/, { precious: 0.75, silver: 0.65 }, 3],
    [/^(PLATINUM|PALLADIUM|RHODIUM|IRIDIUM|RUTHENIUM)_/, { precious: 0.6 }, 60],
    [/^COPPER_/, { base: 0.75, copper: 0.65 }, 5],
    [/^(ALUMINUM|ZINC|LEAD|NICKEL|TIN)_/, { base: 0.75 }, 60],
    [/IRON_ORE|STEEL|MANGANESE|CHROME/, { steel: 0.85 }, 30],
    [/LITHIUM|SPODUMENE|COBALT/, { battery: 0.85 }, 30],
    [/./, { base: 0.2 }, 90],
  ],
  petrochemicals: [[/./, { crude: 0.4, chemical: 0.6 }, 40]],
  ngl: [[/./, { crude: 0.45, usGas: 0.15, ngl: 0.78 }, 15]],
  biofuels: [[/./, { crude: 0.25, bio: 0.8 }, 40]],
  freight: [[/./, { freight: 0.8 }, 20]],
  indices: [
    [/ENERGY/, { crude: 0.85, distillate: 0.25, light: 0.25, usGas: 0.25 }, 10],
    [/PRODUCTS/, { crude: 0.75, distillate: 0.45, light: 0.45 }, 10],
    [/MARINE/, { crude: 0.73, residual: 0.66 }, 10],
    [/./, {}, 15],
  ],
  list_prices: [
    [/HVO|XTL/, { crude: 0.6, distillate: 0.4, bio: 0.5, list: 0.4 }, 10],
    [/./, { crude: 0.7, distillate: 0.6, list: 0.35 }, 10],
  ],
  retail_fuels: [
    [/PROPANE/, { ngl: 0.8, crude: 0.4 }, 40, true],
    [/GASOLINE|PETROL/, { crude: 0.72, light: 0.62 }, 40, true],
    [/./, { crude: 0.72, distillate: 0.62 }, 40, true],
  ],
  drilling: [
    [/PERMITS/, { drilling: 0.5 }, 60, true],
    [/RIG_COUNT/, { drilling: 0.8 }, 120],
    [/./, { drilling: 0.85 }, 120, true],
  ],
  storage: [
    [europeanGasStorage, { euStorage: 0.85 }, 60, true],
    [/NATGAS/, { usGas: -0.3 }, 60, true],
    [/./, {}, 90],
  ],
  supply_demand: [[/./, {}, 90]],
}
