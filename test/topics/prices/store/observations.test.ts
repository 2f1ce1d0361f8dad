import type { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { migrations } from '../../../../src/database/migrations.ts'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import type { Bar, Observation } from '../../../../src/topics/prices/math/bars.ts'
import {
  createObservationStore,
  type ObservationStore,
  type Point,
  type Span,
} from '../../../../src/topics/prices/store/observations.ts'
import { runs } from '../../../support/full.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { createRandom } from '../../../support/random.ts'
import { putSeries } from '../../../support/topics/series.ts'
import { addVersion, type Version } from '../../../support/topics/versions.ts'

const always = Number.MAX_SAFE_INTEGER
const seriesIds = [1, 2, 3]

function openStore(): { db: Database; store: ObservationStore } {
  const db = databaseInMemory()
  putSeries(db, seriesIds)
  return { db, store: createObservationStore(db) }
}

interface Write {
  recordedAt: number
  points: Point[]
}

/**
 * The history of every point, kept the obvious way: `series/observedAt` to its values, each known
 * until the next.
 */
type Model = Map<string, Version[]>

function apply(model: Model, { points, recordedAt }: Write) {
  const ordered = points
    .map(point => ({
      ...point,
      explicit: point.recordedAt !== undefined,
      recordedAt: point.recordedAt ?? recordedAt,
    }))
    .sort((a, b) => a.observedAt - b.observedAt || a.recordedAt - b.recordedAt)
  for (const seriesId of seriesIds) {
    const own = ordered.filter(point => point.seriesId === seriesId)
    for (const [i, point] of own.entries()) {
      const { observedAt, value, explicit, recordedAt: pointRecordedAt } = point
      // The first of two values for one moment, recorded at once, was never visible.
      if (own[i + 1]?.observedAt === observedAt && own[i + 1]?.recordedAt === pointRecordedAt)
        continue
      const versions = model.get(`${seriesId}/${observedAt}`) ?? []
      addVersion(versions, { value, recordedAt: pointRecordedAt }, explicit)
      model.set(`${seriesId}/${observedAt}`, versions)
    }
  }
}

/** Rows of a series, newest first, each as `pick` finds it among its versions. */
function rowsOf(
  model: Model,
  seriesId: number,
  pick: (versions: Version[]) => Version | undefined,
): Observation[] {
  return [...model]
    .filter(([key]) => key.startsWith(`${seriesId}/`))
    .flatMap(([key, versions]) => {
      const version = pick(versions)
      return version ? [{ observedAt: Number(key.split('/')[1]), ...version }] : []
    })
    .sort((a, b) => b.observedAt - a.observedAt)
}

/** What the observations of each bucket come to, added up in time order. */
function naiveBars(model: Model, seriesId: number, lengthMs: number): Bar[] {
  const starts = new Map<number, (Observation & { bornAt: number })[]>()
  for (const row of rowsOf(model, seriesId, versions => versions.at(-1)).reverse()) {
    const start = Math.floor(row.observedAt / lengthMs) * lengthMs
    const bornAt = model.get(`${seriesId}/${row.observedAt}`)![0]!.recordedAt
    starts.set(start, [...(starts.get(start) ?? []), { ...row, bornAt }])
  }
  return [...starts].map(([startsAt, rows]) => ({
    startsAt,
    open: rows[0]!.value,
    high: Math.max(...rows.map(row => row.value)),
    low: Math.min(...rows.map(row => row.value)),
    close: rows.at(-1)!.value,
    sum: rows.slice(1).reduce((sum, row) => sum + row.value, rows[0]!.value),
    count: rows.length,
    hours: new Set(rows.map(row => Math.floor(row.observedAt / hourMs))).size,
    closedAt: rows.at(-1)!.observedAt,
    recordedAt: Math.max(...rows.map(row => row.recordedAt)),
    bornAt: Math.min(...rows.map(row => row.bornAt)),
  }))
}

// Few enough moments that writes meet, on both sides of 1970 and of midnight.
const moments = fc
  .tuple(
    fc.constantFrom(-2, -1, 0, 1, 20_000),
    fc.constantFrom(0, 1, 22, 23),
    fc.constantFrom(0, 1, 30 * 60_000, hourMs - 1),
  )
  .map(([day, hour, ms]) => day * dayMs + hour * hourMs + ms)
const values = fc.oneof(
  fc.constantFrom(1, 2, 3),
  fc.double({ min: -1e9, max: 1e9, noNaN: true }).map(value => value + 0),
)
const recordedAts = fc.integer({ min: 0, max: 12 })
const points: fc.Arbitrary<Point> = fc.record(
  {
    seriesId: fc.constantFrom(...seriesIds),
    observedAt: moments,
    value: values,
    recordedAt: recordedAts,
  },
  { requiredKeys: ['seriesId', 'observedAt', 'value'] },
)
/** So many values in one hour that the hours of its day are stored, or nearly. */
const denseHours: fc.Arbitrary<Point[]> = fc
  .record({ point: points, minutes: fc.integer({ min: 22, max: 30 }) })
  .map(({ point: { seriesId, value, observedAt }, minutes }) =>
    Array.from({ length: minutes }, (_, minute) => ({
      seriesId,
      value,
      observedAt: Math.floor(observedAt / hourMs) * hourMs + minute * 60_000,
    })),
  )
const writes: fc.Arbitrary<Write[]> = fc.array(
  fc.record({
    recordedAt: recordedAts,
    points: fc.oneof(
      { weight: 3, arbitrary: fc.array(points, { maxLength: 12 }) },
      { weight: 1, arbitrary: denseHours },
    ),
  }),
  {
    maxLength: 8,
  },
)

/** Runs `check` over the store and the model after all writes went into both. */
const replayed = (
  check: (store: ObservationStore, model: Model, db: Database, all: Write[]) => void,
) =>
  fc.assert(
    fc.property(writes, all => {
      const { db, store } = openStore()
      const model: Model = new Map()
      for (const write of all) {
        store.write(write.points, write.recordedAt)
        apply(model, write)
      }
      check(store, model, db, all)
      db.close()
    }),
    { numRuns: runs(150) },
  )

const dump = (db: Database) =>
  ['observations', 'observation_revisions', 'bars'].map(table =>
    db.query(`SELECT * FROM ${table} ORDER BY 1, 2, 3`).all(),
  )

describe('write: any sequence of writes and corrections', () => {
  test('an as-of read at every moment returns the values that were current at that moment', () => {
    replayed((store, model) => {
      for (const id of seriesIds) {
        for (let at = -1; at <= 13; at++) {
          const expected = rowsOf(model, id, versions =>
            versions.findLast(version => version.recordedAt <= at),
          )
          expect(store.asOf(id, -always, always, at, 1000)).toEqual(expected)
        }
        expect(store.between(id, -always, always, 1000)).toEqual(
          rowsOf(model, id, versions => versions.at(-1)),
        )
        expect(store.firstRecorded(id, -always, always, 1000)).toEqual(
          rowsOf(model, id, versions => versions[0]),
        )
      }
    })
  })

  test('the stored bars of hours and days are what the observations give, to the last digit', () => {
    replayed((store, model) => {
      for (const id of seriesIds) {
        for (const [span, lengthMs] of [
          [1, hourMs],
          [24, dayMs],
        ] as [Span, number][]) {
          expect(store.bars(id, span, -always, always, 1000).reverse()).toEqual(
            naiveBars(model, id, lengthMs),
          )
        }
      }
      expect(store.faults()).toEqual([])
    })
  })

  test('a read limited to rows recorded by a moment returns those rows with their current values', () => {
    replayed((store, model) => {
      for (const id of seriesIds) {
        for (let at = -1; at <= 13; at++) {
          const born = rowsOf(model, id, versions =>
            versions[0]!.recordedAt <= at ? versions.at(-1) : undefined,
          )
          const [newest, oldest] = [born.slice(0, 3), born.toReversed()]
          expect(store.between(id, -always, always, 3, at)).toEqual(newest)
          expect(store.oldestFirst(id, -always, always, at)).toEqual(oldest)
          expect(store.count(id, -always, always, at)).toBe(born.length)
          const days = Map.groupBy(oldest, row => Math.floor(row.observedAt / dayMs) * dayMs)
          expect(
            store.days(id, at).map(({ startsAt, count, hours }) => ({ startsAt, count, hours })),
          ).toEqual(
            [...days].map(([startsAt, rows]) => ({
              startsAt,
              count: rows.length,
              hours: new Set(rows.map(row => Math.floor(row.observedAt / hourMs))).size,
            })),
          )
        }
      }
    })
  })

  test('the intervals of a point never overlap and leave no gap', () => {
    replayed((_store, model, db) => {
      const revisions = db
        .query<{ key: string; value: number; recordedAt: number; replacedAt: number }, []>(
          `SELECT series_id || '/' || observed_at AS key, value, recorded_at AS recordedAt, replaced_at AS replacedAt
           FROM observation_revisions ORDER BY series_id, observed_at, recorded_at`,
        )
        .all()
      const replaced = [...model].flatMap(([key, versions]) =>
        versions
          .slice(0, -1)
          .map((version, i) => ({ key, ...version, replacedAt: versions[i + 1]!.recordedAt })),
      )
      const inOrder = (a: (typeof revisions)[0], b: (typeof revisions)[0]) =>
        a.key < b.key ? -1 : a.key > b.key ? 1 : a.recordedAt - b.recordedAt
      expect(revisions.sort(inOrder)).toEqual(replaced.sort(inOrder))
      for (const revision of revisions)
        expect(revision.replacedAt).toBeGreaterThan(revision.recordedAt)
    })
  })

  test('a second write of the same points changes nothing', () => {
    replayed((store, _model, db, all) => {
      const last = all.at(-1)
      if (!last) return
      const before = dump(db)
      store.write(last.points, last.recordedAt)
      expect(dump(db)).toEqual(before)
    })
  })
})

const day = Date.UTC(2026, 10, 20)
const week = Array.from(
  { length: 40 },
  (_, i): Point => ({ seriesId: 1, observedAt: day + i * 4 * hourMs, value: 70 + Math.sin(i) }),
)

test('a write reports which observations it inserted, corrected and left unchanged', () => {
  const { store } = openStore()
  expect(store.write(week, 1).counts).toEqual({ inserted: 40, revised: 0, unchanged: 0 })
  expect(store.write(week, 2)).toEqual({
    counts: { inserted: 0, revised: 0, unchanged: 40 },
    changes: [],
    pastOnly: [],
  })
  const corrected = { ...week[3]!, value: 99 }
  const added = { seriesId: 2, observedAt: day, value: 5 }
  const { counts, changes } = store.write([corrected, added, week[0]!], 3)
  expect(counts).toEqual({ inserted: 1, revised: 1, unchanged: 1 })
  expect(changes).toEqual([
    {
      seriesId: 1,
      inserted: [],
      revised: [{ observedAt: corrected.observedAt, value: 99, recordedAt: 3 }],
      replaced: [week[3]!.value],
      reborn: [],
    },
    {
      seriesId: 2,
      inserted: [{ observedAt: day, value: 5, recordedAt: 3 }],
      revised: [],
      replaced: [],
      reborn: [],
    },
  ])
})

test('all published corrections of one moment are stored when they arrive in one write in any order', () => {
  const { store } = openStore()
  const versions = [70, 71, 72].map((value, i) => ({
    seriesId: 1,
    observedAt: day,
    value,
    recordedAt: 10 * (i + 1),
  }))
  store.write([versions[1]!, versions[2]!, versions[0]!], 99)
  expect([5, 10, 19, 20, 30, 99].map(at => store.asOf(1, day, day + 1, at, 1)[0]?.value)).toEqual([
    undefined,
    70,
    70,
    71,
    72,
    72,
  ])
})

test.each([
  ['a series that does not exist', { seriesId: 9, observedAt: day, value: 1 }],
  ['a value that is not a number', { seriesId: 2, observedAt: day, value: Number.NaN }],
] as [string, Point][])('%s takes the whole write with it', (_, bad) => {
  const { db, store } = openStore()
  store.write(week.slice(0, 5), 1)
  const before = dump(db)
  expect(() => store.write([...week, bad], 2)).toThrow()
  expect(dump(db)).toEqual(before)
})

test('a range is half-open and its limit counts from the newest', () => {
  const { store } = openStore()
  store.write(week, 1)
  const [from, to] = [week[10]!.observedAt, week[20]!.observedAt]
  expect(store.between(1, from, to, 1000).map(row => row.observedAt)).toEqual(
    week
      .slice(10, 20)
      .map(point => point.observedAt)
      .reverse(),
  )
  expect(store.between(1, from, to, 3)[0]!.observedAt).toBe(week[19]!.observedAt)
  expect(store.count(1, from, to)).toBe(10)
  expect(store.newest(1, to)?.observedAt).toBe(week[19]!.observedAt)
  expect(store.newest(1, week[0]!.observedAt)).toBeUndefined()
  expect(store.after(1, from, 2).map(row => row.observedAt)).toEqual([
    week[11]!.observedAt,
    week[12]!.observedAt,
  ])
})

describe('faults: what was tampered with is found', () => {
  const columns = [
    'open',
    'high',
    'low',
    'close',
    'sum',
    'count',
    'hours',
    'closed_at',
    'recorded_at',
    'born_at',
  ]
  const narrow = ['close', 'closed_at', 'recorded_at']
  const tampered = [
    ...columns.map(
      column => `UPDATE bars SET ${column} = ${column} + 1 WHERE span = 1 AND count = 2`,
    ),
    ...narrow.map(
      column => `UPDATE bars SET ${column} = ${column} + 1 WHERE span = 1 AND count IS NULL`,
    ),
    ...columns.map(
      column => `UPDATE bars SET ${column} = ${column} - 1 WHERE span = 24 AND starts_at = ${day}`,
    ),
    ...columns
      .filter(column => !narrow.includes(column))
      .map(column => `UPDATE bars SET ${column} = 9 WHERE series_id = 2`),
    `INSERT INTO bars (series_id, span, starts_at, close, closed_at, recorded_at) VALUES (1, 1, ${day}, ${week[0]!.value}, ${day}, 3)`,
    'DELETE FROM bars WHERE span = 1 AND count = 2',
    `DELETE FROM bars WHERE span = 24 AND starts_at = ${day}`,
    `UPDATE bars SET starts_at = starts_at - ${dayMs} WHERE span = 24 AND starts_at = ${day}`,
    `UPDATE observations SET value = value + 1e-9 WHERE observed_at = ${day}`,
    `DELETE FROM observations WHERE observed_at = ${day}`,
    `INSERT INTO observations VALUES (3, ${day + 90_000}, 1, 1, 0, 0)`,
    'UPDATE observation_revisions SET replaced_at = replaced_at + 1',
    'UPDATE observation_revisions SET replaced_at = recorded_at',
    'UPDATE observations SET recorded_at = 9 WHERE recorded_at = 3',
  ]
  test.each(tampered)('the check of observations finds: %s', sql => {
    const { db, store } = openStore()
    store.write(week, 2)
    store.write([{ ...week[0]!, value: 71 }], 3)
    store.write([{ seriesId: 2, observedAt: day, value: 8 }], 3)
    store.write(
      [...Array(30).keys(), 60, 90, 120].map(minute => ({
        seriesId: 3,
        observedAt: day + minute * 60_000,
        value: minute,
      })),
      3,
    )
    expect(store.faults()).toEqual([])
    expect(db.run(sql).changes).toBeGreaterThan(0)
    expect(store.faults().length).toBeGreaterThan(0)
  })

  test('tampering is found in a series longer than one read batch', () => {
    const { db, store } = openStore()
    const long = Array.from(
      { length: 50_000 },
      (_, i): Point => ({ seriesId: 1, observedAt: day + i * 600_000, value: i }),
    )
    store.write(long, 1)
    expect(store.faults()).toEqual([])
    db.run(`UPDATE bars SET sum = sum + 1 WHERE span = 1 AND starts_at = ${day + 8000 * hourMs}`)
    expect(store.faults()).toEqual([
      `CODE_1: the hour bar at ${day + 8000 * hourMs} does not follow its observations`,
    ])
  })
})

describe('bars stand where they say more than the observations', () => {
  const storedHours = (db: Database) =>
    db
      .query<{ n: number }, []>('SELECT count(*) AS n FROM bars WHERE span = 1 AND series_id = 1')
      .get()!.n
  const at = (minute: number) => day + minute * 60_000
  const point = (minute: number): Point => ({ seriesId: 1, observedAt: at(minute), value: minute })
  const hours = (store: ObservationStore) =>
    store.bars(1, 1, day, day + dayMs, 100).map(bar => [bar.startsAt, bar.count, bar.close])

  test('a day has hour bars once it has 25 values more than hours, and no longer than that', () => {
    const { db, store } = openStore()
    const halfHours = Array.from({ length: 48 }, (_, i) => point(i * 30))
    store.write([...halfHours, point(150)], 1)
    expect(storedHours(db)).toBe(0)
    const sparse = hours(store)
    expect(sparse).toHaveLength(24)
    expect(sparse[0]).toEqual([at(23 * 60), 2, 23 * 60 + 30])
    store.write([point(23 * 60 + 40)], 2)
    expect(storedHours(db)).toBe(24)
    expect(hours(store)).toEqual([[at(23 * 60), 3, 23 * 60 + 40], ...sparse.slice(1)])
    store.withdraw(1, [at(23 * 60 + 40)], 3)
    expect(storedHours(db)).toBe(0)
    expect(hours(store)).toEqual(sparse)
    expect(store.faults()).toEqual([])
  })

  test('a page of hours goes over days of both kinds, newest first', () => {
    const { store } = openStore()
    const points = [0, 1, 2, 3].flatMap(i =>
      (i % 2 === 0 ? [...Array(30).keys(), 300] : [0, 30, 300]).map(minute =>
        point(i * 1440 + minute),
      ),
    )
    store.write(points, 1)
    const all = store.bars(1, 1, day, day + 4 * dayMs, 100).map(bar => bar.startsAt)
    expect(all).toEqual(
      [0, 1, 2, 3].flatMap(i => [at(i * 1440), at(i * 1440 + 300)]).sort((a, b) => b - a),
    )
    for (let limit = 1; limit <= all.length; limit += 1)
      expect(store.bars(1, 1, day, day + 4 * dayMs, limit).map(bar => bar.startsAt)).toEqual(
        all.slice(0, limit),
      )
  })

  test('bars of the version before are made narrow without a change of what they answer', () => {
    replayed((store, _model, db) => {
      const rows = (['1', '24'] as const).flatMap(span =>
        seriesIds.flatMap(id =>
          store
            .bars(id, Number(span) as Span, -always, always, 1e6)
            .map(bar => ({ id, span: Number(span), ...bar })),
        ),
      )
      const before = db.query('SELECT * FROM bars').all()
      db.run(`DROP TABLE bars; CREATE TABLE bars (series_id INTEGER, span INTEGER, starts_at INTEGER, open REAL, high REAL,
        low REAL, close REAL, sum REAL, count INTEGER, hours INTEGER, closed_at INTEGER, recorded_at INTEGER, born_at INTEGER)`)
      for (const row of rows)
        db.query(
          'INSERT INTO bars VALUES ($id, $span, $startsAt, $open, $high, $low, $close, $sum, $count, $hours, $closedAt, $recordedAt, $bornAt)',
        ).run(row)
      for (const { why, sql } of migrations)
        if (/bar of one observation|have no hour bars: their values/.test(why)) db.run(sql)
      const after = db.query('SELECT * FROM bars').all()
      // A bar whose values say when it was born need not say it again.
      const plain = (all: unknown[]) =>
        (all as { born_at: number | null; recorded_at: number }[]).map(row => ({
          ...row,
          born_at: row.born_at ?? row.recorded_at,
        }))
      expect(plain(after)).toEqual(plain(before))
    })
  })
})

describe('bars of days whose points are taken out and come again', () => {
  /** When the first value of any point of each bucket was recorded, of those that have a value now. */
  const birthsOf = (db: Database, lengthMs: number) =>
    db
      .query<{ startsAt: number; bornAt: number }, [number]>(
        `SELECT observed_at / ?1 * ?1 AS startsAt, min(recorded_at) AS bornAt FROM (
           SELECT observed_at, recorded_at, 1 AS isCurrent FROM observations
           UNION ALL SELECT observed_at, recorded_at, 0 FROM observation_revisions)
         GROUP BY 1 HAVING max(isCurrent) ORDER BY 1`,
      )
      .all(lengthMs)

  test.each(Array.from({ length: runs(100) }, (_, i) => i + 1))(
    'exist since the first value of any of their points (seed %d)',
    seed => {
      const { db, store } = openStore()
      const random = createRandom(seed)
      const timeOf = () => random(3) * dayMs + random(4) * hourMs + random(4) * 15 * 60_000
      const somePoints = (now: number): Point[] => {
        const [isLong, isPast] = [random(10) === 0, random(2) === 0]
        return Array.from({ length: isLong ? 40 : 1 + random(5) }, () => ({
          seriesId: 1,
          // Some hours have so many values that they are stored.
          observedAt: isLong ? random(2) * dayMs + random(60) * 60_000 : timeOf(),
          value: random(5),
          ...(isPast && random(2) === 0 && { recordedAt: random(now) }),
        }))
      }
      for (let now = 1000; now < 1400; now += 10) {
        const live = store.between(1, 0, always, 1000).map(row => row.observedAt)
        if (random(3) > 0 || live.length === 0) store.write(somePoints(now), now)
        else {
          const lengthMs = random(2) === 0 ? hourMs : dayMs
          const startsAt = Math.floor(live[random(live.length)]! / lengthMs) * lengthMs
          const within = live.filter(at => at >= startsAt && at < startsAt + lengthMs)
          store.withdraw(1, random(3) === 0 ? within.slice(0, 1) : within, now)
        }
        for (const [span, lengthMs] of [
          [1, hourMs],
          [24, dayMs],
        ] as const) {
          const stored = store.bars(1, span, 0, always, 1000).reverse()
          expect(stored.map(({ startsAt, bornAt }) => ({ startsAt, bornAt }))).toEqual(
            birthsOf(db, lengthMs),
          )
        }
        expect(store.faults().filter(fault => fault.includes('bar'))).toEqual([])
      }
    },
  )

  test('get the births that the version before did not write', () => {
    const { db, store } = openStore()
    const minutes = (from: number): Point[] =>
      Array.from({ length: 30 }, (_, i) => ({
        seriesId: 1,
        observedAt: -dayMs + hourMs + (from + i) * 60_000,
        value: i,
      }))
    store.write(minutes(0), 1000)
    store.withdraw(
      1,
      minutes(0).map(({ observedAt }) => observedAt),
      2000,
    )
    store.write([...minutes(30), { seriesId: 2, observedAt: 0, value: 1 }], 3000)
    const before = dump(db)
    db.run('UPDATE bars SET born_at = recorded_at WHERE series_id = 1')
    expect(store.faults()).toHaveLength(2)
    db.run(migrations.find(({ sql }) => sql.includes('UPDATE bars SET born_at'))!.sql)
    expect(dump(db)).toEqual(before)
  })
})

describe('points that were taken out and come again', () => {
  const minuteMs = 60_000
  const points = (count: number, value: number): Point[] =>
    Array.from({ length: count }, (_, i) => ({ seriesId: 1, observedAt: i * minuteMs, value }))
  const rows = (db: Database) =>
    db
      .query<{ at: number; since: number; value: number }, []>(
        'SELECT observed_at AS at, recorded_at AS since, value FROM observations ORDER BY observed_at',
      )
      .all()

  test.each([10, 500])('of %d points in one write those begin after what they were', count => {
    const { db, store } = openStore()
    store.write(points(count, 1), 1000)
    store.write(points(count, 2).slice(0, 3), 2000)
    store.withdraw(1, [minuteMs, 5 * minuteMs], 9000)
    const again = points(count, 3).map(point => ({ ...point, recordedAt: 8000 }))
    store.write(again, 8000)
    expect(rows(db)).toEqual(
      again.map(({ observedAt, value }, i) => ({
        at: observedAt,
        since: i === 1 || i === 5 ? 9000 : 8000,
        value,
      })),
    )
    expect(store.faults()).toEqual([])
  })

  test('what a write of many asks of the revisions goes from its points, however many there are', () => {
    const { db, store } = openStore()
    store.write(points(500, 1), 1000)
    store.write(points(500, 2), 2000)
    const statements: string[] = []
    const { query } = db
    db.query = ((sql: string) => {
      statements.push(sql)
      return query.call(db, sql)
    }) as typeof query
    createObservationStore(db).write(points(501, 3).slice(400), 3000)
    const reads = statements.filter(sql => /FROM .*observation_revisions/s.test(sql))
    expect(reads.length).toBeGreaterThan(0)
    for (const sql of reads) {
      const plan = query.call(db, `EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
      expect(plan.map(step => step.detail).join('\n')).toMatch(
        /SEARCH (?:r|observation_revisions) USING PRIMARY KEY \(series_id=\? AND observed_at[=>]/,
      )
    }
  })
})
