import type { Database } from 'bun:sqlite'
import { lazy } from '../../../database/statement.ts'

/** A value of a series for one time, as it became known at an instant. */
export interface Vintage {
  observedAt: number
  recordedAt: number
  /** Undefined: the time has no value from then on. */
  value: number | undefined
  /** The value just before; undefined: there was none. */
  previous: number | undefined
  /** 0: unknown. */
  sourceId: number
  /** The source of the value just before; 0 where there was none. */
  previousSourceId: number
  batchId: number
}

/** Which vintages of a series; all ends are inclusive. */
export interface VintageRange {
  firstAt: number
  lastAt: number
  recordedFrom: number
  recordedTo: number
}

type Times = Pick<VintageRange, 'firstAt' | 'lastAt'>

/** So many vintages are read at a time. */
const eachTime = 1_000

export type VintageReader = ReturnType<typeof createVintageReader>

interface CurrentRow {
  observedAt: number
  recordedAt: number
  value: number
  sourceId: number
  batchId: number
}

interface ReplacedRow extends CurrentRow {
  replacedAt: number
  nextBatchId: number
}

const columns =
  'observed_at AS observedAt, recorded_at AS recordedAt, value, source_id AS sourceId, batch_id AS batchId'
const within = 'series_id = ?1 AND observed_at BETWEEN ?2 AND ?3'

/** Reads vintages from the values and their revisions, in the order of time and recording. */
export function createVintageReader(db: Database) {
  const recorded = lazy<CurrentRow, number[]>(
    db,
    `SELECT ${columns} FROM observations
     WHERE ${within} AND recorded_at BETWEEN ?4 AND ?5 ORDER BY observed_at LIMIT ?6`,
  )
  // Points beyond the last one that is wanted are not read: some have thousands of revisions.
  const revisedTimes = lazy<{ observedAt: number }, number[]>(
    db,
    `SELECT DISTINCT observed_at AS observedAt FROM observation_revisions
     WHERE ${within} AND (recorded_at BETWEEN ?4 AND ?5 OR replaced_at BETWEEN ?4 AND ?5)
     ORDER BY observed_at LIMIT ?6`,
  )
  const revisions = lazy<ReplacedRow, number[]>(
    db,
    `SELECT ${columns}, replaced_at AS replacedAt, next_batch_id AS nextBatchId
     FROM observation_revisions WHERE series_id = ? AND observed_at = ? ORDER BY recorded_at`,
  )
  const current = lazy<CurrentRow, number[]>(
    db,
    `SELECT ${columns} FROM observations WHERE series_id = ? AND observed_at = ?`,
  )

  const extent = lazy<{ firstAt: number | null; lastAt: number }, [number]>(
    db,
    `SELECT min(first) AS firstAt, max(last) AS lastAt FROM (
       SELECT (SELECT min(observed_at) FROM observations WHERE series_id = ?1) AS first,
         (SELECT max(observed_at) FROM observations WHERE series_id = ?1) AS last
       UNION ALL SELECT (SELECT min(observed_at) FROM observation_revisions WHERE series_id = ?1),
         (SELECT max(observed_at) FROM observation_revisions WHERE series_id = ?1))`,
  )
  const times = lazy<{ observedAt: number }, number[]>(
    db,
    `SELECT observed_at AS observedAt FROM observations WHERE ${within}
     UNION SELECT observed_at FROM observation_revisions WHERE ${within}`,
  )

  /** All versions of a time, in that order. */
  const historyOf = (seriesId: number, observedAt: number): Vintage[] => {
    const rows: (CurrentRow & Partial<ReplacedRow>)[] = revisions.all(seriesId, observedAt)
    const last = current.get(seriesId, observedAt)
    if (last) rows.push(last)
    return rows.flatMap((row, i) => {
      const { recordedAt, value, sourceId, batchId, replacedAt } = row
      const before = rows[i - 1]
      const follows = before?.replacedAt === recordedAt ? before : undefined
      const known = {
        observedAt,
        recordedAt,
        value,
        previous: follows?.value,
        sourceId,
        previousSourceId: follows?.sourceId ?? 0,
        batchId,
      }
      if (replacedAt === undefined || rows[i + 1]?.recordedAt === replacedAt) return [known]
      const removed = {
        observedAt,
        recordedAt: replacedAt,
        value: undefined,
        previous: value,
        sourceId,
        previousSourceId: sourceId,
        batchId: row.nextBatchId ?? 0,
      }
      return [known, removed]
    })
  }

  const reader = {
    /** The first and the last time that has or had a value; undefined: none ever had. */
    extent(seriesId: number): Times | undefined {
      const { firstAt, lastAt } = extent.get(seriesId)!
      return firstAt === null ? undefined : { firstAt, lastAt }
    },
    /** The times of a stretch that have or had values. */
    times: (seriesId: number, { firstAt, lastAt }: Times): number[] =>
      times.all(seriesId, firstAt, lastAt).map(({ observedAt }) => observedAt),
    /** All vintages of a range, oldest first. */
    *all(seriesId: number, range: VintageRange): Generator<Vintage> {
      for (let { firstAt } = range; firstAt <= range.lastAt; ) {
        const { vintages, isWhole } = reader.read(seriesId, { ...range, firstAt }, eachTime)
        yield* vintages
        if (isWhole) return
        firstAt = vintages.at(-1)!.observedAt + 1
      }
    },
    /**
     * The vintages of a range, oldest first, at least `limit` of them where there are as many: those
     * of one time stay together. `isWhole`: there are no more.
     */
    read(
      seriesId: number,
      { firstAt, lastAt, recordedFrom, recordedTo }: VintageRange,
      limit: number,
    ): { vintages: Vintage[]; isWhole: boolean } {
      const bounds = [seriesId, firstAt, lastAt, recordedFrom, recordedTo, limit]
      const values = recorded.all(...bounds)
      const revised = revisedTimes.all(...bounds)
      // Whichever is full ends before the range does.
      const until = Math.min(
        values.length < limit ? lastAt : values.at(-1)!.observedAt,
        revised.length < limit ? lastAt : revised.at(-1)!.observedAt,
      )
      const times = new Set(revised.map(row => row.observedAt))
      const vintages: Vintage[] = values
        .filter(row => row.observedAt <= until && !times.has(row.observedAt))
        .map(row => ({ ...row, previous: undefined, previousSourceId: 0 }))
      for (const at of times) {
        if (at > until) break
        for (const vintage of historyOf(seriesId, at))
          if (vintage.recordedAt >= recordedFrom && vintage.recordedAt <= recordedTo)
            vintages.push(vintage)
      }
      vintages.sort((a, b) => a.observedAt - b.observedAt || a.recordedAt - b.recordedAt)
      return { vintages, isWhole: until === lastAt }
    },
  }
  return reader
}
