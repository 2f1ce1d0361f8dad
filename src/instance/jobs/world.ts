import type { Clock } from '../../lib/time/clock.ts'
import { hourMs } from '../../lib/time/instant.ts'
import type { Job } from './job.ts'

/**
 * Publishes what the fixture world has due. A clock moved far stops every hour, so that what
 * depends on prices sees them in order.
 */
export const createWorldJob = (feed: { advance(now: number): unknown }, clock: Clock): Job => ({
  name: 'fixture world',
  pass: () => void feed.advance(clock.now() + 1),
  nextStop: after => (Math.floor(after / hourMs) + 1) * hourMs,
})
