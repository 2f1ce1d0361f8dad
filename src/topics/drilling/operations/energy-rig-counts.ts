import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import type { Answering } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { knownQuery } from '../../../http/operations/point-in-time.ts'
import { notFound } from '../../../http/problem/problem.ts'
import { Day, daysOf, markSources, orNull, requireData } from '../../energy/operations/answer.ts'
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
import { basinKeys, isState } from '../math/drilling.ts'
import type { Stored } from '../store/regional.ts'
import type { RigCount } from '../store/rig-counts.ts'
import { Age, ageOf, type DrillingAnswerDeps } from './answer.ts'
import {
  basinMap,
  nationalList,
  RigRecord,
  RigTypeCounts,
  rigChanges,
  rigRecord,
  rigTypeCounts,
  Span,
  stateMap,
} from './rig-count-row.ts'

const Latest = t.Object(
  {
    us_total: integer({ examples: [546] }),
    basins: t.Record(t.String(), integer(), {
      examples: [{ permian: 251, eagle_ford: 44, other: 94 }],
    }),
    states: t.Record(t.String(), integer(), {
      description: 'By two letters; `other` is the states that the source adds up.',
      examples: [{ tx: 247, nm: 95 }],
    }),
    ...RigRecord.properties,
    ...Age,
  },
  { title: 'LatestRigCount' },
)
const Past = t.Object({ date: Day, ...RigTypeCounts, span: Span }, { title: 'PastRigCount' })
const regional = {
  rig_count: integer({ examples: [251] }),
  change: orNull(
    integer({ examples: [-1] }),
    'Against the week before; null where that is missing.',
  ),
  year_change: orNull(integer({ examples: [-12] }), 'Against 52 weeks before.'),
  date: Day,
}
const ByBasin = t.Object(
  { basin: t.String({ examples: ['permian'] }), ...regional },
  { title: 'BasinRigCount' },
)
const ByState = t.Object(
  { state: t.String({ examples: ['TX'] }), ...regional },
  { title: 'StateRigCount' },
)

const published =
  'Counted every Friday and published at 17:00 UTC; a federal holiday holds it back to the next working day.'
const range = t.Object({ ...energyPageQuery, ...rangeQuery, ...knownQuery })

type Query = { page?: string; per_page?: string; start_date?: string; end_date?: string }

/** What the answers have in common. */
function createRigCountAnswers(deps: DrillingAnswerDeps) {
  const { rigs } = deps.drilling
  const tier = () => deps.tierRequired('energy_intelligence')

  const listed = <R>(
    query: Query,
    set: Answering,
    request: Request,
    shape: (row: Parameters<typeof rigRecord>[0]) => R,
  ) => {
    const days = daysOf(query)
    const total = rigs.count(nationalList, days)
    const rows = (limit: number, offset: number) => {
      const page = rigs.page(nationalList, days, limit, offset)
      markSources(set, deps.marks, page)
      return page
    }
    return energyPage(query, { set, request, tierRequired: tier() }, { total, rows }, shape)
  }

  const newest = (set: Answering): { rows: Stored<RigCount>[]; on: string } => {
    const on = requireData(rigs.newestOn(nationalList), 'rig counts', 'rig-counts')
    const rows = rigs.on(on)
    markSources(set, deps.marks, rows)
    return { rows, on }
  }

  /** Of some regions in the newest week, largest first. */
  const regions = (set: Answering, isWanted: (region: string) => boolean) => {
    const { rows, on } = newest(set)
    const largest = rows.filter(row => isWanted(row.region)).sort((a, b) => b.total - a.total)
    return largest.map(row => {
      const { week, year } = rigChanges(rigs, row.region, on)
      return { region: row.region, rig_count: row.total, change: week, year_change: year, date: on }
    })
  }
  return { rigs, tier, listed, newest, regions }
}

/** Rigs of the country by week, and of its basins and states in the newest week. */
export const energyRigCountOperations = (deps: DrillingAnswerDeps) => [
  ...newestCountOperations(deps),
  ...pastCountOperations(deps),
]

function newestCountOperations(deps: DrillingAnswerDeps) {
  const { rigs, tier, newest, regions } = createRigCountAnswers(deps)
  return [
    operation({
      method: 'GET',
      path: '/v1/ei/rig_counts/latest',
      aliases: ['/v1/dark_data/rig_counts/latest'],
      operationId: 'getLatestRigCounts',
      summary: 'Newest rig count',
      description: `The newest week: the country, its basins and its states, each of which adds up to it in the fixture data and as its source has it otherwise. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: { 200: energyBody(Latest, 'LatestRigCounts'), ...energyRefusals },
      handle: ({ reply }) => {
        const { rows, on } = newest(reply)
        const [record] = rigs.page(nationalList, { fromOn: on, toOn: dayAfter(on, 1) }, 1, 0)
        const data = {
          us_total: record!.total,
          basins: basinMap(rows),
          states: stateMap(rows),
          ...rigRecord(record!),
          ...ageOf('week', on, deps.now()),
        }
        return energyRecord(data, tier())
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/rig_counts/by_basin',
      aliases: ['/v1/dark_data/rig_counts/by_basin'],
      operationId: 'listRigCountsByBasin',
      summary: 'Newest rig count by basin',
      description: `Rigs of each basin in the newest week, largest first, with the change since the week before and since 52 weeks before. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: { 200: energyBody(t.Array(ByBasin), 'RigCountsByBasin'), ...energyRefusals },
      handle: ({ reply }) => {
        const inBasin = (region: string) => basinKeys.includes(region)
        const rows = regions(reply, inBasin)
        return energyWholeList(
          rows.map(({ region, ...row }) => ({ basin: region, ...row })),
          tier(),
        )
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/rig_counts/by_state',
      aliases: ['/v1/dark_data/rig_counts/by_state'],
      operationId: 'listRigCountsByState',
      summary: 'Newest rig count by state',
      description: `Rigs of each state in the newest week, largest first, with the change since the week before and since 52 weeks before. \`OTHER\` is the states that the source adds up. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: { 200: energyBody(t.Array(ByState), 'RigCountsByState'), ...energyRefusals },
      handle: ({ reply }) => {
        const rows = regions(reply, isState)
        return energyWholeList(
          rows.map(({ region, ...row }) => ({ state: region, ...row })),
          tier(),
        )
      },
    }),
  ]
}

function pastCountOperations(deps: DrillingAnswerDeps) {
  const { rigs, tier, listed } = createRigCountAnswers(deps)
  return [
    operation({
      method: 'GET',
      path: '/v1/ei/rig_counts',
      aliases: ['/v1/dark_data/rig_counts'],
      operationId: 'listRigCounts',
      summary: 'Rig counts of the United States by week',
      description: `Active rotary rigs of the country by what they drill for, newest first. ${published} Numbers run from 1 in chronological order.`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: range.properties,
      answers: { 200: energyBody(t.Array(RigRecord), 'RigCounts'), ...energyRefusals },
      handle: ({ query, reply, request }) => listed(query, reply, request, rigRecord),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/rig_counts/historical',
      aliases: ['/v1/dark_data/rig_counts/historical'],
      operationId: 'getRigCountHistory',
      summary: 'Rig counts of the past',
      description: `Counts of the country, newest first, as far back as they are held. ${published}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: range.properties,
      answers: { 200: energyBody(t.Array(Past), 'RigCountHistory'), ...energyRefusals },
      handle: ({ query, reply, request }) =>
        listed(query, reply, request, row => ({
          date: row.countedOn,
          ...rigTypeCounts(row),
          span: row.span,
        })),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/rig_counts/:id',
      aliases: ['/v1/dark_data/rig_counts/:id'],
      operationId: 'getRigCount',
      summary: 'One rig count',
      description: 'A week by its number. Numbers run from 1 in chronological order.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      params: {
        id: t.String({ description: 'Number of the record.', examples: ['1'] }),
      },
      answers: { 200: energyBody(RigRecord, 'OneRigCount'), ...energyRefusals },
      handle: ({ params, reply }) => {
        const row = rigs.numbered(nationalList, recordIdOf(params.id, 'Rig count'))
        if (!row) throw notFound(`Rig count ${params.id}`)
        markSources(reply, deps.marks, [row])
        return energyRecord(rigRecord(row), tier())
      },
    }),
  ]
}
