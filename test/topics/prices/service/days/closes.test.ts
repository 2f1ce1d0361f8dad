import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, isoDay, parseDay } from '../../../../../src/lib/time/instant.ts'
import type { Close } from '../../../../../src/topics/prices/math/window.ts'
import { createCloses } from '../../../../../src/topics/prices/service/days/closes.ts'
import { createQuarantineList } from '../../../../../src/topics/prices/service/quarantine.ts'
import { createCloseStore } from '../../../../../src/topics/prices/store/closes.ts'
import {
  createObservationStore,
  type Point,
} from '../../../../../src/topics/prices/store/observations.ts'
import { createQuarantineStore } from '../../../../../src/topics/prices/store/quarantine.ts'
import { runs } from '../../../../support/full.ts'
import { databaseInMemory } from '../../../../support/instance/database.ts'
import { putSeries } from '../../../../support/topics/series.ts'

const start = parseDay('2026-11-02')!
const hour = 3_600_000

/** Three series, their closes, and writes that notify listeners as ingest does. */
function openCloses(keptMax?: number) {
  const db = databaseInMemory()
  putSeries(db, [1, 2, 3])
  const store = createObservationStore(db)
  const quarantine = createQuarantineList(createQuarantineStore(db), id => closes.forget(id))
  const moment = { now: start + 365 * dayMs }
  const closes = createCloses({
    store: createCloseStore(db),
    quarantine,
    observations: store,
    now: () => moment.now,
    ...(keptMax !== undefined && { countMax: keptMax }),
  })
  return {
    closes,
    moment,
    quarantine,
    write(points: readonly Point[], recordedAt = start) {
      for (const change of store.write(points, recordedAt).changes) closes.forget(change.seriesId)
    },
    exclude: (seriesId: number, fromOn: string, toOn: string) =>
      quarantine.add({ seriesId, fromOn, toOn, reason: 'wrong', createdAt: start }),
  }
}

const daily = (seriesId: number, count: number): Point[] =>
  Array.from({ length: count }, (_, i) => ({
    seriesId,
    observedAt: start + i * dayMs,
    value: 70 + i,
  }))

describe('closes of a computed series', () => {
  const opened = () => {
    const reads: number[] = []
    const all = Array.from({ length: 4000 }, (_, i) => ({ startsAt: start + i * dayMs, value: i }))
    const last = all.at(-1)!.startsAt
    const closes = createCloses({
      store: {
        ...createCloseStore(databaseInMemory()),
        all(_, from = Number.MIN_SAFE_INTEGER) {
          const found = all.filter(close => close.startsAt >= from)
          reads.push(found.length)
          return found
        },
      },
      quarantine: createQuarantineList(createQuarantineStore(databaseInMemory()), () => {}),
      observations: {
        after: () => [],
        newest: (_, before) => ({
          observedAt: Math.min(last, before - 1),
          value: 0,
          recordedAt: start,
        }),
      },
      now: () => last,
      isComputed: () => true,
    })
    return { closes, reads, last }
  }

  test('are read for the days that are needed and no others', () => {
    const { closes, reads, last } = opened()
    expect(closes.of(1, { days: 30 })).toHaveLength(31)
    expect(closes.of(1, { days: 20 }).length).toBeGreaterThanOrEqual(21)
    expect(reads).toEqual([31])
    expect(closes.of(1, { days: 10, before: last - 99 * dayMs }).length).toBeGreaterThan(109)
    closes.forget(1)
    expect(closes.of(1)).toHaveLength(4000)
  })

  test('are so many as are needed in any number of days', () => {
    const { closes, reads } = opened()
    expect(closes.of(1, { days: 0, least: 250 }).length).toBeGreaterThanOrEqual(250)
    expect(Math.max(...reads)).toBeLessThan(1000)
    expect(closes.of(1, { days: 0, least: 9000 })).toHaveLength(4000)
  })
})

describe('closes.of: a close', () => {
  test('leaves out values in the future until their time comes', () => {
    const { closes, write, moment } = openCloses()
    moment.now = start + 10 * hour
    write([
      { seriesId: 1, observedAt: start + hour, value: 70 },
      { seriesId: 1, observedAt: start + 12 * hour, value: 71 },
      { seriesId: 1, observedAt: start + dayMs, value: 72 },
    ])
    const lastOf = () => closes.derived('last', [1], ([series]) => series!.at(-1))
    expect(closes.of(1)).toEqual([{ day: '2026-11-02', value: 70 }])
    expect(lastOf()).toEqual({ day: '2026-11-02', value: 70 })
    moment.now = start + 12 * hour
    expect(lastOf()).toEqual({ day: '2026-11-02', value: 71 })
    moment.now = start + dayMs
    expect(lastOf()).toEqual({ day: '2026-11-03', value: 72 })
    expect(closes.of(1)).toHaveLength(2)
  })

  test('is the last current observation of its UTC day', () => {
    const { closes, write } = openCloses()
    write([
      { seriesId: 1, observedAt: start, value: 70 },
      { seriesId: 1, observedAt: start + dayMs - 1, value: 71 },
      { seriesId: 1, observedAt: start + dayMs, value: 72 },
    ])
    expect(closes.of(1)).toEqual([
      { day: '2026-11-02', value: 71 },
      { day: '2026-11-03', value: 72 },
    ])
    write([{ seriesId: 1, observedAt: start + dayMs - 1, value: 69 }], start + hour)
    expect(closes.of(1)[0]!.value).toBe(69)
    expect(closes.of(2)).toEqual([])
  })

  test('is absent on quarantined days and back when they are cleared', () => {
    const { closes, write, quarantine, exclude } = openCloses()
    write(daily(1, 6))
    const whole = closes.of(1)
    const range = exclude(1, '2026-11-03', '2026-11-05')
    exclude(1, '2026-11-05', '2026-11-06')
    expect(closes.of(1).map(close => close.day)).toEqual(['2026-11-02', '2026-11-07'])
    quarantine.remove(range.id)
    expect(closes.of(1).map(close => close.day)).toEqual([
      '2026-11-02',
      '2026-11-03',
      '2026-11-04',
      '2026-11-07',
    ])
    expect(whole).toHaveLength(6)
  })

  test('of any day equals the result of a full scan, for any writes and quarantines', () => {
    const point = fc.record({
      seriesId: fc.constantFrom(1, 2),
      observedAt: fc
        .integer({ min: 0, max: 12 * 24 })
        .map(hours => start - 3 * dayMs + hours * hour),
      value: fc.integer({ min: -50, max: 50 }),
    })
    const range = fc.record({ seriesId: fc.constantFrom(1, 2), from: fc.nat(9), length: fc.nat(3) })
    const step = fc.oneof(fc.array(point, { minLength: 1, maxLength: 12 }), range)
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), steps => {
        const { closes, write, exclude } = openCloses()
        const current = new Map<string, Point>()
        const excluded = new Set<string>()
        steps.forEach((step, i) => {
          if (Array.isArray(step)) {
            write(step, start + i * hour)
            for (const point of step) current.set(`${point.seriesId} ${point.observedAt}`, point)
          } else {
            const day = (n: number) => isoDay(start + (n - 3) * dayMs)
            exclude(step.seriesId, day(step.from), day(step.from + step.length))
            for (let n = step.from; n <= step.from + step.length; n++)
              excluded.add(`${step.seriesId} ${day(n)}`)
          }
          for (const id of [1, 2]) {
            const byDay = new Map<string, number>()
            for (const point of [...current.values()].sort((a, b) => a.observedAt - b.observedAt)) {
              if (point.seriesId === id) byDay.set(isoDay(point.observedAt), point.value)
            }
            const expected = [...byDay]
              .map(([day, value]): Close => ({ day, value }))
              .filter(close => !excluded.has(`${id} ${close.day}`))
            expect([...closes.of(id)]).toEqual(expected)
          }
        })
      }),
      { numRuns: runs(60) },
    )
  })
})

describe('closes.of and closes.derived: what is kept', () => {
  test('is not read again until the series itself changes', () => {
    const { closes, write } = openCloses()
    write([...daily(1, 5), ...daily(2, 5)])
    const [first, second] = [closes.of(1), closes.of(2)]
    write([{ seriesId: 2, observedAt: start + 9 * dayMs, value: 1 }])
    expect(closes.of(1)).toBe(first)
    expect(closes.of(2)).not.toBe(second)
    expect(closes.of(2)).toHaveLength(6)
  })

  test('the cache of daily closes is bounded and evicts the least recently used series first', () => {
    const { closes, write } = openCloses(12)
    write([...daily(1, 5), ...daily(2, 5), ...daily(3, 5)])
    const [first, second] = [closes.of(1), closes.of(2)]
    expect(closes.of(1)).toBe(first)
    const third = closes.of(3)
    expect(closes.of(3)).toBe(third)
    expect(closes.of(1)).toBe(first)
    expect(closes.of(2)).not.toBe(second)
    const small = openCloses(3)
    small.write(daily(1, 5))
    expect(small.closes.of(1)).toBe(small.closes.of(1))
  })

  test('derived results stay cached until one of their series changes, even a series evicted from the cache', () => {
    const { closes, write } = openCloses(6)
    write([...daily(1, 5), ...daily(2, 5), ...daily(3, 5)])
    let computations = 0
    const lengths = () =>
      closes.derived('lengths', [1, 2], series => {
        computations += 1
        return series.map(closes => closes.length)
      })
    expect(lengths()).toEqual([5, 5])
    write([{ seriesId: 3, observedAt: start + 9 * dayMs, value: 1 }])
    expect(lengths()).toEqual([5, 5])
    expect(computations).toBe(1)
    closes.of(3)
    write([{ seriesId: 1, observedAt: start + 9 * dayMs, value: 1 }])
    expect(lengths()).toEqual([6, 5])
    expect(
      closes.derived('lengths', [2, 1], series => series.map(closes => closes.length)),
    ).toEqual([5, 6])
    expect(computations).toBe(2)
  })
})

test('a correction is dated by when it was recorded, within the range of the observation', () => {
  const { closes, write } = openCloses()
  write(daily(1, 5))
  expect(closes.revisedAt(1, start, start + 9 * dayMs)).toBeUndefined()
  write([{ seriesId: 1, observedAt: start + 2 * dayMs, value: 1 }], start + 20 * dayMs)
  write([{ seriesId: 1, observedAt: start + dayMs, value: 1 }], start + 10 * dayMs)
  expect(closes.revisedAt(1, start, start + 9 * dayMs)).toBe(start + 20 * dayMs)
  expect(closes.revisedAt(1, start, start + 2 * dayMs)).toBe(start + 10 * dayMs)
  expect(closes.revisedAt(1, start + 3 * dayMs, start + 9 * dayMs)).toBeUndefined()
})
