import { dayMs, hourMs, minuteMs, secondMs } from '../../../lib/time/instant.ts'
import { previousTradingDay, sessionOf } from '../../calendars/math/calendar.ts'
import { weekdayOfDay } from '../../calendars/math/holidays.ts'
import { isObserved, releasedAt, type Schedule, scheduleOf } from '../../calendars/math/schedule.ts'
import { isIntraday } from '../../catalogue/math/catalogue.ts'
import type { Observation } from '../math/bars.ts'
import { type Depth, depthOf } from './history-depth.ts'
import { draw, keyOf, uniform } from './noise.ts'
import { createPath, epochDay, type Path } from './path.ts'
import { createRecipes, type Recipe, type Season } from './recipes.ts'
import type { WorldSeries } from './series.ts'

/**
 * A generated market: plausible values for every code, the same for one seed on every machine. A
 * value is a function of seed, code and instant alone, so it does not matter when, how often or for
 * which span values are generated.
 */
export interface World {
  /**
   * Everything of a code that is published in `[from, to)`, oldest first; thinned to `depth` if
   * given. Codes that are unknown or unavailable have nothing.
   */
  observations(code: string, from: number, to: number, depth?: Depth): Observation[]
  /**
   * The data of a code in an instance started at `now`: everything published before, as dense as
   * `depthOf` defines.
   */
  history(code: string, now: number): Observation[]
  /** Grows when earlier results are not valid any more; absent: they always are. */
  changes?(): number
}

/** When a code has a value. */
interface Times {
  series: WorldSeries
  schedule: Schedule
  key: number
}

/** And which: what moves it takes longer to set up, so it is where there is a value only. */
interface Plan extends Times {
  recipe: Recipe
  paths: readonly { path: Path; weight: number; smooth: boolean }[]
  parts: readonly Plan[]
}

/**
 * A point of time at which a code has a value: day (days since 1970-01-01) and place between the
 * close before (0) and its own (1).
 */
interface Slot {
  day: number
  step: number
  steps: number
  observedAt: number
  recordedAt: number
}

/**
 * Holidays can hold a publication back; nothing is published later than this after it was observed.
 */
const longestDelayDays = 7

/** A session is computed in full only when at least this share of its steps is needed. */
const sparseShare = 12
/** The close before a trading day is never further back. */
const longestClosureDays = 8
const everything: Depth = {
  from: Number.NEGATIVE_INFINITY,
  hourlyFrom: Number.NEGATIVE_INFINITY,
  rawFrom: Number.NEGATIVE_INFINITY,
}
const firstAt = (epochDay + 2 * 365) * dayMs

export interface WorldDeps {
  seed: number
  series: readonly WorldSeries[]
  /** The depth of histories; by default everything. */
  depth?: typeof depthOf
}

export function createWorld({ seed, series, depth: ofHistory = depthOf }: WorldDeps): World {
  const recipes = createRecipes(series)
  const byCode = new Map(
    series.filter(series => series.available).map(series => [series.code, series]),
  )
  const paths = new Map<string, Path>()
  const times = new Map<string, Times>()
  const plans = new Map<string, Plan>()

  function pathOf(name: string): Path {
    return paths.getOrInsertComputed(name, () =>
      createPath(seed, name, recipes.halfLifeOf(name), recipes.isShared(name)),
    )
  }

  function timesOf(code: string): Times | undefined {
    const cached = times.get(code)
    const series = byCode.get(code)
    if (cached || !series) return cached
    const codeTimes = { series, schedule: scheduleOf(series), key: keyOf(`${seed}/slots/${code}`) }
    times.set(code, codeTimes)
    return codeTimes
  }

  function planOf(codeTimes: Times): Plan {
    const { code } = codeTimes.series
    const cached = plans.get(code)
    if (cached) return cached
    const recipe = recipes.recipeOf(codeTimes.series)
    const plan: Plan = {
      ...codeTimes,
      recipe,
      paths: recipe.terms.map(({ path, weight, smooth }) => ({
        path: pathOf(path),
        weight,
        smooth,
      })),
      parts: (recipe.parts ?? []).map(part => planOf(timesOf(part)!)),
    }
    plans.set(code, plan)
    return plan
  }

  const observations = (
    code: string,
    from: number,
    to: number,
    depth: Depth = everything,
  ): Observation[] => {
    const codeTimes = timesOf(code)
    const since = Math.max(from, firstAt)
    if (!codeTimes || since >= to) return []
    const slots = isIntraday(codeTimes.series.cadence)
      ? sessionSlots(codeTimes, since, to, depth)
      : settingSlots(codeTimes, since, to, depth)
    return slots.length === 0 ? [] : valued(planOf(codeTimes), slots)
  }

  return {
    observations,
    history(code, now) {
      const series = byCode.get(code)
      if (!series) return []
      const depth = ofHistory(series, now)
      return observations(code, depth.from, now, depth)
    },
  }
}

/** The slots of a code that is observed at fixed times of its days. */
function settingSlots({ schedule, key }: Times, from: number, to: number, depth: Depth): Slot[] {
  const slots: Slot[] = []
  const steps = schedule.minutes.length
  for (let day = Math.floor(from / dayMs) - longestDelayDays; day * dayMs < to; day++) {
    if (!isObserved(schedule, day * dayMs)) continue
    for (let step = 1; step <= steps; step++) {
      const observedAt = day * dayMs + schedule.minutes[step - 1]! * minuteMs
      if (observedAt < depth.from || (step < steps && observedAt < depth.rawFrom)) continue
      const recordedAt =
        releasedAt(schedule, observedAt) + (draw(key, day * steps + step) % settingJitterMs)
      if (recordedAt >= from && recordedAt < to)
        slots.push({ day, step, steps, observedAt, recordedAt })
    }
  }
  return slots
}

const settingJitterMs = 10 * minuteMs
const leastLagMs = 2 * secondMs
const lagJitterMs = 90 * secondMs
const longestLagMs = leastLagMs + lagJitterMs
/** One grid for all cadences, so that a price of five minutes is one of those of two and a half. */
const gridMs = 150 * secondMs

/** The slots of a code that is quoted all through its sessions. */
function sessionSlots({ schedule, key }: Times, from: number, to: number, depth: Depth): Slot[] {
  const slots: Slot[] = []
  for (let day = Math.floor(from / dayMs) - 1; (day - 1) * dayMs < to; day++) {
    const session = sessionOf(schedule.market, day * dayMs)
    if (!session) continue
    const steps = (session.closesAt - session.opensAt) / gridMs
    const stride = session.closesAt < depth.hourlyFrom ? steps : schedule.stepMs / gridMs
    // Nothing that was observed before is published from `from` on.
    const firstStep = Math.ceil((from - longestLagMs - session.opensAt) / gridMs / stride) * stride
    for (let step = Math.max(stride, firstStep); step <= steps; step += stride) {
      const observedAt = session.opensAt + step * gridMs
      if (observedAt >= to) break
      if (observedAt < depth.from || !isKept(observedAt, step === steps, depth)) continue
      const recordedAt = observedAt + leastLagMs + (draw(key, observedAt / gridMs) % lagJitterMs)
      if (recordedAt >= from && recordedAt < to)
        slots.push({ day, step, steps, observedAt, recordedAt })
    }
  }
  return slots
}

function isKept(observedAt: number, isClose: boolean, { hourlyFrom, rawFrom }: Depth): boolean {
  if (isClose || observedAt >= rawFrom) return true
  return observedAt >= hourlyFrom && observedAt % hourMs === 0
}

function valued(plan: Plan, slots: readonly Slot[]): Observation[] {
  const firstDay = slots[0]!.day - longestClosureDays
  const days = slots.at(-1)!.day - firstDay + 1
  const closes = closesOf(plan, firstDay, days)
  const inside = plan.paths.filter(path => !path.smooth)
  const observations: Observation[] = []
  let bridged: { day: number; before: number; noiseAt: (step: number) => number } | undefined
  for (const [i, { day, step, steps, observedAt, recordedAt }] of slots.entries()) {
    let deviation = closes.deviations[day - firstDay]!
    if (step < steps) {
      if (bridged?.day !== day) {
        const dayBefore = previousTradingDay(plan.schedule.market, day * dayMs) / dayMs
        const isSparse = slots[i + Math.ceil(steps / sparseShare)]?.day !== day
        bridged = {
          day,
          before: closes.deviations[dayBefore - firstDay]!,
          noiseAt: isSparse ? noisePoints(inside, day, steps) : noiseOf(inside, day, steps),
        }
      }
      const { before } = bridged
      deviation = before + ((deviation - before) * step) / steps + bridged.noiseAt(step)
    }
    observations.push({ observedAt, value: closes.valueOf(day, deviation), recordedAt })
  }
  return observations
}

interface Closes {
  /** Log deviations from the level at the close of each day. */
  deviations: Float64Array
  valueOf(day: number, deviation: number): number
}

function closesOf(plan: Plan, firstDay: number, days: number): Closes {
  const { series, recipe, key } = plan
  const scale = 10 ** series.decimals
  const rounded = (value: number): number => Math.round(value * scale) / scale
  const deviations = new Float64Array(days)
  if (plan.parts.length > 0) {
    const parts = plan.parts.map(part => closesOf(part, firstDay, days))
    const sum = (day: number) =>
      parts.reduce((total, part) => total + part.valueOf(day, part.deviations[day - firstDay]!), 0)
    return { deviations, valueOf: day => rounded(sum(day)) }
  }
  for (const { path, weight, smooth } of plan.paths)
    path.addTo(deviations, firstDay, weight, smooth)
  if (recipe.heldOverWeekends)
    for (let i = 1; i < days; i++)
      if (weekdayOfDay(firstDay + i) > 5) deviations[i] = deviations[i - 1]!
  const level = (day: number): number =>
    series.level * (recipe.season ? seasonAt(recipe.season, day) : 1)
  switch (recipe.shape) {
    case 'log':
      return { deviations, valueOf: (day, deviation) => rounded(level(day) * Math.exp(deviation)) }
    case 'percent':
      return {
        deviations,
        valueOf: (day, deviation) =>
          rounded(100 * logistic(level(day) / 100, deviation * percentGain(series.level))),
      }
    case 'count':
      return {
        deviations,
        valueOf: (day, deviation) => poisson(level(day) * Math.exp(deviation), uniform(key, day)),
      }
  }
}

/** The noise of a price within a session, at all of its steps. */
function noiseOf(paths: Plan['paths'], day: number, steps: number) {
  const noise = new Float64Array(steps + 1)
  for (const { path, weight } of paths) {
    const bridge = path.bridge(day, steps)
    for (let i = 0; i <= steps; i++) noise[i] = noise[i]! + weight * bridge[i]!
  }
  return (step: number): number => noise[step]!
}

/** The same, one step at a time: for a session of which few steps are needed. */
const noisePoints = (paths: Plan['paths'], day: number, steps: number) => (step: number) =>
  paths.reduce((noise, { path, weight }) => noise + weight * path.bridgeAt(day, steps, step), 0)

/** Moves a share up or down without leaving (0, 1). */
function logistic(share: number, deviation: number): number {
  const odds = (share / (1 - share)) * Math.exp(deviation)
  return odds / (1 + odds)
}

/**
 * Makes a small deviation move a percentage as far as it moves a price of the same level; limited
 * where nearly everything is full.
 */
const percentGain = (level: number): number => Math.min(8, 1 / (1 - level / 100))

/** The smallest count whose cumulative probability exceeds `chance`. */
function poisson(mean: number, chance: number): number {
  let probability = Math.exp(-mean)
  let cumulative = probability
  let count = 0
  while (cumulative <= chance && count < 10 * mean + 20) {
    count += 1
    probability *= mean / count
    cumulative += probability
  }
  return count
}

const yearDays = 365.2425

/**
 * Half a cosine from the peak to the trough and another one back, as long as each of them takes.
 */
function seasonAt({ depth, peakDayOfYear, troughDayOfYear }: Season, day: number): number {
  const sincePeak = ((day % yearDays) - peakDayOfYear + 2 * yearDays) % yearDays
  const falling = (troughDayOfYear - peakDayOfYear + yearDays) % yearDays
  const phase =
    sincePeak < falling ? sincePeak / falling : 1 + (sincePeak - falling) / (yearDays - falling)
  return 1 - (depth * (1 - Math.cos(Math.PI * phase))) / 2
}
