import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { daysOf, markSources, orNull, requireData, Stamp } from '../../energy/operations/answer.ts'
import {
  energyAccess,
  energyBody,
  energyPageQuery,
  energyRefusals,
} from '../../energy/operations/frame.ts'
import { energyPage, energyRecord, rangeQuery } from '../../energy/operations/list.ts'
import { country, keptBasins } from '../math/drilling.ts'
import type { DucWells } from '../store/duc-wells.ts'
import type { Numbered } from '../store/regional.ts'
import {
  Age,
  ageOf,
  basinQuery,
  countsByBasin,
  type DrillingAnswerDeps,
  requestedBasins,
} from './answer.ts'
import { Basin, Month, SurveyDay } from './productivity-row.ts'

const change = orNull(integer({ examples: [-12] }), 'Against the count before; null for the first.')
const Row = t.Object(
  {
    id: t.String({ examples: ['1'] }),
    basin: Basin,
    duc_count: integer({ examples: [890] }),
    change,
    completions: orNull(
      integer({ examples: [398] }),
      'Wells completed in the month; null where the source does not say.',
    ),
    wells_drilled: orNull(integer({ examples: [401] }), 'Wells drilled in the month.'),
    month: Month,
    date: SurveyDay,
    source: t.String({ examples: ['EIA'] }),
    timestamp: Stamp,
  },
  { title: 'DucWells' },
)
const Latest = t.Object(
  {
    us_total: integer({ examples: [5230] }),
    basins: t.Record(t.String(), integer(), { examples: [{ permian: 890, haynesville: 730 }] }),
    month: Month,
    change,
    date: SurveyDay,
    source: t.String({ examples: ['EIA'] }),
    timestamp: Stamp,
    ...Age,
  },
  { title: 'LatestDucWells' },
)

const published = 'Published about the 15th of the month.'
const list = keptBasins.map(basin => basin.key)

const rowOf = (row: Numbered<DucWells>) => ({
  id: String(row.id),
  basin: row.region,
  duc_count: row.duc,
  change: row.change ?? null,
  completions: row.completed,
  wells_drilled: row.drilled,
  month: row.countedOn.slice(0, 7),
  date: row.countedOn,
  source: row.source,
  timestamp: isoInstant(row.recordedAt),
})

/** Wells that are drilled and wait for completion, by basin. */
export function ducWellOperations(deps: DrillingAnswerDeps) {
  const { duc } = deps.drilling
  const tier = () => deps.tierRequired('energy_intelligence')
  return [
    operation({
      method: 'GET',
      path: '/v1/ei/duc_wells',
      aliases: ['/v1/dark_data/duc_wells'],
      operationId: 'listDucWells',
      summary: 'Drilled but uncompleted wells',
      description: `Wells that are drilled and wait for completion, by basin and month, newest first. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: { ...energyPageQuery, ...rangeQuery, ...basinQuery },
      answers: { 200: energyBody(t.Array(Row), 'DucWellList'), ...energyRefusals },
      handle: ({ query, reply, request }) => {
        const filter = { ...daysOf(query), regions: requestedBasins({ basin: query.basin }) }
        const rows = (limit: number, offset: number) => {
          const page = duc.page(list, filter, limit, offset)
          markSources(reply, deps.marks, page)
          return page
        }
        return energyPage(
          query,
          { set: reply, request, tierRequired: tier() },
          { total: duc.count(list, filter), rows },
          rowOf,
        )
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/duc_wells/latest',
      aliases: ['/v1/dark_data/duc_wells/latest'],
      operationId: 'getLatestDucWells',
      summary: 'Newest drilled but uncompleted wells',
      description: `Wells of the country and its basins that wait for completion, in the newest month. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: { 200: energyBody(Latest, 'LatestDucWellCount'), ...energyRefusals },
      handle: ({ reply }) => {
        const day = requireData(
          duc.newestOn([country]),
          'drilled but uncompleted wells',
          'duc-wells',
        )
        const rows = duc.on(day)
        markSources(reply, deps.marks, rows)
        const national = rows.find(row => row.region === country)!
        const old = duc.before(country, day)
        const data = {
          us_total: national.duc,
          basins: countsByBasin(rows, row => row.duc),
          month: day.slice(0, 7),
          change: old ? national.duc - old.duc : null,
          date: day,
          source: national.source,
          timestamp: isoInstant(national.recordedAt),
          ...ageOf('month', day, deps.now()),
        }
        return energyRecord(data, tier())
      },
    }),
  ]
}
