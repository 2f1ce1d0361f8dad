import type { Clock } from '../../lib/time/clock.ts'
import { minuteMs } from '../../lib/time/instant.ts'
import type { VitalsHistory, VitalsNow } from '../../topics/operator/service/vitals-history.ts'
import { createInterval } from './interval.ts'
import type { Job } from './job.ts'

export interface VitalsJobDeps {
  vitalsHistory: VitalsHistory
  /** Current values of gauges. */
  read: () => VitalsNow
  clock: Clock
}

/** Records once a minute how the instance is doing. */
export function createVitalsJob({ vitalsHistory, read, clock }: VitalsJobDeps): Job {
  const isDue = createInterval(minuteMs, clock)
  return {
    name: 'vitals',
    pass() {
      if (isDue()) vitalsHistory.take(read())
    },
  }
}
