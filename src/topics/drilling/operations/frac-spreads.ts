import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import {
  Day,
  daysOf,
  markSources,
  orNull,
  requireData,
  Stamp,
} from '../../energy/operations/answer.ts'
import {
  energyAccess,
  energyBody,
  energyPageQuery,
  energyRefusals,
} from '../../energy/operations/frame.ts'
import { energyPage, energyRecord, rangeQuery } from '../../energy/operations/list.ts'
import { basinKeys, country } from '../math/drilling.ts'
import type { FracSpreads } from '../store/frac-spreads.ts'
import type { Numbered } from '../store/regional.ts'
import {
  Age,
  ageOf,
  basinQuery,
  countsByBasin,
  type DrillingAnswerDeps,
  requestedBasins,
} from './answer.ts'

const change = orNull(integer({ examples: [1] }), 'Against the count before; null for the first.')
const Row = t.Object(
  {
    id: t.String({ examples: ['1'] }),
    basin: t.String({ examples: ['permian'] }),
    active_spreads: integer({ examples: [92] }),
    change,
    date: Day,
    source: t.String({ examples: ['Crew survey'] }),
    timestamp: Stamp,
  },
  { title: 'FracSpreads' },
)
const Latest = t.Object(
  {
    us_total: integer({ examples: [198] }),
    basins: t.Record(t.String(), integer(), { examples: [{ permian: 92, eagle_ford: 24 }] }),
    date: Day,
    change,
    source: t.String({ examples: ['Crew survey'] }),
    timestamp: Stamp,
    ...Age,
  },
  { title: 'LatestFracSpreads' },
)

const published = 'Counted on every working day and published at 14:00 UTC.'

const rowOf = (row: Numbered<FracSpreads>) => ({
  id: String(row.id),
  basin: row.region,
  active_spreads: row.active,
  change: row.change ?? null,
  date: row.countedOn,
  source: row.source,
  timestamp: isoInstant(row.recordedAt),
})

/** Crews that fracture wells, by basin. */
export function fracSpreadOperations(deps: DrillingAnswerDeps) {
  const { frac } = deps.drilling
  const tier = () => deps.tierRequired('energy_intelligence')
  return [
    operation({
      method: 'GET',
      path: '/v1/ei/frac_spreads',
      aliases: ['/v1/dark_data/frac_spreads'],
      operationId: 'listFracSpreads',
      summary: 'Frac spreads by basin',
      description: `Active hydraulic fracturing crews, newest first. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: { ...energyPageQuery, ...rangeQuery, ...basinQuery },
      answers: { 200: energyBody(t.Array(Row), 'FracSpreadList'), ...energyRefusals },
      handle: ({ query, reply, request }) => {
        const filter = { ...daysOf(query), regions: requestedBasins({ basin: query.basin }) }
        const rows = (limit: number, offset: number) => {
          const page = frac.page(basinKeys, filter, limit, offset)
          markSources(reply, deps.marks, page)
          return page
        }
        const answer = { set: reply, request, tierRequired: tier() }
        return energyPage(query, answer, { total: frac.count(basinKeys, filter), rows }, rowOf)
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/frac_spreads/latest',
      aliases: ['/v1/dark_data/frac_spreads/latest'],
      operationId: 'getLatestFracSpreads',
      summary: 'Newest frac spreads',
      description: `Active hydraulic fracturing crews of the country and its basins on the newest day. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: { 200: energyBody(Latest, 'LatestFracSpreadCount'), ...energyRefusals },
      handle: ({ reply }) => {
        const day = requireData(frac.newestOn([country]), 'frac spreads', 'frac-spreads')
        const rows = frac.on(day)
        markSources(reply, deps.marks, rows)
        const national = rows.find(row => row.region === country)!
        const old = frac.before(country, day)
        const data = {
          us_total: national.active,
          basins: countsByBasin(rows, row => row.active),
          date: day,
          change: old ? national.active - old.active : null,
          source: national.source,
          timestamp: isoInstant(national.recordedAt),
          ...ageOf('day', day, deps.now()),
        }
        return energyRecord(data, tier())
      },
    }),
  ]
}
