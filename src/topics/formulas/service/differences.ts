import { firstNotBefore } from '../../../lib/sorted.ts'
import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Observation } from '../../prices/math/bars.ts'
import { ever, type View } from './views.ts'

/** A moment at which values of some times of the legs became known. */
export interface Moment {
  at: number
  firstAt: number
  lastAt: number
}

/** Adds values that became known to those of their moment. */
export function noteMoment<M extends Moment>(moments: Map<number, M>, noted: M): void {
  const moment = moments.getOrInsert(noted.at, noted)
  moment.firstAt = Math.min(moment.firstAt, noted.firstAt)
  moment.lastAt = Math.max(moment.lastAt, noted.lastAt)
}

/** A value that is another than before; undefined: there is none. */
export interface Difference {
  observedAt: number
  before: number | undefined
  after: number | undefined
}

/** Times, half-open. */
export interface Range {
  from: number
  to: number
}

/** Moments that change nothing of a range are passed many at a time. */
const passedEach = 256
/** A value of a day may follow from those of the market day before it and after it. */
export const nearbyMs = 2 * dayMs

/** A value of a formula looks back alone; one of a day counts at its midnight or the one before. */
export const affectedFrom = (firstAt: number): number =>
  Math.abs(firstAt) === ever.to ? firstAt : startOfDay(firstAt) - dayMs

/** No value that follows from those up to a time is as late. */
const endAfter = (at: number): number => (at === ever.from ? at : Math.min(ever.to, at + nearbyMs))

/**
 * What moments, oldest first, did to the values of a range of a computed series, in a view that is
 * moved on from one to the next. Before the moments no leg has a value later than `knownTo`;
 * `ever.from`: nothing was known of the range. Undefined: others may run.
 */
export function* differencesAt<M extends Moment>(
  viewAt: (at: () => number) => View,
  seriesId: number,
  { from, to }: Range,
  moments: readonly M[],
  /** The series whose values in memory a moment changes. */
  held: readonly number[],
  knownTo: number,
): Generator<{ moment: M; differences: Difference[] } | undefined> {
  if (moments.length === 0) return
  let at = moments[0]!.at - 1
  const known = viewAt(() => at)
  const view = to === ever.to ? known : known.upTo(to)
  const changed = [...new Set(held)]
  // Later times than those of all legs have no value: the search for the newest one would be long.
  let end = endAfter(knownTo)
  const rowsFrom = (first: number) =>
    view.between(seriesId, first, end).filter(({ observedAt }) => observedAt < to)
  // Earlier times are not affected by any of the moments.
  const begin = Math.max(from, affectedFrom(Math.min(...moments.map(({ firstAt }) => firstAt))))
  const rows = knownTo === ever.from ? [] : rowsFrom(begin)
  let [passed, changedFrom] = [0, ever.to]
  for (const moment of moments) {
    end = Math.max(end, endAfter(moment.lastAt))
    changedFrom = Math.min(changedFrom, moment.firstAt)
    const first = Math.max(from, affectedFrom(moment.firstAt))
    if (first >= Math.min(to, end)) {
      passed += 1
      if (passed % passedEach === 0) yield undefined
      continue
    }
    yield undefined
    at = moment.at
    view.forget(changed, changedFrom)
    changedFrom = ever.to
    const now = rowsFrom(first)
    const before = rows.splice(firstNotBefore(rows, ({ observedAt }) => observedAt < first))
    for (const row of now) rows.push(row)
    yield { moment, differences: between(before, now) }
  }
}

/** Where two lists of values, oldest first, are not the same. */
export function between(
  before: readonly Observation[],
  after: readonly Observation[],
): Difference[] {
  const differences: Difference[] = []
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const [was, is] = [before[i], after[j]]
    const observedAt = Math.min(was?.observedAt ?? ever.to, is?.observedAt ?? ever.to)
    const old = was?.observedAt === observedAt ? was.value : undefined
    const value = is?.observedAt === observedAt ? is.value : undefined
    if (was?.observedAt === observedAt) i += 1
    if (is?.observedAt === observedAt) j += 1
    if (old !== value) differences.push({ observedAt, before: old, after: value })
  }
  return differences
}
