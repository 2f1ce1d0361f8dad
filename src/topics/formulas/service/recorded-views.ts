import { isIntraday } from '../../catalogue/math/catalogue.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { ObservationStore } from '../../prices/store/observations.ts'
import { isRank } from './ranks.ts'
import type { Relations } from './relations.ts'
import { createView, ever, type StoredReads, type View } from './views.ts'

/** The days of a series that are not quarantined. */
export interface ClearDays {
  clear(seriesId: number, from: number, to: number): readonly { from: number; to: number }[]
}

const rowsMax = 1_000_000_000
/** Moments of which values stay in memory: as of them, and before them. */
const viewsMax = 4

type Recorded = Pick<StoredReads, 'read' | 'newest'>
type Clear = (seriesId: number, rows: Observation[]) => Observation[]

export type RecordedViews = ReturnType<typeof createRecordedViews>

/** Views of the recorded values of series and of ranks: of the present, the first and the past ones. */
export function createRecordedViews(
  stored: ObservationStore,
  catalogue: Pick<Catalogue, 'byId'>,
  quarantine: ClearDays,
  { definitionOf, isFormula, rankParts, usedBy }: Relations,
) {
  const isClear: Clear = (seriesId, rows) => {
    const stretches = quarantine.clear(seriesId, ever.from, ever.to)
    if (stretches.length === 1) return rows
    return rows.filter(({ observedAt }) =>
      stretches.some(({ from, to }) => from <= observedAt && observedAt < to),
    )
  }
  const viewOf = ({ read, newest }: Recorded, clear: Clear = isClear) => {
    const readClear = (seriesId: number, from: number, to: number) =>
      clear(seriesId, read(seriesId, from, to))
    /** The rows of a rank are those of its contracts, each on the days on which it has the rank. */
    const readRank = (rankId: number, from: number, to: number) =>
      rankParts(rankId).flatMap(part => {
        const [begin, end] = [Math.max(from, part.from), Math.min(to, part.to)]
        return begin < end ? readClear(part.seriesId, begin, end) : []
      })
    const newestOfRank = (rankId: number, to: number) => {
      for (const part of rankParts(rankId).toReversed()) {
        const row = part.from < to ? newest(part.seriesId, Math.min(to, part.to)) : undefined
        if (row && row.observedAt >= part.from) return row
      }
      return undefined
    }
    return createView(definitionOf, isFormula, usedBy, {
      read: (id, from, to) => (isRank(id) ? readRank : readClear)(id, from, to),
      newest: (id, to) => (isRank(id) ? newestOfRank : newest)(id, to),
      clear: (id, rows) => (isRank(id) ? rows : clear(id, rows)),
      isIntraday: id => !isRank(id) && isIntraday(catalogue.byId(id).cadence),
    })
  }
  /** Recorded values as they were known at a moment. */
  const recordedBy = (asOf: () => number): Recorded => ({
    read: (id, from, to) => stored.asOf(id, from, to, asOf(), rowsMax).reverse(),
    newest: (id, to) => stored.newestAsOf(id, to, asOf()),
  })
  const recorded = { read: stored.oldestFirst, newest: stored.newest }
  const present = viewOf(recorded)
  const first = viewOf({
    read: (id, from, to) => stored.firstRecorded(id, from, to, rowsMax).reverse(),
    newest: (id, to) => stored.firstRecorded(id, ever.from, to, 1)[0],
  })
  /** The views that were used last, of a moment each. */
  const few = (make: (moment: number) => View) => {
    const views = new Map<number, View>()
    return {
      of(moment: number): View {
        const view = views.get(moment) ?? make(moment)
        views.delete(moment)
        views.set(moment, view)
        if (views.size > viewsMax) views.delete(views.keys().next().value!)
        return view
      },
      clear: () => views.clear(),
    }
  }
  const past = few(asOf => viewOf(recordedBy(() => asOf)))
  const earlier = few(present.upTo)
  return {
    present,
    /** The values that were first recorded. */
    first,
    asOf: past.of,
    /** The values before a time. */
    before: earlier.of,
    /** Values as they were known at a moment that moves on; `clear` leaves out those not served. */
    at: (asOf: () => number, clear?: Clear) => viewOf(recordedBy(asOf), clear),
    /** Values that are read for one use alone: no change of them would forget what it holds. */
    alone: (asOf: number | undefined) =>
      viewOf(asOf === undefined ? recorded : recordedBy(() => asOf)),
    /** Forgets all but the present values. */
    forgetPast() {
      first.clear()
      past.clear()
      earlier.clear()
    },
  }
}
