import type { Period } from './days.ts'
import type { DayFigures, KnownPeriod } from './figures.ts'

/**
 * The values that an alert on a series of delivery periods can compare, in addition to the price
 * that is delivered now.
 */
export const dayWatches = [
  'any_tomorrow',
  'base_tomorrow',
  'negative_tomorrow',
  'spread_tomorrow',
] as const
export type DayWatch = (typeof dayWatches)[number]

export const deliveryWatches = ['now', ...dayWatches] as const

/** The watch in words, before what it is compared with. */
export const watchWords: Readonly<Record<DayWatch, string>> = {
  any_tomorrow: 'any price of tomorrow',
  base_tomorrow: 'base of tomorrow',
  negative_tomorrow: 'number of negative periods tomorrow',
  spread_tomorrow: 'spread of tomorrow',
}

/** A market day as alerts see it before it begins. */
export interface WatchedDay {
  date: string
  periods: readonly KnownPeriod[]
  figures: DayFigures
}

/** The figures of a day that a watch compares, each with its period where it is of one. */
export function watchedFigures(
  { periods, figures }: WatchedDay,
  watch: DayWatch,
): { value: number; period?: Period }[] {
  const { base, min, max, negativePeriods } = figures
  switch (watch) {
    case 'any_tomorrow':
      return periods.map(period => ({ value: period.price, period }))
    case 'base_tomorrow':
      return [{ value: base! }]
    case 'negative_tomorrow':
      return [{ value: negativePeriods }]
    case 'spread_tomorrow':
      return [{ value: max!.price - min!.price }]
  }
}
