import { expect, test } from 'bun:test'
import { openTestInstance } from '../../../support/instance/instance.ts'

/** A key of a plan with a quota, and a stream of changes whose content the test sets. */
function opened() {
  const { services, key } = openTestInstance({ 'nats.servers': 'nats://127.0.0.1:1' })
  const { keys, meter } = services
  const state = keys.find(key('developer'))!
  let [committed, streamed] = [0, 0]
  meter.followStream({
    sequence: () => (committed += 1),
    has: change => change <= streamed,
  })
  return {
    meter,
    state,
    reachStream: () => {
      streamed = committed
    },
    reserve: () => meter.reserve(state) !== undefined && meter.isCharged(state),
  }
}

test('a request counts as charged once the replication stream contains its reserved quota', () => {
  const { meter, state, reserve, reachStream } = opened()
  expect(reserve()).toBe(false)
  expect(meter.isCharged(state)).toBe(false)
  reachStream()
  expect(meter.isCharged(state)).toBe(true)
  // Counts that were written ahead reach the stream, so that steady requests never wait.
  for (let i = 0; i < 500; i++) {
    expect(reserve()).toBe(true)
    reachStream()
  }
})

test('without the stream no more is charged than it had', () => {
  const { reserve, reachStream } = opened()
  reserve()
  reachStream()
  let charged = 1
  while (reserve()) charged += 1
  expect(charged).toBe(17)
  for (let i = 0; i < 100; i++) expect(reserve()).toBe(false)
  reachStream()
  expect(reserve()).toBe(true)
})

test('quota returned from a reserved slice does not count as already charged', () => {
  const { meter, state, reserve, reachStream } = opened()
  reserve()
  const part = meter.setAside(state, 100)!
  reachStream()
  expect(meter.isCharged(state)).toBe(true)
  meter.putBack(part)
  expect(reserve()).toBe(false)
  reachStream()
  expect(reserve()).toBe(true)
})
