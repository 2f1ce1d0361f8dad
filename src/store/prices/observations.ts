import type { Database } from 'bun:sqlite'
import type { Observation } from '../../market/prices/bars.ts'
import { transact } from '../database.ts'
import type { WriteCounts } from '../write-counts.ts'
import {
  anyTime,
  type BarReads,
  barFaults,
  bornBy,
  type Change,
  createBarReads,
  createBarWithdrawer,
  createBarWriter,
} from './bars.ts'

export type { Change, Day, Span } from './bars.ts'

/**
 * A value to record. `recordedAt` overrides the moment of the call, for history whose publication
 * times are known: what was published before the current value goes into the past and leaves the
 * current value alone.
 */
export interface Point {
  seriesId: number
  observedAt: number
  value: number
  recordedAt?: number
}

/**
 * Named as the code names them: a row comes out of the database as an observation, and a page needs
 * no second object for each.
 */
const columns = 'observed_at AS observedAt, value, recorded_at AS recordedAt'
const range = 'series_id = ?1 AND observed_at >= ?2 AND observed_at < ?3'

interface ObservationReads {
  between(seriesId: number, from: number, to: number, limit: number, bornBy?: number): Observation[]
  oldestFirst(seriesId: number, from: number, to: number, bornBy?: number): Observation[]
  /** The newest observation made before `before`. */
  newest(seriesId: number, before: number): Observation | undefined
  count(seriesId: number, from: number, to: number, bornBy?: number): number
  /** What was current at `asOf`. */
  asOf(seriesId: number, from: number, to: number, asOf: number, limit: number): Observation[]
  /** The value first recorded for each point. */
  firstRecorded(
    seriesId: number,
    from: number,
    to: number,
    limit: number,
    bornBy?: number,
  ): Observation[]
  /** Observations after `after`, oldest first: for streaming whole series. */
  after(seriesId: number, after: number, limit: number): Observation[]
}

/**
 * Observations with their history, and the bars that follow them. Ranges are half-open, results
 * newest first unless said. `bornBy` leaves out what was first recorded after that moment; what it
 * keeps has today's value.
 */
export interface ObservationStore extends ObservationReads, BarReads {
  /**
   * Writes all points in one transaction with their revisions and bars. A point whose value is
   * already current is left as it is. A correction that claims to be recorded before the value it
   * replaces takes its place for the whole time that value was known. `alongside` is called at the
   * end of the transaction when anything changed, for what must be written with it.
   */
  write(
    points: readonly Point[],
    recordedAt: number,
    alongside?: (changes: readonly Change[]) => void,
  ): { counts: WriteCounts; changes: Change[] }
  /**
   * Takes observations of one series out of every read from `at` on; `as_of` still answers them for
   * the time before. Called inside the transaction of what takes their place.
   */
  withdraw(seriesId: number, observedAts: readonly number[], at: number): void
  /**
   * Where the stored bars differ from what the observations give, or revisions do not join up, in
   * sentences; at most a hundred of each kind.
   */
  faults(): string[]
}

export function createObservationStore(db: Database): ObservationStore {
  const reads = createObservationReads(db)
  const bars = createBarReads(db)
  return {
    ...reads,
    ...bars,
    write: createObservationWriter(db, reads),
    withdraw: createObservationWithdrawer(db, reads),
    faults: () => [...revisionFaults(db), ...barFaults(db, bars, reads.oldestFirst)],
  }
}

function createObservationReads(db: Database): ObservationReads {
  const between = db.query<Observation, number[]>(
    `SELECT ${columns} FROM observations o WHERE ${range} AND ${bornBy('?4')} ORDER BY observed_at DESC LIMIT ?5`,
  )
  const forward = db.query<Observation, number[]>(
    `SELECT ${columns} FROM observations o WHERE ${range} AND ${bornBy('?4')} ORDER BY observed_at`,
  )
  const newest = db.query<Observation, number[]>(
    `SELECT ${columns} FROM observations WHERE series_id = ? AND observed_at < ? ORDER BY observed_at DESC LIMIT 1`,
  )
  const count = db.query<{ n: number }, number[]>(
    `SELECT count(*) AS n FROM observations o WHERE ${range} AND ${bornBy('?4')}`,
  )
  const asOf = db.query<Observation, number[]>(
    `SELECT ${columns} FROM observations WHERE ${range} AND recorded_at <= ?4
     UNION ALL SELECT ${columns} FROM observation_revisions WHERE ${range} AND recorded_at <= ?4 AND replaced_at > ?4
     ORDER BY observedAt DESC LIMIT ?5`,
  )
  const firstRecorded = db.query<Observation, number[]>(
    `SELECT o.observed_at AS observedAt, coalesce(r.value, o.value) AS value, coalesce(r.recorded_at, o.recorded_at) AS recordedAt
     FROM observations o LEFT JOIN observation_revisions r ON r.series_id = o.series_id AND r.observed_at = o.observed_at
       AND r.recorded_at = (SELECT min(recorded_at) FROM observation_revisions f WHERE f.series_id = o.series_id AND f.observed_at = o.observed_at)
     WHERE o.series_id = ?1 AND o.observed_at >= ?2 AND o.observed_at < ?3 AND coalesce(r.recorded_at, o.recorded_at) <= ?4
     ORDER BY o.observed_at DESC LIMIT ?5`,
  )
  const after = db.query<Observation, number[]>(
    `SELECT ${columns} FROM observations WHERE series_id = ? AND observed_at > ? ORDER BY observed_at LIMIT ?`,
  )
  return {
    between: (id, from, to, limit, bornBy = anyTime) => between.all(id, from, to, bornBy, limit),
    oldestFirst: (id, from, to, bornBy = anyTime) => forward.all(id, from, to, bornBy),
    newest: (...args) => newest.get(...args) ?? undefined,
    count: (id, from, to, bornBy = anyTime) => count.get(id, from, to, bornBy)!.n,
    asOf: (...args) => asOf.all(...args),
    firstRecorded: (id, from, to, limit, bornBy = anyTime) =>
      firstRecorded.all(id, from, to, bornBy, limit),
    after: (...args) => after.all(...args),
  }
}

/** The write path: current values, revisions and bars in one transaction. */
function createObservationWriter(
  db: Database,
  { oldestFirst }: ObservationReads,
): ObservationStore['write'] {
  const writeSeries = createSeriesWriter(db)
  const updateBars = createBarWriter(db, oldestFirst)
  return (points, recordedAt, alongside) =>
    transact(db, () => {
      const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
      const changes: Change[] = []
      for (const [seriesId, group] of bySeries(points, recordedAt)) {
        const { change, past } = writeSeries(seriesId, group, recordedAt, counts)
        updateBars(change, past)
        if (change.inserted.length + change.revised.length > 0) changes.push(change)
      }
      if (changes.length > 0) alongside?.(changes)
      return { counts, changes }
    })
}

/** Writes the points of one series, ordered as `bySeries` has them, and counts what it did. */
function createSeriesWriter(db: Database) {
  const current = db.query<Observation, number[]>(
    `SELECT ${columns} FROM observations WHERE series_id = ? AND observed_at = ?`,
  )
  const last = db.query<{ at: number | null }, number[]>(
    'SELECT max(observed_at) AS at FROM observations WHERE series_id = ?',
  )
  const insert = createInserter(db)
  const update = db.query(
    'UPDATE observations SET value = ?, recorded_at = ? WHERE series_id = ? AND observed_at = ?',
  )
  const addRevision = db.query(
    'INSERT INTO observation_revisions (series_id, observed_at, recorded_at, value, replaced_at) VALUES (?, ?, ?, ?, ?)',
  )
  const addVintage = createVintageWriter(db)

  return (
    seriesId: number,
    points: readonly Point[],
    recordedAt: number,
    counts: WriteCounts,
  ): { change: Change; past: Observation[] } => {
    const change: Change = { seriesId, inserted: [], revised: [] }
    const past: Observation[] = []
    // A point after the newest one is new: an append needs no look-up for each point.
    const lastAt = last.get(seriesId)?.at ?? Number.NEGATIVE_INFINITY
    for (const [i, point] of points.entries()) {
      const next: Observation = {
        observedAt: point.observedAt,
        value: point.value,
        recordedAt: point.recordedAt ?? recordedAt,
      }
      const [before, after] = [points[i - 1], points[i + 1]]
      // Given twice for one moment in one write, the later wins and the earlier changes nothing.
      if (
        after?.observedAt === next.observedAt &&
        (after.recordedAt ?? recordedAt) === next.recordedAt
      ) {
        counts.unchanged += 1
        continue
      }
      const isNew = next.observedAt > lastAt && before?.observedAt !== next.observedAt
      if (!isNew) insert.flush()
      const old = isNew ? null : current.get(seriesId, next.observedAt)
      if (!old) {
        insert.add(seriesId, next)
        change.inserted.push(next)
      } else if (point.recordedAt !== undefined && next.recordedAt < old.recordedAt) {
        if (addVintage(seriesId, next, old)) past.push(next)
        else counts.unchanged += 1
      } else if (old.value === next.value) counts.unchanged += 1
      else {
        // Two corrections in one millisecond leave one revision: nobody could have asked between
        // them.
        if (next.recordedAt > old.recordedAt)
          addRevision.run(seriesId, next.observedAt, old.recordedAt, old.value, next.recordedAt)
        else next.recordedAt = old.recordedAt
        update.run(next.value, next.recordedAt, seriesId, next.observedAt)
        change.revised.push(next)
      }
    }
    insert.flush()
    counts.inserted += change.inserted.length
    counts.revised += change.revised.length + past.length
    return { change, past }
  }
}

/**
 * Writes what was known before the current value of an observation: the interval in which it was
 * known begins at its time and ends where the next value begins. Answers whether anything is new.
 */
function createVintageWriter(db: Database) {
  interface Interval {
    recordedAt: number
    value: number
    replacedAt: number
  }
  const where = 'series_id = ?1 AND observed_at = ?2'
  const known = db.query<Interval, number[]>(
    `SELECT recorded_at AS recordedAt, value, replaced_at AS replacedAt FROM observation_revisions
     WHERE ${where} ORDER BY recorded_at`,
  )
  const add = db.query(
    'INSERT INTO observation_revisions (series_id, observed_at, recorded_at, value, replaced_at) VALUES (?1, ?2, ?3, ?4, ?5)',
  )
  const correct = db.query(
    `UPDATE observation_revisions SET value = ?4 WHERE ${where} AND recorded_at = ?3`,
  )
  const end = db.query(
    `UPDATE observation_revisions SET replaced_at = ?4 WHERE ${where} AND recorded_at = ?3`,
  )
  const begin = db.query(
    `UPDATE observation_revisions SET recorded_at = ?4 WHERE ${where} AND recorded_at = ?3`,
  )
  const beginCurrent = db.query(`UPDATE observations SET recorded_at = ?3 WHERE ${where}`)
  return (
    seriesId: number,
    { observedAt, value, recordedAt }: Observation,
    current: Observation,
  ) => {
    const intervals = known.all(seriesId, observedAt)
    const at = intervals.findLast(one => one.recordedAt <= recordedAt)
    const covers = at !== undefined && recordedAt < at.replacedAt
    if (covers && at.value === value) return false
    if (at?.recordedAt === recordedAt) {
      correct.run(seriesId, observedAt, recordedAt, value)
      return true
    }
    const next = intervals.find(one => one.recordedAt > recordedAt)
    const following = next ?? current
    if (covers) end.run(seriesId, observedAt, at.recordedAt, recordedAt)
    // The same value once more: it was known for longer.
    if (following.value === value && (!covers || at.replacedAt === following.recordedAt)) {
      if (next) begin.run(seriesId, observedAt, next.recordedAt, recordedAt)
      else beginCurrent.run(seriesId, observedAt, recordedAt)
      return true
    }
    add.run(seriesId, observedAt, recordedAt, value, covers ? at.replacedAt : following.recordedAt)
    return true
  }
}

function createObservationWithdrawer(
  db: Database,
  { oldestFirst }: ObservationReads,
): ObservationStore['withdraw'] {
  const keep = db.query(
    `INSERT INTO observation_revisions (series_id, observed_at, recorded_at, value, replaced_at)
     SELECT series_id, observed_at, recorded_at, value, max(?3, recorded_at + 1) FROM observations
     WHERE series_id = ?1 AND observed_at = ?2`,
  )
  const drop = db.query('DELETE FROM observations WHERE series_id = ? AND observed_at = ?')
  const bars = createBarWithdrawer(db, oldestFirst)
  return (seriesId, observedAts, at) => {
    for (const observedAt of observedAts) {
      keep.run(seriesId, observedAt, at)
      drop.run(seriesId, observedAt)
    }
    bars(seriesId, observedAts)
  }
}

/** Rows of one statement: crossing from here into SQLite costs as much as the row itself. */
const rowsEach = 32

/** Collects new rows and writes them many to a statement; `flush` writes what is left of them. */
function createInserter(db: Database) {
  const into = 'INSERT INTO observations (series_id, observed_at, value, recorded_at) VALUES'
  const insertOne = db.query(`${into} (?, ?, ?, ?)`)
  const insertMany = db.query(
    `${into} ${Array.from({ length: rowsEach }, () => '(?, ?, ?, ?)').join(', ')}`,
  )
  let values: number[] = []
  return {
    add(seriesId: number, { observedAt, value, recordedAt }: Observation) {
      values.push(seriesId, observedAt, value, recordedAt)
      if (values.length < 4 * rowsEach) return
      const full = values
      // Emptied first: a statement that fails must not leave its rows to the next transaction.
      values = []
      insertMany.run(...full)
    },
    flush() {
      const rest = values
      values = []
      for (let i = 0; i < rest.length; i += 4)
        insertOne.run(rest[i]!, rest[i + 1]!, rest[i + 2]!, rest[i + 3]!)
    },
  }
}

/**
 * Points by series, oldest first; those of one moment in the order of their recording, and recorded
 * at once in the order they came.
 */
function bySeries(points: readonly Point[], recordedAt: number): Map<number, Point[]> {
  const groups = new Map<number, Point[]>()
  for (const point of points) {
    const group = groups.get(point.seriesId)
    if (group) group.push(point)
    else groups.set(point.seriesId, [point])
  }
  const order = (a: Point, b: Point) =>
    a.observedAt - b.observedAt || (a.recordedAt ?? recordedAt) - (b.recordedAt ?? recordedAt)
  const isSorted = (group: readonly Point[]) =>
    group.every((point, i) => i === 0 || order(group[i - 1]!, point) <= 0)
  for (const group of groups.values()) if (!isSorted(group)) group.sort(order)
  return groups
}

/** Each revision ends where the next one, or the current value, begins. */
function revisionFaults(db: Database): string[] {
  return db
    .query<{ code: string; observedAt: number }, []>(
      `SELECT s.code, r.observed_at AS observedAt FROM observation_revisions r JOIN series s ON s.id = r.series_id
       WHERE r.replaced_at <= r.recorded_at OR r.replaced_at IS NOT coalesce(
         (SELECT min(n.recorded_at) FROM observation_revisions n
           WHERE n.series_id = r.series_id AND n.observed_at = r.observed_at AND n.recorded_at > r.recorded_at),
         (SELECT o.recorded_at FROM observations o WHERE o.series_id = r.series_id AND o.observed_at = r.observed_at),
        -- What was withdrawn has no value after its last one.
        r.replaced_at)
       ORDER BY 1, 2 LIMIT 100`,
    )
    .all()
    .map(row => `${row.code}: the revisions of the observation at ${row.observedAt} do not join up`)
}
