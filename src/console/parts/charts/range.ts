interface Level {
  value: number
}

/**
 * The range of an axis: that of the values, with the levels that are not further away than it is
 * wide, and some room at both ends. Without values, the ends are null.
 */
export function rangeOf(
  low: number | null,
  high: number | null,
  levels: readonly Level[] = [],
): [number, number] {
  if (low === null || high === null) return [0, 1]
  const width = high - low
  const near = levels.map(({ value }) => value).filter(at => at > low - width && at < high + width)
  const [from, to] = [Math.min(low, ...near), Math.max(high, ...near)]
  const room = (to - from) * 0.06 || Math.abs(to) * 0.02 || 1
  return [from - room, to + room]
}
