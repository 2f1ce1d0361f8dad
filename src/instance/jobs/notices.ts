import type { Clock } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import { createInterval } from './interval.ts'
import type { Job } from './job.ts'

/** What there is to tell takes some looking up. */
const everyMs = 5 * secondMs

/** Tells the operator what needs them. */
export function createNoticesJob(
  notices: { pass(): void; settled(): Promise<void> },
  clock: Pick<Clock, 'now'>,
): Job {
  const isDue = createInterval(everyMs, clock)
  return {
    name: 'notices',
    pass() {
      if (isDue()) notices.pass()
    },
    settled: notices.settled,
  }
}
