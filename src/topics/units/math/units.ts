import { barrelsPerTonne, gallonsPerBarrel, mmbtuPerBarrel } from './identities.ts'

/** Units that a price can be converted to. */
export const targetUnits = [
  'barrel',
  'metric_ton',
  'gallon',
  'litre',
  'mmbtu',
  'therm',
  'mwh',
] as const
export type TargetUnit = (typeof targetUnits)[number]

type Dimension = 'litres' | 'kilograms' | 'megajoules'

interface Unit {
  dimension: Dimension
  size: number
}

const litres = (size: number): Unit => ({ dimension: 'litres', size })
const kilograms = (size: number): Unit => ({ dimension: 'kilograms', size })
const megajoules = (size: number): Unit => ({ dimension: 'megajoules', size })

const litresPerGallon = 3.785411784
const litresPerBarrel = gallonsPerBarrel * litresPerGallon
const megajoulesPerMmbtu = 1055.05585262

/**
 * Sizes of units. Gallon 231 cubic inches, pound 0.45359237 kg, troy ounce 31.1034768 g: exact
 * (NIST Special Publication 811, appendix B). The Btu is the International Table one,
 * 1,055.05585262 J (the same); a therm is 100,000 of them.
 */
const units: Readonly<Record<string, Unit>> = {
  barrel: litres(litresPerBarrel),
  gallon: litres(litresPerGallon),
  litre: litres(1),
  cubic_metre: litres(1000),
  metric_ton: kilograms(1000),
  MT: kilograms(1000),
  short_ton: kilograms(907.18474),
  kilogram: kilograms(1),
  pound: kilograms(0.45359237),
  troy_ounce: kilograms(0.0311034768),
  mmbtu: megajoules(megajoulesPerMmbtu),
  therm: megajoules(megajoulesPerMmbtu / 10),
  mwh: megajoules(3600),
  gigajoule: megajoules(1000),
}

/**
 * One amount of a product, measured as volume, mass and gross heat; without measures in which it is
 * not traded.
 */
type Amount = Readonly<Partial<Record<Dimension, number>>>

const barrelOf = (barrelsATonne: number, mmbtuABarrel: number): Amount => ({
  litres: litresPerBarrel,
  kilograms: 1000 / barrelsATonne,
  megajoules: mmbtuABarrel * megajoulesPerMmbtu,
})

/**
 * Conventions by product, not measurements of a cargo. Barrels a tonne: gasoline, gasoil, jet,
 * naphtha and fuel oil as the spreads of this service have them; crude 7.33, the world average of
 * the Statistical Review of World Energy; propane and butane from 0.507 and 0.583 kg/l at 15 °C; ethanol 0.794 kg/l; FAME 0.88 and
 * paraffinic diesel 0.78 kg/l, the middles of EN 14214 and EN 15940. Gross heat: EIA Monthly Energy
 * Review, appendix A, but 5.8 for crude; LNG 53.38 MMBtu a tonne (International Gas Union, Natural
 * Gas Conversion Pocketbook).
 */
const products = {
  crude: barrelOf(7.33, mmbtuPerBarrel),
  gasoil: barrelOf(barrelsPerTonne.gasoil, 5.77),
  gasoline: barrelOf(barrelsPerTonne.gasoline, 5.253),
  jet: barrelOf(barrelsPerTonne.jet, 5.67),
  naphtha: barrelOf(barrelsPerTonne.naphtha, 5.248),
  fuelOil: barrelOf(barrelsPerTonne.fuelOil, 6.287),
  propane: barrelOf(12.4, 3.841),
  butane: barrelOf(10.8, 4.353),
  ethanol: barrelOf(7.92, 3.539),
  biodiesel: barrelOf(7.15, 5.359),
  paraffinicDiesel: barrelOf(8.06, 5.494),
  lng: { kilograms: 1000, megajoules: 53.38 * megajoulesPerMmbtu },
} satisfies Record<string, Amount>

export type Product = keyof typeof products

type Rule = readonly [code: RegExp, product: Product]

const crude: readonly Rule[] = [[/./, 'crude']]
const roadAndRefinery: readonly Rule[] = [
  [/HVO|XTL/, 'paraffinicDiesel'],
  [/^PROPANE_/, 'propane'],
  [/GASOLINE|MOGAS|PETROL_/, 'gasoline'],
  [/DIESEL|GASOIL|ULSD|HEATING_OIL/, 'gasoil'],
  [/^JET_|KEROSENE/, 'jet'],
  [/^NAPHTHA_/, 'naphtha'],
  [/^FUEL_OIL_(180|380|3)_/, 'fuelOil'],
]

/**
 * The product of a code, by its category. Blends without a fixed density (low-sulphur fuel oils,
 * base oils, bitumen) and coal are left out.
 */
const rules: Readonly<Record<string, readonly Rule[]>> = {
  crude_oil: crude,
  physical_crude: crude,
  futures: [
    [/^(BRENT|WTI)_/, 'crude'],
    [/^GASOIL_/, 'gasoil'],
  ],
  refined_products: roadAndRefinery,
  retail_fuels: roadAndRefinery,
  list_prices: roadAndRefinery,
  marine_fuels: [
    [/^MGO_/, 'gasoil'],
    [/^(HFO|HSFO)_/, 'fuelOil'],
    [/^LNG_/, 'lng'],
  ],
  biofuels: [
    [/^(FAME|RME|UCOME)_/, 'biodiesel'],
    [/^(HVO|RENEWABLE_DIESEL)_/, 'paraffinicDiesel'],
    [/^ETHANOL_/, 'ethanol'],
  ],
  ngl: [
    [/^PROPANE_/, 'propane'],
    [/^BUTANE_/, 'butane'],
  ],
  lng: [[/./, 'lng']],
}

/**
 * The product whose density and heat a code's price converts by; undefined where none is
 * conventional.
 */
export const productOf = (code: string, category: string): Product | undefined =>
  rules[category]?.find(([pattern]) => pattern.test(code))?.[1]

export const isTargetUnit = (text: string): text is TargetUnit =>
  (targetUnits as readonly string[]).includes(text)

export const unitNames: readonly string[] = Object.keys(units)

/** Whether the size of a unit is known. */
export const isUnit = (text: string): boolean => Object.hasOwn(units, text)

/**
 * Whether a unit counts hundredths of the currency, and the unit of the same price in whole ones.
 */
export function wholeUnit(unit: string): { unit: string; perWhole: 1 | 100 } {
  return unit.startsWith('pence_per_')
    ? { unit: unit.slice('pence_per_'.length), perWhole: 100 }
    : { unit, perWhole: 1 }
}

/**
 * How many `from` are in one `to`, by which a price per `from` becomes a price per `to`; undefined
 * when no conversion is known: an unknown unit, or another dimension than the product's density or
 * heat can bridge.
 */
export function unitsPer(from: string, to: string, product?: Product): number | undefined {
  if (from === to) return 1
  const [small, large] = [units[from], units[to]]
  if (!small || !large) return undefined
  if (small.dimension === large.dimension) return large.size / small.size
  const amount: Amount = product ? products[product] : {}
  const [inSmall, inLarge] = [amount[small.dimension], amount[large.dimension]]
  return inSmall && inLarge && (large.size / inLarge) * (inSmall / small.size)
}
