import { scaled } from '../../../datasets/cell.ts'
import {
  checked,
  neededMonth,
  neededNumber,
  neededText,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import { opecCountry } from '../math/opec.ts'
import type { OpecProduction, OpecStore } from '../store/opec.ts'

/** Barrels a day that one of these is; TBPD is how the agency abbreviates its own. */
const units: ReadonlyMap<string, number> = new Map([
  ['barrels_per_day', 1],
  ['thousand_barrels_per_day', 1e3],
  ['tbpd', 1e3],
  ['million_barrels_per_day', 1e6],
])
const bpdMax = 20e6

export function createOpecProductionsDataset(store: OpecStore): Dataset<OpecProduction> {
  return {
    name: 'opec-productions',
    description:
      'Crude oil production of the OPEC countries by month, as the organization and the Energy Information Administration publish it.',
    columns: [
      { name: 'country', required: true, description: 'Name of the country' },
      {
        name: 'month',
        required: true,
        description: 'Month, `2026-10`; a day stands for its month',
      },
      { name: 'production', required: true, description: 'Crude oil a day, the mean of the month' },
      {
        name: 'unit',
        required: true,
        description:
          'thousand_barrels_per_day (also TBPD), million_barrels_per_day or barrels_per_day',
      },
      { name: 'source', required: false, description: 'Who says so; default: import' },
    ],
    example:
      'country,month,production,unit,source\nSaudi Arabia,2026-10,9100,thousand_barrels_per_day,EIA\nIraq,2026-10,4150,thousand_barrels_per_day,EIA\n',
    key: ['country', 'month'],
    check: (row, now) =>
      checked(() => {
        const unit = neededText(row, 'unit', 'write thousand_barrels_per_day')
        const size =
          units.get(unit.toLowerCase()) ??
          refuse('unit', unit, 'is not known', `write ${[...units.keys()].join(' or ')}`)
        const amount = neededNumber(row, 'production', 0, 1e9)
        const bpd = Math.round(scaled(amount, size))
        if (bpd > bpdMax)
          refuse(
            'production',
            amount,
            `${unit} is outside the accepted range for one country`,
            'check the unit',
          )
        return {
          country: opecCountry(neededText(row, 'country', 'write the name of a country', 60)),
          month: neededMonth(row, 'month', now),
          bpd,
          source: textIn(row, 'source', 40) ?? 'import',
        }
      }),
    guarded: {
      cadence: 'monthly',
      time: 'month',
      columns: { production: { leastMove: 100_000 } },
      numbersOf: ({ country, month, bpd }) => [
        { line: { country }, time: month, values: { production: bpd } },
      ],
    },
    write: (records, recordedAt) => store.write(records, recordedAt),
  }
}
