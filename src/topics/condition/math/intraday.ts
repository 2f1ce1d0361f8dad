import { median } from 'simple-statistics'
import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import {
  calendarOf,
  isTradingDay,
  previousTradingDay,
  type Session,
  sessionOf,
} from '../../calendars/math/calendar.ts'
import { type Listing, scheduleOf } from '../../calendars/math/schedule.ts'
import { lengthOf, newestResolution } from '../../delivery/math/terms.ts'

/** Missing values inside the days of a series that is quoted all day. */
export interface IntradayGaps {
  /** The number of values that its cadence has in the judged hours. */
  expected: number
  missing: number
  /** Stretches without a value, oldest first, Unix ms. */
  stretches: readonly { from: number; to: number; missing: number }[]
}

/** Sessions that began longer ago are not checked. */
const windowMs = 4 * dayMs
/** A session with fewer values is one of daily values, or is missing as a whole. */
const valuesMin = 3
/** A value may be late by so many steps; from then on its stretch is a gap. */
const patienceSteps = 3

/** Hourly power is missing nothing between two hours, however often its prices are announced. */
const stepOf = (listing: Listing): number =>
  listing.delivery ? lengthOf(newestResolution(listing.delivery)) : scheduleOf(listing).stepMs

/** The sessions that a series is checked in, oldest first; none where it is not quoted all day. */
export function intradaySessions(listing: Listing, now: number): Session[] {
  if (scheduleOf(listing).stepMs === 0) return []
  const market = calendarOf(listing)
  const sessions: Session[] = []
  let day = startOfDay(now) + dayMs
  for (; day >= now - windowMs - dayMs; day = previousTradingDay(market, day)) {
    // A market without its own session is open all day.
    const session = isTradingDay(market, day)
      ? (sessionOf(market, day) ?? { opensAt: day, closesAt: day + dayMs - 1 })
      : undefined
    if (session && session.opensAt < now && session.opensAt >= now - windowMs)
      sessions.unshift(session)
  }
  return sessions
}

/**
 * Values missing from the cadence of a series in its newest sessions, given the times of its
 * values, oldest first. Each session is judged in the hours in which the series usually has values,
 * so that one that is quoted in the morning lacks nothing in the evening. `isLeftOut` names days in
 * quarantine by their midnights.
 */
export function intradayGaps(
  listing: Listing,
  times: readonly number[],
  now: number,
  isLeftOut: (dayAt: number) => boolean = () => false,
): IntradayGaps {
  const stepMs = stepOf(listing)
  const sessions = intradaySessions(listing, now)
    .filter(({ closesAt }) => !isLeftOut(startOfDay(closesAt)))
    .map(session => ({
      ...session,
      times: times.filter(at => at >= session.opensAt && at <= session.closesAt),
    }))
  const whole = sessions.filter(
    ({ closesAt, times }) => closesAt < now && times.length >= valuesMin,
  )
  const firstMs = whole.map(({ opensAt, times }) => times[0]! - opensAt)
  const lastMs = whole.map(({ opensAt, times }) => times.at(-1)! - opensAt)
  const gaps = { expected: 0, missing: 0, stretches: [] as IntradayGaps['stretches'][number][] }
  for (const { opensAt, closesAt, times } of sessions) {
    const isOn = closesAt >= now
    if (times.length < valuesMin && !(isOn && whole.length > 0)) continue
    const usualFrom = whole.length > 0 ? opensAt + median(firstMs) : times[0]!
    const usualTo = whole.length > 0 ? opensAt + median(lastMs) : times.at(-1)!
    const from = Math.min(usualFrom, times[0] ?? now)
    const to = Math.max(isOn ? Math.min(usualTo, now) : usualTo, times.at(-1) ?? from)
    if (to <= from) continue
    const expected = Math.floor((to - from) / stepMs) + 1
    // A value that is due now may still arrive.
    const marks = [from - stepMs, ...times, to < now ? to + stepMs : to]
    let missing = 0
    for (let i = 1; i < marks.length; i += 1) {
      const [before, after] = [marks[i - 1]!, marks[i]!]
      if (after - before <= patienceSteps * stepMs) continue
      const count = Math.round((after - before) / stepMs) - 1
      gaps.stretches.push({ from: before, to: after, missing: count })
      missing += count
    }
    gaps.expected += expected
    gaps.missing += Math.min(missing, expected)
  }
  return gaps
}
