import type { Series } from '../../catalogue/store/series.ts'
import type { IsValueWithheld, Withheld } from '../../prices/store/withheld.ts'
import { endOf, isBefore, type Place } from '../math/cursor.ts'
import { type ChangeEvent, isIn, type LoggedRange } from '../store/log.ts'
import type { Vintage, VintageRange, VintageReader } from '../store/vintages.ts'
import { daysOf, type Hidden, isHidden, isSeen, type ServedHistory } from './history.ts'
import {
  type ChangeReader,
  type ChangeRecord,
  everywhere,
  forgotten,
  isOfFormula,
  type Segment,
} from './segments.ts'

const always = { recordedFrom: Number.MIN_SAFE_INTEGER, ranges: [] }

/** What transactions did to recorded values of series. */
export function createPriceChanges({
  vintages,
  withheld,
  isValueWithheld,
}: {
  vintages: VintageReader
  withheld: Withheld
  isValueWithheld: IsValueWithheld
}) {
  /** The records of a segment after a place, as they are read. */
  const recordsOf = function* (
    segment: Segment,
    { viewer }: ChangeReader,
    served: ServedHistory,
    after: Place,
  ): Generator<ChangeRecord> {
    const { series, writtenAt, work } = segment
    const hidden = served.hidden(series.id, writtenAt)
    const shown = (times: Times, from = after, days = hidden) =>
      vintagesOf(segment, { ...times, ...always, recordedTo: writtenAt }, from, days, true)
    const event = 'event' in work ? work.event : undefined
    if (event && isOfComputed(series, event)) return
    if (event?.kind === 'terms') {
      const [before, now] = [isSeen(event.before, viewer), isSeen(event.after, viewer)]
      if (before && !now) yield* laterThan(after, forgotten(segment))
      if (!before && now) yield* shown(everywhere)
      return
    }
    if (!isSeen(served.audience(series, writtenAt), viewer)) return
    if ('ranges' in work)
      for (const stretch of stretchesOf(work.ranges))
        yield* vintagesOf(segment, stretch, after, hidden, false)
    else if (event?.kind === 'released') {
      const days = served.released(event)
      if (days) yield* shown(rangeOf(days))
    } else if (event) {
      const before = served.hidden(series.id, writtenAt, true)
      let last: ChangeRecord | undefined
      for (const record of shown(rangeOf(daysOf(event)), beforeSegment(segment), before)) {
        if (last && last.observedAt !== record.observedAt) yield* laterThan(after, gone(last))
        last = record
      }
      if (last) yield* laterThan(after, gone(last))
    }
  }

  /** A time whose values are forgotten, by the last of them. */
  const gone = (record: ChangeRecord): ChangeRecord => {
    const { writtenAt } = record.place
    return {
      ...record,
      place: { ...record.place, recordedAt: writtenAt },
      kind: 'deleted',
      previous: record.value ?? record.previous,
      value: undefined,
      batchId: 0,
      recordedAt: writtenAt,
      isRetroactive: true,
    }
  }

  const vintagesOf = function* (
    { series, writtenAt, rank }: Segment,
    stretch: Stretch,
    after: Place,
    hidden: readonly Hidden[],
    isShown: boolean,
  ): Generator<ChangeRecord> {
    const isInside = after.writtenAt === writtenAt && after.rank === rank
    const firstAt = isInside ? Math.max(stretch.firstAt, after.observedAt) : stretch.firstAt
    const left = withheld(series.id)
    const isLeft = leftBySource(isValueWithheld, series.id)
    for (const vintage of vintages.all(series.id, { ...stretch, firstAt })) {
      const { observedAt, recordedAt } = vintage
      const place = { writtenAt, rank, observedAt, recordedAt }
      if (isInside && !isBefore(after, place)) continue
      if (stretch.ranges.length > 1 && !stretch.ranges.some(range => isIn(range, vintage))) continue
      if (isHidden(hidden, observedAt)) continue
      const previous = isLeft(vintage.previousSourceId) ? undefined : vintage.previous
      if (!left?.has(observedAt) && !isLeft(vintage.sourceId))
        yield recordOf(series, place, { ...vintage, previous }, isShown)
      // A value that must not be passed on replaced one that could.
      else if (previous !== undefined)
        yield gone(recordOf(series, place, { ...vintage, value: previous }, isShown))
    }
  }

  return { of: recordsOf, vintagesOf }
}

type Times = Pick<VintageRange, 'firstAt' | 'lastAt'>

interface Stretch extends VintageRange {
  /** Only vintages of one of these; none: all. */
  ranges: readonly LoggedRange[]
}

const recordOf = (
  series: Series,
  place: Place,
  { observedAt, recordedAt, value, previous, sourceId, batchId }: Vintage,
  isShown: boolean,
): ChangeRecord => ({
  place,
  kind: value === undefined ? 'deleted' : previous === undefined ? 'added' : 'revised',
  series,
  observedAt,
  value,
  previous,
  sourceId,
  batchId,
  recordedAt,
  // A deletion among values that are shown again is of its instant, and forgets nothing.
  isRetroactive: isShown && value !== undefined,
})

/** Ranges in the order of time, those that overlap together. */
export function stretchesOf(ranges: readonly LoggedRange[]): Stretch[] {
  const stretches: (Stretch & { ranges: LoggedRange[] })[] = []
  for (const range of ranges.toSorted((a, b) => a.firstAt - b.firstAt)) {
    const last = stretches.at(-1)
    if (!last || range.firstAt > last.lastAt) {
      stretches.push({ ...range, ranges: [range] })
      continue
    }
    last.ranges.push(range)
    last.lastAt = Math.max(last.lastAt, range.lastAt)
    last.recordedFrom = Math.min(last.recordedFrom, range.recordedFrom)
    last.recordedTo = Math.max(last.recordedTo, range.recordedTo)
  }
  return stretches
}

/** Whether an event is of values that are computed: their records are made with those of formulas. */
const isOfComputed = ({ terms, averageOf }: Series, event: ChangeEvent): boolean =>
  terms?.formula !== undefined || (isOfFormula(event) && averageOf === undefined)

/** Whether values of a series by their source must not be passed on. */
export function leftBySource(isValueWithheld: IsValueWithheld, seriesId: number) {
  const known = new Map<number, boolean>()
  return (sourceId: number): boolean =>
    known.getOrInsertComputed(sourceId, () => isValueWithheld(seriesId, sourceId))
}

const rangeOf = ({ from, to }: Hidden) => ({ firstAt: from, lastAt: to - 1 })

export const beforeSegment = ({ writtenAt }: Pick<Segment, 'writtenAt'>): Place =>
  endOf(writtenAt - 1)

function* laterThan(after: Place, record: ChangeRecord): Generator<ChangeRecord> {
  if (isBefore(after, record.place)) yield record
}
