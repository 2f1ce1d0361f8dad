import { t } from '../../../http/answer/schema.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { StateMonth } from '../dataset/wells.ts'
import { oilEquivalent, perDay } from '../math/well-production.ts'
import type { NationalMonth } from '../store/state-production.ts'
import type { WellMonthRow } from '../store/well-production.ts'

export const Month = t.string('Month, `YYYY-MM`.', '2026-08')
const boeText = 'Barrels of oil equivalent: oil and a sixth of the thousand cubic feet of gas.'

export const ProductionRecord = t.object('ProductionMonth', {
  period: Month,
  oil_bbl: t.numberOrNull('Oil and condensate of the month in barrels; null: not reported.', 18975),
  gas_mcf: t.numberOrNull('Gas in thousand cubic feet.', 40112),
  water_bbl: t.numberOrNull('Water in barrels.', 50870),
  boe: t.numberOrNull(boeText, 25660.3),
  days_producing: t.integerOrNull(
    'Days on which the well produced; null of more than one well.',
    31,
  ),
  source: t.string('Who reported it.', 'import'),
})

export const StateRow = t.object('StateProduction', {
  state: t.string('Two letters.', 'TX'),
  period: Month,
  oil_bbl: t.number('Oil and condensate of the month in barrels.', 179_800_000),
  oil_bpd: t.number('The same in barrels a day.', 5_800_000),
  gas_mcf: t.number('Gas of the month in thousand cubic feet.', 1_085_000_000),
  boe: t.number(boeText, 360_633_333.3),
})

export const State = t.String({ examples: ['TX'] })
export const Span = t.Object({ start: Month, end: Month }, { description: 'First and last month.' })
const Source = t.string('Source; `none` without data.', 'EIA')

export const Overview = t.object('WellProductionOverview', {
  national: t.orNull(
    ProductionRecord,
    'Newest month of the country: the sum of `states_with_data` that have it. Federal waters belong to no state.',
  ),
  top_states: t.Array(StateRow, {
    description: 'States with the most oil in that month, at most ten.',
  }),
  data_sources: t.Object({
    state_aggregates: Source,
    well_level: Source,
    well_level_states: t.Array(State, {
      description: 'States with data for single wells.',
    }),
    national_rollup: t.String({ examples: ['Sum of the state aggregates'] }),
  }),
  coverage: t.Object({
    states_with_data: t.Array(State),
    well_level_states_with_data: t.Array(State),
    latest_period: t.orNull(Month),
    total_records: t.integer('Number of stored months of states and of wells.', 61_240),
    data_age_days: t.integerOrNull('Days since the end of `latest_period`.', 80),
    stale: t.boolean('The month after `latest_period` is more than two weeks overdue.'),
  }),
  data_available: t.boolean('Whether there is a national month.'),
  provisional: t.boolean(
    'Filings of the newest national month are still coming in: its numbers will be revised.',
  ),
})

const Reason = t.oneOf(['unknown_state_prefix', 'state_not_covered', 'well_not_in_source'])
const missing = {
  reason: Reason,
  state: t.orNull(State),
  source: t.orNull(t.String({ examples: ['import'] })),
}
export const MissingWellProblem = t.Object(
  {
    ...missing,
    error: t.Object(
      { code: t.Literal('DATA_NOT_AVAILABLE'), message: t.String(), ...missing },
      { additionalProperties: true },
    ),
  },
  { title: 'MissingWellProblem', additionalProperties: true },
)

export const TopWell = t.object('TopProducer', {
  rank: t.integer({ examples: [1] }),
  api_number: t.String({ examples: ['42329400010000'] }),
  operator: t.String({ examples: ['Juniper Ridge Operating, LLC'] }),
  well_name: t.String({ examples: ['BRADFORD 14 3H'] }),
  total_oil_bbl: t.Number({ examples: [241_870] }),
  total_gas_mcf: t.Number({ examples: [512_400] }),
  months_producing: t.integer('Months of the span with oil or gas production.', 12),
})

const [volumeDecimals, boeDecimals] = [2, 1]
const volume = (value: number | null) => (value === null ? null : roundTo(value, volumeDecimals))

const boeOf = (oilBbl: number | null, gasMcf: number | null): number | null => {
  const boe = oilEquivalent(oilBbl, gasMcf)
  return boe === undefined ? null : roundTo(boe, boeDecimals)
}

interface Produced {
  month: string
  oilBbl: number | null
  gasMcf: number | null
  waterBbl: number | null
}

const recordOf = (
  { month, oilBbl, gasMcf, waterBbl }: Produced,
  days: number | null,
  source: string,
) => ({
  period: month,
  oil_bbl: volume(oilBbl),
  gas_mcf: volume(gasMcf),
  water_bbl: volume(waterBbl),
  boe: boeOf(oilBbl, gasMcf),
  days_producing: days,
  source,
})

export const wellRecord = (row: WellMonthRow) => recordOf(row, row.daysProducing, row.source)
export const stateRecord = (row: StateMonth) => recordOf(row, null, row.source)
export const nationalRecord = (row: NationalMonth) => recordOf(row, null, row.sources.join(', '))

export const stateRow = ({ state, month, oilBbl, gasMcf }: StateMonth) => ({
  state,
  period: month,
  oil_bbl: roundTo(oilBbl, volumeDecimals),
  oil_bpd: roundTo(perDay(oilBbl, month), 0),
  gas_mcf: roundTo(gasMcf, volumeDecimals),
  boe: boeOf(oilBbl, gasMcf)!,
})
