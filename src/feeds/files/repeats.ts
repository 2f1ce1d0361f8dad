/** The last occurrence of a row that a file repeats. `ordinal` counts its rows from 0. */
export interface LastRow {
  ordinal: number
  content: number
}

/** The numbers of a row: its key and its content. */
const rowNumbers = 2

/**
 * The rows that a file has more than once. Only the last of each key is written, so importing a file
 * again changes nothing even if the file contradicts itself. A row takes 16 bytes of memory.
 */
export function createRepeats() {
  let seen = new Float64Array(rowNumbers * 2 ** 12)
  let rows = 0
  const keyOf = (ordinal: number) => seen[rowNumbers * ordinal]!
  return {
    /** Takes the rows of the file in their order. */
    see(key: number, content: number) {
      if (rows * rowNumbers === seen.length) {
        const before = seen
        seen = new Float64Array(before.length * 2)
        seen.set(before)
      }
      seen[rowNumbers * rows] = key
      seen[rowNumbers * rows + 1] = content
      rows += 1
    },
    /** The last row of each key that occurs more than once; requested when all rows were seen. */
    lastRows(): ReadonlyMap<number, LastRow> {
      const sorted = Float64Array.from({ length: rows }, (_, ordinal) => keyOf(ordinal)).sort()
      const repeated = new Set(sorted.filter((key, i) => i > 0 && key === sorted[i - 1]))
      const last = new Map<number, LastRow>()
      for (let ordinal = 0; repeated.size > 0 && ordinal < rows; ordinal += 1) {
        const key = keyOf(ordinal)
        if (repeated.has(key)) last.set(key, { ordinal, content: seen[rowNumbers * ordinal + 1]! })
      }
      return last
    },
  }
}
