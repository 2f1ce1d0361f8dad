import { expect, test } from 'bun:test'
import { chanceOf, createRandomIds, createSeededIds } from '../../src/lib/ids.ts'

const at = Date.parse('2026-11-20T15:00:00Z')

test('event ids have 26 lower-case characters and sort by their moment', () => {
  for (const ids of [createRandomIds(), createSeededIds(1)]) {
    const events = [at - 86_400_000, at, at + 1, at + 1_000, at + 10 ** 10].map(ids.event)
    for (const id of events) expect(id).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(events.toSorted()).toEqual(events)
    expect(ids.event(at)).not.toBe(ids.event(at))
  }
})

test('ordered UUIDs are of version 7, carry their moment and differ', () => {
  for (const ids of [createRandomIds(), createSeededIds(1)]) {
    const id = ids.uuidAt(at)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(at)
    expect(ids.uuidAt(at)).not.toBe(id)
    expect(ids.uuidAt(at + 1) > id).toBe(true)
  }
})

test('a random chance is in [0, 1) and is evenly spread', () => {
  const drawn = Array.from({ length: 200 }, () => chanceOf(createRandomIds()))
  expect(drawn.every(number => number >= 0 && number < 1)).toBe(true)
  expect(new Set(drawn.map(number => Math.floor(number * 4)))).toEqual(new Set([0, 1, 2, 3]))
})
