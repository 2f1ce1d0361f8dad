import { describe, expect, test } from 'bun:test'
import {
  createOutboxStore,
  type NewRow,
  type OutboxStore,
} from '../../../src/outbox/store/outbox.ts'
import { databaseInMemory } from '../../support/instance/database.ts'

const now = 1_000_000

function world() {
  const db = databaseInMemory()
  const store = createOutboxStore(db)
  const count = (table: string) =>
    (db.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n
  return {
    db,
    store,
    count,
    states: () => db.query('SELECT id, state, attempts, tries FROM outbox ORDER BY number').all(),
  }
}

let rowCount = 0
function add(store: OutboxStore, row: Partial<NewRow> & { lane?: string } = {}): boolean {
  rowCount += 1
  const { lane = 'a', ...rest } = row
  const bodyId = store.addBody('{}', 1)
  return store.add({
    id: `id-${rowCount}`,
    laneId: store.laneId('webhook', lane),
    accountId: null,
    eventId: `evt-${rowCount}`,
    eventType: 'x',
    bodyId,
    ref: null,
    traceparent: null,
    dueAt: now,
    maxRetries: null,
    createdAt: now,
    skipped: undefined,
    ...rest,
  })
}

const lease = (token: string) => ({ token, until: now + 45_000 })
const ended = {
  holdUntil: null,
  rescues: 0,
  statusCode: 200,
  durationMs: 7,
  error: null,
  debug: null,
  at: now,
}

describe('a claim', () => {
  test('a claim takes the due messages of its lane, oldest first, counts the attempt and includes the body', () => {
    const { store } = world()
    add(store, { id: 'later', dueAt: now + 1 })
    add(store, { id: 'second', dueAt: now - 1 })
    add(store, { id: 'first', dueAt: now - 2, bodyId: store.addBody('{"a":1}', 1) })
    add(store, { id: 'other lane', lane: 'b' })
    const rows = store.claim(store.laneId('webhook', 'a'), now, 10, lease('t'))
    expect(rows.map(row => [row.id, row.attempts, row.tries, row.kind, row.lane])).toEqual([
      ['first', 1, 1, 'webhook', 'a'],
      ['second', 1, 1, 'webhook', 'a'],
    ])
    expect(rows[0]!.body).toBe('{"a":1}')
    expect(store.claim(store.laneId('webhook', 'a'), now, 10, lease('u'))).toEqual([])
  })

  test('in order takes the first only, and waits for its hold', () => {
    const { store } = world()
    const laneId = store.laneId('webhook', 'a')
    add(store, { id: 'one', dueAt: now - 2 })
    add(store, { id: 'two', dueAt: now - 1 })
    const [row] = store.claimFirst(laneId, now, lease('t'))
    expect(row!.id).toBe('one')
    store.end(row!, { ...ended, state: 'retry', holdUntil: now + 60_000, tries: 1 })
    expect(store.claimFirst(laneId, now + 59_999, lease('u'))).toEqual([])
    expect(store.nextDueInOrder(laneId)).toBe(now + 60_000)
    expect(
      store.claimFirst(laneId, now + 60_000, lease('v')).map(row => [row.id, row.attempts]),
    ).toEqual([['one', 2]])
  })

  test('is found by an index over what waits, however much was sent before', () => {
    const { db } = world()
    const plan = db
      .query(
        "EXPLAIN QUERY PLAN SELECT number FROM outbox WHERE lane_id = 1 AND state IN ('pending', 'retry') AND due_at <= 5 ORDER BY due_at, number",
      )
      .all() as { detail: string }[]
    expect(plan.map(row => row.detail).join(' ')).toContain('outbox_waiting')
    expect(plan.map(row => row.detail).join(' ')).not.toContain('TEMP B-TREE')
  })
})

describe('the end of an attempt', () => {
  test('is recorded once, by who holds the lease', () => {
    const { store, count, states } = world()
    add(store, { id: 'one' })
    const [row] = store.claim(store.laneId('webhook', 'a'), now, 1, lease('mine'))
    expect(
      store.end({ ...row!, leaseToken: 'theirs' }, { ...ended, state: 'failed', tries: 1 }),
    ).toBe(false)
    expect(count('outbox_attempts')).toBe(0)
    expect(store.end(row!, { ...ended, state: 'delivered', tries: 1 })).toBe(true)
    expect(store.end(row!, { ...ended, state: 'failed', tries: 1 })).toBe(false)
    expect(states()).toEqual([{ id: 'one', state: 'delivered', attempts: 1, tries: 1 }])
    expect(count('outbox_attempts')).toBe(1)
  })

  test('under a lease of an earlier claim changes nothing', () => {
    const { store } = world()
    add(store)
    const laneId = store.laneId('webhook', 'a')
    const [first] = store.claim(laneId, now, 1, lease('first'))
    store.end(first!, { ...ended, state: 'retry', dueAt: now, tries: 0 })
    const [second] = store.claim(laneId, now, 1, lease('second'))
    expect(store.end(first!, { ...ended, state: 'delivered', tries: 1 })).toBe(false)
    expect(store.end(second!, { ...ended, state: 'delivered', tries: 1 })).toBe(true)
  })
})

test('a lane has an event once, and two lanes have it each', () => {
  const { store, count } = world()
  expect(add(store, { eventId: 'evt-same' })).toBe(true)
  expect(add(store, { eventId: 'evt-same' })).toBe(false)
  expect(add(store, { eventId: 'evt-same', lane: 'b' })).toBe(true)
  expect(count('outbox')).toBe(2)
})

test('settled messages past their retention are deleted with attempts, body and lane, and nothing else is', () => {
  const { store, count, states } = world()
  add(store, { id: 'old', lane: 'gone', skipped: 'no', createdAt: now - 2 })
  const shared = store.addBody('{"shared":true}', 2)
  add(store, { id: 'old shared', bodyId: shared, skipped: 'no', createdAt: now - 1 })
  add(store, { id: 'new shared', bodyId: shared, lane: 'b', skipped: 'no', createdAt: now })
  add(store, { id: 'waiting', dueAt: 0 })
  const bodies = count('outbox_bodies')
  expect(store.forget(now, 1)).toBe(1)
  expect(states()).toHaveLength(3)
  expect(store.forget(now, 10)).toBe(1)
  expect(store.forget(now, 10)).toBe(0)
  expect(states().map(row => (row as { id: string }).id)).toEqual(['new shared', 'waiting'])
  expect(count('outbox_bodies')).toBe(bodies - 1)
  expect(store.findLane('webhook', 'gone')).toBeUndefined()
  expect(store.forget(now + 1, 10)).toBe(1)
  expect(count('outbox_bodies')).toBe(bodies - 2)
})
