import type { Database } from 'bun:sqlite'
import { type Clock, sleep, systemClock } from '../lib/clock.ts'
import type { Ids } from '../lib/ids.ts'
import { dayMs, startOfDay } from '../lib/instant.ts'
import type { Log } from '../lib/log.ts'
import { type AlertMoment, conditionText, evaluate } from '../market/alert-condition.ts'
import type { Observation } from '../market/bars.ts'
import { freshUntil } from '../market/freshness.ts'
import { hasFeature } from '../plan/plans.ts'
import type { Feature } from '../plan/tiers.ts'
import type { AlertPriceStore, PendingPrice } from '../store/alert-prices.ts'
import type { AlertTriggerStore } from '../store/alert-triggers.ts'
import type { Alert, AlertStore } from '../store/alerts.ts'
import { transact } from '../store/database.ts'
import type { Change } from '../store/observations.ts'
import type { Series } from '../store/series.ts'
import { measuredRow, type Teller } from './alert-messages.ts'
import { type AlertMoments, answeredPrice } from './alert-moment.ts'
import type { Catalogue } from './catalogue.ts'
import type { Keyring } from './keyring.ts'
import type { QuarantineList } from './quarantine.ts'

/**
 * Judges alerts by the prices of their codes. A price that may fire an alert is noted in the transaction that records it, and judged right
 * after: what a crash interrupts goes on from the notes, and the key of the triggers keeps it from firing twice. The alerts of a code fire at
 * most once in an interval; what comes in meanwhile is judged at its end, price by price, in its order.
 */
export interface AlertEvaluation {
  /** Inside the transaction that wrote the changes: notes the prices that alerts must be judged by. */
  note(changes: readonly Change[]): void
  /** After that transaction: judges what was noted, at once where that takes no longer than a slice. */
  follow(): void
  /** Judges all that is due, slice by slice, and drops what is left of removed alerts. */
  pass(): Promise<void>
  /** When the next code that waits for its interval is due, after `after`; undefined when none waits. */
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
  teller(): Teller
  catalogue: Catalogue
  quarantine: QuarantineList
  keys: Pick<Keyring, 'account' | 'entitlements'>
  clock: Clock
  ids: Ids
  log: Log
  intervalMs: number
  /** Measures slices; the clock of the house may stand still. */
  stopwatch?: Clock
}

/** An observation this old is news still, whatever its cadence; an older one only while it is not stale. */
const newsMs = 7 * dayMs
/** Of one transaction: what requests that come in meanwhile wait for, beside the disk. */
const sliceMs = 20
/** Alerts read at a time. */
const alertsEach = 100
/** Entries of the index read at a time: half a millisecond. */
const entriesEach = 5000
/** Triggers kept of an alert; looked after at every hundredth. */
const triggersKept = 10_000
const trimEach = 100
const dropEach = 1000

/** The feature that an alert's kind needs. */
export const featureOf = ({ condition }: Pick<Alert, 'condition'>): Feature =>
  condition.kind === 'price' ? 'standard_alerts' : 'analytics_alerts'

/** The observation that an alert fires on once: its own, or the day whose value it is. */
const firedOn = ({ condition }: Pick<Alert, 'condition'>, observedAt: number): number =>
  condition.kind === 'price' ? observedAt : startOfDay(observedAt)

export function alertEvaluation(deps: AlertEvaluationDeps): AlertEvaluation {
  const { db, alerts, triggers, prices, catalogue, clock, log, intervalMs, stopwatch = systemClock() } = deps
  const fire = firing(deps)
  const newsOf = newsReader(deps)
  /** Of each code: when its present or last pass began, the last price noted by then, and whether it fired anything. */
  const passes = new Map<number, { at: number; upTo: number; hasFired: boolean }>()
  /** How far the price that is being judged has come. */
  let cursor = { price: 0, after: 0 }
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
    if (isResting(id) || prices.isPending(id) || alerts.reach(id, 0, entriesEach) !== undefined) return true
    const price = { seriesId: id, observedAt, at }
    return alerts.candidates(price, answeredPrice(watched, value), startOfDay(observedAt), 0, Number.MAX_SAFE_INTEGER, 1).length > 0
  }

  /** The price to go on with, if any is due. */
  const nextPrice = (): PendingPrice | undefined =>
    prices.heads().find(price => {
      const { seriesId, number } = price
      if (number <= (passes.get(seriesId)?.upTo ?? 0)) return true
      if (isResting(seriesId)) return false
      passes.set(seriesId, { at: clock.now(), upTo: prices.last(seriesId) ?? number, hasFired: false })
      return true
    })

  /** Judges alerts by one price until the time is up; where it came to, undefined when all are judged. */
  const judgeSome = (price: PendingPrice, from: number, careful: boolean): number | undefined => {
    const until = stopwatch.monotonic() + sliceMs
    const series = catalogue.byId(price.sourceId)
    const moment = deps.moments.of({ series, observedAt: price.observedAt, value: price.value })
    const teller = deps.teller()
    let after = from
    let upTo = from
    for (;;) {
      if (after >= upTo) upTo = alerts.reach(price.seriesId, after, entriesEach) ?? Number.MAX_SAFE_INTEGER
      const found = alerts.candidates(price, moment.price, startOfDay(price.observedAt), after, upTo, alertsEach)
      for (const alert of found) {
        const hasFired = careful
          ? attempt(own => fire(alert, price, series, moment, own), alert)
          : fire(alert, price, series, moment, teller)
        if (hasFired) passes.get(price.seriesId)!.hasFired = true
      }
      after = found.length === alertsEach ? found.at(-1)!.number : upTo
      const isDone = after === Number.MAX_SAFE_INTEGER
      if (!isDone && stopwatch.monotonic() < until) continue
      teller.end()
      if (!isDone) return after
      prices.remove(price.number)
      return undefined
    }
  }

  /** One alert that can not be told must not keep the others from it. */
  const attempt = (work: (teller: Teller) => boolean, alert: Alert): boolean => {
    const own = deps.teller()
    try {
      return transact(db, () => {
        const hasFired = work(own)
        own.end()
        return hasFired
      })
    } catch (error) {
      if (isStorageFault(error)) throw error
      log.error('alert not told', { alert: alert.id, error })
      return false
    }
  }

  /** One transaction; whether there may be more to do. */
  const step = (): boolean => {
    const price = nextPrice()
    noted = false
    if (!price) return false
    const from = cursor.price === price.number ? cursor.after : 0
    const slice = (careful: boolean) => transact(db, () => judgeSome(price, from, careful))
    let after: number | undefined
    try {
      after = slice(false)
    } catch (error) {
      if (isStorageFault(error)) throw error
      log.error('alerts are judged one by one', { error })
      after = slice(true)
    }
    cursor = { price: price.number, after: after ?? 0 }
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
    while (!stopped && (step() || drop())) await sleep(0)
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
          prices.add({ seriesId: watched.id, sourceId: series.id, observedAt: news.observedAt, value: news.value, at })
          noted = true
        }
      }
    },
    follow() {
      if (!noted || running || stopped) return
      const until = stopwatch.monotonic() + sliceMs
      try {
        while (step()) {
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
      const waiting = prices.heads().map(({ seriesId }) => (passes.get(seriesId)?.at ?? after) + intervalMs)
      const later = waiting.filter(at => at > after)
      return later.length > 0 ? Math.min(...later) : undefined
    },
    stop() {
      stopped = true
    },
  }
}

/** The codes whose alerts a price of a series is for: its own, and the futures family that it speaks for at present. */
function watchedBy(catalogue: Catalogue, series: Series, now: number): Series[] {
  const family = series.contractOf === null ? undefined : catalogue.named(series.contractOf)
  return family && catalogue.resolve(family.code, now)?.series.id === series.id ? [series, family] : [series]
}

/**
 * The new price in a change: an observation newer than all before it, or a correction of the newest. What lies further back, in quarantine,
 * or so long ago that it is history, is none.
 */
function newsReader({ catalogue, quarantine }: AlertEvaluationDeps) {
  return ({ inserted, revised }: Change, series: Series, now: number): Observation | undefined => {
    const lastAt = catalogue.extent(series)?.lastAt ?? Number.NEGATIVE_INFINITY
    const newestAt = Math.max(lastAt, inserted.at(-1)?.observedAt ?? lastAt)
    // One write may correct what it inserts.
    const newest = revised.findLast(one => one.observedAt === newestAt) ?? inserted.findLast(one => one.observedAt === newestAt)
    if (!newest || (newestAt + newsMs < now && freshUntil(series, newestAt).delayedUntil < now)) return undefined
    return quarantine.clear(series.id, newestAt, newestAt + 1).length > 0 ? newest : undefined
  }
}

/**
 * Fires an alert whose condition holds and whose plan has it: its trigger, its counters and its messages, in the caller's transaction.
 * Answers whether it fired.
 */
function firing({ alerts, triggers, catalogue, keys, ids }: AlertEvaluationDeps) {
  const isEntitled = (alert: Alert): boolean => {
    const account = keys.account(alert.accountId)
    return account !== undefined && account.account.suspendedAt === null && hasFeature(keys.entitlements(account), featureOf(alert))
  }
  return (alert: Alert, price: PendingPrice, series: Series, moment: AlertMoment, teller: Teller): boolean => {
    if (!isEntitled(alert)) return false
    const judged = evaluate(alert.condition, moment)
    if (!judged.enough || !judged.value.holds) return false
    const verdict = judged.value
    const { number, accountId, seriesId, condition: rule } = alert
    const triggeredAt = price.at
    const observedAt = firedOn(alert, price.observedAt)
    const condition = conditionText(rule)
    const metadata = rule.kind === 'price' ? null : measuredRow(verdict, moment.price)
    const triggerCount = alert.triggerCount + 1
    const watched = catalogue.byId(seriesId)
    const shared = { condition, metadata, triggeredAt, observedAt, price: moment.price }
    const channels = teller.tell({ alert, watched, series, verdict, triggerCount, ...shared })
    const { value, threshold } = verdict
    triggers.add({ id: ids.uuid(), alert: number, accountId, seriesId, value, threshold, channels, ...shared })
    alerts.fired(number, triggeredAt)
    if (triggerCount % trimEach === 0) triggers.trim(number, triggersKept, 2 * trimEach)
    return true
  }
}

const storageFaults = /^SQLITE_(FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN)/

/** The disk is full, failing or held by another process: the same work may succeed later. */
const isStorageFault = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && storageFaults.test(error.code)
