import type { Clock } from '../../lib/time/clock.ts'
import type { SurchargeMatching } from '../../topics/fuels/service/surcharges.ts'
import type { Job } from './job.ts'

/** Reads the carriers' tables at the price of each week as it comes in. */
export const createSurchargeJob = (matching: SurchargeMatching, clock: Clock): Job => ({
  name: 'fuel surcharges',
  pass: () => void matching.match(clock.now()),
})
