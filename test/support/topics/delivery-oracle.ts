import { dayMs, hourMs, minuteMs } from '../../../src/lib/time/instant.ts'
import type {
  DeliveryMoment,
  DeliverySchedule,
} from '../../../src/plans/messages/delivery-schedule.ts'

// Schedules worked out again with nothing but a clock that can be read: `Intl`, which knows no way
// back from what a clock shows.

const clocks = new Map<string, Intl.DateTimeFormat>()

/** The local time of a zone, in milliseconds as if it were UTC. */
export function shown(at: number, zone: string): number {
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
  clocks.set(zone, clock)
  const parts = Object.fromEntries(
    clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
  )
  return (
    Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!) +
    (at % minuteMs)
  )
}

interface Piece {
  from: number
  to: number
  /** Local minus UTC. */
  offset: number
}

/**
 * Stretches of [from, to) between changes of the clock, found by reading it every `step` and
 * halving where it differs.
 */
export function pieces(zone: string, from: number, to: number, step: number): Piece[] {
  const offsetAt = (at: number) => shown(at, zone) - at
  const pieces: Piece[] = [{ from, to, offset: offsetAt(from) }]
  for (let at = from; at + step < to + step; at += step) {
    const [here, there] = [offsetAt(at), offsetAt(at + step)]
    if (here === there) continue
    let [low, high] = [at, at + step]
    while (high - low > minuteMs) {
      const middle = low + Math.floor((high - low) / 2 / minuteMs) * minuteMs
      if (offsetAt(middle) === here) low = middle
      else high = middle
    }
    pieces.at(-1)!.to = high
    pieces.push({ from: high, to, offset: there })
  }
  return pieces
}

/**
 * The first moment at which the clocks of a zone show a time of a day or a later one; undefined for
 * a day that they never show.
 */
export function momentOf(zone: string, day: number, minute: number): number | undefined {
  const target = day + minute * minuteMs
  const around = pieces(zone, target - 16 * hourMs, target + 16 * hourMs, hourMs / 2)
  if (!around.some(({ from, to, offset }) => from + offset < day + dayMs && to + offset > day))
    return undefined
  const firsts = around
    .map(({ from, to, offset }) => ({ at: Math.max(from, target - offset), to }))
    .filter(({ at, to }) => at < to)
  return Math.min(...firsts.map(first => first.at))
}

/** Every delivery of [from, to), in order. */
export function deliveriesWithin(
  schedule: DeliverySchedule,
  from: number,
  to: number,
): DeliveryMoment[] {
  const [hours, minutes] = schedule.deliveryTime.split(':').map(Number)
  const moments: DeliveryMoment[] = []
  for (let day = Math.floor(from / dayMs) * dayMs - 2 * dayMs; day < to + 2 * dayMs; day += dayMs) {
    const weekday = new Date(day).getUTCDay() || 7
    const fits =
      schedule.cadence === 'daily' ||
      (schedule.cadence === 'weekdays' ? weekday < 6 : weekday === schedule.weekday)
    const at = fits ? momentOf(schedule.timeZone, day, hours! * 60 + minutes!) : undefined
    if (at !== undefined && at >= from && at < to)
      moments.push({ at, day: new Date(day).toISOString().slice(0, 10) })
  }
  return moments
}
