import { mean, quantileSorted } from 'simple-statistics'
import { dayNumber } from '../../prices/math/window.ts'

/** The days of a well's life, `YYYY-MM-DD`; null: not yet, or not known. */
export interface WellDays {
  permitOn: string | null
  spudOn: string | null
  completedOn: string | null
  firstProductionOn: string | null
}

/** The parts of a well's way from its permit to its first production, in their order. */
const stages = {
  permitToSpud: ['permitOn', 'spudOn'],
  spudToCompletion: ['spudOn', 'completedOn'],
  completionToFirstProduction: ['completedOn', 'firstProductionOn'],
} as const satisfies Record<string, readonly [keyof WellDays, keyof WellDays]>

export type Stage = keyof typeof stages
export const stageNames = Object.keys(stages) as readonly Stage[]

/**
 * The distribution of spans of days. A percentile p of n spans in ascending order is the value at
 * place (n - 1) x p, from 0, with linear interpolation between its neighbours (Hyndman and Fan's
 * type 7, the default of R and NumPy).
 */
export interface DayStats {
  count: number
  median: number
  p25: number
  p75: number
  p90: number
  min: number
  max: number
  mean: number
}

/** Undefined of nothing. */
export function dayStats(days: readonly number[]): DayStats | undefined {
  if (days.length === 0) return undefined
  // Sorting numbers without a comparison function takes a third of the time.
  const sorted = Array.from(Float64Array.from(days).sort())
  const at = (p: number) => quantileSorted(sorted, p)
  return {
    count: sorted.length,
    median: at(0.5),
    p25: at(0.25),
    p75: at(0.75),
    p90: at(0.9),
    min: sorted[0]!,
    max: sorted.at(-1)!,
    mean: mean(sorted),
  }
}

/** A well with what its way took. */
export interface TimedWell<T extends WellDays> {
  well: T
  /** From the permit to the first production. */
  days: number
  /** Days of each stage whose two days are known. */
  stages: Partial<Record<Stage, number>>
}

/**
 * Wells whose permit and first production are known. Where a day lies before the one that it must
 * follow, one of the two is wrong: the span between them does not count.
 */
export function timedWells<T extends WellDays>(wells: readonly T[]): TimedWell<T>[] {
  // A state has a hundred thousand wells and a few thousand days.
  const numbers = new Map<string, number>()
  const numberOf = (day: string): number => {
    const number = numbers.get(day) ?? dayNumber(day)
    numbers.set(day, number)
    return number
  }
  const between = (from: string | null, to: string | null): number | undefined => {
    if (from === null || to === null || to < from) return undefined
    return numberOf(to) - numberOf(from)
  }
  const timings: TimedWell<T>[] = []
  for (const well of wells) {
    const days = between(well.permitOn, well.firstProductionOn)
    if (days === undefined) continue
    const spans: Partial<Record<Stage, number>> = {}
    for (const stage of stageNames) {
      const [from, to] = stages[stage]
      const span = between(well[from], well[to])
      if (span !== undefined) spans[stage] = span
    }
    timings.push({ well, days, stages: spans })
  }
  return timings
}

export const statsOf = (wells: readonly TimedWell<WellDays>[]): DayStats | undefined =>
  dayStats(wells.map(well => well.days))

/** Statistics of the wells that have both days of the stage. */
export const stageStats = (
  wells: readonly TimedWell<WellDays>[],
  stage: Stage,
): DayStats | undefined => dayStats(wells.flatMap(well => well.stages[stage] ?? []))

export const cohortSpans = ['quarter', 'month', 'year'] as const
export type CohortSpan = (typeof cohortSpans)[number]

/** `2025-Q2`, `2025-05` or `2025`. */
export function cohortOf(day: string, span: CohortSpan): string {
  const [year, month] = [day.slice(0, 4), day.slice(5, 7)]
  return span === 'year'
    ? year
    : span === 'month'
      ? `${year}-${month}`
      : `${year}-Q${Math.ceil(Number(month) / 3)}`
}

/** Wells that began to produce in the same span of the calendar. */
export interface Cohort {
  label: string
  wells: number
  /** Undefined where no well of it has both days. */
  stats: DayStats | undefined
}

/**
 * Oldest first. Wells are grouped by the day of their first production, because a group by permits
 * lacks the slow ones of its newest spans and makes every new quarter look fast. Wells that do not
 * produce yet are in none. `timings`: those of the wells, where they are known already.
 */
export function cohorts(
  wells: readonly WellDays[],
  span: CohortSpan,
  timings: readonly TimedWell<WellDays>[] = timedWells(wells),
): Cohort[] {
  const labelOf = (well: WellDays) => cohortOf(well.firstProductionOn!, span)
  const producing = Map.groupBy(
    wells.filter(well => well.firstProductionOn !== null),
    labelOf,
  )
  const timedByLabel = Map.groupBy(timings, timedWell => labelOf(timedWell.well))
  return [...producing]
    .map(([label, cohort]) => ({
      label,
      wells: cohort.length,
      stats: statsOf(timedByLabel.get(label) ?? []),
    }))
    .sort((a, b) => (a.label < b.label ? -1 : 1))
}
