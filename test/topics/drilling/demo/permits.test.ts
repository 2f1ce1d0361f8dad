import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoDay } from '../../../../src/lib/time/instant.ts'
import { wellPermits } from '../../../../src/topics/drilling/dataset/permits.ts'
import { createFracData } from '../../../../src/topics/drilling/demo/frac.ts'
import { statePlaces } from '../../../../src/topics/drilling/demo/permit-places.ts'
import { createPermitData } from '../../../../src/topics/drilling/demo/permits.ts'
import { createPermits } from '../../../../src/topics/drilling/service/permits.ts'
import { isInside } from '../../../../src/topics/geography/math/geography.ts'
import { permitStateOf, permitStates } from '../../../../src/topics/geography/math/us-states.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import type { ServiceEvent } from '../../../../src/topics/webhooks/service/events.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { datasetOf } from '../../../support/topics/datasets.ts'
import { published } from '../../../support/world/published.ts'

const sampleWell = '42329400010000'

interface Copy extends TestInstance {
  events: ServiceEvent[]
  world: ReturnType<typeof createWorld>
  advance(ms: number): void
}

function copy(instance = openTestInstance()): Copy {
  const { services } = instance
  const listed = services.catalogue
    .list()
    .map(item => ({ ...item, available: item.unavailableReason === null }))
  const world = createWorld({ seed: 1, series: listed })
  const events: ServiceEvent[] = []
  const runtime = {
    ...services,
    seed: 1,
    world,
    permits: createPermits({ db: services.db, events: { emit: event => events.push(event) } }),
  }
  const feed = published(
    createPermitData(runtime),
    createFracData({
      ...runtime,
      disclosures: services.fracDisclosures,
      chemicals: services.fracChemicals,
    }),
  )
  feed.advance(startAt)
  return {
    ...instance,
    events,
    world,
    advance(ms) {
      instance.clock.advance(ms)
      feed.advance(instance.clock.now())
    },
  }
}

/** One instance for all tests that only read. */
const filled = copy()
const today = isoDay(startAt)
const all = (instance: TestInstance) => {
  const { search, store, counts } = instance.services.permits
  return store.rows(search.page({}, counts.total(), 0).ids)
}
const stored = all(filled)

describe('the permits of a demo instance', () => {
  test('are of all 26 states, some ten thousand of them over three years, marked as fixture data', () => {
    expect(new Set(stored.map(permit => permit.state))).toEqual(
      new Set(permitStates.map(state => state.code)),
    )
    expect(stored.length).toBeGreaterThan(8_000)
    expect(stored.length).toBeLessThan(12_000)
    expect([
      stored.filter(permit => permit.state === 'TX').at(-1)!.permitOn,
      new Set(stored.map(permit => permit.source)),
    ]).toEqual([dayAfter(today, -1096), new Set(['fixture'])])
  })

  test('would all be taken as an import: numbers, states and places fit', () => {
    const { check } = datasetOf(wellPermits, () => ({ inserted: 0, revised: 0, unchanged: 0 }))
    const faults = stored.flatMap(permit => {
      const row = {
        ...permit,
        state: permit.state,
        permit_date: permit.permitOn,
        permit_number: permit.permitNumber,
        api_number: permit.apiNumberRaw,
      }
      const status = check(
        {
          ...row,
          latitude: permit.latitude,
          longitude: permit.longitude,
          operator: permit.operator,
        },
        startAt,
      )
      const box = permitStateOf(permit.state)!.box
      const inside = isInside(box, { latitude: permit.latitude!, longitude: permit.longitude! })
      return 'record' in status && inside ? [] : [{ ...permit, ...status }]
    })
    expect(faults.slice(0, 3)).toEqual([])
  })

  test('demo well permits of the last 90 days match the daily counts of the catalogue series', () => {
    const day = '2026-11-10'
    for (const [state, code] of [
      ['TX', 'TEXAS_WELL_PERMITS'],
      ['NM', 'NEW_MEXICO_WELL_PERMITS'],
    ] as const) {
      const [value] = filled.world
        .observations(code, Date.parse(day) - dayMs, Date.parse(day) + 3 * dayMs)
        .filter(observation => isoDay(observation.observedAt) === day)
      expect(value!.value).toBeGreaterThan(0)
      expect(filled.services.permits.counts.between(state, day, dayAfter(day, 1))).toBe(
        Math.round(value!.value),
      )
    }
  })

  test('are fresh at the start, but for states that publish by the quarter', () => {
    const register = filled.services.permits.coverage(undefined, today)!
    expect({ stale: register.stale, staleStates: register.staleStates.sort() }).toEqual({
      stale: false,
      staleStates: ['NV', 'NY'],
    })
  })

  test('begin with the well that documentation names, whose whole life is known', async () => {
    expect(filled.services.permits.store.rows([1])[0]).toMatchObject({
      apiNumber: sampleWell,
      state: 'TX',
      county: 'Midland',
    })
    const well = filled.services.wells.get(sampleWell)!
    const milestones = [well.permitOn, well.spudOn, well.completedOn, well.firstProductionOn]
    expect(milestones).toEqual(milestones.toSorted())
    expect(new Set(milestones).size).toBe(4)
    expect(filled.services.fracDisclosures.ofWell(sampleWell)).toHaveLength(1)
  })

  test('are not announced as events while the history is generated', () =>
    expect(filled.events).toEqual([]))

  test('are the same for one seed', () => {
    expect(all(copy())).toEqual(stored)
  })

  test('number the counties of each state without duplicates', () => {
    for (const state of statePlaces)
      expect(new Set(state.counties.map(county => county.code)).size).toBe(state.counties.length)
  })
})

describe('wells and disclosures', () => {
  test('are of the four states whose wells are followed, in the order of a life, none in the future', () => {
    const wells = filled.services.wells.search({})
    expect(new Set(wells.map(well => well.state))).toEqual(new Set(['AK', 'ND', 'NM', 'TX']))
    for (const { permitOn, spudOn, completedOn, firstProductionOn } of wells) {
      const days = [permitOn, spudOn, completedOn, firstProductionOn]
      const knownDays = days.filter(day => day !== null)
      expect(days.slice(0, knownDays.length)).toEqual(knownDays)
      expect(knownDays.toSorted()).toEqual(knownDays)
      expect(knownDays.at(-1)! <= today).toBe(true)
    }
    expect(wells.filter(well => well.firstProductionOn !== null).length).toBeGreaterThan(1000)
  })

  test('demo disclosures cover part of the wells, and disclosed fluids add up to a hundred percent', () => {
    const { fracDisclosures, fracChemicals } = filled.services
    expect(fracDisclosures.total()).toBeGreaterThan(300)
    expect(fracChemicals.count()).toBeGreaterThan(5)
    const fluid = fracChemicals.of(fracDisclosures.ofWell(sampleWell)[0]!.id)
    expect(fluid.reduce((sum, chemical) => sum + chemical.concentrationPercent!, 0)).toBeCloseTo(
      100,
      3,
    )
    expect(fracDisclosures.newestOn()! < dayAfter(today, -30)).toBe(true)
  })
})

describe('as the clock moves', () => {
  test('lists come out, are announced, and wells make progress', () => {
    const running = copy()
    const { permits: register, wells, fracDisclosures } = running.services
    const before = {
      permits: register.counts.total(),
      jobs: fracDisclosures.total(),
      done: wells.search({}).filter(well => well.firstProductionOn).length,
    }
    for (let hour = 0; hour < 8 * 24; hour++) running.advance(hourMs)
    expect(register.coverage(['TX'], isoDay(running.clock.now()))!.dataAgeDays).toBeLessThan(4)
    expect(register.counts.total() - before.permits).toBeGreaterThan(300)
    expect(fracDisclosures.total()).toBeGreaterThan(before.jobs)
    expect(wells.search({}).filter(well => well.firstProductionOn).length).toBeGreaterThan(
      before.done,
    )
    const texas = running.events.filter(
      event => event.state === 'TX' && event.type === 'drilling.well_permits.batch',
    )
    expect(texas.length).toBeGreaterThanOrEqual(4)
    const announced = running.events.reduce(
      (sum, event) => sum + (event.type.endsWith('batch') ? (event.data.count as number) : 1),
      0,
    )
    expect(announced).toBe(register.counts.total() - before.permits)
  })
})
