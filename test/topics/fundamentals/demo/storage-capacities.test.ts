import { describe, expect, test } from 'bun:test'
import { isoDay, parseInstant } from '../../../../src/lib/time/instant.ts'
import { createStorageCapacityData } from '../../../../src/topics/fundamentals/demo/storage-capacities.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'
import { published } from '../../../support/world/published.ts'

const now = parseInstant('2026-11-20T15:00:00Z')!

function setUp() {
  const { services } = openTestInstance()
  const idOf = (code: string) => services.catalogue.named(code)?.id
  const capacities = services.storageCapacities
  return {
    capacities,
    idOf,
    fixture: published(createStorageCapacityData(capacities, idOf)),
    list: services.catalogue.list(),
  }
}

describe('the capacities of a demo instance', () => {
  test('reach back before the first level, are the same on every machine and never run ahead of the clock', () => {
    const { capacities, idOf, fixture } = setUp()
    fixture.advance(now)
    const cushing = (day: string) => capacities.on(idOf('CUSHING_STORAGE')!, day)
    expect(cushing('2020-01-01')).toMatchObject({ effectiveOn: '2019-09-30', source: 'fixture' })
    expect(cushing('2030-01-01')!.effectiveOn).toBe('2026-09-30')
    expect([cushing('2020-01-01')!.capacity, cushing('2026-11-18')!.capacity]).toEqual([
      76.86, 79.1,
    ])
  })

  test('come on as the clock moves, and once', () => {
    const { capacities, idOf, fixture } = setUp()
    fixture.advance(now)
    expect(fixture.advance(now)).toBe(0)
    expect(fixture.advance(parseInstant('2027-03-30T23:59:00Z')!)).toBe(0)
    expect(fixture.advance(parseInstant('2027-03-31T00:00:00Z')!)).toBe(12)
    expect(capacities.on(idOf('SPR_STORAGE')!, '2027-06-01')!.effectiveOn).toBe('2027-03-31')
    // Published again after a crash, nothing is written twice.
    const from = parseInstant('2027-03-30T00:00:00Z')!
    expect(
      createStorageCapacityData(capacities, idOf).publish(
        from,
        parseInstant('2027-04-01T00:00:00Z')!,
      ),
    ).toBe(0)
  })

  test('demo storage capacities are always larger than the stored volumes', () => {
    const { capacities, idOf, fixture, list } = setUp()
    fixture.advance(now)
    const world = createWorld({ seed: 1, series: list.map(item => ({ ...item, available: true })) })
    const places = list.filter(({ code }) => capacities.on(idOf(code)!, '2026-11-20'))
    expect(places).toHaveLength(12)
    for (const { code } of places) {
      for (const { observedAt, value } of world.history(code, now)) {
        expect(value, code).toBeLessThan(capacities.on(idOf(code)!, isoDay(observedAt))!.capacity)
      }
    }
  })

  test('the demo data generator leaves imported storage capacities unchanged', () => {
    const { capacities, idOf, fixture } = setUp()
    capacities.write(
      [
        {
          seriesId: idOf('CUSHING_STORAGE')!,
          effectiveOn: '2026-03-31',
          capacity: 78.41,
          source: 'EIA',
        },
      ],
      1,
    )
    fixture.advance(now)
    expect(capacities.on(idOf('CUSHING_STORAGE')!, '2026-04-01')).toMatchObject({
      capacity: 78.41,
      source: 'EIA',
    })
  })
})
