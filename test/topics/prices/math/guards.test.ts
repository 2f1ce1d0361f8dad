import { describe, expect, test } from 'bun:test'
import { isoDay } from '../../../../src/lib/time/instant.ts'
import { dataStatus } from '../../../../src/topics/calendars/math/freshness.ts'
import type { Cadence } from '../../../../src/topics/catalogue/math/catalogue.ts'
import {
  confirms,
  followSeries,
  type GuardedSeries,
  type GuardState,
  type Previous,
} from '../../../../src/topics/prices/math/guards.ts'
import {
  createChance,
  falseHolds,
  faultKinds,
  fittedUntil,
  heldTogether,
  measureFaults,
} from '../../../support/guard-measure.ts'
import { needs } from '../../../support/needs.ts'
import { excerptSeries, type RealSeries, realSeries } from '../../../support/real-series.ts'

const now = Date.parse('2027-01-01T00:00:00Z')
const dayMs = 86_400_000
const crude: GuardedSeries = { volatility: 0.35 }

const steady = (count: number, of = (i: number) => 70 + Math.sin(i), stepMs = dayMs): Previous[] =>
  Array.from({ length: count }, (_, i) => ({
    observedAt: (20_000 * dayMs) / stepMs + i * stepMs,
    value: of(i),
  }))

/** The rules that flag a value some time after the last. */
const rulesOf = (state: GuardState, value: number, afterMs = dayMs) =>
  state
    .judge(state.last!.observedAt + afterMs, value, state.last, now)
    .map(flag => `${flag.rule} ${flag.action}`)

describe('a value at the door', () => {
  test('an anomalous incoming value is held or flagged under the rule that it violates', () => {
    const state = followSeries(crude, steady(100))
    expect(rulesOf(state, 71)).toEqual([])
    expect(rulesOf(state, 700)).toEqual(['unit hold'])
    expect(rulesOf(state, 70 / 42)).toEqual(['unit hold'])
    expect(rulesOf(state, 120)).toEqual(['jump hold'])
    expect(rulesOf(state, 88)).toEqual(['jump flag'])
    expect(rulesOf(state, 0)).toEqual(['zero hold'])
    expect(rulesOf(state, -70)).toEqual(['sign hold'])
    expect(rulesOf(state, 71, dayMs / 3)).toEqual(['same_day flag'])
  })

  test('after a single one is judged by what its code usually does', () => {
    const state = followSeries(crude, [{ observedAt: 20_000 * dayMs, value: 91.2 }])
    expect(rulesOf(state, 912)).toEqual(['unit hold'])
    expect(rulesOf(state, 95)).toEqual([])
    expect(followSeries(crude, []).judge(20_000 * dayMs, 912, undefined, now)).toEqual([])
  })

  test('a value that repeats for longer than ever before is flagged', () => {
    const state = followSeries(crude, steady(100))
    const rules = Array.from({ length: 10 }, () => {
      const rules = rulesOf(state, 75)
      state.take(state.last!.observedAt + dayMs, 75)
      return rules.join()
    })
    expect(rules.indexOf('repeat flag')).toBe(7)
  })

  test('a value that agrees with the preceding held value is flagged instead of held unless its unit differs', () => {
    const state = followSeries(crude, steady(100))
    const at = state.last!.observedAt + dayMs
    expect(rulesOf(state, 120)).toEqual(['jump hold'])
    state.hold(at, 120)
    expect(rulesOf(state, 121)).toEqual(['jump hold'])
    expect(rulesOf(state, 121, 2 * dayMs)).toEqual(['jump flag'])
    expect(rulesOf(state, 180, 2 * dayMs)).toEqual(['jump hold'])
    const units = followSeries(crude, steady(100))
    for (const [i, value] of [70 * 42, 71 * 42, 70.5 * 42].entries()) {
      expect(rulesOf(units, value, (i + 1) * dayMs)).toEqual(['unit hold'])
      units.hold(units.last!.observedAt + (i + 1) * dayMs, value)
    }
  })

  test('is judged as its operator wants', () => {
    const lenient = { ...crude, guards: { jump: 'off', unit: 'flag' } as const }
    const state = followSeries(lenient, steady(100))
    expect(rulesOf(state, 120)).toEqual([])
    expect(rulesOf(state, 700)).toEqual(['unit flag'])
  })

  test('anomaly checks use the actual spacing of neighbouring values, whatever the code declares', () => {
    const monthly = followSeries(crude, steady(40, undefined, 30 * dayMs))
    expect(rulesOf(monthly, 98, 30 * dayMs)).toEqual([])
    const daily = followSeries(crude, steady(40))
    expect(rulesOf(daily, 98)).not.toEqual([])
    // A daily series that months follow is given room while it learns that.
    for (let month = 1; month <= 24; month += 1) {
      const value = month % 2 ? 90 : 70
      expect(rulesOf(daily, value, 30 * dayMs).filter(rule => rule.endsWith('hold'))).toEqual([])
      daily.take(daily.last!.observedAt + 30 * dayMs, value)
    }
  })

  test('may move further for some weeks after a storm, and never by a factor of ten', () => {
    const gas: GuardedSeries = { volatility: 0.6 }
    const state = followSeries(
      gas,
      steady(250, i => 3 + 0.1 * Math.sin(i)),
    )
    expect(rulesOf(state, 8)).toEqual(['jump hold'])
    state.take(state.last!.observedAt + dayMs, 8)
    for (let day = 0; day < 4; day += 1) {
      const value = day % 2 ? 8 : 3
      expect(rulesOf(state, value).filter(rule => rule.endsWith('hold'))).toEqual([])
      expect(rulesOf(state, 10 * state.last!.value)).toEqual(['unit hold'])
      state.take(state.last!.observedAt + dayMs, value)
    }
    for (let day = 0; day < 150; day += 1)
      state.take(state.last!.observedAt + dayMs, 3 + 0.1 * Math.sin(day))
    expect(rulesOf(state, 8)).toEqual(['jump hold'])
  })
})

test('a related series bears out a move where it went at least two thirds of it the same way', () => {
  const doubled = { before: 3, value: 6 }
  expect(confirms({ before: 30, value: 50 }, doubled)).toBe(true)
  expect(confirms({ before: 30, value: 40 }, doubled)).toBe(false)
  expect(confirms({ before: 30, value: 15 }, doubled)).toBe(false)
  expect(confirms({ before: 18, value: -37 }, { before: 18, value: -36 })).toBe(true)
})

test('the guards know no days: the same values eleven years earlier are judged alike', () => {
  const shift = -574 * 7 * dayMs
  for (const real of excerptSeries()) {
    const earlier = real.values.map(({ observedAt, value }) => ({
      observedAt: observedAt + shift,
      value,
    }))
    const shifted = falseHolds({ ...real, values: earlier }).held
    expect(shifted.map(({ at }) => at - shift)).toEqual(falseHolds(real).held.map(({ at }) => at))
  }
})

/** Checks that so many of the detectable faults are held. */
const holdsFaults = (all: readonly RealSeries[], share: number) => {
  const told = faultKinds.filter(({ isDetectable }) => isDetectable)
  test.each(told)(`at least ${100 * share} %% of faults of the kind "$name" are held`, kind => {
    const span = { from: fittedUntil, to: Number.POSITIVE_INFINITY, count: 1000 }
    const { tried, held } = measureFaults(kind, all, span)
    expect(tried).toBeGreaterThan(100)
    expect(held / tried).toBeGreaterThanOrEqual(share)
  })
}

describe('of the excerpts that every clone has', () => {
  const all = excerptSeries()
  // Half of them are storms, in which the guards are at their most patient.
  holdsFaults(all, 0.9)

  test('nothing honest is held, not even the first price below zero', () => {
    const held = all.flatMap(real => falseHolds(real).held)
    expect(all.flatMap(({ values }) => values).length).toBeGreaterThan(2400)
    expect(held.map(({ name, at, rule }) => `${name} ${isoDay(at)} ${rule}`)).toEqual([])
  })
})

describe(`of all values of ../shared/data after 2015`, () => {
  const all = realSeries()
  if (needs('../shared/data').isMet) holdsFaults(all, 0.95)
  const isJudged = ({ observedAt }: Previous) => observedAt >= fittedUntil
  const judged = all.flatMap(({ values }) => values.filter(isJudged)).length

  needs('../shared/data').test('at most one in 20,000 is held when its file goes in alone', () => {
    const results = all.map(real => falseHolds(real))
    const held = results.flatMap(result => result.held).filter(({ at }) => at >= fittedUntil)
    expect(judged).toBeGreaterThan(137_000)
    expect(held.length * 20_000).toBeLessThanOrEqual(judged)
    // The list stays short enough to read: some hundreds in forty years of all series.
    expect(results.reduce((sum, { listed }) => sum + listed, 0)).toBeLessThan(200)
  })

  needs('../shared/data').test(
    'no more of oil and gas are held in one instance, where series bear each other out',
    () => {
      const energy = all.filter(({ category }) => /^(crude_oil|natural_gas)$/.test(category))
      const alone = energy.flatMap(real => falseHolds(real).held)
      expect(heldTogether(energy).length).toBeLessThanOrEqual(
        alone.filter(({ at }) => at >= fittedUntil).length,
      )
    },
    60_000,
  )

  /**
   * Something wrong with the time of a value, after those before it: whether anything is said of it;
   * undefined where the fault would be none.
   */
  type Fault = (real: RealSeries, at: number, state: GuardState) => boolean | undefined
  const faults: [name: string, of: Fault][] = [
    [
      'the same value thirty times, of series that move',
      ({ values }, at, state) => {
        if (longestRun(values.slice(Math.max(0, at - 250), at)) > 9) return undefined
        const stepMs = values[at]!.observedAt - values[at - 1]!.observedAt
        const { value } = values[at - 1]!
        for (let i = 0; i < 30; i += 1) {
          const observedAt = state.last!.observedAt + stepMs
          if (state.judge(observedAt, value, state.last, now).length > 0) return true
          state.take(observedAt, value)
        }
        return false
      },
    ],
    [
      'a time that has not come',
      ({ values }, at, state) => {
        const { observedAt, value } = values[at]!
        const later = observedAt + 365 * dayMs
        return state.judge(later, value, state.last, observedAt + dayMs).length > 0
      },
    ],
    [
      'a day twice, with two values',
      ({ values }, at, state) => {
        const { observedAt, value } = values[at]!
        state.take(observedAt, value)
        const later = observedAt + dayMs / 4
        return state.judge(later, value * 1.01, state.last, now).length > 0
      },
    ],
    [
      'no more values, after five periods',
      ({ category, cadence, values }, at) => {
        const days = { daily: 7, weekly: 35, monthly: 155 } as Partial<Record<Cadence, number>>
        const { observedAt } = values[at]!
        const later = observedAt + days[cadence]! * dayMs
        return dataStatus({ code: 'ANY', category, cadence }, observedAt, later) === 'stale'
      },
    ],
  ]
  const data = needs('../shared/data')
  test.skipIf(!data.isMet).each(faults)(
    `at least 95%% of 500 faults of the kind "%s" are listed${data.why}`,
    (kind, isFlagged) => {
      const chance = createChance()
      let flagged = 0
      for (let i = 0; i < 500; ) {
        const real = all[chance(all.length)]!
        const at = 60 + chance(real.values.length - 60)
        const state = followSeries(real.series, real.values.slice(Math.max(0, at - 250), at))
        const isSaid = isFlagged(real, at, state)
        if (isSaid === undefined) continue
        i += 1
        if (isSaid) flagged += 1
      }
      if (process.env.TABLE) console.log(`| ${kind} | ${(flagged / 5).toFixed(1)}% |`)
      expect(flagged / 500).toBeGreaterThanOrEqual(0.95)
    },
  )
})

/** How often in a row a value came at most. */
function longestRun(values: readonly Previous[]): number {
  let longest = 0
  let run = 0
  for (const [i, { value }] of values.entries()) {
    run = i > 0 && values[i - 1]!.value === value ? run + 1 : 1
    longest = Math.max(longest, run)
  }
  return longest
}
