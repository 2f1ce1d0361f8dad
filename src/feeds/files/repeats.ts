/**
 * What a file says last about a point that it has more than once. `ordinal` counts the points of
 * the file from 0.
 */
export interface LastWord {
  ordinal: number
  value: number
}

/**
 * The points that a file has more than once. Only their last occurrence is written, so that
 * importing a file again changes nothing even if the file contradicts itself. They are found by
 * reading the file ahead, in memory that does not grow with it: `disorder` first, and only for
 * files that are not in order of time, `repeatsAmong` in a second reading.
 */
export interface Repeats {
  /** The last word on a point that occurs more than once, or seems to. */
  last(seriesId: number, observedAt: number): LastWord | undefined
}

export interface Disorder {
  see(seriesId: number, observedAt: number): void
  /** The series that may have repeats, with how many points each has in the file. */
  found(): Map<number, number>
}

interface Extent {
  low: number
  high: number
  points: number
  inside: boolean
}

/**
 * Keeps the first and last time of each series: a point outside of them is new, so a series that
 * runs forward or backward has no repeats.
 */
export function createDisorder(): Disorder {
  const bySeries: (Extent | undefined)[] = []
  return {
    see(seriesId, observedAt) {
      const extent = bySeries[seriesId]
      if (!extent) {
        bySeries[seriesId] = { low: observedAt, high: observedAt, points: 1, inside: false }
        return
      }
      extent.points += 1
      if (observedAt > extent.high) extent.high = observedAt
      else if (observedAt < extent.low) extent.low = observedAt
      else extent.inside = true
    },
    found() {
      const repeats = new Map<number, number>()
      bySeries.forEach((extent, seriesId) => {
        if (extent?.inside) repeats.set(seriesId, extent.points)
      })
      return repeats
    },
  }
}

const bitsMin = 2 ** 16
/**
 * 128 MB: with two bits a point, chance collisions stay under the limit below up to 100 million
 * points in no order.
 */
const bitsMax = 2 ** 30
const repeatsMax = 2_000_000

export interface RepeatFilter extends Repeats {
  see(seriesId: number, observedAt: number, value: number): void
}

/**
 * A Bloom filter over the points of these series; those whose bits were all set already are kept
 * with their last word. Chance collisions are kept too: they cost memory and nothing else, because
 * their last word is their only one. Throws a sentence over 2,000,000 repeats.
 */
export function repeatsAmong(series: ReadonlyMap<number, number>): RepeatFilter {
  const points = [...series.values()].reduce((sum, count) => sum + count, 0)
  const bits = 2 ** Math.ceil(Math.log2(Math.min(bitsMax, Math.max(bitsMin, points * 16))))
  const seen = new Uint32Array(bits / 32)
  const words = new Map<number, Map<number, LastWord>>(
    [...series.keys()].map(id => [id, new Map()]),
  )
  let ordinal = -1
  let repeats = 0
  const mark = (hash: number): boolean => {
    const slot = (hash & (bits - 1)) >>> 5
    const bit = 1 << (hash & 31)
    const isKnown = (seen[slot]! & bit) !== 0
    seen[slot]! |= bit
    return isKnown
  }
  return {
    see(seriesId, observedAt, value) {
      ordinal += 1
      const own = words.get(seriesId)
      if (!own) return
      const first = mark(hashOf(seriesId, observedAt, 0x9e3779b1))
      const second = mark(hashOf(seriesId, observedAt, 0x7feb352d))
      if (!first || !second) return
      if (!own.has(observedAt)) repeats += 1
      if (repeats > repeatsMax) {
        throw new Error(
          `more than ${repeatsMax} of its points occur, or may occur, more than once: sort it by time and leave out the repeats`,
        )
      }
      own.set(observedAt, { ordinal, value })
    },
    last: (seriesId, observedAt) => words.get(seriesId)?.get(observedAt),
  }
}

/**
 * 32 well-mixed bits: times are multiples of minutes and days, whose low bits would all fall
 * together.
 */
function hashOf(seriesId: number, observedAt: number, seed: number): number {
  let h = Math.imul((observedAt | 0) ^ seed, 0x85ebca6b)
  h = Math.imul(
    h ^ (h >>> 15) ^ Math.imul(seriesId * 4096 + Math.floor(observedAt / 2 ** 32), seed),
    0xc2b2ae35,
  )
  h = Math.imul(h ^ (h >>> 13), 0x27d4eb2f)
  return h ^ (h >>> 16)
}
