import { describe, expect, test } from 'bun:test'
import { dataStatus } from '../../../src/market/calendars/freshness.ts'
import type { Cadence } from '../../../src/market/catalogue/catalogue.ts'
import {
  followSeries,
  type GuardedSeries,
  type GuardState,
  type Previous,
} from '../../../src/market/prices/guards.ts'
import { type KnownMove, knownMoveOf, knownMoves } from '../../../src/market/prices/known-moves.ts'
import { haveRealData, needsRealData } from '../../support/real-data.ts'
import { heldWithReason, type RealSeries, realSeries } from '../../support/real-series.ts'

const now = Date.parse('2027-01-01T00:00:00Z')
const dayMs = 86_400_000
const crude: GuardedSeries = { category: 'crude_oil', cadence: 'daily', volatility: 0.35 }

const steady = (count: number, of = (i: number) => 70 + Math.sin(i)): Previous[] =>
  Array.from({ length: count }, (_, i) => ({ observedAt: (20_000 + i) * dayMs, value: of(i) }))

/** The rules that doubt a value one day after the last. */
const rulesOf = (state: GuardState, value: number, afterMs = dayMs) =>
  state
    .judge(state.last!.observedAt + afterMs, value, state.last, now)
    .map(doubt => `${doubt.rule} ${doubt.action}`)

describe('a value at the door', () => {
  test('is doubted for what is odd about it', () => {
    const state = followSeries(crude, steady(100))
    expect(rulesOf(state, 71)).toEqual([])
    expect(rulesOf(state, 700)).toEqual(['unit hold'])
    expect(rulesOf(state, 70 / 42)).toEqual(['unit hold'])
    expect(rulesOf(state, 120)).toEqual(['jump hold'])
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

  test('that says the same for longer than ever is listed', () => {
    const state = followSeries(crude, steady(100))
    const rules = Array.from({ length: 10 }, () => {
      const rules = rulesOf(state, 75)
      state.take(state.last!.observedAt + dayMs, 75)
      return rules.join()
    })
    expect(rules.indexOf('repeat flag')).toBe(7)
  })

  test('is taken where two before it have shown the new level, unless that is another unit', () => {
    const state = followSeries(crude, steady(100))
    for (const value of [110, 111]) {
      expect(rulesOf(state, value)).toEqual(['jump hold'])
      state.hold(value)
    }
    expect(rulesOf(state, 109)).toEqual([])
    const units = followSeries(crude, steady(100))
    for (const value of [70 * 42, 71 * 42, 70.5 * 42]) {
      expect(rulesOf(units, value)).toEqual(['unit hold'])
      units.hold(value)
    }
  })

  test('is judged as its operator wants', () => {
    const lenient = { ...crude, guards: { jump: 'off', unit: 'flag' } as const }
    const state = followSeries(lenient, steady(100))
    expect(rulesOf(state, 120)).toEqual([])
    expect(rulesOf(state, 700)).toEqual(['unit flag'])
  })
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

describe(`real series${needsRealData}`, () => {
  const all = realSeries()

  test.skipIf(!haveRealData)(
    'are not held but with a reason, and in the months that are known they are listed',
    () => {
      const held: string[] = []
      const listed = new Map<KnownMove, string[]>()
      let values = 0
      let flagged = 0
      for (const { name, series, values: known } of all) {
        const state = followSeries(series, [])
        for (const { observedAt, value } of known) {
          values += 1
          const day = new Date(observedAt).toISOString().slice(0, 10)
          const doubts = state.judge(observedAt, value, state.last, now)
          if (doubts.some(doubt => doubt.action === 'hold')) {
            state.hold(value)
            held.push(`${name} ${day}`)
            continue
          }
          state.take(observedAt, value)
          if (doubts.length === 0) continue
          flagged += 1
          const move = knownMoveOf(series.category, day.slice(0, 7))
          // What would be listed anyway is not excused.
          if (move && doubts[0]!.reason.endsWith(`(${move.reason})`))
            listed.set(move, [...(listed.get(move) ?? []), day])
        }
      }
      expect(values).toBeGreaterThan(360_000)
      const excused = heldWithReason.flatMap(([name, months]) =>
        months.map(month => `${name} ${month}-01`),
      )
      expect(held.toSorted()).toEqual(excused.toSorted())
      // What is listed can be looked at: some hundreds in forty years of all of them.
      expect(flagged).toBeLessThan(values / 500)
      // No month is excused in which nothing would have been held.
      // Those of datasets are seen in their rows: test/feed/files/real-rows.test.ts.
      const ofPrices = knownMoves.filter(move => !move.category.includes('-'))
      expect(ofPrices.filter(move => !listed.has(move))).toEqual([])
      if (process.env.TABLE)
        for (const [{ category, reason }, days] of listed)
          console.log(`| ${category} | ${[...new Set(days)].sort().join(', ')} | ${reason} |`)
    },
  )

  /**
   * Something wrong with the value of `at`, after those before it: whether anything is said of it;
   * undefined where the fault would be none.
   */
  type Fault = (real: RealSeries, at: number, state: GuardState) => boolean | undefined
  const valued =
    (of: (value: number) => number): Fault =>
    ({ values }, at, state) => {
      const { observedAt, value } = values[at]!
      return state.judge(observedAt, of(value), state.last, now).length > 0
    }
  const faults: [name: string, of: Fault][] = [
    ['a decimal point to the right', valued(v => v * 10)],
    ['a decimal point to the left', valued(v => v / 10)],
    ['cents for dollars', valued(v => v * 100)],
    ['dollars for cents', valued(v => v / 100)],
    ['thousands', valued(v => v * 1000)],
    ['of thousands', valued(v => v / 1000)],
    ['gallons for barrels', valued(v => v / 42)],
    ['barrels for gallons', valued(v => v * 42)],
    ['cubic metres for barrels', valued(v => v * 6.2898)],
    ['barrels for cubic metres', valued(v => v * 0.158987)],
    ['yen for dollars', valued(v => v * 151.3)],
    ['zero', valued(() => 0)],
    ['the other sign', valued(v => -v)],
    ['twice as much', valued(v => v * 2)],
    ['half as much', valued(v => v / 2)],
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
      ({ series, values }, at) => {
        const days = { daily: 7, weekly: 35, monthly: 155 } as Partial<Record<Cadence, number>>
        const { observedAt } = values[at]!
        const later = observedAt + days[series.cadence]! * dayMs
        return dataStatus({ code: 'ANY', ...series }, observedAt, later) === 'stale'
      },
    ],
  ]
  test.skipIf(!haveRealData).each(faults)(
    'with 500 injected faults of the kind "%s": at least 95 %% are held or flagged',
    (kind, isDoubted) => {
      let seed = 7
      const chance = (below: number) => {
        seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
        return Math.floor((seed / 0x80000000) * below)
      }
      let doubted = 0
      for (let i = 0; i < 500; ) {
        const real = all[chance(all.length)]!
        const at = 60 + chance(real.values.length - 60)
        const state = followSeries(real.series, real.values.slice(Math.max(0, at - 250), at))
        const isSaid = isDoubted(real, at, state)
        if (isSaid === undefined) continue
        i += 1
        if (isSaid) doubted += 1
      }
      if (process.env.TABLE) console.log(`| ${kind} | ${(doubted / 5).toFixed(1)} % |`)
      expect(doubted / 500).toBeGreaterThanOrEqual(0.95)
    },
  )
})
