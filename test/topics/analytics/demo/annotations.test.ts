import { describe, expect, test } from 'bun:test'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { isoDay, parseDay, parseInstant, weekdayOf } from '../../../../src/lib/time/instant.ts'
import {
  createAnnotationData,
  type NotedSeries,
} from '../../../../src/topics/analytics/demo/annotations.ts'
import { createAnnotationStore } from '../../../../src/topics/analytics/store/annotations.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { createSeriesStore } from '../../../../src/topics/catalogue/store/series.ts'
import { type Close, dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { published } from '../../../support/world/published.ts'

const start = parseInstant('2026-11-20T15:00:00Z')!
const codes = ['BRENT_CRUDE_USD', 'WTI_USD', 'NATURAL_GAS_USD', 'GASOLINE_USD', 'US_CRUDE_STORAGE']

/**
 * Weekday closes of 100 that jump to 104 on the second Wednesday of a month, 2% down on its third,
 * and back the next day.
 */
function closesTo(now: number): Close[] {
  const days = Array.from({ length: 4 * 366 }, (_, n) => dayAfter('2023-01-01', n)).filter(
    day => weekdayOf(parseDay(day)!) < 6 && day <= isoDay(now),
  )
  const nth = (day: string) =>
    weekdayOf(parseDay(day)!) === 3 ? Math.ceil(Number(day.slice(8)) / 7) : 0
  return days.map(day => ({ day, value: nth(day) === 2 ? 104 : nth(day) === 3 ? 98 : 100 }))
}

function copy() {
  const db = databaseInMemory()
  const shipped = shippedCatalogue()
  createSeriesStore(db).put(shipped.series, shipped.aliases)
  const annotations = createAnnotationStore(db, () => true)
  const clock = createManualClock(start)
  const seriesOf = (code: string): NotedSeries => ({
    name: `Name of ${code}`,
    currency: 'USD',
    unit: 'barrel',
    decimals: 2,
    closes: closesTo(clock.now()),
  })
  return { annotations, clock, filler: published(createAnnotationData({ annotations, seriesOf })) }
}

describe('the notes of a demo instance', () => {
  test('name the largest move of each of the last 24 whole months', () => {
    const { annotations, filler } = copy()
    filler.advance(start)
    const brent = annotations.page('BRENT_CRUDE_USD', 100, 0)
    expect(brent.map(annotation => annotation.on.slice(0, 7))).toEqual(
      Array.from({ length: 24 }, (_, i) => isoDay(Date.UTC(2026, 9 - i, 1)).slice(0, 7)),
    )
    // The second Wednesday of October 2026 was the 14th.
    expect(brent[0]).toEqual({
      id: 'price-brent_crude_usd-2026-10',
      on: '2026-10-14',
      category: 'price_move',
      commodity: 'BRENT_CRUDE_USD',
      source: 'fixture',
      title: 'Name of BRENT_CRUDE_USD: largest daily move of October 2026',
      description:
        'Name of BRENT_CRUDE_USD closed at 104.00 USD per barrel, up 4.00% from 100.00 on 2026-10-13.',
    })
    expect(
      [
        ...new Set(annotations.page(undefined, 1000, 0).map(annotation => annotation.commodity!)),
      ].sort(),
    ).toEqual([...codes].sort())
  })

  test('come a week after the end of a month, each once', () => {
    const { annotations, clock, filler } = copy()
    filler.advance(start)
    const before = annotations.count(undefined)
    for (const [at, newest, count] of [
      ['2026-12-07T23:59:59Z', '2026-10', before],
      ['2026-12-08T00:00:00Z', '2026-11', before + codes.length],
      ['2026-12-20T00:00:00Z', '2026-11', before + codes.length],
    ] as const) {
      clock.set(parseInstant(at)!)
      filler.advance(clock.now())
      expect(
        { newestOn: annotations.newestOn()!.slice(0, 7), count: annotations.count(undefined) },
        at,
      ).toEqual({ newestOn: newest, count })
    }
  })

  test('demo notes that were edited keep their edits', () => {
    const { annotations, filler, clock } = copy()
    filler.advance(start)
    clock.set(parseInstant('2026-12-07T00:00:00Z')!)
    const own = {
      ...annotations.page('WTI_USD', 1, 0)[0]!,
      id: 'price-wti_usd-2026-11',
      title: 'Ours',
      source: 'desk',
    }
    annotations.write([own], 1)
    clock.set(parseInstant('2026-12-09T00:00:00Z')!)
    filler.advance(clock.now())
    expect(annotations.page('WTI_USD', 30, 0)).toContainEqual(own)
    expect(annotations.count('BRENT_CRUDE_USD')).toBe(25)
    expect(annotations.count('WTI_USD')).toBe(25)
  })
})
