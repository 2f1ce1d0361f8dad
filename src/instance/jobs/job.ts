import type { Clock } from '../../lib/time/clock.ts'
import { isDueAgain } from '../../lib/time/instant.ts'

/**
 * One background duty. A pass does what is due at its moment and reads what is due from rows, so it
 * may come late or twice.
 */
export interface Job {
  name: string
  pass(): void | Promise<void>
  /**
   * The next moment after `after` (Unix ms) at which a pass matters, for clocks that are moved a
   * long way: they stop there. Without it one pass at the end of the way is enough.
   */
  nextStop?(after: number): number
  /** No other job waits for what it does: a moved clock stops for it alone. */
  isAlone?: true
  /**
   * Resolves when the work that passes started without waiting for it has ended; a moved clock
   * stops until then.
   */
  settled?(): Promise<void>
}

/**
 * A job that does its work at the first pass, and then at most once in `everyMs`. A clock that was
 * set back makes it due again.
 */
export function intervalJob(
  name: string,
  everyMs: number,
  clock: Pick<Clock, 'now'>,
  work: Job['pass'],
): Job {
  let wasDueAt: number | undefined
  return {
    name,
    pass() {
      const now = clock.now()
      if (!isDueAgain(wasDueAt, everyMs, now)) return
      wasDueAt = now
      return work()
    },
  }
}
