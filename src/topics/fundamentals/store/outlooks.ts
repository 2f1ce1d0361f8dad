import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { keptCount } from '../../../database/kept-counts.ts'
import { lazy } from '../../../database/statement.ts'
import type { WriteCounts } from '../../../database/write-counts.ts'

/** What an agency expects of a series in a month or quarter. */
export interface Outlook {
  source: string
  seriesId: number
  /** `2026-12` or `2026-Q4`. */
  period: string
  /** In the unit of the series. */
  value: number
  publishedOn: string
  /** Last day of the period. */
  targetOn: string
  fixture: boolean
}

export interface OutlookRow extends Outlook {
  id: number
  recordedAt: number
}

/** Days, both inclusive. */
export interface DayRange {
  fromOn: string
  toOn: string
}

/** Of these series and of publications and periods that end in these days; undefined: of all. */
export interface OutlookFilter {
  seriesIds?: readonly number[] | undefined
  published?: DayRange
  target?: DayRange
}

/** Of one period of one series, the newest forecast of each of two agencies. */
export interface Comparison {
  seriesId: number
  period: string
  targetOn: string
  first: number | undefined
  second: number | undefined
  fixture: boolean
}

export interface OutlookStore {
  /**
   * One transaction. Records are numbered in the order of their publication and within one in the
   * order given; a number is given once and never changes, so publications that come in later, also
   * older ones, get the next ones. The same value again is unchanged; another one for a known
   * period of a publication replaces it under its number.
   */
  write(rows: readonly Outlook[], recordedAt: number): WriteCounts
  /** Newest publication first, or newest period first; within that by number. */
  page(
    filter: OutlookFilter,
    order: 'published' | 'target',
    limit: number,
    offset: number,
  ): OutlookRow[]
  count(filter: OutlookFilter): number
  byId(id: number): OutlookRow | undefined
  /** Day of the newest publication. */
  newestOn(seriesIds: readonly number[] | undefined): string | undefined
  /** Days on which a source published. */
  publications(source: string): string[]
  /** Newest period first. */
  compare(
    seriesIds: readonly number[] | undefined,
    sources: readonly [string, string],
    limit: number,
    offset: number,
  ): Comparison[]
  countCompared(
    seriesIds: readonly number[] | undefined,
    sources: readonly [string, string],
  ): number
}

type Arguments = [
  ids: string | null,
  publishedFrom: string,
  publishedTo: string,
  targetFrom: string,
  targetTo: string,
]
type Row = Omit<OutlookRow, 'fixture'> & { fixture: number }

const columns = `id, source, series_id AS seriesId, period, value, published_on AS publishedOn, target_on AS targetOn, fixture, recorded_at AS recordedAt`
const among = (parameter: string) =>
  `(${parameter} IS NULL OR series_id IN (SELECT value FROM json_each(${parameter})))`
const matching = `${among('?1')} AND published_on BETWEEN ?2 AND ?3 AND target_on BETWEEN ?4 AND ?5`
const orders = {
  published: 'published_on DESC, id',
  target: 'target_on DESC, published_on DESC, id',
}
const always: DayRange = { fromOn: '0000-01-01', toOn: '9999-12-31' }

const rowOf = (row: Row): OutlookRow => ({ ...row, fixture: row.fixture === 1 })
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

export function createOutlookStore(db: Database): OutlookStore {
  const page = {
    published: pageQuery(db, orders.published),
    target: pageQuery(db, orders.target),
  }
  const count = keptCount<Arguments>(
    db,
    `SELECT count(*) AS n FROM outlook_forecasts WHERE ${matching}`,
  )
  const byId = lazy<Row, [number]>(db, `SELECT ${columns} FROM outlook_forecasts WHERE id = ?`)
  const newest = lazy<{ day: string | null }, [string | null]>(
    db,
    `SELECT max(published_on) AS day FROM outlook_forecasts WHERE ${among('?1')}`,
  )
  const publications = lazy<{ day: string }, [string]>(
    db,
    'SELECT DISTINCT published_on AS day FROM outlook_forecasts WHERE source = ? ORDER BY published_on',
  )
  // Which publication is the newest is found by the key alone; its row is read once it is.
  const compare = lazy<
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
    db,
    `SELECT series_id AS seriesId, period, target_on AS targetOn, max(CASE WHEN source = ?2 THEN value END) AS first,
       max(CASE WHEN source = ?3 THEN value END) AS second, max(fixture) AS fixture
     FROM (SELECT source, series_id, period, max(published_on) AS published_on FROM outlook_forecasts
       WHERE ${among('?1')} AND source IN (?2, ?3) GROUP BY source, series_id, period)
     JOIN outlook_forecasts USING (source, series_id, period, published_on)
     GROUP BY series_id, period ORDER BY target_on DESC, period DESC, series_id LIMIT ?4 OFFSET ?5`,
  )
  const countCompared = keptCount<[string | null, string, string]>(
    db,
    `SELECT count(*) AS n FROM (SELECT DISTINCT series_id, period FROM outlook_forecasts WHERE ${among('?1')} AND source IN (?2, ?3))`,
  )
  return {
    write: outlookWriter(db),
    page: (filter, order, limit, offset) =>
      page[order].all(...argumentsOf(filter), limit, offset).map(rowOf),
    count: filter => count(...argumentsOf(filter)),
    byId(id) {
      const row = byId.get(id)
      return row ? rowOf(row) : undefined
    },
    newestOn: ids => newest.get(listOf(ids))?.day ?? undefined,
    publications: source => publications.all(source).map(row => row.day),
    compare: (ids, [first, second], limit, offset) =>
      compare.all(listOf(ids), first, second, limit, offset).map(row => ({
        ...row,
        first: row.first ?? undefined,
        second: row.second ?? undefined,
        fixture: row.fixture === 1,
      })),
    countCompared: (ids, [first, second]) => countCompared(listOf(ids), first, second),
  }
}

const pageQuery = (db: Database, order: string) =>
  lazy<Row, [...Arguments, limit: number, offset: number]>(
    db,
    `SELECT ${columns} FROM outlook_forecasts WHERE ${matching} ORDER BY ${order} LIMIT ?6 OFFSET ?7`,
  )

function outlookWriter(db: Database): OutlookStore['write'] {
  const stored = lazy<
    { id: number; value: number; target_on: string; fixture: number },
    [string, number, string, string]
  >(
    db,
    'SELECT id, value, target_on, fixture FROM outlook_forecasts WHERE source = ? AND series_id = ? AND period = ? AND published_on = ?',
  )
  const insert = lazy(
    db,
    `INSERT INTO outlook_forecasts (source, series_id, period, value, published_on, target_on, fixture, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const update = lazy(
    db,
    'UPDATE outlook_forecasts SET value = ?, fixture = ?, recorded_at = ? WHERE id = ?',
  )
  return (rows, recordedAt) =>
    transact(db, () => {
      const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
      // Sorting is stable: within a publication the order is that of the rows.
      const inOrder = rows.toSorted((a, b) =>
        a.publishedOn === b.publishedOn ? 0 : a.publishedOn < b.publishedOn ? -1 : 1,
      )
      for (const { source, seriesId, period, value, publishedOn, targetOn, fixture } of inOrder) {
        const old = stored.get(source, seriesId, period, publishedOn)
        const mark = fixture ? 1 : 0
        if (!old)
          insert.run(source, seriesId, period, value, publishedOn, targetOn, mark, recordedAt)
        else if (old.value === value && old.fixture === mark) {
          counts.unchanged += 1
          continue
        } else update.run(value, mark, recordedAt, old.id)
        counts[old ? 'revised' : 'inserted'] += 1
      }
      return counts
    })
}
