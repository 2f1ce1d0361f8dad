import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, isoDay, startOfDay } from '../../../../src/lib/time/instant.ts'
import { createFreshness } from '../../../../src/topics/condition/service/freshness.ts'
import { runs } from '../../../support/full.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

function world() {
  const instance = openTestInstance()
  return {
    ...instance,
    fresh: createFreshness({ ...instance.services, now: instance.clock.now }),
    series: (code: string) => instance.services.catalogue.named(code)!,
  }
}

describe('freshness.reach: the reach of a series', () => {
  test('is that of its observations outside quarantine, whatever is quarantined', () => {
    const day = fc.integer({ min: 0, max: 9 })
    const range = fc.tuple(day, day).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
    const firstAt = startOfDay(startAt) - 9 * dayMs
    fc.assert(
      fc.property(
        fc.uniqueArray(day, { minLength: 1, maxLength: 6 }),
        fc.array(range, { maxLength: 3 }),
        (days, ranges) => {
          const { services, fresh, series, record } = world()
          for (const day of days)
            record('EUR_SEK', [11], firstAt + day * dayMs + 14 * hourMs, dayMs)
          const on = (n: number) => isoDay(firstAt + n * dayMs)
          for (const [from, to] of ranges) {
            services.quarantine.add({
              seriesId: series('EUR_SEK').id,
              fromOn: on(from),
              toOn: on(to),
              reason: 'fault',
              createdAt: startAt,
            })
          }
          const clear = days
            .filter(day => !ranges.some(([from, to]) => day >= from && day <= to))
            .sort((a, b) => a - b)
          const expected =
            clear.length === 0
              ? undefined
              : { firstOn: on(clear[0]!), lastAt: firstAt + clear.at(-1)! * dayMs + 14 * hourMs }
          expect(fresh.reach(series('EUR_SEK'))).toEqual(expected!)
          expect(fresh.hasData(series('EUR_SEK'))).toBe(expected !== undefined)
        },
      ),
      { numRuns: runs(40) },
    )
  })

  test('a code without a source has no data, even if something was recorded', () => {
    const { fresh, series, record } = world()
    record('BOSCAN_USD', [50], startAt, dayMs)
    expect(fresh.reach(series('BOSCAN_USD'))).toEqual({ firstOn: '2026-11-20', lastAt: startAt })
    expect(fresh.hasData(series('BOSCAN_USD'))).toBe(false)
  })
})

describe('freshness.overview: the overview', () => {
  test('counts each code once, in all and in its category', () => {
    const { fresh, record, services } = world()
    record('WTI_USD', [70], startAt, dayMs)
    record('EUR_SEK', [11], startAt - 20 * dayMs, dayMs)
    record('BOSCAN_USD', [50], startAt, dayMs)
    const { byCategory, ...all } = fresh.overview()
    const expected = services.catalogue
      .list()
      .filter(series => series.unavailableReason === null).length
    expect(all).toEqual({
      total: expected,
      current: 1,
      delayed: 0,
      stale: 1,
      missing: expected - 2,
      newestAt: startAt,
      oldestCurrentAt: startAt,
    })
    for (const status of ['total', 'current', 'delayed', 'stale', 'missing'] as const) {
      expect([...byCategory.values()].reduce((sum, tally) => sum + tally[status], 0)).toBe(
        all[status],
      )
    }
  })
})

describe('freshness.feeds: the feeds', () => {
  test('leave out what the catalogue has no source for', () => {
    const { fresh, services } = world()
    const without = services.catalogue.list().filter(series => series.unavailableReason !== null)
    expect(without.length).toBeGreaterThan(0)
    services.series.put(
      services.catalogue.list().map(series => ({
        ...series,
        unavailableReason: series.category === 'fx' ? 'no_source' : series.unavailableReason,
      })),
      [],
    )
    services.catalogue.reload()
    expect(fresh.feeds().filter(feed => feed.name.endsWith('/fx'))).toEqual([])
    expect(fresh.feeds().some(feed => feed.name.endsWith('/crude_oil'))).toBe(true)
  })
})

test('the cached freshness of codes always equals a fresh computation', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), daysAgo: fc.integer({ min: 0, max: 6 }) }),
    fc.record({
      kind: fc.constant('quarantine' as const),
      daysAgo: fc.integer({ min: 0, max: 6 }),
    }),
    fc.record({ kind: fc.constant('release' as const) }),
    fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 0, max: 60 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), steps => {
      const { services, fresh, series, record, clock } = world()
      record('EUR_SEK', [11, 11.1, 11.2], startAt - hourMs, dayMs)
      const quarantined: number[] = []
      for (const [i, next] of steps.entries()) {
        if (next.kind === 'wait') clock.advance(next.hours * hourMs)
        else if (next.kind === 'write')
          record('EUR_SEK', [12 + i], clock.now() - next.daysAgo * dayMs - hourMs, dayMs)
        else if (next.kind === 'release') {
          const id = quarantined.pop()
          if (id !== undefined) services.quarantine.remove(id)
        } else {
          const on = isoDay(clock.now() - next.daysAgo * dayMs)
          const { id } = services.quarantine.add({
            seriesId: series('EUR_SEK').id,
            fromOn: on,
            toOn: on,
            reason: 'fault',
            createdAt: clock.now(),
          })
          quarantined.push(id)
        }
        const anew = createFreshness({ ...services, now: clock.now })
        expect({ overview: fresh.overview(), feeds: fresh.feeds() }).toEqual({
          overview: anew.overview(),
          feeds: anew.feeds(),
        })
      }
    }),
    { numRuns: runs(30) },
  )
}, 60_000)

test('a value before days in quarantine is the newest one at once', () => {
  const { services, fresh, series, record } = world()
  const newestAt = startAt - hourMs
  record('EUR_SEK', [11], newestAt - 4 * dayMs, dayMs)
  record('EUR_SEK', [11], newestAt, dayMs)
  services.quarantine.add({
    seriesId: series('EUR_SEK').id,
    fromOn: isoDay(newestAt),
    toOn: isoDay(startAt),
    reason: 'fault',
    createdAt: startAt,
  })
  expect(fresh.overview().newestAt).toBe(newestAt - 4 * dayMs)
  record('EUR_SEK', [11], newestAt - 2 * dayMs, dayMs)
  expect(fresh.overview().newestAt).toBe(newestAt - 2 * dayMs)
})
