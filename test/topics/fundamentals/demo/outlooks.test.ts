import { describe, expect, test } from 'bun:test'
import { dayMs, parseInstant } from '../../../../src/lib/time/instant.ts'
import { monthAfter } from '../../../../src/topics/calendars/math/period.ts'
import { createOutlookData } from '../../../../src/topics/fundamentals/demo/outlooks.ts'
import {
  forecastCodes,
  forecastPublishedAt,
} from '../../../../src/topics/fundamentals/math/monthly-forecast.ts'
import { outlookPublishedAt } from '../../../../src/topics/fundamentals/math/outlook.ts'
import { createMonthlyForecasts } from '../../../../src/topics/fundamentals/service/monthly-forecasts.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import { published } from '../../../support/world/published.ts'

function copy(now = startAt, more: { seed?: number } = {}) {
  const { services, clock } = openTestInstance({}, now)
  const { catalogue, outlooks, monthlyForecasts: store } = services
  const series = catalogue
    .list()
    .map(item => ({ ...item, available: item.unavailableReason === null }))
  const world = createWorld({ seed: more.seed ?? 1, series })
  const data = createOutlookData({
    seed: 1,
    world,
    outlooks,
    monthly: createMonthlyForecasts(store),
    seriesOf: code => catalogue.named(code),
    ...more,
  })
  return { clock, filler: published(data), outlooks, store, catalogue }
}
const everything = { seriesIds: undefined, fromMonth: '0000-01', toMonth: '9999-12' }
const rowsOf = ({ outlooks }: ReturnType<typeof copy>) =>
  outlooks.page({}, 'published', 100_000, 0).map(({ id: _id, ...row }) => row)

describe('the outlooks of a demo instance', () => {
  test('are three years of publications of two agencies, marked as invented', () => {
    const filled = copy()
    filled.filler.advance(startAt)
    expect(filled.outlooks.publications('EIA').length).toBe(36)
    expect(filled.outlooks.publications('IEA')).toEqual(filled.outlooks.publications('EIA'))
    expect(filled.outlooks.newestOn(undefined)).toBe('2026-11-03')
    for (const row of rowsOf(filled)) {
      expect(row.fixture).toBe(true)
      expect(row.value).toBeGreaterThan(0)
      expect(row.targetOn >= row.publishedOn).toBe(true)
    }
  })

  test('reach from the month of their publication twelve months ahead', () => {
    const filled = copy()
    filled.filler.advance(startAt)
    const brent = filled.catalogue.named('BRENT_CRUDE_USD')!.id
    const newest = filled.outlooks.page(
      { seriesIds: [brent], published: { fromOn: '2026-11-03', toOn: '2026-11-03' } },
      'published',
      100,
      0,
    )
    expect(newest.filter(row => row.source === 'EIA').map(row => row.period)).toEqual(
      Array.from({ length: 13 }, (_, n) => monthAfter('2026-11', n)),
    )
  })

  test('come out on the first Tuesday at noon in New York as the clock moves', () => {
    const filled = copy()
    filled.filler.advance(startAt)
    for (const [at, newest] of [
      [outlookPublishedAt('2026-12') - 1, '2026-11-03'],
      [outlookPublishedAt('2026-12'), '2026-12-01'],
      [outlookPublishedAt('2027-02'), '2027-02-02'],
    ] as const) {
      filled.clock.set(at)
      filled.filler.advance(at)
      expect(filled.outlooks.newestOn(undefined)).toBe(newest)
    }
    expect(filled.outlooks.publications('EIA').slice(-3)).toEqual([
      '2026-12-01',
      '2027-01-05',
      '2027-02-02',
    ])
  })

  test('are the same however the clock came there', () => {
    const [far, stepped] = [copy(), copy()]
    const end = startAt + 80 * dayMs
    for (let at = startAt; at < end; at += 7 * dayMs) stepped.filler.advance(at)
    stepped.filler.advance(end)
    far.filler.advance(startAt)
    far.filler.advance(end)
    expect(rowsOf(stepped)).toEqual(rowsOf(far))
    expect(stepped.store.page(everything, 100_000, 0)).toEqual(
      far.store.page(everything, 100_000, 0),
    )
  })
})

describe('monthly forecasts of a demo instance', () => {
  test('are there for every code, in time, with a past of two years', () => {
    const filled = copy()
    filled.filler.advance(startAt)
    for (const code of forecastCodes)
      expect(filled.store.publications(filled.catalogue.named(code)!.id).length, code).toBe(24)
    expect(
      filled.store
        .page(everything, 100_000, 0)
        .every(
          row => row.recordedAt === row.publishedAt && row.low < row.value && row.value < row.high,
        ),
    ).toBe(true)
  })

  test('come out on the first of the month as the clock moves', () => {
    const filled = copy()
    filled.filler.advance(startAt)
    const brent = filled.catalogue.named('BRENT_CRUDE_USD')!.id
    const newest = () => Math.max(...filled.store.publications(brent))
    filled.filler.advance(forecastPublishedAt('2026-12') - 1)
    expect(newest()).toBe(forecastPublishedAt('2026-11'))
    filled.filler.advance(forecastPublishedAt('2026-12'))
    expect(newest()).toBe(forecastPublishedAt('2026-12'))
  })

  test('demo monthly forecasts include the fourth quarter of 2026 wherever the clock is set', () => {
    for (const at of ['2024-03-10T12:00:00Z', '2026-11-21T22:00:00Z', '2028-06-01T12:00:00Z']) {
      const filled = copy(parseInstant(at)!)
      filled.filler.advance(filled.clock.now())
      const brent = filled.catalogue.named('BRENT_CRUDE_USD')!.id
      const months = filled.store
        .newest({ seriesIds: [brent], fromMonth: '2026-10', toMonth: '2027-01' })
        .map(row => row.month)
      expect(months, at).toEqual(['2026-10', '2026-11', '2026-12'])
    }
  })
})
