import { t } from '../../../http/answer/schema.ts'
import { monthAfter } from '../../calendars/math/period.ts'
import { type EnergyCall, energy } from '../../energy/operations/frame.ts'
import { drillingProductivity, type Productivity } from '../dataset/counts.ts'
import { surveyOn } from '../math/period.ts'
import type { Numbered } from '../store/regional.ts'
import { Age, ageOf } from './answer.ts'
import {
  Basin,
  Month,
  ProductivityRecord,
  productivityList,
  productivityRecords,
  productivityTrends,
  SurveyDay,
} from './productivity-row.ts'
import {
  newestOn,
  type RegionalFamily,
  recordsOn,
  regionalList,
  regionalRecord,
} from './regional.ts'
import { ducWellFamily } from './regional-counts.ts'

const Latest = t.object('LatestDrillingProductivity', {
  month: Month,
  basins: t.Array(ProductivityRecord),
  ...Age,
})
const Summary = t.object('DrillingProductivitySummary', {
  total_new_well_oil: t.number(
    'Barrels a day of all new wells: per rig times rigs, over all basins.',
    531000,
  ),
  total_new_well_gas: t.number('Thousand cubic feet a day, in the same way.', 2740000),
  total_duc_wells: t.integerOrNull(
    'Over the basins of the month, so without the wells outside of them, which `us_total` of `GET /v1/ei/duc_wells/latest` has too; null if there are none for the month.',
    4365,
  ),
  as_of_date: SurveyDay,
})
const DucRow = t.object('BasinDucWells', {
  basin: Basin,
  duc_count: t.integer({ examples: [890] }),
  change: t.integerOrNull('Against the month before.', 3),
  date: SurveyDay,
})
const TrendRow = t.object('DrillingProductivityTrend', {
  basin: Basin,
  metric: t.Union(
    [
      t.Literal('new_well_oil_production'),
      t.Literal('new_well_gas_production'),
      t.Literal('total_oil_bpd'),
      t.Literal('total_gas_mcfd'),
      t.Literal('duc_count'),
    ],
    { examples: ['total_oil_bpd'] },
  ),
  trend: t.oneOf(['up', 'down', 'flat']),
  change_percent: t.orNull(t.Number({ examples: [1.42] })),
})

const published = 'Published about the 15th of the month.'
const trendMonths = 3

const family: RegionalFamily<Productivity> = {
  dataset: drillingProductivity,
  regions: productivityList,
  calendar: 'month',
  subject: 'drilling productivities',
}

const newestMonth = (call: EnergyCall) => newestOn(family, call, family.regions)

const shape = (rows: readonly Numbered<Productivity>[], { at }: EnergyCall) =>
  productivityRecords(rows, at.drilling.duc)

/** Records of a month, in the order of the basins. */
const recordsOfMonth = (call: EnergyCall, day: string) =>
  shape(
    recordsOn(family, call, day).toSorted(
      (a, b) => productivityList.indexOf(a.region) - productivityList.indexOf(b.region),
    ),
    call,
  )

export const productivityOperations = [
  energy.record({
    path: '/v1/ei/drilling_productivities/latest',
    operationId: 'getLatestDrillingProductivity',
    summary: 'Get the latest drilling productivity',
    description: `Returns every basin in the newest month. ${published}`,
    view: 'as_of',
    title: 'LatestDrillingProductivities',
    data: Latest,
    handle(call) {
      const day = newestMonth(call)
      return {
        month: day.slice(0, 7),
        basins: recordsOfMonth(call, day),
        ...ageOf('month', day, call.at.now()),
      }
    },
  }),
  energy.record({
    path: '/v1/ei/drilling_productivities/summary',
    operationId: 'getDrillingProductivitySummary',
    summary: 'Get drilling productivity totals of the latest month',
    description: `Returns the production of all new wells of the newest month: production per rig times the rigs of the month, added over the basins. ${published}`,
    view: 'as_of',
    title: 'DrillingProductivityTotals',
    data: Summary,
    handle(call) {
      const day = newestMonth(call)
      const rows = recordsOfMonth(call, day)
      const wells = rows.flatMap(row => row.duc_count ?? [])
      const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
      return {
        total_new_well_oil: sum(rows.map(row => row.new_well_oil_production * row.rig_count)),
        total_new_well_gas: sum(rows.map(row => row.new_well_gas_production * row.rig_count)),
        total_duc_wells: wells.length === 0 ? null : sum(wells),
        as_of_date: day,
      }
    },
  }),
  energy.wholeList({
    path: '/v1/ei/drilling_productivities/by_basin',
    operationId: 'listDrillingProductivityByBasin',
    summary: 'List the latest drilling productivity by basin',
    description: `Returns the record of each basin in the newest month. ${published}`,
    view: 'as_of',
    title: 'DrillingProductivityByBasin',
    row: ProductivityRecord,
    handle: call => recordsOfMonth(call, newestMonth(call)),
  }),
  energy.wholeList({
    path: '/v1/ei/drilling_productivities/duc_wells',
    operationId: 'listDucWellsByBasin',
    summary: 'List drilled but uncompleted wells by basin',
    description: `Returns drilled but uncompleted wells in the newest month, largest first. ${published}`,
    view: 'as_of',
    title: 'DucWellsByBasin',
    row: DucRow,
    handle(call) {
      const day = newestOn(ducWellFamily, call, productivityList)
      const largest = recordsOn(ducWellFamily, call, day).toSorted((a, b) => b.duc - a.duc)
      return largest.map(row => ({
        basin: row.region,
        duc_count: row.duc,
        change: row.change ?? null,
        date: day,
      }))
    },
  }),
  energy.wholeList({
    path: '/v1/ei/drilling_productivities/trends',
    operationId: 'listDrillingProductivityTrends',
    summary: 'List drilling productivity trends',
    description:
      'Returns the trend of each metric of each basin, the newest month against three months before: `up` or `down` when it moved by more than one percent, `flat` otherwise. Basins without a record of both months are left out.',
    view: 'as_of',
    title: 'DrillingProductivityTrends',
    row: TrendRow,
    handle(call) {
      const day = newestMonth(call)
      const before = recordsOfMonth(call, surveyOn(monthAfter(day.slice(0, 7), -trendMonths)))
      return recordsOfMonth(call, day).flatMap(row => {
        const earlier = before.find(record => record.basin === row.basin)
        return earlier ? productivityTrends(row.basin, earlier, row) : []
      })
    },
  }),
  regionalList(family, {
    path: '/v1/ei/drilling_productivities',
    operationId: 'listDrillingProductivities',
    summary: 'List drilling productivity by basin and month',
    description: `Returns production of new wells, decline of older wells and total production, newest month first. ${published} Numbers run from 1 in chronological order.`,
    title: 'DrillingProductivities',
    row: ProductivityRecord,
    shape,
  }),
  regionalList(family, {
    path: '/v1/ei/drilling_productivities/historical',
    operationId: 'getDrillingProductivityHistory',
    summary: 'List historical drilling productivity',
    description: `Returns drilling productivity, newest first, for all basins or one. ${published}`,
    title: 'DrillingProductivityHistory',
    row: ProductivityRecord,
    shape,
  }),
  regionalRecord(family, {
    path: '/v1/ei/drilling_productivities/:id',
    operationId: 'getDrillingProductivity',
    summary: 'Get a drilling productivity record',
    description:
      'Returns the record of a basin and month by its number. Numbers run from 1 in chronological order, within a month by name.',
    subject: 'drilling productivity record',
    title: 'OneDrillingProductivity',
    data: ProductivityRecord,
    shape: (row, call) => shape([row], call)[0]!,
  }),
]
