import { describe, expect, test } from 'bun:test'
import type { Clock } from '../../../src/lib/time/clock.ts'
import { createJumpWatch } from '../../../src/lib/time/clock-jumps.ts'

const dayMs = 86_400_000

/** A clock whose wall and monotonic time a test sets. */
function hands() {
  let [wall, mono] = [Date.parse('2026-11-20T15:00:00Z'), 0]
  const clock: Clock = { now: () => wall, monotonic: () => mono }
  return {
    clock,
    pass(ms: number) {
      wall += ms
      mono += ms
    },
    jump(ms: number) {
      wall += ms
    },
  }
}

describe('createJumpWatch', () => {
  test('takes neither time that passes nor small corrections for a jump', () => {
    const { clock, pass, jump } = hands()
    const watch = createJumpWatch(clock)
    pass(3 * dayMs)
    expect(watch.check()).toBeUndefined()
    for (const ms of [4_999, -4_999]) {
      jump(ms)
      expect(watch.check()).toBeUndefined()
    }
  })

  test.each([6_000, -6_000, 400 * dayMs, -400 * dayMs])(
    'a clock jump is reported with its size: %d ms',
    byMs => {
      const { clock, pass, jump } = hands()
      const watch = createJumpWatch(clock)
      pass(1_000)
      jump(byMs)
      expect(watch.check()).toEqual({ from: clock.now() - byMs, to: clock.now(), byMs })
      expect(watch.check()).toBeUndefined()
    },
  )

  test('settles a minute after the last large jump, and at once after a small one', () => {
    const { clock, pass, jump } = hands()
    const watch = createJumpWatch(clock)
    jump(60_000)
    watch.check()
    expect(watch.isSettling()).toBe(false)
    jump(400 * dayMs)
    watch.check()
    pass(5_000)
    jump(-400 * dayMs)
    watch.check()
    pass(59_999)
    expect(watch.isSettling()).toBe(true)
    pass(1)
    expect(watch.isSettling()).toBe(false)
  })
})
