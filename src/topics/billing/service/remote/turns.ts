export type InTurn = ReturnType<typeof createTurns>

/**
 * Runs the requests to the processor for one account one after the other, so that an older response
 * never overtakes a newer one.
 */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(lane: string, work: () => Promise<T>): Promise<T> => {
    const mine = (last.get(lane) ?? Promise.resolve()).then(work, work)
    last.set(lane, mine)
    try {
      return await mine
    } finally {
      if (last.get(lane) === mine) last.delete(lane)
    }
  }
}
