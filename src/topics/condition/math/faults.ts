import { median } from 'simple-statistics'
import { unitOf } from '../../units/math/mistaken.ts'

/** The last value of a day of a series; `low` and `high` are those of the day. */
export interface DayClose {
  startsAt: number
  close: number
  low: number
  high: number
}

/** A stretch at the end of a series in which its value has not moved. */
export interface FrozenRun {
  value: number
  /** Days with a value. */
  days: number
  sinceAt: number
}

const frozenMin = 8
const frozenFactor = 3

/** The run of one value that a series ends with, and the longest run before it. Oldest first. */
function runsOf(days: readonly DayClose[]): { last: FrozenRun; longestBefore: number } | undefined {
  let last: FrozenRun | undefined
  let longestBefore = 0
  for (const { startsAt, close, low, high } of days) {
    const moves = low !== high
    if (last && !moves && last.value === close) {
      last.days += 1
      continue
    }
    if (last) longestBefore = Math.max(longestBefore, last.days)
    last = { value: close, days: moves ? 0 : 1, sinceAt: startsAt }
  }
  return last && { last, longestBefore }
}

/** Whether a series may be frozen, by its newest days alone; only then is its history read. */
export const mayBeFrozen = (days: readonly DayClose[]): boolean =>
  (runsOf(days.slice(-frozenMin - 1))?.last.days ?? 0) >= frozenMin

/**
 * The value at which a series has been frozen for too long: eight days with a value or more, and
 * more than three times as many as ever before. `days` is the whole of what is known of it, oldest
 * first.
 */
export function frozenRun(days: readonly DayClose[]): FrozenRun | undefined {
  const runs = runsOf(days)
  if (!runs) return undefined
  const { last, longestBefore } = runs
  return last.days >= Math.max(frozenMin, frozenFactor * longestBefore + 1) ? last : undefined
}

/** A day from which on the values of a series are in another unit. */
export interface UnitBreak {
  startsAt: number
  factor: number
  name: string
  /** Days on the shorter side of it. */
  days: number
}

/** Values on each side that a level is the median of. */
const levelDays = 5
/** A market may double; it does not become a fourth, or four times as much, and stay. */
const breakFactorMin = 3.5
const breakDeviations = 12

/**
 * The newest day at which the level of a series changes by the ratio of two units and stays there.
 * A single day does not count, nor is a move that the series makes anyway.
 */
export function unitBreakOf(days: readonly DayClose[]): UnitBreak | undefined {
  if (days.some(({ close }) => close <= 0)) return undefined
  let spread: number | undefined
  for (let i = days.length - 2; i >= 2; i -= 1) {
    const step = days[i]!.close / days[i - 1]!.close
    if (step < breakFactorMin && step > 1 / breakFactorMin) continue
    const before = median(days.slice(Math.max(0, i - levelDays), i).map(day => day.close))
    const after = median(days.slice(i, i + levelDays).map(day => day.close))
    spread ??=
      1.4826 * median(days.slice(1).map((day, n) => Math.abs(Math.log(day.close / days[n]!.close))))
    const unit = unitOf(after / before, spread)
    if (!unit || unit.factor < breakFactorMin) continue
    if (Math.log(unit.factor) < breakDeviations * spread) continue
    return { startsAt: days[i]!.startsAt, ...unit, days: Math.min(i, days.length - i) }
  }
  return undefined
}
