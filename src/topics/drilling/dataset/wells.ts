import { derived, flag, month, number, optionalNumber } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { type DatasetRow, neededText, numberIn, refuse } from '../../../datasets/fields.ts'
import { daysIn } from '../../calendars/math/period.ts'
import { usStates } from '../../geography/math/us-states.ts'
import {
  apiNumberText,
  labelIn,
  nameIn,
  neededWellNumber,
  operatorName,
  optionalDay,
  optionalName,
  place,
  placeIn,
  source,
} from './well-fields.ts'

const wellColumns = {
  /** Fourteen digits. */
  apiNumber: { required: true, description: apiNumberText } as Column<string>,
  operator: operatorName(),
  name: {
    name: 'well_name',
    description: 'Name and number of the well; default: its API number',
    read: (row, field) => nameIn(row, field) ?? labelIn(row, 'api_number')!,
  } as Column<string>,
  county: optionalName('Name of the county'),
  formation: optionalName('Formation that it produces from'),
  ...place,
  permitOn: optionalDay('Day of the permit; empty: unknown', {
    name: 'permit_date',
  }),
  spudOn: optionalDay('Day on which drilling began; empty: not yet, or unknown', {
    name: 'spud_date',
  }),
  completedOn: optionalDay('Day of completion; empty: not yet, or unknown', {
    name: 'completion_date',
  }),
  firstProductionOn: optionalDay('Day of the first production; empty: not yet, or unknown', {
    name: 'first_production_date',
  }),
  source,
  state: derived<string>({ stored: 'state_code' }),
}

/** A well with the days of its life; null: not yet, or not known. */
export type Well = RecordOf<typeof wellColumns>

export const wells = dataset({
  name: 'wells',
  feature: 'well_production',
  description:
    'Wells with the milestones of each, one row for each well. Cycle times and timelines are computed from them.',
  table: 'wells',
  columns: wellColumns,
  key: ['apiNumber'],
  example:
    'api_number,operator,well_name,county,formation,latitude,longitude,permit_date,spud_date,completion_date,first_production_date\n' +
    '42-329-40001,Juniper Ridge Operating LLC,BRADFORD 14-23 UNIT 3H,Midland,Wolfcamp A,31.8637,-102.0319,2026-01-12,2026-03-20,2026-07-02,2026-07-21\n' +
    '33-053-09911,Badland Petroleum Inc.,SORENSON 5-8 2H,McKenzie,Three Forks,47.9021,-103.2214,2026-04-17,2026-08-01,,\n',
  read(row, read): Well {
    const { number, state } = neededWellNumber(row)
    return read.rest({ apiNumber: number.digits, state: state.code, ...placeIn(row, state) })
  },
})

/** Far above what a well has ever brought in a month. */
const [oilMax, gasMax, waterMax] = [10e6, 100e6, 50e6]

/** A field of the report that the table of production does not have. */
const ofUnknownWell = (description: string): Column<string | undefined> => ({
  stored: null,
  exported: null,
  description,
  read: (row, field) => nameIn(row, field),
})

const reportColumns = {
  apiNumber: { required: true, description: apiNumberText } as Column<string>,
  month: month('Month, `2026-08`; of a day, only its month counts'),
  oilBbl: optionalNumber(
    'Oil and condensate in barrels; at least one of oil, gas and water is required',
    [0, oilMax],
  ),
  gasMcf: optionalNumber('Gas in thousand cubic feet', [0, gasMax]),
  waterBbl: optionalNumber('Water in barrels', [0, waterMax]),
  daysProducing: {
    description: 'Days on which the well produced',
  } as Column<number | null>,
  operator: ofUnknownWell(
    'Name of the operator; used only if the well is not in `--dataset wells` yet',
  ),
  wellName: ofUnknownWell('Name and number of the well; used like operator'),
  county: ofUnknownWell('Name of the county; used like operator'),
  source,
  /** Two letters. */
  state: derived<string>({ stored: null }),
}

/** The production of one well in a month, and the source's name of the well; null: not reported. */
export type WellReport = RecordOf<typeof reportColumns>

export const wellProduction = dataset({
  name: 'well-production',
  feature: 'well_production',
  description:
    'Monthly production of single wells, as operators report it to their state: one row for each well and month.',
  table: 'well_production',
  columns: reportColumns,
  key: ['apiNumber', 'month'],
  example:
    'api_number,month,oil_bbl,gas_mcf,water_bbl,days_producing\n' +
    '42-329-40001-00-00,2026-07,21840,45210,61300,31\n' +
    '42-329-40001-00-00,2026-08,18975,40112,50870,31\n',
  read(row, read): WellReport {
    const { number, state } = neededWellNumber(row)
    const month = read.month()
    const volumes = { oilBbl: read.oilBbl(), gasMcf: read.gasMcf(), waterBbl: read.waterBbl() }
    if (Object.values(volumes).every(volume => volume === null)) {
      refuse(
        'oil_bbl',
        undefined,
        '',
        'write how much oil, gas or water came out; 0 where nothing did',
      )
    }
    return read.rest({
      apiNumber: number.digits,
      state: state.code,
      month,
      ...volumes,
      daysProducing: daysProducingIn(row, month),
    })
  },
})

function daysProducingIn(row: DatasetRow, month: string): number | null {
  const days = numberIn(row, 'days_producing', 0, daysIn(month))
  if (days === undefined) return null
  return Number.isInteger(days)
    ? days
    : refuse('days_producing', days, 'is not whole', `write whole days, up to ${daysIn(month)}`)
}

/** Several times the monthly production of the largest state. */
const [stateOilMax, stateGasMax, stateWaterMax] = [1e9, 1e10, 1e10]
const rightState = 'write the two letters of a state, such as TX'
const largeVolume = { leastMove: 50_000 }

const stateColumns = {
  state: {
    required: true,
    description: 'Two letters',
    stored: 'state_code',
    read(row, field) {
      const text = neededText(row, field, rightState)
      const code = text.toUpperCase()
      if (code === 'US')
        refuse(field, text, 'is the country, which is the sum of its states', rightState)
      return (
        usStates.find(usState => usState.code === code)?.code ??
        refuse(field, text, 'is not a state', rightState)
      )
    },
  } as Column<string>,
  month: month('Month, `2026-08`; of a day, only its month counts'),
  oilBbl: number('Crude oil in barrels in the whole month; 0 where there is none', [
    0,
    stateOilMax,
  ]),
  gasMcf: number('Natural gas in thousand cubic feet in the whole month; 0 where there is none', [
    0,
    stateGasMax,
  ]),
  /** Null: not reported. */
  waterBbl: optionalNumber('Water in barrels', [0, stateWaterMax]),
  /** Some operators have not filed yet. */
  provisional: flag('true until all operators have filed; default: false', false, {
    exported: "CASE t.provisional WHEN 1 THEN 'true' ELSE 'false' END",
  }),
  source,
}

export type StateMonth = RecordOf<typeof stateColumns>

export const stateProduction = dataset({
  name: 'state-production',
  feature: 'well_production',
  description:
    'Monthly production of all wells of a state, as agencies publish it. The country is computed as the sum of its states.',
  table: 'state_production',
  columns: stateColumns,
  key: ['state', 'month'],
  time: 'month',
  checks: {
    cadence: 'monthly',
    columns: { oilBbl: largeVolume, gasMcf: largeVolume, waterBbl: largeVolume },
  },
  example:
    'state,month,oil_bbl,gas_mcf,provisional,source\n' +
    'TX,2026-08,179800000,1085000000,true,EIA\n' +
    'NM,2026-08,66650000,341000000,true,EIA\n',
})
