import type { Log } from '../../lib/log/log.ts'
import { after, type Clock, sleep } from '../../lib/time/clock.ts'
import { minuteMs, secondMs } from '../../lib/time/instant.ts'
import type { QueryWorkers, WorkerFault } from '../../topics/condition/service/vitals.ts'
import type {
  FromQueryWorker,
  QueryWorkerRequest,
  QueryWorkerThread,
  ToQueryWorker,
} from './terms.ts'

/** The outcome of a request: its response, or why there is none. */
export type QueryWorkerOutcome =
  | Extract<FromQueryWorker, { kind: 'answer' }>
  | { kind: 'needs_writer' }
  | { kind: 'overloaded' }
  /** The worker ended while it answered, or none was ready in time. */
  | { kind: 'lost' }
  /** No query worker starts: the main thread handles the request. */
  | { kind: 'no_worker' }

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
  /** How long a request waits for a query worker before it is refused, milliseconds. */
  waitMaxMs?: number
  /** The waits before a worker that did not start is tried again, one after the other. */
  retryDelaysMs?: readonly number[]
  /** How long the pool may be idle before the workers end, milliseconds. */
  idleMaxMs?: number
}

interface Waiting {
  account: string
  question: Omit<QueryWorkerRequest, 'id'>
  settle(outcome: QueryWorkerOutcome): void
  /** When it began to wait, milliseconds of the monotonic clock. */
  since: number
}

interface Rest {
  worker: QueryWorker
  controller: ReadableStreamDefaultController<Uint8Array> | undefined
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
/** One that cannot start would take a core with trying. */
const retryDelaysDefaultMs = [200, secondMs, 5 * secondMs, 15 * secondMs, minuteMs]
/** After as many starts that failed, no one waits for a worker any more. */
const failuresMax = 3
/** A worker that has not opened by then never will. */
const openMaxMs = minuteMs
/** One that waits holds 60 MB, and one starts again within a tenth of a second. */
const idleDefaultMs = minuteMs
/** How long the status reports that a worker has ended. */
const endReportedMs = minuteMs
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
  const rests = new Map<number, Rest>()
  let lastId = 0
  let isStopped = false
  let isSweeping = false
  /** Starts that failed since the last one that succeeded, and why the last of them did. */
  let failures = 0
  let failure: string | undefined
  /** The newest end of a worker that had started, by the stopwatch. */
  let lastEnd: { at: number; reason: string } | undefined
  let isPausing = false
  let endPause = () => {}
  let endIdle = () => {}

  const isAnyReady = () => {
    for (const { isReady } of workers) if (isReady) return true
    return false
  }
  const isGivenUp = () => failures >= failuresMax && !isAnyReady()

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
    worker.thread.onMessage(message => hear(worker, message))
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
    for (const [id, rest] of rests) if (rest.worker === worker) endRest(id, new Error(reason))
    for (const settle of worker.asked.values()) settle({ kind: 'lost' })
    worker.asked.clear()
    if (isStopped) return
    if (worker.isReady) noteEnd(reason)
    else noteFailure(reason)
  }

  const noteEnd = (reason: string) => {
    lastEnd = { at: monotonic(), reason }
    log.error('query_worker_ended', { reason })
    pause(retryDelaysMs[0]!)
  }

  /** It is logged once for each reason: the trials that follow may continue for days. */
  const noteFailure = (reason: string) => {
    failures += 1
    if (failure !== reason) log.error('query_worker_not_started', { reason })
    failure = reason
    if (failures === failuresMax)
      log.error('query_workers_unavailable', {
        message: 'The main thread answers heavy requests until a query worker starts.',
      })
    if (isGivenUp()) for (const waiting of queue.drain()) waiting.settle({ kind: 'no_worker' })
    pause(retryDelaysMs[Math.min(failures, retryDelaysMs.length) - 1]!)
  }

  const pause = (ms: number) => {
    endPause()
    isPausing = true
    endPause = after(ms, () => {
      isPausing = false
      // Also without a request, so that the service recovers while it is idle.
      if (failures > 0 && workers.size < deps.threads) startOne()
      else if (queue.size() > 0) startAnother()
    })
  }

  const noteReady = (worker: QueryWorker) => {
    worker.isReady = true
    worker.opened()
    if (failures > 0) log.info('query_worker_started', { failures })
    failures = 0
    failure = undefined
    handOut()
    waitIdle()
  }

  const fault = (): WorkerFault | undefined => {
    if (failure !== undefined) return { kind: 'not_started', reason: failure }
    return lastEnd && monotonic() - lastEnd.at < endReportedMs
      ? { kind: 'ended', reason: lastEnd.reason }
      : undefined
  }

  const hear = (worker: QueryWorker, message: FromQueryWorker) => {
    switch (message.kind) {
      case 'ready':
        return noteReady(worker)
      case 'failed':
        return giveUp(worker, message.message)
      case 'answer':
        if (message.goesOn) rests.set(message.id, { worker, controller: undefined })
        return finish(worker, message.id, message)
      case 'needs_writer':
        return finish(worker, message.id, { kind: 'needs_writer' })
      case 'piece':
        return takePiece(message.id, message.piece, message.error)
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
    return queue.size() === 0 && rests.size === 0
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

  const takePiece = (id: number, piece: Uint8Array | undefined, error: string | undefined) => {
    const controller = rests.get(id)?.controller
    if (!controller) return
    if (error !== undefined) endRest(id, new Error(error))
    else if (piece) controller.enqueue(piece)
    else endRest(id)
  }

  const endRest = (id: number, error?: Error) => {
    const controller = rests.get(id)?.controller
    rests.delete(id)
    waitIdle()
    if (error) controller?.error(error)
    else controller?.close()
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
      const since = monotonic() - waitMaxMs
      const kind = isAnyReady() ? 'overloaded' : 'lost'
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
    rest(id: number, beginning: Uint8Array): ReadableStream<Uint8Array> {
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const rest = rests.get(id)
            if (!rest) return controller.error(new Error('The reader of this answer has ended.'))
            rest.controller = controller
            controller.enqueue(beginning)
          },
          pull: () => rests.get(id)?.worker.thread.post({ kind: 'more', id }),
          cancel() {
            rests.get(id)?.worker.thread.post({ kind: 'drop', id })
            rests.delete(id)
            waitIdle()
          },
        },
        // One piece ahead of a client: a slow one costs a buffer, not a thread.
        { highWaterMark: 1 },
      )
    },
    /** Notifies every query worker of a change, before any later request. */
    notify(message: Exclude<ToQueryWorker, { kind: 'question' | 'more' | 'drop' }>) {
      for (const worker of workers) worker.thread.post(message)
    },
    /** Requests that wait for a query worker or for their response. */
    waiting: () => [...workers].reduce((sum, { asked }) => sum + asked.size, queue.size()),
    /** The health of the workers, for monitoring. */
    state(): QueryWorkers {
      const ready = [...workers].filter(({ isReady }) => isReady).length
      const current = fault()
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

/**
 * Requests are taken from accounts in rotation, so that an account with many only delays itself.
 */
function createFairQueue(perAccountMax: number) {
  // A Map keeps the order of insertion: an account just served goes to the end.
  const accounts = new Map<string, Waiting[]>()
  let size = 0
  return {
    add(waiting: Waiting): boolean {
      const own = accounts.get(waiting.account) ?? []
      if (own.length >= perAccountMax) return false
      own.push(waiting)
      accounts.set(waiting.account, own)
      size += 1
      return true
    },
    take(): Waiting | undefined {
      const [first] = accounts
      if (!first) return undefined
      const [account, own] = first
      const next = own.shift()!
      accounts.delete(account)
      if (own.length > 0) accounts.set(account, own)
      size -= 1
      return next
    },
    /** Takes out what began to wait at `since` or before. */
    olderThan(since: number): Waiting[] {
      const old: Waiting[] = []
      for (const [account, own] of accounts) {
        while (own[0] && own[0].since <= since) old.push(own.shift()!)
        if (own.length === 0) accounts.delete(account)
      }
      size -= old.length
      return old
    },
    drain(): Waiting[] {
      const all = [...accounts.values()].flat()
      accounts.clear()
      size = 0
      return all
    },
    size: () => size,
  }
}
