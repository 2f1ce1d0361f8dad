import type { Clock } from '../time/clock.ts'

/** Resolves once the event loop has looked at all of its sockets. */
export const nextTurn = (): Promise<void> => new Promise(done => setImmediate(done))

/** Says when work has to wait for the next turn of the event loop. */
export interface LoopTurns {
  /** Undefined: there is time left in this turn. Else what to wait for. */
  wait(): Promise<void> | undefined
}

/**
 * The runtime goes on accepting connections for as long as each is answered at once, and sockets
 * that are open already wait meanwhile. So what is answered at once may take so much of a turn and
 * no more: what comes then waits until the loop has looked at all of its sockets.
 */
export function createLoopTurns(stopwatch: Pick<Clock, 'monotonic'>, budgetMs: number): LoopTurns {
  let startedAt: number | undefined
  const end = () => {
    startedAt = undefined
  }
  const hasTime = (): boolean => {
    const now = stopwatch.monotonic()
    if (startedAt === undefined) {
      startedAt = now
      setImmediate(end)
      return true
    }
    return now - startedAt < budgetMs
  }
  const laterTurn = async () => {
    do await nextTurn()
    while (!hasTime())
  }
  return { wait: () => (hasTime() ? undefined : laterTurn()) }
}
