import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'
import type { WatchEventType } from '../math/change.ts'

/** The result of a watch run for one code. */
export interface WatchEventRow {
  /** Increases within the feed of the account. */
  seq: number
  watchId: string
  type: WatchEventType
  /** The watched code; for a futures family, that of the family. */
  seriesId: number
  price: number | null
  previousPrice: number | null
  /** When the price was observed. */
  asOf: number | null
  createdAt: number
}

export interface NewWatchEvent extends Omit<WatchEventRow, 'seq' | 'watchId'> {
  /** Number of the watch. */
  watch: number
}

/** The feed of each account: the events of its watches, in order. */
export type WatchEventStore = ReturnType<typeof createWatchEventStore>

export function createWatchEventStore(db: Database) {
  const sql = statements(db)
  const advance = sql<{ feed: number; seq: number }, [string, number]>`
    INSERT INTO watch_feeds (account_id, last_seq) VALUES (?1, ?2)
    ON CONFLICT (account_id) DO UPDATE SET last_seq = last_seq + ?2 RETURNING number AS feed, last_seq AS seq`
  const add = sql`
    INSERT INTO watch_events (feed_number, seq, watch_number, type, series_id, price, previous_price, observed_at, created_at)
    VALUES ($feed, $seq, $watch, $type, $seriesId, $price, $previousPrice, $asOf, $createdAt)`
  const columns = `e.seq, w.id AS watchId, e.type, e.series_id AS seriesId, e.price, e.previous_price AS previousPrice, e.observed_at AS asOf,
    e.created_at AS createdAt`
  const from = 'FROM watch_events e JOIN watches w ON w.number = e.watch_number'
  const feedOf = sql<{ number: number; last_seq: number }, [string]>`
    SELECT number, last_seq FROM watch_feeds WHERE account_id = ?`
  const after = sql<WatchEventRow, number[]>`
    SELECT ${columns} ${from} WHERE e.feed_number = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`
  const afterOf = sql<WatchEventRow, number[]>`
    SELECT ${columns} ${from} WHERE e.feed_number = ? AND e.seq > ? AND e.watch_number = ? ORDER BY e.seq LIMIT ?`
  const forget = sql`
    DELETE FROM watch_events WHERE (feed_number, seq) IN (SELECT feed_number, seq FROM watch_events WHERE created_at < ? ORDER BY created_at LIMIT ?)`
  return {
    /**
     * Adds events in their order, inside the caller's transaction; returns the number of the first.
     */
    append(accountId: string, events: readonly NewWatchEvent[]) {
      const { feed, seq: last } = advance.get(accountId, events.length)!
      const first = last - events.length + 1
      for (const [i, event] of events.entries()) add.run({ feed, seq: first + i, ...event })
      return first
    },
    /**
     * At most `limit` events with a number above `since`, ascending; of one watch where its number
     * is given.
     */
    after(accountId: string, since: number, limit: number, watch?: number) {
      const feed = feedOf.get(accountId)?.number
      if (feed === undefined) return []
      return watch === undefined
        ? after.all(feed, since, limit)
        : afterOf.all(feed, since, watch, limit)
    },
    /** The highest number given in the feed, 0 before the first; it never falls. */
    last: (accountId: string) => feedOf.get(accountId)?.last_seq ?? 0,
    /** Drops at most `limit` events older than a moment; how many there were. */
    forget: (before: number, limit: number) => forget.run(before, limit).changes,
  }
}
