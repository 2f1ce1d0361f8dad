import type { Log } from '../../lib/log/log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { minuteMs } from '../../lib/time/instant.ts'
import type { WorkerFault } from '../../topics/condition/service/vitals.ts'

/** After as many starts that failed, no one waits for a worker any more. */
export const failuresMax = 3
/** How long the status reports that a worker has ended. */
const endReportedMs = minuteMs

/** Which starts of query workers failed and which workers ended, for the log and the status. */
export function createWorkerHealth(log: Log, { monotonic }: Pick<Clock, 'monotonic'>) {
  let failures = 0
  let failure: string | undefined
  /** The newest end of a worker that had started. */
  let lastEnd: { at: number; reason: string } | undefined
  return {
    /** Starts that failed since the last one that succeeded. */
    failures: () => failures,
    noteStart() {
      if (failures > 0) log.info('query_worker_started', { failures })
      failures = 0
      failure = undefined
    },
    noteEnd(reason: string) {
      lastEnd = { at: monotonic(), reason }
      log.error('query_worker_ended', { reason })
    },
    /** It is logged once for each reason: the trials that follow may continue for days. */
    noteFailure(reason: string) {
      failures += 1
      if (failure !== reason) log.error('query_worker_not_started', { reason })
      failure = reason
      if (failures === failuresMax)
        log.error('query_workers_unavailable', {
          message: 'The main thread answers heavy requests until a query worker starts.',
        })
    },
    fault(): WorkerFault | undefined {
      if (failure !== undefined) return { kind: 'not_started', reason: failure }
      return lastEnd && monotonic() - lastEnd.at < endReportedMs
        ? { kind: 'ended', reason: lastEnd.reason }
        : undefined
    },
  }
}
