import type { Clock } from '../../lib/time/clock.ts'
import type { Changes } from '../../topics/changes/service/open.ts'
import type { SurchargeMatching } from '../../topics/fuels/service/surcharges.ts'
import type { Job } from './job.ts'

/** Reads the carriers' tables at the price of each week as it comes in. */
export const createSurchargeJob = ({
  surchargeMatching: matching,
  changes,
  clock,
}: {
  surchargeMatching: SurchargeMatching
  changes: Pick<Changes, 'noteRows'>
  clock: Clock
}): Job => ({
  name: 'fuel surcharges',
  pass() {
    if (matching.match(clock.now()) > 0) changes.noteRows()
  },
})
