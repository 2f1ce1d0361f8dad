import { dayMs, minuteMs } from '../../../lib/time/instant.ts'
import { type Market, sessionOf } from '../../calendars/math/calendar.ts'

const minutesInDay = dayMs / minuteMs

/** A Wednesday without a holiday in any market, by which the hours of a session are read. */
const plainDay = Date.UTC(2026, 5, 10)

const clock = (minute: number): string => {
  const wrapped = ((minute % minutesInDay) + minutesInDay) % minutesInDay
  return `${String(Math.floor(wrapped / 60)).padStart(2, '0')}${String(wrapped % 60).padStart(2, '0')}`
}

/** Monday to Friday, as the protocol numbers the days of a week. */
const weekdays = '23456'

/**
 * The session of a market in the datafeed protocol's form, in UTC: `0100-2300:23456` on weekdays. An
 * opening on the evening before is written as it is: `2200-2200:23456`.
 */
export function sessionText(market: Market): string {
  if (market === 'every_day') return '24x7'
  const session = sessionOf(market, plainDay)
  if (!session) return `0000-0000:${weekdays}`
  const opens = (session.opensAt - plainDay) / minuteMs
  // A price at the close belongs to the session, and a session ends before the minute that it names.
  const closes = (session.closesAt - plainDay) / minuteMs + 1
  const isWholeDay = closes - opens >= minutesInDay
  return `${clock(opens)}-${clock(isWholeDay ? opens : closes)}:${weekdays}`
}
