import { scaled } from '../../../datasets/cell.ts'
import { month, number, part, text, textOr } from '../../../datasets/columns.ts'
import { dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { neededNumber, refuse } from '../../../datasets/fields.ts'
import { opecCountry } from '../math/opec.ts'
import { sizeIn } from './units.ts'

/** Barrels a day in one of these; TBPD is how the agency abbreviates its own. */
const units: ReadonlyMap<string, number> = new Map([
  ['barrels_per_day', 1],
  ['thousand_barrels_per_day', 1e3],
  ['tbpd', 1e3],
  ['million_barrels_per_day', 1e6],
])
const bpdMax = 20e6

const columns = {
  country: text('Name of the country', 'write the name of a country', 60),
  month: month('Month, `2026-10`; of a day, only its month counts'),
  /** Barrels a day. */
  bpd: number('Crude oil production per day, as the mean of the month', [0, 1e9], {
    name: 'production',
  }),
  unit: part(
    'thousand_barrels_per_day (also TBPD), million_barrels_per_day or barrels_per_day',
    "'barrels_per_day'",
    { required: true },
  ),
  source: textOr('import', 'Source of the production; default: import'),
}

/** Crude oil that a country produced in a month. */
export type OpecProduction = RecordOf<typeof columns>

export const opecProductions = dataset({
  name: 'opec-productions',
  feature: 'energy_intelligence',
  description:
    'Crude oil production of the OPEC countries by month, as the organization and the Energy Information Administration publish it.',
  table: 'opec_productions',
  columns,
  key: ['country', 'month'],
  time: 'month',
  numberedBy: 'month',
  order: 't.id',
  revisions: true,
  checks: { cadence: 'monthly', columns: { bpd: { leastMove: 100_000 } } },
  example:
    'country,month,production,unit,source\nSaudi Arabia,2026-10,9100,thousand_barrels_per_day,EIA\nIraq,2026-10,4150,thousand_barrels_per_day,EIA\n',
  read(row, read): OpecProduction {
    const { unit, size } = sizeIn(row, units, 'thousand_barrels_per_day')
    const amount = neededNumber(row, 'production', 0, 1e9)
    const bpd = Math.round(scaled(amount, size))
    if (bpd > bpdMax)
      refuse(
        'production',
        amount,
        `${unit} is outside the accepted range for one country`,
        'check the unit',
      )
    return read.rest({ country: opecCountry(read.country()), bpd })
  },
})
