/** So few points are noted each on its own. */
const singleMax = 16
/** A gap of so many times the mean distance of the points ends a range. */
const gapFactor = 32

/** Closed ranges that hold all of some moments, given in their order, and little else. */
export function rangesOf(moments: readonly number[]): { from: number; to: number }[] {
  const [first, last] = [moments[0], moments.at(-1)]
  if (first === undefined || last === undefined) return []
  const gapMax =
    moments.length <= singleMax ? 0 : (gapFactor * (last - first)) / (moments.length - 1)
  const ranges = [{ from: first, to: first }]
  for (const moment of moments) {
    const range = ranges.at(-1)!
    if (moment - range.to > gapMax) ranges.push({ from: moment, to: moment })
    else range.to = moment
  }
  return ranges
}
