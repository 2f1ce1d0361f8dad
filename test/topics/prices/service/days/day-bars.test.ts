import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs } from '../../../../../src/lib/time/instant.ts'
import type { Bar } from '../../../../../src/topics/prices/math/bars.ts'
import { createDayBars } from '../../../../../src/topics/prices/service/days/day-bars.ts'
import type { ObservationStore } from '../../../../../src/topics/prices/store/observations.ts'
import { runs } from '../../../../support/full.ts'
import { createPast, withoutBirths } from '../../../../support/topics/past.ts'

const firstDay = Date.UTC(1969, 0, 1)
const days = 600
const points = fc.record({
  seriesId: fc.constantFrom(1, 2),
  observedAt: fc
    .tuple(fc.nat(days), fc.constantFrom(0, 9, 23))
    .map(([day, hour]) => firstDay + day * dayMs + hour * hourMs),
  value: fc.integer({ min: -400, max: 400 }).map(quarters => quarters / 4 + 0),
})
const ranges = fc.record({
  seriesIds: fc.constantFrom([1], [2], [1, 2]),
  interval: fc.constantFrom('day' as const, 'week' as const, 'month' as const),
  from: fc.nat(days).map(day => firstDay + day * dayMs),
  to: fc.nat(days).map(day => firstDay + day * dayMs + hourMs),
})

test('day bars that are requested repeatedly match all observations after each write', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(points, { minLength: 1, maxLength: 30 }), { minLength: 2, maxLength: 4 }),
      fc.array(ranges, { minLength: 1, maxLength: 4 }),
      (writes, asked) => {
        const past = createPast()
        for (const [i, all] of writes.entries()) {
          const once = new Map(all.map(point => [`${point.seriesId} ${point.observedAt}`, point]))
          past.write([...once.values()], i)
          for (let again = 0; again < 3; again += 1)
            for (const range of asked) {
              const { rows } = past.history.page({ ...range, limit: 1000, offset: 0 })
              expect(withoutBirths(rows)).toEqual(withoutBirths(past.rows(range)))
            }
        }
      },
    ),
    { numRuns: runs(60) },
  )
})

/** A store with one bar a day, which counts its reads. */
function countedStore() {
  let reads = 0
  const bars: ObservationStore['bars'] = (_id, _span, from, to, limit) => {
    reads += 1
    const newest = Math.ceil(to / dayMs) - 1
    const count = Math.min(limit, newest - Math.ceil(from / dayMs) + 1)
    return Array.from({ length: count }, (_, i): Bar => {
      const at = (newest - i) * dayMs
      const price = { open: 1, high: 1, low: 1, close: 1, sum: 1 }
      return {
        ...price,
        startsAt: at,
        closedAt: at,
        count: 1,
        hours: 1,
        recordedAt: at,
        bornAt: at,
      }
    })
  }
  return { bars, reads: () => reads }
}

test('a block of days is read from the database twice, and again only after a change within or before it', () => {
  const { bars, reads } = countedStore()
  const dayBars = createDayBars({ bars })
  const ask = () => dayBars.bars(1, 24, 10 * dayMs, 20 * dayMs, 100, Number.MAX_SAFE_INTEGER)
  for (let i = 0; i < 5; i += 1) expect(ask().map(bar => bar.startsAt / dayMs)).toHaveLength(10)
  expect(reads()).toBe(2)
  dayBars.forget(2)
  dayBars.forget(1, 300 * dayMs)
  ask()
  expect(reads()).toBe(2)
  dayBars.forget(1, 15 * dayMs)
  ask()
  ask()
  ask()
  expect(reads()).toBe(4)
})

test('no more blocks of days are kept than there is room for, and those asked for last stay', () => {
  const { bars, reads } = countedStore()
  const dayBars = createDayBars({ bars }, 2)
  const ask = (seriesId: number) => dayBars.bars(seriesId, 24, 0, 10 * dayMs, 100)
  for (const id of [1, 1, 2, 2, 1, 3, 3]) ask(id)
  const before = reads()
  ask(1)
  ask(3)
  expect(reads()).toBe(before)
  ask(2)
  expect(reads()).toBe(before + 1)
})

test('the blocks of ten codes over twelve years are all kept', () => {
  const { bars, reads } = countedStore()
  const dayBars = createDayBars({ bars })
  const askAll = () => {
    for (let seriesId = 1; seriesId <= 10; seriesId += 1)
      for (let year = 0; year < 12; year += 1)
        dayBars.bars(seriesId, 24, year * 365 * dayMs, (year * 365 + 100) * dayMs, 100)
  }
  // A range of two blocks has both after its third read.
  for (let i = 0; i < 4; i += 1) askAll()
  const before = reads()
  askAll()
  expect(reads()).toBe(before)
})
