import { dayMs, hourMs, minuteMs } from '../../lib/time/instant.ts'
import { wallTime } from '../../lib/time/zone.ts'
import { type Holidays, weekdayOfDay } from '../../topics/calendars/math/holidays.ts'

/** When a publisher plans to publish, and until when it is polled often. */
export interface Release {
  at: number
  /** Until then it is tried every few minutes, after that hourly. */
  windowEndsAt: number
  /** Later than this the release counts as late, and the operator is notified. */
  expectedBy: number
}

/** A regular publication: its days and its time in a zone. */
export interface ReleaseRule {
  zone: string
  /** `HH:MM` on the clocks of the zone; a day may have another one. */
  time: string | ((day: number) => string)
  /** Whether it is published on a day, counted from 1970-01-01 in the zone. */
  isOn(day: number): boolean
  windowMs: number
  lateAfterMs: number
}

export type Calendar = readonly ReleaseRule[]

/** Longer than from any publication to the next. */
const horizonDays = 100

const dayText = (day: number): string =>
  Temporal.PlainDate.from('1970-01-01').add({ days: day }).toString()

/** The moment of a time of day in a zone; where the clocks skip it, the moment after. */
export const zonedAt = (day: number, time: string, zone: string): number =>
  Temporal.ZonedDateTime.from(`${dayText(day)}T${time}[${zone}]`).epochMilliseconds

const localDay = (at: number, zone: string): number =>
  Date.parse(`${wallTime(at, zone).day}T00:00:00Z`) / dayMs

function releaseOn(rule: ReleaseRule, day: number): Release {
  const at = zonedAt(day, typeof rule.time === 'string' ? rule.time : rule.time(day), rule.zone)
  return { at, windowEndsAt: at + rule.windowMs, expectedBy: at + rule.lateAfterMs }
}

/** The first publication after a moment. */
export function nextRelease(calendar: Calendar, after: number): Release | undefined {
  let next: Release | undefined
  for (const rule of calendar) {
    const today = localDay(after, rule.zone)
    for (let day = today; day <= today + horizonDays; day++) {
      if (!rule.isOn(day)) continue
      const release = releaseOn(rule, day)
      if (release.at <= after) continue
      if (!next || release.at < next.at) next = release
      break
    }
  }
  return next
}

/** The last publication at or before a moment. */
export function lastRelease(calendar: Calendar, at: number): Release | undefined {
  let last: Release | undefined
  for (const rule of calendar) {
    const today = localDay(at, rule.zone)
    for (let day = today; day >= today - horizonDays; day--) {
      if (!rule.isOn(day)) continue
      const release = releaseOn(rule, day)
      if (release.at > at) continue
      if (!last || release.at > last.at) last = release
      break
    }
  }
  return last
}

const inWindowMs = 5 * minuteMs

/**
 * Returns the time of the next poll after one at `triedAt` that failed or brought nothing new while
 * `release` was expected: every five minutes until the end of its window, then hourly, but not
 * after the next release.
 */
export function nextTry(calendar: Calendar, release: Release | undefined, triedAt: number): number {
  const next = nextRelease(calendar, triedAt)?.at ?? triedAt + dayMs
  if (!release) return next
  const pause = triedAt < release.windowEndsAt ? inWindowMs : hourMs
  return Math.min(next, triedAt + pause)
}

interface Timing {
  zone: string
  windowMs?: number
  lateAfterMs?: number
}

const cached = new Map<Holidays, Map<number, ReadonlySet<number>>>()

function isHoliday(holidays: Holidays, day: number): boolean {
  const year = new Date(day * dayMs).getUTCFullYear()
  const years = cached.getOrInsertComputed(holidays, () => new Map<number, ReadonlySet<number>>())
  // A New Year that is observed early belongs to the year after.
  if (!years.has(year)) years.set(year, new Set([...holidays(year), ...holidays(year + 1)]))
  return years.get(year)!.has(day)
}

/** Whether offices work on a day. */
const isWorkingDay = (holidays: Holidays, day: number): boolean =>
  weekdayOfDay(day) <= 5 && !isHoliday(holidays, day)

/** The day that is `count` working days after `day`; 0 moves a closed day to the next open one. */
function workingDaysLater(holidays: Holidays, day: number, count: number): number {
  let later = day
  while (!isWorkingDay(holidays, later)) later += 1
  for (let i = 0; i < count; i++) {
    do later += 1
    while (!isWorkingDay(holidays, later))
  }
  return later
}

const mondayOf = (day: number): number => day - (weekdayOfDay(day) - 1)

export const everyWorkingDay = (time: string, holidays: Holidays, timing: Timing): ReleaseRule => ({
  ...timed(timing, 2 * hourMs, 20 * hourMs),
  time,
  isOn: day => isWorkingDay(holidays, day),
})

/** Publishes every day of the year. */
export const everyDay = (time: string, timing: Timing): ReleaseRule => ({
  ...timed(timing, 2 * hourMs, 30 * hourMs),
  time,
  isOn: () => true,
})

/** Publishes on a weekday, or later by a day for each holiday since Monday. 1 = Monday. */
export const weeklyHeldBack = (
  weekday: number,
  time: string,
  holidays: Holidays,
  timing: Timing,
): ReleaseRule => ({
  ...timed(timing, 2 * hourMs, dayMs),
  time,
  isOn: day => {
    // Held back over a weekend it falls into the next week.
    return [mondayOf(day), mondayOf(day) - 7].some(
      monday => workingDaysLater(holidays, monday, weekday - 1) === day,
    )
  },
})

/** Publishes on a weekday, or on the working day before a holiday, then at `earlierTime` if it is given. */
export const weeklyBroughtForward = (
  weekday: number,
  time: string,
  holidays: Holidays,
  timing: Timing & { earlierTime?: string },
): ReleaseRule => {
  const usual = (day: number) => mondayOf(day) + weekday - 1
  const published = (day: number) => {
    let on = usual(day)
    while (!isWorkingDay(holidays, on)) on -= 1
    return on
  }
  return {
    ...timed(timing, 2 * hourMs, dayMs),
    time: day => (day === usual(day) ? time : (timing.earlierTime ?? time)),
    isOn: day => published(day) === day,
  }
}

/** Publishes on the `count`-th working day of each month, counted from 1. */
export const monthlyWorkingDay = (
  count: number,
  time: string,
  holidays: Holidays,
  timing: Timing,
): ReleaseRule => ({
  ...timed(timing, 6 * hourMs, 5 * dayMs),
  time,
  isOn: day => {
    const date = Temporal.PlainDate.from(dayText(day))
    const first = day - date.day + 1
    return workingDaysLater(holidays, first, count - 1) === day
  },
})

/** Publishes on a day of each month, or on the next working day. */
export const monthlyDay = (
  dayOfMonth: number,
  time: string,
  holidays: Holidays,
  timing: Timing,
): ReleaseRule => ({
  ...timed(timing, 6 * hourMs, 5 * dayMs),
  time,
  isOn: day => {
    const date = Temporal.PlainDate.from(dayText(day))
    return workingDaysLater(holidays, day - date.day + dayOfMonth, 0) === day
  },
})

const timed = ({ zone, windowMs, lateAfterMs }: Timing, window: number, lateAfter: number) => ({
  zone,
  windowMs: windowMs ?? window,
  lateAfterMs: lateAfterMs ?? lateAfter,
})
