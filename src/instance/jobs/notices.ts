import type { Clock } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import { createInterval } from './interval.ts'
import type { Job } from './job.ts'

/** Finding operator alerts takes several queries. */
const everyMs = 5 * secondMs

/** Notifies the operator of open alerts. */
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
