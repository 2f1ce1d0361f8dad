import { describe, expect, test } from 'bun:test'
import {
  followSeries,
  type GuardedSeries,
  type GuardState,
  type Previous,
} from '../../../src/market/prices/guards.ts'
import { type KnownMove, knownMoveOf, knownMoves } from '../../../src/market/prices/known-moves.ts'
import { haveRealData, needsRealData, realCloses, realRows } from '../../support/real-data.ts'

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

type Series = { name: string; series: GuardedSeries; values: Previous[] }

function realSeries(): Series[] {
  const of = (path: string, category: string, volatility: number, cadence = 'daily'): Series => ({
    name: path,
    series: { category, cadence: cadence as GuardedSeries['cadence'], volatility },
    values: realCloses(path)
      .filter(close => Number.isFinite(close.value))
      .map(({ day, value }) => ({ observedAt: Date.parse(day), value })),
  })
  const products = [
    'DDFUELLA',
    'DDFUELNYH',
    'DDFUELUSGULF',
    'DGASNYH',
    'DGASUSGULF',
    'DHOILNYH_1986-2018',
    'DJFUELUSGULF',
    'DPROPANEMBTX',
  ]
  const fixings = realRows('ecb-fx/eurofxref-hist.csv').reverse()
  const currencies = Array.from({ length: 41 }, (_, i) => ({
    name: `ecb-fx ${i + 1}`,
    series: { category: 'fx', cadence: 'daily', volatility: 0.1 } as GuardedSeries,
    values: fixings
      .filter(row => Number(row[i + 1]) > 0)
      .map(row => ({ observedAt: Date.parse(row[0]!), value: Number(row[i + 1]) })),
  }))
  return [
    of('oil-prices/wti-daily.csv', 'crude_oil', 0.35),
    of('oil-prices/brent-daily.csv', 'crude_oil', 0.35),
    of('oil-prices/wti-weekly.csv', 'crude_oil', 0.35, 'weekly'),
    of('oil-prices/wti-monthly.csv', 'crude_oil', 0.35, 'monthly'),
    of('natural-gas/daily.csv', 'natural_gas', 0.6),
    of('natural-gas/monthly.csv', 'natural_gas', 0.6, 'monthly'),
    ...products.map(name => of(`eia-spot-products/${name}.csv`, 'refined_products', 0.4)),
    ...currencies.filter(({ values }) => values.length > 100),
  ]
}

describe(`real series${needsRealData}`, () => {
  const all = realSeries()

  test.skipIf(!haveRealData)(
    'are not held, and in the months that are known they are listed',
    () => {
      const heldDays: string[] = []
      const listed = new Set<KnownMove>()
      let values = 0
      for (const { name, series, values: known } of all) {
        const state = followSeries(series, [])
        for (const { observedAt, value } of known) {
          values += 1
          const day = new Date(observedAt).toISOString().slice(0, 10)
          const doubts = state.judge(observedAt, value, state.last, now)
          if (doubts.some(doubt => doubt.action === 'hold')) {
            state.hold(value)
            heldDays.push(`${name} ${day} ${value}`)
            continue
          }
          state.take(observedAt, value)
          const move = doubts.length > 0 && knownMoveOf(series.category, day.slice(0, 7))
          if (move) listed.add(move)
        }
      }
      expect(values).toBeGreaterThan(200_000)
      expect(heldDays).toEqual([])
      // No month is excused in which nothing would have been held.
      // Those of datasets are seen in their rows: test/feed/files/real-rows.test.ts.
      const ofPrices = knownMoves.filter(move => !move.category.includes('-'))
      expect(ofPrices.filter(move => !listed.has(move))).toEqual([])
    },
  )

  const faults: [name: string, of: (value: number) => number][] = [
    ['a decimal point to the right', v => v * 10],
    ['a decimal point to the left', v => v / 10],
    ['cents for dollars', v => v * 100],
    ['dollars for cents', v => v / 100],
    ['thousands', v => v * 1000],
    ['of thousands', v => v / 1000],
    ['gallons for barrels', v => v / 42],
    ['barrels for gallons', v => v * 42],
    ['cubic metres for barrels', v => v * 6.2898],
    ['barrels for cubic metres', v => v * 0.158987],
    ['zero', () => 0],
    ['the other sign', v => -v],
    ['twice as much', v => v * 2],
  ]
  test.skipIf(!haveRealData).each(faults)(
    'with 500 injected faults of the kind "%s": at least 95 %% are held or flagged',
    (_, faultOf) => {
      let seed = 7
      const chance = (below: number) => {
        seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
        return Math.floor((seed / 0x80000000) * below)
      }
      let doubted = 0
      for (let i = 0; i < 500; i += 1) {
        const { series, values } = all[chance(all.length)]!
        const at = 60 + chance(values.length - 60)
        const state = followSeries(series, values.slice(Math.max(0, at - 250), at))
        const { observedAt, value } = values[at]!
        if (state.judge(observedAt, faultOf(value), state.last, now).length > 0) doubted += 1
      }
      if (process.env.TABLE) console.log(_, (doubted / 5).toFixed(1))
      expect(doubted / 500).toBeGreaterThanOrEqual(0.95)
    },
  )
})
