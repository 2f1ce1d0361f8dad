import type { DatasetReads } from '../../../database/dataset-reads.ts'
import { datasetStore, type Stored } from '../../../database/dataset-store.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { RegionalCount, RegionalDataset } from '../dataset/counts.ts'

/**
 * A row with its place among all rows of a list, from 1 in chronological order, and what its
 * measure rose by since the count before of its region.
 */
export type Numbered<T> = Stored<T> & { id: number; change: number | undefined }

export interface RegionalFilter {
  /** Undefined: every region of the list. */
  regions?: readonly string[] | undefined
  fromOn: string
  /** Exclusive. */
  toOn: string
}

/**
 * Counts by region and day. `list` names the regions that a list is of: its numbers run over these
 * only, so that a number does not depend on the filter that a row was found by.
 */
export type RegionalStore<T extends RegionalCount> = ReturnType<typeof createRegionalStore<T>>

const endOfDays = '9999-12-31'

export function createRegionalStore<T extends RegionalCount>(
  reads: DatasetReads,
  declared: RegionalDataset<T>,
) {
  const store = datasetStore<T>(reads, declared)
  const listed = 'region IN (SELECT value FROM json_each(?1))'
  const inside = `${listed} AND counted_on >= ?2 AND counted_on < ?3`
  // Lists walk the index over days and stop at their limit: by the regions, which the plus hides,
  // everything would be read and sorted.
  const byDay = (condition: string) => `WHERE +${condition}`
  const page = store.stored(
    `${byDay(inside)} ORDER BY counted_on DESC, region DESC LIMIT ?4 OFFSET ?5`,
  )
  const nth = store.stored(`${byDay(listed)} ORDER BY counted_on, region LIMIT 1 OFFSET ?2`)
  const count = store.count(inside)
  const places = store.values<string>(
    "counted_on || ' ' || region",
    `${byDay(inside)} ORDER BY counted_on, region`,
  )
  const between = store.stored(
    'WHERE region = ? AND counted_on >= ? AND counted_on < ? ORDER BY counted_on',
  )
  const on = store.stored('WHERE counted_on = ? ORDER BY region')
  const newest = store.value<string>(
    'counted_on',
    `${byDay(listed)} AND counted_on < ?2 ORDER BY counted_on DESC LIMIT 1`,
  )
  const first = store.value<string>('min(counted_on)', 'WHERE region = ?')
  const before = store.stored(
    'WHERE region = ? AND counted_on < ? ORDER BY counted_on DESC LIMIT 1',
  )

  const only = (list: readonly string[], regions: readonly string[] | undefined): string =>
    JSON.stringify(regions ? list.filter(region => regions.includes(region)) : list)

  /** What the measure of a row rose by since the count before of its region. */
  const changeOf = (row: Stored<T>, ofPage?: Stored<T>): number | undefined => {
    if (!declared.measure) return undefined
    const earlier = ofPage ?? before.get(row.region, row.countedOn)
    return earlier && declared.measure(row) - declared.measure(earlier)
  }

  /**
   * The changes of rows that are newest first. Most counts before are rows of the same page: a
   * subquery of the page would be evaluated for every row of the table where a past moment is read.
   */
  const changesOf = (rows: readonly Stored<T>[]): (number | undefined)[] => {
    const earlier = new Map<string, Stored<T>>()
    return rows
      .toReversed()
      .map(row => {
        const change = changeOf(row, earlier.get(row.region))
        earlier.set(row.region, row)
        return change
      })
      .reverse()
  }

  /**
   * Numbers rows that are newest first: what lies before the oldest of them is counted once, the
   * rest is walked.
   */
  const numbered = (list: readonly string[], rows: readonly Stored<T>[]): Numbered<T>[] => {
    if (rows.length === 0) return []
    const [oldestOn, newestOn] = [rows.at(-1)!.countedOn, rows[0]!.countedOn]
    const all = JSON.stringify(list)
    const skipped = count(all, '', oldestOn)
    const walked = places(all, oldestOn, dayAfter(newestOn, 1))
    const ids = new Map(walked.map((place, i) => [place, skipped + i + 1]))
    const changes = changesOf(rows)
    return rows.map((row, i) => ({
      ...row,
      id: ids.get(`${row.countedOn} ${row.region}`)!,
      change: changes[i],
    }))
  }

  return {
    /**
     * One transaction. The same row again is unchanged; anything else for a known region and day
     * replaces it.
     */
    write: store.write,
    /** Newest first. */
    page: (
      list: readonly string[],
      { regions, fromOn, toOn }: RegionalFilter,
      limit: number,
      offset: number,
    ): Numbered<T>[] => numbered(list, page.all(only(list, regions), fromOn, toOn, limit, offset)),
    count: (list: readonly string[], { regions, fromOn, toOn }: RegionalFilter) =>
      count(only(list, regions), fromOn, toOn),
    numbered(list: readonly string[], id: number): Numbered<T> | undefined {
      const row = id < 1 ? undefined : nth.get(JSON.stringify(list), id - 1)
      return row && { ...row, id, change: changeOf(row) }
    },
    /** The rows of one region, oldest first. */
    between: (...range: [region: string, fromOn: string, toOn: string]): Stored<T>[] =>
      between.all(...range),
    on: (day: string): Stored<T>[] => on.all(day),
    /** The last day before `before` that any of the regions has a count of. */
    newestOn: (list: readonly string[], day: string = endOfDays): string | undefined =>
      newest(JSON.stringify(list), day),
    firstOn: (region: string): string | undefined => first(region),
    /** The newest of a region before a day. */
    before: (...place: [region: string, day: string]): Stored<T> | undefined =>
      before.get(...place),
  }
}
