import type { Clock } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import type { SeriesFaults } from '../../topics/condition/service/series-faults.ts'
import { createInterval } from './interval.ts'
import type { Job } from './job.ts'

/** Those who ask find most of it known: their requests, the notices and the metrics wait for it. */
const everyMs = 15 * secondMs

/** Looks at what is wrong with each series, a few at a time, before others ask for all of them. */
export function createSeriesFaultsJob(
  seriesFaults: Pick<SeriesFaults, 'renew'>,
  clock: Pick<Clock, 'now'>,
): Job {
  const isDue = createInterval(everyMs, clock)
  return {
    name: 'series faults',
    async pass() {
      if (isDue()) await seriesFaults.renew()
    },
  }
}
