import { firstNotBefore } from '../../../lib/sorted.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import { bucketStart, type Observation } from '../../prices/math/bars.ts'

/** The values of a code that a formula reads, oldest first, with functions to look them up. */
export type Input = ReturnType<typeof createInput>

export const dayNumber = (at: number): number => Math.floor(at / dayMs)

/** The mean of closes, and when the latest of them was recorded. */
export interface Mean {
  value: number
  recordedAt: number
}

/** The closes of 1, 2, 4, … days that begin at a multiple of their number. */
interface Block {
  sum: number
  count: number
  recordedAt: number
}

/** No value is older. Days are counted from it in blocks, so that halves of numbers end at 0. */
const blocksBegin = -(2 ** 22)
const blockLevels = 24

const joined = (a: Block | undefined, b: Block): Block =>
  a
    ? {
        sum: a.sum + b.sum,
        count: a.count + b.count,
        recordedAt: Math.max(a.recordedAt, b.recordedAt),
      }
    : b

export function createInput(rows: readonly Observation[]) {
  let last = 0
  let closes: Observation[] | undefined
  let blocks: Map<number, Block>[] | undefined
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
  const blocksOf = () => {
    if (blocks) return blocks
    let level = new Map<number, Block>()
    for (const { observedAt, value, recordedAt } of closesOf())
      level.set(dayNumber(observedAt) - blocksBegin, { sum: value, count: 1, recordedAt })
    blocks = [level]
    while (blocks.length < blockLevels) {
      const next = new Map<number, Block>()
      for (const [number, block] of level) {
        const half = Math.floor(number / 2)
        next.set(half, joined(next.get(half), block))
      }
      blocks.push(next)
      level = next
    }
    return blocks
  }
  return {
    rows,
    /** The place of the newest value at or before a time; -1 without one. */
    upTo,
    /** The last value of each UTC day. */
    closes: closesOf,
    /**
     * The mean of the closes of `[from, to)`, in days since 1970. A window of thousands of days is
     * read in some thirty blocks, and its mean depends on nothing outside of it.
     */
    mean(from: number, to: number): Mean | undefined {
      let first = Math.max(0, from - blocksBegin)
      let end = Math.min(2 ** (blockLevels - 1), to - blocksBegin)
      let all: Block | undefined
      const add = (block: Block | undefined) => {
        if (block) all = joined(all, block)
      }
      for (const level of blocksOf()) {
        if (first >= end) break
        if (first % 2 === 1) add(level.get(first++))
        if (end % 2 === 1) add(level.get(--end))
        first = Math.floor(first / 2)
        end = Math.floor(end / 2)
      }
      return all && { value: all.sum / all.count, recordedAt: all.recordedAt }
    },
    /** The place of the first close on a day or after it, in days since 1970. */
    closeFrom: (day: number) =>
      firstNotBefore(closesOf(), ({ observedAt }) => observedAt < day * dayMs),
  }
}
