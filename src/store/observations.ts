import type { Database } from 'bun:sqlite'
import { dayMs, hourMs } from '../lib/instant.ts'
import { type Bar, bucketEnd, bucketStart, extendBar, type Observation, openBar } from '../market/bars.ts'
import { transact } from './database.ts'

/** A value to record. `recordedAt` overrides the moment of the call, for history whose publication times are known. */
export interface Point {
  seriesId: number
  observedAt: number
  value: number
  recordedAt?: number
}

export interface WriteCounts {
  inserted: number
  revised: number
  unchanged: number
}

/** What a write changed in one series. */
export interface Change {
  seriesId: number
  inserted: Observation[]
  revised: Observation[]
}

/** Length of a stored bar in hours. */
export type Span = 1 | 24

const spans = [
  { span: 1, interval: 'hour' },
  { span: 24, interval: 'day' },
] as const

interface Row {
  observed_at: number
  value: number
  recorded_at: number
}

const observationOf = (row: Row): Observation => ({ observedAt: row.observed_at, value: row.value, recordedAt: row.recorded_at })

interface BarRow {
  starts_at: number
  open: number
  high: number
  low: number
  close: number
  sum: number
  count: number
  hours: number
  closed_at: number
  recorded_at: number
  born_at: number
}

const barOf = (row: BarRow): Bar => ({
  startsAt: row.starts_at,
  open: row.open,
  high: row.high,
  low: row.low,
  close: row.close,
  sum: row.sum,
  count: row.count,
  hours: row.hours,
  closedAt: row.closed_at,
  recordedAt: row.recorded_at,
  bornAt: row.born_at,
})

const columns = 'observed_at, value, recorded_at'
const range = 'series_id = ? AND observed_at >= ? AND observed_at < ?'

/** Observations with their history, and the bars that follow them. Ranges are half-open, results newest first unless said. */
export interface ObservationStore {
  /** Writes all points in one transaction with their revisions and bars. A point whose value is already current is left as it is. */
  write(points: readonly Point[], recordedAt: number): { counts: WriteCounts; changes: Change[] }
  between(seriesId: number, from: number, to: number, limit: number): Observation[]
  /** As `between`, without what was first recorded after `bornBy`. */
  bornBy(seriesId: number, from: number, to: number, bornBy: number, limit: number): Observation[]
  oldestFirst(seriesId: number, from: number, to: number): Observation[]
  /** The newest observation made before `before`. */
  newest(seriesId: number, before: number): Observation | undefined
  count(seriesId: number, from: number, to: number): number
  /** What was current at `asOf`. */
  asOf(seriesId: number, from: number, to: number, asOf: number, limit: number, offset: number): Observation[]
  countAsOf(seriesId: number, from: number, to: number, asOf: number): number
  /** The value first recorded for each point. */
  firstRecorded(seriesId: number, from: number, to: number, limit: number, offset: number): Observation[]
  bars(seriesId: number, span: Span, from: number, to: number, limit: number): Bar[]
  barsBornBy(seriesId: number, span: Span, from: number, to: number, bornBy: number, limit: number): Bar[]
  countBars(seriesId: number, span: Span, from: number, to: number): number
  /** Every day of a series that has observations, oldest first, with how many and in how many hours. */
  days(seriesId: number): { startsAt: number; count: number; hours: number }[]
  /** The newest revision inside a range, Unix ms of the correction. */
  revisedAt(seriesId: number, from: number, to: number): number | undefined
  /** Observations after (`seriesId`, `after`) in the order of the export: for streaming whole series. */
  after(seriesId: number, after: number, limit: number): Observation[]
  /** Series whose stored bars differ from what their observations give. */
  faults(): string[]
}

export function observationStore(db: Database): ObservationStore {
  const writer = observationWriter(db)
  const between = db.query<Row, number[]>(`SELECT ${columns} FROM observations WHERE ${range} ORDER BY observed_at DESC LIMIT ?`)
  // A corrected point is kept when its first value is old enough: the walk shows it with today's value and loses no row.
  const bornBy = db.query<Row, number[]>(
    `SELECT ${columns} FROM observations o WHERE ${range} AND (recorded_at <= ?4 OR EXISTS (
       SELECT 1 FROM observation_revisions r WHERE r.series_id = o.series_id AND r.observed_at = o.observed_at AND r.recorded_at <= ?4))
     ORDER BY observed_at DESC LIMIT ?5`.replace(range, 'series_id = ?1 AND observed_at >= ?2 AND observed_at < ?3'),
  )
  const forward = db.query<Row, number[]>(`SELECT ${columns} FROM observations WHERE ${range} ORDER BY observed_at`)
  const newest = db.query<Row, number[]>(
    `SELECT ${columns} FROM observations WHERE series_id = ? AND observed_at < ? ORDER BY observed_at DESC LIMIT 1`,
  )
  const count = db.query<{ n: number }, number[]>(`SELECT count(*) AS n FROM observations WHERE ${range}`)
  const known = `SELECT ${columns} FROM observations WHERE series_id = ?1 AND observed_at >= ?2 AND observed_at < ?3 AND recorded_at <= ?4
    UNION ALL SELECT ${columns} FROM observation_revisions
    WHERE series_id = ?1 AND observed_at >= ?2 AND observed_at < ?3 AND recorded_at <= ?4 AND replaced_at > ?4`
  const asOf = db.query<Row, number[]>(`${known} ORDER BY observed_at DESC LIMIT ?5 OFFSET ?6`)
  const countAsOf = db.query<{ n: number }, number[]>(`SELECT count(*) AS n FROM (${known})`)
  const firstRecorded = db.query<Row, number[]>(
    `SELECT o.observed_at, coalesce(r.value, o.value) AS value, coalesce(r.recorded_at, o.recorded_at) AS recorded_at
     FROM observations o LEFT JOIN observation_revisions r ON r.series_id = o.series_id AND r.observed_at = o.observed_at
       AND r.recorded_at = (SELECT min(recorded_at) FROM observation_revisions f WHERE f.series_id = o.series_id AND f.observed_at = o.observed_at)
     WHERE o.series_id = ? AND o.observed_at >= ? AND o.observed_at < ? ORDER BY o.observed_at DESC LIMIT ? OFFSET ?`,
  )
  const barColumns = 'starts_at, open, high, low, close, sum, count, hours, closed_at, recorded_at, born_at'
  const barRange = 'series_id = ? AND span = ? AND starts_at >= ? AND starts_at < ?'
  const bars = db.query<BarRow, number[]>(`SELECT ${barColumns} FROM bars WHERE ${barRange} ORDER BY starts_at DESC LIMIT ?`)
  const barsBornBy = db.query<BarRow, number[]>(
    `SELECT ${barColumns} FROM bars WHERE ${barRange} AND born_at <= ? ORDER BY starts_at DESC LIMIT ?`,
  )
  const countBars = db.query<{ n: number }, number[]>(`SELECT count(*) AS n FROM bars WHERE ${barRange}`)
  const days = db.query<{ startsAt: number; count: number; hours: number }, number[]>(
    'SELECT starts_at AS startsAt, count, hours FROM bars WHERE series_id = ? AND span = 24 ORDER BY starts_at',
  )
  const revisedAt = db.query<{ at: number | null }, number[]>(`SELECT max(replaced_at) AS at FROM observation_revisions WHERE ${range}`)
  const after = db.query<Row, number[]>(
    `SELECT ${columns} FROM observations WHERE series_id = ? AND observed_at > ? ORDER BY observed_at LIMIT ?`,
  )
  return {
    write: writer,
    between: (...args) => between.all(...args).map(observationOf),
    bornBy: (...args) => bornBy.all(...args).map(observationOf),
    oldestFirst: (...args) => forward.all(...args).map(observationOf),
    newest(seriesId, before) {
      const row = newest.get(seriesId, before)
      return row ? observationOf(row) : undefined
    },
    count: (...args) => count.get(...args)!.n,
    asOf: (...args) => asOf.all(...args).map(observationOf),
    countAsOf: (...args) => countAsOf.get(...args)!.n,
    firstRecorded: (...args) => firstRecorded.all(...args).map(observationOf),
    bars: (...args) => bars.all(...args).map(barOf),
    barsBornBy: (...args) => barsBornBy.all(...args).map(barOf),
    countBars: (...args) => countBars.get(...args)!.n,
    days: seriesId => days.all(seriesId),
    revisedAt: (...args) => revisedAt.get(...args)?.at ?? undefined,
    after: (...args) => after.all(...args).map(observationOf),
    faults: () => barFaults(db),
  }
}

/** The write path: current values, revisions and bars in one transaction. */
function observationWriter(db: Database): ObservationStore['write'] {
  const current = db.query<Row, number[]>(`SELECT ${columns} FROM observations WHERE series_id = ? AND observed_at = ?`)
  const last = db.query<{ at: number | null }, number[]>('SELECT max(observed_at) AS at FROM observations WHERE series_id = ?')
  const insert = db.query('INSERT INTO observations (series_id, observed_at, value, recorded_at) VALUES (?, ?, ?, ?)')
  const update = db.query('UPDATE observations SET value = ?, recorded_at = ? WHERE series_id = ? AND observed_at = ?')
  const keep = db.query(
    'INSERT INTO observation_revisions (series_id, observed_at, recorded_at, value, replaced_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const bars = barWriter(db)

  const writeSeries = (seriesId: number, points: readonly Point[], recordedAt: number, counts: WriteCounts): Change => {
    const change: Change = { seriesId, inserted: [], revised: [] }
    // What lies after everything we hold can not be there yet: an append needs no look-up a point.
    const lastAt = last.get(seriesId)?.at ?? Number.NEGATIVE_INFINITY
    for (let i = 0; i < points.length; i++) {
      const point = points[i]!
      // Given twice in one write, the later wins and the earlier changes nothing.
      if (points[i + 1]?.observedAt === point.observedAt) {
        counts.unchanged += 1
        continue
      }
      const next: Observation = { observedAt: point.observedAt, value: point.value, recordedAt: point.recordedAt ?? recordedAt }
      const old = point.observedAt > lastAt ? null : current.get(seriesId, point.observedAt)
      if (!old) {
        insert.run(seriesId, next.observedAt, next.value, next.recordedAt)
        change.inserted.push(next)
      } else if (old.value === next.value) counts.unchanged += 1
      else {
        // Two corrections in one millisecond leave one revision: nobody could have asked between them.
        if (next.recordedAt > old.recorded_at) keep.run(seriesId, next.observedAt, old.recorded_at, old.value, next.recordedAt)
        else next.recordedAt = old.recorded_at
        update.run(next.value, next.recordedAt, seriesId, next.observedAt)
        change.revised.push(next)
      }
    }
    counts.inserted += change.inserted.length
    counts.revised += change.revised.length
    bars(change)
    return change
  }

  return (points, recordedAt) =>
    transact(db, () => {
      const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
      const changes: Change[] = []
      for (const [seriesId, group] of bySeries(points)) {
        const change = writeSeries(seriesId, group, recordedAt, counts)
        if (change.inserted.length + change.revised.length > 0) changes.push(change)
      }
      return { counts, changes }
    })
}

/** Points by series, oldest first; those of one instant stay in the order they came. */
function bySeries(points: readonly Point[]): Map<number, Point[]> {
  const groups = new Map<number, Point[]>()
  for (const point of points) {
    const group = groups.get(point.seriesId)
    if (group) group.push(point)
    else groups.set(point.seriesId, [point])
  }
  for (const group of groups.values()) if (!inOrder(group)) group.sort((a, b) => a.observedAt - b.observedAt)
  return groups
}

function inOrder(points: readonly Point[]): boolean {
  for (let i = 1; i < points.length; i++) if (points[i]!.observedAt < points[i - 1]!.observedAt) return false
  return true
}

/** Brings the hour and day bars of a change up to date: by adding to a bar where all is newer than it, otherwise by folding the bucket anew. */
function barWriter(db: Database): (change: Change) => void {
  const one = db.query<BarRow, number[]>(
    'SELECT starts_at, open, high, low, close, sum, count, hours, closed_at, recorded_at, born_at FROM bars WHERE series_id = ? AND span = ? AND starts_at = ?',
  )
  const lastStart = db.query<{ at: number | null }, number[]>('SELECT max(starts_at) AS at FROM bars WHERE series_id = ? AND span = ?')
  const forward = db.query<Row, number[]>(`SELECT ${columns} FROM observations WHERE ${range} ORDER BY observed_at`)
  const put = db.query(
    `INSERT INTO bars (series_id, span, starts_at, open, high, low, close, sum, count, hours, closed_at, recorded_at, born_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close, sum = excluded.sum,
       count = excluded.count, hours = excluded.hours, closed_at = excluded.closed_at, recorded_at = excluded.recorded_at,
       born_at = min(bars.born_at, excluded.born_at)`,
  )
  const save = (seriesId: number, span: Span, bar: Bar) =>
    put.run(
      seriesId, span, bar.startsAt, bar.open, bar.high, bar.low, bar.close, bar.sum, bar.count, bar.hours, bar.closedAt, bar.recordedAt, bar.bornAt,
    ) // biome-ignore format: one line a row of the statement
  const refold = (seriesId: number, from: number, to: number): Bar => {
    const rows = forward.all(seriesId, from, to).map(observationOf)
    const bar = openBar(from, rows[0]!)
    for (const row of rows.slice(1)) extendBar(bar, row)
    return bar
  }
  return ({ seriesId, inserted, revised }) => {
    for (const { span, interval } of spans) {
      const lastAt = lastStart.get(seriesId, span)?.at ?? Number.NEGATIVE_INFINITY
      const stale = new Set<number>()
      for (const point of revised) stale.add(bucketStart(interval, point.observedAt))
      let bar: Bar | undefined
      const close = () => {
        if (bar && !stale.has(bar.startsAt)) save(seriesId, span, bar)
      }
      for (const point of inserted) {
        const startsAt = bucketStart(interval, point.observedAt)
        if (bar?.startsAt === startsAt) {
          extendBar(bar, point)
          continue
        }
        close()
        const held = startsAt > lastAt ? null : one.get(seriesId, span, startsAt)
        if (held && point.observedAt <= held.closed_at) stale.add(startsAt)
        bar = held ? barOf(held) : undefined
        if (bar) extendBar(bar, point)
        else bar = openBar(startsAt, point)
      }
      close()
      for (const startsAt of stale) save(seriesId, span, refold(seriesId, startsAt, bucketEnd(interval, startsAt)))
    }
  }
}

/** Recomputes every bar inside SQLite and names the series and buckets that differ. Sums may differ by rounding, as SQLite adds in its own order. */
function barFaults(db: Database): string[] {
  const faults: string[] = []
  for (const { span } of spans) {
    const width = span === 1 ? hourMs : dayMs
    const rows = db
      .query<{ code: string; starts_at: number }, [number, number]>(
        `WITH fold AS (
           SELECT series_id, observed_at - ((observed_at % ?1) + ?1) % ?1 AS starts_at, max(value) AS high, min(value) AS low, sum(value) AS sum,
             count(*) AS count, max(observed_at) AS closed_at, count(DISTINCT observed_at / 3600000) AS hours
           FROM observations GROUP BY 1, 2)
         SELECT s.code, coalesce(b.starts_at, f.starts_at) AS starts_at
         FROM fold f FULL JOIN (SELECT * FROM bars WHERE span = ?2) b ON b.series_id = f.series_id AND b.starts_at = f.starts_at
         JOIN series s ON s.id = coalesce(b.series_id, f.series_id)
         WHERE b.starts_at IS NULL OR f.starts_at IS NULL OR b.high <> f.high OR b.low <> f.low OR b.count <> f.count OR b.hours <> f.hours
           OR b.closed_at <> f.closed_at OR abs(b.sum - f.sum) > 1e-9 * max(1, abs(f.sum))
         LIMIT 100`,
      )
      .all(width, span)
    faults.push(
      ...rows.map(row => `${row.code}: the ${span === 1 ? 'hour' : 'day'} bar at ${row.starts_at} does not follow its observations`),
    )
  }
  return faults
}
