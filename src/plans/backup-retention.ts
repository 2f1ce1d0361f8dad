import { dayMs } from '../lib/time/instant.ts'

export interface Retention {
  /** Everything that is younger is kept. */
  keepAllMs: number
  /** Then the newest of each day (UTC), for so many days that have one. */
  keepDays: number
  /** Then the newest of each week, for so many weeks that have one. */
  keepWeeks: number
}

const weekMs = 7 * dayMs
const stamp = /^wellhead-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db(\.sealed)?$/

/** `wellhead-20261122T201500Z.db`, or `.db.sealed`. */
export const backupName = (at: number, isSealed: boolean): string =>
  `wellhead-${new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')}.db${isSealed ? '.sealed' : ''}`

/** When a backup was made (Unix ms), by its name; undefined for any other file. */
export function backupTimeOf(name: string): number | undefined {
  const parts = stamp.exec(name)
  if (!parts) return undefined
  const [, y, mo, d, h, mi, s] = parts
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`)
}

/**
 * The times that are not kept. Days and weeks without a backup do not count, so a clock that was
 * ahead, or a server that was off, makes no other backup old; one from the future takes no place.
 * The newest always is kept.
 */
export function outlived(times: readonly number[], now: number, retention: Retention): number[] {
  const { keepAllMs, keepDays, keepWeeks } = retention
  const newestFirst = times.filter(at => at <= now).sort((a, b) => b - a)
  const newestOfEach = (spanMs: number, count: number) =>
    newestFirst
      .filter((at, i) => Math.floor(at / spanMs) !== Math.floor(newestFirst[i - 1]! / spanMs))
      .slice(0, count)
  const kept = new Set([
    ...newestFirst.slice(0, 1),
    ...newestOfEach(dayMs, keepDays),
    ...newestOfEach(weekMs, keepWeeks),
  ])
  return newestFirst.filter(at => now - at >= keepAllMs && !kept.has(at))
}
