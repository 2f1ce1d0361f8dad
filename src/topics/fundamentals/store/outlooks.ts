import type { DatasetReads } from '../../../database/dataset-reads.ts'
import { datasetStore, type Stored } from '../../../database/dataset-store.ts'
import { type Outlook, outlooks } from '../dataset/outlooks.ts'

export type OutlookRow = Stored<Outlook> & { id: number }

/** Days, both inclusive. */
export interface DayRange {
  fromOn: string
  toOn: string
}

/** Selects series, and the days of publications and of period ends; undefined: all. */
export interface OutlookFilter {
  seriesIds?: readonly number[] | undefined
  published?: DayRange
  target?: DayRange
}

/** The newest forecasts of two agencies for one period of one series. */
export interface Comparison {
  seriesId: number
  period: string
  targetOn: string
  first: number | undefined
  second: number | undefined
  fixture: boolean
}

export type OutlookStore = ReturnType<typeof createOutlookStore>

type Arguments = [
  ids: string | null,
  publishedFrom: string,
  publishedTo: string,
  targetFrom: string,
  targetTo: string,
]
const among = (parameter: string) =>
  `(${parameter} IS NULL OR series_id IN (SELECT value FROM json_each(${parameter})))`
const matching = `${among('?1')} AND published_on BETWEEN ?2 AND ?3 AND target_on BETWEEN ?4 AND ?5`
const orders = {
  published: 'published_on DESC, id',
  target: 'target_on DESC, published_on DESC, id',
}
const always: DayRange = { fromOn: '0000-01-01', toOn: '9999-12-31' }

const argumentsOf = ({
  seriesIds,
  published = always,
  target = always,
}: OutlookFilter): Arguments => [
  listOf(seriesIds),
  published.fromOn,
  published.toOn,
  target.fromOn,
  target.toOn,
]
const listOf = (ids: readonly number[] | undefined) =>
  ids === undefined ? null : JSON.stringify(ids)

export function createOutlookStore(reads: DatasetReads) {
  const store = datasetStore<Outlook>(reads, outlooks)
  const pageBy = (order: string) =>
    store.stored<[...Arguments, limit: number, offset: number], { id: number }>(
      `WHERE ${matching} ORDER BY ${order} LIMIT ?6 OFFSET ?7`,
      't.id',
    )
  const page = { published: pageBy(orders.published), target: pageBy(orders.target) }
  const count = store.count<Arguments>(matching)
  const byId = store.stored<[number], { id: number }>('WHERE id = ?', 't.id')
  const newest = store.value<string>('max(published_on)', `WHERE ${among('?1')}`)
  // Which publication is the newest is found by the key alone; its row is read once it is.
  const compare = reads.statement<
    {
      seriesId: number
      period: string
      targetOn: string
      first: number | null
      second: number | null
      fixture: number
    },
    [string | null, string, string, number, number]
  >(
    `SELECT series_id AS seriesId, period, target_on AS targetOn, max(CASE WHEN source = ?2 THEN value END) AS first,
       max(CASE WHEN source = ?3 THEN value END) AS second, max(fixture) AS fixture
     FROM (SELECT source, series_id, period, max(published_on) AS published_on FROM outlook_forecasts
       WHERE ${among('?1')} AND source IN (?2, ?3) GROUP BY source, series_id, period)
     JOIN outlook_forecasts USING (source, series_id, period, published_on)
     GROUP BY series_id, period ORDER BY target_on DESC, period DESC, series_id LIMIT ?4 OFFSET ?5`,
    outlooks,
  )
  const countCompared = reads.count<[string | null, string, string]>(
    `SELECT count(*) AS n FROM (SELECT DISTINCT series_id, period FROM outlook_forecasts WHERE ${among('?1')} AND source IN (?2, ?3))`,
    outlooks,
  )
  return {
    /**
     * One transaction. Records are numbered in the order of their publication and within one in the
     * order given; a number is given once and never changes, so publications that come in later, also
     * older ones, get the next ones. The same value again is unchanged; another one for a known
     * period of a publication replaces it under its number.
     */
    write: store.write,
    /** Newest publication first, or newest period first; within that by number. */
    page: (filter: OutlookFilter, order: 'published' | 'target', limit: number, offset: number) =>
      page[order].all(...argumentsOf(filter), limit, offset),
    count: (filter: OutlookFilter) => count(...argumentsOf(filter)),
    byId: (id: number) => byId.get(id),
    newestOn: (ids: readonly number[] | undefined) => newest(listOf(ids)),
    /** Days on which a source published. */
    publications: store.values<string>(
      'DISTINCT published_on',
      'WHERE source = ? ORDER BY published_on',
    ),
    /** Newest period first. */
    compare: (
      ids: readonly number[] | undefined,
      [first, second]: readonly [string, string],
      limit: number,
      offset: number,
    ) =>
      compare.all(listOf(ids), first, second, limit, offset).map(row => ({
        ...row,
        first: row.first ?? undefined,
        second: row.second ?? undefined,
        fixture: row.fixture === 1,
      })),
    countCompared: (
      ids: readonly number[] | undefined,
      [first, second]: readonly [string, string],
    ) => countCompared(listOf(ids), first, second),
  }
}
