import { expect, test } from 'bun:test'
import { intervalJob } from '../../../src/instance/jobs/job.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'

test('an interval job works at first, then once in so long, and again where the clock went back', () => {
  const clock = createManualClock(1_000_000)
  let worked = 0
  const job = intervalJob('test', 60_000, clock, () => {
    worked += 1
  })
  const dueAt = (at: number) => {
    clock.set(at)
    const before = worked
    void job.pass()
    return worked > before
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
