import { isoInstant } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { eventIdOf } from '../../webhooks/service/event-ids.ts'
import { moved, type WatchEventType } from '../math/change.ts'
import type { NewWatchEvent, WatchEventRow, WatchEventStore } from '../store/events.ts'
import type { Watch } from '../store/watches.ts'

/**
 * An event in the field names of the API, so that responses, streams and deliveries have the same
 * text.
 */
export interface WatchEvent {
  seq: number
  id: string
  watch_id: string
  type: WatchEventType
  code: string
  price: number | null
  currency: string | null
  unit: string
  previous_price: number | null
  change: number | null
  change_percent: number | null
  as_of: string | null
  payload: Omit<WatchEvent, 'seq' | 'id' | 'watch_id' | 'type' | 'payload' | 'created_at'>
  created_at: string
}

/** The feeds of all accounts. Every query names the account. */
export type WatchFeed = ReturnType<typeof createWatchFeed>

/** The same event has the same name for webhooks and in the feed. */
export const watchEventDedupe = ({
  watchId,
  code,
  createdAt,
}: {
  watchId: string
  code: string
  createdAt: number
}): string => `${watchId} ${code} ${createdAt}`

export function createWatchFeed(store: WatchEventStore, catalogue: Pick<Catalogue, 'byId'>) {
  const listeners = new Map<string, Set<() => void>>()

  const eventOf = (accountId: string, row: WatchEventRow): WatchEvent => {
    const { seq, watchId, type, price, previousPrice, createdAt } = row
    const { code, currency, unit, decimals } = catalogue.byId(row.seriesId)
    const { change, percent } = moved(price, previousPrice, decimals)
    const values = {
      code,
      price,
      currency,
      unit,
      previous_price: previousPrice,
      change,
      change_percent: percent,
      as_of: row.asOf === null ? null : isoInstant(row.asOf),
    }
    const id = eventIdOf(
      `watch.${type}\n${accountId}\n${watchEventDedupe({ watchId, code, createdAt })}`,
    )
    return {
      seq,
      id,
      watch_id: watchId,
      type,
      ...values,
      payload: values,
      created_at: isoInstant(createdAt),
    }
  }

  return {
    /** Adds the events of a watch, inside the caller's transaction. */
    append({ accountId, id: watchId }: Watch, events: readonly NewWatchEvent[]) {
      const first = store.append(accountId, events)
      return events.map((event, i) => eventOf(accountId, { ...event, watchId, seq: first + i }))
    },
    /**
     * At most `limit` events with a number above `since`, ascending; of one watch where it is
     * given.
     */
    after: (accountId: string, since: number, limit: number, watch?: Watch) =>
      store.after(accountId, since, limit, watch?.number).map(row => eventOf(accountId, row)),
    /** The highest number of the account's feed. */
    last: store.last,
    /**
     * Calls `listener` for new events of an account, once they are committed, until the returned
     * function is called.
     */
    listen(accountId: string, listener: () => void) {
      const accountListeners = listeners.get(accountId) ?? new Set()
      listeners.set(accountId, accountListeners.add(listener))
      return () => {
        accountListeners.delete(listener)
        if (accountListeners.size === 0 && listeners.get(accountId) === accountListeners)
          listeners.delete(accountId)
      }
    },
    /** Notifies the listeners of an account. */
    notify(accountId: string) {
      for (const listener of [...(listeners.get(accountId) ?? [])]) listener()
    },
  }
}
