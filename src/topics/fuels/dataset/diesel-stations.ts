import { scaled } from '../../../datasets/cell.ts'
import {
  checked,
  neededInstant,
  neededNumber,
  neededText,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import { usStates } from '../../geography/math/us-states.ts'
import type { Station, StationStore } from '../store/stations.ts'

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

export function createDieselStationsDataset(store: Pick<StationStore, 'write'>): Dataset<Station> {
  return {
    name: 'diesel-stations',
    description:
      'Filling stations of the United States with their diesel prices, from a price feed or a fuel-card network.',
    columns: [
      {
        name: 'reference',
        required: true,
        description: "The source's own id of the station: its next row replaces this one",
      },
      { name: 'name', required: true, description: 'Name of the station' },
      { name: 'address', required: true, description: 'Street and place, for people' },
      { name: 'state', required: true, description: 'State by its two letters, such as TX' },
      { name: 'latitude', required: true, description: 'Degrees, south is negative' },
      { name: 'longitude', required: true, description: 'Degrees, west is negative' },
      { name: 'price', required: true, description: 'Price of diesel in USD, taxes included' },
      { name: 'unit', required: false, description: 'Of the price: gallon (default) or litre' },
      {
        name: 'fuel_types',
        required: false,
        description: 'What is sold beside diesel, separated by semicolons, such as def;unleaded',
      },
      {
        name: 'observed_at',
        required: true,
        description:
          'When the price was seen; a row that is older than the one held changes nothing',
      },
      { name: 'source', required: false, description: 'Who says so; default: import' },
    ],
    example:
      'reference,name,address,state,latitude,longitude,price,unit,fuel_types,observed_at,source\n' +
      'st-1001,Bayou Travel Plaza,"8800 East Freeway, Houston",TX,29.7712,-95.2661,3.459,gallon,def;unleaded,2026-11-19T11:40:00Z,card network\n' +
      'st-1002,Gulf Truck Stop,"1200 Katy Freeway, Houston",TX,29.7749,-95.3934,3.419,gallon,def,2026-11-19T10:05:00Z,card network\n',
    key: ['reference'],
    check: (row, now) =>
      checked(() => {
        const state = neededText(row, 'state', 'write two letters, such as TX').toUpperCase()
        if (!codes.has(state))
          refuse('state', state, 'is no state', 'write two letters, such as TX')
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
        const latitude = neededNumber(row, 'latitude', -90, 90)
        const longitude = neededNumber(row, 'longitude', -180, 180)
        return {
          reference: neededText(row, 'reference', "write the source's own id", 100),
          state,
          price,
          name: neededText(row, 'name', 'write the name of the station'),
          address: neededText(row, 'address', 'write where it is'),
          latitude: toMillionths(latitude),
          longitude: toMillionths(longitude),
          fuelTypes: fuelsOf(textIn(row, 'fuel_types', 500)),
          observedAt: neededInstant(row, 'observed_at', now),
          source: textIn(row, 'source', 60) ?? 'import',
        }
      }),
    guarded: {
      cadence: 'daily',
      time: 'observed_at',
      columns: { price: { mayRepeat: true } },
      numbersOf: ({ reference, observedAt, price }) => [
        { line: { reference }, time: observedAt, values: { price } },
      ],
    },
    write: (records, recordedAt) => store.write(records, recordedAt),
  }
}

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
