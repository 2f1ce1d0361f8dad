import { describe, expect, test } from 'bun:test'
import {
  type Calendar,
  everyWorkingDay,
  lastRelease,
  monthlyWorkingDay,
  nextRelease,
  nextTry,
  weeklyBroughtForward,
  weeklyHeldBack,
} from '../../../src/feeds/publishers/calendar.ts'
import { hourMs, isoInstant, minuteMs, parseInstant } from '../../../src/lib/time/instant.ts'
import { euroSettlement, usFederal } from '../../../src/topics/calendars/math/holidays.ts'

const eastern = { zone: 'America/New_York' }
const petroleum: Calendar = [weeklyHeldBack(3, '10:30', usFederal, eastern)]
const gas: Calendar = [
  weeklyBroughtForward(4, '10:30', usFederal, { ...eastern, earlierTime: '12:00' }),
]
const rates: Calendar = [everyWorkingDay('16:00', euroSettlement, { zone: 'Europe/Berlin' })]
const worldBank: Calendar = [monthlyWorkingDay(2, '12:00', usFederal, eastern)]

const next = (calendar: Calendar, after: string) =>
  isoInstant(nextRelease(calendar, parseInstant(after)!)!.at)

describe('when publishers publish', () => {
  const rows: [name: string, calendar: Calendar, after: string, at: string][] = [
    ['petroleum on Wednesday', petroleum, '2026-08-17T12:00:00Z', '2026-08-19T14:30:00Z'],
    ['petroleum in winter time', petroleum, '2026-11-17T12:00:00Z', '2026-11-18T15:30:00Z'],
    ['petroleum after Labor Day', petroleum, '2026-09-07T12:00:00Z', '2026-09-10T14:30:00Z'],
    ['petroleum strictly after', petroleum, '2026-08-19T14:30:00Z', '2026-08-26T14:30:00Z'],
    [
      'gas on Thursday, also after a Monday holiday',
      gas,
      '2026-09-07T12:00:00Z',
      '2026-09-10T14:30:00Z',
    ],
    ['gas before Thanksgiving', gas, '2026-11-23T12:00:00Z', '2026-11-25T17:00:00Z'],
    ['rates on Thursday before Easter', rates, '2026-04-02T12:00:00Z', '2026-04-02T14:00:00Z'],
    [
      'rates not on Good Friday nor Easter Monday',
      rates,
      '2026-04-02T15:00:00Z',
      '2026-04-07T14:00:00Z',
    ],
    ['rates not on 1 May', rates, '2026-04-30T15:00:00Z', '2026-05-04T14:00:00Z'],
    [
      'the second working day after New Year',
      worldBank,
      '2026-12-31T22:00:00Z',
      '2027-01-05T17:00:00Z',
    ],
  ]
  for (const [name, calendar, after, at] of rows) {
    test(name, () => expect(next(calendar, after)).toBe(at))
  }

  test('the last release is before a moment and the next one after it', () => {
    const at = parseInstant('2026-08-20T00:00:00Z')!
    expect(isoInstant(lastRelease(petroleum, at)!.at)).toBe('2026-08-19T14:30:00Z')
    expect(isoInstant(nextRelease(petroleum, at)!.at)).toBe('2026-08-26T14:30:00Z')
  })

  test('a release that has not come is tried every five minutes, then hourly, then with the next', () => {
    const release = lastRelease(petroleum, parseInstant('2026-08-19T15:00:00Z')!)!
    const tried = (at: number) => nextTry(petroleum, release, at) - at
    expect(tried(release.at)).toBe(5 * minuteMs)
    expect(tried(release.windowEndsAt)).toBe(hourMs)
    const following = nextRelease(petroleum, release.at)!.at
    expect(tried(following - 10 * minuteMs)).toBe(10 * minuteMs)
  })

  test('the zone keeps a release at its time on the clock over a change of the clocks', () => {
    expect(next(petroleum, '2026-10-28T15:00:00Z')).toBe('2026-11-04T15:30:00Z')
    expect(next(petroleum, '2026-10-21T15:00:00Z')).toBe('2026-10-28T14:30:00Z')
  })
})
