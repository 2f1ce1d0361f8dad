import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import type { Settings } from '../store/settings.ts'

const name = 'retention.seen_at'
const seenEveryMs = dayMs
/** How far ahead the clock may be, and how long it must have run otherwise. */
const steadyMs = 7 * dayMs

/**
 * Whether data may be deleted for its age. A clock that is far ahead of the last time that this was
 * so may be wrong, or the server was stopped for long: then the clock must have run for a while,
 * in which a wrong one is found.
 */
export type RetentionGuard = ReturnType<typeof createRetentionGuard>

export function createRetentionGuard({
  settings,
  clock,
}: {
  settings: Settings
  clock: Pick<Clock, 'now' | 'monotonic'>
}) {
  const stored = settings.get(name)
  let seenAt = stored === undefined ? undefined : Number(stored)
  let aheadSince: number | undefined
  return {
    mayForget(): boolean {
      const now = clock.now()
      if (seenAt !== undefined && now - seenAt > steadyMs) {
        aheadSince ??= clock.monotonic()
        if (clock.monotonic() - aheadSince < steadyMs) return false
      }
      aheadSince = undefined
      if (seenAt === undefined || Math.abs(now - seenAt) >= seenEveryMs) {
        seenAt = now
        settings.set(name, String(now))
      }
      return true
    },
  }
}
