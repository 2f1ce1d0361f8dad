import { dayMs } from '../lib/time/instant.ts'

export interface Retention {
  /** Everything that is younger is kept. */
  keepAllMs: number
  /** Then the newest of each day (UTC), for so many days. */
  keepDays: number
  /** Then the newest of each week, for so many weeks. */
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

/** The times that are not kept. The newest always is. */
export function outlived(times: readonly number[], now: number, retention: Retention): number[] {
  const { keepAllMs, keepDays, keepWeeks } = retention
  const newestFirst = [...times].sort((a, b) => b - a)
  const slots = new Set<string>()
  return newestFirst.filter((at, place) => {
    const ageMs = now - at
    const [day, week] = [Math.floor(at / dayMs), Math.floor(at / weekMs)]
    const claims = [
      ...(ageMs < keepDays * dayMs ? [`day ${day}`] : []),
      ...(ageMs < keepWeeks * weekMs ? [`week ${week}`] : []),
    ]
    const isNew = claims.some(claim => !slots.has(claim))
    for (const claim of claims) slots.add(claim)
    return place > 0 && ageMs >= keepAllMs && !isNew
  })
}
