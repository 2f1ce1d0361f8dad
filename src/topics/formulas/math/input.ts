import { firstNotBefore } from '../../../lib/sorted.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import { bucketStart, type Observation } from '../../prices/math/bars.ts'

/** The values of a code that a formula reads, oldest first, with functions to look them up. */
export type Input = ReturnType<typeof createInput>

export const dayNumber = (at: number): number => Math.floor(at / dayMs)

export function createInput(rows: readonly Observation[]) {
  let last = 0
  let closes: Observation[] | undefined
  /** Times are mostly requested in order. */
  const upTo = (at: number): number => {
    if (rows.length === 0 || rows[0]!.observedAt > at) return -1
    let high = rows.length - 1
    if (rows[last]!.observedAt > at) {
      high = last
      last = 0
    }
    for (let steps = 0; steps < 4; steps += 1) {
      const next = rows[last + 1]
      if (!next || next.observedAt > at) return last
      last += 1
    }
    let low = last
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (rows[middle]!.observedAt <= at) low = middle
      else high = middle - 1
    }
    last = low
    return low
  }
  const closesOf = () => {
    closes ??= rows.filter((row, i) => {
      const next = rows[i + 1]
      return !next || bucketStart('day', next.observedAt) !== bucketStart('day', row.observedAt)
    })
    return closes
  }
  return {
    rows,
    /** The place of the newest value at or before a time; -1 without one. */
    upTo,
    /** The last value of each UTC day. */
    closes: closesOf,
    /** The place of the first close on a day or after it, in days since 1970. */
    closeFrom: (day: number) =>
      firstNotBefore(closesOf(), ({ observedAt }) => observedAt < day * dayMs),
  }
}
