import { expect, test } from 'bun:test'
import { createInterval } from '../../../src/instance/jobs/interval.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'

test('something is due at first, then once in so long, and again where the clock went back', () => {
  const clock = createManualClock(1_000_000)
  const isDue = createInterval(60_000, clock)
  const dueAt = (at: number) => {
    clock.set(at)
    return isDue()
  }
  expect([1_000_000, 1_059_999, 1_060_000, 1_060_001, 900_000, 900_001].map(dueAt)).toEqual([
    true,
    false,
    true,
    false,
    true,
    false,
  ])
})
