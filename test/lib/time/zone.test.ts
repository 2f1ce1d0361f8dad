import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, minuteMs } from '../../../src/lib/time/instant.ts'
import { minuteOf, startOfLocalDay, wallTime, zoneName } from '../../../src/lib/time/zone.ts'
import { runs } from '../../support/full.ts'

const zones = Intl.supportedValuesOf('timeZone').filter(zone => zoneName(zone) !== undefined)
const moments = { min: Date.UTC(2015, 0, 1), max: Date.UTC(2031, 0, 1) }

/** The same clock read by the other implementation that is at hand. */
const clocks = new Map<string, Intl.DateTimeFormat>()
function oracle(at: number, zone: string): { day: string; minute: number } {
  const format =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    })
  clocks.set(zone, format)
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return {
    day: `${parts.year}-${parts.month}-${parts.day}`,
    minute: Number(parts.hour) * 60 + Number(parts.minute),
  }
}

test('a clock shows what the other implementation of time zones shows, at any moment in any zone', () => {
  expect(zones.length).toBeGreaterThan(400)
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer(moments), (zone, at) => {
      expect(wallTime(at, zone)).toEqual(oracle(at, zone))
    }),
    { numRuns: runs(2000) },
  )
})

test('the start of a local day belongs to that day, and the moment before it does not', () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer(moments), (zone, at) => {
      const start = startOfLocalDay(at, zone)
      const { day } = wallTime(at, zone)
      expect(start).toBeLessThanOrEqual(at)
      expect(at - start).toBeLessThan(dayMs + 180 * minuteMs)
      expect(oracle(start, zone).day).toBe(day)
      expect(oracle(start - 1, zone).day).not.toBe(day)
    }),
    { numRuns: runs(500) },
  )
})

describe('zoneName', () => {
  test.each([
    ['UTC', 'UTC'],
    ['utc', 'UTC'],
    ['GMT', 'GMT'],
    ['america/new_york', 'America/New_York'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    [' Europe/Berlin ', 'Europe/Berlin'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
  ])('%s is %s', (text, name) => {
    expect(zoneName(text)).toBe(name)
  })

  test.each([
    ['EST'],
    ['+05:30'],
    ['-03'],
    ['CET'],
    ['Mars/Olympus'],
    [''],
    ['America/New_York\0'],
    ['../etc/passwd'],
  ])('%j is not accepted as a time zone name', text => {
    expect(zoneName(text)).toBeUndefined()
  })
})

test.each([
  ['00:00', 0],
  ['07:05', 425],
  ['23:59', 1439],
  ['24:00', undefined],
  ['7:05', undefined],
  ['12:60', undefined],
  ['12:00:00', undefined],
  ['', undefined],
])('%j is minute %p of the day', (text, minute) => {
  expect(minuteOf(text)).toBe(minute)
})
