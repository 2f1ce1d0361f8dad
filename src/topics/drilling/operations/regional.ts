import type { Static, TSchema } from 'elysia'
import type { Stored } from '../../../database/dataset-store.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { daysOf, markSources, requireData } from '../../energy/operations/answer.ts'
import { type EnergyCall, energy } from '../../energy/operations/frame.ts'
import { rangeQuery } from '../../energy/operations/list.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { RegionalCount, RegionalDataset } from '../dataset/counts.ts'
import { country } from '../math/drilling.ts'
import type { DrillingCalendar } from '../math/period.ts'
import type { Numbered } from '../store/regional.ts'
import { ageOf, basinQuery, countsByBasin, requestedBasins } from './answer.ts'

/** A dataset of counts by region and day. */
export interface RegionalFamily<T extends RegionalCount> {
  dataset: RegionalDataset<T>
  /** Those whose records are numbered and listed. */
  regions: readonly string[]
  calendar: DrillingCalendar
  /** The counted subject, for the error when no row has been imported. */
  subject: string
}

interface Words {
  path: string
  operationId: string
  summary: string
  description: string
  title: string
}

/** The list of a family whose regions are basins, or of one region; newest first. */
export const regionalList = <T extends RegionalCount, Row extends TSchema>(
  { dataset, regions }: RegionalFamily<T>,
  {
    shape,
    ...definition
  }: Words & {
    row: Row
    shape(rows: readonly Numbered<T>[], call: EnergyCall): Static<Row>[]
  },
): Operation =>
  energy.pages({
    ...definition,
    view: 'as_of',
    query: regions.length > 1 ? { ...rangeQuery, ...basinQuery } : rangeQuery,
    list(call) {
      const query: { start_date?: string; end_date?: string; basin?: string } = call.query
      const counts = call.at.drilling.of(dataset)
      const filter = { ...daysOf(query), regions: requestedBasins({ basin: query.basin }) }
      return {
        total: counts.count(regions, filter),
        rows: (limit, offset) =>
          shape(markSources(call, counts.page(regions, filter, limit, offset)), call),
      }
    },
  })

export const regionalRecord = <T extends RegionalCount, Data extends TSchema>(
  { dataset, regions }: RegionalFamily<T>,
  definition: Words & {
    subject: string
    data: Data
    shape(row: Numbered<T>, call: EnergyCall): Static<Data>
  },
): Operation =>
  energy.byId({
    ...definition,
    view: 'as_of',
    find(id, call) {
      const row = call.at.drilling.of(dataset).numbered(regions, id)
      return row && markSources(call, [row])[0]
    },
  })

/** The newest day that any of the regions has a count of. */
export const newestOn = <T extends RegionalCount>(
  { dataset, subject }: RegionalFamily<T>,
  { at }: EnergyCall,
  regions: readonly string[],
): string => requireData(at.drilling.of(dataset).newestOn(regions), subject, dataset.name)

export const recordsOn = <T extends RegionalCount>(
  { dataset, regions }: RegionalFamily<T>,
  call: EnergyCall,
  day: string,
): Numbered<T>[] => {
  const days = { fromOn: day, toOn: dayAfter(day, 1) }
  return markSources(call, call.at.drilling.of(dataset).page(regions, days, regions.length, 0))
}

/** The newest count of the country and its basins. */
interface NewestCount<T> {
  national: Stored<T>
  total: number
  /** Since the national count before. */
  change: number | null
  basins: Record<string, number>
  age: ReturnType<typeof ageOf>
}

export const latestRegional = <T extends RegionalCount, Data extends TSchema>(
  family: RegionalFamily<T>,
  {
    count,
    shape,
    ...definition
  }: Words & {
    data: Data
    count(row: Stored<T>): number
    shape(newest: NewestCount<T>): Static<Data>
  },
): Operation =>
  energy.record({
    ...definition,
    view: 'as_of',
    handle(call) {
      const { at } = call
      const counts = at.drilling.of(family.dataset)
      const day = newestOn(family, call, [country])
      const rows = markSources(call, counts.on(day))
      const national = rows.find(row => row.region === country)!
      const previous = counts.before(country, day)
      return shape({
        national,
        total: count(national),
        change: previous ? count(national) - count(previous) : null,
        basins: countsByBasin(rows, count),
        age: ageOf(family.calendar, day, at.now()),
      })
    },
  })
