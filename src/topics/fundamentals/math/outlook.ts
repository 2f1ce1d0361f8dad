import { dayMs, isoDay, parseDay, weekdayOf } from '../../../lib/time/instant.ts'
import { addTradingDays } from '../../calendars/math/calendar.ts'

const tuesday = 2
const releaseTime = '12:00'
const zone = 'America/New_York'

/**
 * When the outlooks of a month (`YYYY-MM`) are published: noon in New York on its first Tuesday,
 * after a holiday on the next business day of the government.
 */
export function outlookPublishedAt(month: string): number {
  const first = parseDay(`${month}-01`)!
  const day = first + ((tuesday - weekdayOf(first) + 7) % 7) * dayMs
  const published = isoDay(addTradingDays('us_government', day, 0))
  return Temporal.ZonedDateTime.from(`${published}T${releaseTime}[${zone}]`).epochMilliseconds
}

export type OutlookKind = 'price' | 'production' | 'other'

/** The subject of a forecast of a code. */
export function outlookKind({
  code,
  currency,
}: {
  code: string
  currency: string | null
}): OutlookKind {
  if (currency !== null) return 'price'
  return code.endsWith('_PRODUCTION') ? 'production' : 'other'
}

/** The region of a production code: `US` of US_CRUDE_PRODUCTION. */
export const regionOf = (code: string): string => code.split('_')[0]!
