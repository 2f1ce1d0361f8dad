import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import type { Answering } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { knownQuery } from '../../../http/operations/point-in-time.ts'
import { notFound } from '../../../http/problem/problem.ts'
import { monthAfter } from '../../calendars/math/period.ts'
import { daysOf, markSources, orNull, requireData } from '../../energy/operations/answer.ts'
import {
  energyAccess,
  energyBody,
  energyPageQuery,
  energyRefusals,
} from '../../energy/operations/frame.ts'
import {
  energyPage,
  energyRecord,
  energyWholeList,
  rangeQuery,
  recordIdOf,
} from '../../energy/operations/list.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { surveyOn } from '../math/period.ts'
import type { Productivity } from '../store/productivities.ts'
import type { Numbered } from '../store/regional.ts'
import { Age, ageOf, basinQuery, type DrillingAnswerDeps, requestedBasins } from './answer.ts'
import {
  Basin,
  ducReader,
  Month,
  ProductivityRecord,
  productivityList,
  productivityRecord,
  productivityTrends,
  SurveyDay,
} from './productivity-row.ts'

const Latest = t.Object(
  { month: Month, basins: t.Array(ProductivityRecord), ...Age },
  { title: 'LatestDrillingProductivity' },
)
const Summary = t.Object(
  {
    total_new_well_oil: t.Number({
      description: 'Barrels a day of all new wells: per rig times rigs, over all basins.',
      examples: [531000],
    }),
    total_new_well_gas: t.Number({
      description: 'Thousand cubic feet a day, in the same way.',
      examples: [2740000],
    }),
    total_duc_wells: orNull(
      integer({ examples: [4365] }),
      'Over the basins of the month; null where their survey has none of it.',
    ),
    as_of_date: SurveyDay,
  },
  { title: 'DrillingProductivitySummary' },
)
const DucRow = t.Object(
  {
    basin: Basin,
    duc_count: integer({ examples: [890] }),
    change: orNull(integer({ examples: [3] }), 'Against the month before.'),
    date: SurveyDay,
  },
  { title: 'BasinDucWells' },
)
const TrendRow = t.Object(
  {
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
    trend: t.Union([t.Literal('up'), t.Literal('down'), t.Literal('flat')]),
    change_percent: orNull(t.Number({ examples: [1.42] })),
  },
  { title: 'DrillingProductivityTrend' },
)

const published = 'Published about the 15th of the month.'
const trendMonths = 3

type Query = {
  page?: string
  per_page?: string
  start_date?: string
  end_date?: string
  basin?: string
}

/** What the answers have in common. */
function createProductivityAnswers(deps: DrillingAnswerDeps) {
  const { productivity, duc } = deps.drilling
  const tier = () => deps.tierRequired('energy_intelligence')
  const newestOn = () =>
    requireData(
      productivity.newestOn(productivityList),
      'drilling productivities',
      'drilling-productivity',
    )

  const on = (day: string): Numbered<Productivity>[] =>
    productivity.page(
      productivityList,
      { fromOn: day, toOn: dayAfter(day, 1) },
      productivityList.length,
      0,
    )

  /** Records of a month, in the order of the basins. */
  const records = (day: string, set: Answering) => {
    const ducOf = ducReader(duc)
    const rows = on(day).toSorted(
      (a, b) => productivityList.indexOf(a.region) - productivityList.indexOf(b.region),
    )
    markSources(set, deps.marks, rows)
    return rows.map(row => productivityRecord(row, ducOf))
  }

  const listed = (query: Query, set: Answering, request: Request) => {
    const filter = { ...daysOf(query), regions: requestedBasins({ basin: query.basin }) }
    const ducOf = ducReader(duc)
    const total = productivity.count(productivityList, filter)
    const rows = (limit: number, offset: number) => {
      const page = productivity.page(productivityList, filter, limit, offset)
      markSources(set, deps.marks, page)
      return page
    }
    return energyPage(query, { set, request, tierRequired: tier() }, { total, rows }, row =>
      productivityRecord(row, ducOf),
    )
  }
  return { productivity, duc, tier, newestOn, records, listed }
}

/** What drilling brings by basin and month. */
export const productivityOperations = (deps: DrillingAnswerDeps) => [
  ...newestMonthOperations(deps),
  ...comparisonOperations(deps),
  ...pastMonthOperations(deps),
]

function newestMonthOperations(deps: DrillingAnswerDeps) {
  const { tier, newestOn, records } = createProductivityAnswers(deps)
  return [
    operation({
      method: 'GET',
      path: '/v1/ei/drilling_productivities/latest',
      aliases: ['/v1/dark_data/drilling_productivities/latest'],
      operationId: 'getLatestDrillingProductivity',
      summary: 'Newest drilling productivity',
      description: `Every basin in the newest month. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: { 200: energyBody(Latest, 'LatestDrillingProductivities'), ...energyRefusals },
      handle: ({ reply }) => {
        const day = newestOn()
        return energyRecord(
          {
            month: day.slice(0, 7),
            basins: records(day, reply),
            ...ageOf('month', day, deps.now()),
          },
          tier(),
        )
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/drilling_productivities/summary',
      aliases: ['/v1/dark_data/drilling_productivities/summary'],
      operationId: 'getDrillingProductivitySummary',
      summary: 'Totals of the newest month',
      description: `What all new wells of the newest month bring: production per rig times the rigs of the month, added over the basins. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: { 200: energyBody(Summary, 'DrillingProductivityTotals'), ...energyRefusals },
      handle: ({ reply }) => {
        const day = newestOn()
        const rows = records(day, reply)
        const wells = rows.flatMap(row => row.duc_count ?? [])
        const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
        const data = {
          total_new_well_oil: sum(rows.map(row => row.new_well_oil_production * row.rig_count)),
          total_new_well_gas: sum(rows.map(row => row.new_well_gas_production * row.rig_count)),
          total_duc_wells: wells.length === 0 ? null : sum(wells),
          as_of_date: day,
        }
        return energyRecord(data, tier())
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/drilling_productivities/by_basin',
      aliases: ['/v1/dark_data/drilling_productivities/by_basin'],
      operationId: 'listDrillingProductivityByBasin',
      summary: 'Newest drilling productivity by basin',
      description: `The record of each basin in the newest month. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: {
        200: energyBody(t.Array(ProductivityRecord), 'DrillingProductivityByBasin'),
        ...energyRefusals,
      },
      handle: ({ reply }) => energyWholeList(records(newestOn(), reply), tier()),
    }),
  ]
}

function comparisonOperations(deps: DrillingAnswerDeps) {
  const { duc, tier, newestOn, records } = createProductivityAnswers(deps)
  return [
    operation({
      method: 'GET',
      path: '/v1/ei/drilling_productivities/duc_wells',
      aliases: ['/v1/dark_data/drilling_productivities/duc_wells'],
      operationId: 'listDucWellsByBasin',
      summary: 'Drilled but uncompleted wells by basin',
      description: `Wells that are drilled and wait for completion, in the newest month, largest first. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: { 200: energyBody(t.Array(DucRow), 'DucWellsByBasin'), ...energyRefusals },
      handle: ({ reply }) => {
        const day = requireData(
          duc.newestOn(productivityList),
          'drilled but uncompleted wells',
          'duc-wells',
        )
        const rows = duc.page(
          productivityList,
          { fromOn: day, toOn: dayAfter(day, 1) },
          productivityList.length,
          0,
        )
        markSources(reply, deps.marks, rows)
        const largest = rows.toSorted((a, b) => b.duc - a.duc)
        const data = largest.map(row => ({
          basin: row.region,
          duc_count: row.duc,
          change: row.change ?? null,
          date: day,
        }))
        return energyWholeList(data, tier())
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/drilling_productivities/trends',
      aliases: ['/v1/dark_data/drilling_productivities/trends'],
      operationId: 'listDrillingProductivityTrends',
      summary: 'Trends of drilling productivity',
      description:
        'Each metric of each basin in the newest month against three months before: `up` or `down` when it moved by more than one percent, `flat` otherwise. Basins without a record of both months are left out.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: {
        200: energyBody(t.Array(TrendRow), 'DrillingProductivityTrends'),
        ...energyRefusals,
      },
      handle: ({ reply }) => {
        const day = newestOn()
        const before = records(surveyOn(monthAfter(day.slice(0, 7), -trendMonths)), reply)
        const now = records(day, reply)
        const data = now.flatMap(row => {
          const earlier = before.find(record => record.basin === row.basin)
          return earlier ? productivityTrends(row.basin, earlier, row) : []
        })
        return energyWholeList(data, tier())
      },
    }),
  ]
}

function pastMonthOperations(deps: DrillingAnswerDeps) {
  const { productivity, duc, tier, listed } = createProductivityAnswers(deps)
  const listQuery = t.Object({ ...energyPageQuery, ...rangeQuery, ...basinQuery, ...knownQuery })
  return [
    operation({
      method: 'GET',
      path: '/v1/ei/drilling_productivities',
      aliases: ['/v1/dark_data/drilling_productivities'],
      operationId: 'listDrillingProductivities',
      summary: 'Drilling productivity by basin and month',
      description: `What new wells bring, what older ones lose and what all give, newest month first. ${published} Numbers run from 1 in chronological order.`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: listQuery.properties,
      answers: {
        200: energyBody(t.Array(ProductivityRecord), 'DrillingProductivities'),
        ...energyRefusals,
      },
      handle: ({ query, reply, request }) => listed(query, reply, request),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/drilling_productivities/historical',
      aliases: ['/v1/dark_data/drilling_productivities/historical'],
      operationId: 'getDrillingProductivityHistory',
      summary: 'Drilling productivity of the past',
      description: `The same records, newest first; one basin with \`basin\`. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: listQuery.properties,
      answers: {
        200: energyBody(t.Array(ProductivityRecord), 'DrillingProductivityHistory'),
        ...energyRefusals,
      },
      handle: ({ query, reply, request }) => listed(query, reply, request),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/drilling_productivities/:id',
      aliases: ['/v1/dark_data/drilling_productivities/:id'],
      operationId: 'getDrillingProductivity',
      summary: 'One record of drilling productivity',
      description:
        'A basin and month by its number. Numbers run from 1 in chronological order, within a month by name.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      params: {
        id: t.String({ description: 'Number of the record.', examples: ['1'] }),
      },
      answers: {
        200: energyBody(ProductivityRecord, 'OneDrillingProductivity'),
        ...energyRefusals,
      },
      handle: ({ params, reply }) => {
        const row = productivity.numbered(
          productivityList,
          recordIdOf(params.id, 'Drilling productivity'),
        )
        if (!row) throw notFound(`Drilling productivity ${params.id}`)
        markSources(reply, deps.marks, [row])
        return energyRecord(productivityRecord(row, ducReader(duc)), tier())
      },
    }),
  ]
}
