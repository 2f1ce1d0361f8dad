import type { Clock } from '../time/clock.ts'

/** Resolves once the event loop has looked at all of its sockets. */
export const nextTurn = (): Promise<void> => new Promise(done => setImmediate(done))

/** Does what has come once the event loop has looked at all of its sockets. */
export interface TurnQueue {
  /** In the order in which it came. */
  run<T>(work: () => T | Promise<T>): Promise<T>
}

/**
 * The runtime goes on accepting connections for as long as each is answered at once, and sockets
 * that are open already wait meanwhile. So whatever comes waits until the loop has looked at all of
 * its sockets; then a turn does as much of it as fits into `budgetMs`, one thing after the other.
 * That is also quicker: between two sockets the processor forgets the code of an answer, and half of
 * the time of a short one goes into fetching it again.
 */
export function createTurnQueue(stopwatch: Pick<Clock, 'monotonic'>, budgetMs: number): TurnQueue {
  let waiting: (() => void)[] = []
  const turn = () => {
    const endsAt = stopwatch.monotonic() + budgetMs
    let count = 0
    do {
      waiting[count]!()
      count += 1
    } while (count < waiting.length && stopwatch.monotonic() < endsAt)
    waiting = waiting.slice(count)
    if (waiting.length > 0) setImmediate(turn)
  }
  return {
    run: work =>
      new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(work())
          } catch (error) {
            reject(error)
          }
        })
        if (waiting.length === 1) setImmediate(turn)
      }),
  }
}
