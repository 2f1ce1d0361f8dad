import type { Log } from '../../lib/log/log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { minuteMs } from '../../lib/time/instant.ts'
import type { Deliveries } from '../../topics/deliveries/service/deliveries.ts'
import type { Job } from './job.ts'

export interface DeliveriesJobDeps {
  deliveries: Pick<Deliveries, 'dispatch' | 'nextDueAt'>
  clock: Clock
  log: Log
  intervalMs: number
}

/** The delay before a failed dispatch is retried. */
const againMs = minuteMs

/**
 * Runs scheduled deliveries: those due at the start, and then at each multiple of the interval
 * those due by it. Due deliveries are read from rows, so a late pass misses nothing. A moved clock
 * stops at dispatches with something to do.
 */
export function createDeliveriesJob({
  deliveries,
  clock,
  log,
  intervalMs,
}: DeliveriesJobDeps): Job {
  let last: { interval: number; upTo: number; againAt: number } | undefined
  const dispatch = async (interval: number, upTo: number) => {
    const { runs, failed, error } = await deliveries.dispatch(upTo)
    last = {
      interval,
      upTo,
      againAt: failed > 0 ? clock.now() + againMs : Number.POSITIVE_INFINITY,
    }
    if (runs > 0)
      log.info('deliveries_dispatched', { message: 'Scheduled deliveries were dispatched.', runs })
    if (failed > 0)
      log.error('deliveries_dispatch_failed', {
        message: 'Scheduled deliveries could not be dispatched; they stay due.',
        failed,
        error,
      })
  }
  return {
    name: 'deliveries',
    async pass() {
      const now = clock.now()
      const interval = Math.floor(now / intervalMs)
      if (!last) await dispatch(interval, now)
      else if (interval !== last.interval) await dispatch(interval, interval * intervalMs)
      else if (now >= last.againAt) await dispatch(interval, last.upTo)
    },
    nextStop(after) {
      const dueAt = deliveries.nextDueAt()
      if (dueAt === undefined) return Number.POSITIVE_INFINITY
      const dispatchAt = Math.ceil(Math.max(dueAt, after + 1) / intervalMs) * intervalMs
      return last && last.againAt > after ? Math.min(last.againAt, dispatchAt) : dispatchAt
    },
  }
}
