import type { Log } from '../../lib/log/log.ts'
import { after, type Clock, sleep } from '../../lib/time/clock.ts'
import { minuteMs, secondMs } from '../../lib/time/instant.ts'
import type { QueryWorkers } from '../../topics/condition/service/vitals.ts'
import { createFairQueue } from './fair-queue.ts'
import type {
  FromQueryWorker,
  QueryWorkerOutcome,
  QueryWorkerRequest,
  QueryWorkerThread,
  ToQueryWorker,
} from './messages.ts'
import { createStreamedRests } from './streamed-rests.ts'
import { createWorkerHealth, failuresMax } from './worker-health.ts'

/** Threads that answer slow requests, each over its own read-only connection. */
export type QueryWorkerPool = ReturnType<typeof createQueryWorkerPool>

export interface QueryWorkerPoolDeps {
  /** At most; they are started as there is work for them. */
  threads: number
  /** Starts a query worker, which sends `ready` when it can take requests. */
  start(): QueryWorkerThread
  log: Log
  /** Measures waiting in real time, also when the instance's clock is stopped. */
  stopwatch: Pick<Clock, 'monotonic'>
  /** The most waiting requests of one account; more are refused. */
  perAccountMax?: number
  /**
   * How long a request waits for a query worker that has opened before it is refused, milliseconds;
   * while none has, it waits for three times as long.
   */
  waitMaxMs?: number
  /** The waits before a worker that did not start is tried again, one after the other. */
  retryDelaysMs?: readonly number[]
  /** How long the pool may be idle before the workers end, milliseconds. */
  idleMaxMs?: number
}

interface QueryWorker {
  thread: QueryWorkerThread
  isReady: boolean
  /** Ends the watch over how long it takes to open. */
  opened: () => void
  /** Callbacks of the requests in progress, by request number. */
  asked: Map<number, (outcome: QueryWorkerOutcome) => void>
}

const perAccountDefault = 64
const waitDefaultMs = 10_000
const sweepsAWait = 20
/** Opening takes a second of a processor, which an import may leave to others for ten. */
const openingWaits = 3
/** One that cannot start would take a core with trying. */
const retryDelaysDefaultMs = [200, secondMs, 5 * secondMs, 15 * secondMs, minuteMs]
/** A worker that has not opened by then never will. */
const openMaxMs = minuteMs
/** One that waits holds 60 MB, and one starts again within a tenth of a second. */
const idleDefaultMs = minuteMs
/** One request in progress and one queued, so that a query worker is never idle between two. */
const inHandMax = 2

export function createQueryWorkerPool(deps: QueryWorkerPoolDeps) {
  const {
    log,
    perAccountMax = perAccountDefault,
    waitMaxMs = waitDefaultMs,
    retryDelaysMs = retryDelaysDefaultMs,
    idleMaxMs = idleDefaultMs,
  } = deps
  const { monotonic } = deps.stopwatch
  const queue = createFairQueue(perAccountMax)
  const workers = new Set<QueryWorker>()
  const rests = createStreamedRests(() => waitIdle())
  const health = createWorkerHealth(log, deps.stopwatch)
  let lastId = 0
  let isStopped = false
  /** Since when at least one worker is ready. */
  let readyAt = Number.NEGATIVE_INFINITY
  let isSweeping = false
  let isPausing = false
  let endPause = () => {}
  let endIdle = () => {}

  const isAnyReady = () => {
    for (const { isReady } of workers) if (isReady) return true
    return false
  }
  const isGivenUp = () => health.failures() >= failuresMax && !isAnyReady()

  /**
   * Starts one more query worker when all are busy: each takes 60 MB, and most simultaneous
   * requests are the same one.
   */
  const startAnother = () => {
    if (isStopped || isPausing || workers.size >= deps.threads) return
    for (const { asked } of workers) if (asked.size === 0) return
    startOne()
  }

  const startOne = () => {
    const worker: QueryWorker = {
      thread: deps.start(),
      isReady: false,
      opened: () => {},
      asked: new Map(),
    }
    workers.add(worker)
    worker.thread.onMessage(message => receive(worker, message))
    worker.thread.onEnd(reason => bury(worker, reason))
    worker.opened = after(openMaxMs, () => giveUp(worker, 'It took longer than a minute to open.'))
  }

  const giveUp = (worker: QueryWorker, reason: string) => {
    worker.thread.stop()
    bury(worker, reason)
  }

  /**
   * Replaces a query worker that ended; requests that waited for its answers are rejected as lost.
   */
  const bury = (worker: QueryWorker, reason: string) => {
    if (!workers.delete(worker)) return
    worker.opened()
    rests.endOf(worker.thread, reason)
    for (const settle of worker.asked.values()) settle({ kind: 'lost' })
    worker.asked.clear()
    if (isStopped) return
    if (worker.isReady) {
      health.noteEnd(reason)
      return pause(retryDelaysMs[0]!)
    }
    health.noteFailure(reason)
    if (isGivenUp()) for (const waiting of queue.drain()) waiting.settle({ kind: 'no_worker' })
    pause(retryDelaysMs[Math.min(health.failures(), retryDelaysMs.length) - 1]!)
  }

  const pause = (ms: number) => {
    endPause()
    isPausing = true
    endPause = after(ms, () => {
      isPausing = false
      // Also without a request, so that the service recovers while it is idle.
      if (health.failures() > 0 && workers.size < deps.threads) startOne()
      else if (queue.size() > 0) startAnother()
    })
  }

  const noteReady = (worker: QueryWorker) => {
    if (!isAnyReady()) readyAt = monotonic()
    worker.isReady = true
    worker.opened()
    health.noteStart()
    handOut()
    waitIdle()
  }

  const receive = (worker: QueryWorker, message: FromQueryWorker) => {
    switch (message.kind) {
      case 'ready':
        return noteReady(worker)
      case 'failed':
        return giveUp(worker, message.message)
      case 'answer':
        if (message.goesOn) rests.begin(message.id, worker.thread)
        return finish(worker, message.id, message)
      case 'needs_writer':
        return finish(worker, message.id, { kind: 'needs_writer' })
      case 'piece':
        return rests.take(message.id, message.piece, message.error)
    }
  }

  const finish = (worker: QueryWorker, id: number, outcome: QueryWorkerOutcome) => {
    const settle = worker.asked.get(id)
    if (!settle) return
    worker.asked.delete(id)
    settle(outcome)
    handOut()
    waitIdle()
  }

  const isIdle = () => {
    for (const { asked } of workers) if (asked.size > 0) return false
    return queue.size() === 0 && rests.size() === 0
  }

  /**
   * Ends the workers after an idle period, which frees their memory until they are needed again.
   */
  const waitIdle = () => {
    endIdle()
    if (isIdle()) endIdle = after(idleMaxMs, release)
  }

  const release = () => {
    if (isStopped || !isIdle()) return
    for (const worker of workers) {
      if (!worker.isReady) continue
      workers.delete(worker)
      worker.thread.stop()
    }
  }

  const leastBusy = (): QueryWorker | undefined => {
    let chosen: QueryWorker | undefined
    for (const worker of workers) {
      if (!worker.isReady || worker.asked.size >= inHandMax) continue
      if (!chosen || worker.asked.size < chosen.asked.size) chosen = worker
    }
    return chosen
  }

  /** Refuses what has waited too long, as long as something waits. */
  const sweep = async () => {
    if (isSweeping) return
    isSweeping = true
    while (queue.size() > 0) {
      await sleep(waitMaxMs / sweepsAWait)
      const isOpening = !isAnyReady()
      const since = monotonic() - (isOpening ? openingWaits : 1) * waitMaxMs
      // What waited for the first worker to open has not waited for a busy one yet.
      if (!isOpening && readyAt > since) continue
      const kind = isOpening ? 'lost' : 'overloaded'
      for (const waiting of queue.olderThan(since)) waiting.settle({ kind })
    }
    isSweeping = false
  }

  const handOut = () => {
    for (;;) {
      const worker = leastBusy()
      const next = worker && queue.take()
      if (!next) break
      lastId += 1
      worker.asked.set(lastId, next.settle)
      worker.thread.post({ kind: 'question', question: { ...next.question, id: lastId } })
    }
    if (queue.size() > 0) startAnother()
  }

  return {
    /** Waits in the queue of its account, then for its response. */
    async ask(
      account: string,
      question: Omit<QueryWorkerRequest, 'id'>,
    ): Promise<QueryWorkerOutcome> {
      return await new Promise<QueryWorkerOutcome>(settle => {
        if (isGivenUp()) return settle({ kind: 'no_worker' })
        const waiting = { account, question, settle, since: monotonic() }
        if (isStopped || !queue.add(waiting)) return settle({ kind: 'overloaded' })
        startAnother()
        handOut()
        if (queue.size() > 0) void sweep()
      })
    },
    /** A streamed response: its outcome, then the rest, piece by piece as it is read. */
    rest: rests.stream,
    /** Notifies every query worker of a change, before any later request. */
    notify(message: Exclude<ToQueryWorker, { kind: 'question' | 'more' | 'drop' }>) {
      for (const worker of workers) worker.thread.post(message)
    },
    /** Requests that wait for a query worker or for their response. */
    waiting: () => [...workers].reduce((sum, { asked }) => sum + asked.size, queue.size()),
    /** The health of the workers, for monitoring. */
    state(): QueryWorkers {
      const ready = [...workers].filter(({ isReady }) => isReady).length
      const current = health.fault()
      return { ready, starting: workers.size - ready, failed: current ? 1 : 0, fault: current }
    },
    stop() {
      isStopped = true
      endPause()
      endIdle()
      for (const waiting of queue.drain()) waiting.settle({ kind: 'overloaded' })
      for (const worker of workers) worker.thread.stop()
      for (const worker of [...workers]) bury(worker, 'stopped')
    },
  }
}
