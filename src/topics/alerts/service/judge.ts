import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { isStorageFault } from '../../../database/storage-fault.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { startOfDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { isDelivery } from '../../delivery/service/market-days.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { AlertStore, WatchingAlert } from '../store/alerts.ts'
import type { AlertPriceStore, PendingPrice } from '../store/prices.ts'
import type { CodePasses } from './code-passes.ts'
import { createEntitlement, type Judging } from './firing.ts'
import type { Notifier } from './messages.ts'
import type { AlertMoments } from './moment.ts'

/** Alerts judged and notified together: a millisecond or two where all of them fire. */
const alertsEach = 100
/** Entries of the index read at a time: half a millisecond. */
export const entriesEach = 5000

/** How far the alerts of a price have been judged, by their numbers, and how far they are read. */
export interface Cursor {
  after: number
  upTo: number
}

export const cursorStart: Cursor = { after: 0, upTo: 0 }

export interface JudgeDeps extends Pick<Runtime, 'db' | 'log'> {
  alerts: AlertStore
  prices: AlertPriceStore
  passes: CodePasses
  moments: AlertMoments
  notifier(): Notifier
  catalogue: Catalogue
  keys: Pick<Keyring, 'account' | 'entitlements'>
  stopwatch: Clock
  /** Fires those whose condition holds; whether any did. */
  fire(candidates: readonly WatchingAlert[], judging: Judging): boolean
  /** How many have fired in this transaction, and back to so many. */
  firedCount(): number
  takeBack(count: number): void
}

/**
 * Evaluates alerts with a price from a cursor on, in the caller's transaction, until the time is
 * up. Returns the new cursor; undefined when all are evaluated and the price is done. `oneByOne`
 * keeps a failing alert from affecting the others.
 */
export type Judge = (
  price: PendingPrice,
  from: Cursor,
  oneByOne: boolean,
  until: number,
) => Cursor | undefined

export function createJudge(deps: JudgeDeps): Judge {
  const { alerts, prices, passes, catalogue, stopwatch, fire } = deps
  const fireAlone = createLoneFiring(deps)
  return (price, from, oneByOne, until) => {
    const series = catalogue.byId(price.sourceId)
    const isOfDay = isDelivery(series) && price.observedAt > price.at
    const moment = isOfDay
      ? deps.moments.ofDay(series, price.observedAt)
      : deps.moments.of({ series, observedAt: price.observedAt, value: price.value })
    if (!moment) {
      // A price of the day was removed again.
      prices.remove(price.number)
      return undefined
    }
    const judging: Judging = {
      price,
      series,
      moment,
      notifier: deps.notifier(),
      isEntitled: createEntitlement(deps.keys),
    }
    let { after, upTo } = from
    for (;;) {
      if (after >= upTo)
        upTo = alerts.reach(price.seriesId, after, entriesEach) ?? Number.MAX_SAFE_INTEGER
      const candidates = alerts.candidates(
        price,
        moment.price,
        startOfDay(price.observedAt),
        after,
        upTo,
        alertsEach,
      )
      // Accounts that may not see the series any more are not notified.
      const permitted = catalogue.isRestricted
        ? candidates.filter(alert => catalogue.isVisible(series, alert.accountId))
        : candidates
      const hasFired = oneByOne
        ? permitted.map(alert => fireAlone(alert, judging)).includes(true)
        : fire(permitted, judging)
      if (hasFired) passes.noteFired(price.seriesId)
      after = candidates.length === alertsEach ? candidates.at(-1)!.number : upTo
      const isDone = after === Number.MAX_SAFE_INTEGER
      if (!isDone && stopwatch.monotonic() < until) continue
      judging.notifier.end()
      if (!isDone) return { after, upTo }
      prices.remove(price.number)
      return undefined
    }
  }
}

/** Fires one alert in a separate transaction; an alert that fails is logged and skipped. */
function createLoneFiring({
  db,
  notifier: createNotifier,
  log,
  fire,
  firedCount,
  takeBack,
}: JudgeDeps) {
  return (alert: WatchingAlert, judging: Judging): boolean => {
    const firedBefore = firedCount()
    const notifier = createNotifier()
    try {
      return transact(db, () => {
        const hasFired = fire([alert], { ...judging, notifier })
        notifier.end()
        return hasFired
      })
    } catch (error) {
      if (isStorageFault(error)) throw error
      takeBack(firedBefore)
      log.error('alert_evaluation_failed', {
        message: 'The alert was not evaluated by this price.',
        alert: alert.id,
        error,
      })
      return false
    }
  }
}
