import type { Clock } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import type { SeriesFaults } from '../../topics/condition/service/series-faults.ts'
import { createInterval } from './interval.ts'
import type { Job } from './job.ts'

/** Often enough that requests, notices and metrics find most faults computed. */
const everyMs = 15 * secondMs

/** Renews the faults of a few series at a time, before requests need all of them. */
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
