import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { parseDay, parseInstant } from '../../../../src/lib/time/instant.ts'
import {
  countAge,
  countDays,
  coverageOf,
  periodStart,
  publishedAt,
  yearsBefore,
} from '../../../../src/topics/drilling/math/period.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'

const at = (text: string) => parseInstant(text)!

describe('a period', () => {
  test.each([
    ['90d', '2026-08-22'],
    ['26w', '2026-05-22'],
    ['6m', '2026-05-20'],
    ['5y', '2021-11-20'],
    ['15Y', '2011-11-20'],
    ['week', '2026-11-13'],
    ['month', '2026-10-20'],
    ['quarter', '2026-08-20'],
    ['Year', '2025-11-20'],
  ])('%s up to 2026-11-20 begins on %s', (token, from) => {
    expect(periodStart(token, '2026-11-20')).toBe(from)
  })
  test.each([
    '',
    '0y',
    '-1y',
    '1.5y',
    'y',
    '5',
    '5 y',
    '1e2d',
    '123456d',
    'decade',
    '5h',
    'constructor',
  ])('%p is not accepted as a period', token => {
    expect(periodStart(token, '2026-11-20')).toBeUndefined()
  })
  test('of months keeps to the calendar', () => {
    expect(periodStart('1m', '2026-03-31')).toBe('2026-02-28')
    expect(yearsBefore('2028-02-29', 15)).toBe('2013-02-28')
  })
})

describe('calendars', () => {
  test('count rigs on Fridays, crews on working days and wells on the 15th', () => {
    expect(countDays('week', '2026-11-06', '2026-11-21')).toEqual([
      '2026-11-06',
      '2026-11-13',
      '2026-11-20',
    ])
    expect(countDays('day', '2026-11-20', '2026-11-28')).toEqual([
      '2026-11-20',
      '2026-11-23',
      '2026-11-24',
      '2026-11-25',
      '2026-11-27',
    ])
    expect(countDays('month', '2026-09-16', '2026-11-15')).toEqual(['2026-10-15'])
  })
  test.each([
    ['week', '2026-11-20', '2026-11-20T17:00:00Z'],
    // Christmas, a Friday in 2026: the count comes out on Monday.
    ['week', '2026-12-25', '2026-12-28T10:30:00Z'],
    ['day', '2026-11-20', '2026-11-20T14:00:00Z'],
    ['month', '2026-10-15', '2026-10-15T14:00:00Z'],
    // A Sunday.
    ['month', '2026-11-15', '2026-11-16T10:30:00Z'],
  ] as const)('%s: the count of %s is published at %s', (calendar, day, published) => {
    expect(publishedAt(calendar, day)).toBe(at(published))
  })
  test('a count is stale after three periods', () => {
    expect(countAge('week', '2026-11-20', at('2026-12-10T00:00:00Z'))).toEqual({
      ageDays: 20,
      stale: false,
    })
    expect(countAge('week', '2026-11-20', at('2026-12-15T00:00:00Z'))).toEqual({
      ageDays: 25,
      stale: true,
    })
    expect(countAge('month', '2026-11-15', at('2027-01-20T00:00:00Z')).stale).toBe(false)
    expect(countAge('day', '2026-11-20', at('2026-11-30T00:00:00Z')).stale).toBe(true)
  })
})

describe('coverage', () => {
  const now = at('2026-11-21T00:00:00Z')
  const weeks = countDays('week', '2013-01-04', '2026-11-21')
  const over = (fromOn: string, toOn: string, countedDays = weeks) =>
    coverageOf(
      countedDays.filter(day => day >= fromOn && day <= toOn),
      { fromOn, toOn, earliestOn: countedDays[0], now },
    )

  test('of weeks without a gap is complete, whatever days the range begins and ends on', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 7, max: 5000 }),
        (start, length) => {
          const fromOn = dayAfter('2013-01-04', start % 5060)
          const toOn = dayAfter(fromOn, length)
          if (fromOn > '2026-11-13') return
          expect(over(fromOn, toOn).complete, `${fromOn} ${toOn}`).toBe(true)
        },
      ),
    )
  })
  test('names the first and last count and how many there are', () => {
    expect(over('2026-10-01', '2026-11-19')).toEqual({
      from: '2026-10-02',
      to: '2026-11-13',
      observations: 7,
      complete: true,
    })
  })
  test('before the first count of all is not complete', () => {
    expect(over('2012-12-01', '2013-02-01').complete).toBe(false)
    expect(over('2013-01-01', '2013-02-01').complete).toBe(true)
  })
  test('with a missing week is not complete', () => {
    const holed = weeks.filter(day => day !== '2026-06-05')
    expect(over('2026-06-06', '2026-11-20', holed).complete).toBe(true)
    expect(over('2026-06-01', '2026-11-20', holed).complete).toBe(false)
  })
  test('a count that came out on another day of its week counts', () => {
    const moved = weeks.map(day => (day === '2026-06-05' ? '2026-06-04' : day))
    expect(over('2026-06-01', '2026-11-20', moved).complete).toBe(true)
  })
  test('drilling coverage is complete even if the next count is not published yet', () => {
    const countedDays = weeks.filter(day => day < '2026-11-20')
    const until = (text: string) =>
      coverageOf(countedDays.slice(-4), {
        fromOn: '2026-10-20',
        toOn: '2027-03-01',
        earliestOn: countedDays[0],
        now: at(text),
      }).complete
    expect(until('2026-11-20T16:59:00Z')).toBe(true)
    expect(until('2026-11-20T17:01:00Z')).toBe(false)
  })
  test('of nothing is empty and not complete', () => {
    expect(
      coverageOf([], { fromOn: '2026-01-01', toOn: '2026-02-01', earliestOn: undefined, now }),
    ).toEqual({
      from: undefined,
      to: undefined,
      observations: 0,
      complete: false,
    })
  })
})

test('days of a calendar are those of its longer range', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('week', 'day', 'month'),
      fc.integer({ min: 0, max: 2000 }),
      fc.integer({ min: 0, max: 200 }),
      (calendar, start, length) => {
        const from = dayAfter('2020-01-01', start)
        const to = dayAfter(from, length)
        const all = countDays(calendar as 'week', '2020-01-01', '2026-12-31')
        expect(countDays(calendar as 'week', from, to)).toEqual(
          all.filter(day => day >= from && day < to),
        )
        expect(all.every(day => parseDay(day) !== undefined)).toBe(true)
      },
    ),
    { numRuns: 20 },
  )
})
