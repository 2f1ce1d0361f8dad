import { describe, expect, test } from 'bun:test'
import type { CarrierSchedule } from '../../../../src/topics/fuels/dataset/surcharge-schedules.ts'
import type { Surcharge } from '../../../../src/topics/fuels/dataset/surcharges.ts'
import { createSurchargeStore } from '../../../../src/topics/fuels/store/surcharges.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const published = (effectiveOn: string, more: Partial<Surcharge> = {}): Surcharge => ({
  mode: 'ltl',
  carrier: 'alder',
  serviceLevel: '',
  carrierName: 'Alder',
  serviceName: '',
  effectiveOn,
  percent: 25,
  indexCode: 'DIESEL_US_NATIONAL_USD',
  indexPrice: 3.47,
  bandMin: 3.45,
  bandMax: 3.5,
  source: 'https://alder.example/',
  retrievedAt: 1_700_000_000_000,
  fixture: false,
  ...more,
})
const parcel = (serviceLevel: string, effectiveOn: string, carrier = 'harbor') =>
  published(effectiveOn, { mode: 'parcel', carrier, serviceLevel, serviceName: serviceLevel })

const table = (validFromOn: string, more: Partial<CarrierSchedule> = {}): CarrierSchedule => ({
  mode: 'ltl',
  carrier: 'alder',
  serviceLevel: '',
  carrierName: 'Alder',
  serviceName: '',
  validFromOn,
  indexCode: 'DIESEL_US_NATIONAL_USD',
  effectiveWeekday: 3,
  matched: true,
  source: 'https://alder.example/',
  retrievedAt: 5,
  bands: [
    { min: 0, max: 1.2, percent: 0 },
    { min: 1.2, max: 1.25, percent: 1 },
  ],
  beyond: { width: 0.05, percent: 0.5 },
  ...more,
})

const store = () => createSurchargeStore(databaseInMemory())

describe('weeks', () => {
  test('are what they were written as', () => {
    const surcharges = store()
    const row = published('2026-11-18', { percent: 25.25, fixture: true })
    surcharges.write([row], 1)
    expect(surcharges.inForce('ltl', '2026-11-18')).toEqual([row])
  })

  test('in force on a day are the newest of each service that took effect by then', () => {
    const surcharges = store()
    surcharges.write(
      [
        published('2026-11-11'),
        published('2026-11-18'),
        published('2026-11-25'),
        published('2026-11-19', { carrier: 'basin' }),
      ],
      1,
    )
    surcharges.write(
      [
        parcel('ground', '2026-11-16'),
        parcel('express', '2026-11-09'),
        parcel('ground', '2026-11-16', 'meridian'),
      ],
      1,
    )
    const inForce = (day: string) =>
      surcharges
        .inForce('ltl', day)
        .map(surcharge => `${surcharge.carrier} ${surcharge.effectiveOn}`)
    expect(inForce('2026-11-10')).toEqual([])
    expect(inForce('2026-11-18')).toEqual(['alder 2026-11-18'])
    expect(inForce('2026-11-24')).toEqual(['alder 2026-11-18', 'basin 2026-11-19'])
    expect(
      surcharges
        .inForce('parcel', '2026-11-20')
        .map(surcharge => `${surcharge.carrier} ${surcharge.serviceLevel}`),
    ).toEqual(['harbor express', 'harbor ground', 'meridian ground'])
    expect(surcharges.inForce('parcel', '2026-11-20', 'meridian')).toHaveLength(1)
  })

  test('of the past come newest first, then by service level, without those that are only announced', () => {
    const surcharges = store()
    surcharges.write(
      [
        parcel('ground', '2026-11-16'),
        parcel('express', '2026-11-16'),
        parcel('ground', '2026-11-09'),
        parcel('ground', '2026-11-23'),
      ],
      1,
    )
    const question = {
      mode: 'parcel' as const,
      carrier: 'harbor',
      serviceLevel: undefined,
      toOn: '2026-11-20',
    }
    expect(surcharges.count(question)).toBe(3)
    expect(
      surcharges.history(question, 10, 0).map(row => `${row.effectiveOn} ${row.serviceLevel}`),
    ).toEqual(['2026-11-16 express', '2026-11-16 ground', '2026-11-09 ground'])
    expect(surcharges.history(question, 1, 1).map(row => row.serviceLevel)).toEqual(['ground'])
    expect(surcharges.count({ ...question, serviceLevel: 'ground' })).toBe(2)
    expect(surcharges.weeks(parcel('ground', ''))).toEqual([
      '2026-11-09',
      '2026-11-16',
      '2026-11-23',
    ])
  })

  test('written again are unchanged, corrected they are revised', () => {
    const surcharges = store()
    const rows = [published('2026-11-11'), published('2026-11-18')]
    expect(surcharges.write(rows, 1)).toEqual({ inserted: 2, revised: 0, unchanged: 0 })
    expect(surcharges.write(rows, 2)).toEqual({ inserted: 0, revised: 0, unchanged: 2 })
    expect(surcharges.write([published('2026-11-18', { percent: 26 })], 3)).toEqual({
      inserted: 0,
      revised: 1,
      unchanged: 0,
    })
    expect(surcharges.inForce('ltl', '2026-11-18')[0]!.percent).toBe(26)
  })

  test('go in all or none', () => {
    const surcharges = store()
    expect(() =>
      surcharges.write(
        [published('2026-11-11'), published('2026-11-18', { mode: 'rail' as 'ltl' })],
        1,
      ),
    ).toThrow()
    expect(surcharges.inForce('ltl', '2027-01-01')).toEqual([])
  })
})

describe('tables', () => {
  test('are what they were written as, each service oldest first', () => {
    const surcharges = store()
    const rows = [
      table('2025-01-06'),
      table('2023-01-02', { beyond: undefined, matched: false }),
      table('2024-01-01', { carrier: 'basin' }),
    ]
    surcharges.writeSchedules(rows, 1)
    const { beyond: _, ...ending } = rows[1]!
    expect(surcharges.schedules()).toEqual([ending, rows[0]!, rows[2]!])
    expect(surcharges.writeSchedules(rows, 2)).toEqual({ inserted: 0, revised: 0, unchanged: 3 })
  })

  test('make a carrier known, and every write is noticed', () => {
    const surcharges = store()
    expect(surcharges.serviceLevels('ltl', 'alder')).toEqual([])
    const before = surcharges.version()
    surcharges.writeSchedules([table('2025-01-06')], 1)
    expect(surcharges.version()).not.toBe(before)
    expect(surcharges.serviceLevels('ltl', 'alder')).toEqual([''])
    expect(surcharges.serviceLevels('parcel', 'alder')).toEqual([])
  })
})
