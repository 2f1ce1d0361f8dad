import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { Day, Stamp } from '../../energy/operations/answer.ts'
import { type DucWells, ducWells, type FracSpreads, fracSpreads } from '../dataset/counts.ts'
import { basinKeys, storedBasins } from '../math/drilling.ts'
import { Age } from './answer.ts'
import { Basin, Month, SurveyDay } from './productivity-row.ts'
import { latestRegional, type RegionalFamily, regionalList } from './regional.ts'

const fracChange = t.integerOrNull('Against the count before; null for the first.', 1)
const FracRow = t.object('FracSpreads', {
  id: t.String({ examples: ['1'] }),
  basin: t.String({ examples: ['permian'] }),
  active_spreads: t.integer({ examples: [92] }),
  change: fracChange,
  date: Day,
  source: t.String({ examples: ['Crew survey'] }),
  timestamp: Stamp,
})
const LatestFrac = t.object('LatestFracSpreads', {
  us_total: t.integer({ examples: [198] }),
  basins: t.Record(t.String(), t.integer(), { examples: [{ permian: 92, eagle_ford: 24 }] }),
  date: Day,
  change: fracChange,
  source: t.String({ examples: ['Crew survey'] }),
  timestamp: Stamp,
  ...Age,
})

const fracPublished = 'Counted on every working day and published at 14:00 UTC.'

const fracSpreadFamily: RegionalFamily<FracSpreads> = {
  dataset: fracSpreads,
  regions: basinKeys,
  calendar: 'day',
  subject: 'frac spreads',
}

/** Crews that fracture wells, by basin. */
const fracSpreadOperations = [
  regionalList(fracSpreadFamily, {
    path: '/v1/ei/frac_spreads',
    operationId: 'listFracSpreads',
    summary: 'List frac spreads by basin',
    description: `Returns active hydraulic fracturing crews, newest first. ${fracPublished}`,
    title: 'FracSpreadList',
    row: FracRow,
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
    summary: 'Get the latest frac spreads',
    description: `Returns active hydraulic fracturing crews of the country and its basins on the newest day. ${fracPublished}`,
    title: 'LatestFracSpreadCount',
    data: LatestFrac,
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

const ducChange = t.integerOrNull('Against the count before; null for the first.', -12)
const DucRow = t.object('DucWells', {
  id: t.String({ examples: ['1'] }),
  basin: Basin,
  duc_count: t.integer({ examples: [890] }),
  change: ducChange,
  completions: t.integerOrNull(
    'Wells completed in the month; null where the source does not say.',
    398,
  ),
  wells_drilled: t.integerOrNull('Wells drilled in the month.', 401),
  month: Month,
  date: SurveyDay,
  source: t.String({ examples: ['EIA'] }),
  timestamp: Stamp,
})
const LatestDuc = t.object('LatestDucWells', {
  us_total: t.integer({ examples: [5230] }),
  basins: t.Record(t.String(), t.integer(), { examples: [{ permian: 890, haynesville: 730 }] }),
  month: Month,
  change: ducChange,
  date: SurveyDay,
  source: t.String({ examples: ['EIA'] }),
  timestamp: Stamp,
  ...Age,
})

const ducPublished = 'Published about the 15th of the month.'

export const ducWellFamily: RegionalFamily<DucWells> = {
  dataset: ducWells,
  regions: storedBasins.map(basin => basin.key),
  calendar: 'month',
  subject: 'drilled but uncompleted wells',
}

/** Wells that are drilled and wait for completion, by basin. */
const ducWellOperations = [
  regionalList(ducWellFamily, {
    path: '/v1/ei/duc_wells',
    operationId: 'listDucWells',
    summary: 'List drilled but uncompleted wells',
    description: `Returns drilled but uncompleted wells by basin and month, newest first. ${ducPublished}`,
    title: 'DucWellList',
    row: DucRow,
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
    summary: 'Get the latest drilled but uncompleted wells',
    description: `Returns drilled but uncompleted wells of the country and its basins in the newest month. ${ducPublished}`,
    title: 'LatestDucWellCount',
    data: LatestDuc,
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

/** Counts by region of which there is a list and a newest one. */
export const regionalCountOperations = [...fracSpreadOperations, ...ducWellOperations]
