import type { Database } from 'bun:sqlite'
import { type Clock, createSystemClock, sleep } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { startOfDay } from '../../lib/instant.ts'
import type { Log } from '../../lib/log.ts'
import { isNews } from '../../market/calendars/news.ts'
import type { Observation } from '../../market/prices/bars.ts'
import type { AlertStore, WatchingAlert } from '../../store/alerts/alerts.ts'
import type { AlertPriceStore, PendingPrice } from '../../store/alerts/prices.ts'
import type { AlertTriggerStore } from '../../store/alerts/triggers.ts'
import type { Series } from '../../store/catalogue/series.ts'
import { transact } from '../../store/database.ts'
import type { Change } from '../../store/prices/observations.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { QuarantineList } from '../prices/quarantine.ts'
import { createEntitlement, createFiring, type Judging } from './firing.ts'
import type { Notifier } from './messages.ts'
import { type AlertMoments, answeredPrice } from './moment.ts'

/**
 * Judges alerts by the prices of their codes. A price that may fire an alert is noted in the
 * transaction that records it, and judged right after: what a crash interrupts goes on from the
 * notes, and the key of the triggers keeps it from firing twice. The alerts of a code fire at most
 * once in an interval; what comes in meanwhile is judged at its end, price by price, in its order.
 */
export interface AlertEvaluation {
  /**
   * Inside the transaction that wrote the changes: notes the prices that alerts must be judged by.
   */
  note(changes: readonly Change[]): void
  /**
   * After that transaction: judges what was noted, at once where that takes no longer than a slice.
   */
  follow(): void
  /** Judges all that is due, slice by slice, and drops what is left of removed alerts. */
  pass(): Promise<void>
  /**
   * When the next code that waits for its interval is due, after `after`; undefined when none
   * waits.
   */
  dueAfter(after: number): number | undefined
  /** Ends a pass after its present slice. */
  stop(): void
}

export interface AlertEvaluationDeps {
  db: Database
  alerts: AlertStore
  triggers: AlertTriggerStore
  prices: AlertPriceStore
  moments: AlertMoments
  notifier(): Notifier
  catalogue: Catalogue
  quarantine: QuarantineList
  keys: Pick<Keyring, 'account' | 'entitlements'>
  clock: Clock
  ids: Ids
  log: Log
  intervalMs: number
  /** Measures slices; the clock of the instance may stand still. */
  stopwatch?: Clock
}

/** Of one transaction with its commit: what requests that come in meanwhile wait for. */
const sliceMs = 25
/** Of the first one, which comes on top of the transaction that recorded the price. */
const followMs = 10
/**
 * Of it for the work, however long commits take: else a slow disk would have a commit for every
 * alert.
 */
const workMinMs = 8
/** Alerts judged and told together: a millisecond or two where all of them fire. */
const alertsEach = 100
/** Entries of the index read at a time: half a millisecond. */
const entriesEach = 5000
const dropEach = 1000

export function createAlertEvaluation(deps: AlertEvaluationDeps): AlertEvaluation {
  const {
    db,
    alerts,
    triggers,
    prices,
    catalogue,
    keys,
    clock,
    log,
    intervalMs,
    stopwatch = createSystemClock(),
  } = deps
  const fire = createFiring(deps)
  const paced = pacing(db, stopwatch)
  const newsOf = newsReader(deps)
  /**
   * Of each code: when its present or last pass began, the last price noted by then, and whether it
   * fired anything.
   */
  const passes = new Map<number, { at: number; upTo: number; hasFired: boolean }>()
  /**
   * The price that is being judged and how far that has come; it is gone on with before another one
   * is begun.
   */
  let begun: { price: PendingPrice; cursor: Cursor } | undefined
  let noted = true
  let running: Promise<void> | undefined
  let stopped = false

  const isResting = (seriesId: number): boolean => {
    const last = passes.get(seriesId)
    return last?.hasFired === true && clock.now() < last.at + intervalMs
  }

  /** Whether a price must be noted: it may fire an alert, or that can not be said in a moment. */
  const matters = (watched: Series, { observedAt, value }: Observation, at: number): boolean => {
    const { id } = watched
    if (!alerts.isWatched(id)) return false
    if (isResting(id) || prices.isPending(id) || alerts.reach(id, 0, entriesEach) !== undefined)
      return true
    const price = { seriesId: id, observedAt, at }
    return (
      alerts.candidates(
        price,
        answeredPrice(watched, value),
        startOfDay(observedAt),
        0,
        Number.MAX_SAFE_INTEGER,
        1,
      ).length > 0
    )
  }

  /** The price to go on with, if any is due. */
  const nextPrice = (): PendingPrice | undefined =>
    prices.heads().find(price => {
      const { seriesId, number } = price
      if (number <= (passes.get(seriesId)?.upTo ?? 0)) return true
      if (isResting(seriesId)) return false
      passes.set(seriesId, {
        at: clock.now(),
        upTo: prices.last(seriesId) ?? number,
        hasFired: false,
      })
      return true
    })

  /**
   * Judges alerts by one price until the time is up; where it came to, undefined when all are
   * judged.
   */
  const judgeSome = (
    price: PendingPrice,
    from: Cursor,
    careful: boolean,
    until: number,
  ): Cursor | undefined => {
    const series = catalogue.byId(price.sourceId)
    const moment = deps.moments.of({ series, observedAt: price.observedAt, value: price.value })
    const judging = {
      price,
      series,
      moment,
      notifier: deps.notifier(),
      isEntitled: createEntitlement(keys),
    }
    let { after, upTo } = from
    for (;;) {
      if (after >= upTo)
        upTo = alerts.reach(price.seriesId, after, entriesEach) ?? Number.MAX_SAFE_INTEGER
      const found = alerts.candidates(
        price,
        moment.price,
        startOfDay(price.observedAt),
        after,
        upTo,
        alertsEach,
      )
      const hasFired = careful
        ? found.map(alert => attempt(alert, judging)).includes(true)
        : fire(found, judging)
      if (hasFired) passes.get(price.seriesId)!.hasFired = true
      after = found.length === alertsEach ? found.at(-1)!.number : upTo
      const isDone = after === Number.MAX_SAFE_INTEGER
      if (!isDone && stopwatch.monotonic() < until) continue
      judging.notifier.end()
      if (!isDone) return { after, upTo }
      prices.remove(price.number)
      return undefined
    }
  }

  /** One alert that can not be told must not keep the others from it. */
  const attempt = (alert: WatchingAlert, judging: Judging): boolean => {
    const notifier = deps.notifier()
    try {
      return transact(db, () => {
        const hasFired = fire([alert], { ...judging, notifier })
        notifier.end()
        return hasFired
      })
    } catch (error) {
      if (isStorageFault(error)) throw error
      log.error('alert not told', { alert: alert.id, error })
      return false
    }
  }

  /** One transaction that ends about `until`; whether there may be more to do. */
  const step = (until: number): boolean => {
    const price = begun?.price ?? nextPrice()
    noted = false
    if (!price) return false
    const from = begun?.cursor ?? { after: 0, upTo: 0 }
    const slice = (careful: boolean) =>
      paced(until, workUntil => judgeSome(price, from, careful, workUntil))
    let next: Cursor | undefined
    try {
      next = slice(false)
    } catch (error) {
      if (isStorageFault(error)) throw error
      log.error('alerts are judged one by one', { error })
      next = slice(true)
    }
    begun = next && { price, cursor: next }
    return true
  }

  /** What is left of alerts that were removed; whether there is more. */
  const drop = (): boolean => {
    const [number] = alerts.removed(1)
    if (number === undefined) return false
    transact(db, () => {
      if (triggers.trim(number, 0, dropEach) < dropEach) alerts.drop(number)
    })
    return true
  }

  const drain = async (isLater: boolean) => {
    if (isLater) await sleep(0)
    while (!stopped && (step(stopwatch.monotonic() + sliceMs) || drop())) await sleep(0)
  }
  const pass = (isLater = false): Promise<void> => {
    running ??= drain(isLater).finally(() => {
      running = undefined
    })
    return running
  }

  return {
    note(changes) {
      const at = clock.now()
      for (const change of changes) {
        const series = catalogue.byId(change.seriesId)
        const news = newsOf(change, series, at)
        if (!news) continue
        for (const watched of watchedBy(catalogue, series, at)) {
          if (!matters(watched, news, at)) continue
          prices.add({
            seriesId: watched.id,
            sourceId: series.id,
            observedAt: news.observedAt,
            value: news.value,
            at,
          })
          noted = true
        }
      }
    },
    follow() {
      if (!noted || running || stopped) return
      const until = stopwatch.monotonic() + followMs
      try {
        while (step(until)) {
          if (stopwatch.monotonic() < until) continue
          pass(true).catch(error => log.error('alerts not judged', { error }))
          return
        }
      } catch (error) {
        // The price is recorded and stays noted; the job comes back to it.
        log.error('alerts not judged', { error })
      }
    },
    pass: () => pass(),
    dueAfter(after) {
      const waiting = prices
        .heads()
        .map(({ seriesId }) => (passes.get(seriesId)?.at ?? after) + intervalMs)
      const later = waiting.filter(at => at > after)
      return later.length > 0 ? Math.min(...later) : undefined
    },
    stop() {
      stopped = true
    },
  }
}

/**
 * The codes whose alerts a price of a series is for: its own, and the futures family that it speaks
 * for at present.
 */
function watchedBy(catalogue: Catalogue, series: Series, now: number): Series[] {
  const family = series.contractOf === null ? undefined : catalogue.named(series.contractOf)
  return family && catalogue.resolve(family.code, now)?.series.id === series.id
    ? [series, family]
    : [series]
}

/**
 * The new price in a change: an observation newer than all before it, or a correction of the
 * newest. What lies further back, in quarantine, or so long ago that it is history, is none.
 */
function newsReader({ catalogue, quarantine }: AlertEvaluationDeps) {
  return ({ inserted, revised }: Change, series: Series, now: number): Observation | undefined => {
    const lastAt = catalogue.extent(series)?.lastAt ?? Number.NEGATIVE_INFINITY
    const newestAt = Math.max(lastAt, inserted.at(-1)?.observedAt ?? lastAt)
    // One write may correct what it inserts.
    const newest =
      revised.findLast(observation => observation.observedAt === newestAt) ??
      inserted.findLast(observation => observation.observedAt === newestAt)
    if (!newest || !isNews(series, newestAt, now)) return undefined
    return quarantine.clear(series.id, newestAt, newestAt + 1).length > 0 ? newest : undefined
  }
}

/** What a commit is taken to need before one has been seen. */
const commitFirstMs = 10

/**
 * Transactions that end about when they should: a commit takes as long as the dearest of the last
 * ones did.
 */
function pacing(db: Database, stopwatch: Clock) {
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

/**
 * How far the alerts of a price have been judged, by their numbers, and up to where they are read.
 */
interface Cursor {
  after: number
  upTo: number
}

const storageFaults = /^SQLITE_(FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN)/

/** The disk is full, failing or held by another process: the same work may succeed later. */
const isStorageFault = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  storageFaults.test(error.code)
