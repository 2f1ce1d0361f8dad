/** What became of the rows of a write. */
export interface WriteCounts {
  inserted: number
  revised: number
  unchanged: number
  /** Doubted, and not written. */
  held?: number
}

/** What became of one row. */
export type WriteOutcome = keyof WriteCounts

export function countsOf(outcomes: readonly WriteOutcome[]): WriteCounts {
  const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
  for (const outcome of outcomes) counts[outcome] += 1
  return counts
}
