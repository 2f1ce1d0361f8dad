import type { Database } from 'bun:sqlite'
import { transact } from '../database/database.ts'
import type { Outbox } from './outbox.ts'
import type { QueueStore } from './store/queue.ts'

export type { QueuedMessage, QueueState } from './store/queue.ts'

/** Waiting and failed messages, for the operator who manages them. */
export interface Queue extends Pick<QueueStore, 'list' | 'count'> {
  /**
   * Sends messages now, under their own event ids and with their whole schedule before them; how
   * many. Unknown ids are passed over.
   */
  send(ids: readonly string[]): number
  /** Gives up those that wait, so that nothing of them is sent; how many. */
  drop(ids: readonly string[]): number
}

const droppedReason = 'the operator dropped it'

export const createQueue = ({
  db,
  outbox,
  store,
}: {
  db: Database
  outbox: Pick<Outbox, 'log' | 'engine'>
  store: QueueStore
}): Queue => ({
  list: store.list,
  count: store.count,
  send: ids =>
    transact(db, () => {
      const places = store.places(ids)
      for (const { kind, lane, id } of places) outbox.log.resend(kind, lane, id)
      return places.length
    }),
  drop: ids => outbox.engine.together(() => outbox.engine.drop(ids, droppedReason)),
})
