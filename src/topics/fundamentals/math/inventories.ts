/** A stock of which the agency publishes the level weekly, in million barrels. */
export interface InventoryPlace {
  /** Code of category `storage`. */
  code: string
  product: InventoryProduct
  location: InventoryLocation
  /** The name of the series at the Energy Information Administration. */
  agencySeries: string
}

export const inventoryProducts = [
  'crude_oil',
  'gasoline',
  'distillate',
  'jet_fuel',
  'propane',
  'residual_fuel',
  'ethanol',
  'total_petroleum',
] as const
export type InventoryProduct = (typeof inventoryProducts)[number]

export const inventoryLocations = [
  'US',
  'Cushing',
  'SPR',
  'PADD1',
  'PADD2',
  'PADD3',
  'PADD4',
  'PADD5',
] as const
export type InventoryLocation = (typeof inventoryLocations)[number]

type Row = readonly [
  code: string,
  product: InventoryProduct,
  location: InventoryLocation,
  agencySeries: string,
]

const districts = (
  product: InventoryProduct,
  word: string,
  agencyName: (digit: number) => string,
): Row[] =>
  [1, 2, 3, 4, 5].map(n => [
    `PADD${n}_${word}_STORAGE`,
    product,
    `PADD${n}` as InventoryLocation,
    agencyName(n),
  ])

const rows: readonly Row[] = [
  ['US_CRUDE_STORAGE', 'crude_oil', 'US', 'WCESTUS1'],
  ['CUSHING_STORAGE', 'crude_oil', 'Cushing', 'W_EPC0_SAX_YCUOK_MBBL'],
  ['SPR_STORAGE', 'crude_oil', 'SPR', 'WCSSTUS1'],
  ['US_GASOLINE_STORAGE', 'gasoline', 'US', 'WGTSTUS1'],
  ['US_DISTILLATE_STORAGE', 'distillate', 'US', 'WDISTUS1'],
  ['US_JET_STORAGE', 'jet_fuel', 'US', 'WKJSTUS1'],
  ['US_PROPANE_STORAGE', 'propane', 'US', 'WPRSTUS1'],
  ['US_RESIDUAL_STORAGE', 'residual_fuel', 'US', 'WRESTUS1'],
  ['US_ETHANOL_STORAGE', 'ethanol', 'US', 'W_EPOOXE_SAE_NUS_MBBL'],
  ['US_TOTAL_PETROLEUM_STORAGE', 'total_petroleum', 'US', 'WTESTUS1'],
  ...districts('crude_oil', 'CRUDE', n => `WCESTP${n}1`),
  ...districts('gasoline', 'GASOLINE', n => `WGTSTP${n}1`),
  ...districts('distillate', 'DISTILLATE', n => `WDISTP${n}1`),
]

/** Every stock of the family, the national ones first: this is the order of those of one day. */
export const inventoryPlaces: readonly InventoryPlace[] = rows.map(
  ([code, product, location, agencySeries]) => ({
    code,
    product,
    location,
    agencySeries,
  }),
)

const byAgencySeries = new Map(inventoryPlaces.map(place => [place.agencySeries, place]))

export const placeOfAgencySeries = (name: string): InventoryPlace | undefined =>
  byAgencySeries.get(name.trim().toUpperCase())

/**
 * The nationwide stock of a product; of crude oil the commercial one, without the strategic
 * reserve.
 */
export const nationalPlace = (product: InventoryProduct): InventoryPlace =>
  inventoryPlaces.find(place => place.product === product && place.location === 'US')!

const otherWords: ReadonlyMap<string, InventoryProduct> = new Map([
  ['crude', 'crude_oil'],
  ['motor_gasoline', 'gasoline'],
  ['distillates', 'distillate'],
  ['distillate_fuel_oil', 'distillate'],
  ['jet', 'jet_fuel'],
  ['residual', 'residual_fuel'],
  ['residual_fuel_oil', 'residual_fuel'],
  ['fuel_ethanol', 'ethanol'],
  ['total', 'total_petroleum'],
])

/** A product as people write it: `Crude oil`, `jet-fuel`, `distillates`. */
export function productOf(text: string): InventoryProduct | undefined {
  const word = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
  return inventoryProducts.find(product => product === word) ?? otherWords.get(word)
}

/** A place as people write it: `PADD 3`, `cushing`. */
export function locationOf(text: string): InventoryLocation | undefined {
  const word = text.replaceAll(/[\s_-]+/g, '').toLowerCase()
  return inventoryLocations.find(location => location.toLowerCase() === word)
}
