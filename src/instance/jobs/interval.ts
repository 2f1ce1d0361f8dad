import type { Clock } from '../../lib/time/clock.ts'

/**
 * For jobs that pass every second and have something to do more rarely: true at first, and then at most
 * once in so many milliseconds. A clock that went back makes it true again.
 */
export function createInterval(everyMs: number, clock: Pick<Clock, 'now'>): () => boolean {
  let wasDueAt: number | undefined
  return () => {
    const now = clock.now()
    if (wasDueAt !== undefined && now >= wasDueAt && now - wasDueAt < everyMs) return false
    wasDueAt = now
    return true
  }
}
