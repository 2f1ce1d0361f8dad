import { type Close, dayAfter } from './window.ts'

/**
 * The series that measures the use of each stock: refinery inputs for crude, product supplied for
 * products. Levels in a unit, use in the same unit a day.
 */
export const useOfStorage: Readonly<Record<string, string>> = {
  US_CRUDE_STORAGE: 'US_REFINERY_INPUTS',
  US_GASOLINE_STORAGE: 'US_GASOLINE_DEMAND',
  US_DISTILLATE_STORAGE: 'US_DISTILLATE_DEMAND',
}

const coverDays = 28

/**
 * Days of supply as EIA has them: the level over the use a day averaged over the four weeks that
 * end with the day of the level. Undefined when nothing is known of the use in those weeks, or
 * nothing was used.
 */
export function daysOfCover(level: number, on: string, use: readonly Close[]): number | undefined {
  const after = dayAfter(on, -coverDays)
  const inside = use.filter(({ day }) => day > after && day <= on)
  const mean = inside.reduce((sum, close) => sum + close.value, 0) / inside.length
  return mean > 0 ? level / mean : undefined
}
