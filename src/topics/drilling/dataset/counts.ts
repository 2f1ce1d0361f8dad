import { day, derived, number } from '../../../datasets/columns.ts'
import {
  type Column,
  type Declared,
  dataset,
  type GuardedColumn,
  type RecordOf,
} from '../../../datasets/dataset.ts'
import { type DatasetRow, neededPastDay, neededText, refuse } from '../../../datasets/fields.ts'
import {
  country,
  ducWellCode,
  fracSpreadCode,
  rigCountCode,
  rigTypeCodes,
} from '../math/drilling.ts'
import { surveyOn } from '../math/period.ts'
import {
  basin,
  count,
  countIn,
  monthIn,
  optionalCount,
  region,
  source,
  surveyMonth,
} from './fields.ts'

/** Fields of every count of a region on a day. */
export interface RegionalCount {
  region: string
  countedOn: string
  source: string
}

/** A count before the newest one, and how far counts moved. */
export interface Movement {
  previous: number | null
  change: number | null
  changePercent: number | null
  week: number | null
  /** Since the month before; null where that is missing. */
  month: number | null
  year: number | null
}

/** The fields of every event about a new count. */
export interface CountFacts {
  commodity: string
  region: string
  value: number | null
  previous_value: number | null
  change: number | null
  change_percent: number | null
  unit: string
  source: string
  report_date: string
  timestamp: string
}

/** The event of a new count of a region that has a code. */
interface CountEvent<R> {
  /** `drilling.{name}.updated`. */
  name: string
  unit: string
  data(row: R, movement: Movement, facts: CountFacts): Readonly<Record<string, unknown>>
}

/** A dataset of counts by region and day. */
export interface RegionalDataset<R extends RegionalCount = RegionalCount> extends Declared<R> {
  /** The number whose `change` is listed; absent where nothing is compared. */
  measure?(row: R): number
  /** The series of the catalogue that get a number of a row. */
  codes(row: R): readonly { code: string | undefined; value: number | null }[]
  event?: CountEvent<R>
}

/** What all counts of regions have in common. */
const byRegionAndDay = {
  feature: 'energy_intelligence',
  key: ['region', 'countedOn'],
  time: 'countedOn',
  order: 't.counted_on, t.region',
  revisions: true,
} as const

/** A count of a few rigs varies by several of them. */
const fewRigs: GuardedColumn = { leastMove: 15, mayRepeat: true }
const fewWells: GuardedColumn = { leastMove: 25 }

const rigColumns = {
  countedOn: {
    name: 'date',
    required: true,
    description:
      'Day of the count; or a month (2020-07, Jul 2020), if the numbers are means of a month',
    exported: "CASE t.span WHEN 'month' THEN substr(t.counted_on, 1, 7) ELSE t.counted_on END",
    written: (countedOn, { span }) => (span === 'month' ? countedOn.slice(0, 7) : countedOn),
  } as Column<string>,
  region: region(country),
  oil: optionalCount(
    'oil',
    'Rigs that drill for oil; give all of oil, gas and misc, or none of them',
  ),
  gas: optionalCount('gas', 'Rigs that drill for gas'),
  misc: optionalCount('misc', 'All other rigs'),
  total: {
    description: 'All rigs; required without oil, gas and misc, otherwise their sum',
    isCount: true,
  } as Column<number>,
  source,
  /** `month`: the mean of a month's counts, dated in its middle. */
  span: derived<'week' | 'month'>(),
}

/** Active rotary rigs of a region on a day; oil, gas and misc are null together. */
export type RigCount = RecordOf<typeof rigColumns>

export const rigCounts: RegionalDataset<RigCount> = {
  ...dataset({
    name: 'rig-counts',
    ...byRegionAndDay,
    description:
      'Active rotary rigs by week and region: the country, its basins and its states, and what they drill for, if the source says so. Monthly averages of the Energy Information Administration (EIA) can be imported too, and are dated in the middle of their month. Series of the catalogue with the same numbers are updated from the weekly counts.',
    table: 'rig_counts',
    columns: rigColumns,
    checks: {
      cadence: 'weekly',
      columns: { total: fewRigs, oil: fewRigs, gas: fewRigs, misc: fewRigs },
    },
    example:
      'date,region,oil,gas,misc,source\n2026-11-13,US,411,126,6,Rig survey\n2026-11-13,permian,244,3,1,Rig survey\n',
    read: (row, read, { now }): RigCount => read.rest({ ...dateIn(row, now), ...countsIn(row) }),
  }),
  measure: row => row.total,
  codes(row) {
    // The mean of a month is not a count of a week, and the series are of weeks.
    if (row.span === 'month') return []
    const total = { code: rigCountCode(row.region), value: row.total }
    if (row.region !== country) return [total]
    return [
      total,
      ...(['oil', 'gas', 'misc'] as const).map(type => ({
        code: rigTypeCodes[type],
        value: row[type],
      })),
    ]
  },
  event: {
    name: 'rig_count',
    unit: 'rigs',
    data: (row, { week, year }, { report_date, timestamp, ...facts }) => ({
      ...facts,
      breakdown: { oil_rigs: row.oil, gas_rigs: row.gas, misc_rigs: row.misc },
      rig_count: row.total,
      oil_rigs: row.oil,
      gas_rigs: row.gas,
      change_from_prior_week: week,
      change_from_prior_year: year,
      report_date,
      timestamp,
    }),
  },
}

function dateIn(row: DatasetRow, now: number): Pick<RigCount, 'countedOn' | 'span'> {
  const month = monthIn(
    neededText(row, 'date', 'write a day, such as 2026-11-13, or a month, such as 2020-07'),
    now,
  )
  if (month !== undefined) return { countedOn: surveyOn(month), span: 'month' }
  return { countedOn: neededPastDay(row, 'date', now), span: 'week' }
}

function countsIn(row: DatasetRow): Pick<RigCount, 'total' | 'oil' | 'gas' | 'misc'> {
  const [oil, gas, misc, total] = ['oil', 'gas', 'misc', 'total'].map(field => countIn(row, field))
  if (oil === undefined && gas === undefined && misc === undefined) {
    if (total === undefined)
      refuse('total', undefined, '', 'write the number of rigs, or oil, gas and misc')
    return { total, oil: null, gas: null, misc: null }
  }
  const right = 'write all of oil, gas and misc, 0 for none'
  if (oil === undefined) refuse('oil', undefined, '', right)
  if (gas === undefined) refuse('gas', undefined, '', right)
  if (misc === undefined) refuse('misc', undefined, '', right)
  const sum = oil + gas + misc
  if (total !== undefined && total !== sum)
    refuse(
      'total',
      total,
      `is not the sum of oil, gas and misc (${sum})`,
      'check which column is which',
    )
  return { total: sum, oil, gas, misc }
}

const fracColumns = {
  countedOn: day('Day of the count', { name: 'date' }),
  region: region(),
  active: count('active_spreads', 'Active crews'),
  source,
}

/** Active hydraulic fracturing crews of a region on a day. */
export type FracSpreads = RecordOf<typeof fracColumns>

export const fracSpreads: RegionalDataset<FracSpreads> = {
  ...dataset({
    name: 'frac-spreads',
    ...byRegionAndDay,
    description:
      'Active hydraulic fracturing crews by day (or week) and region: one row for each, or one row for each day with a column for each region. Series of the catalogue with the same numbers are updated too.',
    table: 'frac_spreads',
    columns: fracColumns,
    wide: { name: 'region', value: 'active' },
    checks: { cadence: 'weekly', columns: { active: fewRigs } },
    example:
      'date,region,active_spreads,source\n2026-11-13,US,198,Crew survey\n2026-11-13,permian,92,Crew survey\n',
  }),
  measure: row => row.active,
  codes: row => [{ code: fracSpreadCode(row.region), value: row.active }],
  event: {
    name: 'frac_spread',
    unit: 'frac_spreads',
    data: (row, { week }, { report_date, timestamp, ...facts }) => ({
      ...facts,
      frac_spreads_count: row.active,
      change_from_prior_week: week,
      report_date,
      timestamp,
    }),
  },
}

const ducColumns = {
  countedOn: surveyMonth,
  region: region(),
  duc: count('duc_count', 'Wells that are drilled but not completed'),
  drilled: optionalCount('wells_drilled', 'Wells drilled in the month'),
  completed: optionalCount('completions', 'Wells completed in the month'),
  source,
}

/** Drilled but uncompleted wells of a region in a month, which is dated in its middle. */
export type DucWells = RecordOf<typeof ducColumns>

export const ducWells: RegionalDataset<DucWells> = {
  ...dataset({
    name: 'duc-wells',
    ...byRegionAndDay,
    description:
      'Drilled but uncompleted (DUC) wells by month and region, with the wells drilled and completed in the month, as the Energy Information Administration (EIA) publishes them. Series of the catalogue with the same numbers are updated too.',
    table: 'duc_wells',
    columns: ducColumns,
    checks: {
      cadence: 'monthly',
      columns: { duc: fewWells, drilled: fewWells, completed: fewWells },
    },
    example:
      'month,region,duc_count,wells_drilled,completions\n2026-10,US,5230,868,812\n2026-10,permian,890,401,398\n',
  }),
  measure: row => row.duc,
  codes: row => [{ code: ducWellCode(row.region), value: row.duc }],
  event: {
    name: 'duc_well',
    unit: 'wells',
    data: (row, { month }, facts) => ({
      commodity: facts.commodity,
      region: facts.region,
      value: facts.value,
      duc_count: row.duc,
      previous_value: facts.previous_value,
      change: facts.change,
      change_percent: facts.change_percent,
      change_from_prior_month: month,
      completions_this_month: row.completed,
      unit: facts.unit,
      report_date: facts.report_date,
      source: facts.source,
      timestamp: facts.timestamp,
    }),
  },
}

const dailyMax = 1e9
const oilMove: GuardedColumn = { leastMove: 50 }
const legacyMove: GuardedColumn = { leastMove: 5000, mayCross: true }
const totalMove: GuardedColumn = { leastMove: 1000 }
const perDay = (name: string, description: string, min = 0) =>
  number(description, [min, dailyMax], { name })

const productivityColumns = {
  countedOn: surveyMonth,
  region: basin,
  rigs: count('rig_count', 'Rigs active in the month'),
  newWellOil: perDay('new_well_oil_production', 'Oil from new wells per rig, in barrels per day'),
  newWellGas: perDay(
    'new_well_gas_production',
    'Gas from new wells per rig, in thousand cubic feet per day',
  ),
  legacyOil: perDay(
    'legacy_oil_change',
    'Change in oil from older wells since the month before, in barrels per day',
    -dailyMax,
  ),
  legacyGas: perDay(
    'legacy_gas_change',
    'Change in gas from older wells since the month before, in thousand cubic feet per day',
    -dailyMax,
  ),
  totalOil: perDay('total_oil_bpd', 'Oil from all wells, in barrels per day'),
  totalGas: perDay('total_gas_mcfd', 'Gas from all wells, in thousand cubic feet per day'),
  source,
}

/** Drilling productivity of a basin in a month: barrels and thousand cubic feet a day. */
export type Productivity = RecordOf<typeof productivityColumns>

/** No series of the catalogue is about these. */
export const drillingProductivity: RegionalDataset<Productivity> = {
  ...dataset({
    name: 'drilling-productivity',
    ...byRegionAndDay,
    description:
      'Drilling productivity by month and basin, with the columns of the report of the Energy Information Administration (EIA): rigs, production from new wells, change in older wells, and total production.',
    table: 'drilling_productivities',
    columns: productivityColumns,
    checks: {
      cadence: 'monthly',
      columns: {
        rigs: fewRigs,
        newWellOil: oilMove,
        newWellGas: oilMove,
        legacyOil: legacyMove,
        legacyGas: legacyMove,
        totalOil: totalMove,
        totalGas: totalMove,
      },
    },
    example:
      'month,basin,rig_count,new_well_oil_production,new_well_gas_production,legacy_oil_change,legacy_gas_change,total_oil_bpd,total_gas_mcfd\n' +
      '2026-10,permian,251,1410,2650,-348200,-642800,6550000,27500000\n' +
      '2026-10,Eagle Ford,44,1480,5600,-62100,-241300,1120000,6900000\n',
  }),
  codes: () => [],
}

/** The counts of regions: each is stored, listed and exported alike. */
export const regionalDatasets: readonly RegionalDataset[] = [
  rigCounts,
  fracSpreads,
  ducWells,
  drillingProductivity,
]
