import type { Log } from '../../lib/log/log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { JumpWatch } from '../../lib/time/clock-jumps.ts'
import { isoInstant, minuteMs, secondMs } from '../../lib/time/instant.ts'
import type { BroughtBack, DueTimes } from '../../topics/operator/store/due-times.ts'
import type { Job } from './job.ts'

export interface ClockJobDeps {
  clock: Clock
  jumps: JumpWatch
  dueTimes: DueTimes
  /** Services that recompute their due times. */
  deliveries: { bringBack(): number }
  /** Reloads waiting messages, because corrected ones are due. */
  outbox: { wakeAll(): void }
  log: Log
}

const everyMs = 10 * minuteMs

/**
 * Logs jumps of the clock, and corrects times that a wrong clock has set too far ahead: at the
 * start, after a jump, and every ten minutes, because a jump may have gone unnoticed.
 */
export function createClockJob(deps: ClockJobDeps): Job {
  const { clock, jumps, log } = deps
  let doneAt: number | undefined
  let isPending = true
  return {
    name: 'clock',
    pass() {
      const jump = jumps.check()
      if (jump) {
        isPending = true
        log.warn('clock_jumped', {
          message: jumps.isSettling()
            ? 'The clock of this machine jumped; scheduled work waits until it has been steady for a minute.'
            : 'The clock of this machine jumped.',
          by_seconds: Math.round(jump.byMs / secondMs),
          from: isoInstant(jump.from),
          to: isoInstant(jump.to),
        })
      }
      if (jumps.isSettling()) return
      const at = clock.monotonic()
      if (!isPending && doneAt !== undefined && at - doneAt < everyMs) return
      const brought = bringBack(deps)
      if (Object.keys(brought).length > 0)
        log.warn('due_times_corrected', {
          message: 'Work was scheduled further ahead than it can be, and is due now.',
          ...brought,
        })
      doneAt = at
      isPending = false
    },
  }
}

function bringBack({ clock, dueTimes, deliveries, outbox }: ClockJobDeps): BroughtBack {
  const brought = dueTimes.bringBack(clock.now())
  if (brought.messages || brought.held_messages) outbox.wakeAll()
  const count = deliveries.bringBack()
  return count > 0 ? { ...brought, scheduled_deliveries: count } : brought
}
