/** The last occurrence of a row that a file repeats. `ordinal` counts its rows from 0. */
export interface LastRow {
  ordinal: number
  content: number
}

/** The numbers of a row: its key and its content. */
const rowNumbers = 2
/** Rows of a block of memory. */
const blockRows = 2 ** 12

/**
 * The rows that a file has more than once. Only the last of each key is written, so importing a file
 * again changes nothing even if the file contradicts itself. A row takes 16 bytes of memory, and as
 * much again while the keys are sorted.
 */
export function createRepeats() {
  const blocks: Float64Array[] = []
  let rows = 0
  const blockOf = (ordinal: number) => blocks[Math.floor(ordinal / blockRows)]!
  const placeOf = (ordinal: number) => rowNumbers * (ordinal % blockRows)
  const keyOf = (ordinal: number) => blockOf(ordinal)[placeOf(ordinal)]!
  return {
    /** Takes the rows of the file in their order. */
    see(key: number, content: number) {
      if (rows % blockRows === 0) blocks.push(new Float64Array(rowNumbers * blockRows))
      const [block, place] = [blockOf(rows), placeOf(rows)]
      block[place] = key
      block[place + 1] = content
      rows += 1
    },
    /** The last row of each key that occurs more than once; requested when all rows were seen. */
    lastRows(): ReadonlyMap<number, LastRow> {
      const sorted = new Float64Array(rows)
      for (let ordinal = 0; ordinal < rows; ordinal += 1) sorted[ordinal] = keyOf(ordinal)
      sorted.sort()
      const repeated = new Set(sorted.filter((key, i) => i > 0 && key === sorted[i - 1]))
      const last = new Map<number, LastRow>()
      for (let ordinal = 0; repeated.size > 0 && ordinal < rows; ordinal += 1) {
        const key = keyOf(ordinal)
        const content = blockOf(ordinal)[placeOf(ordinal) + 1]!
        if (repeated.has(key)) last.set(key, { ordinal, content })
      }
      return last
    },
  }
}
