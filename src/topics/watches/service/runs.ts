import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { type Clock, createSystemClock, sleep } from '../../../lib/time/clock.ts'
import { dayMs, hourMs, isDueAgain, secondMs } from '../../../lib/time/instant.ts'
import type { Entitlements } from '../../../plans/plans.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { entitledNow, type Keyring } from '../../keys/service/keyring.ts'
import type { Events } from '../../webhooks/service/events.ts'
import { comparable, findings, nextRunAfter, type WatchReading } from '../math/change.ts'
import type { NewWatchEvent, WatchEventStore } from '../store/events.ts'
import type { Watch, WatchStore } from '../store/watches.ts'
import { type WatchEvent, type WatchFeed, watchEventDedupe } from './feed.ts'

/** A code as a run finds it. */
export interface FoundReading extends WatchReading {
  /** When the price was observed. */
  asOf: number | null
}

/**
 * Runs the watches that are due. A run is one transaction: its events, the values that it saw, the
 * messages of webhooks and the moment of the next run, so that a crash leads neither to a run
 * without events nor to the same events twice.
 */
export type WatchRuns = ReturnType<typeof createWatchRuns>

export interface WatchRunsDeps extends Pick<Runtime, 'db' | 'log' | 'clock'> {
  watches: WatchStore
  events: WatchEventStore
  feed: WatchFeed
  webhooks: Pick<Events, 'emit'>
  keys: Pick<Keyring, 'account' | 'entitlements'>
  catalogue: Pick<Catalogue, 'named' | 'isVisible'>
  readingOf(code: string, accountId: string): FoundReading
  /** Whether the clock can be trusted to delete old events. */
  retention: { mayForget(): boolean }
  /** Measures slices in real time, because the clock of a demo instance may be stopped. */
  stopwatch?: Pick<Clock, 'monotonic'>
}

/** The duration of one transaction, during which requests wait, in addition to the disk. */
const sliceMs = 15
const watchesEach = 20
const retentionMs = 30 * dayMs
/** Rows of a slice of retention: a few milliseconds of writing. */
const forgottenEach = 500
/** Slices of one pass of retention: the other jobs have their turn in between. */
const slicesMax = 100

export function createWatchRuns(deps: WatchRunsDeps) {
  const { db, watches, feed, keys, clock, log, stopwatch = createSystemClock() } = deps
  const run = createRunner(deps)
  const forget = createRetention(deps, () => stopped)
  let stopped = false

  /**
   * The plan in force for a watch; undefined where it is not to run: a suspended account, or more
   * watches than the plan has.
   */
  const planOf = (watch: Watch): Entitlements | undefined => {
    const entitled = entitledNow(keys, watch.accountId)
    if (!entitled) return undefined
    return entitled.watches === null || watches.rank(watch) < entitled.watches
      ? entitled
      : undefined
  }
  const runOne = (watch: Watch): boolean => {
    const now = clock.now()
    const plan = planOf(watch)
    const seconds = Math.max(watch.intervalSeconds, plan?.minWatchIntervalSeconds ?? 0)
    const nextRunAt = nextRunAfter(watch.nextRunAt ?? now, seconds * secondMs, now)
    if (!plan) {
      watches.postpone(watch.number, nextRunAt)
      return false
    }
    try {
      transact(db, () => run(watch, now, nextRunAt))
      return true
    } catch (error) {
      // One that cannot be run must not keep the others from it. Where the disk is at fault this
      // write fails too, and all are due still.
      watches.postpone(watch.number, nextRunAt)
      log.error('watch_run_failed', { message: 'A watch was not run.', watch: watch.id, error })
      return false
    }
  }

  /** One transaction; whether there may be more to do. */
  const slice = (): boolean => {
    const until = stopwatch.monotonic() + sliceMs
    const changedAccounts = new Set<string>()
    const more = transact(db, () => {
      for (;;) {
        const due = watches.due(clock.now(), watchesEach)
        for (const watch of due) if (runOne(watch)) changedAccounts.add(watch.accountId)
        if (due.length < watchesEach) return false
        if (stopwatch.monotonic() >= until) return true
      }
    })
    for (const accountId of changedAccounts) feed.notify(accountId)
    return more
  }

  return {
    async pass() {
      while (!stopped && watches.isDue(clock.now()) && slice()) await sleep(0)
      if (!stopped && deps.retention.mayForget()) await forget()
    },
    /** The next moment after `after` at which a watch is due. */
    dueAfter: watches.nextDue,
    /** Ends a pass after its present slice. */
    stop() {
      stopped = true
    },
  }
}

/** Drops what is past its time, once an hour: a slice at a time, so that no one waits for it. */
function createRetention(
  { events, watches, clock }: WatchRunsDeps,
  isStopped: () => boolean,
): () => Promise<void> {
  let doneAt: number | undefined
  return async () => {
    const now = clock.now()
    if (!isDueAgain(doneAt, hourMs, now)) return
    for (let slices = 0; slices < slicesMax && !isStopped(); slices += 1) {
      // Watches after their events, which name them.
      if (
        events.forget(now - retentionMs, forgottenEach) === 0 &&
        watches.drop(now - retentionMs, forgottenEach) === 0
      ) {
        doneAt = now
        return
      }
      await sleep(0)
    }
  }
}

/** Events of a watch that webhooks get, by their type on the wire. */
const webhookTypes = new Map<NewWatchEvent['type'], string>([
  ['evaluated', 'watch.evaluated'],
  ['threshold_crossed', 'watch.threshold_crossed'],
])

/** One run of a watch, in the caller's transaction. */
function createRunner({ watches, feed, webhooks, catalogue, readingOf }: WatchRunsDeps) {
  const deliver = (watch: Watch, event: WatchEvent, at: number) => {
    const type = webhookTypes.get(event.type)
    if (type === undefined) return
    const { accountId, id: watchId } = watch
    const { code } = event
    webhooks.emit({
      type,
      data: { ...event },
      at,
      accountId,
      commodity: code,
      dedupe: watchEventDedupe({ watchId, code, createdAt: at }),
    })
  }
  return (watch: Watch, now: number, nextRunAt: number): void => {
    const readings: Record<string, WatchReading> = {}
    const newEvents: NewWatchEvent[] = []
    for (const code of watch.codes) {
      const watched = catalogue.named(code, watch.accountId)
      // A code that a later catalogue does not have any more, or that is for others now.
      if (!watched || !catalogue.isVisible(watched, watch.accountId)) continue
      const { asOf, ...reading } = readingOf(code, watch.accountId)
      const before = watch.readings[code]
      const change = {
        seriesId: watched.id,
        price: reading.price,
        previousPrice: comparable(reading, before),
        asOf,
      }
      for (const type of findings(reading, before, watch.thresholdPercent)) {
        newEvents.push({ ...change, watch: watch.number, type, createdAt: now })
      }
      readings[code] = reading
    }
    const events = newEvents.length > 0 ? feed.append(watch, newEvents) : []
    if (watch.deliverWebhook) for (const event of events) deliver(watch, event, now)
    watches.ran(watch.number, now, nextRunAt, readings)
  }
}
