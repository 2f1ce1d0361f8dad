import type { AlertShape } from '../../../topics/alerts/operations/row.ts'

type Level = Pick<AlertShape, 'analytics_type' | 'condition_operator' | 'condition_value'>

/**
 * By how many percent a price has to move until it meets the level of a condition, 0 where it does;
 * undefined where a condition has no level or there is no price.
 */
export function distanceOf(
  { analytics_type: kind, condition_operator: operator, condition_value: level }: Level,
  price: number | undefined,
): number | undefined {
  if (kind !== null || !/_than/.test(operator) || price === undefined || price <= 0)
    return undefined
  const percent = (100 * (level - price)) / price
  const isAbove = operator.startsWith('greater')
  return (isAbove ? percent < 0 : percent > 0) ? 0 : percent
}

/** The alerts whose condition is met or nearest first, then those without a distance as they are. */
export const nearestFirst = <T>(
  alerts: readonly T[],
  distance: (alert: T) => number | undefined,
): T[] => {
  const rank = (alert: T) => Math.abs(distance(alert) ?? Number.MAX_VALUE)
  return alerts.toSorted((a, b) => rank(a) - rank(b))
}
