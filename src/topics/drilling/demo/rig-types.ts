/**
 * The usual targets of a region's rigs: the share that drills for oil, and the share that drills
 * for neither oil nor gas.
 */
export interface RigHabit {
  oil: number
  misc: number
}

export interface RigTypes {
  oil: number
  gas: number
  misc: number
}

/**
 * Rigs of regions by type, in whole numbers that add up both ways: those of a region to its total,
 * and those of a type to the national count. `totals` must add up to the national counts together.
 * Habits are shifted, all alike on the scale of their odds, until they fit.
 */
export function rigTypes(
  totals: readonly number[],
  habits: readonly RigHabit[],
  national: RigTypes,
): RigTypes[] {
  const misc = splitRigs(totals, habits.map(habit => habit.misc), national.misc) // biome-ignore format: one line
  const rest = totals.map((total, i) => total - misc[i]!)
  const oil = splitRigs(rest, habits.map(habit => habit.oil), national.oil) // biome-ignore format: one line
  return totals.map((total, i) => ({
    oil: oil[i]!,
    gas: total - misc[i]! - oil[i]!,
    misc: misc[i]!,
  }))
}

/** Beyond these odds nothing changes in counts of rigs. */
const oddsMax = 40
const halvings = 40

/** Splits each of `totals` by its share, shifted so that the parts add up to `target`. */
function splitRigs(totals: readonly number[], shares: readonly number[], target: number): number[] {
  const logits = shares.map(share => Math.log(share / (1 - share)))
  const exact = (shift: number) =>
    totals.map((count, i) => count / (1 + Math.exp(-logits[i]! - shift)))
  let [low, high] = [-oddsMax, oddsMax]
  for (let i = 0; i < halvings; i++) {
    const middle = (low + high) / 2
    if (exact(middle).reduce((sum, value) => sum + value, 0) < target) low = middle
    else high = middle
  }
  return roundedTogether(exact((low + high) / 2), totals, target)
}

/**
 * Rounds so that every prefix, and so the whole, is off by less than one: no part leaves its own
 * whole numbers below and above.
 */
function roundedTogether(
  exact: readonly number[],
  most: readonly number[],
  target: number,
): number[] {
  let [sum, assigned] = [0, 0]
  return exact.map((value, i) => {
    sum += value
    const upTo = i === exact.length - 1 ? target : Math.round(sum)
    const share = Math.min(most[i]!, Math.max(0, upTo - assigned))
    assigned += share
    return share
  })
}
