import { scaled } from '../../../datasets/cell.ts'
import { instant, part, text, textOr } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { neededNumber, neededText, refuse, textIn } from '../../../datasets/fields.ts'
import { usStates } from '../../geography/math/us-states.ts'

/** Gallons in one of these. */
const unitGallons: Readonly<Record<string, number>> = { gallon: 1, litre: 1 / 3.785411784 }
/** Far above and below any price of a gallon. */
const [priceMin, priceMax] = [0.2, 50]
const fuelTypesMax = 20
const diesel = 'diesel'
const codes = new Set(usStates.map(state => state.code))
const fuelWord = /^[a-z0-9][a-z0-9_+.-]{0,29}$/

/** Millionths of a degree, as places are stored: a tenth of a metre. */
const toMillionths = (degrees: number): number => Math.round(degrees * 1e6) / 1e6

const degrees = (description: string, max: number): Column<number> => ({
  required: true,
  description,
  read: (row, name) => toMillionths(neededNumber(row, name, -max, max)),
})

const columns = {
  /** The id of the station at its source: unique. */
  reference: text(
    'Id of the station at the source; a later row with the same id replaces this one',
    "write the source's own id",
    100,
  ),
  name: text('Name of the station', 'write the name of the station'),
  address: text('Street and town, for display', 'write where it is'),
  /** Two letters. */
  state: {
    required: true,
    description: 'Two-letter code of the state, such as TX',
    stored: 'state_code',
    read(row, name) {
      const right = 'write two letters, such as TX'
      const state = neededText(row, name, right).toUpperCase()
      return codes.has(state) ? state : refuse(name, state, 'is not a state', right)
    },
  } as Column<string>,
  latitude: degrees('Degrees, south is negative', 90),
  longitude: degrees('Degrees, west is negative', 180),
  /** USD per gallon. */
  price: {
    required: true,
    description: 'Price of diesel in USD, taxes included',
  } as Column<number>,
  unit: part('Unit of the price: gallon (default) or litre', "'gallon'"),
  fuelTypes: {
    description: 'Other products, separated by semicolons, such as def;unleaded',
    exported: "replace(t.fuel_types, ' ', ';')",
    read: (row, name) => fuelsOf(textIn(row, name, 500)),
  } as Column<readonly string[]>,
  observedAt: instant('When the price was seen; a row older than the stored one changes nothing'),
  source: textOr('import', 'Source of the price; default: import', 60),
}

/** A filling station and its newest price of diesel. */
export type Station = RecordOf<typeof columns>

export const dieselStations = dataset({
  name: 'diesel-stations',
  feature: 'calculated_metrics',
  description:
    'Filling stations of the United States with their diesel prices, from a price feed or a fuel-card network.',
  table: 'diesel_stations',
  columns,
  key: ['reference'],
  time: 'observedAt',
  order: 't.id',
  checks: { cadence: 'daily', columns: { price: { mayRepeat: true } } },
  example:
    'reference,name,address,state,latitude,longitude,price,unit,fuel_types,observed_at,source\n' +
    'st-1001,Bayou Travel Plaza,"8800 East Freeway, Houston",TX,29.7712,-95.2661,3.459,gallon,def;unleaded,2026-11-19T11:40:00Z,card network\n' +
    'st-1002,Gulf Truck Stop,"1200 Katy Freeway, Houston",TX,29.7749,-95.3934,3.419,gallon,def,2026-11-19T10:05:00Z,card network\n',
  read(row, read): Station {
    const unit = textIn(row, 'unit')?.toLowerCase() ?? 'gallon'
    const knownSize = Object.hasOwn(unitGallons, unit) ? unitGallons[unit] : undefined
    const gallons =
      knownSize ??
      refuse('unit', unit, 'is not known', `write ${Object.keys(unitGallons).join(' or ')}`)
    const amount = neededNumber(row, 'price', 0, 1000)
    const price = scaled(amount, 1 / gallons)
    if (price < priceMin || price > priceMax)
      refuse(
        'price',
        amount,
        `USD a ${unit} is outside the accepted range for diesel`,
        'check the unit',
      )
    return read.rest({ price })
  },
})

/** Diesel first, whatever else is named. */
function fuelsOf(text = ''): string[] {
  const fuels = text
    .split(';')
    .map(fuel => fuel.trim().toLowerCase().replaceAll(/\s+/g, '_'))
    .filter(Boolean)
  const wrong = fuels.find(fuel => !fuelWord.test(fuel))
  if (wrong !== undefined)
    refuse(
      'fuel_types',
      wrong,
      'is not a fuel',
      'write words separated by semicolons, such as def;unleaded',
    )
  return [...new Set([diesel, ...fuels])].slice(0, fuelTypesMax)
}
