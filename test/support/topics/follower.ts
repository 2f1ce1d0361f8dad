/** A record of the feed of changes, as a client gets it. */
export interface WireChange {
  cursor: string
  kind: 'added' | 'revised' | 'deleted'
  code: string
  observed_at: string | null
  value: number | null
  previous: number | null
  source: string
  recorded_at: string
  derived: boolean
  retroactive: boolean
}

/**
 * Applies the feed by the rules of its documentation, and no others: an independent client of the
 * contract.
 */
export function createFollower() {
  let kept: WireChange[] = []
  let last = ''
  return {
    take(changes: readonly WireChange[]) {
      for (const change of changes) {
        if (change.cursor <= last) throw new Error(`${change.cursor} does not rise over ${last}`)
        last = change.cursor
        if (change.kind === 'deleted' && change.retroactive)
          kept = kept.filter(
            ({ code, observed_at }) =>
              code !== change.code ||
              (change.observed_at !== null && observed_at !== change.observed_at),
          )
        else kept.push(change)
      }
    },
    /** Lines `code,observed_at,value` at a moment, sorted. */
    stateAt(moment: string): string[] {
      const state = new Map<string, WireChange>()
      for (const change of kept) {
        if (change.recorded_at > moment) continue
        const key = `${change.code},${change.observed_at}`
        const before = state.get(key)
        // Cursors rise, so of two records of one instant the later one is the greater.
        if (!before || change.recorded_at >= before.recorded_at) state.set(key, change)
      }
      return [...state]
        .filter(([, change]) => change.kind !== 'deleted')
        .map(([key, change]) => `${key},${change.value}`)
        .sort()
    },
    cursor: () => last,
    get kept() {
      return kept
    },
  }
}
