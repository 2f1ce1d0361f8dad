import type { Clock } from '../../lib/time/clock.ts'
import { hourMs } from '../../lib/time/instant.ts'
import type { Job } from './job.ts'

/**
 * Publishes the demo data that is due. A clock that is moved far stops every hour, so that whatever
 * depends on prices sees them in order.
 */
export const createDemoFeedJob = (feed: { advance(now: number): unknown }, clock: Clock): Job => ({
  name: 'demo feed',
  pass: () => void feed.advance(clock.now() + 1),
  nextStop: after => (Math.floor(after / hourMs) + 1) * hourMs,
})
