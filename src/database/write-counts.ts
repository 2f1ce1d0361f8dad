/** The results of a write, counted in rows. */
export interface WriteCounts {
  inserted: number
  revised: number
  unchanged: number
  /** Held for review, and not written. */
  held?: number
  /** Left out: an operator replaced or removed the very value of this source before. */
  kept?: number
  /** The recording time of the last row: from then on `as_of` includes all of them. */
  recordedAt?: number
}

/** The result of writing one row. */
export type WriteOutcome = 'inserted' | 'revised' | 'unchanged'

export function countsOf(outcomes: readonly WriteOutcome[]): WriteCounts {
  const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
  for (const outcome of outcomes) counts[outcome] += 1
  return counts
}
