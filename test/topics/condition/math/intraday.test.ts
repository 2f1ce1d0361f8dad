import { describe, expect, test } from 'bun:test'
import { hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import type { Listing } from '../../../../src/topics/calendars/math/schedule.ts'
import type { Cadence } from '../../../../src/topics/catalogue/math/catalogue.ts'
import { intradayGaps, intradaySessions } from '../../../../src/topics/condition/math/intraday.ts'
import { type DeliveryTerms, sinceEver } from '../../../../src/topics/delivery/math/terms.ts'

const step = 5 * minuteMs
const wti = (cadence: Cadence = 'intraday_5m') => ({
  code: 'WTI_USD',
  category: 'crude_oil',
  cadence,
})
const hourly: DeliveryTerms = {
  zone: 'UTC',
  dayStarts: 0,
  resolutions: sinceEver('PT1H'),
  horizon: 'P1D',
  gateCloses: undefined,
  publishesAt: undefined,
  peak: { from: 8 * 60, to: 20 * 60, weekdays: [1, 2, 3, 4, 5], holidays: true },
}
const at = (text: string) => Date.parse(`2026-11-${text}:00Z`)
/** Every five minutes from one time to another, both inclusive. */
const quotes = (from: string, to: string) => {
  const times: number[] = []
  for (let time = at(from); time <= at(to); time += step) times.push(time)
  return times
}
// Sessions of WTI are from 01:00 to 23:00 UTC; the 20th is a Friday.
const wednesday = quotes('18T01:00', '18T23:00')
const thursday = quotes('19T01:00', '19T23:00')
const now = at('20T15:02')
const gapsOf = (times: readonly number[], until = now, listing: Listing = wti()) => {
  const { expected, missing, stretches } = intradayGaps(listing, times, until)
  return {
    expected,
    missing,
    stretches: stretches.map(({ from, to }) =>
      [from, to].map(moment => new Date(moment).toISOString().slice(8, 16)),
    ),
  }
}

describe('gaps inside the days of a series that is quoted all day', () => {
  test('a series that is quoted all day has no gaps where every value of its cadence is present', () => {
    expect(gapsOf([...wednesday, ...thursday, ...quotes('20T01:00', '20T15:00')])).toEqual({
      expected: 265 + 265 + 169,
      missing: 0,
      stretches: [],
    })
  })

  test('a series of hourly delivery periods has no gaps between its hours', () => {
    const quoted = [...wednesday, ...thursday, ...quotes('20T01:00', '20T15:00')]
    const hours = quoted.filter(time => time % hourMs === 0)
    expect(gapsOf(hours, now, { ...wti(), delivery: hourly })).toMatchObject({ missing: 0 })
    expect(gapsOf(hours).missing).toBeGreaterThan(100)
  })

  test('are stretches of more than three steps within a session, and not the night', () => {
    const today = [...quotes('20T01:00', '20T09:00'), ...quotes('20T09:15', '20T12:00')]
    const resumed = [...today, ...quotes('20T12:20', '20T15:00')]
    expect(gapsOf([...wednesday, ...thursday, ...resumed])).toMatchObject({
      missing: 3,
      stretches: [['20T12:00', '20T12:20']],
    })
  })

  test('a silent series that is quoted all day reports a gap from the fourth missed step on', () => {
    const today = quotes('20T01:00', '20T15:00')
    const known = [...wednesday, ...thursday, ...today]
    expect(gapsOf(known, at('20T15:15')).missing).toBe(0)
    expect(gapsOf(known, at('20T15:17'))).toMatchObject({
      missing: 2,
      stretches: [['20T15:00', '20T15:17']],
    })
    expect(gapsOf(known, at('20T23:00')).missing).toBe(95)
    // Also of a session that has not begun to be quoted.
    expect(gapsOf([...wednesday, ...thursday], at('20T02:00')).missing).toBe(12)
  })

  test('are those of a session that ended too early', () => {
    const early = quotes('19T01:00', '19T12:00')
    const today = quotes('20T01:00', '20T15:00')
    const tuesday = quotes('17T01:00', '17T23:00')
    expect(gapsOf([...tuesday, ...wednesday, ...early, ...today]).stretches).toEqual([
      ['19T12:00', '19T23:05'],
    ])
  })

  test('are looked for in the hours in which the series has values', () => {
    const morning = (day: string) => quotes(`${day}T08:00`, `${day}T12:00`)
    const known = [...morning('18'), ...morning('19'), ...morning('20')]
    expect(gapsOf(known)).toEqual({ expected: 147, missing: 0, stretches: [] })
    expect(gapsOf([...morning('18'), ...morning('19')], at('20T08:10')).missing).toBe(0)
    expect(gapsOf([...morning('18'), ...morning('19')], at('20T09:00')).missing).toBe(12)
  })

  test('days with one value, closed days and series of other cadences have no intraday gaps', () => {
    expect(gapsOf([at('18T15:00'), at('19T15:00')])).toMatchObject({ expected: 0, missing: 0 })
    expect(intradaySessions(wti('daily'), now)).toEqual([])
    expect(gapsOf([at('18T15:00')], now, wti('daily')).expected).toBe(0)
    const friday = quotes('20T01:00', '20T23:00')
    expect(gapsOf([...thursday, ...friday], at('22T12:00')).missing).toBe(0)
  })

  test('intraday gaps exclude quarantined values', () => {
    const early = quotes('19T01:00', '19T12:00')
    const known = [...wednesday, ...early, ...quotes('20T01:00', '20T15:00')]
    expect(intradayGaps(wti(), known, now, day => day === at('19T00:00')).missing).toBe(0)
  })

  test('are judged by a finer cadence, too', () => {
    const times = quotes('20T01:00', '20T15:00')
    expect(gapsOf(times, now, wti('intraday_2_5m')).missing).toBe(0)
    const halved = times.filter((_, i) => i % 2 === 0)
    expect(gapsOf(halved, now, wti('intraday_2_5m')).missing).toBe(84 * 3)
    const first = intradaySessions(wti('intraday_2_5m'), now)[0]!
    expect(first.opensAt).toBeGreaterThanOrEqual(now - 4 * 24 * hourMs)
  })
})
