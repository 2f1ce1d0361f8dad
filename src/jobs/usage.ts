import { sleep } from '../lib/time/clock.ts'
import type { Meter } from '../service/keys/meter.ts'
import type { Job } from './job.ts'

/**
 * Some ten milliseconds of writing. Each slice waits for the disk once: of smaller ones that would
 * be the greater part.
 */
const keysEach = 2000

/** Writes counters and usage behind: what a crash can lose is what came in since the last beat. */
export const createUsageJob = (meter: Meter): Job => ({
  name: 'usage',
  async pass() {
    let waiting = meter.flushSome(keysEach)
    // As many slices as there were keys: those that wait again by then have their turn in a second.
    for (let slices = Math.ceil(waiting / keysEach); slices > 0 && waiting > 0; slices -= 1) {
      await sleep(0)
      waiting = meter.flushSome(keysEach)
    }
  },
})
