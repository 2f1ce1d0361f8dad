import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { isNews } from '../../../../src/topics/calendars/math/news.ts'

const now = Date.parse('2026-11-20T15:00:00Z')
const wti = { code: 'WTI_USD', category: 'crude_oil', cadence: 'intraday_5m' } as const
const monthly = { code: 'RETAIL_X', category: 'retail_fuels', cadence: 'monthly' } as const

describe('isNews: an observation that is recorded now', () => {
  const table: [
    name: string,
    listing: typeof wti | typeof monthly,
    ageMs: number,
    news: boolean,
  ][] = [
    ['of this minute is news', wti, 0, true],
    ['of the future is news', wti, -hourMs, true],
    ['that was late by days is news', wti, 6 * dayMs, true],
    ['of a week ago is news', wti, 7 * dayMs, true],
    ['older than a week and stale is history', wti, 7 * dayMs + 1, false],
    ['of last year is history', wti, 365 * dayMs, false],
    ['of a month that is not stale is news', monthly, 25 * dayMs, true],
    ['of a month long gone is history', monthly, 365 * dayMs, false],
  ]
  for (const [name, listing, ageMs, news] of table)
    test(name, () => expect(isNews(listing, now - ageMs, now)).toBe(news))
})
