import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  cohortOf,
  cohortSpans,
  cohorts,
  dayStats,
  stageNames,
  stageStats,
  statsOf,
  timedWells,
  type WellDays,
} from '../../../../src/topics/drilling/math/cycle-time.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'

const well = (
  permitOn: string | null,
  spudOn: string | null,
  completedOn: string | null,
  firstProductionOn: string | null,
): WellDays => ({
  permitOn,
  spudOn,
  completedOn,
  firstProductionOn,
})

/** Across a leap day, ends of months and years. */
const six = [
  well('2024-01-10', '2024-03-05', '2024-06-01', '2024-06-20'),
  well('2024-02-28', '2024-03-01', '2024-07-15', '2024-08-01'),
  well('2023-12-31', '2024-02-29', '2024-05-30', '2024-06-30'),
  well('2024-05-05', '2024-09-09', '2025-01-01', '2025-01-31'),
  well('2024-06-30', '2024-10-10', '2024-12-24', '2025-04-01'),
  well('2024-07-01', '2024-08-15', '2024-11-11', '2024-12-31'),
]

describe('the distribution of spans', () => {
  test('is what Python computes: statistics.quantiles(method="inclusive") over datetime.date differences', () => {
    const timings = timedWells(six)
    expect(timings.map(timedWell => timedWell.days)).toEqual([162, 155, 182, 271, 275, 183])
    expect(statsOf(timings)).toEqual({
      count: 6,
      median: 182.5,
      p25: 167,
      p75: 249,
      p90: 273,
      min: 155,
      max: 275,
      mean: expect.closeTo(204.666667, 6),
    })
    expect(stageStats(timings, 'permitToSpud')).toEqual({
      count: 6,
      median: 57.5,
      p25: 47.5,
      p75: 91.5,
      p90: 114.5,
      min: 2,
      max: 127,
      mean: expect.closeTo(65.166667, 6),
    })
    expect(stageStats(timings, 'spudToCompletion')).toEqual({
      count: 6,
      median: 89.5,
      p25: 88,
      p75: 108.25,
      p90: 125,
      min: 75,
      max: 136,
      mean: expect.closeTo(98.666667, 6),
    })
    expect(stageStats(timings, 'completionToFirstProduction')).toEqual({
      count: 6,
      median: 30.5,
      p25: 21.75,
      p75: 45.25,
      p90: 74,
      min: 17,
      max: 98,
      mean: expect.closeTo(40.833333, 6),
    })
    const days = [
      402, 104, 131, 333, 150, 163, 302, 163, 187, 201, 275, 212, 225, 259, 240, 243, 244,
    ]
    expect(dayStats(days)).toMatchObject({
      count: 17,
      p25: 163,
      median: 225,
      p75: 259,
      p90: expect.closeTo(314.4, 9),
      min: 104,
      max: 402,
    })
  })

  test('is that of the straight lines through the sorted spans, for any spans', () => {
    // Read off the graph of place against value, segment by segment.
    const readOff = (values: readonly number[], p: number): number => {
      const sorted = [...values].sort((a, b) => a - b)
      const place = p * (sorted.length - 1)
      for (let i = 1; i < sorted.length; i++)
        if (place <= i) return sorted[i - 1]! * (i - place) + sorted[i]! * (place - (i - 1))
      return sorted[0]!
    }
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 60 }),
        days => {
          const stats = dayStats(days)!
          for (const [p, value] of [
            [0.25, stats.p25],
            [0.5, stats.median],
            [0.75, stats.p75],
            [0.9, stats.p90],
          ] as const)
            expect(value).toBeCloseTo(readOff(days, p), 8)
          expect({ min: stats.min, max: stats.max, count: stats.count }).toEqual({
            min: Math.min(...days),
            max: Math.max(...days),
            count: days.length,
          })
        },
      ),
    )
  })

  test('the cycle time statistics of one span equal that span, and those of none do not exist', () => {
    expect(dayStats([7])).toEqual({
      count: 1,
      median: 7,
      p25: 7,
      p75: 7,
      p90: 7,
      min: 7,
      max: 7,
      mean: 7,
    })
    expect(dayStats([])).toBeUndefined()
  })
})

describe('a well is timed', () => {
  test.each([
    [
      'with all four days',
      well('2026-01-01', '2026-02-01', '2026-03-01', '2026-03-11'),
      69,
      [31, 28, 10],
    ],
    [
      'without those between',
      well('2026-01-01', null, null, '2026-03-11'),
      69,
      [undefined, undefined, undefined],
    ],
    [
      'on the day of its permit',
      well('2026-01-01', '2026-01-01', '2026-01-01', '2026-01-01'),
      0,
      [0, 0, 0],
    ],
    // A spud before its permit is a mistake in one of the two: neither stage between them counts,
    // the whole does.
    [
      'where a day between is out of order',
      well('2026-02-01', '2026-01-01', '2026-03-01', '2026-03-11'),
      38,
      [undefined, 59, 10],
    ],
  ])('%s', (_, well, days, parts) => {
    expect(
      timedWells([well]).map(({ days: total, stages }) => [
        total,
        stageNames.map(stage => stages[stage]),
      ]),
    ).toEqual([[days, parts]])
  })
  test.each([
    ['that does not produce yet', well('2026-01-01', '2026-02-01', null, null)],
    ['without a permit', well(null, '2026-02-01', '2026-03-01', '2026-03-11')],
    ['that produced before it was permitted', well('2026-03-12', null, null, '2026-03-11')],
  ])('but not one %s', (_, well) => {
    expect(timedWells([well])).toEqual([])
  })
})

const days = fc.integer({ min: 0, max: 3000 }).map(n => dayAfter('2019-01-01', n))
const anyWell = fc.record({
  permitOn: fc.option(days),
  spudOn: fc.option(days),
  completedOn: fc.option(days),
  firstProductionOn: fc.option(days),
})

describe('cohorts', () => {
  test.each([
    ['2025-01-01', '2025-Q1', '2025-01', '2025'],
    ['2025-03-31', '2025-Q1', '2025-03', '2025'],
    ['2025-04-01', '2025-Q2', '2025-04', '2025'],
    ['2024-12-31', '2024-Q4', '2024-12', '2024'],
  ])('of %s are %s, %s and %s', (day, ...labels) => {
    expect(cohortSpans.map(span => cohortOf(day, span))).toEqual([
      labels[0]!,
      labels[1]!,
      labels[2]!,
    ])
  })

  test('are of first production, oldest first', () => {
    expect(
      cohorts(six, 'quarter').map(cohort => [cohort.label, cohort.wells, cohort.stats?.median]),
    ).toEqual([
      ['2024-Q2', 2, 172],
      ['2024-Q3', 1, 155],
      ['2024-Q4', 1, 183],
      ['2025-Q1', 1, 271],
      ['2025-Q2', 1, 275],
    ])
    expect(cohorts([well(null, null, null, '2025-05-05')], 'year')).toEqual([
      { label: '2025', wells: 1, stats: undefined },
    ])
  })

  test('add up to the whole, by quarter, month and year, and a year to its quarters', () => {
    fc.assert(
      fc.property(fc.array(anyWell, { maxLength: 80 }), wells => {
        const all = statsOf(timedWells(wells))
        const producing = wells.filter(well => well.firstProductionOn !== null).length
        for (const span of cohortSpans) {
          const groups = cohorts(wells, span)
          const groupStats = groups.flatMap(group => group.stats ?? [])
          expect(groups.reduce((sum, group) => sum + group.wells, 0)).toBe(producing)
          expect(groupStats.reduce((sum, stats) => sum + stats.count, 0)).toBe(all?.count ?? 0)
          expect(groupStats.reduce((sum, stats) => sum + stats.count * stats.mean, 0)).toBeCloseTo(
            (all?.count ?? 0) * (all?.mean ?? 0),
            6,
          )
          expect([
            Math.min(...groupStats.map(stats => stats.min)),
            Math.max(...groupStats.map(stats => stats.max)),
          ]).toEqual(all ? [all.min, all.max] : [Infinity, -Infinity])
          expect(groups.map(group => group.label)).toEqual(groups.map(group => group.label).sort())
        }
        const quarters = cohorts(wells, 'quarter')
        for (const year of cohorts(wells, 'year'))
          expect(
            quarters
              .filter(quarter => quarter.label.startsWith(year.label))
              .reduce((sum, quarter) => sum + quarter.wells, 0),
          ).toBe(year.wells)
      }),
    )
  })

  test('the stages of a well with all its days in order add up to its whole way', () => {
    const ordered = fc
      .array(days, { minLength: 4, maxLength: 4 })
      .map(four => four.toSorted())
      .map(([a, b, c, d]) => well(a!, b!, c!, d!))
    fc.assert(
      fc.property(fc.array(ordered, { minLength: 1, maxLength: 20 }), wells => {
        const timings = timedWells(wells)
        for (const timing of timings)
          expect(stageNames.reduce((sum, stage) => sum + timing.stages[stage]!, 0)).toBe(
            timing.days,
          )
        const sumOfMeans = stageNames.reduce(
          (sum, stage) => sum + stageStats(timings, stage)!.mean,
          0,
        )
        expect(sumOfMeans).toBeCloseTo(statsOf(timings)!.mean, 8)
      }),
    )
  })
})
