import { expect, test } from 'bun:test'
import type { DemoData } from '../../src/demo/demo-data.ts'
import { createDemoFeed } from '../../src/demo/feed.ts'
import { dayMs, hourMs } from '../../src/lib/time/instant.ts'

const start = Date.parse('2026-11-20T15:00:00Z')
const hoursOf = (at: number) => (at - start) / hourMs

/** A feed of two kinds of data that write down what they are called for. */
function openFeed(state = new Map<string, string>()) {
  const calls: string[] = []
  const notes: string[] = []
  const published = { rows: 1 }
  let isFailing = false
  const kind = (name: string, percent: number): DemoData => ({
    percent,
    *generate(now) {
      for (const share of [0.5, 1]) {
        calls.push(`${name}: history to ${hoursOf(now)}`)
        yield share
      }
    },
    publish(from, to) {
      if (isFailing) throw new Error('the disk is full')
      calls.push(`${name}: ${hoursOf(from)} to ${hoursOf(to)}`)
      return published.rows
    },
  })
  const feed = createDemoFeed({
    data: [kind('prices', 75), kind('wells', 25)],
    codes: 2,
    settings: {
      get: name => state.get(name),
      set: (name, value) => void state.set(name, value),
    },
    noteRows: part => void notes.push(part),
  })
  return {
    feed,
    calls,
    notes,
    state,
    published,
    fail(on: boolean) {
      isFailing = on
    },
  }
}

test('demo history is generated kind by kind and reports its progress', () => {
  const { feed, calls } = openFeed()
  expect([...feed.generate(start)]).toEqual([0.375, 0.75, 0.875, 1])
  expect(calls).toEqual([
    'prices: history to 0',
    'prices: history to 0',
    'wells: history to 0',
    'wells: history to 0',
  ])
})

test('every kind is published from where the last time ended', () => {
  const { feed, calls, notes } = openFeed()
  for (const _ of feed.generate(start));
  calls.length = 0
  feed.advance(start + hourMs)
  feed.advance(start + 3 * hourMs)
  feed.advance(start + 3 * hourMs)
  // A clock that is set back publishes nothing.
  feed.advance(start)
  expect(calls).toEqual(['prices: 0 to 1', 'wells: 0 to 1', 'prices: 1 to 3', 'wells: 1 to 3'])
  // The feed of changes has the rows of all of them.
  expect(notes).toEqual(['history', 'newest', 'newest'])
})

test('nothing is published before there is a history', () => {
  const { feed, calls } = openFeed()
  feed.advance(start)
  expect(calls).toEqual([])
})

test('a feed that is opened again continues where data was last published', () => {
  const { feed, state, published } = openFeed()
  for (const _ of feed.generate(start));
  feed.advance(start + hourMs)
  const before = new Map(state)
  published.rows = 0
  feed.advance(start + 2 * hourMs)
  // A quiet time does not cost a transaction.
  expect(state).toEqual(before)
  const again = openFeed(state)
  again.feed.advance(start + 3 * hourMs)
  expect(again.calls).toEqual(['prices: 1 to 3', 'wells: 1 to 3'])
})

test('a publication that fails is repeated', () => {
  const { feed, calls, fail } = openFeed()
  for (const _ of feed.generate(start));
  calls.length = 0
  fail(true)
  expect(() => feed.advance(start + hourMs)).toThrow('the disk is full')
  fail(false)
  feed.advance(start + 2 * hourMs)
  expect(calls).toEqual(['prices: 0 to 2', 'wells: 0 to 2'])
})

test('a paused feed publishes nothing, also when it is opened again, and then catches up', () => {
  const { feed, state } = openFeed()
  for (const _ of feed.generate(start));
  feed.paused = true
  const { feed: again, calls } = openFeed(state)
  expect(again.paused).toBe(true)
  again.advance(start + dayMs)
  expect(calls).toEqual([])
  again.paused = false
  again.advance(start + 2 * dayMs)
  expect(calls).toEqual(['prices: 0 to 48', 'wells: 0 to 48'])
})
