import type { Database } from 'bun:sqlite'
import { bornAt } from '../../../database/bar-columns.ts'
import { readAtOnce, transact } from '../../../database/database.ts'
import { lazy, statements } from '../../../database/statement.ts'
import type { WriteCounts } from '../../../database/write-counts.ts'
import { rangeNotes } from '../../../replication/store/change-log.ts'
import { changeNotes, type Noted } from '../../changes/store/notes.ts'
import type { Observation } from '../math/bars.ts'
import { barFaults } from './bars/faults.ts'
import { anyTime, type BarReads, bornBy, createBarReads } from './bars/reads.ts'
import { createBarWithdrawer } from './bars/withdrawer.ts'
import { type Change, createBarWriter } from './bars/writer.ts'

export type { Day } from './bars/reads.ts'
export type { Span } from './bars/recomputed.ts'
export type { Change } from './bars/writer.ts'

/**
 * A value to record. `recordedAt` overrides the moment of the call, for history whose publication
 * times are known: a value published before the current one becomes a revision and leaves the
 * current one alone.
 */
export interface Point {
  seriesId: number
  observedAt: number
  value: number
  recordedAt?: number
  /** The name of its source, where values of one batch have different sources. */
  source?: string
  /** The point has no value any more from `recordedAt` on; `value` is ignored. */
  deleted?: true
}

/** The source and the batch of written values: numbers of the tables `sources` and `batches`. */
export interface Origin {
  sourceId: number
  batchId: number
  /** Another instance recorded it, so nothing else is derived from it. */
  asRecorded?: boolean
}

/**
 * The origin of values without a known one: generated ones, and those from before origins were
 * stored.
 */
export const noOrigin: Origin = { sourceId: 0, batchId: 0 }

/**
 * Named as the code names them: a row comes out of the database as an observation, and a page needs
 * no second object for each.
 */
const columns = 'observed_at AS observedAt, value, recorded_at AS recordedAt'
const range = 'series_id = ?1 AND observed_at >= ?2 AND observed_at < ?3'
/** The values that were current at the moment `?4`. */
const currentAt = `SELECT ${columns} FROM observations WHERE ${range} AND recorded_at <= ?4
  UNION ALL SELECT ${columns} FROM observation_revisions WHERE ${range} AND recorded_at <= ?4 AND replaced_at > ?4`
/** The value first recorded for each point, of those that were there at the moment `?4`. */
const firstOfPoints = `SELECT o.observed_at AS observedAt, coalesce(r.value, o.value) AS value, coalesce(r.recorded_at, o.recorded_at) AS recordedAt
  FROM observations o LEFT JOIN observation_revisions r ON r.series_id = o.series_id AND r.observed_at = o.observed_at
    AND r.recorded_at = (SELECT min(recorded_at) FROM observation_revisions f WHERE f.series_id = o.series_id AND f.observed_at = o.observed_at)
  WHERE o.series_id = ?1 AND o.observed_at >= ?2 AND o.observed_at < ?3 AND coalesce(r.recorded_at, o.recorded_at) <= ?4`

/** A value that a point had, from its recording until it was replaced. */
export interface Vintage {
  value: number
  recordedAt: number
  /** Undefined: it is current. */
  replacedAt: number | undefined
  /** Its source and its batch; 0: unknown. */
  sourceId: number
  batchId: number
}

/** A value as it came to be known; undefined where the point has none any more from then on. */
export interface Recording {
  recordedAt: number
  observedAt: number
  value: number | undefined
}

export type ObservationReads = ReturnType<typeof createObservationReads>

/** Arrays of one length. */
export interface ObservationColumns {
  observedAt: Float64Array
  value: Float64Array
  recordedAt: Float64Array
}

/** The result of a write. */
export interface Written {
  counts: WriteCounts
  changes: Change[]
  /** Series whose current values are as before: earlier values of them became known. */
  pastOnly: number[]
}

/**
 * Observations with their history, and the bars that follow them. Ranges are half-open, results
 * newest first unless noted. `bornBy` leaves out points first recorded after that moment; the
 * others have today's value.
 */
export interface ObservationStore extends ObservationReads, BarReads {
  /**
   * Writes all points in one transaction with their revisions and bars. A point whose value is
   * already current is left as it is. A correction whose `recordedAt` is earlier than that of the
   * value it replaces takes its place for the whole time that value was known. `alongside` is
   * called at the end of the transaction when anything changed, for writes that belong to it;
   * `pastOnly` as in the result. `writtenAt` is the instant of the transaction, by which the feed of changes has the points;
   * `recordedAt` where it is absent.
   */
  write(
    points: readonly Point[],
    recordedAt: number,
    alongside?: (
      changes: readonly Change[],
      counts: WriteCounts,
      pastOnly: readonly number[],
    ) => void,
    origin?: Origin,
    writtenAt?: number,
  ): Written
  /**
   * Withdraws observations of one series from every read from `at` on; `as_of` still returns them
   * for the time before. One transaction, or a part of the caller's. `alongside` is called at its
   * end with the last values, each recorded when it was withdrawn. Returns since when none of them
   * has a value.
   */
  withdraw(
    seriesId: number,
    observedAts: readonly number[],
    at: number,
    origin?: Origin,
    alongside?: (removed: readonly Observation[]) => void,
    writtenAt?: number,
  ): number
  /** Sets the source of current values that equal the given ones. */
  attribute(points: readonly Point[], sourceId: number): void
  /**
   * Reports differences between stored bars and observations, and gaps between revisions, as
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
    attribute: createAttributer(db),
    faults: () => [...revisionFaults(db), ...barFaults(db, bars, reads.oldestFirst)],
  }
}

function createObservationReads(db: Database) {
  const sql = statements(db)
  const between = sql<Observation, number[]>`
    SELECT ${columns} FROM observations o WHERE ${range} AND ${bornBy('?4')} ORDER BY observed_at DESC LIMIT ?5`
  const forward = sql<Observation, number[]>`
    SELECT ${columns} FROM observations o WHERE ${range} AND ${bornBy('?4')} ORDER BY observed_at`
  const newest = sql<Observation, number[]>`
    SELECT ${columns} FROM observations WHERE series_id = ? AND observed_at < ? ORDER BY observed_at DESC LIMIT 1`
  const count = sql<{ n: number }, number[]>`
    SELECT count(*) AS n FROM observations o WHERE ${range} AND ${bornBy('?4')}`
  const asOf = sql<Observation, number[]>`${currentAt} ORDER BY observedAt DESC LIMIT ?5`
  const firstRecorded = sql<Observation, number[]>`
    ${firstOfPoints} ORDER BY o.observed_at DESC LIMIT ?5`
  const newestCurrent = sql<Observation, number[]>`
    SELECT ${columns} FROM observations WHERE series_id = ? AND observed_at < ? AND recorded_at <= ?
    ORDER BY observed_at DESC LIMIT 1`
  // The start of a batch is the time of writing, also where its values carry times of publication.
  const newestWritten = sql<{ at: number }, [number]>`
    SELECT coalesce(b.started_at, o.recorded_at) AS at FROM observations o
    LEFT JOIN batches b ON b.id = o.batch_id WHERE o.series_id = ? ORDER BY o.observed_at DESC LIMIT 1`
  const newestReplaced = sql<Observation, number[]>`
    SELECT ${columns} FROM observation_revisions WHERE series_id = ?1 AND observed_at < ?2 AND recorded_at <= ?3 AND replaced_at > ?3
    ORDER BY observed_at DESC LIMIT 1`
  // A bar has the time at which its day was first recorded; a withdrawn day has revisions but no
  // bar.
  const firstBirth = sql<{ at: number | null }, [number]>`
    SELECT min(at) AS at FROM (SELECT min(${bornAt('bars')}) AS at FROM bars WHERE series_id = ?1 AND span = 24
    UNION ALL SELECT min(recorded_at) FROM observation_revisions WHERE series_id = ?1)`
  const pointTimes = sql<{ at: number }, number[]>`
    SELECT observed_at AS at FROM observations WHERE ${range}
    UNION SELECT observed_at FROM observation_revisions WHERE ${range} ORDER BY 1 LIMIT ?4`
  const ofSeries = 'FROM observation_revisions r WHERE r.series_id = s.id'
  const revisedSpans = sql<{ seriesId: number; firstAt: number | null; lastAt: number }, []>`
    SELECT s.id AS seriesId, (SELECT min(observed_at) ${ofSeries}) AS firstAt,
      (SELECT max(observed_at) ${ofSeries}) AS lastAt FROM series s`
  const revised = sql<{ 1: 1 }, number[]>`
    SELECT 1 FROM observation_revisions WHERE ${range} LIMIT 1`
  const vintages = sql<Omit<Vintage, 'replacedAt'> & { replacedAt: number | null }, number[]>`
    SELECT value, recorded_at AS recordedAt, replaced_at AS replacedAt, source_id AS sourceId, batch_id AS batchId
    FROM observation_revisions WHERE series_id = ?1 AND observed_at = ?2
    UNION ALL SELECT value, recorded_at, NULL, source_id, batch_id FROM observations WHERE series_id = ?1 AND observed_at = ?2
    ORDER BY recordedAt`
  const span = 'series_id = ?1 AND recorded_at >= ?2 AND recorded_at < ?3'
  const recordings = sql<Omit<Recording, 'value'> & { value: number | null }, number[]>`
    SELECT recorded_at AS recordedAt, observed_at AS observedAt, value FROM observations WHERE ${span}
    UNION ALL SELECT recorded_at, observed_at, value FROM observation_revisions WHERE ${span}
    UNION ALL SELECT r.replaced_at, r.observed_at, NULL FROM observation_revisions r
      WHERE r.series_id = ?1 AND r.replaced_at >= ?2 AND r.replaced_at < ?3
        AND NOT EXISTS (SELECT 1 FROM observation_revisions n WHERE n.series_id = r.series_id
          AND n.observed_at = r.observed_at AND n.recorded_at = r.replaced_at)
        AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.series_id = r.series_id
          AND o.observed_at = r.observed_at AND o.recorded_at = r.replaced_at)
    ORDER BY recordedAt, observedAt`
  const after = sql<Observation, number[]>`
    SELECT ${columns} FROM observations WHERE series_id = ? AND observed_at > ? ORDER BY observed_at LIMIT ?`
  return {
    /** Runs reads of one state of the database: begun together, each costs half. Nothing may write. */
    together: <T>(reads: () => T): T => readAtOnce(db, reads),
    between: (seriesId: number, from: number, to: number, limit: number, bornBy = anyTime) =>
      between.all(seriesId, from, to, bornBy, limit),
    oldestFirst: (seriesId: number, from: number, to: number, bornBy = anyTime) =>
      forward.all(seriesId, from, to, bornBy),
    /** The newest observation made before `before`. */
    newest: (seriesId: number, before: number) => newest.get(seriesId, before),
    count: (seriesId: number, from: number, to: number, bornBy = anyTime) =>
      count.get(seriesId, from, to, bornBy)!.n,
    /** The values that were current at `moment`. */
    asOf: (seriesId: number, from: number, to: number, moment: number, limit: number) =>
      asOf.all(seriesId, from, to, moment, limit),
    /** The value first recorded for each point. */
    firstRecorded: (seriesId: number, from: number, to: number, limit: number, bornBy = anyTime) =>
      firstRecorded.all(seriesId, from, to, bornBy, limit),
    /** The newest observation made before `before` of those that were current at `moment`. */
    newestAsOf(seriesId: number, before: number, moment: number) {
      const current = newestCurrent.get(seriesId, before, moment)
      const replaced = newestReplaced.get(seriesId, before, moment)
      if (!current || !replaced) return current ?? replaced
      return replaced.observedAt > current.observedAt ? replaced : current
    },
    /** When the newest value of a series was recorded; undefined without any. */
    newestWrittenAt: (seriesId: number) => newestWritten.get(seriesId)?.at,
    /** When the first value of a series was recorded; undefined without any. */
    firstRecordedAt: (seriesId: number) => firstBirth.get(seriesId)?.at ?? undefined,
    /** Times of the points that have or had a value, oldest first. */
    pointTimes: (seriesId: number, from: number, to: number, limit: number) =>
      pointTimes.all(seriesId, from, to, limit).map(row => row.at),
    /** The times of the first and the last value of each series that was replaced or removed. */
    revisedSpans: (): { seriesId: number; firstAt: number; lastAt: number }[] =>
      revisedSpans
        .all()
        .flatMap(({ firstAt, ...span }) => (firstAt === null ? [] : { ...span, firstAt })),
    /** Whether a value of a series in `[from, to)` was replaced or removed. */
    isRevised: (seriesId: number, from: number, to: number) =>
      revised.get(seriesId, from, to) !== undefined,
    /** Every value that a point ever had, in the order of their recording. */
    vintages: (seriesId: number, observedAt: number): Vintage[] =>
      vintages
        .all(seriesId, observedAt)
        .map(row => ({ ...row, replacedAt: row.replacedAt ?? undefined })),
    /**
     * The recordings of a series in `[from, to)`, in that order; within a moment by time. Undefined:
     * others may run.
     */
    recordings: (seriesId: number, from: number, to: number): Iterable<Recording | undefined> =>
      recordings.all(seriesId, from, to).map(row => ({ ...row, value: row.value ?? undefined })),
    /** Observations after `time`, oldest first: for streaming whole series. */
    after: (seriesId: number, time: number, limit: number) => after.all(seriesId, time, limit),
    copy: createColumnReader(db),
  }
}

/** Reads long stretches: rows come as lists of cells, which cost less than objects. */
function createColumnReader(db: Database) {
  const sql = statements(db)
  const forward = sql<unknown, number[]>`
    SELECT ${columns} FROM observations WHERE ${range} ORDER BY observed_at LIMIT ?4`
  const asOf = sql<unknown, number[]>`${currentAt} ORDER BY observedAt LIMIT ?5`
  const firstRecorded = sql<unknown, number[]>`${firstOfPoints} ORDER BY o.observed_at LIMIT ?5`
  /**
   * Writes the observations of `[from, to)`, oldest first, into columns until these are full;
   * returns how many. With `point` those that were current at `point.asOf`, or where
   * `point.isCovered` is false the values first recorded.
   */
  return (
    seriesId: number,
    from: number,
    to: number,
    { observedAt, value, recordedAt }: ObservationColumns,
    point?: { asOf: number; isCovered: boolean },
  ): number => {
    const room = observedAt.length
    const rows =
      point === undefined
        ? forward.values(seriesId, from, to, room)
        : point.isCovered
          ? asOf.values(seriesId, from, to, point.asOf, room)
          : firstRecorded.values(seriesId, from, to, anyTime, room)
    for (let i = 0; i < rows.length; i += 1) {
      const row = rows[i] as [observedAt: number, value: number, recordedAt: number]
      observedAt[i] = row[0]
      value[i] = row[1]
      recordedAt[i] = row[2]
    }
    return rows.length
  }
}

/** The write path: current values, revisions and bars in one transaction. */
function createObservationWriter(
  db: Database,
  { oldestFirst }: ObservationReads,
): ObservationStore['write'] {
  const writeSeries = createSeriesWriter(db)
  const updateBars = createBarWriter(db, oldestFirst)
  const noteRange = rangeNotes(db)
  const noteChange = changeNotes(db)
  return (points, recordedAt, alongside, origin = noOrigin, writtenAt = recordedAt) =>
    transact(db, () => {
      const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
      const changes: Change[] = []
      const pastOnly: number[] = []
      for (const [seriesId, group] of bySeries(points, recordedAt)) {
        const { change, past } = writeSeries(seriesId, group, recordedAt, counts, origin)
        updateBars(change, past)
        const written = writtenOf(change, past)
        noteRange(seriesId, () => written.map(point => point.observedAt))
        if (written.length > 0) noteChange(writtenAt, seriesId, written)
        if (change.inserted.length + change.revised.length > 0) changes.push(change)
        else if (past.length > 0) pastOnly.push(seriesId)
      }
      if (changes.length + pastOnly.length > 0) alongside?.(changes, counts, pastOnly)
      return { counts, changes, pastOnly }
    })
}

/** What a write of one series recorded, oldest first. */
function writtenOf(
  { inserted, revised }: Change,
  past: readonly Observation[],
): readonly Observation[] {
  if (revised.length === 0 && past.length === 0) return inserted
  return [...inserted, ...revised, ...past].sort((a, b) => a.observedAt - b.observedAt)
}

/** An observation as it is stored, and where it came from. */
type Stored = Observation & Origin

const storedColumns = `${columns}, source_id AS sourceId, batch_id AS batchId`

/** With fewer points, each is looked up separately. */
const lookedUpMax = 16

/** Writes the points of one series, ordered as `bySeries` has them, and counts what it did. */
function createSeriesWriter(db: Database) {
  const sql = statements(db)
  const current = sql<Stored, number[]>`
    SELECT ${storedColumns} FROM observations WHERE series_id = ? AND observed_at = ?`
  const last = sql<{ at: number | null }, number[]>`
    SELECT max(observed_at) AS at FROM observations WHERE series_id = ?`
  const between = sql<Stored, number[]>`SELECT ${storedColumns} FROM observations
     WHERE series_id = ? AND observed_at BETWEEN ? AND ? LIMIT ?`
  /**
   * The stored value of an instant before the write; undefined where only a look-up can find it.
   * Points that fill gaps, and points that correct most of the stored values, need no look-up.
   */
  const storedBefore = (
    seriesId: number,
    points: readonly Point[],
    lastAt: number,
  ): ((at: number) => Stored | null | undefined) => {
    const [first, final] = [points[0]!.observedAt, points.at(-1)!.observedAt]
    if (first > lastAt) return () => null
    const unlessLater = (at: number) => (at > lastAt ? null : undefined)
    if (points.length <= lookedUpMax) return unlessLater
    const rows = between.all(seriesId, first, final, points.length + 1)
    // Few points among many that are stored.
    if (rows.length > points.length) return unlessLater
    const byInstant = new Map(rows.map(row => [row.observedAt, row]))
    return at => byInstant.get(at) ?? null
  }
  const withdrawals = createWithdrawals(db)
  const insert = createInserter(db)
  const update = sql`UPDATE observations SET value = ?, recorded_at = ?, source_id = ?, batch_id = ?
     WHERE series_id = ? AND observed_at = ?`
  const addRevision = sql`
    INSERT INTO observation_revisions (series_id, observed_at, recorded_at, value, replaced_at, source_id, batch_id, next_batch_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
  const addVintage = createVintageWriter(db)

  return (
    seriesId: number,
    points: readonly Point[],
    recordedAt: number,
    counts: WriteCounts,
    origin: Origin,
  ): { change: Change; past: Observation[] } => {
    const change: Change = { seriesId, inserted: [], revised: [], replaced: [], reborn: [] }
    const past: Observation[] = []
    insert.begin(seriesId, origin)
    const goneSince = withdrawals.of(seriesId, points)
    // A point after the newest one is new: an append needs no look-up for each point.
    const lastAt = last.get(seriesId)?.at ?? Number.NEGATIVE_INFINITY
    const storedAt = storedBefore(seriesId, points, lastAt)
    for (let i = 0; i < points.length; i += 1) {
      const point = points[i]!
      const next: Observation = {
        observedAt: point.observedAt,
        value: point.value,
        recordedAt: point.recordedAt ?? recordedAt,
      }
      const [before, after] = [points[i - 1], points[i + 1]]
      // The later of two values for one moment in one write wins; the earlier changes nothing.
      if (
        after?.observedAt === next.observedAt &&
        (after.recordedAt ?? recordedAt) === next.recordedAt
      ) {
        counts.unchanged += 1
        continue
      }
      // The point before it may have changed what is stored of their moment, or wait to be inserted.
      let old = before?.observedAt === next.observedAt ? undefined : storedAt(next.observedAt)
      if (old === undefined) {
        insert.flush()
        old = current.get(seriesId, next.observedAt)
      }
      if (!old) {
        // A point that was withdrawn and is written again begins after its earlier values, and was
        // absent for a moment.
        const goneAt = goneSince(next.observedAt)
        if (goneAt !== undefined) {
          const leastAt = point.recordedAt === undefined ? goneAt + 1 : goneAt
          next.recordedAt = Math.max(next.recordedAt, leastAt)
          change.reborn.push(next)
        }
        insert.add(next)
        change.inserted.push(next)
      } else if (point.recordedAt !== undefined && next.recordedAt < old.recordedAt) {
        if (addVintage(seriesId, next, old, origin)) past.push(next)
        else counts.unchanged += 1
      } else if (old.value === next.value) counts.unchanged += 1
      else {
        // Two corrections in one millisecond leave one revision, because no read could come between
        // them. Of two batches each keeps what it replaced, or neither could be undone.
        const isAnother = old.batchId !== origin.batchId && point.recordedAt === undefined
        if (next.recordedAt <= old.recordedAt)
          next.recordedAt = isAnother ? old.recordedAt + 1 : old.recordedAt
        if (next.recordedAt > old.recordedAt)
          addRevision.run(
            seriesId,
            next.observedAt,
            old.recordedAt,
            old.value,
            next.recordedAt,
            old.sourceId,
            old.batchId,
            origin.batchId,
          )
        update.run(
          next.value,
          next.recordedAt,
          origin.sourceId,
          origin.batchId,
          seriesId,
          next.observedAt,
        )
        change.revised.push(next)
        change.replaced.push(old.value)
      }
    }
    insert.flush()
    counts.inserted += change.inserted.length
    counts.revised += change.revised.length + past.length
    return { change, past }
  }
}

/**
 * Writes values known before the current value of an observation: the interval in which a value was
 * known begins at its time and ends where the next value begins. Returns whether anything is new.
 */
function createVintageWriter(db: Database) {
  const sql = statements(db)
  interface Interval {
    recordedAt: number
    value: number
    replacedAt: number
    batchId: number
    nextBatchId: number
  }
  const where = 'series_id = ?1 AND observed_at = ?2'
  const readIntervals = sql<Interval, number[]>`
    SELECT recorded_at AS recordedAt, value, replaced_at AS replacedAt, batch_id AS batchId,
      next_batch_id AS nextBatchId
    FROM observation_revisions WHERE ${where} ORDER BY recorded_at`
  const add = sql`
    INSERT INTO observation_revisions (series_id, observed_at, recorded_at, value, replaced_at, source_id, next_batch_id)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`
  const correct = sql`
    UPDATE observation_revisions SET value = ?4, source_id = ?5 WHERE ${where} AND recorded_at = ?3`
  const end = sql`
    UPDATE observation_revisions SET replaced_at = ?4, next_batch_id = ?5
    WHERE ${where} AND recorded_at = ?3`
  const begin = sql`
    UPDATE observation_revisions SET recorded_at = ?4 WHERE ${where} AND recorded_at = ?3`
  const beginCurrent = sql`UPDATE observations SET recorded_at = ?3 WHERE ${where}`
  return (
    seriesId: number,
    { observedAt, value, recordedAt }: Observation,
    current: Stored,
    { sourceId, batchId, asRecorded }: Origin,
  ) => {
    const intervals = readIntervals.all(seriesId, observedAt)
    const at = intervals.findLast(interval => interval.recordedAt <= recordedAt)
    const covers = at !== undefined && recordedAt < at.replacedAt
    if (covers && at.value === value) return false
    if (at?.recordedAt === recordedAt) {
      correct.run(seriesId, observedAt, recordedAt, value, sourceId)
      return true
    }
    const next = intervals.find(interval => interval.recordedAt > recordedAt)
    const following = next ?? current
    // The batch that ended the earlier value ends this one: its undo gives this one back. A batch
    // that wrote both of them is undone as one.
    const endedBy = covers ? at.nextBatchId : following.batchId
    const isOwn = endedBy === batchId
    if (covers) end.run(seriesId, observedAt, at.recordedAt, recordedAt, isOwn ? at.nextBatchId : 0)
    // Another instance had it since then: its datasets may have brought the value before it.
    const isSame = following.value === value && (!covers || at.replacedAt === following.recordedAt)
    if (asRecorded && isSame) {
      if (next) begin.run(seriesId, observedAt, next.recordedAt, recordedAt)
      else beginCurrent.run(seriesId, observedAt, recordedAt)
      return true
    }
    const replacedAt = covers ? at.replacedAt : following.recordedAt
    add.run(seriesId, observedAt, recordedAt, value, replacedAt, sourceId, isOwn ? 0 : endedBy)
    return true
  }
}

/** Finds points that have no value any more: they are few, and most series have none. */
function createWithdrawals(db: Database) {
  const sql = statements(db)
  const any = sql<{ 1: 1 }, number[]>`
    SELECT 1 FROM observation_revisions WHERE series_id = ? AND observed_at BETWEEN ? AND ? LIMIT 1`
  // From the points to their revisions: of those a series may have any number elsewhere.
  const endsOf = sql<{ observedAt: number; goneAt: number }, [number, string]>`
    SELECT observed_at AS observedAt, max(replaced_at) AS goneAt
    FROM json_each(?2) AS moment CROSS JOIN observation_revisions
    WHERE series_id = ?1 AND observed_at = moment.value GROUP BY observed_at`
  return {
    /** When one of the points, oldest first, lost its value. */
    of(
      seriesId: number,
      points: readonly { observedAt: number }[],
    ): (observedAt: number) => number | undefined {
      const [first, last] = [points[0], points.at(-1)]
      if (!first || !last || !any.get(seriesId, first.observedAt, last.observedAt))
        return () => undefined
      let byMoment: Map<number, number> | undefined
      return observedAt => {
        byMoment ??= new Map(
          endsOf
            .all(seriesId, JSON.stringify(points.map(point => point.observedAt)))
            .map(row => [row.observedAt, row.goneAt]),
        )
        return byMoment.get(observedAt)
      }
    },
  }
}

function createObservationWithdrawer(
  db: Database,
  { oldestFirst }: ObservationReads,
): ObservationStore['withdraw'] {
  const sql = statements(db)
  const keep = sql<{ value: number; recordedAt: number }, number[]>`
    INSERT INTO observation_revisions (series_id, observed_at, recorded_at, value, replaced_at, source_id, batch_id, next_batch_id)
    SELECT series_id, observed_at, recorded_at, value, max(?3, recorded_at + 1), source_id, batch_id, ?4 FROM observations
    WHERE series_id = ?1 AND observed_at = ?2 RETURNING value, replaced_at AS recordedAt`
  const drop = sql`DELETE FROM observations WHERE series_id = ? AND observed_at = ?`
  const bars = createBarWithdrawer(db, oldestFirst)
  const noteRange = rangeNotes(db)
  const noteChange = changeNotes(db)
  return (seriesId, observedAts, at, { batchId } = noOrigin, alongside, writtenAt = at) =>
    transact(db, () => {
      const gone: Noted[] = []
      const removed: Observation[] = []
      for (const observedAt of observedAts.toSorted((a, b) => a - b)) {
        const kept = keep.get(seriesId, observedAt, at, batchId)
        gone.push({ observedAt, recordedAt: kept?.recordedAt ?? at })
        if (kept) removed.push({ observedAt, ...kept })
        drop.run(seriesId, observedAt)
      }
      bars(seriesId, observedAts)
      noteRange(seriesId, () => gone.map(({ observedAt }) => observedAt))
      noteChange(writtenAt, seriesId, gone)
      alongside?.(removed)
      return gone.reduce((last, { recordedAt }) => Math.max(last, recordedAt), at)
    })
}

function createAttributer(db: Database): ObservationStore['attribute'] {
  const set = lazy(
    db,
    `UPDATE observations SET source_id = ?4 WHERE series_id = ?1 AND observed_at = ?2
       AND recorded_at = ?3 AND source_id <> ?4`,
  )
  const noteRange = rangeNotes(db)
  return (points, sourceId) =>
    transact(db, () => {
      for (const { seriesId, observedAt, recordedAt } of points) {
        if (recordedAt === undefined) continue
        const { changes } = set.run(seriesId, observedAt, recordedAt, sourceId)
        if (changes > 0) noteRange(seriesId, () => [observedAt])
      }
    })
}

/** Rows of one statement: crossing from here into SQLite costs as much as the row itself. */
const rowsEach = 100

/**
 * Collects new rows of one series and origin that are recorded at one moment, and writes them many
 * to a statement; `flush` writes what is left of them.
 */
function createInserter(db: Database) {
  const sql = statements(db)
  const into =
    'INSERT INTO observations (series_id, source_id, batch_id, recorded_at, observed_at, value) VALUES'
  // Values that all rows share are bound once.
  const row = (i: number) => `(?1, ?2, ?3, ?4, ?${5 + 2 * i}, ?${6 + 2 * i})`
  const insertOne = sql`${into} ${row(0)}`
  const insertMany = sql`${into} ${Array.from({ length: rowsEach }, (_, i) => row(i)).join(', ')}`
  let shared: [seriesId: number, sourceId: number, batchId: number] = [0, 0, 0]
  let recordedAt = 0
  let values: number[] = []
  const flush = () => {
    const rest = values
    // Emptied first: a statement that fails must not leave its rows to the next transaction.
    values = []
    if (rest.length === 2 * rowsEach) insertMany.run(...shared, recordedAt, ...rest)
    else
      for (let i = 0; i < rest.length; i += 2)
        insertOne.run(...shared, recordedAt, rest[i]!, rest[i + 1]!)
  }
  return {
    begin(seriesId: number, { sourceId, batchId }: Origin) {
      shared = [seriesId, sourceId, batchId]
    },
    add(point: Observation) {
      if (point.recordedAt !== recordedAt) {
        flush()
        recordedAt = point.recordedAt
      }
      values.push(point.observedAt, point.value)
      if (values.length === 2 * rowsEach) flush()
    },
    flush,
  }
}

/** Points by series, in the order in which they come. */
export function groupBySeries(points: readonly Point[]): Map<number, Point[]> {
  const groups = new Map<number, Point[]>()
  for (let from = 0, to = 0; from < points.length; from = to) {
    const { seriesId } = points[from]!
    // Most writes have one series after the other.
    while (to < points.length && points[to]!.seriesId === seriesId) to += 1
    const group = groups.get(seriesId)
    const stretch = points.slice(from, to)
    if (group) for (const point of stretch) group.push(point)
    else groups.set(seriesId, stretch)
  }
  return groups
}

/**
 * Points by series, oldest first; those of one moment in the order of their recording, and recorded
 * at once in the order they came.
 */
function bySeries(points: readonly Point[], recordedAt: number): Map<number, Point[]> {
  const groups = groupBySeries(points)
  const order = (a: Point, b: Point) =>
    a.observedAt - b.observedAt || (a.recordedAt ?? recordedAt) - (b.recordedAt ?? recordedAt)
  for (const group of groups.values()) if (!isSorted(group, order)) group.sort(order)
  return groups
}

function isSorted(group: readonly Point[], order: (a: Point, b: Point) => number): boolean {
  for (let i = 1; i < group.length; i += 1) if (order(group[i - 1]!, group[i]!) > 0) return false
  return true
}

/**
 * Each revision ends where the next value begins. Between the two there is time only where a batch
 * took the value out: then the next one is not of that batch, or a file said both.
 */
function revisionFaults(db: Database): string[] {
  return db
    .query<{ code: string; observedAt: number }, []>(
      `WITH following AS (
         SELECT r.*, coalesce(
             (SELECT min(n.recorded_at) FROM observation_revisions n WHERE n.series_id = r.series_id
               AND n.observed_at = r.observed_at AND n.recorded_at > r.recorded_at),
             (SELECT o.recorded_at FROM observations o
               WHERE o.series_id = r.series_id AND o.observed_at = r.observed_at)) AS next_at
         FROM observation_revisions r)
       SELECT s.code, f.observed_at AS observedAt FROM following f JOIN series s ON s.id = f.series_id
       WHERE f.replaced_at <= f.recorded_at OR f.replaced_at > f.next_at OR (f.replaced_at < f.next_at
         AND f.next_batch_id = coalesce(
           (SELECT n.batch_id FROM observation_revisions n WHERE n.series_id = f.series_id
             AND n.observed_at = f.observed_at AND n.recorded_at = f.next_at),
           (SELECT o.batch_id FROM observations o
             WHERE o.series_id = f.series_id AND o.observed_at = f.observed_at))
         AND NOT EXISTS (SELECT 1 FROM batches b
           WHERE b.id = f.next_batch_id AND b.kind IN ('file', 'push')))
       ORDER BY 1, 2 LIMIT 100`,
    )
    .all()
    .map(row => `${row.code}: the revisions of the observation at ${row.observedAt} do not join up`)
}
