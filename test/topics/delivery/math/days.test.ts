import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isoDay, isoInstant, parseDay, parseInstant } from '../../../../src/lib/time/instant.ts'
import { zoneName } from '../../../../src/lib/time/zone.ts'
import { zoneClock, zonedInstant } from '../../../../src/lib/time/zone-clock.ts'
import {
  createPeriodFinder,
  dateAfter,
  dayAt,
  dayOfDate,
  daysBetween,
  periodsOf,
} from '../../../../src/topics/delivery/math/days.ts'
import { createPeriodReader } from '../../../../src/topics/delivery/math/moments.ts'
import type { DeliveryTerms, Resolution } from '../../../../src/topics/delivery/math/terms.ts'
import { part, runs } from '../../../support/full.ts'
import { zoneNames } from '../../../support/topics/zone-names.ts'
import { walkedChanges, walkedClock } from './oracle.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const termsOf = (
  zone: string,
  resolution: Resolution,
  dayStarts = 0,
  more: Partial<DeliveryTerms> = {},
): DeliveryTerms => ({
  zone,
  dayStarts,
  resolutions: [{ from: '1900-01-01', resolution }],
  horizon: 'P2D',
  gateCloses: undefined,
  publishesAt: undefined,
  peak: { from: 480, to: 1200, weekdays: [1, 2, 3, 4, 5], holidays: false },
  ...more,
})
const at = (text: string) => parseInstant(text)!
const countOn = (terms: DeliveryTerms, date: string) =>
  periodsOf(terms, dayOfDate(terms, date)).length

describe('market days and their periods', () => {
  test('the days of a clock change have 92 and 100 quarters, 46 and 50 halves, 276 and 300 fives', () => {
    const zones = [
      ['Europe/Berlin', '2026-03-29', '2026-10-25'],
      ['Europe/London', '2026-03-29', '2026-10-25'],
      ['Europe/Athens', '2026-03-29', '2026-10-25'],
      ['Europe/Lisbon', '2026-03-29', '2026-10-25'],
      ['America/New_York', '2026-03-08', '2026-11-01'],
      ['America/Los_Angeles', '2026-03-08', '2026-11-01'],
      ['Australia/Sydney', '2026-10-04', '2026-04-05'],
    ] as const
    for (const [zone, spring, autumn] of zones)
      for (const [resolution, anHour] of [
        ['PT5M', 12],
        ['PT15M', 4],
        ['PT30M', 2],
        ['PT1H', 1],
      ] as const) {
        const terms = termsOf(zone, resolution)
        expect([spring, '2026-07-15', autumn].map(date => countOn(terms, date))).toEqual([
          23 * anHour,
          24 * anHour,
          25 * anHour,
        ])
      }
    expect(countOn(termsOf('Australia/Brisbane', 'PT5M'), '2026-10-04')).toBe(288)
    expect(countOn(termsOf('Europe/Berlin', 'P1D'), '2026-10-25')).toBe(1)
  })

  test('the gas day before the date of a clock change is the one that is shorter or longer', () => {
    for (const [zone, dayStarts] of [
      ['Europe/Berlin', 360],
      ['Europe/London', 300],
    ] as const) {
      const terms = termsOf(zone, 'PT1H', dayStarts)
      expect(
        ['2026-03-28', '2026-03-29', '2026-10-24', '2026-10-25'].map(date => countOn(terms, date)),
      ).toEqual([23, 24, 25, 24])
    }
    const gas = dayOfDate(termsOf('Europe/Berlin', 'P1D', 360), '2026-11-28')
    expect([gas.from, gas.to].map(isoInstant)).toEqual([
      '2026-11-28T05:00:00Z',
      '2026-11-29T05:00:00Z',
    ])
  })

  test('a clock change of half an hour leaves a shorter last period', () => {
    const terms = termsOf('Australia/Lord_Howe', 'PT1H')
    const periods = periodsOf(terms, dayOfDate(terms, '2026-10-04'))
    expect(periods).toHaveLength(24)
    expect(periods.at(-1)!.end - periods.at(-1)!.start).toBe(hourMs / 2)
  })

  test('where clocks change at midnight, the day begins at 01:00, or ends with its last hour twice', () => {
    for (const [zone, spring, autumn] of [
      ['America/Sao_Paulo', '2017-10-15', '2018-02-17'],
      ['Africa/Cairo', '2023-04-28', '2023-10-26'],
      ['Asia/Beirut', '2024-03-31', '2024-10-26'],
      ['America/Santiago', '2026-09-06', '2026-04-04'],
    ] as const) {
      const terms = termsOf(zone, 'PT30M')
      const [short, long] = [spring, autumn].map(date => dayOfDate(terms, date))
      expect(zonedInstant(short!.from, zone).slice(0, 16), zone).toEqual(`${spring}T01:00`)
      expect({ spring: countOn(terms, spring), autumn: countOn(terms, autumn) }, zone).toEqual({
        spring: 46,
        autumn: 50,
      })
      const reader = createPeriodReader(terms)
      expect(reader.read(`${spring}T00:30`)).toEqual({
        reason: 'no_such_period',
        nearest: [short!.from - 30 * minuteMs, short!.from],
      })
      expect(reader.read(`${autumn}T23:30`)).toEqual({
        reason: 'ambiguous',
        nearest: [long!.to - 90 * minuteMs, long!.to - 30 * minuteMs],
      })
      expect(dayAt(terms, long!.to - 30 * minuteMs).date).toBe(autumn)
      expect(dayAt(terms, long!.to).date).toBe(dateAfter(autumn, 1))
    }
  })

  test('half an hour that Lord Howe repeats or skips is read as its periods', () => {
    const terms = termsOf('Australia/Lord_Howe', 'PT30M')
    expect([countOn(terms, '2026-10-04'), countOn(terms, '2026-04-05')]).toEqual([47, 49])
    const reader = createPeriodReader(terms)
    expect(reader.read('2026-04-05T01:30')).toMatchObject({ reason: 'ambiguous' })
    expect(reader.read('2026-10-04T02:00')).toMatchObject({ reason: 'no_such_period' })
    expect(reader.read('2026-10-04T02:30')).toBe(at('2026-10-03T15:30:00Z'))
  })

  test('a start of day that the clocks skip is their change, and one that they repeat the first', () => {
    const skipped = dayOfDate(termsOf('Europe/Berlin', 'PT1H', 150), '2026-03-29')
    expect(isoInstant(skipped.from)).toBe('2026-03-29T01:00:00Z')
    const repeated = dayOfDate(termsOf('Europe/Berlin', 'PT1H', 150), '2026-10-25')
    expect(isoInstant(repeated.from)).toBe('2026-10-25T00:30:00Z')
    const left = dayOfDate(termsOf('Pacific/Apia', 'PT1H'), '2011-12-30')
    expect(left.to - left.from).toBe(0)
  })

  test('the resolution of a market day is the one in force on it', () => {
    const terms = termsOf('Europe/Berlin', 'PT15M', 0, {
      resolutions: [
        { from: '2018-10-01', resolution: 'PT1H' },
        { from: '2025-10-01', resolution: 'PT15M' },
      ],
    })
    expect(['2017-01-01', '2025-09-30', '2025-10-01'].map(date => countOn(terms, date))).toEqual([
      24, 24, 96,
    ])
  })

  test('more than 500 names of zones are known, old ones too', () => {
    expect(zoneNames.length).toBeGreaterThan(500)
    for (const name of zoneNames) expect(zoneName(name)).toBe(name)
    for (const [old, name] of [
      ['US/Eastern', 'America/New_York'],
      ['Europe/Kiev', 'Europe/Kyiv'],
      ['Asia/Calcutta', 'Asia/Kolkata'],
    ] as const)
      for (const date of ['2026-03-08', '2026-03-29', '2026-10-25', '2026-11-01'])
        expect(dayOfDate({ zone: old, dayStarts: 0 }, date)).toEqual(
          dayOfDate({ zone: name, dayStarts: 0 }, date),
        )
  })

  test('for every zone and thirty years of clock changes, days agree with clocks that are walked', () => {
    const [from, to] = [parseDay('2000-01-01')!, parseDay('2030-01-01')!]
    let changesSeen = 0
    const zones = part(zoneNames)
    for (const zone of zones) {
      const walked = walkedClock(zone)
      const days = { zone, dayStarts: 0 }
      const gas = { zone, dayStarts: 360 }
      for (const change of walkedChanges(zone, from, to)) {
        changesSeen += 1
        const date = walked.shown(change).slice(0, 10)
        const near = parseDay(date)! - 26 * hourMs
        for (const [terms, local] of [
          [days, `${date} 00:00`],
          [gas, `${date} 06:00`],
        ] as const)
          expect(dayOfDate(terms, date).from, zone).toEqual(
            walked.firstAt(local, near + 11 * hourMs, 15 * minuteMs),
          )
        for (const moment of [change - 1, change, change + 3 * hourMs]) {
          // Where clocks went back over midnight, as in Newfoundland, the day that had begun stays.
          if (walked.shown(change - 1).slice(0, 10) <= date)
            expect(dayAt(days, moment).date).toBe(walked.shown(moment).slice(0, 10))
          expect(isoInstant(zoneClock(zone).localAt(moment)).slice(0, 16).replace('T', ' ')).toBe(
            walked.shown(moment),
          )
        }
      }
    }
    expect(changesSeen).toBeGreaterThan(10 * zones.length)
  }, 120_000)

  const anyZone = fc.constantFrom(...zoneNames)
  const anyMoment = fc.integer({
    min: parseDay('1996-01-01')! / minuteMs,
    max: parseDay('2035-01-01')! / minuteMs,
  })
  const anyStart = fc.constantFrom(0, 60, 150, 300, 360)
  const anyResolution = fc.constantFrom<Resolution>('PT5M', 'PT15M', 'PT30M', 'PT1H', 'P1D')

  test('days follow each other without a gap, and their periods fill them', () => {
    fc.assert(
      fc.property(
        anyZone,
        anyMoment,
        anyStart,
        anyResolution,
        (zone, minute, starts, resolution) => {
          const moment = minute * minuteMs
          const terms = termsOf(zone, resolution, starts)
          const day = dayAt(terms, moment)
          expect(day.from <= moment && moment < day.to).toBe(true)
          expect(dayOfDate(terms, day.date)).toEqual(day)
          expect(dayOfDate(terms, dateAfter(day.date, 1)).from).toBe(day.to)
          const periods = periodsOf(terms, day)
          expect(periods[0]!.start).toBe(day.from)
          expect(periods.at(-1)!.end).toBe(day.to)
          for (const [i, period] of periods.entries())
            if (i > 0) expect(period.start).toBe(periods[i - 1]!.end)
          const found = createPeriodFinder(terms).at(moment)
          expect(periods).toContainEqual(found)
          expect(daysBetween(terms, day.from, day.to)).toEqual([day])
        },
      ),
      { numRuns: runs(400) },
    )
  })

  test('every start of a period is read back from its instant, its local time and its number', () => {
    fc.assert(
      fc.property(
        anyZone,
        anyMoment,
        anyStart,
        anyResolution,
        (zone, minute, starts, resolution) => {
          const terms = termsOf(zone, resolution, starts)
          const reader = createPeriodReader(terms)
          const day = dayAt(terms, minute * minuteMs)
          for (const [i, { start }] of periodsOf(terms, day).entries()) {
            expect(reader.read(isoInstant(start))).toBe(start)
            expect(reader.numbered(day.date, i + 1)).toBe(start)
            const local = zonedInstant(start, zone).slice(0, 19)
            const read = reader.read(local)
            if (typeof read === 'number') expect(read).toBe(start)
            else expect(read).toMatchObject({ reason: 'ambiguous' })
          }
        },
      ),
      { numRuns: runs(60) },
    )
  })
})

describe('times that are not the start of a period', () => {
  const reader = createPeriodReader(termsOf('Europe/Berlin', 'PT15M'))
  const refusalOf = (read: ReturnType<typeof reader.read>) =>
    typeof read === 'object' ? [read.reason, ...read.nearest.map(isoInstant)] : read

  test('in the hour that is skipped: the starts before and after the change', () => {
    expect(refusalOf(reader.read('2026-03-29T02:15'))).toEqual([
      'no_such_period',
      '2026-03-29T00:45:00Z',
      '2026-03-29T01:00:00Z',
    ])
  })
  test('in the hour that is there twice: both instants', () => {
    expect(refusalOf(reader.read('2026-10-25T02:15'))).toEqual([
      'ambiguous',
      '2026-10-25T00:15:00Z',
      '2026-10-25T01:15:00Z',
    ])
    expect(reader.read('2026-10-25T02:15:00+02:00')).toBe(at('2026-10-25T00:15:00Z'))
    expect(reader.read('2026-10-25T02:15:00+01:00')).toBe(at('2026-10-25T01:15:00Z'))
  })
  test('off the grid: the starts before and after', () => {
    expect(refusalOf(reader.read('2026-11-28T10:07:00Z'))).toEqual([
      'no_such_period',
      '2026-11-28T10:00:00Z',
      '2026-11-28T10:15:00Z',
    ])
  })
  test('a number past the end of the day: its last period and the first of the next', () => {
    expect(reader.numbered('2026-10-25', '100')).toBe(at('2026-10-25T22:45:00Z'))
    expect(refusalOf(reader.numbered('2026-03-29', 93))).toEqual([
      'no_such_period',
      '2026-03-29T21:45:00Z',
      '2026-03-29T22:00:00Z',
    ])
    expect(refusalOf(reader.numbered('2026-03-29', 0))).toEqual([
      'no_such_period',
      '2026-03-28T22:45:00Z',
      '2026-03-28T23:00:00Z',
    ])
  })
  test('a day alone is only a time where periods are days', () => {
    expect(reader.read('2026-10-25')).toBeUndefined()
    const gas = createPeriodReader(termsOf('Europe/London', 'P1D', 300))
    expect(isoInstant(gas.read('2026-07-01') as number)).toBe('2026-07-01T04:00:00Z')
    expect(isoDay(gas.read('2026-12-01') as number)).toBe('2026-12-01')
    expect(reader.read('tomorrow')).toBeUndefined()
  })
})
