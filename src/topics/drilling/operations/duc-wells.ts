import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import { orNull } from '../../../http/operations/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { Stamp } from '../../energy/operations/answer.ts'
import type { DucWells } from '../dataset/counts.ts'
import { keptBasins } from '../math/drilling.ts'
import { Age } from './answer.ts'
import { Basin, Month, SurveyDay } from './productivity-row.ts'
import { latestRegional, type RegionalFamily, regionalList } from './regional.ts'

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

export const ducWellFamily: RegionalFamily<DucWells> = {
  store: drilling => drilling.duc,
  regions: keptBasins.map(basin => basin.key),
  calendar: 'month',
  subject: 'drilled but uncompleted wells',
  dataset: 'duc-wells',
}

/** Wells that are drilled and wait for completion, by basin. */
export const ducWellOperations = [
  regionalList(ducWellFamily, {
    path: '/v1/ei/duc_wells',
    operationId: 'listDucWells',
    summary: 'Drilled but uncompleted wells',
    description: `Wells that are drilled and wait for completion, by basin and month, newest first. ${published}`,
    title: 'DucWellList',
    row: Row,
    shape: rows =>
      rows.map(row => ({
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
      })),
  }),
  latestRegional(ducWellFamily, {
    path: '/v1/ei/duc_wells/latest',
    operationId: 'getLatestDucWells',
    summary: 'Newest drilled but uncompleted wells',
    description: `Wells of the country and its basins that wait for completion, in the newest month. ${published}`,
    title: 'LatestDucWellCount',
    data: Latest,
    count: row => row.duc,
    shape: ({ total, basins, change, national, age }) => ({
      us_total: total,
      basins,
      month: national.countedOn.slice(0, 7),
      change,
      date: national.countedOn,
      source: national.source,
      timestamp: isoInstant(national.recordedAt),
      ...age,
    }),
  }),
]
