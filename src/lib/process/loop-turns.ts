import type { Clock } from '../time/clock.ts'

/** Resolves once the event loop has checked all of its sockets. */
export const nextTurn = (): Promise<void> => new Promise(done => setImmediate(done))

/**
 * Gives turns of the event loop to long work, one caller a turn, in the order of the calls: however
 * many do it, other requests wait for one slice of it.
 */
export function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(nextTurn)
    return last
  }
}

/** Orders the work that comes from connections. */
export interface TurnQueue<Source> {
  /** In the order in which it came: at once while nothing else competes, else in a later turn. */
  run<T>(source: Source, work: () => T | Promise<T>): T | Promise<T>
}

/** The source whose work was begun at once, until the loop has polled all sockets. */
let atOnce: unknown

/**
 * Whether the work for a source is still done in the call in which the runtime delivered it. The
 * runtime sends a response of such work in one piece, however long it is.
 */
export const isAtOnce = (source: object): boolean => source === atOnce

/** So much of one connection is done at once before the others are checked. */
const pipelinedMax = 100
/** After so many turns with a single piece of work, nothing competes. */
const calmTurns = 8
/** Nor after so long without work. */
const calmMs = 100

/**
 * The runtime continues accepting connections for as long as each is answered at once, and open
 * sockets wait in the meantime. So competing work waits until the loop has polled all of its
 * sockets; then one turn does as much of it as fits into `budgetMs`. That is also quicker: between
 * two sockets the code leaves the processor's caches, and loading it again takes half of the time
 * of a short response.
 *
 * Work that does not compete is done at once. The runtime closes a connection on which a request
 * arrives while an earlier one waits, so pipelined requests are answered only if none of them
 * waits.
 */
export function createTurnQueue<Source>(
  stopwatch: Pick<Clock, 'monotonic'>,
  budgetMs: number,
  connectionOf: (source: Source) => string | undefined,
): TurnQueue<Source> {
  let waiting: (() => void)[] = []
  /** Several connections competed within the last turns. */
  let isBusy = false
  let quietTurns = 0
  let lastTurnAt = Number.NEGATIVE_INFINITY
  /** Work done immediately since the loop last polled all of its sockets. */
  let doneAtOnce = 0
  let connection: string | undefined

  const beginTurn = () => {
    atOnce = undefined
    doneAtOnce = 0
  }
  const turn = () => {
    const endsAt = stopwatch.monotonic() + budgetMs
    quietTurns = waiting.length === 1 ? quietTurns + 1 : 0
    let count = 0
    do {
      waiting[count]!()
      count += 1
    } while (count < waiting.length && stopwatch.monotonic() < endsAt)
    waiting = waiting.slice(count)
    lastTurnAt = stopwatch.monotonic()
    if (waiting.length > 0) setImmediate(turn)
    else isBusy = quietTurns < calmTurns
  }
  const competes = (source: Source): boolean => {
    if (isBusy && (waiting.length > 0 || stopwatch.monotonic() - lastTurnAt < calmMs)) return true
    isBusy = false
    if (doneAtOnce === 0) {
      setImmediate(beginTurn)
      connection = connectionOf(source)
    } else if (doneAtOnce === pipelinedMax || connectionOf(source) !== connection) {
      isBusy = true
      quietTurns = 0
      lastTurnAt = stopwatch.monotonic()
      return true
    }
    doneAtOnce += 1
    return false
  }
  return {
    run(source, work) {
      if (!competes(source)) {
        atOnce = source
        return work()
      }
      return new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(work())
          } catch (error) {
            reject(error)
          }
        })
        if (waiting.length === 1) setImmediate(turn)
      })
    },
  }
}
