import { dayMs, minuteMs, parseDay } from '../../../lib/time/instant.ts'
import { sessionOf } from '../../calendars/math/calendar.ts'
import type { Path } from '../../prices/demo/path.ts'
import type { World } from '../../prices/demo/world.ts'
import { dayNumber } from '../../prices/math/window.ts'
import type { Family } from '../math/families.ts'

/** Prices of a session are on a grid of this. */
export const stepMs = 5 * minuteMs
const pathsKept = 20

/** Each number at its day of the year. */
interface Year {
  /** Not a number on days without a close. */
  closes: Float64Array
  slopes: Float64Array
  firstDay: number
}

/** `sway` walks the slope, and moves it so far. */
export function createFront(
  world: World,
  family: Family,
  sway: Pick<Path, 'addTo'>,
  swayScale: number,
) {
  const years = new Map<string, Year>()
  const paths = new Map<string, Float64Array>()
  let changes = world.changes?.()
  const forgetChanged = () => {
    if (world.changes?.() === changes) return
    changes = world.changes?.()
    years.clear()
    paths.clear()
  }

  /**
   * Closes and slopes are made a year at a time: one by one their paths would be walked again for
   * each.
   */
  const yearOf = (day: string): Year => {
    forgetChanged()
    const name = day.slice(0, 4)
    const cached = years.get(name)
    if (cached) return cached
    const from = Date.UTC(Number(name), 0, 1)
    const to = Date.UTC(Number(name) + 1, 0, 1)
    const closesOnly = {
      from,
      hourlyFrom: Number.POSITIVE_INFINITY,
      rawFrom: Number.POSITIVE_INFINITY,
    }
    const observed = world.observations(family.code, from, to + dayMs, closesOnly)
    const firstDay = from / dayMs
    const slopes = new Float64Array(to / dayMs - firstDay)
    sway.addTo(slopes, firstDay, swayScale, true)
    const closes = new Float64Array(slopes.length).fill(Number.NaN)
    for (const { observedAt, value } of observed)
      closes[Math.floor(observedAt / dayMs) - firstDay] = value
    const year = { closes, slopes, firstDay }
    years.set(name, year)
    return year
  }

  const close = (day: string): number => {
    const { closes, firstDay } = yearOf(day)
    return closes[dayNumber(day) - firstDay]!
  }

  return {
    /** At the close of a trading date. */
    close,
    /** How far the slope of the curve is off its mean on a day. */
    slope(day: string) {
      const { slopes, firstDay } = yearOf(day)
      return slopes[dayNumber(day) - firstDay]!
    },
    /**
     * The prices during the session of a day: the close of `before`, the trading date before it,
     * then every five minutes of the generated session up to the close.
     */
    path(day: string, before: string) {
      forgetChanged()
      const cached = paths.get(day)
      if (cached) return cached
      const session = sessionOf(family.market, parseDay(day)!)!
      const steps = (session.closesAt - session.opensAt) / stepMs
      const path = new Float64Array(steps + 1)
      path[0] = close(before)
      // Published with a lag: a few minutes more bring the close.
      for (const { observedAt, value } of world.observations(
        family.code,
        session.opensAt,
        session.closesAt + stepMs,
      )) {
        if (observedAt > session.opensAt && observedAt <= session.closesAt)
          path[(observedAt - session.opensAt) / stepMs] = value
      }
      if (paths.size > pathsKept) paths.clear()
      paths.set(day, path)
      return path
    },
  }
}
