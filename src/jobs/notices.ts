import type { Clock } from '../lib/time/clock.ts'
import { secondMs } from '../lib/time/instant.ts'
import type { Job } from './job.ts'

/** What there is to tell takes some looking up. */
const everyMs = 15 * secondMs

/** Tells the operator what needs them. */
export function createNoticesJob(
  notices: { pass(): void; settled(): Promise<void> },
  clock: Pick<Clock, 'now'>,
): Job {
  let passedAt = Number.NEGATIVE_INFINITY
  return {
    name: 'notices',
    pass() {
      const now = clock.now()
      if (now >= passedAt && now - passedAt < everyMs) return
      passedAt = now
      notices.pass()
    },
    settled: notices.settled,
  }
}
