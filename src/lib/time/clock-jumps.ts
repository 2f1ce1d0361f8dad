import type { Clock } from './clock.ts'
import { hourMs, minuteMs, secondMs } from './instant.ts'

/** A step of wall time that monotonic time did not take; Unix ms. */
export interface Jump {
  from: number
  to: number
  /** Positive: forward. */
  byMs: number
}

export type JumpWatch = ReturnType<typeof createJumpWatch>

/** Corrections by NTP and pauses between two checks are smaller than this. */
const toleratedMs = 5 * secondMs
const largeMs = hourMs
const settlesWithinMs = minuteMs

export function createJumpWatch(clock: Clock) {
  let last = { wall: clock.now(), mono: clock.monotonic() }
  let settlesAt = Number.NEGATIVE_INFINITY
  return {
    /** Compares the clocks with the check before. */
    check(): Jump | undefined {
      const now = { wall: clock.now(), mono: clock.monotonic() }
      const expected = last.wall + now.mono - last.mono
      last = now
      const byMs = Math.round(now.wall - expected)
      if (Math.abs(byMs) <= toleratedMs) return undefined
      if (Math.abs(byMs) >= largeMs) settlesAt = now.mono + settlesWithinMs
      return { from: Math.round(expected), to: now.wall, byMs }
    },
    /**
     * True after a large jump, until the clock has run steadily for a while: a clock is often wrong
     * for seconds, and actions taken then can hardly be reverted.
     */
    isSettling: () => clock.monotonic() < settlesAt,
  }
}
