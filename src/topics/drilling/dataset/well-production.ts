import type { WriteCounts } from '../../../database/write-counts.ts'
import {
  checked,
  type DatasetRow,
  neededMonth,
  numberIn,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import { daysIn } from '../../calendars/math/period.ts'
import type { WellReport } from '../store/well-production.ts'
import { apiNumberText, nameIn, sourceColumn } from './well-fields.ts'
import { neededWellNumber } from './well-number.ts'

export interface WellMonthWriter {
  /** Names are used only for a well that is not stored yet. */
  record(reports: readonly WellReport[], recordedAt: number): WriteCounts
}

/** Far above what a well has ever brought in a month. */
const [oilMax, gasMax, waterMax] = [10e6, 100e6, 50e6]

const optional = (name: string, description: string) => ({ name, required: false, description })

export function createWellProductionDataset(production: WellMonthWriter): Dataset<WellReport> {
  return {
    name: 'well-production',
    description:
      'What single wells produced in a month, as operators report it to their state: one row for each well and month.',
    columns: [
      { name: 'api_number', required: true, description: apiNumberText },
      {
        name: 'month',
        required: true,
        description: 'Month, `2026-08`; a day stands for its month',
      },
      optional('oil_bbl', 'Oil and condensate in barrels; one of oil, gas and water is needed'),
      optional('gas_mcf', 'Gas in thousand cubic feet'),
      optional('water_bbl', 'Water in barrels'),
      optional('days_producing', 'Days on which the well produced'),
      optional(
        'operator',
        'Name of the operator; counts where the well is not known yet (`--dataset wells`)',
      ),
      optional('well_name', 'Name and number of the well; the same'),
      optional('county', 'Name of the county; the same'),
      sourceColumn,
    ],
    example:
      'api_number,month,oil_bbl,gas_mcf,water_bbl,days_producing\n' +
      '42-329-40001-00-00,2026-07,21840,45210,61300,31\n' +
      '42-329-40001-00-00,2026-08,18975,40112,50870,31\n',
    key: ['api_number', 'month'],
    check: (row, now) => checked(() => reportIn(row, now)),
    write: (records, recordedAt) => production.record(records, recordedAt),
  }
}

function reportIn(row: DatasetRow, now: number): WellReport {
  const { number, state } = neededWellNumber(row)
  const month = neededMonth(row, 'month', now)
  const [oil, gas] = [numberIn(row, 'oil_bbl', 0, oilMax), numberIn(row, 'gas_mcf', 0, gasMax)]
  const water = numberIn(row, 'water_bbl', 0, waterMax)
  if (oil === undefined && gas === undefined && water === undefined) {
    refuse(
      'oil_bbl',
      undefined,
      '',
      'write how much oil, gas or water came out; 0 where nothing did',
    )
  }
  return {
    apiNumber: number.digits,
    state: state.code,
    month,
    oilBbl: oil ?? null,
    gasMcf: gas ?? null,
    waterBbl: water ?? null,
    daysProducing: daysProducingIn(row, month),
    source: textIn(row, 'source', 40) ?? 'import',
    operator: nameIn(row, 'operator'),
    wellName: nameIn(row, 'well_name'),
    county: nameIn(row, 'county'),
  }
}

function daysProducingIn(row: DatasetRow, month: string): number | null {
  const days = numberIn(row, 'days_producing', 0, daysIn(month))
  if (days === undefined) return null
  return Number.isInteger(days)
    ? days
    : refuse('days_producing', days, 'is not whole', `write whole days, up to ${daysIn(month)}`)
}
