/** US gallons in a barrel, exactly. */
export const gallonsPerBarrel = 42

/** Thermal equivalence of a barrel of crude oil, as the API defines it. */
export const mmbtuPerBarrel = 5.8

/**
 * 3,600,000 kJ in a MWh / 1,055.05585262 kJ in a thousand International Table Btu, to the six
 * places of the API.
 */
export const mmbtuPerMwh = 3.412142

/**
 * Barrels in a metric ton, the rounded conversions in which exchange-listed product cracks are
 * written. They correspond to these densities at 15 °C: gasoil 0.845 kg/l, jet kerosene 0.798,
 * gasoline 0.755, naphtha 0.7067, high-sulphur fuel oil 0.990.
 */
export const barrelsPerTonne = {
  gasoil: 7.45,
  jet: 7.88,
  gasoline: 8.33,
  naphtha: 8.9,
  fuelOil: 6.35,
} as const

/**
 * One price of a spread: `weight` of it, times `factor` to bring its unit to the spread's, times
 * the rate `fx` where its currency is another.
 */
export interface Leg {
  code: string
  /** Signed; barrels of product per barrel of crude, where the spread is per barrel. */
  weight: number
  factor: number
  /** Series that gives the spread's currency per unit of the leg's. */
  fx?: string
}

/**
 * The formula of a spread. `difference`: the sum of weight x price x factor; `ratio`: the first leg
 * over the second.
 */
export interface SpreadIdentity {
  id: string
  name: string
  description: string
  form: 'difference' | 'ratio'
  unit: string
  region: string | null
  formula: string
  legs: readonly Leg[]
}

export type SpreadType = 'crack' | 'basis' | 'refining-margin' | 'physical-premium'

const leg = (code: string, weight: number, factor = 1): Leg => ({ code, weight, factor })
const gallon = (code: string, weight: number): Leg => leg(code, weight, gallonsPerBarrel)
const tonne = (code: string, weight: number, product: keyof typeof barrelsPerTonne): Leg =>
  leg(code, weight, 1 / barrelsPerTonne[product])
const ttf = (weight: number): Leg => ({
  code: 'DUTCH_TTF_EUR',
  weight,
  factor: 1 / mmbtuPerMwh,
  fx: 'EUR_USD',
})

const perBarrel = { form: 'difference', unit: 'USD/bbl' } as const
const perMmbtu = { form: 'difference', unit: 'USD/MMBtu' } as const

/** First minus second, both quoted in the unit of the spread. */
const between = (first: string, second: string) => ({
  formula: `${first} - ${second}`,
  legs: [leg(first, 1), leg(second, -1)],
})

/** Product in USD a gallon minus WTI. */
const overWti = (product: string) => ({
  formula: `${product} x 42 - WTI_USD`,
  legs: [gallon(product, 1), leg('WTI_USD', -1)],
})

/**
 * `gasolines` barrels of gasoline and one of distillate from the barrels of crude that they take
 * together.
 */
function yields(
  gasolines: number,
  gasoline: string,
  distillate: string,
  crude: string,
): Pick<SpreadIdentity, 'formula' | 'legs'> {
  const barrels = gasolines + 1
  return {
    formula: `(${gasolines} x ${gasoline} x 42 + 1 x ${distillate} x 42 - ${barrels} x ${crude}) / ${barrels}`,
    legs: [gallon(gasoline, gasolines / barrels), gallon(distillate, 1 / barrels), leg(crude, -1)],
  }
}

/**
 * Products by their share of a barrel of crude; the difference to 1 is the refinery's own use. The
 * shares are indicative and our own.
 */
function refinery(crude: string, products: Leg[]): Pick<SpreadIdentity, 'formula' | 'legs'> {
  const unit = ({ factor }: Leg) => (factor === 1 ? '' : ` / ${(1 / factor).toFixed(2)}`)
  return {
    formula: `${products.map(p => `${p.weight} x ${p.code}${unit(p)}`).join(' + ')} - ${crude}`,
    legs: [...products, leg(crude, -1)],
  }
}

const wtiBrent: SpreadIdentity = {
  id: 'wti_brent',
  name: 'WTI - Brent',
  description: 'US against North Sea light sweet crude',
  region: 'Atlantic',
  ...perBarrel,
  ...between('WTI_USD', 'BRENT_CRUDE_USD'),
}

const crack321: SpreadIdentity = {
  id: 'wti_321',
  name: 'WTI 3-2-1 Crack',
  description: 'Two barrels of gasoline and one of distillate from three of WTI',
  region: 'United States',
  ...perBarrel,
  ...yields(2, 'GASOLINE_USD', 'HEATING_OIL_USD', 'WTI_USD'),
}

const gasolineCrack: SpreadIdentity = {
  id: 'wti_gasoline',
  name: 'WTI Gasoline Crack',
  description: 'Gasoline against WTI',
  region: 'United States',
  ...perBarrel,
  ...overWti('GASOLINE_USD'),
}

const heatingOilCrack: SpreadIdentity = {
  id: 'wti_heating_oil',
  name: 'WTI Heating Oil Crack',
  description: 'Heating oil against WTI',
  region: 'United States',
  ...perBarrel,
  ...overWti('HEATING_OIL_USD'),
}

/** The spreads of the analytics endpoint, as the API defines them. */
export const analyticsSpreads: readonly SpreadIdentity[] = [
  { ...wtiBrent, unit: 'USD/barrel' },
  {
    id: 'wti_dubai',
    name: 'WTI - Dubai',
    description: 'US light sweet against Gulf medium sour crude',
    form: 'difference',
    unit: 'USD/barrel',
    region: null,
    ...between('WTI_USD', 'DUBAI_CRUDE_USD'),
  },
  { ...crack321, id: '321', name: '3-2-1 Crack Spread', unit: 'USD/barrel' },
  { ...gasolineCrack, id: 'gasoline_crack', name: 'Gasoline Crack Spread', unit: 'USD/barrel' },
  {
    ...heatingOilCrack,
    id: 'heating_oil_crack',
    name: 'Heating Oil Crack Spread',
    unit: 'USD/barrel',
  },
  {
    id: 'gas_oil_ratio',
    name: 'Oil to Gas Ratio',
    description: 'WTI over the thermal equivalent of Henry Hub gas, 5.8 MMBtu a barrel',
    form: 'ratio',
    unit: 'ratio',
    region: 'United States',
    formula: 'WTI_USD / (NATURAL_GAS_USD x 5.8)',
    legs: [leg('WTI_USD', 1), leg('NATURAL_GAS_USD', 1, mmbtuPerBarrel)],
  },
]

const crack: readonly SpreadIdentity[] = [
  {
    id: 'brent_gasoil',
    name: 'Brent Gasoil Crack',
    description: 'European gasoil against Brent',
    region: 'Northwest Europe',
    formula: 'GASOIL_USD / 7.45 - BRENT_CRUDE_USD',
    legs: [tonne('GASOIL_USD', 1, 'gasoil'), leg('BRENT_CRUDE_USD', -1)],
    ...perBarrel,
  },
  crack321,
  gasolineCrack,
  heatingOilCrack,
  {
    id: 'brent_jet',
    name: 'Brent Jet Crack',
    description: 'European jet kerosene against Brent',
    region: 'Northwest Europe',
    formula: 'JET_FUEL_NWE_USD / 7.88 - BRENT_CRUDE_USD',
    legs: [tonne('JET_FUEL_NWE_USD', 1, 'jet'), leg('BRENT_CRUDE_USD', -1)],
    ...perBarrel,
  },
  {
    id: 'dubai_jet',
    name: 'Dubai Jet Crack',
    description: 'Singapore jet kerosene against Dubai',
    region: 'Singapore',
    ...perBarrel,
    ...between('SINGAPORE_JET_KEROSENE_USD', 'DUBAI_CRUDE_USD'),
  },
  {
    id: 'wti_211',
    name: 'WTI 2-1-1 Crack',
    description: 'One barrel of gasoline and one of distillate from two of WTI',
    region: 'United States',
    ...perBarrel,
    ...yields(1, 'GASOLINE_USD', 'HEATING_OIL_USD', 'WTI_USD'),
  },
]

/**
 * Id, name, region, first, second, description of differences between two series in the same unit.
 */
type Pair = readonly [string, string, string, string, string, string]

const pairs = (unit: typeof perBarrel | typeof perMmbtu, rows: readonly Pair[]): SpreadIdentity[] =>
  rows.map(([id, name, region, first, second, description]) => ({
    id,
    name,
    description,
    region,
    ...unit,
    ...between(first, second),
  }))

const basis: readonly SpreadIdentity[] = [
  wtiBrent,
  ...pairs(perBarrel, [
    [
      'wcs_wti',
      'WCS - WTI',
      'Canada',
      'WCS_CRUDE_USD',
      'WTI_USD',
      'Canadian heavy crude at Hardisty against WTI',
    ],
    [
      'midland_wti',
      'Midland - WTI',
      'United States',
      'WTI_MIDLAND_USD',
      'WTI_USD',
      'West Texas against Cushing',
    ],
    [
      'mars_wti',
      'Mars - WTI',
      'United States',
      'MARS_USD',
      'WTI_USD',
      'US Gulf medium sour crude against WTI',
    ],
    [
      'lls_wti',
      'LLS - WTI',
      'United States',
      'LOUISIANA_LIGHT_USD',
      'WTI_USD',
      'US Gulf light sweet crude against WTI',
    ],
  ]),
  ...pairs(perMmbtu, [
    [
      'waha_henry_hub',
      'Waha - Henry Hub',
      'United States',
      'GAS_WAHA_USD',
      'GAS_HENRY_HUB_SPOT_USD',
      'West Texas gas against Henry Hub, both cash',
    ],
  ]),
  {
    id: 'ttf_henry_hub',
    name: 'TTF - Henry Hub',
    description: 'European against US gas, front months',
    region: 'Atlantic',
    formula: 'DUTCH_TTF_EUR x EUR_USD / 3.412142 - NATURAL_GAS_USD',
    legs: [ttf(1), leg('NATURAL_GAS_USD', -1)],
    ...perMmbtu,
  },
  {
    id: 'jkm_ttf',
    name: 'JKM - TTF',
    description: 'Northeast Asian LNG against European gas',
    region: 'Asia and Europe',
    formula: 'JKM_LNG_USD - DUTCH_TTF_EUR x EUR_USD / 3.412142',
    legs: [leg('JKM_LNG_USD', 1), ttf(-1)],
    ...perMmbtu,
  },
]

const refiningMargin: readonly SpreadIdentity[] = [
  {
    id: 'us_gulf_321',
    name: 'US Gulf 3-2-1 Margin',
    description: 'Two barrels of Gulf gasoline and one of diesel from three of Louisiana crude',
    region: 'US Gulf',
    ...perBarrel,
    ...yields(2, 'GASOLINE_CBOB_USGC_USD', 'ULSD_USGC_USD', 'LOUISIANA_LIGHT_USD'),
  },
  {
    id: 'nwe_simple',
    name: 'Northwest Europe Simple Margin',
    description: 'Hydroskimming of Brent with indicative yields',
    region: 'Northwest Europe',
    ...perBarrel,
    ...refinery('DATED_BRENT_USD', [
      tonne('GASOLINE_EUROBOB_NWE_USD', 0.17, 'gasoline'),
      tonne('NAPHTHA_NWE_USD', 0.06, 'naphtha'),
      tonne('JET_FUEL_NWE_USD', 0.1, 'jet'),
      tonne('DIESEL_10PPM_ARA_BARGE_USD', 0.34, 'gasoil'),
      tonne('FUEL_OIL_1_0_NWE_USD', 0.3, 'fuelOil'),
    ]),
  },
  {
    id: 'nwe_complex',
    name: 'Northwest Europe Complex Margin',
    description: 'Cracking of Brent with indicative yields',
    region: 'Northwest Europe',
    ...perBarrel,
    ...refinery('DATED_BRENT_USD', [
      tonne('GASOLINE_EUROBOB_NWE_USD', 0.31, 'gasoline'),
      tonne('NAPHTHA_NWE_USD', 0.04, 'naphtha'),
      tonne('JET_FUEL_NWE_USD', 0.12, 'jet'),
      tonne('DIESEL_10PPM_ARA_BARGE_USD', 0.38, 'gasoil'),
      tonne('FUEL_OIL_3_5_NWE_USD', 0.1, 'fuelOil'),
    ]),
  },
  {
    id: 'singapore_complex',
    name: 'Singapore Complex Margin',
    description: 'Cracking of Dubai with indicative yields',
    region: 'Singapore',
    ...perBarrel,
    ...refinery('DUBAI_CRUDE_USD', [
      leg('SINGAPORE_MOGAS_92_USD', 0.21),
      leg('NAPHTHA_SINGAPORE_USD', 0.09),
      leg('SINGAPORE_JET_KEROSENE_USD', 0.16),
      leg('GASOIL_10PPM_SINGAPORE_USD', 0.34),
      tonne('FUEL_OIL_380_SINGAPORE_USD', 0.15, 'fuelOil'),
    ]),
  },
]

const physicalPremium = pairs(perBarrel, [
  [
    'murban_dubai',
    'Murban - Dubai',
    'Middle East',
    'MURBAN_CRUDE_USD',
    'DUBAI_CRUDE_USD',
    'Abu Dhabi light sour crude against Dubai',
  ],
  [
    'johan_sverdrup_brent',
    'Johan Sverdrup - Dated Brent',
    'North Sea',
    'JOHAN_SVERDRUP_USD',
    'DATED_BRENT_USD',
    'Norwegian medium sour crude',
  ],
  [
    'bonny_light_brent',
    'Bonny Light - Dated Brent',
    'West Africa',
    'BONNY_LIGHT_USD',
    'DATED_BRENT_USD',
    'Nigerian light sweet crude',
  ],
  [
    'espo_dubai',
    'ESPO - Dubai',
    'East Asia',
    'ESPO_CRUDE_USD',
    'DUBAI_CRUDE_USD',
    'Siberian light crude against Dubai',
  ],
  [
    'oman_dubai',
    'Oman - Dubai',
    'Middle East',
    'OMAN_CRUDE_USD',
    'DUBAI_CRUDE_USD',
    'Gulf medium sour crude against Dubai',
  ],
  [
    'forties_brent',
    'Forties - Dated Brent',
    'North Sea',
    'FORTIES_USD',
    'DATED_BRENT_USD',
    'UK North Sea blend against Dated Brent',
  ],
])

/** The spreads of the spread endpoints; the first of each list is its default. */
export const spreads: Readonly<Record<SpreadType, readonly SpreadIdentity[]>> = {
  crack,
  basis,
  'refining-margin': refiningMargin,
  'physical-premium': physicalPremium,
}
