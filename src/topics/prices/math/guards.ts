import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import { type NamedFactor, unitOf } from '../../units/math/mistaken.ts'

/** Rules that flag a value by how its series moves. */
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
  // The gap is only listed: values that resume are accepted.
  stop: 'flag',
}

export const guardAction = (rule: GuardRule, terms: GuardTerms | undefined): GuardAction =>
  terms?.[rule] ?? usual[rule]

/**
 * The facts about a series that guards need. They measure the distance between its values
 * themselves.
 */
export interface GuardedSeries {
  /** Annual, as a fraction; 0 where it is not known. */
  volatility: number
  guards?: GuardTerms
  /** Smaller moves are never flagged: counts of a few things double from one to two. */
  leastMove?: number
  /** Factors between its currency and others, above 1; only called for a value that is flagged. */
  rates?: () => readonly NamedFactor[]
}

export interface Flag {
  rule: GuardRule
  action: 'hold' | 'flag'
  /** A sentence about the deviation. */
  reason: string
}

/**
 * How far a value may move from the one before it. Moves are logarithms of ratios, so that doubling
 * and halving are equally far.
 */
export interface MoveLimits {
  /** So many usual moves of a series with a value a day … */
  usualMoves: number
  /** … and fewer of one whose values lie further apart, by this power of the days between them. */
  spacingPower: number
  /** The usual move is at least this share of what the volatility in the catalogue lets expect. */
  leastUsual: number
  /** So many times the largest recent move: a storm widens the limit … */
  recentMoves: number
  /** … by half after this many values. */
  recentHalfLife: number
  /** Nothing narrows the limit below this move, and nothing widens it beyond the other. */
  least: number
  most: number
  /** A move beyond this share of the limit is listed, or held where it is the ratio of two units. */
  listedShare: number
}

/**
 * Fitted on the values before 2015 of all series of `../shared/data` and judged on those after
 * (`bun run guards`, and `bun run guards --fit` for the fit).
 */
export const fittedLimits: MoveLimits = {
  usualMoves: 25,
  spacingPower: 0.3,
  leastUsual: 0.75,
  recentMoves: 4,
  recentHalfLife: 20,
  least: 0.2,
  most: Math.log(8),
  listedShare: 0.65,
}

/** The assumed annual volatility where the catalogue has none. */
const defaultVolatility = 0.35
const yearMs = 365.25 * dayMs
/** The mean of the moves of a bell curve, in its standard deviations. */
const meanOfNormal = 0.8
/** The usual move is a mean over about this many values … */
const learntMoves = 64
/** … that begins as if it had seen this many of what the catalogue lets expect … */
const expectedMoves = 20
/** … and takes no single move for more than this many usual ones. */
const outlier = 5
/** Longer pauses than this many steps let a series move no further. */
const pauseMax = 16
/** Smaller ratios of units cannot be distinguished from market moves. */
const sureFactor = 3
/** A related series bears a move out when it went this share of it in the same direction. */
const confirmingShare = 2 / 3

/** A run is listed when it is so much longer than any before it. */
const runMin = 8
const runFactor = 3

const zeroShare = 1e-6
/**
 * A value with the wrong sign is recognised by its size: at most so many times that of the one
 * before it.
 */
const flippedMost = 1.5
/** A series that is zero or less more often moves by differences, and no longer by ratios. */
const crossingShare = 0.005

const none: Flag[] = []

/**
 * The state of the guards for a series: the latest values and their usual movement. Its size is
 * constant.
 */
export interface GuardState {
  /** The flags of a value; none: it is ordinary. The state is as before until `take`. */
  judge(observedAt: number, value: number, before: Previous | undefined, now: number): Flag[]
  /** A value is recorded. */
  take(observedAt: number, value: number): void
  /** A value is held: when the next one agrees with it, the level is believed. */
  hold(observedAt: number, value: number): void
  readonly last: Previous | undefined
}

export interface Previous {
  observedAt: number
  value: number
}

/** Follows a series from its last values on, oldest first. */
export function followSeries(
  { volatility, guards, leastMove = 0, rates }: GuardedSeries,
  known: readonly Previous[],
  limits: MoveLimits = fittedLimits,
): GuardState {
  let last: Previous | undefined
  let held: Previous | undefined
  let moves = 0
  let stepMs = 0
  let usualMove = 0
  let recentMove = 0
  /** The usual size of the values, and how often they are zero or less of late. */
  let level = 0
  let crossings = 0
  let run = 1
  let longestRun = 1
  let hasZero = false
  let hasNegative = false
  let hasPositive = false
  const recentDecay = 0.5 ** (1 / limits.recentHalfLife)
  const expectedOfYear =
    limits.leastUsual * meanOfNormal * ((volatility || defaultVolatility) / Math.sqrt(yearMs))
  const expectedMove = (ms: number) => expectedOfYear * Math.sqrt(ms)
  const actions = Object.fromEntries(
    valueRules.map(rule => [rule, guardAction(rule, guards)]),
  ) as Record<(typeof valueRules)[number], GuardAction>

  /** Without a meaningful ratio, differences are measured by the usual size of the values. */
  const moveTo = (before: number, after: number) =>
    before > 0 && after > 0 && crossings <= crossingShare
      ? Math.abs(Math.log(after / before))
      : Math.log1p(Math.abs(after - before) / (Math.max(level, Math.abs(before)) || 1))
  const learn = (move: number, ms: number) => {
    if (moves === 0) {
      stepMs = ms
      usualMove = expectedMove(ms)
    }
    moves += 1
    stepMs += 0.1 * (Math.min(ms, 4 * stepMs) - stepMs)
    const ofStep = ms > stepMs ? move / Math.sqrt(ms / stepMs) : move
    const most = outlier * Math.max(usualMove, expectedMove(stepMs))
    usualMove += (Math.min(ofStep, most) - usualMove) / Math.min(learntMoves, moves + expectedMoves)
    recentMove = Math.max(recentMove * recentDecay, move)
  }
  const take = (observedAt: number, value: number) => {
    held = undefined
    if (last && observedAt > last.observedAt) {
      learn(moveTo(last.value, value), observedAt - last.observedAt)
      // A run counts when it has ended: while it lasts it is judged by those before it.
      if (value !== last.value && run > longestRun) longestRun = run
      run = value === last.value ? run + 1 : 1
    }
    if (value === 0) hasZero = true
    else if (value < 0) hasNegative = true
    else hasPositive = true
    level += (Math.abs(value) - level) / Math.min(learntMoves, moves + 1)
    crossings += ((value <= 0 ? 1 : 0) - crossings) / learntMoves
    if (!last || observedAt >= last.observedAt) last = { observedAt, value }
  }
  for (const { observedAt, value } of known) take(observedAt, value)

  const limitAfter = (ms: number): number => {
    const step = stepMs || ms
    const pause = Math.min(pauseMax, Math.max(1, ms / step))
    const ofSeries =
      limits.usualMoves *
      (step / dayMs) ** -limits.spacingPower *
      Math.max(usualMove, expectedMove(step)) *
      Math.sqrt(pause)
    const widest = Math.max(limits.least, ofSeries, limits.recentMoves * recentMove)
    return Math.min(limits.most, widest)
  }
  const ordinary = limits.listedShare * limits.least
  const [ordinaryFall, ordinaryRise] = [Math.exp(-ordinary), Math.exp(ordinary)]
  const isOrdinary = (ratio: number) => ratio >= ordinaryFall && ratio <= ordinaryRise
  /** Series of a value a day or fewer; nearer to the one before it a value may be of the same day. */
  const isOfDays = () => stepMs > 0.8 * dayMs

  const add = (flags: Flag[], rule: (typeof valueRules)[number], reason: string) => {
    const action = actions[rule]
    if (action !== 'off') flags.push({ rule, action, reason })
  }
  const list = (flags: Flag[], reason: string) => {
    if (actions.jump !== 'off') flags.push({ rule: 'jump', action: 'flag', reason })
  }

  const addMove = (flags: Flag[], at: number, value: number, before: Previous) => {
    const size = moveTo(before.value, value)
    const limit = limitAfter(at - before.observedAt)
    if (size <= limits.listedShare * limit) return
    const change = (value - before.value) / Math.abs(before.value || 1)
    const moved = `${change > 0 ? '+' : ''}${(100 * change).toFixed(1)}% after ${before.value}`
    const unit = unitOf(value / before.value, usualMove, rates?.())
    const isSure = unit !== undefined && unit.factor >= sureFactor && actions.unit !== 'off'
    if (size <= limit && !isSure) list(flags, moved)
    else if (!isSure && held && at > held.observedAt && moveTo(held.value, value) <= limit)
      list(flags, `${moved}, as the value before it, which is held`)
    else if (unit && actions.unit !== 'off') add(flags, 'unit', `${moved}, as ${unit.name}`)
    else add(flags, 'jump', moved)
  }

  const flagsOf: GuardState['judge'] = (observedAt, value, before, now) => {
    const flags: Flag[] = []
    if (observedAt > now + hourMs) add(flags, 'future', 'its time has not come')
    if (!before) return flags
    if (value === before.value) {
      const least = Math.max(runMin, runFactor * longestRun + 1)
      // Said once, where it is only listed.
      if (actions.repeat === 'hold' ? run + 1 >= least : run + 1 === least)
        add(flags, 'repeat', `the same value ${run + 1} times`)
      return flags
    }
    if (observedAt - before.observedAt < dayMs / 2 && isOfDays()) {
      if (Math.floor(observedAt / dayMs) === Math.floor(before.observedAt / dayMs))
        add(flags, 'same_day', `a second value of the day, after ${before.value}`)
    }
    if (Math.abs(value - before.value) < leastMove) return flags
    if (isOrdinary(value / before.value)) return flags
    const flipped = -value / before.value
    const isFlipped = flipped <= flippedMost && flipped >= 1 / flippedMost
    if (Math.abs(value) <= zeroShare * Math.abs(before.value) && !hasZero)
      add(flags, 'zero', `0 where every value before it was not`)
    else if (isFlipped && !(value < 0 ? hasNegative : hasPositive))
      add(flags, 'sign', `the other sign than every value before it, after ${before.value}`)
    else addMove(flags, observedAt, value, before)
    return flags
  }

  return {
    take,
    get last() {
      return last
    },
    hold(observedAt, value) {
      held = { observedAt, value }
    },
    judge(observedAt, value, before, now) {
      // Nearly every value of a long file ends here.
      if (
        before &&
        value !== before.value &&
        isOrdinary(value / before.value) &&
        observedAt <= now &&
        (observedAt - before.observedAt >= dayMs / 2 || !isOfDays())
      )
        return none
      return flagsOf(observedAt, value, before, now)
    },
  }
}

/** From one value to another, as the logarithm of their ratio where they have one. */
function signedMove(before: number, after: number): number {
  if (before > 0 && after > 0) return Math.log(after / before)
  const size = Math.log1p(Math.abs(after - before) / (Math.abs(before) || 1))
  return after < before ? -size : size
}

/** A value and the one before it. */
export interface Move {
  before: number
  value: number
}

/** Whether a move of a related series over the same time confirms a flagged one. */
export function confirms(related: Move, flagged: Move): boolean {
  const move = signedMove(flagged.before, flagged.value)
  const relatedMove = signedMove(related.before, related.value)
  return Math.sign(move) === Math.sign(relatedMove)
    ? Math.abs(relatedMove) >= confirmingShare * Math.abs(move)
    : false
}
