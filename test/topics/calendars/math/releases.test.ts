import { describe, expect, test } from 'bun:test'
import { isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import { freshUntil } from '../../../../src/topics/calendars/math/freshness.ts'
import { nextReleaseAt, releaseSlot } from '../../../../src/topics/calendars/math/releases.ts'
import type { Listing } from '../../../../src/topics/calendars/math/schedule.ts'
import { type SeriesTerms, withTerms } from '../../../../src/topics/catalogue/math/terms.ts'

const at = (text: string): number => parseInstant(text)!

/** A series with days of release, as the catalogue makes it of an operator's terms. */
const listed = (terms: SeriesTerms, category = 'storage'): Listing => ({
  code: 'DESK_STOCKS',
  ...withTerms(
    {
      name: 'Stocks',
      category,
      currency: null,
      unit: 'barrel',
      decimals: 0,
      cadence: 'daily',
      source: 'Desk',
      description: '',
      level: 0,
      unavailableReason: null,
    },
    terms,
    true,
  ),
})

const weekly = listed({
  releaseDays: ['wed'],
  releaseTime: '10:30',
  timeZone: 'America/New_York',
})
const monthEnd = listed({ releaseDays: ['last'], releaseHoliday: 'before', calendar: 'weekday' })
const twice = listed({ releaseDays: ['mon', 'thu'], calendar: 'us_government' })

describe('the next release', () => {
  test.each([
    ['a Wednesday at its time in its zone', weekly, '2026-11-16T00:00:00Z', '2026-11-18T15:30:00Z'],
    ['not the one that has just come', weekly, '2026-11-18T15:30:00Z', '2026-11-25T15:30:00Z'],
    ['an hour earlier in summer', weekly, '2026-07-14T00:00:00Z', '2026-07-15T14:30:00Z'],
    // 2026-11-11 is Veterans Day.
    ['after a holiday', weekly, '2026-11-09T00:00:00Z', '2026-11-12T15:30:00Z'],
    ['at the end of its day without a time', twice, '2026-11-19T12:00:00Z', '2026-11-20T00:00:00Z'],
    // 2027-01-31 is a Sunday.
    [
      'the last day of a month, before a weekend',
      monthEnd,
      '2027-01-05T00:00:00Z',
      '2027-01-30T00:00:00Z',
    ],
    ['the last day of February', monthEnd, '2028-02-02T00:00:00Z', '2028-03-01T00:00:00Z'],
    [
      'the next of those that are not skipped',
      listed({ releaseDays: ['15'], releaseHoliday: 'skip', calendar: 'weekday' }),
      // 2026-11-15 is a Sunday.
      '2026-11-01T00:00:00Z',
      '2026-12-16T00:00:00Z',
    ],
  ])('is %s', (_, listing, now, expected) => {
    expect(isoInstant(nextReleaseAt(listing, at(now))!)).toBe(expected)
  })

  test('a series has no next release where no release days are set or all of them are skipped', () => {
    const never = listed({ releaseDays: ['sun'], releaseHoliday: 'skip', calendar: 'weekday' })
    expect(nextReleaseAt(listed({}), at('2026-11-01T00:00:00Z'))).toBeUndefined()
    expect(nextReleaseAt(never, at('2026-11-01T00:00:00Z'))).toBeUndefined()
  })
})

describe('freshness by days of release', () => {
  test.each([
    [
      'a week that ended on Friday is current until a business day after the second Wednesday',
      weekly,
      '2026-11-13T00:00:00Z',
      // Thanksgiving does not count.
      '2026-11-27T15:30:00Z',
      '2026-12-09T15:30:00Z',
    ],
    [
      'what is dated with the day of its release is of that release',
      weekly,
      '2026-11-18T20:00:00Z',
      '2026-11-27T15:30:00Z',
      '2026-12-09T15:30:00Z',
    ],
    [
      'a release that was held back by a holiday takes what is dated with the later day',
      weekly,
      '2026-11-12T00:00:00Z',
      '2026-11-19T15:30:00Z',
      '2026-12-02T15:30:00Z',
    ],
    [
      'a month that comes out by the fifteenth of the next',
      listed({ releaseDays: ['15'], releaseLagDays: 31, calendar: 'weekday' }),
      '2026-09-01T00:00:00Z',
      // The fifteenth of November is a Sunday: it comes on Monday, until its midnight.
      '2026-11-18T00:00:00Z',
      '2027-01-16T00:00:00Z',
    ],
  ])('%s', (_, listing, observed, current, delayed) => {
    const until = freshUntil(listing, at(observed))
    expect({
      currentUntil: isoInstant(until.currentUntil),
      delayedUntil: isoInstant(until.delayedUntil),
    }).toEqual({ currentUntil: current, delayedUntil: delayed })
  })

  test('counts the day of a value in its own zone', () => {
    const tokyo = listed({
      releaseDays: ['wed'],
      timeZone: 'Asia/Tokyo',
      valueTime: '08:00',
      releaseTime: '12:00',
      calendar: 'weekday',
    })
    // Thursday, 08:00 in Tokyo, is still Wednesday in UTC: the next week's release brings it.
    const until = freshUntil(tokyo, at('2026-11-18T23:00:00Z'))
    expect(isoInstant(until.currentUntil)).toBe('2026-12-03T03:00:00Z')
  })
})

test('the cadence follows from the days, unless it is set', () => {
  const cadenceOf = (terms: SeriesTerms) => listed(terms).cadence
  expect([
    cadenceOf({ releaseDays: ['wed'] }),
    cadenceOf({ releaseDays: ['mon', 'tue', 'wed', 'thu', 'fri'] }),
    cadenceOf({ releaseDays: ['15'] }),
    cadenceOf({ releaseDays: ['wed'], cadence: 'daily' }),
    cadenceOf({}),
  ]).toEqual(['weekly', 'daily', 'monthly', 'daily', 'daily'])
})

test('releases part the days between them', () => {
  const slot = releaseSlot(twice, at('2026-11-17T12:00:00Z'))!
  expect({ from: isoInstant(slot.from), to: isoInstant(slot.to) }).toEqual({
    from: '2026-11-17T00:00:00Z',
    to: '2026-11-20T00:00:00Z',
  })
  expect(releaseSlot(listed({}), at('2026-11-17T12:00:00Z'))).toBeUndefined()
})
