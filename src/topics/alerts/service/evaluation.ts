import type { Database } from 'bun:sqlite'
import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { isStorageFault } from '../../../database/storage-fault.ts'
import type { Log } from '../../../lib/log/log.ts'
import { type Clock, createSystemClock, sleep } from '../../../lib/time/clock.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Change } from '../../prices/store/observations.ts'
import type { PendingPrice } from '../store/prices.ts'
import type { AlertTriggerStore } from '../store/triggers.ts'
import { type CodePasses, createCodePasses } from './code-passes.ts'
import { createFiring } from './firing.ts'
import { type Cursor, createJudge, cursorStart, type JudgeDeps } from './judge.ts'
import type { FiredAlert } from './messages.ts'
import { createPriceNotes, type PriceNotesDeps } from './price-notes.ts'

/**
 * Evaluates alerts with the prices of their codes. A price that may fire an alert is noted in the
 * transaction that records it, and evaluated right after: after a crash the notes are resumed, and
 * the key of the triggers keeps an alert from firing twice. The alerts of a code fire at most once
 * in an interval; prices that arrive in between are evaluated at its end, one by one and in order.
 */
export type AlertEvaluation = ReturnType<typeof createAlertEvaluation>

export interface AlertEvaluationDeps
  extends Pick<Runtime, 'db' | 'ids' | 'log' | 'clock'>,
    Omit<JudgeDeps, 'passes' | 'stopwatch' | 'fire' | 'firedCount' | 'takeBack'>,
    Omit<PriceNotesDeps, 'passes'> {
  triggers: AlertTriggerStore
  intervalMs: number
  /** Measures slices in real time, because the clock of a demo instance may be stopped. */
  stopwatch?: Clock
}

/** The duration of one transaction with its commit, during which requests wait. */
const sliceMs = 25
/** The duration of the first one, which follows the transaction that recorded the price. */
const followMs = 10
/**
 * The minimum time for evaluations, however long commits take: otherwise a slow disk would need one
 * commit per alert.
 */
const workMinMs = 8
/** Triggers of a removed alert that are dropped at a time. */
const dropEach = 1000

export function createAlertEvaluation(deps: AlertEvaluationDeps) {
  const { prices, clock, log, intervalMs, stopwatch = createSystemClock() } = deps
  const passes = createCodePasses(prices, clock, intervalMs)
  const notes = createPriceNotes({ ...deps, passes })
  const step = createStep({ ...deps, stopwatch, passes })
  const dropRemoved = createDrop(deps)
  /** Whether prices may wait that no step has read. */
  let hasNotes = true
  let running: Promise<void> | undefined
  let stopped = false

  const judgeNext = (until: number): boolean => {
    hasNotes = false
    return step(until)
  }
  const drain = async (isLater: boolean) => {
    if (isLater) await sleep(0)
    while (!stopped && (judgeNext(stopwatch.monotonic() + sliceMs) || dropRemoved())) await sleep(0)
  }
  const pass = (isLater = false): Promise<void> => {
    running ??= drain(isLater).finally(() => {
      running = undefined
    })
    return running
  }
  const logFailure = (error: unknown) =>
    log.error('alert_run_failed', {
      message: 'Alerts could not be evaluated; the prices are kept and evaluated later.',
      error,
    })

  return {
    /**
     * Inside the transaction that wrote the changes: notes the prices that alerts must be judged
     * by.
     */
    note(changes: readonly Change[]) {
      if (notes.changed(changes, clock.now())) hasNotes = true
    },
    /**
     * Call this after the transaction. Evaluates noted prices, immediately if that takes no longer
     * than a slice.
     */
    follow() {
      if (!hasNotes || running || stopped) return
      const until = stopwatch.monotonic() + followMs
      try {
        while (judgeNext(until)) {
          if (stopwatch.monotonic() < until) continue
          pass(true).catch(logFailure)
          return
        }
      } catch (error) {
        logFailure(error)
      }
    },
    /** Evaluates everything that is due, slice by slice, and deletes the rest of removed alerts. */
    pass() {
      if (!stopped) notes.delivered(clock.now())
      return pass()
    },
    /** When an alert is due next, after `after`: a code waits for its interval, or a delivery begins. */
    dueAfter: (after: number) =>
      Math.min(passes.dueAfter(after) ?? Number.POSITIVE_INFINITY, notes.nextDelivery(after)),
    /** Ends a pass after its present slice. */
    stop() {
      stopped = true
    },
  }
}

/**
 * Judges alerts by one price in one transaction that ends about `until`; whether there may be more
 * to do. A price that is not finished is gone on with before another one is begun.
 */
function createStep(
  deps: AlertEvaluationDeps & { stopwatch: Clock; passes: CodePasses },
): (until: number) => boolean {
  const { db, log, stopwatch, passes } = deps
  /** The alerts fired in the current transaction. */
  let fired: FiredAlert[] = []
  const note = (alert: FiredAlert) => void fired.push(alert)
  const judge = createJudge({
    ...deps,
    fire: createFiring({ ...deps, note }),
    takeBack: count => {
      fired.length = count
    },
    firedCount: () => fired.length,
  })
  const paced = createPacing(db, stopwatch)
  let unfinished: { price: PendingPrice; cursor: Cursor } | undefined

  const judgeInTransaction = (price: PendingPrice, from: Cursor, until: number) => {
    const slice = (oneByOne: boolean) => {
      fired = []
      const cursor = paced(until, workUntil => judge(price, from, oneByOne, workUntil))
      for (const alert of fired) logFired(log, alert)
      return cursor
    }
    try {
      return slice(false)
    } catch (error) {
      if (isStorageFault(error)) throw error
      log.error('alert_batch_failed', {
        message: 'The alerts of a price are evaluated one by one.',
        error,
      })
      return slice(true)
    }
  }
  return until => {
    const price = unfinished?.price ?? passes.nextPrice()
    if (!price) return false
    const cursor = judgeInTransaction(price, unfinished?.cursor ?? cursorStart, until)
    unfinished = cursor && { price, cursor }
    return true
  }
}

const logFired = (log: Log, { alert, series, price, condition, triggeredAt }: FiredAlert) =>
  log.info('alert_fired', {
    alert: alert.id,
    account: alert.accountId,
    code: series.code,
    price,
    condition,
    triggered_at: isoInstant(triggeredAt),
  })

/** Deletes a slice of the rows that removed alerts left; returns whether there are more. */
const createDrop =
  ({ db, alerts, triggers }: AlertEvaluationDeps) =>
  (): boolean => {
    const [number] = alerts.removed(1)
    if (number === undefined) return false
    transact(db, () => {
      if (triggers.trim(number, 0, dropEach) < dropEach) alerts.drop(number)
    })
    return true
  }

/** The assumed duration of a commit before one has been measured. */
const commitFirstMs = 10

/**
 * Transactions that end about when they should: a commit takes as long as the dearest of the last
 * ones did.
 */
function createPacing(db: Database, stopwatch: Clock) {
  let commitMs = commitFirstMs
  return <T>(until: number, work: (until: number) => T): T => {
    const workUntil = Math.max(until - commitMs, stopwatch.monotonic() + workMinMs)
    let workedAt = workUntil
    const result = transact(db, () => {
      const worked = work(workUntil)
      workedAt = stopwatch.monotonic()
      return worked
    })
    const tookMs = stopwatch.monotonic() - workedAt
    commitMs = Math.max(tookMs, (3 * commitMs + tookMs) / 4)
    return result
  }
}
