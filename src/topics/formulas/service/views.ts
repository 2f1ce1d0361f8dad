import { dayMs, hourMs, isoDay, startOfDay } from '../../../lib/time/instant.ts'
import { dailyMeans } from '../../delivery/math/daily-means.ts'
import { dayOfDate } from '../../delivery/math/days.ts'
import type { Observation } from '../../prices/math/bars.ts'
import { createInput, type Input } from '../math/input.ts'
import { computeSeries, type Only } from '../math/series.ts'
import type { Averaged, Definition } from './definitions.ts'

/** Stored values of series and of ranks, oldest first, that are served. */
export interface StoredReads {
  read(seriesId: number, from: number, to: number): Observation[]
  /** Leaves out the values of a computed series that are not served. */
  clear(seriesId: number, rows: Observation[]): Observation[]
  /** The newest value before a time. */
  newest(seriesId: number, to: number): Observation | undefined
  /** Whether a day usually has many values. */
  isIntraday(seriesId: number): boolean
}

/** No value is as old, and no date. */
const earliest = Date.UTC(1000, 0, 1)
/** All of time. */
export const ever = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }

/** Values in memory, of all series of a view together: some 200 MB. */
const rowsMax = 3_000_000

/** The first range that is computed in search of some values; each further one is longer. */
const firstSpanMs = hourMs
const spanGrowth = 8

/** Times ever further from a start towards a limit, which is the last of them. */
export function* stepsTo(start: number, limit: number): Generator<number> {
  const sign = Math.sign(limit - start)
  for (let spanMs = firstSpanMs; ; spanMs *= spanGrowth) {
    const at = start + sign * spanMs
    if ((limit - at) * sign <= 0) return yield limit
    yield at
  }
}

/** A range that is computed without what follows it. */
const shortMs = 40 * dayMs
/** A market day may end on the UTC day after its date. */
const marketDayMs = 2 * dayMs
/** Operations in search of the newest value, or of the oldest: some 50 ms. */
const searchStepsMax = 1_000_000
class SearchEnded extends Error {}

/** Values of series by formula and of their legs, in one state of knowledge. */
export interface View {
  inputOf(seriesId: number): Input
  /** The values of `[from, to)`, oldest first; those of a short range are computed alone. */
  between(seriesId: number, from: number, to: number): Observation[]
  /** The newest accepted values of `[from, to)`, oldest first, at least `limit` if there are as many. */
  last(
    seriesId: number,
    from: number,
    to: number,
    limit: number,
    accepts: (row: Observation) => boolean,
  ): Observation[]
  /** The newest value of `[from, to)`; the search for that of a formula has an end. */
  newest(seriesId: number, to: number, from?: number): Observation | undefined
  /** The oldest value at a time or later; this search has an end too. */
  oldest(seriesId: number, from: number, to?: number): Observation | undefined
  /** The last value of each UTC day from a midnight on. */
  closes(seriesId: number, from: number): readonly Observation[]
  /** The same values, as if there were none from a time on, which are not read. */
  upTo(end: number): View
  /** Values of these series that were observed on the day of a time or later have changed. */
  forget(seriesIds: readonly number[], from: number): void
  /** Drops the values of some series; by default of all. */
  clear(isGone?: (seriesId: number) => boolean): void
}

export function createView(
  definitionOf: (seriesId: number) => Definition | Averaged | undefined,
  isFormula: (seriesId: number) => boolean,
  /** The series that a formula uses, over any number of levels. */
  usedBy: (seriesId: number) => Iterable<number>,
  stored: StoredReads,
): View {
  const held = new Map<number, Input>()
  let rowsHeld = 0
  let computing = 0
  let stepsLeft = Number.POSITIVE_INFINITY
  /** Runs a search that ends without a result after so many operations, those of legs included. */
  const limited = (search: () => Observation | undefined): Observation | undefined => {
    stepsLeft = searchStepsMax
    try {
      return search()
    } catch (error) {
      if (error instanceof SearchEnded) return undefined
      throw error
    } finally {
      stepsLeft = Number.POSITIVE_INFINITY
    }
  }

  const formulaOf = (seriesId: number): Definition | undefined => {
    const definition = isFormula(seriesId) ? definitionOf(seriesId) : undefined
    return definition && 'compiled' in definition ? definition : undefined
  }
  const compute = (
    { compiled, align, series, limitsMs }: Definition,
    from: number,
    to: number,
    only?: Only,
  ): Observation[] => {
    const inputs = series.map(({ id }) => inputOf(id))
    const onTry = () => {
      stepsLeft -= compiled.steps
      if (stepsLeft < 0) throw new SearchEnded()
    }
    computing += 1
    try {
      return computeSeries(compiled, { align, inputs, limitsMs, from, to, onTry }, only)
    } finally {
      computing -= 1
    }
  }
  const read = (seriesId: number, from: number, to: number): Observation[] => {
    if (!isFormula(seriesId)) return stored.read(seriesId, from, to)
    const definition = definitionOf(seriesId)
    if (!definition) return []
    const rows =
      'averages' in definition
        ? withMeans(stored.read(seriesId, from, to), meansIn(definition, from, to))
        : computeInParts(seriesId, definition, from, to)
    return stored.clear(seriesId, rows)
  }
  /** From the end, in parts: of formulas that it names, only the values of a part are in memory. */
  const computeInParts = (seriesId: number, definition: Definition, from: number, to: number) => {
    const parts: Observation[][] = []
    for (let end = to; end > from; ) {
      // A value of a day counts at its midnight.
      const newest = endBefore(seriesId, Math.min(ever.to, end + dayMs))
      if (newest === undefined) break
      const begin = Math.max(from, startOfDay(newest) - shortMs)
      parts.push(compute(definition, begin, end))
      end = begin
    }
    return parts.reverse().flat()
  }
  const meansIn = ({ averages, isCounted, series: [leg] }: Averaged, from: number, to: number) => {
    const start = from < earliest ? from : dayOfDate(averages, isoDay(from)).from
    const values = stored.read(leg.id, start, Math.min(ever.to, to + marketDayMs))
    return dailyMeans(averages, values, isCounted).filter(
      ({ observedAt }) => from <= observedAt && observedAt < to,
    )
  }
  /** About when the newest value before a time was observed. */
  const endBefore = (seriesId: number, to: number): number | undefined => {
    const times = [seriesId, ...usedBy(seriesId)].flatMap(
      id => stored.newest(id, to)?.observedAt ?? [],
    )
    return times.length === 0 ? undefined : Math.max(...times)
  }
  const newestIn = (seriesId: number, from: number, to: number): Observation | undefined => {
    const definition = formulaOf(seriesId)
    if (definition) return edgeOf(seriesId, definition, 'last', from, to)
    if (isFormula(seriesId)) {
      for (const begin of stepsTo(endBefore(seriesId, to) ?? from, from)) {
        const row = read(seriesId, begin, to).at(-1)
        if (row) return row
      }
      return undefined
    }
    for (let end = to; ; ) {
      const row = stored.newest(seriesId, end)
      if (!row || row.observedAt < from) return undefined
      if (stored.clear(seriesId, [row]).length > 0) return row
      end = row.observedAt
    }
  }
  const inputOf = (seriesId: number): Input => {
    // What a computation has in memory is not computed again while it runs.
    if (rowsHeld > rowsMax && computing === 0) {
      held.clear()
      rowsHeld = 0
    }
    const known = held.get(seriesId)
    if (known) return known
    const isComputed = formulaOf(seriesId) !== undefined
    const input = createInput({
      read: (from, to) => read(seriesId, from, to),
      newest: (from, to) => newestIn(seriesId, from, to),
      isDense: isComputed || stored.isIntraday(seriesId),
      onGrow(count) {
        rowsHeld += count
      },
    })
    held.set(seriesId, input)
    return input
  }
  const edgeOf = (
    seriesId: number,
    definition: Definition,
    edge: Only['edge'],
    from: number,
    to: number,
  ): Observation | undefined => {
    const accepts = (row: Observation) => stored.clear(seriesId, [row]).length > 0
    return compute(definition, from, to, { edge, accepts })[0]
  }
  const between = (seriesId: number, from: number, to: number): Observation[] => {
    const definition = formulaOf(seriesId)
    if (definition && to - from <= shortMs)
      return stored.clear(seriesId, compute(definition, from, to))
    const isFarPast =
      definition &&
      !held.get(seriesId)?.has(from, to) &&
      (endBefore(seriesId, ever.to) ?? to) - to > shortMs
    // What follows the range would be computed as well.
    return (isFarPast ? upTo(to) : { inputOf }).inputOf(seriesId).between(from, to)
  }
  const upTo = (time: number) => {
    const end = Math.min(ever.to, time + marketDayMs)
    return createView(definitionOf, isFormula, usedBy, {
      ...stored,
      read: (id, from, to) => (from < end ? stored.read(id, from, Math.min(to, end)) : []),
      newest: (id, to) => stored.newest(id, Math.min(to, end)),
    })
  }
  return {
    inputOf,
    between,
    last(seriesId, from, to, limit, accepts) {
      let rows: Observation[] = []
      for (const begin of stepsTo(Math.min(to, (endBefore(seriesId, to) ?? from) + dayMs), from)) {
        rows = between(seriesId, begin, to).filter(accepts)
        if (rows.length >= limit) break
      }
      return rows
    },
    newest(seriesId, to, from = ever.from) {
      const definition = formulaOf(seriesId)
      if (!definition) return inputOf(seriesId).newest(to - 1, from)
      return limited(() => edgeOf(seriesId, definition, 'last', from, to))
    },
    oldest(seriesId, from, to) {
      const definition = formulaOf(seriesId)
      if (to !== undefined)
        return definition
          ? limited(() => edgeOf(seriesId, definition, 'first', from, to))
          : inputOf(seriesId).between(from, to)[0]
      const end = (endBefore(seriesId, ever.to) ?? from) + dayMs
      for (const until of stepsTo(from, Math.max(from + dayMs, end))) {
        const found = upTo(until).oldest(seriesId, from, until)
        if (found) return found
      }
      return undefined
    },
    closes: (seriesId, from) => inputOf(seriesId).closes(from),
    upTo,
    forget(seriesIds, from) {
      const isAveraged = (id: number) => 'averages' in (definitionOf(id) ?? {})
      const before = from > ever.from && seriesIds.some(isAveraged) ? dayMs : 0
      for (const id of seriesIds) held.get(id)?.forget(from - before)
    },
    clear(isGone = (_id: number) => true) {
      for (const [id, input] of held)
        if (isGone(id)) {
          input.forget(ever.from)
          held.delete(id)
        }
    },
  }
}

/** Means of the days on which there is no value, among the values. */
function withMeans(own: Observation[], means: Observation[]): Observation[] {
  const days = new Set(own.map(({ observedAt }) => startOfDay(observedAt)))
  return [...own, ...means.filter(({ observedAt }) => !days.has(observedAt))].sort(
    (a, b) => a.observedAt - b.observedAt,
  )
}
