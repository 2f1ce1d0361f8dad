import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, parseInstant, startOfDay } from '../../../../../src/lib/time/instant.ts'
import { sparklineOf } from '../../../../../src/topics/prices/operations/sparkline.ts'
import {
  createLatestPrices,
  type Quote,
} from '../../../../../src/topics/prices/service/reads/latest-prices.ts'
import { runs } from '../../../../support/full.ts'
import { openTestInstance } from '../../../../support/instance/instance.ts'

const at = (text: string): number => parseInstant(text)!
/** A Friday. */
const now = at('2026-11-20T18:00:00Z')

function opened(code = 'WTI_USD') {
  const { services, clock } = openTestInstance({}, now)
  const series = services.catalogue.resolve(code, now)!.series
  return {
    ...services,
    clock,
    series,
    quote: () => services.latestPrices.quote(series),
    write(values: Record<string, number>) {
      services.ingest.write(
        Object.entries(values).map(([text, value]) => ({
          seriesId: series.id,
          observedAt: at(text),
          value,
        })),
      )
    },
    exclude: (fromOn: string, toOn = fromOn) =>
      services.quarantine.add({
        seriesId: series.id,
        fromOn,
        toOn,
        reason: 'test',
        createdAt: now,
      }),
  }
}

test('a code that was discontinued since it was quoted has no newest price', () => {
  const { latestPrices, series, write } = opened()
  write({ '2026-11-20T15:00:00Z': 71.2 })
  expect(latestPrices.newest(series)?.value).toBe(71.2)
  const discontinued = { ...series, unavailableReason: 'Its publisher ended it.' }
  expect(latestPrices.newest(discontinued)).toBeUndefined()
  // As when the catalogue is loaded again.
  latestPrices.renew()
  expect(latestPrices.quote(discontinued)).toBeUndefined()
})

describe('board.quote: changes', () => {
  test('compare with the newest observation at or before the span', () => {
    const { quote, write } = opened()
    write({
      '2026-08-22T15:00:00Z': 60,
      '2026-10-21T15:00:00Z': 62.5,
      '2026-11-13T15:00:00Z': 80,
      '2026-11-19T14:59:59Z': 50,
      '2026-11-19T15:00:00Z': 70,
      '2026-11-19T15:00:01Z': 99,
      '2026-11-20T15:00:00Z': 71.234,
    })
    expect(quote()!.changes).toEqual({
      '24h': { amount: 1.23, percent: 1.76, previous: 70 },
      '7d': { amount: -8.77, percent: -10.96, previous: 80 },
      '30d': { amount: 8.73, percent: 13.97, previous: 62.5 },
      '90d': { amount: 11.23, percent: 18.72, previous: 60 },
    })
  })

  test('are absent where the data does not reach', () => {
    const { quote, write } = opened()
    write({ '2026-11-12T00:00:00Z': 70, '2026-11-20T00:00:00Z': 71 })
    expect(Object.keys(quote()!.changes)).toEqual(['24h', '7d'])
  })

  test('from a price of zero have no percentage, and from below zero the sign of the movement', () => {
    const { quote, write } = opened()
    write({
      '2020-04-20T00:00:00Z': -37.63,
      '2020-04-28T00:00:00Z': 0,
      '2020-04-29T00:00:00Z': 15.06,
    })
    expect(quote()!.changes).toEqual({
      '24h': { amount: 15.06, percent: undefined, previous: 0 },
      '7d': { amount: 52.69, percent: 140.02, previous: -37.63 },
    })
  })

  test('of a daily series over 24 hours are against the previous close, across a weekend and within a day', () => {
    const { quote, write } = opened('FORTIES_USD')
    write({
      '2026-11-12T16:30:00Z': 60,
      '2026-11-13T12:00:00Z': 69,
      '2026-11-13T16:30:00Z': 70,
      '2026-11-16T09:00:00Z': 75,
      '2026-11-16T12:00:00Z': 71,
    })
    expect(quote()!.changes['24h']).toEqual({ amount: 1, percent: 1.43, previous: 70 })
    write({ '2026-11-17T08:00:00Z': 72 })
    expect(quote()!.changes['24h']!.previous).toBe(71)
  })

  test.each([
    ['WTI_USD', 14],
    ['FORTIES_USD', 14],
    ['CUSHING_STORAGE', 21],
    ['JAPAN_CRUDE_COCKTAIL_USD', 93],
  ])('of %s are absent where the value to compare with was over %d days old', (code, days) => {
    const { quote, write } = opened(code)
    const newest = at('2026-11-20T00:00:00Z')
    const iso = (time: number) => new Date(time).toISOString()
    write({ [iso(newest - (90 + days) * dayMs)]: 60, [iso(newest)]: 70 })
    expect(quote()!.changes['90d']!.previous).toBe(60)
    expect(quote()!.changes['30d']).toBeUndefined()
  })

  test('follow their definition for any observations', () => {
    const hours = fc.uniqueArray(fc.tuple(fc.nat(100 * 24), fc.integer({ min: -100, max: 100 })), {
      selector: ([hour]) => hour,
      minLength: 1,
      maxLength: 30,
    })
    const { series, ingest, observations, quote } = opened()
    fc.assert(
      fc.property(hours, drawn => {
        // Each run lies beyond the one before.
        const base =
          (observations.newest(series.id, Number.MAX_SAFE_INTEGER)?.observedAt ?? 0) + 200 * dayMs
        const rows = drawn
          .map(([hour, value]) => ({
            seriesId: series.id,
            observedAt: base + hour * hourMs,
            value,
          }))
          .sort((a, b) => a.observedAt - b.observedAt)
        ingest.write(rows)
        const last = rows.at(-1)!
        for (const [span, days] of [
          ['24h', 1],
          ['7d', 7],
          ['30d', 30],
          ['90d', 90],
        ] as const) {
          const previous = rows.findLast(row => row.observedAt <= last.observedAt - days * dayMs)
          if (previous && previous.observedAt >= last.observedAt - (days + 14) * dayMs)
            expect(quote()!.changes[span]!.previous).toBe(previous.value)
        }
      }),
      { numRuns: runs(50) },
    )
  })
})

describe('board: what is kept of earlier days', () => {
  /** Minutes of five days, most of them of the last one. */
  const minute = fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 4 * 1440, max: 5 * 1440 - 1 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 5 * 1440 - 1 }) },
  )
  const action = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('write' as const),
        points: fc.array(fc.tuple(minute, fc.integer({ min: 1, max: 900 })), { minLength: 1 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('exclude' as const),
        day: fc.integer({ min: 0, max: 4 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('include' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), at: minute }) },
  )

  test.each(['intraday_5m', 'daily'])(
    'the latest-price cache of earlier days never differs from a fresh read after any write: %s',
    cadence => {
      const { services, clock } = openTestInstance({}, now)
      const { latestPrices, history, ingest, quarantine, observations, catalogue } = services
      // Each run has its custom series.
      const unused = catalogue
        .list()
        .filter(one => one.cadence === cadence && one.unavailableReason === null && !one.delivery)
      expect(unused.length).toBeGreaterThan(5)
      fc.assert(
        fc.property(fc.array(action, { minLength: 2, maxLength: 12 }), actions => {
          const series = unused.pop()!
          for (const { id } of quarantine.all()) quarantine.remove(id)
          const start = at('2026-11-16T00:00:00Z')
          const timeOf = (minutes: number) => start + minutes * 60_000
          const isoDayOf = (day: number) => new Date(start + day * dayMs).toISOString().slice(0, 10)
          ingest.write(
            [0, 7, 29, 30, 60, 90, 91].map(daysAgo => ({
              seriesId: series.id,
              observedAt: timeOf(5) - daysAgo * dayMs,
              value: 50 + daysAgo,
            })),
          )
          for (const step of actions) {
            if (step.kind === 'write')
              ingest.write(
                step.points.map(([minutes, value]) => ({
                  seriesId: series.id,
                  observedAt: timeOf(minutes),
                  value,
                })),
              )
            else if (step.kind === 'exclude')
              quarantine.add({
                seriesId: series.id,
                fromOn: isoDayOf(step.day),
                toOn: isoDayOf(step.day),
                reason: 'test',
                createdAt: now,
              })
            else if (step.kind === 'withdraw')
              ingest.withdraw(
                series.id,
                observations
                  .between(series.id, timeOf(step.at - 300), timeOf(step.at), 3)
                  .map(({ observedAt }) => observedAt),
              )
            else quarantine.remove(quarantine.all()[0]?.id ?? 0)
            const anew = createLatestPrices({ newest: observations.newest }, quarantine, clock)
            const quote = latestPrices.quote(series)
            expect(quote).toEqual(anew.quote(series))
            if (!quote) continue
            const days = { latestPrices, history }
            const daysAnew = { latestPrices: anew, history }
            expect(sparklineOf(days, quote)).toEqual(sparklineOf(daysAnew, quote))
            const { rows } = history.page({
              seriesIds: [series.id],
              interval: 'day',
              from: startOfDay(quote.observation.observedAt) - 29 * dayMs,
              to: quote.observation.observedAt + 1,
              limit: 30,
              offset: 0,
            })
            expect(sparklineOf(days, quote)).toEqual(rows.map(({ value }) => value).reverse())
          }
        }),
        { numRuns: Math.min(60, unused.length), endOnFailure: true },
      )
    },
  )

  test('is not read again while prices of one day come in', () => {
    const { services, clock } = openTestInstance({}, now)
    const series = services.catalogue.resolve('WTI_USD', now)!.series
    const write = (observedAt: number) =>
      services.ingest.write([{ seriesId: series.id, observedAt, value: 70 }])
    for (let hours = 0; hours < 24 * 95; hours += 1)
      write(at('2026-11-20T00:00:00Z') - hours * hourMs)
    let reads = 0
    const count =
      <A extends unknown[], R>(read: (...args: A) => R) =>
      (...args: A): R => {
        reads += 1
        return read(...args)
      }
    const { newest, after } = services.observations
    const latestPrices = createLatestPrices(
      { newest: count(newest), after: count(after) },
      services.quarantine,
      clock,
    )
    const readsOf = (minutes: number): number => {
      const observedAt = at('2026-11-20T01:00:00Z') + minutes * 60_000
      write(observedAt)
      latestPrices.forget(series.id, observedAt)
      reads = 0
      expect(latestPrices.quote(series)?.changes['30d']).toBeDefined()
      return reads
    }
    // The newest and four bases; then what follows them, too; then the newest alone.
    expect([0, 5, 10, 15, 70, 130].map(readsOf)).toEqual([5, 9, 1, 1, 1, 1])
  })
})

describe('board.quote: quarantine', () => {
  test('the newest price is that of the newest day that reads may use, and changes skip days too', () => {
    const { quote, write, exclude } = opened()
    write({
      '2026-11-17T10:00:00Z': 67,
      '2026-11-18T10:00:00Z': 68,
      '2026-11-19T10:00:00Z': 69,
      '2026-11-20T10:00:00Z': 700,
    })
    expect(quote()!.observation.value).toBe(700)
    exclude('2026-11-20')
    expect(quote()!.observation.value).toBe(69)
    expect(quote()!.changes['24h']!.previous).toBe(68)
    exclude('2026-11-18')
    expect(quote()!.changes['24h']!.previous).toBe(67)
  })

  test('a series of quarantined days only has no price, until they are lifted', () => {
    const { quote, write, exclude, quarantine } = opened()
    expect(quote()).toBeUndefined()
    write({ '2026-11-20T10:00:00Z': 70 })
    const { id } = exclude('2026-11-01', '2026-11-30')
    expect(quote()).toBeUndefined()
    quarantine.remove(id)
    expect(quote()!.observation.value).toBe(70)
  })
})

describe('board.rendered: what is kept', () => {
  test('the status turns by itself as the clock moves', () => {
    const { quote, write, clock } = opened('FORTIES_USD')
    write({ '2026-11-20T16:30:00Z': 70 })
    const statuses = [
      '2026-11-20T18:00:00Z',
      '2026-11-24T16:30:00Z',
      '2026-11-24T16:30:01Z',
      '2026-11-25T16:30:00Z',
      '2026-11-25T16:30:01Z',
      '2027-11-25T16:30:01Z',
    ]
    const answers = statuses.map(text => {
      clock.set(at(text))
      return quote()!.status
    })
    expect(answers).toEqual(['current', 'current', 'delayed', 'delayed', 'stale', 'stale'])
  })

  test('a rendered price is cached until a write, a correction, a quarantine or a status change', () => {
    const { latestPrices, series, write, exclude, clock } = opened('FORTIES_USD')
    const render = ({ observation, status }: Quote) => `${observation.value} ${status}`
    const text = () => latestPrices.rendered('key', series, render)
    expect(text()).toBeUndefined()
    const steps: [() => void, string][] = [
      [() => write({ '2026-11-19T16:30:00Z': 70 }), '70 current'],
      [() => write({ '2026-11-20T16:30:00Z': 71 }), '71 current'],
      [() => write({ '2026-11-20T16:30:00Z': 72 }), '72 current'],
      [() => exclude('2026-11-20'), '70 current'],
      [() => clock.set(at('2026-11-23T16:30:01Z')), '70 delayed'],
    ]
    for (const [change, expected] of steps) {
      change()
      expect({ text: text()!.text, fresh: text()!.fresh }).toEqual({ text: expected, fresh: false })
    }
    latestPrices.forgetAll()
    expect(text()!.fresh).toBe(true)
    expect(text()!.fresh).toBe(false)
  })

  test('equal rendered texts have equal tags, different texts have different tags, and each key has its own text', () => {
    const { latestPrices, series, write } = opened()
    write({ '2026-11-20T10:00:00Z': 70 })
    const tag = (key: string, suffix = '') =>
      latestPrices.rendered(key, series, quote => `${quote.observation.value}${suffix}`)!.etag
    const first = tag('a')
    expect(tag('b')).toBe(first)
    expect(tag('c', '!')).not.toBe(first)
    expect(first).toMatch(/^"[\x21\x23-\x7e]+"$/)
    write({ '2026-11-20T10:00:00Z': 71 })
    expect(tag('a')).not.toBe(first)
    write({ '2026-11-20T10:00:00Z': 70 })
    expect(tag('a')).toBe(first)
  })
})
