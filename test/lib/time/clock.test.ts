import { describe, expect, test } from 'bun:test'
import { createRandomIds, createSeededIds } from '../../../src/lib/ids.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'

describe('createManualClock', () => {
  const base = { at: 0, now: () => 0, monotonic: () => base.at }

  test('a manual clock stands still until it is moved, and monotonic time moves with it', () => {
    const clock = createManualClock(1_000, base)
    base.at += 500
    expect(clock.now()).toBe(1_000)
    clock.advance(61_000)
    expect({ now: clock.now(), monotonic: clock.monotonic() }).toEqual({
      now: 62_000,
      monotonic: 61_000,
    })
  })
  test('set back, wall time goes back and monotonic time does not', () => {
    const clock = createManualClock(10_000, base)
    clock.set(4_000)
    expect({ now: clock.now(), monotonic: clock.monotonic() }).toEqual({ now: 4_000, monotonic: 0 })
  })
  test('a released manual clock runs on from its current time, and a frozen one stops', () => {
    const clock = createManualClock(1_000, base)
    base.at += 100
    clock.release()
    base.at += 30
    expect({ now: clock.now(), frozen: clock.frozen }).toEqual({ now: 1_030, frozen: false })
    clock.freeze()
    base.at += 50
    expect({ now: clock.now(), frozen: clock.frozen }).toEqual({ now: 1_030, frozen: true })
  })
})

test('ids of one seed repeat, those of another do not, and all have their form', () => {
  const [a, b, c] = [createSeededIds(1), createSeededIds(1), createSeededIds(2)]
  const first = a.uuid()
  expect(b.uuid()).toBe(first)
  expect(c.uuid()).not.toBe(first)
  for (const ids of [a, createRandomIds()]) {
    expect(ids.uuid()).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    expect(ids.token()).toMatch(/^[0-9a-f]{64}$/)
    expect(ids.token()).not.toBe(ids.token())
  }
})
