import { hourMs, minuteMs } from './instant.ts'

/**
 * The clocks of a zone. A local time is written as the Unix ms that it would be in UTC, so that days
 * are added to it as numbers.
 */
export interface ZoneClock {
  /** The local time at a moment. */
  localAt(at: number): number
  /** The moments at which the clocks show a local time: one, none in a gap, two where it repeats. */
  momentsOf(local: number): number[]
  /** The first moment at which the clocks show a local time or a later one. */
  firstAt(local: number): number
}

/** The clocks keep one offset in `[from, until)`. */
interface Stretch {
  from: number
  until: number
  offset: number
}

/** More than any offset from UTC. */
const offsetMax = 24 * hourMs

/** A zone has its clock once: its stretches are looked up at the first use and then stay. */
const clocks = new Map<string, ZoneClock>()

/** The clocks of an IANA zone in its own spelling. */
export function zoneClock(zone: string): ZoneClock {
  const known = clocks.get(zone)
  if (known) return known
  const clock = createZoneClock(zone)
  clocks.set(zone, clock)
  return clock
}

function createZoneClock(zone: string): ZoneClock {
  const stretches: Stretch[] = []
  let last: Stretch = { from: 0, until: 0, offset: 0 }

  const stretchAt = (at: number): Stretch => {
    if (at >= last.from && at < last.until) return last
    last = stretches.find(({ from, until }) => at >= from && at < until) ?? lookUp(at)
    return last
  }
  const lookUp = (at: number): Stretch => {
    const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
    // A transition at the moment itself begins its stretch.
    const from = local.add({ milliseconds: 1 }).getTimeZoneTransition('previous')
    const until = local.getTimeZoneTransition('next')
    const stretch = {
      from: from?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
      until: until?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
      offset: Math.round(local.offsetNanoseconds / 1e6),
    }
    stretches.push(stretch)
    return stretch
  }
  /** Every stretch in which the clocks may show a local time, in the order of time. */
  const around = (local: number): Stretch[] => {
    const found = [stretchAt(local - offsetMax)]
    while (found.at(-1)!.until <= local + offsetMax) found.push(stretchAt(found.at(-1)!.until))
    return found
  }

  return {
    localAt: at => at + stretchAt(at).offset,
    momentsOf: local =>
      around(local)
        .map(({ from, until, offset }) => ({ from, until, at: local - offset }))
        .filter(({ from, until, at }) => at >= from && at < until)
        .map(({ at }) => at),
    firstAt(local) {
      const stretch = around(local).find(({ until, offset }) => until + offset > local)!
      return Math.max(stretch.from, local - stretch.offset)
    },
  }
}

const offsetText = (ms: number): string => {
  const minutes = Math.round(Math.abs(ms) / minuteMs)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** A moment as the clocks of a zone show it, with their offset: `2026-10-25T02:15:00+01:00`. */
export function zonedInstant(at: number, zone: string): string {
  const local = zoneClock(zone).localAt(at)
  return new Date(local).toISOString().replace(/(\.\d{3})?Z$/, '') + offsetText(local - at)
}
