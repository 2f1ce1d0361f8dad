import { dayMs } from '../../../lib/time/instant.ts'
import { draw, keyOf, normal } from './noise.ts'

/**
 * The first day of every path, as days since 1970-01-01. It never moves: a path is a function of
 * its seed and the day alone.
 */
export const epochDay = Date.UTC(1996, 0, 1) / dayMs

const tradingDays = 252
/** Less happens while most markets are closed. */
const weekendScale = 0.3
const smoothingDays = 21
const checkpointDays = 256

/** Day 0, 1970-01-01, was a Thursday. */
const isWeekend = (day: number): boolean => (day + 3) % 7 > 4

const atRest: PathState = { value: 0, smoothed: 0 }

/** A mean-reverting process around 0 whose daily changes have an annual volatility of 1. */
export type Path = ReturnType<typeof createPath>

/** Where a path is at a checkpoint. */
interface PathState {
  value: number
  smoothed: number
}

interface Span {
  firstDay: number
  smooth: boolean
  values: Float64Array
}

/**
 * Days are computed one after the other from the epoch. States are kept every 256 days, so that a
 * few days anywhere cost a few hundred steps and a path costs hundreds of bytes instead of one
 * number for every day. A path that many codes share is needed for the same span repeatedly:
 * `shared` caches the last one.
 */
export function createPath(seed: number, name: string, halfLifeDays: number, shared: boolean) {
  const key = keyOf(`${seed}/${name}`)
  const bridgeKey = keyOf(`${seed}/${name}/bridge`)
  const decay = 2 ** (-1 / halfLifeDays)
  const scale = 1 / Math.sqrt(tradingDays)
  const gain = 2 / (smoothingDays + 1)
  const states = new Map<number, PathState>([[0, atRest]])
  let last: Span | undefined

  const innovation = (day: number): number =>
    scale * normal(key, day) * (isWeekend(day) ? weekendScale : 1)

  function stateAt(index: number): PathState {
    let reached = index
    while (!states.get(reached)) reached -= 1
    let { value, smoothed } = states.get(reached)!
    for (; reached < index; states.set(reached, { value, smoothed })) {
      const start = epochDay + reached * checkpointDays
      for (let day = start; day < start + checkpointDays; day++) {
        value = decay * value + innovation(day)
        smoothed += gain * (value - smoothed)
      }
      reached += 1
    }
    return states.get(index)!
  }

  function compute(firstDay: number, days: number, smooth: boolean): Float64Array {
    const values = new Float64Array(days)
    const checkpoint = Math.max(0, Math.floor((firstDay - epochDay) / checkpointDays))
    let { value, smoothed: slow } = stateAt(checkpoint)
    for (let day = epochDay + checkpoint * checkpointDays; day < firstDay + days; day++) {
      value = decay * value + innovation(day)
      slow += gain * (value - slow)
      if (day >= firstDay) values[day - firstDay] = smooth ? slow : value
    }
    return values
  }

  function valuesOf(firstDay: number, days: number, smooth: boolean): Float64Array {
    if (last && last.firstDay === firstDay && last.smooth === smooth && last.values.length >= days)
      return last.values
    const values = compute(firstDay, days, smooth)
    if (shared) last = { firstDay, smooth, values }
    return values
  }

  return {
    name,
    /**
     * Adds `weight` times the value of each day, from `firstDay` on (days since 1970-01-01), to
     * `out`; optionally smoothed over three weeks.
     */
    addTo(out: Float64Array, firstDay: number, weight: number, smooth: boolean) {
      const values = valuesOf(firstDay, out.length, smooth)
      for (let i = 0; i < out.length; i++) out[i] = out[i]! + weight * values[i]!
    },
    /**
     * A Brownian bridge over the session of `day`: `steps` + 1 values, 0 at both ends, on the scale
     * of the day's change.
     */
    bridge: (day: number, steps: number) => bridge(draw(bridgeKey, day), scale, steps),
    /** One value of it, for a fiftieth of the work. */
    bridgeAt: (day: number, steps: number, step: number) =>
      bridgePoint(draw(bridgeKey, day), scale, steps, step),
  }
}

/**
 * Halves the session again and again; each midpoint is drawn given the ends of its half, so the
 * points are those of one Brownian path.
 */
function bridge(key: number, scale: number, steps: number): Float64Array {
  const points = new Float64Array(steps + 1)
  const midpoint = midpoints(key, scale, steps)
  const split = (from: number, to: number): void => {
    if (to - from < 2) return
    const middle = (from + to) >> 1
    points[middle] = midpoint(from, to, points[from]!, points[to]!)
    split(from, middle)
    split(middle, to)
  }
  split(0, steps)
  return points
}

/** The same at one step: of each two halves only the one that it is in. */
function bridgePoint(key: number, scale: number, steps: number, step: number): number {
  const midpoint = midpoints(key, scale, steps)
  let [from, to, start, end] = [0, steps, 0, 0]
  while (step > from && step < to) {
    const middle = (from + to) >> 1
    const value = midpoint(from, to, start, end)
    if (step < middle) {
      to = middle
      end = value
    } else {
      from = middle
      start = value
    }
  }
  return start
}

/** Draws the value half-way between two steps, given the values of both. */
function midpoints(key: number, scale: number, steps: number) {
  const unit = scale / Math.sqrt(steps)
  return (from: number, to: number, start: number, end: number): number => {
    const middle = (from + to) >> 1
    const share = (middle - from) / (to - from)
    const spread = unit * Math.sqrt(share * (to - middle))
    return start * (1 - share) + end * share + spread * normal(key, middle)
  }
}
