import type { Database } from 'bun:sqlite'
import { lazy } from '../statement.ts'
import type { Delta } from './delta.ts'

/** An event that some webhook endpoint gets, as it is sent. */
export interface OutgoingEvent {
  id: string
  type: string
  accountId: string
  body: string
}

/**
 * Finds the events whose messages a delta brings, each once in it. Of a message that is under way or
 * was tried once it may be told again; later ones are not news.
 */
export function createOutgoingEvents(db: Database): (delta: Delta) => OutgoingEvent[] {
  const find = lazy<OutgoingEvent, [number]>(
    db,
    `SELECT o.event_id AS id, o.event_type AS type, coalesce(o.account_id, '') AS accountId, b.body
     FROM outbox o JOIN outbox_lanes l ON l.id = o.lane_id JOIN outbox_bodies b ON b.id = o.body_id
     WHERE o.number = ? AND l.kind = 'webhook' AND o.attempts <= 1`,
  )
  return ({ tables }) => {
    const events = new Map<string, OutgoingEvent>()
    for (const { table, columns, rows } of tables) {
      if (table !== 'outbox') continue
      const at = columns.indexOf('number')
      for (const row of rows) {
        const event = find.get(row[at] as number)
        if (event) events.set(event.id, event)
      }
    }
    return [...events.values()]
  }
}
