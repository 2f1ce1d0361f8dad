import { describe, expect, test } from 'bun:test'
import { isoInstant } from '../../../../src/lib/time/instant.ts'
import {
  codeOfMarket,
  cotMarkets,
  cotReleasedAt,
  marketOfCot,
  reportDays,
} from '../../../../src/topics/analytics/math/positions.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'

describe('reports', () => {
  for (const [day, released, why] of [
    ['2026-11-17', '2026-11-20T20:30:00Z', 'Friday in winter'],
    ['2026-07-14', '2026-07-17T19:30:00Z', 'Friday in summer'],
    ['2026-03-03', '2026-03-06T20:30:00Z', 'the last Friday of standard time'],
    ['2026-03-10', '2026-03-13T19:30:00Z', 'the first Friday of daylight-saving time'],
    ['2026-11-24', '2026-11-30T20:30:00Z', 'Monday after Thanksgiving'],
    ['2025-11-10', '2025-11-17T20:30:00Z', 'Monday after a Tuesday that was a holiday'],
  ] as const) {
    test(`of ${day} come out on ${released}: ${why}`, () =>
      expect(isoInstant(cotReleasedAt(day))).toBe(released))
  }

  test('are of Tuesdays between both days', () => {
    expect(reportDays('2026-11-03', '2026-11-17')).toEqual([
      '2026-11-03',
      '2026-11-10',
      '2026-11-17',
    ])
    expect(reportDays('2026-11-04', '2026-11-16')).toEqual(['2026-11-10'])
  })

  needs('../shared/data').test(`are of the days that the agency's were of`, () => {
    const days = realRows('cftc-cot/managed_money_weekly.csv').map(([day]) => day!)
    // On the eve of Independence Day 2023 the agency took the Monday, too.
    expect(reportDays(days[0]!, days.at(-1)!)).toEqual(days)
  })
})

describe('markets', () => {
  test('stand for codes that the catalogue has', () => {
    const codes = shippedCatalogue().series.map(series => series.code)
    for (const { market, code } of cotMarkets) expect(codes, market).toContain(code)
    expect(codeOfMarket('WTI')).toBe('WTI_USD')
    expect(codeOfMarket('WHEAT')).toBeUndefined()
  })

  test('are known by name in any case and by their number', () => {
    expect(
      ['wti', ' Natural gas ', 'natural-gas', '023651', '06765t', 'Heating Oil', 'Live Cattle'].map(
        marketOfCot,
      ),
    ).toEqual([
      'WTI',
      'NATURAL_GAS',
      'NATURAL_GAS',
      'NATURAL_GAS',
      'BRENT',
      'HEATING_OIL',
      'LIVE_CATTLE',
    ])
  })
})
