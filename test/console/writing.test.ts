import { describe, expect, test } from 'bun:test'
import {
  axisText,
  knownZone,
  localSeconds,
  localText,
  numberText,
  periodText,
  spanText,
  zoneText,
} from '../../src/console/parts/text/writing.ts'
import { numberFormats } from '../../src/plans/display.ts'
import { decimalsOf } from '../../src/topics/prices/math/format.ts'

const written = (iso: string, zone: string): string =>
  `${localText(Date.parse(iso), zone)} ${zoneText(Date.parse(iso), zone)}`

describe('numbers', () => {
  test.each([
    [1234.5, 2, ['1,234.50', '1.234,50', '1\u202f234,50']],
    [-1234567.125, undefined, ['−1,234,567.125', '−1.234.567,125', '−1\u202f234\u202f567,125']],
    [0.5, undefined, ['0.5', '0,5', '0,5']],
    [999, 0, ['999', '999', '999']],
    [0.00001164, undefined, ['0.00001164', '0,00001164', '0,00001164']],
  ])(
    '%p with %p decimals is written in every format, with a real minus',
    (value, decimals, all) => {
      expect(numberFormats.map(format => numberText(value, decimals, format))).toEqual(all)
    },
  )
})

test.each([
  [59.9, '59 min'],
  [60, '1 h'],
  [47.9 * 60, '47 h'],
  [3.9 * 24 * 60, '3 days'],
])('%p minutes are written as %p, without a unit that is not over', (minutes, text) => {
  expect(spanText(minutes * 60_000)).toBe(text)
})

test.each([
  [71.23, 2],
  ['$71.230', 3],
  [1234567, 0],
  [-0.5, 1],
  [0.00001, 5],
  [1.5e-7, 8],
  [5e-324, 20],
])('%p has %p decimals', (value, decimals) => {
  expect(decimalsOf(value)).toBe(decimals)
})

describe('instants', () => {
  test.each([
    ['2026-11-22T18:55:03Z', 'UTC', '2026-11-22 18:55:03 UTC'],
    ['2026-11-22T18:55:03Z', 'Asia/Kolkata', '2026-11-23 00:25:03 IST'],
    ['2026-11-22T18:55:03Z', 'Asia/Kathmandu', '2026-11-23 00:40:03 UTC+5:45'],
    ['2026-11-22T03:55:03Z', 'America/New_York', '2026-11-21 22:55:03 EST'],
    ['2026-07-22T23:55:03Z', 'Europe/London', '2026-07-23 00:55:03 BST'],
  ])('%s in %s is %s', (iso, zone, text) => {
    expect(written(iso, zone)).toBe(text)
  })

  test('around a change to summer time, the missing hour is skipped', () => {
    expect(
      ['2027-03-28T00:59:59Z', '2027-03-28T01:00:00Z'].map(iso => written(iso, 'Europe/Berlin')),
    ).toEqual(['2027-03-28 01:59:59 CET', '2027-03-28 03:00:00 CEST'])
  })

  test('around a change to winter time, the abbreviation differs in the repeated hour', () => {
    expect(
      ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map(iso => written(iso, 'Europe/Berlin')),
    ).toEqual(['2026-10-25 02:30:00 CEST', '2026-10-25 02:30:00 CET'])
    expect(
      ['2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z'].map(iso => written(iso, 'America/New_York')),
    ).toEqual(['2026-11-01 01:30:00 EDT', '2026-11-01 01:30:00 EST'])
  })

  test('on an axis, a day begins at midnight of the zone', () => {
    const at = Date.parse('2026-11-22T18:30:00Z')
    expect(localSeconds(at / 1000, 'Asia/Kolkata')).toBe(Date.parse('2026-11-23T00:00:00Z') / 1000)
    expect(
      (['year', 'month', 'day', 'time'] as const).map(part => axisText(at, 'Asia/Kolkata', part)),
    ).toEqual(['2026', 'Nov', '23', '00:00'])
  })

  test('of a zone that this browser does not know are in UTC', () => {
    expect([knownZone('Mars/Olympus'), knownZone('Asia/Kolkata')]).toEqual(['UTC', 'Asia/Kolkata'])
  })
})

test('a change of a weekly or monthly code names its period, which is longer than a day', () => {
  expect(['weekly', 'monthly', 'daily', 'intraday_5m', undefined].map(periodText)).toEqual([
    ' a week',
    ' a month',
    '',
    '',
    '',
  ])
})
