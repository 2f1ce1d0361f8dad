import { type Clock, sleep } from '../lib/time/clock.ts'
import type { OutboxDue } from './engine.ts'
import type { LogRange, OutboxLogStore } from './store/log.ts'
import type { Kind, LogEntry } from './store/rows.ts'

/** The messages of a lane, sent and waiting; a message that is resent is due at once. */
export type OutboxLog = ReturnType<typeof createOutboxLog>

export const createOutboxLog = (
  store: OutboxLogStore,
  { now }: Pick<Clock, 'now'>,
  due: OutboxDue,
) => ({
  page: store.page,
  newest: store.newest,
  find: store.find,
  /**
   * The same event and body is due now, with its whole schedule before it. One that is under way
   * stays as it is; undefined: no such message.
   */
  resend(kind: Kind, lane: string, id: string): LogEntry | undefined {
    const entry = store.resend(kind, lane, id, now())
    if (entry) due(kind, lane, now())
    return entry
  },
  /**
   * As `resend` for all of a range that were delivered or failed, oldest first, at most `limit`;
   * how many there were. Others have their turn between slices.
   */
  async replay(kind: Kind, lane: string, range: LogRange, limit: number): Promise<number> {
    let replayed = 0
    for (let after = 0; replayed < limit; await sleep(0)) {
      const slice = store.replaySlice(kind, lane, range, {
        after,
        limit: limit - replayed,
        now: now(),
      })
      replayed += slice.replayed
      if (slice.replayed > 0) due(kind, lane, now())
      if (slice.last === undefined) break
      after = slice.last
    }
    return replayed
  },
})
