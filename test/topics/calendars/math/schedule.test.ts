import { expect, test } from 'bun:test'
import { hourMs, isoInstant, parseInstant, startOfDay } from '../../../../src/lib/time/instant.ts'
import type { Market } from '../../../../src/topics/calendars/math/calendar.ts'
import {
  currentUntil,
  delayedUntil,
  isObserved,
  releasedAt,
  scheduleOf,
} from '../../../../src/topics/calendars/math/schedule.ts'
import type { Cadence } from '../../../../src/topics/catalogue/math/catalogue.ts'

const at = (text: string): number => parseInstant(text)!

test.each([
  ['list_prices', 'DIESEL_LIST_B7_DKK', 'daily', '2026-11-22T00:00:00Z', '2026-11-22T00:01:00Z'],
  ['physical_crude', 'FORTIES_USD', 'daily', '2026-11-20T16:30:00Z', '2026-11-20T16:40:00Z'],
  ['drilling', 'US_RIG_COUNT', 'weekly', '2026-11-20T12:00:00Z', '2026-11-20T17:00:00Z'],
  ['drilling', 'US_RIG_COUNT', 'weekly', '2026-12-25T12:00:00Z', '2026-12-28T10:30:00Z'],
  ['storage', 'CUSHING_STORAGE', 'weekly', '2026-11-18T12:00:00Z', '2026-11-18T15:30:00Z'],
  ['storage', 'SPR_STORAGE', 'weekly', '2026-11-20T12:00:00Z', '2026-11-20T16:00:00Z'],
  ['storage', 'US_NATGAS_STORAGE', 'weekly', '2026-11-26T12:00:00Z', '2026-11-27T10:30:00Z'],
  [
    'retail_fuels',
    'DIESEL_US_NATIONAL_USD',
    'weekly',
    '2026-11-16T12:00:00Z',
    '2026-11-16T21:00:00Z',
  ],
  [
    'retail_fuels',
    'DIESEL_US_NATIONAL_USD',
    'weekly',
    '2026-05-25T12:00:00Z',
    '2026-05-26T10:30:00Z',
  ],
  ['retail_fuels', 'DIESEL_DE_EUR', 'weekly', '2026-11-16T12:00:00Z', '2026-11-17T10:30:00Z'],
  ['supply_demand', 'OPEC_PRODUCTION', 'monthly', '2026-11-15T12:00:00Z', '2026-11-16T10:30:00Z'],
  ['ngl', 'PROPANE_SAUDI_CP_USD', 'monthly', '2026-12-01T12:00:00Z', '2026-12-01T14:00:00Z'],
] as [string, string, Cadence, string, string][])(
  '%s %s (%s) observed at %s is published at %s',
  (category, code, cadence, observed, released) => {
    const schedule = scheduleOf({ category, code, cadence })
    const observedAt = at(observed)
    expect(isObserved(schedule, startOfDay(observedAt))).toBe(true)
    expect(schedule.minutes.map(minute => startOfDay(observedAt) + minute * 60_000)).toContain(
      observedAt,
    )
    expect(isoInstant(releasedAt(schedule, observedAt))).toBe(released)
  },
)

test('closed days are not observed, other weekdays of a weekly survey neither', () => {
  expect(
    isObserved(
      scheduleOf({ category: 'physical_crude', code: 'MARS_USD', cadence: 'daily' }),
      at('2026-11-26T00:00:00Z'),
    ),
  ).toBe(false)
  expect(
    isObserved(
      scheduleOf({ category: 'drilling', code: 'US_RIG_COUNT', cadence: 'weekly' }),
      at('2026-11-19T00:00:00Z'),
    ),
  ).toBe(false)
  expect(
    isObserved(
      scheduleOf({ category: 'storage', code: 'OECD_COMMERCIAL_STORAGE', cadence: 'monthly' }),
      at('2026-11-01T00:00:00Z'),
    ),
  ).toBe(false)
})

test.each([
  [
    'intraday_5m',
    'us_energy',
    '2026-11-20T23:00:00Z',
    '2026-11-23T23:05:00Z',
    '2026-11-23T23:05:00Z',
  ],
  [
    'intraday_2_5m',
    'metals',
    '2026-11-23T09:00:00Z',
    '2026-11-24T09:02:30Z',
    '2026-11-24T09:02:30Z',
  ],
  [
    'twice_daily',
    'london_energy',
    '2026-11-20T16:30:00Z',
    '2026-11-24T04:30:00Z',
    '2026-11-24T04:30:00Z',
  ],
  [
    'daily',
    'london_energy',
    '2026-11-16T16:30:00Z',
    '2026-11-18T16:30:00Z',
    '2026-11-19T16:30:00Z',
  ],
  [
    'daily',
    'london_energy',
    '2026-11-20T16:30:00Z',
    '2026-11-24T16:30:00Z',
    '2026-11-25T16:30:00Z',
  ],
  ['daily', 'us_energy', '2026-11-25T19:30:00Z', '2026-11-30T19:30:00Z', '2026-12-01T19:30:00Z'],
  ['daily', 'every_day', '2026-11-20T00:00:00Z', '2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z'],
  [
    'weekly',
    'us_government',
    '2026-11-20T12:00:00Z',
    '2026-11-30T12:00:00Z',
    '2026-12-11T12:00:00Z',
  ],
  [
    'weekly',
    'us_government',
    '2026-12-18T12:00:00Z',
    '2026-12-29T12:00:00Z',
    '2027-01-11T12:00:00Z',
  ],
  [
    'monthly',
    'us_government',
    '2026-01-31T12:00:00Z',
    '2026-03-03T12:00:00Z',
    '2026-05-04T12:00:00Z',
  ],
] as [Cadence, Market, string, string, string][])(
  '%s on %s observed at %s is current until %s and delayed until %s',
  (cadence, market, observed, current, delayed) => {
    expect(isoInstant(currentUntil(cadence, market, at(observed)))).toBe(current)
    expect(isoInstant(delayedUntil(cadence, market, at(observed)))).toBe(delayed)
  },
)

test('nothing is current for less than a day', () => {
  for (const cadence of ['intraday_5m', 'twice_daily', 'daily', 'weekly', 'monthly'] as Cadence[])
    expect(
      currentUntil(cadence, 'fx', at('2026-11-24T12:00:00Z')) - at('2026-11-24T12:00:00Z'),
    ).toBeGreaterThan(24 * hourMs)
})
