import type { Database } from 'bun:sqlite'
import { lazy } from '../../../database/statement.ts'
import { rangesOf } from '../../../lib/time/ranges.ts'
import { isIn, type LoggedRange, promptMs, rangeColumns } from './log.ts'
import { createVintageReader } from './vintages.ts'

/** When a value of a time was recorded, or removed. */
export interface Noted {
  observedAt: number
  recordedAt: number
}

/**
 * Notes in the transaction under way, whose instant is `writtenAt`, values of a series that it has
 * recorded or removed, given oldest first. Every value is in the ranges of one transaction.
 */
export type NoteChanges = (writtenAt: number, seriesId: number, values: readonly Noted[]) => void

type Range = Omit<LoggedRange, 'writtenAt' | 'seriesId'>

export function changeNotes(db: Database): NoteChanges {
  // A range that grows within its transaction stays one row.
  const note = lazy(
    db,
    `INSERT INTO price_changes (written_at, series_id, first_at, last_at, recorded_from, recorded_to)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET last_at = max(last_at, excluded.last_at),
       recorded_to = max(recorded_to, excluded.recorded_to)`,
  )
  const remove = lazy(
    db,
    `DELETE FROM price_changes
     WHERE written_at = ? AND series_id = ? AND first_at = ? AND recorded_from = ?`,
  )
  const within = 'series_id = ?1 AND first_at <= ?3 AND last_at >= ?2 AND recorded_to >= ?4'
  const ofThePast = lazy<LoggedRange, number[]>(
    db,
    `SELECT ${rangeColumns} FROM price_changes INDEXED BY price_changes_of_the_past
     WHERE ${within} AND recorded_from <= ?5 AND recorded_from < written_at`,
  )
  const prompt = lazy<LoggedRange, number[]>(
    db,
    `SELECT ${rangeColumns} FROM price_changes
     WHERE ${within} AND written_at BETWEEN ?4 - ${promptMs} AND ?4 AND recorded_from <= ?4`,
  )
  const vintages = createVintageReader(db)
  const read = (seriesId: number, range: Range, limit: number) =>
    vintages.read(seriesId, range, limit).vintages

  return (writtenAt, seriesId, values) => {
    const put = (at: number, { firstAt, lastAt, recordedFrom, recordedTo }: Range) =>
      note.run(at, seriesId, firstAt, lastAt, recordedFrom, recordedTo)

    /** Notes values in few ranges, in which nothing else was recorded before. */
    const cover = (own: readonly Noted[], isExact: (range: Range, count: number) => boolean) => {
      const first = own[0]?.recordedAt
      const isOfOne = own.every(({ recordedAt }) => recordedAt === first)
      let next = 0
      for (const { from, to } of rangesOf(own.map(({ observedAt }) => observedAt))) {
        const begin = next
        while (next < own.length && own[next]!.observedAt <= to) next += 1
        const part = own.slice(begin, next)
        const range = { firstAt: from, lastAt: to, ...recordedIn(part) }
        if (isExact(range, part.length)) put(writtenAt, range)
        else if (isOfOne) for (const value of part) put(writtenAt, pointOf(value))
        else
          for (const same of Map.groupBy(part, value => value.recordedAt).values())
            cover(same, isExact)
      }
    }

    /** Takes values out of the range of another transaction, which it holds no more. */
    const takeOut = (range: LoggedRange, taken: readonly Noted[]) => {
      remove.run(range.writtenAt, seriesId, range.firstAt, range.recordedFrom)
      let firstAt = range.firstAt
      const keep = (lastAt: number) => {
        const rest = { ...range, firstAt, lastAt }
        if (firstAt <= lastAt && read(seriesId, rest, 1).length > 0) put(range.writtenAt, rest)
      }
      for (const [at, own] of Map.groupBy(taken, value => value.observedAt)) {
        keep(at - 1)
        for (const value of read(seriesId, { ...range, firstAt: at, lastAt: at }, 1))
          if (!own.some(({ recordedAt }) => recordedAt === value.recordedAt))
            put(range.writtenAt, pointOf(value))
        firstAt = at + 1
      }
      keep(range.lastAt)
    }

    const { recordedFrom, recordedTo } = recordedIn(values)
    // Nothing else was recorded since the transaction began.
    if (recordedFrom >= writtenAt) return cover(values, () => true)
    cover(
      values,
      (range, count) =>
        (range.firstAt === range.lastAt && range.recordedFrom === range.recordedTo) ||
        read(seriesId, range, count + 1).length <= count,
    )
    const bounds = [seriesId, values[0]!.observedAt, values.at(-1)!.observedAt] as const
    const instants = new Set(values.map(({ recordedAt }) => recordedAt))
    for (const range of [
      ...ofThePast.all(...bounds, recordedFrom, recordedTo),
      ...[...instants].flatMap(at => prompt.all(...bounds, at)),
    ]) {
      if (range.writtenAt === writtenAt) continue
      const taken = values.filter(value => isIn(range, value))
      if (taken.length > 0) takeOut(range, taken)
    }
  }
}

function recordedIn(values: readonly Noted[]): Pick<Range, 'recordedFrom' | 'recordedTo'> {
  let [recordedFrom, recordedTo] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { recordedAt } of values) {
    if (recordedAt < recordedFrom) recordedFrom = recordedAt
    if (recordedAt > recordedTo) recordedTo = recordedAt
  }
  return { recordedFrom, recordedTo }
}

const pointOf = ({ observedAt, recordedAt }: Noted): Range => ({
  firstAt: observedAt,
  lastAt: observedAt,
  recordedFrom: recordedAt,
  recordedTo: recordedAt,
})
