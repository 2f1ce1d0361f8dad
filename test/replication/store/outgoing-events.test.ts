import { describe, expect, test } from 'bun:test'
import { logChanges } from '../../../src/replication/store/change-log.ts'
import { createDeltaReader } from '../../../src/replication/store/delta-reader.ts'
import { createOutgoingEvents } from '../../../src/replication/store/outgoing-events.ts'
import { databaseInMemory } from '../../support/instance/database.ts'
import { outboxWorld, unavailable } from '../../support/topics/outbox.ts'

/** An outbox whose commits are logged; `told` has the events committed since. */
function openLoggedOutbox() {
  const db = databaseInMemory()
  logChanges(db, true)
  const world = outboxWorld({ db, answer: () => unavailable })
  const reader = createDeltaReader(db, world.clock.now)
  const eventsOf = createOutgoingEvents(db)
  let at = 0
  const told = (): string[] => {
    const ids: string[] = []
    for (let before = -1; before !== at; ) {
      before = at
      for (const delta of reader.after(at)) {
        ids.push(...eventsOf(delta).map(({ id }) => id))
        if (delta.isLast) at = delta.upTo
      }
    }
    return ids
  }
  return { world, told }
}

describe('events of commits', () => {
  test('an outgoing event is published with the commit that creates it and not by its delivery attempts', async () => {
    const { world, told } = openLoggedOutbox()
    world.put()
    expect(told()).toHaveLength(1)
    // The first attempt comes hours later: the stream has forgotten the message's id by then.
    world.clock.advance(3 * 3_600_000)
    await world.run()
    expect(world.sent).toHaveLength(1)
    expect(told()).toEqual([])
    world.clock.advance(3 * 3_600_000)
    await world.run()
    expect(world.sent.length).toBeGreaterThan(1)
    expect(told()).toEqual([])
    world.put()
    world.put()
    expect(told()).toHaveLength(2)
  })

  test('are one for all the endpoints that one of them goes to', () => {
    const { world, told } = openLoggedOutbox()
    for (const lane of ['a', 'b', 'c']) world.put({ lane, eventId: 'evt_1' })
    expect(told()).toEqual(['evt_1'])
  })
})
