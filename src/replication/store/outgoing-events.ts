import type { Database } from 'bun:sqlite'
import { lazy } from '../../database/statement.ts'
import type { Delta } from './delta.ts'

/** An event that some webhook endpoint gets, as it is sent. */
export interface OutgoingEvent {
  id: string
  type: string
  accountId: string
  body: string
}

/**
 * Finds the new events in commits: those whose body is new with its message. A message that is
 * retried is not a new event. Parts of a commit are checked together, with the last of them.
 */
export function createOutgoingEvents(db: Database): (delta: Delta) => OutgoingEvent[] {
  const find = lazy<OutgoingEvent & { bodyId: number }, [number]>(
    db,
    `SELECT o.event_id AS id, o.event_type AS type, coalesce(o.account_id, '') AS accountId, b.body,
            b.id AS bodyId
     FROM outbox o JOIN outbox_lanes l ON l.id = o.lane_id JOIN outbox_bodies b ON b.id = o.body_id
     WHERE o.number = ? AND l.kind = 'webhook'`,
  )
  let numbers: number[] = []
  let bodyIds = new Set<number>()
  return ({ tables, isLast }) => {
    for (const { table, columns, rows } of tables) {
      const ofColumn = (name: string) => rows.map(row => row[columns.indexOf(name)] as number)
      if (table === 'outbox') numbers.push(...ofColumn('number'))
      if (table === 'outbox_bodies') for (const id of ofColumn('id')) bodyIds.add(id)
    }
    if (!isLast) return []
    const events = new Map<string, OutgoingEvent>()
    for (const number of bodyIds.size > 0 ? numbers : []) {
      const message = find.get(number)
      if (!message || !bodyIds.has(message.bodyId)) continue
      const { bodyId: _bodyId, ...event } = message
      events.set(event.id, event)
    }
    numbers = []
    bodyIds = new Set()
    return [...events.values()]
  }
}
