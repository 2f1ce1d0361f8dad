import type { Database } from 'bun:sqlite'
import { transact } from '../database/database.ts'
import type { Ids } from '../lib/ids.ts'
import { sleep } from '../lib/time/clock.ts'
import { dayMs } from '../lib/time/instant.ts'
import { lastDelivery, nextDelivery } from '../plans/messages/delivery-schedule.ts'
import { createAlertPriceStore } from '../topics/alerts/store/prices.ts'
import {
  createDeliveryStore,
  type Delivery,
  type DuePlace,
} from '../topics/deliveries/store/deliveries.ts'
import { createDeliveryRunStore } from '../topics/deliveries/store/runs.ts'
import { createAccountStore } from '../topics/keys/store/accounts.ts'
import { type Settings, settingsStore } from '../topics/operator/store/settings.ts'
import type { Kind, Outbox } from './outbox.ts'
import { createHeldMessageStore, type HeldFilter, type HeldMessage } from './store/held-messages.ts'

export type { HeldFilter, HeldMessage } from './store/held-messages.ts'

/** The error of messages that a restore held back, in their log. */
export const heldReason = 'held back: the database was restored from a backup'

/** Counts of what a restore held back. */
export interface KeptBack {
  messages: Record<Kind, number>
  /** Scheduled deliveries whose time came before the restore, and that are not made up for. */
  deliveries: number
  /** Prices that alerts will not be judged by. */
  prices: number
}

const momentsName = 'outbox.held_at'
/** How long ended messages stay in the log. */
const loggedMs = 30 * dayMs
const sliceDeliveries = 100
/** A few milliseconds of writing. */
const sliceMessages = 100

/**
 * Holds back messages of a restored database, which may have been sent after the backup was made.
 * Waiting messages end as failed without notifying listeners, so that they do not count against a
 * receiver; scheduled deliveries that are due are skipped; and prices that alerts have not
 * evaluated yet are dropped, because alerts that fired on them would be sent again under the same
 * ids. Runs in one transaction, on a database that no process uses.
 */
export const holdBack = (db: Database, at: number, ids: Pick<Ids, 'uuidAt'>): KeptBack =>
  transact(db, () => {
    const settings = settingsStore(db)
    const moments = momentsOf(settings).filter(moment => moment > at - loggedMs)
    settings.set(momentsName, JSON.stringify([...moments, at]))
    return {
      messages: createHeldMessageStore(db).hold(heldReason, at),
      deliveries: skipDue(db, at, ids),
      prices: createAlertPriceStore(db).clear(),
    }
  })

const momentsOf = (settings: Pick<Settings, 'get'>): number[] =>
  JSON.parse(settings.get(momentsName) ?? '[]') as number[]

function skipDue(db: Database, at: number, ids: Pick<Ids, 'uuidAt'>): number {
  const deliveries = createDeliveryStore(db)
  const runs = createDeliveryRunStore(db)
  const emails = new Map(
    createAccountStore(db)
      .all()
      .map(account => [account.id, account.email]),
  )
  const skip = (delivery: Delivery): boolean => {
    const { day } = lastDelivery(delivery, at)
    const isNew =
      day >= delivery.next!.day &&
      runs.add({
        id: ids.uuidAt(at),
        delivery: delivery.number,
        trigger: 'scheduled',
        localOn: day,
        status: 'skipped',
        error: heldReason,
        recipient: delivery.recipientEmail ?? emails.get(delivery.accountId)!,
        createdAt: at,
        sentAt: null,
      })
    deliveries.schedule(delivery.number, nextDelivery(delivery, at, runs.lastDay(delivery.number)))
    return isNew
  }
  let skipped = 0
  let place: DuePlace = { at: Number.MIN_SAFE_INTEGER, number: 0 }
  for (;;) {
    const slice = deliveries.due(at, place, sliceDeliveries)
    skipped += slice.filter(skip).length
    const last = slice.at(-1)
    if (!last || slice.length < sliceDeliveries) return skipped
    place = { at: last.next!.at, number: last.number }
  }
}

/** Messages that restores held back, for an operator who releases them. */
export function createHeldMessages({
  db,
  settings,
  outbox,
}: {
  db: Database
  settings: Pick<Settings, 'get'>
  outbox: Pick<Outbox, 'log'>
}) {
  const store = createHeldMessageStore(db)
  const hold = () => ({ moments: momentsOf(settings), reason: heldReason })
  const list = (filter: HeldFilter, limit: number, offset: number): HeldMessage[] =>
    store.list(hold(), filter, limit, offset)
  return {
    /** In the order in which they were made. */
    list,
    counts: (): Record<Kind, number> => store.counts(hold()),
    /**
     * Sends messages under their own ids, as if they were new: at most `limit`, oldest first; how
     * many.
     */
    async release(filter: HeldFilter, limit: number): Promise<number> {
      let released = 0
      while (released < limit) {
        const sliceLimit = Math.min(sliceMessages, limit - released)
        // Found and released in one transaction: a message that its owner has resent in the
        // meantime is not held any more.
        const sliceReleased = transact(db, () => {
          const messages = list(filter, sliceLimit, 0)
          for (const message of messages) {
            outbox.log.resend(message.kind, message.lane, message.id)
            store.reopen(message, heldReason)
          }
          return messages.length
        })
        released += sliceReleased
        if (sliceReleased < sliceLimit) break
        await sleep(0)
      }
      return released
    },
  }
}
