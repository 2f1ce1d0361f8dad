import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, isoDay } from '../../../../../src/lib/time/instant.ts'
import { longIntervals } from '../../../../../src/topics/prices/math/bars.ts'
import {
  createHistory,
  type HistoryPage,
  type HistoryQuery,
  type HistoryRange,
  type HistoryRow,
  type Position,
  pastHistory,
} from '../../../../../src/topics/prices/service/reads/history.ts'
import type {
  ObservationStore,
  Point,
} from '../../../../../src/topics/prices/store/observations.ts'
import { runs } from '../../../../support/full.ts'
import { createPast, type Past, seriesIds, withoutBirths } from '../../../../support/topics/past.ts'

const intervals = ['raw', 'hour', 'day', ...longIntervals] as const
/** A Thursday, some weeks before the turn of a year and of an era: the days continue past 1970. */
const firstDay = Date.UTC(1969, 11, 4)
const days = 70
const dayAt = (day: number) => firstDay + day * dayMs

const moments = fc
  .tuple(
    fc.nat(days),
    fc.constantFrom(0, 1, 9, 22, 23),
    fc.constantFrom(0, 1, 30 * 60_000, hourMs - 1),
  )
  .map(([day, hour, ms]) => dayAt(day) + hour * hourMs + ms)
// Quarters add up exactly in any order, so that sums of sums can be compared.
const values = fc.integer({ min: -400, max: 400 }).map(quarters => quarters / 4 + 0)
const points: fc.Arbitrary<Point> = fc.record(
  {
    seriesId: fc.constantFrom(...seriesIds),
    observedAt: moments,
    value: values,
    recordedAt: fc.integer({ min: 0, max: 9 }),
  },
  { requiredKeys: ['seriesId', 'observedAt', 'value'] },
)
const quarantines = fc.array(
  fc.record({ seriesId: fc.constantFrom(...seriesIds), first: fc.nat(days), length: fc.nat(12) }),
  {
    maxLength: 4,
  },
)
const edges = fc.oneof(moments, fc.integer({ min: -2, max: days + 2 }).map(dayAt))
const ranges: fc.Arbitrary<HistoryRange> = fc.record(
  {
    seriesIds: fc.shuffledSubarray(seriesIds, { minLength: 1 }),
    interval: fc.constantFrom(...intervals),
    from: edges,
    to: edges,
    bornBy: fc.integer({ min: -1, max: 12 }),
  },
  { requiredKeys: ['seriesIds', 'interval', 'from', 'to'] },
)
const queries: fc.Arbitrary<HistoryQuery> = fc
  .tuple(
    ranges,
    fc.integer({ min: 1, max: 12 }),
    fc.oneof(fc.constant(0), fc.nat(60), fc.constant(1e9)),
  )
  .map(([range, limit, offset]) => ({ ...range, limit, offset }))

interface Story {
  writes: Point[][]
  excluded: { seriesId: number; first: number; length: number }[]
}

const stories: fc.Arbitrary<Story> = fc.record({
  writes: fc.array(fc.array(points, { maxLength: 40 }), { minLength: 1, maxLength: 4 }),
  excluded: quarantines,
})

function pastOf({ writes, excluded }: Story): Past {
  const past = createPast()
  for (const [i, all] of writes.entries()) past.write(distinct(all), 3 * i)
  for (const { seriesId, first, length } of excluded) {
    const [fromOn, toOn] = [isoDay(dayAt(first)), isoDay(dayAt(first + length))]
    past.quarantine.add({ seriesId, fromOn, toOn, reason: 'test', createdAt: 0 })
  }
  return past
}

/** One value per moment: the store decides between two values in one write. */
const distinct = (all: readonly Point[]) => [
  ...new Map(all.map(point => [`${point.seriesId} ${point.observedAt}`, point])).values(),
]

const keysOf = (rows: readonly HistoryRow[]) =>
  rows.map(row => `${row.seriesId} ${row.bar?.startsAt ?? row.observedAt}`)

describe('history.page against a list of everything', () => {
  test('a page is the rows of its place in the whole, whatever the range cuts', () => {
    fc.assert(
      fc.property(
        stories,
        fc.array(queries, { minLength: 10, maxLength: 10 }),
        (story, storyQueries) => {
          const past = pastOf(story)
          for (const query of storyQueries) {
            const all = past.rows(query)
            const page = past.history.page(query)
            expect(withoutBirths(page.rows)).toEqual(
              withoutBirths(all.slice(query.offset, query.offset + query.limit)),
            )
            expect(page.more).toBe(all.length > query.offset + query.limit)
            expect(past.history.count(query)).toBe(all.length)
          }
        },
      ),
      { numRuns: runs(150) },
    )
  })

  test('an as-of page has the values of its moment, and before the coverage those first recorded', () => {
    const coverageSince = 4
    const moment = fc.integer({ min: -1, max: 12 })
    fc.assert(
      fc.property(
        stories,
        fc.array(fc.tuple(queries, moment), { minLength: 10, maxLength: 10 }),
        (story, storyQueries) => {
          const past = pastOf(story)
          for (const [query, asOf] of storyQueries) {
            const raw = { ...query, interval: 'raw' as const }
            const visibleAt = Math.min(asOf, query.bornBy ?? asOf)
            const all = past.rows(raw, versions =>
              asOf < coverageSince
                ? versions[0]
                : versions.findLast(version => version.recordedAt <= visibleAt),
            )
            const page = past.history.pageAsOf(raw, asOf, () => coverageSince)
            expect(page.rows).toEqual(all.slice(query.offset, query.offset + query.limit))
            expect(page.more).toBe(all.length > query.offset + query.limit)
            expect(past.history.countAsOf(raw, asOf, () => coverageSince)).toBe(all.length)
            for (const id of raw.seriesIds) {
              const rows = [...past.history.rowsAsOf(raw, id, asOf, () => coverageSince)]
              const own = all.filter(({ seriesId }) => seriesId === id).reverse()
              expect(rows.map(row => ({ seriesId: id, ...row }))).toEqual(own)
            }
          }
        },
      ),
      { numRuns: runs(150) },
    )
  })

  test('quarantined days never appear, and come back when the quarantine is lifted', () => {
    fc.assert(
      fc.property(stories, ranges, (story, { bornBy: _, ...range }) => {
        const past = pastOf(story)
        const query = { ...range, limit: 1e6, offset: 0 }
        const isQuarantined = (seriesId: number, at: number) =>
          story.excluded.some(
            range =>
              range.seriesId === seriesId &&
              at >= dayAt(range.first) &&
              at < dayAt(range.first + range.length + 1),
          )
        for (const row of past.history.page({ ...query, interval: 'raw' }).rows)
          expect(isQuarantined(row.seriesId, row.observedAt)).toBe(false)
        past.history.count(query)
        for (const range of [...past.quarantine.all()]) past.quarantine.remove(range.id)
        const all = pastOf({ ...story, excluded: [] }).rows(query)
        expect(withoutBirths(past.history.page(query).rows)).toEqual(withoutBirths(all))
        expect(past.history.count(query)).toBe(all.length)
      }),
      { numRuns: runs(50) },
    )
  })
})

describe('history.page: paging', () => {
  /**
   * Writes between two pages: recorded after the first page, observed at any moment of the past.
   */
  const interruptions = fc.array(fc.array(points, { maxLength: 8 }), { maxLength: 12 })
  const startedAt = 20

  /**
   * Rows of all pages, each asked for where the one before ended, with something written in
   * between.
   */
  function walked(
    past: Past,
    query: HistoryQuery,
    between: Point[][],
    pageOf: (query: HistoryQuery) => HistoryPage,
  ): HistoryRow[] {
    const rows: HistoryRow[] = []
    let after: Position | undefined
    for (let i = 0; i < 1000; i++) {
      const page = pageOf({ ...query, ...(after && { after }) })
      rows.push(...page.rows)
      if (!page.more) return rows
      expect(page.rows).toHaveLength(query.limit)
      after = page.end
      past.write(
        distinct(between[i] ?? []).map(({ recordedAt: _, ...point }) => point),
        startedAt + 1 + i,
      )
    }
    throw new Error('paging does not end')
  }

  test('history paging neither repeats nor loses a row of its snapshot, whatever is recorded during paging', () => {
    fc.assert(
      fc.property(stories, queries, interruptions, (story, storyQuery, between) => {
        const past = pastOf(story)
        const query = { ...storyQuery, bornBy: startedAt, offset: 0 }
        const start = past.rows(query)
        const rows = walked(past, query, between, past.history.page)
        expect(keysOf(rows)).toEqual(keysOf(start))
        expect(rows.map(row => row.observedAt)).toEqual(start.map(row => row.observedAt))
        // Asked for again at the end, a page out of order is still the page of that moment, with
        // the values of now.
        const page = past.history.page({ ...query, offset: storyQuery.offset })
        expect(withoutBirths(page.rows)).toEqual(
          withoutBirths(
            past.rows(query).slice(storyQuery.offset, storyQuery.offset + storyQuery.limit),
          ),
        )
        expect(keysOf(page.rows)).toEqual(
          keysOf(start.slice(storyQuery.offset, storyQuery.offset + storyQuery.limit)),
        )
        expect(past.history.count(query)).toBe(start.length)
      }),
      { numRuns: runs(150) },
    )
  })

  test('as-of history paging returns the rows and values of its moment, whatever is recorded during paging', () => {
    fc.assert(
      fc.property(
        stories,
        queries,
        interruptions,
        fc.integer({ min: 0, max: startedAt }),
        (story, storyQuery, between, asOf) => {
          const past = pastOf(story)
          const query = { ...storyQuery, interval: 'raw' as const, bornBy: startedAt, offset: 0 }
          const start = past.rows(query, versions =>
            versions.findLast(version => version.recordedAt <= asOf),
          )
          expect(
            walked(past, query, between, pageQuery =>
              past.history.pageAsOf(pageQuery, asOf, () => 0),
            ),
          ).toEqual(start)
          expect(past.history.countAsOf(query, asOf, () => 0)).toBe(start.length)
        },
      ),
      { numRuns: runs(100) },
    )
  })

  test('repeats nothing and loses nothing of its beginning when rows claim to have been recorded before it', () => {
    fc.assert(
      fc.property(stories, queries, interruptions, (story, storyQuery, between) => {
        const past = pastOf(story)
        const query = { ...storyQuery, bornBy: startedAt, offset: 0 }
        const start = keysOf(past.rows(query))
        const late = between.map(all => all.map(point => ({ ...point, recordedAt: 1 })))
        const claiming = {
          ...past,
          write: (all: readonly Point[]) =>
            past.write(
              all.map(point => ({ ...point, recordedAt: 1 })),
              1,
            ),
        }
        const rows = keysOf(walked(claiming, query, late, past.history.page))
        expect(new Set(rows).size).toBe(rows.length)
        expect(start.filter(key => !rows.includes(key))).toEqual([])
      }),
      { numRuns: runs(100) },
    )
  })
})

test('a page deep in a long series is its place in the whole', () => {
  const past = createPast()
  const long = (seriesId: number, stepMs: number) =>
    Array.from(
      { length: 4000 },
      (_, i): Point => ({ seriesId, observedAt: firstDay + i * stepMs, value: i }),
    )
  past.write([...long(1, 7 * 60_000), ...long(2, 3 * hourMs)], 1)
  past.quarantine.add({
    seriesId: 2,
    fromOn: isoDay(dayAt(100)),
    toOn: isoDay(dayAt(119)),
    reason: 'test',
    createdAt: 0,
  })
  for (const interval of intervals) {
    const query = {
      seriesIds: [2, 1],
      interval,
      from: firstDay + 5 * hourMs,
      to: firstDay + 450 * dayMs,
      limit: 7,
    }
    const all = past.rows(query)
    expect(past.history.count(query)).toBe(all.length)
    for (const offset of [0, 1, 50, 777, all.length - 3, all.length, all.length + 100, 1e12]) {
      expect(withoutBirths(past.history.page({ ...query, offset }).rows)).toEqual(
        withoutBirths(all.slice(offset, offset + 7)),
      )
    }
  }
})

test.each(intervals)(
  'a part of a day before, between or after its observations has no %s',
  interval => {
    const past = createPast()
    const [first, second] = [firstDay + 9 * hourMs, firstDay + 17 * hourMs]
    past.write(
      [first, second].map(observedAt => ({ seriesId: 1, observedAt, value: 1 })),
      1,
    )
    const count = (from: number, to: number) =>
      past.history.count({ seriesIds: [1], interval, from, to })
    expect([
      count(firstDay, first),
      count(first + 1, second),
      count(second + 1, firstDay + dayMs),
    ]).toEqual([0, 0, 0])
    expect([
      count(firstDay, first + 1),
      count(first, second),
      count(second, firstDay + dayMs),
    ]).toEqual([1, 1, 1])
  },
)

test('the newest recording among several series is known, and of none nothing', () => {
  const past = createPast()
  expect(past.history.newestRecordedAt(seriesIds)).toBe(Number.NEGATIVE_INFINITY)
  past.write([{ seriesId: 1, observedAt: 0, value: 1 }], 5)
  past.write([{ seriesId: 2, observedAt: dayMs, value: 1 }], 9)
  expect(past.history.newestRecordedAt(seriesIds)).toBe(9)
  expect(past.history.newestRecordedAt([1])).toBe(5)
})

test('bars of the past are made of blocks of rows, however many there are', () => {
  const past = createPast()
  const count = 40_000
  past.write(
    Array.from({ length: count }, (_, i) => ({
      seriesId: 1,
      observedAt: firstDay + i * 60_000,
      value: i,
    })),
    1,
  )
  let rowsAtOnce = 0
  const note = (rows: number) => {
    rowsAtOnce = Math.max(rowsAtOnce, rows)
  }
  const store: ObservationStore = {
    ...past.store,
    asOf(...of) {
      const rows = past.store.asOf(...of)
      note(rows.length)
      return rows
    },
    copy(...of) {
      const rows = past.store.copy(...of)
      note(rows)
      return rows
    },
  }
  const coverage = { since: () => 0, endOf: () => Number.MAX_SAFE_INTEGER }
  const history = pastHistory(createHistory(store, past.quarantine), 2, coverage)
  const range = { seriesIds: [1], from: firstDay, to: dayAt(60), interval: 'day' as const }
  const { rows } = history.page({ ...range, limit: 100, offset: 0 })
  expect(rows.reduce((sum, { bar }) => sum + bar!.count, 0)).toBe(count)
  expect(rowsAtOnce).toBeLessThan(20_000)
})
