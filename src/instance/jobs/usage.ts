import type { LateCommits } from '../../database/late-commits.ts'
import { sleep } from '../../lib/time/clock.ts'
import type { Meter } from '../../topics/keys/service/meter.ts'
import type { Job } from './job.ts'

/** Some milliseconds of writing. */
const keysEach = 1000

/**
 * Writes counters and usage asynchronously: a crash loses at most the counts since the last beat.
 */
export const createUsageJob = (meter: Meter, commits: LateCommits): Job => ({
  name: 'usage',
  async pass() {
    const write = () => commits.run(() => meter.flushSome(keysEach))
    let waiting = await write()
    // As many slices as there were keys: those that wait again by then have their turn in a second.
    for (let slices = Math.ceil(waiting / keysEach); slices > 0 && waiting > 0; slices -= 1) {
      await sleep(0)
      waiting = await write()
    }
  },
})
