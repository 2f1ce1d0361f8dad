import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, isoInstant, minuteMs } from '../../../src/lib/time/instant.ts'
import { zoneName } from '../../../src/lib/time/zone.ts'
import {
  type DeliverySchedule,
  deliveryCadences,
  lastDelivery,
  nextDelivery,
} from '../../../src/plans/messages/delivery-schedule.ts'
import { clockText } from '../../support/clock-text.ts'
import { runs } from '../../support/full.ts'
import { deliveriesWithin, pieces, shown } from '../../support/topics/delivery-oracle.ts'

const torture = process.env.WELLHEAD_TORTURE === '1'
const zones = Intl.supportedValuesOf('timeZone').filter(zone => zoneName(zone) !== undefined)
/**
 * The usual run checks every seventh zone, at those whose clocks do something odd, and at the one
 * that is computed without rules.
 */
const odd = [
  'America/Nuuk',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'Asia/Beirut',
  'America/Havana',
  'Asia/Gaza',
  'Antarctica/Troll',
  'UTC',
]
const looked = torture ? zones : [...new Set([...odd, ...zones.filter((_, i) => i % 7 === 0)])]
const [since, until] = [Date.UTC(2015, 0, 1), Date.UTC(2031, 0, 1)]

const changesByZone = new Map<string, number[]>()
/** When the clocks of a zone were changed. */
function changesOf(zone: string): number[] {
  const changes =
    changesByZone.get(zone) ??
    pieces(zone, since, until, 10 * dayMs)
      .slice(1)
      .map(piece => piece.from)
  changesByZone.set(zone, changes)
  return changes
}

const cadences = fc.oneof(
  ...deliveryCadences
    .filter(cadence => cadence !== 'weekly')
    .map(cadence => fc.constant({ cadence, weekday: null })),
  fc.integer({ min: 1, max: 7 }).map(weekday => ({ cadence: 'weekly' as const, weekday })),
)
const anywhere = fc.record({
  at: fc.integer({ min: since, max: until }),
  minute: fc.integer({ min: 0, max: 1439 }),
})
/**
 * A moment within two days of a change of the clock and a time of day within an hour and a half of
 * it, where there is one.
 */
const aroundChange = (zone: string) => {
  const changes = changesOf(zone)
  if (changes.length === 0) return anywhere
  return fc
    .record({
      change: fc.constantFrom(...changes),
      away: fc.integer({ min: -2 * dayMs, max: 2 * dayMs }),
      minutes: fc.integer({ min: -90, max: 90 }),
    })
    .map(({ change, away, minutes }) => ({
      at: change + away,
      minute: (((Math.floor(shown(change, zone) / minuteMs) + minutes) % 1440) + 1440) % 1440,
    }))
}
const cases = fc
  .constantFrom(...looked)
  .chain(zone =>
    fc.tuple(
      fc.constant(zone),
      cadences,
      fc.oneof(anywhere, aroundChange(zone), aroundChange(zone)),
    ),
  )
  .map(([timeZone, schedule, { at, minute }]) => ({
    schedule: { ...schedule, timeZone, deliveryTime: clockText(minute) },
    at,
  }))

test('the next and the last delivery are those that reading the clock itself gives', () => {
  expect(zones.length).toBeGreaterThan(400)
  fc.assert(
    fc.property(cases, ({ schedule, at }) => {
      const days = schedule.cadence === 'daily' ? 3 : schedule.cadence === 'weekdays' ? 4 : 8
      const all = deliveriesWithin(schedule, at - days * dayMs, at + days * dayMs)
      expect(nextDelivery(schedule, at)).toEqual(all.find(moment => moment.at > at)!)
      expect(lastDelivery(schedule, at)).toEqual(all.findLast(moment => moment.at <= at)!)
    }),
    { numRuns: torture ? 100_000 : runs(400), seed: 13 },
  )
}, 1_800_000)

test('one after the other gives each local day once, whatever the clock does', () => {
  for (const timeZone of torture ? zones : odd) {
    const schedule: DeliverySchedule = {
      cadence: 'daily',
      weekday: null,
      deliveryTime: '02:30',
      timeZone,
    }
    const days: string[] = []
    let at = Date.UTC(2023, 0, 1)
    while (at < Date.UTC(2026, 0, 1)) {
      const next = nextDelivery(schedule, at)
      expect(next.at).toBeGreaterThan(at)
      days.push(next.day)
      at = next.at
    }
    const startsAt = days.map(day => Date.parse(day))
    expect(
      startsAt.every((at, i) => i === 0 || at - startsAt[i - 1]! === dayMs),
      timeZone,
    ).toBe(true)
  }
}, 600_000)

const on = (
  cadence: DeliverySchedule['cadence'],
  deliveryTime: string,
  timeZone: string,
  weekday: number | null = null,
): DeliverySchedule => ({
  cadence,
  deliveryTime,
  timeZone,
  weekday,
})

describe('a delivery', () => {
  test.each([
    [
      'a skipped time runs when the clock continues',
      on('daily', '02:30', 'Europe/Berlin'),
      '2026-03-28T23:00:00Z',
      '2026-03-29T01:00:00Z',
      '2026-03-29',
    ],
    [
      'a repeated time runs the first time',
      on('daily', '02:30', 'Europe/Berlin'),
      '2026-10-24T23:00:00Z',
      '2026-10-25T00:30:00Z',
      '2026-10-25',
    ],
    [
      'and not the second time',
      on('daily', '02:30', 'Europe/Berlin'),
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:30:00Z',
      '2026-10-26',
    ],
    [
      'what is skipped up to midnight is still of its day',
      on('daily', '23:30', 'America/Nuuk'),
      '2026-03-28T12:00:00Z',
      '2026-03-29T01:00:00Z',
      '2026-03-28',
    ],
    [
      'a half-hour change',
      on('daily', '02:15', 'Australia/Lord_Howe'),
      '2026-10-03T12:00:00Z',
      '2026-10-03T15:30:00Z',
      '2026-10-04',
    ],
    [
      'weekdays pass over the weekend',
      on('weekdays', '07:00', 'UTC'),
      '2026-11-20T07:00:00Z',
      '2026-11-23T07:00:00Z',
      '2026-11-23',
    ],
    [
      'the weekday is that of the place',
      on('weekly', '00:15', 'Pacific/Kiritimati', 1),
      '2026-11-20T00:00:00Z',
      '2026-11-22T10:15:00Z',
      '2026-11-23',
    ],
    [
      'a day that a place leaves out has none',
      on('daily', '07:00', 'Pacific/Apia'),
      '2011-12-30T00:00:00Z',
      '2011-12-30T17:00:00Z',
      '2011-12-31',
    ],
    [
      'nor has its week',
      on('weekly', '07:00', 'Pacific/Apia', 5),
      '2011-12-24T00:00:00Z',
      '2012-01-05T17:00:00Z',
      '2012-01-06',
    ],
  ])('%s', (_, schedule, after, at, day) => {
    const next = nextDelivery(schedule, Date.parse(after))
    expect({ at: isoInstant(next.at), day: next.day }).toEqual({ at, day })
  })

  test('that was of tomorrow, before the clock was set back over midnight, is the last one', () => {
    const at = Date.parse('2010-11-07T02:45:00Z')
    const schedule = on('daily', '00:00', 'America/St_Johns')
    expect(lastDelivery(schedule, at)).toEqual({
      at: Date.parse('2010-11-07T02:30:00Z'),
      day: '2010-11-07',
    })
    expect(nextDelivery(schedule, at).day).toBe('2010-11-08')
  })

  test('of a day that has had its run has no second one, even in a zone where that day is still to come', () => {
    const schedule = on('daily', '09:00', 'Pacific/Honolulu')
    const after = Date.parse('2026-11-20T12:00:00Z')
    expect(nextDelivery(schedule, after).day).toBe('2026-11-20')
    expect(nextDelivery(schedule, after, '2026-11-21').day).toBe('2026-11-22')
    expect(nextDelivery(schedule, after, '2026-11-01').day).toBe('2026-11-20')
  })
})
