import { describe, expect, test } from 'bun:test'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'
import { json } from '../../../support/interface/shape.ts'
import {
  openWellInstance,
  prefix,
  type Row,
  sample,
  third,
  wellOf,
} from '../../../support/topics/wells.ts'

const { data, refusal } = openWellInstance()

interface Cycle {
  filters: Row
  well_count: number
  wells_with_cycle_data: number
  cycle_time_stats: { count: number; median_days: number }
  stage_breakdown: Record<string, { count: number; median_days: number } | null>
  quarterly_cohorts: Record<string, { well_count: number; median_days: number }>
  top_fastest: { api_number: string; total_days: number }[]
  top_slowest: { api_number: string; total_days: number }[]
}

describe('/v1/well-production/cycle-time', () => {
  test('is computed from the days of the wells, stage by stage', async () => {
    const cycle = await data<Cycle>('/cycle-time?state=tx')
    expect(cycle).toMatchObject({
      filters: { state: 'TX' },
      well_count: 4,
      wells_with_cycle_data: 3,
      cycle_time_stats: {
        count: 3,
        median_days: 161,
        p25_days: 155.5,
        p75_days: 263,
        p90_days: 324.2,
        min_days: 150,
        max_days: 365,
        avg_days: 225.33,
      },
      stage_breakdown: {
        permit_to_spud: { count: 3, median_days: 60, min_days: 50, max_days: 60 },
        spud_to_completion: { count: 3, median_days: 92, min_days: 60, max_days: 92 },
        completion_to_first_production: { count: 3, median_days: 30, min_days: 19, max_days: 213 },
      },
      quarterly_cohorts: {
        '2025-Q2': { well_count: 1, median_days: 161, avg_days: 161 },
        '2025-Q3': { well_count: 1, median_days: 150, avg_days: 150 },
        '2025-Q4': { well_count: 1, median_days: 365, avg_days: 365 },
      },
    })
    expect(cycle.top_fastest.map(well => well.total_days)).toEqual([150, 161, 365])
    expect(cycle.top_slowest[0]).toEqual({
      api_number: third,
      operator: 'Badland Petroleum, Inc.',
      total_days: 365,
      permit_date: '2024-12-31',
      first_production: '2025-12-31',
    } as never)
  })

  test.each([
    ['', 4],
    ['state=NM', 1],
    ['operator=juniper', 3],
    ['formation=SPRAB', 1],
    ['start_date=2025-07-01', 2],
    ['end_date=2025-06-30', 2],
    ['start_date=2025-06-20&end_date=2025-07-01', 3],
    ['lat=31.87&lng=-102.03', 2],
    ['lat=31.87&lng=-102.03&radius_miles=40', 3],
    ['lat=32.75&lng=-103.4&radius_miles=1', 1],
    [
      'state=TX&operator=badland&formation=wolf&lat=32.3&lng=-102.03&start_date=2025-12-31&end_date=2025-12-31',
      1,
    ],
    ['radius_miles=20', 4],
  ])('with "%s" is of %d wells, and its cohorts add up to them', async (query, count) => {
    const cycle = await data<Cycle>(`/cycle-time?${query}`)
    expect(cycle.wells_with_cycle_data).toBe(count)
    expect(
      Object.values(cycle.quarterly_cohorts).reduce((sum, quarter) => sum + quarter.well_count, 0),
    ).toBe(count)
    if (/operator|formation/.test(query)) return
    for (const span of ['quarter', 'month', 'year']) {
      const { cohorts } = await data<{
        cohorts: Record<string, { well_count: number; wells_with_data: number; stats: Row }>
      }>(`/cycle-time/cohorts?group_by=${span}&${query}`)
      expect(Object.values(cohorts).reduce((sum, cohort) => sum + cohort.wells_with_data, 0)).toBe(
        count,
      )
      expect(Object.keys(cohorts)).toEqual(Object.keys(cohorts).sort())
    }
  })

  test('a cycle time response returns the filters that were requested', async () => {
    expect(
      (
        await data<Cycle>(
          '/cycle-time?state=tx&operator=juniper&lat=31.87&lng=-102.03&end_date=2025-12-31',
        )
      ).filters,
    ).toEqual({
      state: 'TX',
      operator: 'juniper',
      lat: 31.87,
      lng: -102.03,
      radius_miles: 10,
      end_date: '2025-12-31',
    })
    expect((await data<Cycle>('/cycle-time')).filters).toEqual({})
  })

  test.each([
    ['/cycle-time?state=AK', 404, 'DATA_NOT_AVAILABLE'],
    ['/cycle-time?state=Texas', 404, 'DATA_NOT_AVAILABLE'],
    ['/cycle-time?operator=nobody', 404, 'DATA_NOT_AVAILABLE'],
    ['/cycle-time?start_date=2030-01-01', 404, 'DATA_NOT_AVAILABLE'],
    ['/cycle-time?lat=0&lng=0', 404, 'DATA_NOT_AVAILABLE'],
    ['/cycle-time/cohorts?state=AK', 404, 'DATA_NOT_AVAILABLE'],
    ['/cycle-time?lat=31', 400, 'MISSING_PARAMETER'],
    ['/cycle-time?lng=31', 400, 'MISSING_PARAMETER'],
    ['/cycle-time?lat=91&lng=0', 400, 'INVALID_PARAMETER'],
    ['/cycle-time?lat=31&lng=-102&radius_miles=101', 400, 'INVALID_PARAMETER'],
    ['/cycle-time?radius_miles=0', 400, 'INVALID_PARAMETER'],
    ['/cycle-time?start_date=tomorrow', 400, 'INVALID_PARAMETER'],
    ['/cycle-time?start_date=2026-01-01&end_date=2025-01-01', 400, 'INVALID_DATE_RANGE'],
    ['/cycle-time/cohorts?group_by=week', 400, 'INVALID_PARAMETER'],
  ])('%s is %d %s', async (path, status, code) => {
    expect(await refusal(path)).toMatchObject({ status, code })
  })

  test('cycle times of matching wells without a permit report that, and their cohorts have no numbers', async () => {
    const own = openTestInstance()
    const token = own.key()
    own.services.wells.put([wellOf(sample, { permitOn: null })], 1)
    const refused = await json<{ error: Row }>(own.get(`${prefix}/cycle-time`, token))
    expect(refused.error.message).toStartWith('Of none of the wells that fit (1)')
    const { data: grouped } = await json<{ data: Row }>(
      own.get(`${prefix}/cycle-time/cohorts?group_by=YEAR`, token),
    )
    expect(grouped).toEqual({
      group_by: 'year',
      cohorts: { '2025': { well_count: 1, wells_with_data: 0, stats: null } },
    })
  })

  test('agrees with a count by hand over many wells, and lists the ten fastest and slowest', async () => {
    const own = openTestInstance()
    const spans = Array.from({ length: 41 }, (_, i) => 100 + ((i * 17) % 41))
    own.services.wells.put(
      spans.map((days, i) =>
        wellOf(`4232950${String(i).padStart(3, '0')}0000`, {
          firstProductionOn: dayAfter('2025-01-10', days),
        }),
      ),
      1,
    )
    const { data: cycle } = await json<{ data: Cycle }>(own.get(`${prefix}/cycle-time`, own.key()))
    // 100 to 140, each once: the percentile p is 100 + 40 p.
    expect(cycle.cycle_time_stats as Row).toEqual({
      count: 41,
      median_days: 120,
      p25_days: 110,
      p75_days: 130,
      p90_days: 136,
      min_days: 100,
      max_days: 140,
      avg_days: 120,
    })
    expect(cycle.top_fastest.map(well => well.total_days)).toEqual(
      Array.from({ length: 10 }, (_, i) => 100 + i),
    )
    expect(cycle.top_slowest.map(well => well.total_days)).toEqual(
      Array.from({ length: 10 }, (_, i) => 140 - i),
    )
  })
})
