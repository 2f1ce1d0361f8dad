import type { Log } from '../../lib/log/log.ts'
import { sleep, soon } from '../../lib/time/clock.ts'
import { dayMs, isDueAgain, minuteMs, secondMs } from '../../lib/time/instant.ts'
import type { Kind } from '../../outbox/outbox.ts'
import type { RetentionGuard } from '../../topics/operator/service/retention-guard.ts'
import type { Job } from './job.ts'
import {
  claims,
  createLaneState,
  giveBack,
  isFailing,
  type LaneDeps,
  note,
  promote,
  recount,
  type Sending,
  type State,
  sliceRows,
  sweep,
  waitingSince,
} from './outbox-lanes.ts'

export interface OutboxJobDeps extends LaneDeps {
  log: Log
  /** Whether an error is reported elsewhere: a full disk concerns more than the outbox. */
  isReported?: (error: unknown) => boolean
  /** Whether messages may be deleted for their age; by default they may. */
  retention?: RetentionGuard
}

/** Sends what is due: at each beat, when a message is put, and when another one has ended. */
export interface OutboxJob extends Job {
  /**
   * Since when messages of a kind wait for slots that others hold (Unix ms); undefined: none waits.
   */
  waitingSince(kind: Kind): number | undefined
  /** Whether everything that was sent lately of a kind, or of a lane of it, must be tried again. */
  isFailing(kind: Kind): boolean
  /** Sends at once what is put from now on; without it only a pass sends. */
  start(): void
  /** Resolves when nothing is due and nothing is under way. */
  settled(): Promise<void>
  /** Begins nothing more; resolves when what is under way has ended and is recorded. */
  drain(): Promise<void>
  /**
   * Ends at once: attempts in progress are cut short and due again. The database is not used
   * afterwards.
   */
  halt(): void
}

const retentionMs = 30 * dayMs
/** Slices of one pass of tidying; the rest follows in a minute. */
const slicesMax = 500

type Mode = 'idle' | 'started' | 'draining' | 'halted'

export function createOutboxJob(deps: OutboxJobDeps): OutboxJob {
  const { outbox, clock, log, isReported = () => false } = deps
  const { engine } = outbox
  const state = createLaneState(deps)
  const cut = new AbortController()
  const cycleEnds = createSignal()
  let mode: Mode = 'idle'

  const tidy = createTidying(state, deps, () => mode === 'halted')
  const wake = createWake(() => cycle())
  const begin = (sending: Sending) => {
    state.inProgress.add(sending)
    void engine.attempt(sending.row, sending.terms, cut.signal).then(outcome => {
      if (mode === 'halted') return
      state.ended.push({ ...sending, outcome })
      state.inProgress.delete(sending)
      giveBack(state, sending, outcome)
      wake()
    })
  }
  const { load, recordAndTake } = createLedger(state, log, isReported)
  /** Records what ended and begins what is due. False: it could not be written. */
  const cycle = (): boolean => {
    if (mode === 'halted') return false
    try {
      const sendings = recordAndTake(mode !== 'draining')
      for (const sending of sendings ?? []) begin(sending)
      return sendings !== undefined
    } finally {
      cycleEnds.fire()
    }
  }
  const quiet = async (isOver: () => boolean) => {
    while (cycle()) {
      if (state.inProgress.size + state.ended.length > 0) await cycleEnds.next()
      else if (isOver()) return
    }
  }
  engine.onDue((kind, lane, at) => {
    if (mode === 'halted') return
    note(state, kind, lane, at)
    if (mode === 'started' && at <= clock.now()) wake()
  })

  return {
    waitingSince: kind => waitingSince(state, kind),
    isFailing: kind => isFailing(state, kind),
    name: 'outbox',
    isAlone: true,
    async pass() {
      if (mode === 'halted') return
      try {
        await tidy(clock.now())
      } finally {
        cycle()
      }
    },
    nextStop(after) {
      load()
      promote(state)
      if (state.ready.size > 0) return after + 1
      // Retries are spread over a time. A running server takes them at its beat, once a second.
      const dueAt = state.waiting.peek()?.at ?? Number.POSITIVE_INFINITY
      return Math.max(Math.ceil(dueAt / secondMs) * secondMs, after + 1)
    },
    start() {
      mode = 'started'
      wake()
    },
    settled: () => quiet(() => state.ready.size === 0 || mode === 'draining'),
    async drain() {
      if (mode !== 'halted') mode = 'draining'
      await quiet(() => true)
    },
    halt() {
      if (mode === 'halted') return
      mode = 'draining'
      if (state.ended.length > 0) cycle()
      mode = 'halted'
      cut.abort()
      releaseInProgress(state, log)
      cycleEnds.fire()
    },
  }
}

/** Queues a cycle; calls before it runs are one. */
function createWake(cycle: () => void): () => void {
  let isQueued = false
  return () => {
    if (isQueued) return
    isQueued = true
    soon(() => {
      isQueued = false
      cycle()
    })
  }
}

/** Lets others wait for the next time that it is fired. */
function createSignal() {
  const listeners: (() => void)[] = []
  return {
    next: () => new Promise<void>(resolve => listeners.push(resolve)),
    fire() {
      for (const listener of listeners.splice(0)) listener()
    },
  }
}

/** Keeps the lanes in memory and the rows of the outbox in step. */
function createLedger(state: State, log: Log, isReported: (error: unknown) => boolean) {
  const { engine } = state
  let isLoaded = false
  /** Memory follows the rows: at the start, and after a transaction that failed. */
  const load = () => {
    if (isLoaded) return
    for (const { kind, lane, dueAt } of engine.backlog()) note(state, kind, lane, dueAt)
    isLoaded = true
  }
  return {
    load,
    /**
     * Records ended attempts and, if wanted, takes due messages that have a slot, in one
     * transaction: a batch costs one write to the disk. Undefined: it could not be written.
     */
    recordAndTake(mayTake: boolean): Sending[] | undefined {
      const ended = state.ended.splice(0)
      try {
        load()
        promote(state)
        if (ended.length === 0 && (state.ready.size === 0 || !mayTake)) return []
        return engine.together(() => {
          for (const { row, terms, outcome } of ended) engine.settle(row, terms, outcome)
          return mayTake ? claims(state) : []
        })
      } catch (error) {
        if (!isReported(error))
          log.error('outbox_write_failed', { message: 'The outbox could not be written.', error })
        // Messages that were sent stay in the list until they are recorded; messages that were not
        // claimed are found by the next load.
        state.ended.unshift(...ended)
        recount(state)
        isLoaded = false
        return undefined
      }
    },
  }
}

/** Frees what is under way, so that the next start sends it. */
function releaseInProgress({ engine, inProgress, ended }: State, log: Log) {
  const rows = [...inProgress, ...ended].map(sending => sending.row)
  try {
    if (rows.length > 0)
      engine.together(() => engine.release(rows, 'the service stopped during the attempt'))
  } catch (error) {
    // The next start finds them under way and frees them.
    log.error('outbox_release_failed', {
      message: 'Messages under way could not be released; the next start frees them.',
      messages: rows.length,
      error,
    })
  }
}

/**
 * Frees messages whose process is gone and forgets old ones, once a minute. The first time
 * everything under way is freed: an earlier process left it, and this one is the only one.
 */
function createTidying(state: State, { log, retention }: OutboxJobDeps, isHalted: () => boolean) {
  let tidiedAt: number | undefined
  return async (now: number): Promise<void> => {
    if (!isDueAgain(tidiedAt, minuteMs, now)) return
    const before = tidiedAt === undefined ? Number.MAX_SAFE_INTEGER : now
    await rescue(state, log, before, isHalted)
    if (retention?.mayForget() !== false) await forget(state, now - retentionMs, isHalted)
    sweep(state)
    tidiedAt = now
  }
}

async function rescue(
  { engine }: State,
  log: Log,
  before: number,
  isOver: () => boolean,
): Promise<void> {
  let rescued = 0
  for (; !isOver(); await sleep(0)) {
    const rows = engine.abandoned(before, sliceRows)
    if (rows.length === 0) break
    engine.together(() => engine.release(rows, 'the service ended during the attempt'))
    rescued += rows.length
  }
  if (rescued > 0)
    log.warn('outbox_attempts_resumed', {
      message: 'Messages that were under way when the service ended are sent again.',
      messages: rescued,
    })
}

async function forget({ engine }: State, before: number, isOver: () => boolean): Promise<void> {
  for (let slices = 0; slices < slicesMax && !isOver(); slices += 1) {
    if (engine.together(() => engine.forget(before, sliceRows)) < sliceRows) return
    await sleep(0)
  }
}
