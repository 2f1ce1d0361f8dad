import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { createSignInAttempts } from '../../../../src/topics/account/service/sign-in-attempts.ts'
import { runs } from '../../../support/full.ts'

const windowMs = 15 * 60_000

describe('createSignInAttempts', () => {
  test('are five, and the sixth waits until the first is fifteen minutes old', () => {
    const clock = createManualClock(0)
    const tries = createSignInAttempts(5, windowMs, clock.monotonic)
    for (let i = 0; i < 5; i += 1) {
      expect(tries.take('a').waitMs).toBeUndefined()
      clock.advance(60_000)
    }
    expect(tries.take('a').waitMs).toBe(windowMs - 5 * 60_000)
    expect(tries.take('b').waitMs).toBeUndefined()
    clock.advance(windowMs - 5 * 60_000)
    expect(tries.take('a').waitMs).toBeUndefined()
    expect(tries.take('a').waitMs).toBe(60_000)
  })

  test('are forgiven by a right one', () => {
    const tries = createSignInAttempts(5, windowMs, () => 0)
    for (let i = 0; i < 4; i += 1) tries.take('a')
    const right = tries.take('a')
    if (right.waitMs === undefined) right.forgive()
    for (let i = 0; i < 5; i += 1) expect(tries.take('a').waitMs).toBeUndefined()
    expect(tries.take('a').waitMs).toBe(windowMs)
  })

  test('never pass more than five in any fifteen minutes, whatever comes when', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10 * 60_000 }), { maxLength: 60 }), waits => {
        const clock = createManualClock(0)
        const tries = createSignInAttempts(5, windowMs, clock.monotonic)
        const passed: number[] = []
        for (const wait of waits) {
          clock.advance(wait)
          const at = clock.monotonic()
          const within = passed.filter(before => at - before < windowMs).length
          const taken = tries.take('a').waitMs === undefined
          expect(taken).toBe(within < 5)
          if (taken) passed.push(at)
        }
      }),
      { numRuns: runs(200) },
    )
  })
})
