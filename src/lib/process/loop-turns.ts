import type { Clock } from '../time/clock.ts'

/** Resolves once the event loop has looked at all of its sockets. */
export const nextTurn = (): Promise<void> => new Promise(done => setImmediate(done))

/** Does what has come once the event loop has looked at all of its sockets. */
export interface TurnQueue {
  /** In the order in which it came. */
  run<Subject, T>(work: (subject: Subject) => T | Promise<T>, subject: Subject): Promise<T>
}

interface Waiting {
  work(subject: unknown): unknown
  subject: unknown
  resolve(value: unknown): void
  reject(error: unknown): void
}

function doWaiting({ work, subject, resolve, reject }: Waiting) {
  try {
    resolve(work(subject))
  } catch (error) {
    reject(error)
  }
}

/**
 * The runtime goes on accepting connections for as long as each is answered at once, and sockets
 * that are open already wait meanwhile. So whatever comes waits until the loop has looked at all of
 * its sockets; then a turn does as much of it as fits into `budgetMs`, one thing after the other.
 * That is also quicker: between two sockets the processor forgets the code of an answer, and half of
 * the time of a short one goes into fetching it again.
 */
export function createTurnQueue(stopwatch: Pick<Clock, 'monotonic'>, budgetMs: number): TurnQueue {
  let waiting: Waiting[] = []
  const turn = () => {
    const endsAt = stopwatch.monotonic() + budgetMs
    let count = 0
    do {
      doWaiting(waiting[count]!)
      count += 1
    } while (count < waiting.length && stopwatch.monotonic() < endsAt)
    waiting = waiting.slice(count)
    if (waiting.length > 0) setImmediate(turn)
  }
  return {
    run: <Subject, T>(work: (subject: Subject) => T | Promise<T>, subject: Subject) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, subject, resolve, reject } as Waiting)
        if (waiting.length === 1) setImmediate(turn)
      }),
  }
}
