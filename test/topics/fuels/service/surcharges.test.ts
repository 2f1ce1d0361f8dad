import { describe, expect, test } from 'bun:test'
import { dayMs, parseDay } from '../../../../src/lib/time/instant.ts'
import type { CarrierSchedule } from '../../../../src/topics/fuels/dataset/surcharge-schedules.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'

const monday = parseDay('2026-11-16')! + 12 * 3_600_000
const diesel = 'DIESEL_US_NATIONAL_USD'

const table = (more: Partial<CarrierSchedule> = {}): CarrierSchedule => ({
  mode: 'ltl',
  carrier: 'alder',
  serviceLevel: '',
  carrierName: 'Alder',
  serviceName: '',
  validFromOn: '2026-01-05',
  indexCode: diesel,
  effectiveWeekday: 3,
  matched: true,
  source: 'https://alder.example/',
  retrievedAt: 1_767_600_000_000,
  bands: [
    { min: 3, max: 3.5, percent: 20 },
    { min: 3.5, max: 4, percent: 30 },
  ],
  ...more,
})

const weeksOf = (instance: TestInstance, carrier = 'alder') =>
  instance.services.surcharges
    .history({ mode: 'ltl', carrier, serviceLevel: undefined, toOn: '9999-12-31' }, 100, 0)
    .map(row => [row.effectiveOn, row.indexPrice, row.percent])
const match = (instance: TestInstance) =>
  instance.services.surchargeMatching.match(instance.clock.now())

describe('matching', () => {
  test('records each week that has taken effect, once', () => {
    const instance = openTestInstance()
    instance.record(diesel, [3.4, 3.5, 3.6], monday, 7 * dayMs)
    instance.services.surcharges.writeSchedules([table()], 1)
    expect(match(instance)).toBe(3)
    expect(weeksOf(instance)).toEqual([
      ['2026-11-18', 3.6, 30],
      ['2026-11-11', 3.5, 30],
      ['2026-11-04', 3.4, 20],
    ])
    expect(match(instance)).toBe(0)
    expect(instance.services.surcharges.inForce('ltl', '2026-11-20')[0]).toMatchObject({
      bandMin: 3.5,
      bandMax: 4,
      source: 'https://alder.example/',
      retrievedAt: 1_767_600_000_000,
      fixture: false,
    })
  })

  test('waits for the day on which a week takes effect', () => {
    const instance = openTestInstance({}, parseDay('2026-11-17')!)
    instance.record(diesel, [3.4, 3.6], monday, 7 * dayMs)
    instance.services.surcharges.writeSchedules([table()], 1)
    match(instance)
    expect(weeksOf(instance).map(([day]) => day)).toEqual(['2026-11-11'])
    instance.clock.set(parseDay('2026-11-18')!)
    expect(match(instance)).toBe(1)
    expect(weeksOf(instance)[0]).toEqual(['2026-11-18', 3.6, 30])
  })

  test('takes up prices and tables that come later', () => {
    const instance = openTestInstance()
    instance.services.surcharges.writeSchedules([table()], 1)
    expect(match(instance)).toBe(0)
    instance.record(diesel, [3.4], monday - 7 * dayMs, dayMs)
    expect(match(instance)).toBe(1)
    instance.services.surcharges.writeSchedules(
      [table({ carrier: 'basin', effectiveWeekday: 1 })],
      2,
    )
    expect(match(instance)).toBe(1)
    expect(weeksOf(instance, 'basin')).toEqual([['2026-11-16', 3.4, 20]])
  })

  test('matching leaves published and charged surcharges unchanged, whatever is corrected later', () => {
    const instance = openTestInstance()
    instance.record(diesel, [3.4, 3.6], monday, 7 * dayMs)
    instance.services.surcharges.writeSchedules([table()], 1)
    const { surcharges } = instance.services
    surcharges.write(
      [
        {
          mode: 'ltl',
          carrier: 'alder',
          serviceLevel: '',
          carrierName: 'Alder',
          serviceName: '',
          effectiveOn: '2026-11-11',
          percent: 77,
          indexCode: diesel,
          indexPrice: 3.41,
          bandMin: 3,
          bandMax: 4,
          source: 'https://alder.example/',
          retrievedAt: 2,
          fixture: false,
        },
      ],
      1,
    )
    expect(match(instance)).toBe(1)
    instance.record(diesel, [3.1, 3.1], monday, 7 * dayMs)
    surcharges.writeSchedules([table({ bands: [{ min: 0, max: 9, percent: 1 }] })], 3)
    expect(match(instance)).toBe(0)
    expect(weeksOf(instance)).toEqual([
      ['2026-11-18', 3.6, 30],
      ['2026-11-11', 3.41, 77],
    ])
  })

  test('leaves out weeks whose price has no band, weeks before the table, and tables that are only for show', () => {
    const instance = openTestInstance()
    instance.record(diesel, [3.3, 4.5, 3.6], monday, 7 * dayMs)
    instance.services.surcharges.writeSchedules(
      [table({ validFromOn: '2026-11-05' }), table({ carrier: 'basin', matched: false })],
      1,
    )
    expect(match(instance)).toBe(1)
    expect(weeksOf(instance)).toEqual([['2026-11-18', 3.6, 30]])
    expect(weeksOf(instance, 'basin')).toEqual([])
  })

  test('reads services by air at the mean of the week before', () => {
    const instance = openTestInstance()
    // Two prices a day from Monday the 9th: the closes are 2.1, 2.2 and 2.3.
    instance.record(
      'JET_FUEL_USD',
      [9, 2.1, 9, 2.2, 9, 2.3],
      parseDay('2026-11-11')! + 20 * 3_600_000,
      12 * 3_600_000,
    )
    const air = table({
      mode: 'parcel',
      carrier: 'harbor',
      serviceLevel: 'express',
      indexCode: 'JET_FUEL_USD',
      effectiveWeekday: 1,
    })
    instance.services.surcharges.writeSchedules(
      [{ ...air, bands: [{ min: 2, max: 3, percent: 12 }] }],
      1,
    )
    expect(match(instance)).toBe(1)
    expect(instance.services.surcharges.inForce('parcel', '2026-11-20')[0]).toMatchObject({
      effectiveOn: '2026-11-16',
      indexPrice: 2.2,
      percent: 12,
    })
  })

  test('does not read days in quarantine', () => {
    const instance = openTestInstance()
    instance.record(diesel, [3.4, 3.6], monday, 7 * dayMs)
    const series = instance.services.catalogue.resolve(diesel, instance.clock.now())!.series
    instance.services.quarantine.add({
      seriesId: series.id,
      fromOn: '2026-11-16',
      toOn: '2026-11-16',
      reason: 'wrong',
      createdAt: 1,
    })
    instance.services.surcharges.writeSchedules([table()], 1)
    match(instance)
    expect(weeksOf(instance).map(([day]) => day)).toEqual(['2026-11-11'])
  })
})
