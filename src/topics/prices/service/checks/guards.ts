import { boundsOf } from '../../../catalogue/math/terms.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import type { NamedFactor } from '../../../units/math/mistaken.ts'
import {
  followSeries,
  type GuardRule,
  type GuardState,
  type GuardTerms,
  guardAction,
  guardRules,
  type Previous,
} from '../../math/guards.ts'
import type { FlaggedValueStore } from '../../store/flagged-values.ts'
import {
  groupBySeries,
  type ObservationStore,
  type Origin,
  type Point,
} from '../../store/observations.ts'
import { createRefusals } from './refusals.ts'
import { createStoredNeighbours } from './stored-neighbours.ts'
import { createWitnesses, type SettlementMoves } from './witnesses.ts'

/** Why a value is flagged. */
interface Flag {
  rule: GuardRule
  reason: string
  before: number | undefined
  isHeld: boolean
}

type PointFlag = Flag & { point: Point }

/** What confirms the move of a point from the value before it. */
type WitnessOf = (point: Point, before: Previous) => string | undefined

/** A value that is flagged. */
export type FlaggedPoint = Point & Flag

/** The guards at the door: one set for files, pushes and feeds. */
export type Guards = ReturnType<typeof createGuards>

/**
 * Rules whose flags a related series may confirm. A move by the ratio of two units is excluded:
 * whole files come in another unit, and then all of their series move alike.
 */
const confirmable: ReadonlySet<GuardRule> = new Set(['jump', 'sign'])

/** How far back a series is learnt from. */
const learntValues = 250
/** Series that are followed at a time: a state is some kilobytes. */
const followedMax = 2_000

export interface GuardsDeps {
  catalogue: Pick<Catalogue, 'byId' | 'list'>
  observations: Pick<ObservationStore, 'between' | 'newest' | 'after'>
  flags: FlaggedValueStore
  settlements: SettlementMoves
  /** Current factors between a currency and others. */
  rates(currency: string): readonly NamedFactor[]
  now(): number
}

export function createGuards(deps: GuardsDeps) {
  const { catalogue, observations, flags, settlements, now } = deps
  const followed = createFollowedSeries(deps)
  const refusals = createRefusals(catalogue, observations, flags)

  /** Its operator wants nothing of any guard: its values cost nothing here either. */
  const isUnguarded = (seriesId: number): boolean => {
    const terms = catalogue.byId(seriesId).terms?.guards as GuardTerms | undefined
    return terms !== undefined && guardRules.every(rule => guardAction(rule, terms) === 'off')
  }

  /** Flags suspicious points of one series, which come oldest first. */
  const judgeSeries = (
    seriesId: number,
    group: readonly Point[],
    witnessOf: WitnessOf,
  ): PointFlag[] => {
    const at = now()
    const state = followed.state(seriesId)
    const neighbours = createStoredNeighbours(observations, seriesId)
    const refusedAt = refusals.listed(seriesId, group)
    const stoppedAt = refusals.afterStop(seriesId, at)
    const flagged: PointFlag[] = []
    for (const point of group) {
      const { last } = state
      // Between known values each has the one before it to be compared with.
      const before: Previous | undefined =
        !last || point.observedAt > last.observedAt ? last : neighbours.before(point.observedAt)
      const pointFlags = state.judge(point.observedAt, point.value, before, at)
      const isListed = pointFlags.every(flag => flag.action === 'flag')
      const refused = (isListed ? refusedAt(point) : undefined) ?? stoppedAt(point)
      if (refused) {
        flagged.push({ point, ...refused, before: before?.value, isHeld: true })
        continue
      }
      const worst = pointFlags.find(flag => flag.action === 'hold') ?? pointFlags[0]
      if (!worst) {
        state.take(point.observedAt, point.value)
        continue
      }
      const status = flags.statusOf(seriesId, point.observedAt, point.value)
      const isDoubtful = worst.action === 'hold' && status !== 'released'
      const witness =
        isDoubtful && status !== 'rejected' && before && confirmable.has(worst.rule)
          ? witnessOf(point, before)
          : undefined
      const isHeld = isDoubtful && !witness
      if (isHeld) state.hold(point.observedAt, point.value)
      else state.take(point.observedAt, point.value)
      flagged.push({
        point,
        rule: worst.rule,
        reason: witness ? `${worst.reason}, as ${witness}` : worst.reason,
        before: before?.value,
        isHeld,
      })
    }
    return flagged
  }

  return {
    /**
     * Decides which points may be recorded and which get a flag; writes nothing. Values of other
     * sources that wait for review may confirm a point.
     */
    judge(points: readonly Point[], origin?: Pick<Origin, 'sourceId'>) {
      followed.beginWrite()
      const witnesses = createWitnesses({ catalogue, observations, flags, settlements })
      const witnessOf: WitnessOf = (point, before) => witnesses.of(point, before, origin?.sourceId)
      const flagged = [...inOrder(points)].flatMap(([seriesId, group]) =>
        isUnguarded(seriesId) ? [] : judgeSeries(seriesId, group, witnessOf),
      )
      const heldPoints = new Set(flagged.flatMap(({ point, isHeld }) => (isHeld ? [point] : [])))
      return {
        good: heldPoints.size === 0 ? points : points.filter(point => !heldPoints.has(point)),
        flagged: flagged.map(({ point, ...flag }) => ({ ...point, ...flag })),
      }
    },
    /** Keeps flags; inside the transaction that writes what is good, at its instant. */
    keep(flagged: readonly FlaggedPoint[], { sourceId, batchId }: Origin, flaggedAt: number) {
      for (const { seriesId, observedAt, value, before, rule, reason, isHeld } of flagged)
        flags.add({
          seriesId,
          observedAt,
          value,
          before: before ?? null,
          rule,
          reason,
          sourceId,
          batchId,
          status: isHeld ? 'waiting' : 'flagged',
          flaggedAt,
        })
    },
    forget: followed.forget,
    forgetAll: followed.forgetAll,
  }
}

/** Keeps how series moved, which is learnt from their last values. */
function createFollowedSeries({ catalogue, observations, rates }: GuardsDeps) {
  const states = new Map<number, GuardState>()
  /** The rates of one write by currency, with which all of its suspicious values are compared. */
  const ratesOfWrite = new Map<string, readonly NamedFactor[]>()

  const stateOf = (seriesId: number): GuardState => {
    const known = states.get(seriesId)
    if (known) return known
    const series = catalogue.byId(seriesId)
    const { category, currency, volatility, terms } = series
    const last = observations.between(
      seriesId,
      Number.MIN_SAFE_INTEGER,
      Number.MAX_SAFE_INTEGER,
      learntValues,
    )
    const guards = {
      ...(series.delivery && deliveryGuards(boundsOf(series).min)),
      ...(terms?.guards as GuardTerms | undefined),
    }
    const state = followSeries(
      {
        volatility,
        guards,
        ...(currency !== null &&
          category !== 'fx' && {
            rates: () => ratesOfWrite.getOrInsertComputed(currency, () => rates(currency)),
          }),
      },
      last.reverse(),
    )
    if (states.size >= followedMax) states.clear()
    states.set(seriesId, state)
    return state
  }

  return {
    state: stateOf,
    /** Rates are read again for each write. */
    beginWrite: () => ratesOfWrite.clear(),
    /** Forgets how a series moved: its values were changed by other means. */
    forget: (seriesId: number) => void states.delete(seriesId),
    forgetAll: () => states.clear(),
  }
}

/**
 * Periods lie ahead and many to a day. Where prices may be negative, zero and its sides are ordinary,
 * and prices near zero move by any ratio from one period to the next: moves are listed, not held.
 */
const deliveryGuards = (min: number): GuardTerms => ({
  future: 'off',
  same_day: 'off',
  ...(min < 0 && { sign: 'off', zero: 'off', jump: 'flag', unit: 'flag' }),
})

/** Points by series, oldest first. */
function inOrder(points: readonly Point[]): Map<number, Point[]> {
  const groups = groupBySeries(points)
  for (const all of groups.values()) {
    if (all.some((point, i) => i > 0 && point.observedAt < all[i - 1]!.observedAt))
      all.sort((a, b) => a.observedAt - b.observedAt)
  }
  return groups
}
