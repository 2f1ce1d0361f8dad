import { derived, number } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { neededDay, refuse } from '../../../datasets/fields.ts'
import { indexCode, retrievedAt, service, serviceIn, source } from './surcharge-fields.ts'

const percentMax = 200
const priceMax = 1e6
/** Carriers announce the next weeks. */
const announcedDays = 62

const columns = {
  ...service,
  effectiveOn: {
    name: 'effective_date',
    required: true,
    description: 'Day from which the surcharge applies',
    read: (row, name, { now }) => neededDay(row, name, now, announcedDays),
  } as Column<string>,
  percent: number('Surcharge in percent of the freight charge', [0, percentMax], {
    name: 'surcharge_percent',
  }),
  indexCode,
  indexPrice: number('Index price that gave the surcharge', [0, priceMax]),
  bandMin: number('Lower edge of the band, inclusive', [0, priceMax]),
  bandMax: number('Upper edge of the band, exclusive', [0, priceMax]),
  source,
  retrievedAt,
  fixture: derived<boolean>({ isFlag: true }),
}

/** The surcharge of a carrier from a day on. */
export type Surcharge = RecordOf<typeof columns>

export const surcharges = dataset({
  name: 'surcharges',
  description:
    'Fuel surcharges as carriers published them: one row for each carrier, service and week.',
  table: 'surcharges',
  columns,
  key: ['mode', 'carrier', 'serviceLevel', 'effectiveOn'],
  time: 'effectiveOn',
  where: 't.fixture = 0',
  checks: {
    cadence: 'weekly',
    line: ['carrier', 'mode', 'serviceLevel'],
    columns: {
      percent: { leastMove: 5, mayRepeat: true, mayCross: true },
      indexPrice: { mayRepeat: true },
    },
  },
  example:
    'carrier,carrier_name,mode,service_level,effective_date,surcharge_percent,index_price,band_min,band_max,source,retrieved_at\n' +
    'alder,Alder Freight Lines,ltl,,2026-11-18,26,3.718,3.7,3.75,https://alder.example/fuel,2026-11-18T13:05:00Z\n' +
    'harbor,Harbor Parcel,parcel,ground,2026-11-16,18.25,3.702,3.69,3.78,https://harbor.example/fuel,2026-11-16T13:05:00Z\n',
  read(row, read): Surcharge {
    const names = serviceIn(row)
    const indexPrice = read.indexPrice()
    const band = { bandMin: read.bandMin(), bandMax: read.bandMax() }
    if (!(band.bandMin <= indexPrice && indexPrice < band.bandMax)) {
      refuse(
        'index_price',
        indexPrice,
        `is not in the band from ${band.bandMin} to below ${band.bandMax}`,
        'write the price and the band that the table was read at',
      )
    }
    return read.rest({ ...names, indexPrice, ...band, fixture: false })
  },
})
