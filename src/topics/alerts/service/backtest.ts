import { createPause } from '../../../lib/process/slices.ts'
import { type Clock, createSystemClock, sleep } from '../../../lib/time/clock.ts'
import { dayMs, isoDay, startOfDay } from '../../../lib/time/instant.ts'
import { isNews } from '../../calendars/math/news.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { horizonMax } from '../../delivery/math/terms.ts'
import { isDelivery } from '../../delivery/service/market-days.ts'
import type { Close } from '../../prices/math/window.ts'
import type { Closes } from '../../prices/service/days/closes.ts'
import type { QuarantineList } from '../../prices/service/quarantine.ts'
import type { PricesAt } from '../../prices/service/reads/vintage.ts'
import type { ObservationStore, Recording } from '../../prices/store/observations.ts'
import {
  type AlertCondition,
  alertMoment,
  evaluate,
  isCooling,
  reachOf,
} from '../math/condition.ts'
import { answeredPrice } from './moment.ts'

export interface BacktestQuestion {
  condition: AlertCondition
  cooldownMinutes: number
  series: Series
  /** The half-open range of observations, Unix ms. */
  from: number
  to: number
  /**
   * Evaluates values as they were known when they were recorded; the range is then of recording
   * times.
   */
  isVintage?: boolean
}

export interface BacktestResult {
  observations: number
  triggerCount: number
  /** The first of them, oldest first. */
  triggers: { triggeredAt: number; value: number }[]
  /** Observations that would have fired but for the cooldown. */
  cooldownSuppressed: number
}

const triggersShown = 500
const rowsEach = 2000
/** The longest time that other requests wait, in addition to one page of observations. */
const sliceMs = 10

export interface BacktestDeps {
  observations: Pick<ObservationStore, 'after' | 'asOf' | 'newestAsOf' | 'recordings'>
  quarantine: QuarantineList
  closes: Pick<Closes, 'of'>
  pricesAt: PricesAt
  stopwatch?: Clock
}

/**
 * Evaluates every observation of a range by the rule and cooldown of live alerts, as if it had been
 * recorded at its own time, or at its recording time.
 */
export function createBacktests(deps: BacktestDeps) {
  const { stopwatch = createSystemClock() } = deps
  return {
    async run(question: BacktestQuestion) {
      const { result, judge } = createTally(question)
      const judgements = !question.isVintage
        ? judgeObservations(deps, question, judge)
        : isDelivery(question.series)
          ? judgeDeliveries(deps, question, judge)
          : judgeRecordings(deps, question, judge)
      const pause = createPause(sliceMs, { stopwatch, turn: () => sleep(0) })
      while (!judgements.next().done) await pause()
      return result
    },
  }
}

/** Judges a value of an observation at a moment; the closes end with it. */
type Judge = (at: number, observedAt: number, value: number, closes: readonly Close[]) => void

function createTally({ condition, cooldownMinutes, series }: BacktestQuestion): {
  result: BacktestResult
  judge: Judge
} {
  const result: BacktestResult = {
    observations: 0,
    triggerCount: 0,
    triggers: [],
    cooldownSuppressed: 0,
  }
  let firedAt: number | null = null
  const firedFor = new Set<number>()
  const judge: Judge = (at, observedAt, value, closes) => {
    const price = answeredPrice(series, value)
    result.observations += 1
    // An observation fires once, and a daily value too, whatever the cooldown.
    const firedOn = condition.kind === 'price' ? observedAt : startOfDay(observedAt)
    if (firedFor.has(firedOn)) return
    const judged = evaluate(
      condition,
      alertMoment(price, () => closes),
    )
    if (!judged.enough || !judged.value.holds) return
    if (isCooling(firedAt, cooldownMinutes, at)) {
      result.cooldownSuppressed += 1
      return
    }
    firedAt = at
    firedFor.add(firedOn)
    result.triggerCount += 1
    if (result.triggers.length < triggersShown)
      result.triggers.push({ triggeredAt: at, value: price })
  }
  return { result, judge }
}

/**
 * Every observation of the range with its current value, as if it had been recorded at its own
 * time.
 */
function* judgeObservations(
  { observations, quarantine, closes }: BacktestDeps,
  { condition, series, from, to }: BacktestQuestion,
  judge: Judge,
): Generator<void> {
  const before =
    condition.kind === 'price'
      ? []
      : closes.of(series.id, { ...reachOf(condition), before: startOfDay(from) })
  const day = growingCloses(before, from)
  for (const stretch of quarantine.clear(series.id, from, to)) {
    let after = stretch.from - 1
    while (after < stretch.to) {
      const rows = observations.after(series.id, after, rowsEach)
      for (const { observedAt, value } of rows) {
        after = observedAt
        if (observedAt >= stretch.to) break
        const closesSoFar = condition.kind === 'price' ? [] : day.with(observedAt, value)
        judge(observedAt, observedAt, value, closesSoFar)
        yield
      }
      if (rows.length < rowsEach) break
    }
  }
}

/**
 * Judges each delivery period when it begins, as live alerts do, or when its first value came where
 * that was later, with the value that was known then.
 */
function* judgeDeliveries(
  { observations, quarantine, pricesAt }: BacktestDeps,
  { condition, series, from, to }: BacktestQuestion,
  judge: Judge,
): Generator<void> {
  const periods = new Map<number, { observedAt: number; at: number; value: number }>()
  const recordings = yield* collected(observations.recordings(series.id, from - horizonMax, to))
  for (const { observedAt, recordedAt, value } of recordings) {
    const known = periods.get(observedAt)
    const at = Math.max(observedAt, known?.at ?? recordedAt)
    if (recordedAt > at) continue
    if (value === undefined) periods.delete(observedAt)
    else periods.set(observedAt, { observedAt, at, value })
    yield
  }
  const judged = [...periods.values()]
    .filter(({ at }) => at >= from && at < to)
    .sort((a, b) => a.at - b.at || a.observedAt - b.observedAt)
  const before = condition.kind === 'price' ? [] : pricesAt({ asOf: from - 1 }).closes.of(series.id)
  const day = growingCloses(before, from)
  let newest = Number.NEGATIVE_INFINITY
  for (const { observedAt, at, value } of judged) {
    yield
    if (observedAt < newest || !isNews(series, observedAt, at)) continue
    if (quarantine.clear(series.id, observedAt, observedAt + 1).length === 0) continue
    newest = observedAt
    judge(at, observedAt, value, condition.kind === 'price' ? [] : day.with(observedAt, value))
  }
}

/**
 * Replays prices in the order and with the values in which they were recorded: for each moment the
 * newest observation, or a correction of it where that was new then. A value that is stamped ahead
 * is new when its time comes, as for live alerts.
 */
function* judgeRecordings(
  deps: BacktestDeps,
  { condition, series, from, to }: BacktestQuestion,
  judge: Judge,
): Generator<void> {
  const { observations, quarantine, pricesAt } = deps
  const isClear = (observedAt: number) =>
    quarantine.clear(series.id, observedAt, observedAt + 1).length > 0
  const newestAt = (at: number) =>
    observations.newestAsOf(series.id, at + 1, at)?.observedAt ?? Number.NEGATIVE_INFINITY
  const before = pricesAt({ asOf: from - 1 }).closes
  const closes = knownCloses(condition.kind === 'price' ? [] : before.of(series.id), day => {
    const startsAt = startOfDay(day.observedAt)
    return observations.asOf(series.id, startsAt, startsAt + dayMs, day.recordedAt, 1)[0]?.value
  })
  const known = observations.asOf(series.id, from, to, from - 1, Number.MAX_SAFE_INTEGER)
  /** The values that are recorded, and whose time has not come. */
  const ahead = new Map(known.map(({ observedAt, value }) => [observedAt, value]))
  const recordings = yield* collected(observations.recordings(series.id, from, to))
  const steps = stepsOf(recordings, [...ahead.keys()], to)
  let lastAt = newestAt(from - 1)
  for (let i = 0; i < steps.length; ) {
    const { at } = steps[i]!
    let news: { observedAt: number; value: number } | undefined
    for (; steps[i]?.at === at; i += 1) {
      const { observedAt, recording } = steps[i]!
      const value = recording ? recording.value : ahead.get(observedAt)
      if (observedAt > at) {
        if (value === undefined) ahead.delete(observedAt)
        else ahead.set(observedAt, value)
      } else if (value === undefined) {
        if (observedAt === lastAt) lastAt = newestAt(at)
      } else if (observedAt >= lastAt) {
        lastAt = observedAt
        news = { observedAt, value }
      }
      if (recording && condition.kind !== 'price' && isClear(observedAt)) closes.record(recording)
      yield
    }
    if (!news || !isNews(series, news.observedAt, at) || !isClear(news.observedAt)) continue
    const { observedAt, value } = news
    judge(at, observedAt, value, condition.kind === 'price' ? [] : closes.upTo(observedAt, value))
  }
}

/** Those of a formula are computed one after the other: others may run in between. */
function* collected(recordings: Iterable<Recording | undefined>): Generator<void, Recording[]> {
  const all: Recording[] = []
  for (const recording of recordings)
    if (recording) all.push(recording)
    else yield
  return all
}

/** A moment at which a value is recorded, or without a recording, at which its time comes. */
interface Step {
  at: number
  observedAt: number
  recording?: Recording
}

/** The recordings, and the times before `to` of values that are known ahead, in their order. */
function stepsOf(recordings: readonly Recording[], known: readonly number[], to: number): Step[] {
  const early = recordings.filter(({ observedAt, recordedAt }) => observedAt > recordedAt)
  const times = new Set([...known, ...early.map(({ observedAt }) => observedAt)])
  const arrivals = [...times].filter(time => time < to)
  return [
    ...recordings.map(recording => ({
      at: recording.recordedAt,
      observedAt: recording.observedAt,
      recording,
    })),
    ...arrivals.map(time => ({ at: time, observedAt: time })),
  ].sort((a, b) => a.at - b.at)
}

/**
 * The closes as they were known over time, starting with those of the beginning; `read` returns
 * that of a day.
 */
function knownCloses(first: readonly Close[], read: (recording: Recording) => number | undefined) {
  const closes = [...first]
  /** Where a day is or belongs. */
  const placeOf = (day: string): number => {
    let place = closes.length
    while (place > 0 && closes[place - 1]!.day >= day) place -= 1
    return place
  }
  return {
    record(recording: Recording) {
      const day = isoDay(recording.observedAt)
      const place = placeOf(day)
      const value = read(recording)
      const offset = closes[place]?.day === day ? 1 : 0
      closes.splice(place, offset, ...(value === undefined ? [] : [{ day, value }]))
    },
    upTo: (observedAt: number, value: number): readonly Close[] => {
      const day = isoDay(observedAt)
      return [...closes.slice(0, placeOf(day)), { day, value }]
    },
  }
}

/**
 * The closes as they grew: those of the days before the range, then the last observation so far of
 * each day in it.
 */
function growingCloses(allCloses: readonly Close[], from: number) {
  const first = isoDay(from)
  const closes = allCloses.filter(close => close.day < first)
  return {
    with(observedAt: number, value: number): readonly Close[] {
      const day = isoDay(observedAt)
      if (closes.at(-1)?.day === day) closes.pop()
      closes.push({ day, value })
      return closes
    },
  }
}
