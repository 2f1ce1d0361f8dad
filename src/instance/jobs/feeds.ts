import type { Feeds } from '../../feeds/engine/feeds.ts'
import type { Job } from './job.ts'

/** Reads the public sources whose time has come, without waiting for them. */
export const createFeedsJob = (
  feeds: Pick<Feeds, 'pass' | 'nextDue' | 'settled'>,
): Required<Job> => ({
  name: 'feeds',
  pass: feeds.pass,
  nextStop: feeds.nextDue,
  settled: feeds.settled,
})
