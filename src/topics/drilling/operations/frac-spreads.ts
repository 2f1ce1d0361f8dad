import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import { orNull } from '../../../http/operations/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { Day, Stamp } from '../../energy/operations/answer.ts'
import type { FracSpreads } from '../dataset/counts.ts'
import { basinKeys } from '../math/drilling.ts'
import { Age } from './answer.ts'
import { latestRegional, type RegionalFamily, regionalList } from './regional.ts'

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

const fracSpreadFamily: RegionalFamily<FracSpreads> = {
  store: drilling => drilling.frac,
  regions: basinKeys,
  calendar: 'day',
  subject: 'frac spreads',
  dataset: 'frac-spreads',
}

/** Crews that fracture wells, by basin. */
export const fracSpreadOperations = [
  regionalList(fracSpreadFamily, {
    path: '/v1/ei/frac_spreads',
    operationId: 'listFracSpreads',
    summary: 'Frac spreads by basin',
    description: `Active hydraulic fracturing crews, newest first. ${published}`,
    title: 'FracSpreadList',
    row: Row,
    shape: rows =>
      rows.map(row => ({
        id: String(row.id),
        basin: row.region,
        active_spreads: row.active,
        change: row.change ?? null,
        date: row.countedOn,
        source: row.source,
        timestamp: isoInstant(row.recordedAt),
      })),
  }),
  latestRegional(fracSpreadFamily, {
    path: '/v1/ei/frac_spreads/latest',
    operationId: 'getLatestFracSpreads',
    summary: 'Newest frac spreads',
    description: `Active hydraulic fracturing crews of the country and its basins on the newest day. ${published}`,
    title: 'LatestFracSpreadCount',
    data: Latest,
    count: row => row.active,
    shape: ({ total, basins, change, national, age }) => ({
      us_total: total,
      basins,
      date: national.countedOn,
      change,
      source: national.source,
      timestamp: isoInstant(national.recordedAt),
      ...age,
    }),
  }),
]
