import { isoDay } from '../../lib/time/instant.ts'

export const deliveryCadences = ['daily', 'weekdays', 'weekly'] as const
export type DeliveryCadence = (typeof deliveryCadences)[number]

/** When something is delivered, on the clocks of a place. */
export interface DeliverySchedule {
  cadence: DeliveryCadence
  /** 1 = Monday … 7 = Sunday; null unless weekly. */
  weekday: number | null
  /** `HH:MM`, 00:00 to 23:59. */
  deliveryTime: string
  /** An IANA name. */
  timeZone: string
}

/** A delivery: its moment (Unix ms) and the local day whose delivery it is. */
export interface DeliveryMoment {
  at: number
  /** `YYYY-MM-DD`. */
  day: string
}

/**
 * More days than lie between two deliveries of a week, of which a place may have left out one day.
 */
const daysMax = 20

/**
 * The first delivery after `after`, of a local day later than `afterDay`. A day further ahead than
 * any place can be is of a clock that was wrong, and counts for nothing.
 */
export function nextDelivery(
  schedule: DeliverySchedule,
  after: number,
  afterDay = '',
): DeliveryMoment {
  const today = localDay(after, schedule.timeZone)
  const start =
    afterDay >= today.toString() && afterDay <= today.add({ days: 2 }).toString()
      ? Temporal.PlainDate.from(afterDay).add({ days: 1 })
      : today
  return nearestDelivery(schedule, start, 1, at => at > after)
}

/** The newest delivery at or before `at`. */
export function lastDelivery(schedule: DeliverySchedule, at: number): DeliveryMoment {
  // Where the clock is set back over midnight it has shown tomorrow already.
  const start = localDay(at, schedule.timeZone).add({ days: 1 })
  return nearestDelivery(schedule, start, -1, moment => moment <= at)
}

function nearestDelivery(
  schedule: DeliverySchedule,
  start: Temporal.PlainDate,
  step: 1 | -1,
  fits: (at: number) => boolean,
): DeliveryMoment {
  const time = Temporal.PlainTime.from(schedule.deliveryTime)
  for (let n = 0; n < daysMax; n += 1) {
    const day = start.add({ days: n * step })
    const at = isDeliveryDay(schedule, day.dayOfWeek)
      ? momentOf(day, time, schedule.timeZone)
      : undefined
    if (at !== undefined && fits(at)) return { at, day: day.toString() }
  }
  throw new Error(
    `a delivery at ${schedule.deliveryTime} in ${schedule.timeZone} has no day within ${daysMax} days of ${start}`,
  )
}

/** UTC needs no time zone rules, which take milliseconds to load on first use. */
const isWithoutRules = (zone: string): boolean => zone === 'UTC'

const localDay = (at: number, zone: string): Temporal.PlainDate =>
  isWithoutRules(zone)
    ? Temporal.PlainDate.from(isoDay(at))
    : Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate()

const isDeliveryDay = ({ cadence, weekday }: DeliverySchedule, dayOfWeek: number): boolean =>
  cadence === 'daily' || (cadence === 'weekdays' ? dayOfWeek <= 5 : dayOfWeek === weekday)

/**
 * When the clocks of a zone first show a time or a later one of a day: the first of two when it is
 * repeated, the end of the gap when it is skipped, even if that is midnight. Undefined for a day
 * that the zone leaves out.
 */
function momentOf(
  day: Temporal.PlainDate,
  time: Temporal.PlainTime,
  zone: string,
): number | undefined {
  const local = day.toPlainDateTime(time)
  if (isWithoutRules(zone)) return Temporal.Instant.from(`${local}Z`).epochMilliseconds
  const first = local.toZonedDateTime(zone, { disambiguation: 'earlier' })
  if (first.toPlainDateTime().equals(local)) return first.epochMilliseconds
  const isLeftOut = !day.toZonedDateTime(zone).toPlainDate().equals(day)
  return isLeftOut ? undefined : first.getTimeZoneTransition('next')?.epochMilliseconds
}
