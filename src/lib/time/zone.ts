/**
 * The name of an IANA time zone in its own spelling; undefined for offsets such as +05:30 and
 * abbreviations such as EST, which have no clock changes.
 */
export function zoneName(text: string): string | undefined {
  const name = text.trim()
  if (!name.includes('/') && !/^(utc|gmt)$/i.test(name)) return undefined
  try {
    return zoned(0, name).timeZoneId
  } catch {
    return undefined
  }
}

export interface WallTime {
  /** `YYYY-MM-DD`. */
  day: string
  /**
   * Minutes since 00:00 on the clock, 0 to 1439: hours that a change of the clock skips or repeats
   * do not shift it.
   */
  minute: number
}

/** The local time of a zone at a moment. */
export function wallTime(at: number, zone: string): WallTime {
  const local = zoned(at, zone)
  return { day: local.toPlainDate().toString(), minute: local.hour * 60 + local.minute }
}

/**
 * The moment at which the zone's day of `at` began; at 01:00 on the clock where midnight is
 * skipped.
 */
export const startOfLocalDay = (at: number, zone: string): number =>
  zoned(at, zone).startOfDay().epochMilliseconds

/**
 * The moment at which the local time of a zone is a minute of a day; where a change of the clock
 * skips it, the moment after the gap.
 */
export const momentAt = (day: string, minute: number, zone: string): number =>
  Temporal.PlainDate.from(day).toZonedDateTime({
    timeZone: zone,
    plainTime: { hour: Math.floor(minute / 60), minute: minute % 60 },
  }).epochMilliseconds

/**
 * When the clocks of a zone change next after a moment; undefined where they never do, and for an
 * unknown zone.
 */
export function nextClockChange(after: number, zone: string): number | undefined {
  if (zoneName(zone) === undefined) return undefined
  return zoned(after, zone).getTimeZoneTransition('next')?.epochMilliseconds
}

const zoned = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)

/** Minutes since midnight of `HH:MM`; undefined for anything else. */
export function minuteOf(text: string): number | undefined {
  const m = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text)
  return m ? Number(m[1]) * 60 + Number(m[2]) : undefined
}
