import { describe, expect, test } from 'bun:test'
import { createManualClock, type ManualClock } from '../../../../src/lib/time/clock.ts'
import {
  dayMs,
  isoDay,
  parseDay,
  parseInstant,
  weekdayOf,
} from '../../../../src/lib/time/instant.ts'
import {
  createSurchargeData,
  type SurchargeIndex,
} from '../../../../src/topics/fuels/demo/surcharges.ts'
import {
  createSurchargeStore,
  type SurchargeStore,
} from '../../../../src/topics/fuels/store/surcharges.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { type PublishedData, published } from '../../../support/world/published.ts'

const start = parseInstant('2026-11-20T15:00:00Z')!
const firstMonday = parseDay('2021-01-04')!

/** Diesel every Monday and jet fuel every weekday, as published before `now`. */
function indexAt(now: () => number) {
  const all = (stepDays: number, price: (n: number) => number) =>
    Array.from({ length: Math.ceil((7 * 366) / stepDays) }, (_, n) => ({
      day: isoDay(firstMonday + n * stepDays * dayMs),
      value: price(n),
    }))
  const [jet, diesel] = [
    all(1, n => 2 + (n % 50) / 100).filter(({ day }) => weekdayOf(parseDay(day)!) < 6),
    all(7, n => Math.round(3200 + (n % 60) * 20) / 1000),
  ]
  const published = (closes: typeof jet) => {
    const last = isoDay(now() - 22 * 3_600_000)
    return closes.slice(0, closes.findLastIndex(({ day }) => day <= last) + 1)
  }
  return (code: string): SurchargeIndex =>
    code === 'JET_FUEL_USD'
      ? { cadence: 'twice_daily', decimals: 3, closes: published(jet) }
      : { cadence: 'weekly', decimals: 3, closes: published(diesel) }
}

interface Copy {
  clock: ManualClock
  surcharges: SurchargeStore
  filler: PublishedData
}

function copy(): Copy {
  const clock = createManualClock(start)
  const surcharges = createSurchargeStore(databaseInMemory())
  return {
    clock,
    surcharges,
    filler: published(createSurchargeData({ seed: 1, surcharges, indexOf: indexAt(clock.now) })),
  }
}

const weeksOf = ({ surcharges, clock }: Copy, carrier = 'alder') =>
  surcharges.history(
    { mode: 'ltl', carrier, serviceLevel: undefined, toOn: isoDay(clock.now()) },
    1000,
    0,
  )

describe('the carriers of a demo instance', () => {
  test('are four for freight and two for parcels with three services each, with years of weeks', () => {
    const filled = copy()
    filled.filler.advance(start)
    expect(filled.surcharges.inForce('ltl', '2026-11-20').map(row => row.carrier)).toEqual([
      'alder',
      'basin',
      'cordell',
      'dunmore',
    ])
    expect(
      filled.surcharges
        .inForce('parcel', '2026-11-20')
        .map(row => `${row.carrier} ${row.serviceLevel}`),
    ).toEqual([
      'harbor express',
      'harbor ground',
      'harbor international',
      'meridian express',
      'meridian ground',
      'meridian international',
    ])
    for (const carrier of ['alder', 'basin', 'cordell', 'dunmore']) {
      const days = weeksOf(filled, carrier).map(row => row.effectiveOn)
      expect(days.length, carrier).toBeGreaterThan(3 * 52)
      for (let i = 1; i < days.length; i++)
        expect(parseDay(days[i - 1]!)! - parseDay(days[i]!)!, carrier).toBe(7 * dayMs)
    }
  })

  test('charge by the band that holds the price, and were read after the week took effect', () => {
    const filled = copy()
    filled.filler.advance(start)
    const rows = [...weeksOf(filled), ...filled.surcharges.inForce('parcel', '2026-11-20')]
    for (const { bandMin, bandMax, indexPrice, effectiveOn, retrievedAt, fixture } of rows) {
      expect(bandMin <= indexPrice && indexPrice < bandMax).toBe(true)
      expect({ isoDay: isoDay(retrievedAt), fixture }).toEqual({
        isoDay: effectiveOn,
        fixture: true,
      })
    }
    const newest = weeksOf(filled)[0]!
    // The 306th Monday is the 16th: 3.2 + 6 x 0.02, in the 42nd step of five cents from 1.2: 2.5 +
    // 42 x 0.5.
    expect({
      effectiveOn: newest.effectiveOn,
      indexPrice: newest.indexPrice,
      bandMin: newest.bandMin,
      bandMax: newest.bandMax,
      percent: newest.percent,
    }).toEqual({
      effectiveOn: '2026-11-18',
      indexPrice: 3.32,
      bandMin: 3.3,
      bandMax: 3.35,
      percent: 23.5,
    })
  })

  test('have the tables that they charge by, which are not matched again', () => {
    const filled = copy()
    filled.filler.advance(start)
    const tables = filled.surcharges.schedules()
    expect(tables).toHaveLength(19)
    expect(tables.every(table => !table.matched)).toBe(true)
  })

  test('demo carriers publish surcharges week by week, and each page is read once on its day', () => {
    const filled = copy()
    filled.filler.advance(start)
    const before = weeksOf(filled).length
    expect(filled.filler.advance(start)).toBe(0)
    const wednesday = parseDay('2026-11-25')!
    for (let at = start; at < wednesday + 20 * 3_600_000; at += 3_600_000) {
      filled.clock.set(at)
      filled.filler.advance(at)
      const newest = weeksOf(filled)[0]!
      expect(newest.retrievedAt <= at).toBe(true)
      if (at < wednesday + 13 * 3_600_000) expect(newest.effectiveOn).toBe('2026-11-18')
    }
    expect(
      weeksOf(filled)
        .map(row => row.effectiveOn)
        .slice(0, 2),
    ).toEqual(['2026-11-25', '2026-11-18'])
    expect(weeksOf(filled)).toHaveLength(before + 1)
  })

  test('after a time without the feed have the weeks that it missed, as if it had not stood still', () => {
    const [halted, running] = [copy(), copy()]
    const late = start + 40 * dayMs
    halted.filler.advance(start)
    for (let at = start; at <= late; at += 6 * 3_600_000) {
      running.clock.set(at)
      running.filler.advance(at)
    }
    halted.clock.set(late)
    expect(weeksOf(halted)[0]!.effectiveOn).toBe('2026-11-18')
    halted.filler.advance(late)
    expect(weeksOf(halted)).toEqual(weeksOf(running))
  })

  test('demo carriers are the same for one seed, and an edited table stays unchanged', () => {
    const [first, second] = [copy(), copy()]
    first.filler.advance(start)
    const table = first.surcharges.schedules().find(row => row.carrier === 'alder')!
    second.surcharges.writeSchedules([{ ...table, carrierName: 'Changed' }], 1)
    second.filler.advance(start)
    expect(weeksOf(second)).toEqual(weeksOf(first))
    expect(second.surcharges.schedules().find(row => row.carrier === 'alder')!.carrierName).toBe(
      'Changed',
    )
  })
})
