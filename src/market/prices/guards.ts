import { dayMs, hourMs, isoDay } from '../../lib/time/instant.ts'
import type { Cadence } from '../catalogue/catalogue.ts'
import { type NamedFactor, unitOf } from '../units/mistaken.ts'
import { knownMoveOf } from './known-moves.ts'

/** What makes a value doubtful by how its series moves. */
export const valueRules = ['jump', 'unit', 'zero', 'sign', 'repeat', 'future', 'same_day'] as const
/** And by when it comes: `stop` is about a series that no value comes of any more. */
export const guardRules = [...valueRules, 'stop'] as const
export type GuardRule = (typeof guardRules)[number]

/** hold: the value waits for a decision. flag: it is taken, and listed. */
export const guardActions = ['hold', 'flag', 'off'] as const
export type GuardAction = (typeof guardActions)[number]

export type GuardTerms = Partial<Record<GuardRule, GuardAction>>

const usual: Readonly<Record<GuardRule, GuardAction>> = {
  jump: 'hold',
  unit: 'hold',
  zero: 'hold',
  sign: 'hold',
  // Honest runs exist: list prices, fixings over holidays, pegged currencies.
  repeat: 'flag',
  // Day-ahead prices are of tomorrow.
  future: 'flag',
  same_day: 'flag',
  // It is told; what comes again is taken.
  stop: 'flag',
}

export const guardAction = (rule: GuardRule, terms: GuardTerms | undefined): GuardAction =>
  terms?.[rule] ?? usual[rule]

/** What the guards need to know of a series. */
export interface GuardedSeries {
  category: string
  cadence: Cadence
  /** Annual, as a fraction; 0 where nobody knows. */
  volatility: number
  guards?: GuardTerms
  /** The part that it must move by to be a jump, where its category does not say. */
  percent?: number
  /** Moves smaller than this are none: counts of a few things double from one to two. */
  leastMove?: number
  /** What one of its currency is in others, above 1; asked only of a value that is doubted. */
  rates?: () => readonly NamedFactor[]
}

export interface Doubt {
  rule: GuardRule
  action: 'hold' | 'flag'
  /** A sentence that says what is odd. */
  reason: string
}

/** A value must move by so many robust deviations, and by so many percent, to be a jump. */
const deviations = 12
const percents: Readonly<Record<string, number>> = {
  fx: 0.12,
  metals: 0.25,
  crude_oil: 0.3,
  refined_products: 0.35,
  retail_fuels: 0.3,
  futures: 0.35,
  natural_gas: 0.6,
  power: 3,
  storage: 0.5,
  freight: 0.6,
}
const usualPercent = 0.5
/** A move of this part of a jump is taken, and listed. */
const listedShare = 0.65
const rarerFactor: Readonly<Record<Cadence, number>> = {
  intraday_2_5m: 1,
  intraday_5m: 1,
  twice_daily: 1,
  daily: 1,
  weekly: 1.4,
  monthly: 2,
}
/** Fewer changes than these say nothing of how a series moves. */
const changesMin = 20
const keptChanges = 256
/** How often the spread is measured anew, in changes. */
const measureEvery = 512
/** A run is told of when it is so much longer than any before it. */
const runMin = 8
const runFactor = 3
/** So many held values in a row that agree are a new level, and what follows them is taken. */
const levelValues = 2
/** … unless the level is another unit. */
const sureFactor = 6

const zeroShare = 1e-6

const none: Doubt[] = []

/** A series as the guards follow it: what came last, and how it moves. */
export interface GuardState {
  /** The doubts of a value; none: it is ordinary. The state is as before until `take`. */
  judge(observedAt: number, value: number, before: Previous | undefined, now: number): Doubt[]
  /** A value is recorded. */
  take(observedAt: number, value: number): void
  /** A value is held: after some in a row that agree the level is believed. */
  hold(value: number): void
  readonly last: Previous | undefined
}

export interface Previous {
  observedAt: number
  value: number
}

/** Follows a series from its last values on, oldest first. */
export function followSeries(series: GuardedSeries, known: readonly Previous[]): GuardState {
  let last: Previous | undefined
  let taken = 0
  const changes = new Float64Array(keptChanges)
  const kept = () => Math.min(taken, keptChanges)
  let spread = 0
  let measuredAt = -1
  let stepMs = 0
  let run = 1
  let longestRun = 1
  let hasZero = false
  let hasNegative = false
  let hasPositive = false
  let heldRun = 0
  let heldValue = 0
  const percent =
    series.percent ?? (percents[series.category] ?? usualPercent) * rarerFactor[series.cadence]
  const { leastMove = 0 } = series
  const isOfDays = series.cadence !== 'intraday_2_5m' && series.cadence !== 'intraday_5m'
  /** Nearer to the one before it a value may be a second one of its day. */
  const ownDayMs = isOfDays ? dayMs / 2 : Number.NEGATIVE_INFINITY
  const usualSpread = 0.67 * (series.volatility / Math.sqrt(252)) * rarerFactor[series.cadence] ** 2
  const actions = Object.fromEntries(
    valueRules.map(rule => [rule, guardAction(rule, series.guards)]),
  ) as Record<(typeof valueRules)[number], GuardAction>

  const measure = () => {
    measuredAt = taken
    // Numbers of an array of their own are sorted several times as fast.
    const sizes = changes.slice(0, kept()).sort()
    spread = 1.4826 * (sizes[sizes.length >> 1] ?? 0)
  }
  const take = (observedAt: number, value: number) => {
    heldRun = 0
    if (last && observedAt > last.observedAt) {
      if (last.value !== 0) {
        changes[taken % keptChanges] = sizeOf(last.value, value)
        taken += 1
        if (taken - measuredAt >= measureEvery || (taken < measureEvery && taken % 64 === 20))
          measure()
      }
      stepMs =
        stepMs === 0
          ? observedAt - last.observedAt
          : 0.9 * stepMs + 0.1 * (observedAt - last.observedAt)
      // A run counts when it has ended: while it lasts it is judged by those before it.
      if (value !== last.value && run > longestRun) longestRun = run
      run = value === last.value ? run + 1 : 1
    }
    if (value === 0) hasZero = true
    else if (value < 0) hasNegative = true
    else hasPositive = true
    if (!last || observedAt >= last.observedAt) last = { observedAt, value }
  }
  for (const { observedAt, value } of known) take(observedAt, value)
  if (kept() >= changesMin) measure()

  const isNear = (value: number, level: number) =>
    Math.abs(value - level) <= percent * Math.abs(level)
  const add = (doubts: Doubt[], rule: (typeof valueRules)[number], reason: string) => {
    const action = actions[rule]
    if (action !== 'off') doubts.push({ rule, action, reason })
  }

  const doubtsOf: GuardState['judge'] = (observedAt, value, before, now) => {
    const doubts: Doubt[] = []
    if (observedAt > now + hourMs) add(doubts, 'future', 'its time has not come')
    if (!before) return doubts
    if (value === before.value) {
      const least = Math.max(runMin, runFactor * longestRun + 1)
      // Said once, where it is only listed.
      if (actions.repeat === 'hold' ? run + 1 >= least : run + 1 === least)
        add(doubts, 'repeat', `the same value ${run + 1} times`)
      return doubts
    }
    if (isOfDays && observedAt - before.observedAt < dayMs / 2 && stepMs > 0.8 * dayMs) {
      if (Math.floor(observedAt / dayMs) === Math.floor(before.observedAt / dayMs))
        add(doubts, 'same_day', `a second value of the day, after ${before.value}`)
    }
    if (Math.abs(value - before.value) < leastMove) return doubts
    const change = (value - before.value) / Math.abs(before.value || 1)
    const size = sizeOf(before.value, value)
    if (size <= listedShare * percent && value !== 0 && value > 0 === before.value > 0)
      return doubts
    const isAbsent = Math.abs(value) <= zeroShare * Math.abs(before.value)
    if (isAbsent && !hasZero) {
      add(doubts, 'zero', `0 where every value before it was not`)
      return doubts
    }
    if ((value < 0 && !hasNegative && hasPositive) || (value > 0 && !hasPositive && hasNegative)) {
      add(doubts, 'sign', `${value} where every value before it had the other sign`)
      return doubts
    }
    const isLearnt = kept() >= changesMin
    const own = isLearnt ? Math.max(spread, usualSpread / 4) : Math.max(usualSpread, 0.01)
    const gaps = stepMs > 0 ? (observedAt - before.observedAt) / stepMs : 1
    const scale = Math.min(4, Math.sqrt(Math.max(1, gaps)))
    const share = Math.min(size / (percent * Math.sqrt(scale)), size / (deviations * own * scale))
    if (share <= listedShare) return doubts
    const unit = unitOf(value / before.value, own, series.rates?.())
    const isSure = unit !== undefined && unit.factor >= sureFactor
    if (heldRun >= levelValues && !isSure && isNear(value, heldValue)) return doubts
    const moved = `${change > 0 ? '+' : ''}${(100 * change).toFixed(1)} % after ${before.value}`
    if (share <= 1) {
      if (actions.jump !== 'off') doubts.push({ rule: 'jump', action: 'flag', reason: moved })
      return doubts
    }
    if (unit && actions.unit !== 'off') add(doubts, 'unit', `${moved}, as between ${unit.name}`)
    else add(doubts, 'jump', moved)
    return doubts
  }

  return {
    take,
    get last() {
      return last
    },
    hold(value) {
      const agrees = heldRun > 0 && isNear(value, heldValue)
      heldRun = agrees ? heldRun + 1 : 1
      heldValue = value
    },
    judge(observedAt, value, before, now) {
      // Nearly every value of a long file ends here.
      if (
        before &&
        value > 0 &&
        before.value > 0 &&
        value !== before.value &&
        observedAt <= now &&
        observedAt - before.observedAt >= ownDayMs &&
        sizeOf(before.value, value) <= listedShare * percent
      )
        return none
      const doubts = doubtsOf(observedAt, value, before, now)
      if (doubts.length === 0) return doubts
      const knownMove = knownMoveOf(series.category, isoDay(observedAt).slice(0, 7))
      if (!knownMove) return doubts
      return doubts.map(doubt =>
        doubt.action === 'hold'
          ? { rule: doubt.rule, action: 'flag', reason: `${doubt.reason} (${knownMove.reason})` }
          : doubt,
      )
    },
  }
}

/** How far two values lie apart, up as down: 1 is twice as much, or half. */
function sizeOf(before: number, after: number): number {
  if (before > 0 && after > 0) return after > before ? after / before - 1 : before / after - 1
  return Math.abs(after - before) / Math.abs(before || 1)
}
