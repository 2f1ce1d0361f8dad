import { workerConfig } from '../http/query-workers/config-copy.ts'
import type { FromQueryWorker, QueryWorkerThread } from '../http/query-workers/messages.ts'
import { createQueryWorkerPool, type QueryWorkerPool } from '../http/query-workers/pool.ts'
import type { Services } from '../instance/services/services.ts'
import { workerErrorMessage } from '../lib/process/worker-error.ts'
import { createSystemClock } from '../lib/time/clock.ts'
import type { QueryWorkerStart } from './query-worker.thread.ts'
import { spawnThread } from './thread.ts'

/** Query workers over a database file; they are notified of everything that the services write. */
export function openQueryWorkers(services: Services, databasePath: string): QueryWorkerPool {
  const { config, clock, log, ingest, catalogue } = services
  const copied = workerConfig(config)
  const pool = createQueryWorkerPool({
    threads: config.readers.threads,
    log,
    stopwatch: createSystemClock(),
    start: () => startThread({ databasePath, config: copied, now: clock.now() }),
  })
  ingest.listen(changes =>
    pool.notify({
      kind: 'written',
      changes: changes.map(({ seriesId, inserted }) => ({
        seriesId,
        extent: inserted[0] && {
          firstAt: inserted[0].observedAt,
          lastAt: inserted.at(-1)!.observedAt,
        },
      })),
    }),
  )
  const forget = (seriesId: number) =>
    pool.notify({ kind: 'written', changes: [{ seriesId, extent: undefined }] })
  ingest.onPast(forget)
  ingest.onWithdraw(seriesId => {
    forget(seriesId)
    pool.notify({ kind: 'catalogue' })
  })
  services.onQuarantineChange(seriesId => pool.notify({ kind: 'quarantine', seriesId }))
  catalogue.onReload(() => pool.notify({ kind: 'catalogue' }))
  return pool
}

function startThread(start: QueryWorkerStart): QueryWorkerThread {
  const worker = spawnThread('query-worker')
  worker.postMessage(start)
  return {
    post: message => worker.postMessage(message),
    onMessage(listener) {
      worker.onmessage = event => listener(event.data as FromQueryWorker)
    },
    onEnd(listener) {
      worker.onerror = event => listener(workerErrorMessage(event.message))
      worker.addEventListener('close', () => listener('closed'))
    },
    stop: () => void worker.terminate(),
  }
}
