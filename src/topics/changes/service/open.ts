import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { noteMissedRows } from '../../../database/dataset-log.ts'
import { calendarOf } from '../../calendars/math/calendar.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { isComputed, type Series } from '../../catalogue/store/series.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'
import type { Ingest } from '../../prices/service/writes/ingest.ts'
import { beginning, type Cursor, endOf, type Place } from '../math/cursor.ts'
import { createRowVersionReader } from '../store/dataset-versions.ts'
import type { ChangeLogStore, EventDetails } from '../store/log.ts'
import { createVintageReader } from '../store/vintages.ts'
import { createChangeFeed, type FeedDeps } from './feed.ts'
import { audienceOf, isViewOnly, noAudience } from './history.ts'

/** A cursor of a line that ended before it: its records do not exist. */
export interface GoneCursor {
  /** The last place that both lines have. */
  fork: Cursor
}

/** The feed of changes, and what it is noted by. */
export type Changes = ReturnType<typeof openChanges>

/** A series by its code and, if it has one, its owner. */
interface NamedSeries {
  code: string
  owner?: string
}

export function openChanges(
  deps: Omit<FeedDeps, 'log' | 'rowVersions' | 'vintages'> &
    Pick<Runtime, 'db'> & {
      changeLog: ChangeLogStore
      catalogue: Catalogue
      ingest: Ingest
      onCadenceChange(listener: (seriesId: number) => void): void
    },
) {
  const { db, changeLog: log, catalogue, ingest, formulas } = deps
  const rowVersions = createRowVersionReader(db)
  // Another state of the database may have other rows of the same instant.
  catalogue.onReload(rowVersions.forget)
  const feed = createChangeFeed({ ...deps, log, rowVersions, vintages: createVintageReader(db) })
  const cursors = (): ((place: Place) => Cursor) => {
    const lines = log.lines()
    return (place: Place): Cursor => {
      const line = lines.findLast(({ beginsAfter }) => beginsAfter < place.writtenAt)
      return { ...place, line: (line ?? lines[0]!).token }
    }
  }
  const cursorOf = (place: Place): Cursor => cursors()(place)
  const at = (moment: number): Place => {
    const writtenAt = log.lastBefore(moment)
    return writtenAt === undefined ? beginning : endOf(writtenAt)
  }
  const newest = () => at(Number.MAX_SAFE_INTEGER)
  /** The event of a formula whose values may be others, for the same accounts. */
  const recomputed = (id: number): TermsEvent => {
    const audience = audienceOf(catalogue.byId(id))
    return { kind: 'terms', before: audience, after: audience, isFormula: true }
  }
  deps.onCadenceChange(seriesId =>
    transact(db, () => {
      for (const id of formulas.dependentsOf(seriesId))
        log.addEvent(ingest.next(), id, recomputed(id))
    }),
  )
  const audiences = (named: readonly NamedSeries[]) =>
    new Map(
      named.flatMap(({ code, owner }) => {
        const series = catalogue.find(code, owner)
        return series ? [[series.id, stateOf(series)] as const] : []
      }),
    )
  return {
    ...feed,
    /** The same for many places: the lines are read once. */
    cursors,
    /** The place before every record. */
    start: (): Place => beginning,
    /** With the line that a place is of. */
    cursorOf,
    /** The place after every record. */
    newest,
    /** The place after the last transaction that was written at or before a moment. */
    at,
    /** Undefined: the feed continues from the cursor. */
    goneSince(cursor: Cursor): GoneCursor | undefined {
      const lines = log.lines()
      const index = lines.findIndex(line => line.token === cursor.line)
      const end = index === -1 ? undefined : lines[index + 1]?.beginsAfter
      // A cursor of a record that does not exist yet was given out before the database was replaced.
      const isAhead = !log.isReplica() && cursor.writtenAt > newest().writtenAt
      if (index !== -1 && !isAhead && (end === undefined || cursor.writtenAt <= end))
        return undefined
      // A branch of the history that is not stored here began after its last common instant.
      const begun = lines.findLast(line => line.beginsAfter < cursor.writtenAt) ?? lines[0]!
      if (isAhead && end === undefined) return { fork: cursorOf(newest()) }
      return { fork: cursorOf(endOf(end ?? begun.beginsAfter)) }
    },
    /** Notes rows of datasets that were written since the last ones that are noted. */
    noteRows: () => transact(db, () => noteMissedRows(db, ingest.next())),
    /** Runs work in a transaction and notes whom these series are served to since. */
    noteAudiences: <T>(named: readonly NamedSeries[], work: () => T): T =>
      transact(db, () => {
        const states = audiences(named)
        const standing = new Map([...states.keys()].map(id => [id, formulas.dependentsOf(id)]))
        const done = work()
        const now = audiences(named)
        const events = new Map<number, TermsEvent>()
        const dependents = new Set<number>()
        for (const seriesId of new Set([...states.keys(), ...now.keys()])) {
          const [was, is] = [states.get(seriesId), now.get(seriesId)]
          const [before, after] = [was?.audience ?? noAudience, is?.audience ?? noAudience]
          if (was?.formula !== is?.formula)
            events.set(seriesId, { kind: 'terms', before, after, isFormula: true })
          else if (was && JSON.stringify(before) !== JSON.stringify(after))
            events.set(seriesId, { kind: 'terms', before, after })
          const isOther = was && (was.formula !== is?.formula || was.measure !== is?.measure)
          for (const id of (isOther && standing.get(seriesId)) || []) dependents.add(id)
        }
        // Formulas over a series whose terms are others may have other values, or none any more.
        for (const id of dependents) events.set(id, { ...recomputed(id), ...events.get(id) })
        for (const [id, event] of events) log.addEvent(ingest.next(), id, event)
        return done
      }),
  }
}

type TermsEvent = Extract<EventDetails, { kind: 'terms' }>

/**
 * What the feed has of the terms of a series: `measure` is what formulas over it take from them, and
 * whether their values may be passed on.
 */
const stateOf = (series: Series) => ({
  audience: audienceOf(series),
  formula: formulaOf(series),
  measure: JSON.stringify([
    series.currency,
    series.unit,
    series.category,
    series.cadence,
    isViewOnly(series),
    series.delivery && [periodsOf(series.delivery), calendarOf(series)],
  ]),
})

/** What its daily means take from the terms of a series of delivery periods. */
const periodsOf = ({ zone, dayStarts, resolutions, peak }: DeliveryTerms) => [
  zone,
  dayStarts,
  resolutions,
  peak,
]

/** What computed values of a series follow from in its own terms; undefined for any other series. */
const formulaOf = (series: Series): string | undefined => {
  const { terms, currency, unit, averageOf } = series
  return isComputed(series)
    ? JSON.stringify([terms?.formula ?? averageOf, terms?.align, terms?.alignLimit, currency, unit])
    : undefined
}
