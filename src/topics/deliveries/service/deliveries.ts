import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { sleep } from '../../../lib/time/clock.ts'
import { dayMs, secondMs } from '../../../lib/time/instant.ts'
import { wallTime } from '../../../lib/time/zone.ts'
import type { LimitReached, Limits } from '../../../plans/limits.ts'
import {
  type DeliveryMoment,
  type DeliverySchedule,
  lastDelivery,
  nextDelivery,
} from '../../../plans/messages/delivery-schedule.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { RecipientState } from '../../messages/service/mail.ts'
import {
  createDeliveryStore,
  type Delivery,
  type DeliverySettings,
  type DeliveryStore,
  type DuePlace,
} from '../store/deliveries.ts'
import { createDeliveryRunStore } from '../store/runs.ts'
import { createDeliveryPrices, type DeliveryPricesDeps } from './prices.ts'
import {
  createDeliveryRuns,
  type DeliveryRun,
  type DeliveryRuns,
  type DeliveryRunsDeps,
} from './runs.ts'

export type { Delivery, DeliverySettings } from '../store/deliveries.ts'
export type { DeliveryRun, RunState } from './runs.ts'

/** The last manual delivery was sent less than the cooldown ago. */
export interface CopyRefusal {
  refused: 'cooldown'
  retryAfterSeconds: number
}

export interface Dispatched {
  runs: number
  /** Deliveries that could not be dispatched, with the reason of the first: they stay due. */
  failed: number
  error: unknown
}

/** Prices that accounts have mailed to them by a schedule. */
export type Deliveries = ReturnType<typeof createDeliveries>

export interface DeliveriesDeps
  extends Pick<Runtime, 'db' | 'ids' | 'clock'>,
    Omit<DeliveryPricesDeps, 'now'>,
    Pick<DeliveryRunsDeps, 'mail' | 'outbox' | 'retention'> {
  keys: Pick<Keyring, 'account' | 'entitlements'>
  limits: Pick<Limits, 'manualSendCooldownSeconds'>
  enabled: boolean
  serviceName: string
}

/** A week, and a day that a zone may leave out. */
const aheadMaxMs = 9 * dayMs

/** A slice of a dispatch: five to fifteen milliseconds. */
const sliceDeliveries = 5

export function createDeliveries(deps: DeliveriesDeps) {
  const { db, clock, enabled } = deps
  const store = createDeliveryStore(db)
  const prices = createDeliveryPrices({ ...deps, now: clock.now })
  const runs = createDeliveryRuns({ ...deps, store, runs: createDeliveryRunStore(db), prices })
  return {
    /**
     * False while the operator has paused them all: nothing is made or sent, and what falls due
     * waits.
     */
    enabled,
    /** By creation. */
    list: store.ofAccount,
    /** A delivery of the account; another account's is as unknown as none. */
    own(accountId: string, id: string): Delivery | undefined {
      const delivery = store.byId(id)
      return delivery?.accountId === accountId ? delivery : undefined
    },
    /** Deliveries of all accounts whose last e-mail was not sent, the latest first. */
    failing: store.failing,
    ...createChanges(deps, store, runs),
    /** Sends a delivery now, in addition to the schedule. */
    sendNow: (delivery: Delivery): DeliveryRun | CopyRefusal =>
      transact(db, () => {
        const now = clock.now()
        const last = runs.lastBackup(delivery)
        const cooldown = deps.limits.manualSendCooldownSeconds
        const waited = last ? Math.max(0, now - last.createdAt) / secondMs : cooldown
        if (waited < cooldown)
          return { refused: 'cooldown' as const, retryAfterSeconds: Math.ceil(cooldown - waited) }
        return runs.make(delivery, 'manual', wallTime(now, delivery.timeZone).day)!
      }),
    lastRun: runs.last,
    recipient: runs.recipient,
    /** Whether the recipient gets e-mails: an address outside the account must agree first. */
    recipientState: (delivery: Delivery): RecipientState =>
      deps.mail.recipientState(delivery.accountId, runs.recipient(delivery)),
    ...createDispatch(deps, store, runs),
    /** Undefined while nothing is scheduled. */
    nextDueAt: (): number | undefined => (enabled ? store.nextDueAt() : undefined),
  }
}

const isOther = (a: DeliverySchedule, b: DeliverySchedule): boolean =>
  a.cadence !== b.cadence ||
  a.weekday !== b.weekday ||
  a.deliveryTime !== b.deliveryTime ||
  a.timeZone !== b.timeZone

/** The first day of a week unless another is named; no day outside of weekly deliveries. */
const withWeekday = <T extends DeliverySettings>(settings: T): T => ({
  ...settings,
  weekday: settings.cadence === 'weekly' ? (settings.weekday ?? 1) : null,
})

function createChanges(deps: DeliveriesDeps, store: DeliveryStore, runs: DeliveryRuns) {
  const { db, keys, clock, ids } = deps
  const nextOf = (settings: DeliverySettings, afterDay?: string): DeliveryMoment | null =>
    settings.enabled ? nextDelivery(settings, clock.now(), afterDay) : null
  return {
    create: (
      account: AccountState,
      newSettings: DeliverySettings,
      { source, id = ids.uuid() }: { source: string; id?: string },
    ): Delivery | LimitReached => {
      const { id: accountId } = account.account
      const limit = keys.entitlements(account).scheduledDeliveries
      return transact(db, () => {
        const count = store.count(accountId)
        if (limit !== null && count >= limit) return { refused: 'limit' as const, limit, count }
        const settings = withWeekday(newSettings)
        const now = clock.now()
        store.add({
          ...settings,
          id,
          accountId,
          source,
          next: nextOf(settings),
          createdAt: now,
          updatedAt: now,
        })
        const delivery = store.byId(id)!
        deps.mail.wish(accountId, runs.recipient(delivery))
        return delivery
      })
    },
    /**
     * Another schedule, or one that is taken up again, counts from now: a local day that has had its
     * run has no second one.
     */
    change: (delivery: Delivery, change: Partial<DeliverySettings>): Delivery =>
      transact(db, () => {
        const changed = withWeekday({ ...delivery, ...change, updatedAt: clock.now() })
        const anew = isOther(changed, delivery) || changed.enabled !== delivery.enabled
        const next = anew ? { ...changed, next: nextOf(changed, runs.lastDay(delivery)) } : changed
        store.put(next)
        // The account wants its e-mails again: a day after the last request, consent may be
        // requested once more.
        if (change.recipientEmail !== undefined || change.enabled === true)
          deps.mail.wish(delivery.accountId, runs.recipient(next))
        return next
      }),
    /** With its runs; an e-mail that is under way arrives. */
    remove: (delivery: Delivery) => store.remove(delivery.number),
  }
}

function createDispatch(
  { db, clock, enabled }: DeliveriesDeps,
  store: DeliveryStore,
  runs: DeliveryRuns,
) {
  let stopped = false

  /** Whether a run was made. */
  const dispatchOne = (delivery: Delivery, upTo: number): boolean => {
    const due = lastDelivery(delivery, upTo)
    // The rules of the zone may have changed since the moment was computed.
    const isDue = due.day >= delivery.next!.day
    const run = isDue ? runs.make(delivery, 'scheduled', due.day) : undefined
    store.schedule(delivery.number, nextDelivery(delivery, upTo, runs.lastDay(delivery)))
    return run !== undefined
  }
  return {
    /**
     * Makes the runs that are due by `upTo`, or by now; of several missed runs only the newest.
     * Yields to other work between slices.
     */
    async dispatch(upTo: number = clock.now()): Promise<Dispatched> {
      const dispatched: Dispatched = { runs: 0, failed: 0, error: undefined }
      if (!enabled) return dispatched
      runs.tidy()
      let place: DuePlace = { at: Number.MIN_SAFE_INTEGER, number: 0 }
      while (!stopped) {
        const slice = store.due(upTo, place, sliceDeliveries)
        for (const delivery of slice) {
          try {
            if (transact(db, () => dispatchOne(delivery, upTo))) dispatched.runs += 1
          } catch (error) {
            dispatched.failed += 1
            dispatched.error ??= error
          }
        }
        const last = slice.at(-1)
        if (!last || slice.length < sliceDeliveries) break
        place = { at: last.next!.at, number: last.number }
        await sleep(0)
      }
      return dispatched
    },
    /**
     * Computes again what is further ahead than any schedule goes, as a clock that was wrong has left
     * it; how many there were.
     */
    bringBack: (): number =>
      transact(db, () => {
        const now = clock.now()
        const wrong = store.dueAfter(now + aheadMaxMs)
        for (const delivery of wrong) store.schedule(delivery.number, nextDelivery(delivery, now))
        return wrong.length
      }),
    /** Ends a dispatch after the delivery that it is at. */
    stop() {
      stopped = true
    },
  }
}
