import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import type { Settings } from '../store/settings.ts'

const name = 'retention.seen_at'
const aheadName = 'retention.ahead'
const seenEveryMs = dayMs
/** How far ahead the clock may be, and how long it must have run otherwise. */
const steadyMs = 7 * dayMs

/**
 * Whether data may be deleted for its age. A clock that is far ahead of the last time that this was
 * so may be wrong, or the server was stopped for long: then the clock must have run for a while,
 * in which a wrong one is found. Restarts in this time do not extend it.
 */
export interface RetentionGuard {
  mayForget(): boolean
}

export function createRetentionGuard({
  settings,
  clock,
}: {
  settings: Settings
  clock: Pick<Clock, 'now'>
}): RetentionGuard {
  const stored = settings.get(name)
  let seenAt = stored === undefined ? undefined : Number(stored)
  /** When the clock was first and last seen that far ahead. */
  let ahead = settings.get(aheadName)?.split(' ').map(Number)
  const aheadSince = (now: number): number => {
    const [since = now, lastAt = now] = ahead ?? []
    const first = Math.abs(now - lastAt) > steadyMs ? now : since
    if (!ahead || Math.abs(now - lastAt) >= seenEveryMs) {
      ahead = [first, now]
      settings.set(aheadName, ahead.join(' '))
    }
    return first
  }
  return {
    mayForget(): boolean {
      const now = clock.now()
      if (seenAt !== undefined && now - seenAt > steadyMs && now - aheadSince(now) < steadyMs)
        return false
      if (ahead) settings.remove(aheadName)
      ahead = undefined
      if (seenAt === undefined || Math.abs(now - seenAt) >= seenEveryMs) {
        seenAt = now
        settings.set(name, String(now))
      }
      return true
    },
  }
}
