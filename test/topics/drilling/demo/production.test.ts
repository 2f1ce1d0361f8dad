import { describe, expect, test } from 'bun:test'
import { isoDay, parseInstant } from '../../../../src/lib/time/instant.ts'
import { daysIn, monthAfter } from '../../../../src/topics/calendars/math/period.ts'
import type { Well } from '../../../../src/topics/drilling/dataset/wells.ts'
import { statePlaces } from '../../../../src/topics/drilling/demo/permit-places.ts'
import { permitsOn, wellTypeOf } from '../../../../src/topics/drilling/demo/permit-rows.ts'
import { createPermitData } from '../../../../src/topics/drilling/demo/permits.ts'
import { createProductionData } from '../../../../src/topics/drilling/demo/production.ts'
import { productionPublishedAt } from '../../../../src/topics/drilling/math/well-production.ts'
import { createWellProduction } from '../../../../src/topics/drilling/service/well-production.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import { published } from '../../../support/world/published.ts'

const sample = '42329400010000'
const followed = ['AK', 'ND', 'NM', 'TX']

/** The wells of a demo instance, without those changed by other writes. */
const base = openTestInstance()
const listed = base.services.catalogue
  .list()
  .map(item => ({ ...item, available: item.unavailableReason === null }))
const world = createWorld({ seed: 1, series: listed })
published(createPermitData({ ...base.services, seed: 1, world })).advance(startAt)
const wellStore = base.services.wells
const imported: Well = { ...wellStore.get(sample)!, apiNumber: '42329999990000', source: 'import' }
wellStore.put([imported], 1)

/** Production over those wells, in its own database. */
function copy({ seed = 1, now = startAt } = {}) {
  const db = databaseInMemory()
  const production = createWellProduction({ db, wells: wellStore })
  const filler = published(createProductionData({ seed, world, db, production, known: wellStore }))
  filler.advance(now)
  return {
    production,
    filler,
    rows: () =>
      db
        .query(
          'SELECT api_number, month, oil_bbl, gas_mcf, water_bbl, days_producing FROM well_production',
        )
        .all(),
    stateRows: () =>
      db
        .query('SELECT state_code, month, oil_bbl, gas_mcf, provisional FROM state_production')
        .all(),
    sumOf: (prefix: string, month: string) =>
      db
        .query<{ oil: number; gas: number }, [string, string]>(
          'SELECT total(oil_bbl) AS oil, total(gas_mcf) AS gas FROM well_production WHERE substr(api_number, 1, 2) = ? AND month = ?',
        )
        .get(prefix, month)!,
  }
}

const filled = copy()
const { wells, states } = filled.production
const months = Array.from({ length: 80 }, (_, i) => monthAfter('2020-01', i))

describe('the production of a demo instance', () => {
  test('is of the wells of four states up to August, of every state since 2020, and marked', () => {
    expect(wells.newest()).toEqual(
      followed.map(state => ({
        state,
        month: '2026-08',
        wells: expect.any(Number),
        source: 'fixture',
      })),
    )
    expect(months.map(month => states.ofMonth(month).length)).toEqual(
      months.map(() => statePlaces.length),
    )
    expect(states.newestMonth()).toBe('2026-08')
    expect(new Set(months.flatMap(month => states.ofMonth(month).map(row => row.source)))).toEqual(
      new Set(['fixture']),
    )
    expect(wells.total()).toBeGreaterThan(10_000)
    expect(wells.ofWell(imported.apiNumber)).toEqual([])
  })

  test('of a state is more than its wells have together, in every month', () => {
    for (const state of followed) {
      const prefix = { AK: '50', ND: '33', NM: '30', TX: '42' }[state]!
      for (const row of states.ofState(state, '2023-12', '2026-09')) {
        const { oil, gas } = filled.sumOf(prefix, row.month)
        expect(row.oilBbl, `oil of ${state} in ${row.month}`).toBeGreaterThan(oil)
        expect(row.gasMcf, `gas of ${state} in ${row.month}`).toBeGreaterThan(gas)
      }
      expect(filled.sumOf(prefix, '2026-08').oil).toBeGreaterThan(0)
    }
  })

  test('of the country is the sum of its states, which is the national series without federal waters', () => {
    for (const month of months.slice(0, -1)) {
      const national = states.national(month)!
      expect(national.oilBbl).toBe(states.ofMonth(month).reduce((sum, row) => sum + row.oilBbl, 0))
      const weeks = world
        .observations('US_CRUDE_PRODUCTION', Date.UTC(2019, 11, 1), startAt)
        .filter(observation => isoDay(observation.observedAt).startsWith(month))
      const mean = weeks.reduce((sum, week) => sum + week.value, 0) / weeks.length
      expect(national.oilBbl / daysIn(month) / 1e6 / mean, month).toBeCloseTo(0.86, 6)
    }
  })

  test('is final but for the newest month', () => {
    expect(months.map(month => states.national(month)!.provisional)).toEqual(
      months.map(month => month === '2026-08'),
    )
  })

  test('of a well begins with its first production, falls, and is never more than its days allow', () => {
    const rows = wells.ofWell(sample)
    const well = wellStore.get(sample)!
    expect(rows[0]!.month).toBe(well.firstProductionOn!.slice(0, 7))
    expect(rows.at(-1)!.month).toBe('2026-08')
    expect(rows.length).toBeGreaterThan(24)
    const daily = rows.map(row => row.oilBbl! / row.daysProducing!)
    expect(daily).toEqual(daily.toSorted((a, b) => b - a))
    for (const row of rows.slice(1))
      expect(row.daysProducing!).toBeLessThanOrEqual(daysIn(row.month))
    expect(rows[0]!.daysProducing!).toBeLessThanOrEqual(
      daysIn(rows[0]!.month) + 1 - Number(well.firstProductionOn!.slice(8)),
    )
    expect(daily.at(-1)! / daily[0]!).toBeLessThan(0.35)
  })

  test('demo well production follows the well type that the permit states', () => {
    const texas = statePlaces.find(state => state.code === 'TX')!
    const some = ['2025-01-15', '2026-03-17'].flatMap(day => permitsOn(1, texas, day, 60, startAt))
    expect(some.map(permit => wellTypeOf(1, texas, permit.apiNumber!))).toEqual(
      some.map(permit => permit.wellType as 'oil'),
    )
    expect(new Set(some.map(permit => permit.wellType))).toEqual(
      new Set(['oil', 'gas', 'injection']),
    )
    const producing = wellStore
      .search({ state: 'TX', producingTo: '2026-08-01' })
      .filter(well => well.source === 'fixture')
    for (const well of producing.slice(0, 300)) {
      const type = wellTypeOf(1, texas, well.apiNumber)
      const [row] = wells.ofWell(well.apiNumber)
      expect(row !== undefined, well.apiNumber).toBe(type !== 'injection')
      if (row) expect(row.gasMcf! / row.oilBbl! > 50, well.apiNumber).toBe(type === 'gas')
    }
  })
})

describe('as the clock moves', () => {
  test('the next month comes on the last working day of the second month after it, and the one before becomes final', () => {
    const own = copy()
    const at = parseInstant('2026-11-30T15:00:00Z')!
    expect(productionPublishedAt('2026-09')).toBe(at)
    const before = own.production.states.national('2026-08')!
    expect(own.filler.advance(at - 1)).toBe(0)
    expect(own.production.states.newestMonth()).toBe('2026-08')
    expect(own.filler.advance(at)).toBe(1)
    expect(own.filler.advance(at)).toBe(0)
    const after = own.production.states.national('2026-08')!
    expect(before.provisional).toBe(true)
    expect(after.provisional).toBe(false)
    expect(after.oilBbl / before.oilBbl).toBeGreaterThan(1.001)
    expect(after.oilBbl / before.oilBbl).toBeLessThan(1.02)
    expect(own.production.states.national('2026-09')!.provisional).toBe(true)
    expect(own.production.states.newestOf('TX')).toMatchObject({ month: '2026-09', recordedAt: at })
    expect(own.production.wells.newest().map(coverage => coverage.month)).toEqual(
      followed.map(() => '2026-09'),
    )
    const newcomer = wellStore.search({
      state: 'TX',
      producingFrom: '2026-09-01',
      producingTo: '2026-10-01',
    })[0]!
    expect(own.production.wells.ofWell(newcomer.apiNumber).map(row => row.month)).toEqual([
      '2026-09',
    ])
    expect(own.production.wells.ofWell(sample).at(-1)!.month).toBe('2026-09')
  })

  test('it is the same however the clock came there, and differs by seed', () => {
    const start = parseInstant('2024-11-20T15:00:00Z')!
    const [jump, steps, second] = [
      copy({ now: start }),
      copy({ now: start }),
      copy({ seed: 2, now: start }),
    ]
    const to = parseInstant('2025-01-31T20:00:00Z')!
    jump.filler.advance(to)
    for (let at = start; at <= to; at += 9 * 86_400_000) steps.filler.advance(at)
    steps.filler.advance(to)
    const late = copy({ now: to })
    expect(steps.rows()).toEqual(jump.rows())
    expect(late.rows()).toEqual(jump.rows())
    expect(steps.stateRows()).toEqual(jump.stateRows())
    expect(late.stateRows()).toEqual(jump.stateRows())
    expect(second.rows()).not.toEqual(jump.rows())
  })
})
