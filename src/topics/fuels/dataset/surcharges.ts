import {
  checked,
  neededDay,
  neededInstant,
  neededNumber,
  refuse,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'
import type { Surcharge, SurchargeStore } from '../store/surcharges.ts'
import {
  indexColumn,
  indexIn,
  serviceColumns,
  serviceIn,
  sourceColumn,
  sourceIn,
} from './surcharge-fields.ts'

const percentMax = 200
const priceMax = 1e6
/** Carriers announce the next weeks. */
const announcedDays = 62

export function createSurchargesDataset(
  store: SurchargeStore,
  catalogue: CodeLookup,
): Dataset<Surcharge> {
  return {
    name: 'surcharges',
    description:
      'Fuel surcharges as carriers published them: one row for each carrier, service and week.',
    columns: [
      ...serviceColumns,
      { name: 'effective_date', required: true, description: 'Day from which it is charged' },
      {
        name: 'surcharge_percent',
        required: true,
        description: 'Percent of the charge for carriage',
      },
      indexColumn,
      {
        name: 'index_price',
        required: true,
        description: 'Price of the index that it was matched to',
      },
      {
        name: 'band_min',
        required: true,
        description: 'Lower edge of the band of the table, itself inside',
      },
      { name: 'band_max', required: true, description: 'Upper edge, itself outside' },
      sourceColumn,
      { name: 'retrieved_at', required: true, description: 'When the table was read' },
    ],
    example:
      'carrier,carrier_name,mode,service_level,effective_date,surcharge_percent,index_price,band_min,band_max,source,retrieved_at\n' +
      'alder,Alder Freight Lines,ltl,,2026-11-18,26,3.718,3.7,3.75,https://alder.example/fuel,2026-11-18T13:05:00Z\n' +
      'harbor,Harbor Parcel,parcel,ground,2026-11-16,18.25,3.702,3.69,3.78,https://harbor.example/fuel,2026-11-16T13:05:00Z\n',
    key: ['mode', 'carrier', 'service_level', 'effective_date'],
    check: (row, now) =>
      checked(() => {
        const service = serviceIn(row)
        const indexPrice = neededNumber(row, 'index_price', 0, priceMax)
        const band = {
          min: neededNumber(row, 'band_min', 0, priceMax),
          max: neededNumber(row, 'band_max', 0, priceMax),
        }
        if (!(band.min <= indexPrice && indexPrice < band.max)) {
          refuse(
            'index_price',
            indexPrice,
            `is not in the band from ${band.min} to below ${band.max}`,
            'write the price and the band that the table was read at',
          )
        }
        return {
          ...service,
          effectiveOn: neededDay(row, 'effective_date', now, announcedDays),
          percent: neededNumber(row, 'surcharge_percent', 0, percentMax),
          indexCode: indexIn(row, catalogue),
          indexPrice,
          band,
          source: sourceIn(row),
          retrievedAt: neededInstant(row, 'retrieved_at', now),
          fixture: false,
        }
      }),
    guarded: {
      cadence: 'weekly',
      time: 'effective_date',
      columns: {
        surcharge_percent: { leastMove: 5, mayRepeat: true, mayCross: true },
        index_price: { mayRepeat: true },
      },
      numbersOf: ({ carrier, mode, serviceLevel, effectiveOn, percent, indexPrice }) => [
        {
          line: { carrier, mode, service_level: serviceLevel },
          time: effectiveOn,
          values: { surcharge_percent: percent, index_price: indexPrice },
        },
      ],
    },
    write: (records, recordedAt) => store.write(records, recordedAt),
  }
}
