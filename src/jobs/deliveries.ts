import type { Clock } from '../lib/clock.ts'
import { minuteMs } from '../lib/instant.ts'
import type { Log } from '../lib/log.ts'
import type { Deliveries } from '../service/deliveries.ts'
import type { Job } from './job.ts'

export interface DeliveriesJobDeps {
  deliveries: Pick<Deliveries, 'dispatch' | 'nextDueAt'>
  clock: Clock
  log: Log
  intervalMs: number
}

/** What could not be dispatched is tried again after this. */
const againMs = minuteMs

/**
 * Makes the runs of scheduled deliveries at the start and then at each multiple of the interval, or as soon after it as there is a pass. What
 * is due is read from rows, so a dispatch that comes late misses nothing. A moved clock stops at the dispatches that have something to do.
 */
export function deliveriesJob({ deliveries, clock, log, intervalMs }: DeliveriesJobDeps): Job {
  let dispatchedIn: number | undefined
  let againAt = Number.POSITIVE_INFINITY
  return {
    name: 'deliveries',
    async pass() {
      const now = clock.now()
      const interval = Math.floor(now / intervalMs)
      if (interval === dispatchedIn && now < againAt) return
      const { runs, failed, error } = await deliveries.dispatch()
      dispatchedIn = interval
      againAt = failed > 0 ? now + againMs : Number.POSITIVE_INFINITY
      if (runs > 0) log.info('scheduled deliveries were dispatched', { runs })
      if (failed > 0) log.error('scheduled deliveries could not be dispatched', { failed, error })
    },
    nextStop(after) {
      const dueAt = deliveries.nextDueAt()
      if (dueAt === undefined) return Number.POSITIVE_INFINITY
      const dispatchAt = Math.ceil(Math.max(dueAt, after + 1) / intervalMs) * intervalMs
      return againAt > after ? Math.min(againAt, dispatchAt) : dispatchAt
    },
  }
}
