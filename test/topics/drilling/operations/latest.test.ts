import { beforeAll, describe, expect, test } from 'bun:test'
import { parseInstant } from '../../../../src/lib/time/instant.ts'
import { rigCounts } from '../../../../src/topics/drilling/dataset/counts.ts'
import { createDrillingData } from '../../../../src/topics/drilling/demo/drilling.ts'
import { countDays } from '../../../../src/topics/drilling/math/period.ts'
import { withRegions } from '../../../../src/topics/prices/demo/regions.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'
import { published } from '../../../support/world/published.ts'

interface Meta {
  page: number
  per_page: number
  total_count: number
  total_pages: number
  tier_required: string
}
type Row = Record<string, unknown>
interface List {
  data: Row[]
  meta: Meta
}
interface One {
  data: Row
}

/**
 * Six years before the other tests: the weekdays are the same, and there is less history to write.
 */
const start = parseInstant('2020-11-20T15:00:00Z')!
const unhurried = { 'limits.per_minute': '100000' }
let copy: TestInstance
let key: string

beforeAll(() => {
  copy = openTestInstance(unhurried, start)
  const { services } = copy
  const listed = services.catalogue
    .list()
    .map(item => ({ ...item, available: item.unavailableReason === null }))
  const world = withRegions(createWorld({ seed: 1, series: listed }), listed)
  const { drilling } = services
  published(...Object.values(createDrillingData({ seed: 1, world, drilling }))).advance(start)
  key = copy.key('enterprise')
})

const get = (path: string) => copy.get(path, key)
const body = <T = List>(path: string) => json<T>(get(path))

const paths = [
  'rig_counts',
  'rig_counts/1',
  'rig_counts/latest',
  'rig_counts/by_basin',
  'rig_counts/by_state',
  'rig_counts/historical',
  'drilling_productivities',
  'drilling_productivities/1',
  'drilling_productivities/latest',
  'drilling_productivities/summary',
  'drilling_productivities/duc_wells',
  'drilling_productivities/by_basin',
  'drilling_productivities/historical',
  'drilling_productivities/trends',
  'frac_spreads',
  'frac_spreads/latest',
  'duc_wells',
  'duc_wells/latest',
].map(path => `/v1/ei/${path}`)
const outside = [
  '/v1/rig-counts/historical',
  '/v1/rig-counts/latest',
  '/v1/rig-counts/current',
  '/v1/rig-counts/trends',
  '/v1/rig-counts/summary',
  '/v1/drilling/latest',
  '/v1/drilling-intelligence',
  '/v1/drilling-intelligence/latest',
  '/v1/drilling-intelligence/summary',
  '/v1/drilling-intelligence/trends',
  '/v1/drilling-intelligence/frac-spreads',
  '/v1/drilling-intelligence/well-permits',
  '/v1/drilling-intelligence/duc-wells',
  '/v1/drilling-intelligence/completions',
  '/v1/drilling-intelligence/wells-drilled',
  '/v1/drilling-intelligence/basin/permian',
  '/v1/pseo/drilling-intelligence/states/texas/full',
]
const routeOf = (path: string) =>
  path
    .replace(/\/1$/, '/:id')
    .replace(/basin\/\w+$/, 'basin/:name')
    .replace(/states\/\w+/, 'states/:state')

describe('every path of drilling', () => {
  for (const path of [...paths, ...outside]) {
    test(`${path} answers in its shape, marked as fixture data`, async () => {
      const response = await get(path)
      expect(response.status).toBe(200)
      const answer = await json<Row>(response)
      expectShape(copy.app, routeOf(path), answer)
      if (!path.endsWith('well-permits'))
        expect(response.headers.get('x-service-data')).toBe('fixture')
      expect('status' in answer).toBe(/^\/v1\/(rig-counts|drilling\/)/.test(path))
      expect('meta' in answer).toBe(!/^\/v1\/(rig-counts\/[^h]|drilling\/)/.test(path))
    })
  }
  test('of the alias answers the same bytes', async () => {
    for (const path of paths) {
      const [own, alias] = await Promise.all([
        get(path),
        get(path.replace('/v1/ei/', '/v1/dark_data/')),
      ])
      expect(await alias.text(), path).toBe(await own.text())
    }
  })
  test.each([
    ['free', 403],
    ['developer', 403],
    ['starter', 403],
    ['professional', 200],
    ['scale', 200],
    ['enterprise', 200],
  ])('answers the plan %s with %d', async (plan, status) => {
    const token = copy.key(plan)
    for (const path of [
      '/v1/ei/rig_counts/latest',
      '/v1/dark_data/duc_wells',
      ...outside.filter((_, i) => i % 4 === 0),
    ]) {
      const response = await copy.get(path, token)
      expect(response.status, path).toBe(status)
      if (status === 200) continue
      const refusal = await json<Row>(response)
      expect(refusal, path).toMatchObject({
        error: expect.stringMatching(/tier|upgrade/),
        error_code: 'INSUFFICIENT_PLAN',
        status: 403,
        current_plan: plan,
        required_tier: 'Reservoir Mastery',
        required_plan: 'professional',
        upgrade_url: expect.any(String),
      })
    }
  })
  test('every drilling path names the tier from the configured plans instead of a fixed one', async () => {
    const open = openTestInstance({ plans: 'unlimited' }, start)
    const answer = await json<List>(open.get('/v1/ei/rig_counts', open.key('free')))
    expect(answer.meta.tier_required).toBe('Free')
    expect((await body('/v1/ei/rig_counts')).meta.tier_required).toBe('Reservoir Mastery')
  })
  test('without data is 404, or an empty list', async () => {
    const empty = openTestInstance(unhurried)
    const token = empty.key('enterprise')
    for (const path of [...paths, ...outside]) {
      const response = await empty.get(path, token)
      const isList =
        /rig_counts$|historical$|productivities$|frac_spreads$|duc_wells$|intelligence$|trends$|-spreads$|-permits$|-wells$|completions$|-drilled$/
      const expected =
        isList.test(path) && !/productivities\/(trends|duc_wells)|rig-counts\/trends/.test(path)
          ? 200
          : 404
      expect(response.status, path).toBe(expected)
      if (expected === 200) expect((await json<List>(response)).data, path).toEqual([])
      else expect(await response.text(), path).toMatch(/DATA_NOT_AVAILABLE|NOT_FOUND/)
    }
  })
})

describe('lists of drilling', () => {
  test.each([
    '/v1/ei/rig_counts?',
    '/v1/ei/duc_wells?',
    '/v1/ei/drilling_productivities?basin=permian&',
    '/v1/drilling-intelligence?start_date=2020-10-01&',
    '/v1/drilling-intelligence/completions?',
    '/v1/drilling-intelligence/trends?start_date=2020-09-01&',
  ])('%s neither repeats nor loses a row over its pages', async base => {
    const { meta } = await body(`${base}per_page=7`)
    const rows: Row[] = []
    for (let page = 1; page <= meta.total_pages + 1; page++) {
      const part = await body(`${base}per_page=7&page=${page}`)
      rows.push(...part.data)
      expect(part.meta.total_count).toBe(meta.total_count)
      if (page > 70) break
    }
    expect(new Set(rows.map(row => JSON.stringify(row))).size).toBe(rows.length)
    const days = rows.map(row => row.date as string)
    expect(days).toEqual(days.toSorted().reverse())
    if (meta.total_pages <= 70) expect(rows.length).toBe(meta.total_count)
  })
  test('are numbered from 1, and a number finds its record', async () => {
    const { data, meta } = await body('/v1/ei/rig_counts?per_page=3')
    expect(data.map(row => row.id)).toEqual([0, 1, 2].map(i => String(meta.total_count - i)))
    for (const row of data)
      expect((await body<One>(`/v1/ei/rig_counts/${row.id}`)).data).toEqual(row)
    expect((await body<One>('/v1/ei/rig_counts/1')).data).toMatchObject({
      id: '1',
      date: '2013-01-04',
      week: '2013-W01',
      change: null,
    })
  })
  test.each(['0', '-1', '01', 'x', '99999', '1e3'])('number %s is not found', async id => {
    for (const family of ['rig_counts', 'drilling_productivities']) {
      const response = await get(`/v1/ei/${family}/${id}`)
      expect(response.status).toBe(404)
      expect(await json<Row>(response)).toMatchObject({ error: { code: 'NOT_FOUND' } })
    }
  })
  test('take basins by any of their names, and states for the basins in them', async () => {
    const permian = await body('/v1/ei/frac_spreads?basin=permian')
    expect(await body('/v1/ei/frac_spreads?basin=Permian%20Basin')).toEqual(permian)
    expect(new Set(permian.data.map(row => row.basin))).toEqual(new Set(['permian']))
    const inState = await body('/v1/drilling-intelligence/duc-wells?state=new-mexico')
    expect(new Set(inState.data.map(row => row.basin))).toEqual(new Set(['permian', 'other']))
    const state = await body('/v1/drilling-intelligence?state=TX')
    expect(state.data.every(row => row.state === 'TX' && row.basin === 'permian')).toBe(true)
    expect((await body('/v1/drilling-intelligence?state=TX&basin=bakken')).data).toEqual([])
  })
  test.each([
    '/v1/ei/frac_spreads?basin=atlantis',
    '/v1/drilling-intelligence?state=ZZ',
    '/v1/drilling-intelligence/basin/atlantis',
  ])('%s is 404', async path => {
    const response = await get(path)
    expect(response.status).toBe(404)
    expect(await json<Row>(response)).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })
  test('keep to their days, both inclusive', async () => {
    const { data } = await body(
      '/v1/ei/rig_counts/historical?start_date=2020-10-09&end_date=2020-10-23',
    )
    expect(data.map(row => row.date)).toEqual(['2020-10-23', '2020-10-16', '2020-10-09'])
    const response = await get('/v1/ei/rig_counts?start_date=2020-10-09&end_date=2020-10-08')
    expect({
      status: response.status,
      code: (await json<{ error: Row }>(response)).error.code,
    }).toEqual({ status: 400, code: 'INVALID_DATE_RANGE' })
  })
  test('ignore filters that are unknown', async () => {
    expect(await body('/v1/ei/rig_counts?colour=red')).toEqual(await body('/v1/ei/rig_counts'))
  })
})

describe('numbers that answers about drilling share', () => {
  const sum = (values: unknown[]) => (values as number[]).reduce((total, value) => total + value, 0)

  test('the newest rigs are the same everywhere, and their parts add up', async () => {
    const { data } = await body<{
      data: Row & { basins: Record<string, number>; states: Record<string, number> }
    }>('/v1/ei/rig_counts/latest')
    expect(Object.keys(data.basins)).toEqual([
      'permian',
      'eagle_ford',
      'bakken',
      'haynesville',
      'marcellus',
      'dj_niobrara',
      'anadarko',
      'appalachia_other',
      'other',
    ])
    expect([sum(Object.values(data.basins)), sum(Object.values(data.states))]).toEqual([
      data.us_total as number,
      data.us_total as number,
    ])
    const { data: current } = await body<One>('/v1/rig-counts/latest')
    expect(current).toMatchObject({
      total: data.us_total,
      oil: data.oil_rigs,
      change: data.change,
      date: '2020-11-13',
      stale: false,
    })
    const { data: summary } = await body<{ data: Row & { by_region: unknown } }>(
      '/v1/rig-counts/summary',
    )
    expect(summary).toMatchObject({
      current: data.us_total,
      by_region: data.basins,
      week_change: data.change,
    })
    const byBasin = await body('/v1/ei/rig_counts/by_basin')
    expect(Object.fromEntries(byBasin.data.map(row => [row.basin, row.rig_count]))).toEqual(
      data.basins,
    )
    const counts = byBasin.data.map(row => row.rig_count as number)
    expect(counts).toEqual(counts.toSorted((a, b) => b - a))
    expect(sum(byBasin.data.map(row => row.change))).toBe(data.change as number)
    expect((await body<One>('/v1/drilling/latest')).data).toMatchObject({
      active_rigs: data.us_total,
      date: data.date,
    })
    const { data: basin } = await body<{ data: Row & { trend: Row[] } }>(
      '/v1/drilling-intelligence/basin/permian',
    )
    expect(basin).toMatchObject({
      rig_count: data.basins.permian!,
      active_rigs: data.basins.permian!,
    })
    expect({ trend: basin.trend.length, last: basin.trend.at(-1) }).toEqual({
      trend: 52,
      last: { date: '2020-11-13', rigs: data.basins.permian! },
    })
    const { data: texas } = await body<One>('/v1/pseo/drilling-intelligence/states/TX/full')
    expect(texas.rig_count).toMatchObject({ total: data.states.tx!, date: data.date })
  })
  test('wells that wait are the same everywhere', async () => {
    const { data } = await body<{ data: Row & { basins: Record<string, number> } }>(
      '/v1/ei/duc_wells/latest',
    )
    expect(sum(Object.values(data.basins))).toBe(data.us_total as number)
    const listed = await body('/v1/ei/drilling_productivities/duc_wells')
    expect(Object.fromEntries(listed.data.map(row => [row.basin, row.duc_count]))).toEqual(
      data.basins,
    )
    const { data: productivity } = await body<{ data: { basins: Row[] } }>(
      '/v1/ei/drilling_productivities/latest',
    )
    for (const row of productivity.basins)
      expect(row.duc_count, row.basin as string).toBe(data.basins[row.basin as string]!)
    const { data: summary } = await body<One>('/v1/ei/drilling_productivities/summary')
    expect(summary.total_duc_wells).toBe((data.us_total as number) - data.basins.other!)
    expect(summary.total_new_well_oil).toBe(
      sum(
        productivity.basins.map(
          row => (row.new_well_oil_production as number) * (row.rig_count as number),
        ),
      ),
    )
    const [drilled] = (
      await body('/v1/drilling-intelligence/wells-drilled?basin=bakken&per_page=1')
    ).data
    const [listedBakken] = (await body('/v1/ei/duc_wells?basin=bakken&per_page=1')).data
    expect(listedBakken).toMatchObject({
      wells_drilled: drilled!.wells_drilled,
      date: drilled!.date,
    })
  })
  test('the summary of each metric is its parts', async () => {
    const { data } = await body<{
      data: { metric: string; total: number; breakdown: { value: number; percentage: number }[] }[]
    }>('/v1/drilling-intelligence/summary')
    expect(data.map(row => row.metric)).toEqual([
      'rig_count',
      'frac_spreads',
      'duc_wells',
      'wells_drilled',
      'completions',
    ])
    for (const { metric, total, breakdown } of data) {
      expect(sum(breakdown.map(part => part.value)), metric).toBe(total)
      expect(sum(breakdown.map(part => part.percentage))).toBeCloseTo(100, 0)
    }
    const { data: latest } = await body<One>('/v1/drilling-intelligence/latest')
    expect([latest.total_rigs, latest.total_frac_spreads, latest.total_duc_wells]).toEqual(
      data.slice(0, 3).map(row => row.total),
    )
  })
  test('a trend is of the counts that history has', async () => {
    const { data: trend } = await body<One>('/v1/rig-counts/trends?period=quarterly')
    const { data: weeks } = await body(
      `/v1/rig-counts/historical?by_period[from]=${trend.from}&by_period[to]=${trend.to}`,
    )
    const totals = weeks.map(row => row.total as number)
    expect(weeks.length).toBe(14)
    expect(trend).toMatchObject({
      period: 'quarter',
      min: Math.min(...totals),
      max: Math.max(...totals),
      change: totals[0]! - totals.at(-1)!,
      average: Math.round((100 * sum(totals)) / 14) / 100,
    })
    const refused = await get('/v1/rig-counts/trends?period=decade')
    expect({
      status: refused.status,
      error: (await json<{ error: Row }>(refused)).error,
    }).toMatchObject({ status: 400, error: { code: 'INVALID_PARAMETER', parameter: 'period' } })
  })
})

describe('/v1/rig-counts/historical', () => {
  interface History {
    data: Row[]
    period: Row
    meta: Row
  }
  const history = (query: string) => body<History>(`/v1/rig-counts/historical?${query}`)

  test('historical rig counts cover a year by default and report which part of it is available', async () => {
    const { data, period, meta } = await history('')
    expect(period).toEqual({
      from: '2019-11-20',
      to: '2020-11-20',
      coverage_from: '2019-11-22',
      coverage_to: '2020-11-13',
      earliest_available: '2013-01-04',
      observations: 52,
      complete: true,
    })
    expect({
      length: data.length,
      date: data[0]!.date,
      week: data[0]!.week,
      per_page: meta.per_page,
    }).toEqual({ length: 52, date: '2020-11-13', week: '2020-W46', per_page: 100 })
  })
  test('reaches back to the first week of all, and is not complete before it', async () => {
    const fridays = countDays('week', '2013-01-04', '2020-11-20')
    expect((await history('by_period[from]=2013-01-04')).period).toMatchObject({
      observations: fridays.length,
      complete: true,
    })
    const before = await history('period=8y')
    expect(before.period).toMatchObject({
      from: '2012-11-20',
      coverage_from: '2013-01-04',
      observations: fridays.length,
      complete: false,
    })
  })
  test('takes its days encoded or not, and under their other names', async () => {
    const plain = await history('by_period[from]=2020-01-01&by_period[to]=2020-06-30')
    expect(plain.period).toMatchObject({ from: '2020-01-01', to: '2020-06-30', observations: 26 })
    expect(await history('by_period%5Bfrom%5D=2020-01-01&by_period%5Bto%5D=2020-06-30')).toEqual(
      plain,
    )
    expect(await history('start_date=2020-01-01&end_date=2020-06-30')).toEqual(plain)
    expect((await history('by_period[to]=2020-06-30&period=1m')).period).toMatchObject({
      from: '2020-05-30',
      to: '2020-06-30',
    })
  })
  test('is paginated with links that lead through every week once', async () => {
    const rows: unknown[] = []
    let url: string | undefined = '/v1/rig-counts/historical?by_period[from]=2014-01-01&per_page=30'
    while (url) {
      const response: Response = await get(url)
      rows.push(...(await json<History>(response)).data.map(row => row.date))
      const next = /<http:\/\/localhost([^>]+)>; rel="next"/.exec(
        response.headers.get('link') ?? '',
      )
      expect(response.headers.get('x-has-next')).toBe(String(next !== null))
      url = next?.[1]
    }
    expect(rows).toEqual(countDays('week', '2014-01-01', '2020-11-20').reverse())
  })
  test('past its end is an empty page, and more than a hundred rows are not served at once', async () => {
    expect((await history('page=99')).data).toEqual([])
    const { data, meta } = await history('period=7y&per_page=1000')
    expect({ length: data.length, per_page: meta.per_page }).toEqual({ length: 100, per_page: 100 })
  })
  test.each([
    ['period=16y', 'period'],
    ['period=5479d', undefined],
    ['period=5480d', 'period'],
    ['period=0d', 'period'],
    ['period=forever', 'period'],
    ['by_period[from]=2005-11-19', 'by_period[from]'],
    ['start_date=1990-01-01', 'start_date'],
    ['by_period[from]=2020-13-01', 'by_period[from]'],
    ['by_period[to]=soon', 'by_period[to]'],
    ['page=0', 'page'],
    ['per_page=x', 'per_page'],
  ])('%s is refused for %p', async (query, parameter) => {
    const response = await get(`/v1/rig-counts/historical?${query}`)
    expect(response.status).toBe(parameter === undefined ? 200 : 400)
    if (parameter !== undefined)
      expect(await json<Row>(response)).toMatchObject({
        error: { code: 'INVALID_PARAMETER', parameter },
      })
  })
  test('that ends before it begins is refused', async () => {
    const response = await get(
      '/v1/rig-counts/historical?by_period[from]=2020-06-01&by_period[to]=2020-05-31',
    )
    expect(response.status).toBe(400)
    expect(await json<Row>(response)).toMatchObject({ error: { code: 'INVALID_DATE_RANGE' } })
  })
})

describe('/v1/pseo/drilling-intelligence/states/{state}/full', () => {
  test.each(['TX', 'tx', 'texas', 'Texas'])('is found as %s', async name => {
    expect(
      (await body<One>(`/v1/pseo/drilling-intelligence/states/${name}/full`)).data,
    ).toMatchObject({
      state_code: 'TX',
      state_name: 'Texas',
      slug: 'texas',
      basins: ['permian', 'eagle_ford', 'haynesville', 'anadarko', 'other'],
    })
  })
  test('has twelve months up to the running one, and a sentence about its rigs', async () => {
    const { data } = await body<{
      data: Row & { trend: { month: string; rigs: number | null }[]; rig_count: Row }
    }>('/v1/pseo/drilling-intelligence/states/new-mexico/full')
    expect(data.trend.map(month => month.month)).toEqual([
      '2019-12',
      '2020-01',
      '2020-02',
      '2020-03',
      '2020-04',
      '2020-05',
      '2020-06',
      '2020-07',
      '2020-08',
      '2020-09',
      '2020-10',
      '2020-11',
    ])
    expect(data.trend.at(-1)?.rigs).toBe(data.rig_count.total as number)
    expect(data.summary).toStartWith(`New Mexico has ${data.rig_count.total} active rigs`)
  })
  test.each(['vermont', 'ZZ', 'atlantis', 'OTHER', 'us'])(
    '%s, of which nothing is held, is 404',
    async name => {
      const response = await get(`/v1/pseo/drilling-intelligence/states/${name}/full`)
      expect(response.status).toBe(404)
      expect(await json<Row>(response)).toMatchObject({ error: { code: 'DATA_NOT_AVAILABLE' } })
    },
  )
})

describe('drilling counts that an operator imports', () => {
  test('imported drilling counts are returned as imported, with null for what their source does not state', async () => {
    const own = openTestInstance()
    const token = own.key('professional')
    own.services.drilling.record(
      rigCounts,
      [
        {
          region: 'US',
          countedOn: '2020-05-15',
          total: 348,
          oil: null,
          gas: null,
          misc: null,
          span: 'month',
          source: 'EIA',
        },
      ],
      1,
    )
    const response = await own.get('/v1/ei/rig_counts/latest', token)
    expect(response.headers.get('x-service-data')).toBeNull()
    expect((await json<One>(response)).data).toMatchObject({
      us_total: 348,
      oil_rigs: null,
      source: 'EIA',
      stale: true,
      basins: {},
      states: {},
    })
    const trends = await own.get('/v1/rig-counts/trends', token)
    expect(trends.status).toBe(404)
  })
  test('come back as they were sent in, in the family and in the series of the same number', async () => {
    const own = openTestInstance()
    const [token, admin] = [own.key('professional'), own.services.adminTokens.rotate()]
    const send = (rows: Row[]) =>
      own.send('POST', '/admin/v1/datasets/rig-counts', { rows }, undefined, {
        authorization: `Bearer ${admin}`,
      })
    const week = { date: '2026-11-13', oil: 413, gas: 127, misc: 6, source: 'Rig survey' }
    expect(
      await json(send([week, { ...week, region: 'Permian', oil: 248, gas: 3, misc: 0 }])),
    ).toMatchObject({ data: { inserted: 2 } })
    expect(await json(send([{ ...week, oil: 411 }]))).toMatchObject({
      data: { inserted: 0, revised: 1 },
    })
    expect(await json(own.get('/v1/ei/rig_counts/latest', token))).toMatchObject({
      data: {
        us_total: 544,
        oil_rigs: 411,
        gas_rigs: 127,
        misc_rigs: 6,
        basins: { permian: 251 },
        source: 'Rig survey',
        span: 'week',
      },
    })
    expect(await json(own.get('/v1/prices/latest?by_code=US_OIL_RIG_COUNT', token))).toMatchObject({
      data: { price: 411 },
    })
  })
})
