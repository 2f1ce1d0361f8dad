/** The last occurrence of a row that a file repeats. `ordinal` counts its rows from 0. */
export interface LastRow {
  ordinal: number
  content: number
}

/**
 * The rows that a file has more than once. Only the last of each key is written, so importing a file
 * again changes nothing even if the file contradicts itself.
 */
export type Repeats = ReturnType<typeof createRepeats>

const bitsMin = 2 ** 16
/**
 * 128 MB: with two bits a row, chance collisions stay under the limit below up to 100 million rows
 * in no order.
 */
const bitsMax = 2 ** 30
const repeatsMax = 2_000_000

/**
 * A Bloom filter over the keys; those whose bits were all set already are kept with their last row.
 * Chance collisions are kept too: they cost memory and nothing else, because their last row is their
 * only one. Throws a sentence over 2,000,000 repeats. `rowsMax` sizes the filter.
 */
export function createRepeats(rowsMax: number) {
  const bits = 2 ** Math.ceil(Math.log2(Math.min(bitsMax, Math.max(bitsMin, rowsMax * 16))))
  const seen = new Uint32Array(bits / 32)
  const lastRows = new Map<number, LastRow>()
  let ordinal = -1
  const mark = (hash: number): boolean => {
    const slot = (hash & (bits - 1)) >>> 5
    const bit = 1 << (hash & 31)
    const isKnown = (seen[slot]! & bit) !== 0
    seen[slot]! |= bit
    return isKnown
  }
  return {
    /** Takes the rows of the file in their order. */
    see(key: number, content: number) {
      ordinal += 1
      const first = mark(mixed(key, 0x9e3779b1))
      const second = mark(mixed(key, 0x7feb352d))
      if (!first || !second) return
      if (lastRows.size === repeatsMax && !lastRows.has(key))
        throw new Error(
          `more than ${repeatsMax} of its rows occur, or may occur, more than once: leave out the repeats`,
        )
      lastRows.set(key, { ordinal, content })
    },
    /** The last row of a key that occurs more than once, or seems to. */
    last: (key: number) => lastRows.get(key),
  }
}

/** 32 well-mixed bits of a number of up to 52. */
function mixed(key: number, seed: number): number {
  let h = Math.imul((key | 0) ^ seed, 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 15) ^ Math.imul(Math.floor(key / 2 ** 32), seed), 0xc2b2ae35)
  h = Math.imul(h ^ (h >>> 13), 0x27d4eb2f)
  return h ^ (h >>> 16)
}
