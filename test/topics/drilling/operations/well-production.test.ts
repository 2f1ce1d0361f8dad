import { describe, expect, test } from 'bun:test'
import { openTestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'
import {
  fifth,
  fourth,
  monthOf,
  openWellInstance,
  prefix,
  type Row,
  sample,
  second,
  stateOf,
  third,
  wellOf,
} from '../../../support/topics/wells.ts'

const paths = [
  '/',
  '/summary',
  '/states',
  '/states/TX',
  `/wells/${sample}`,
  '/top-producers?state_code=TX&limit=10',
  '/cycle-time?state=TX',
  '/cycle-time/cohorts?state=TX',
]
const routeOf = (path: string) =>
  prefix +
  path
    .replace(/\?.*/, '')
    .replace(/states\/\w+/, 'states/:code')
    .replace(/wells\/\w+/, 'wells/:api_number')

const { instance, get, data, refusal } = openWellInstance()

describe('every path of well production', () => {
  for (const path of paths) {
    test(`${path} answers in its shape, with a slash at its end too`, async () => {
      const body = await json<Row>(get(path))
      expectShape(instance.app, routeOf(path), body)
      expect(Object.keys(body).sort()).toEqual(['data', 'status'])
      const [bare, query = ''] = path.split('?')
      const otherPath = bare!.endsWith('/') ? bare!.slice(0, -1) : `${bare}/`
      expect(await json<Row>(get(otherPath + (query && `?${query}`)))).toEqual(body)
    })
  }

  test.each([
    ['free', [], 403],
    ['free', ['well_production'], 403],
    ['developer', ['well_production'], 403],
    ['starter', [], 403],
    ['professional', [], 403],
    ['professional', ['well_permits'], 403],
    ['professional', ['well_production'], 200],
    ['scale', [], 403],
    ['scale', ['well_production'], 200],
    ['enterprise', [], 200],
  ] as const)('on %s with %p is %d', async (plan, addOns, status) => {
    const token = instance.key(plan, { addOns: [...addOns] })
    for (const path of paths) {
      const response = await get(path, token)
      expect(response.status, path).toBe(status)
      if (status === 200) continue
      const { error } = await json<{ error: Row }>(response)
      expect(error, path).toMatchObject({
        code: 'ENTERPRISE_REQUIRED',
        status: 403,
        required_feature: 'well_production',
        feature: 'well_production',
        required_tier: 'Enterprise',
        required_plan: 'enterprise',
        current_plan: plan,
        upgrade_required: true,
        message: expect.stringMatching(/tier|upgrade/),
        upgrade_url: expect.any(String),
        retry: { retryable: false },
      })
      expect(error.addon, path).toBe(
        plan === 'professional' || plan === 'scale' ? 'well_production' : undefined,
      )
      expect(response.headers.get('x-error-code')).toBe('ENTERPRISE_REQUIRED')
    }
  })

  test('is 403 on a running trial, and 401 without a key', async () => {
    const token = instance.key('free', { trial: true })
    for (const path of paths)
      expect([(await get(path, token)).status, (await instance.get(prefix + path)).status]).toEqual(
        [403, 401],
      )
  })

  test('every well production path without data returns an empty list or 404 and reports the reason', async () => {
    const empty = openTestInstance()
    const token = empty.key('enterprise')
    const statusOf = async (path: string) => (await empty.get(prefix + path, token)).status
    expect(await Promise.all(paths.map(statusOf))).toEqual([200, 200, 200, 404, 404, 404, 404, 404])
    const overview = await json<{ data: Row }>(empty.get(`${prefix}/`, token))
    expectShape(empty.app, `${prefix}/`, overview)
    expect(overview.data).toMatchObject({
      national: null,
      top_states: [],
      data_available: false,
      provisional: false,
      data_sources: {
        state_aggregates: 'none',
        well_level: 'none',
        well_level_states: ['AK', 'ND', 'NM', 'TX'],
      },
      coverage: {
        states_with_data: [],
        well_level_states_with_data: [],
        latest_period: null,
        total_records: 0,
      },
    })
    const states = await json<{ data: Row }>(empty.get(`${prefix}/states`, token))
    expect(states.data).toEqual({ period: null, count: 0, states: [] })
  })
})

describe('/v1/well-production/', () => {
  test('the well production overview has the sum of the states, the coverage and whether filings are still arriving', async () => {
    const overview = await data('/')
    expect(overview).toEqual({
      national: {
        period: '2026-08',
        oil_bbl: 3_720_000,
        gas_mcf: 22_320_000,
        water_bbl: null,
        boe: 7_440_000,
        days_producing: null,
        source: 'EIA',
      },
      top_states: [
        {
          state: 'TX',
          period: '2026-08',
          oil_bbl: 3_100_000,
          oil_bpd: 100_000,
          gas_mcf: 18_600_000,
          boe: 6_200_000,
        },
        {
          state: 'NM',
          period: '2026-08',
          oil_bbl: 620_000,
          oil_bpd: 20_000,
          gas_mcf: 3_720_000,
          boe: 1_240_000,
        },
      ],
      data_sources: {
        state_aggregates: 'EIA',
        well_level: 'fixture, import',
        well_level_states: ['AK', 'ND', 'NM', 'TX'],
        national_rollup: 'Sum of the state aggregates',
      },
      coverage: {
        states_with_data: ['NM', 'TX'],
        well_level_states_with_data: ['NM', 'TX'],
        latest_period: '2026-08',
        total_records: 15,
        data_age_days: 80,
        stale: false,
      },
      data_available: true,
      provisional: true,
    })
    expect(await data('/summary')).toEqual(overview)
  })

  test('is provisional while a state that filed the month before has not filed', async () => {
    const own = openTestInstance()
    const token = own.key()
    const { states } = own.services.wellProduction
    const provisional = async () =>
      (await json<{ data: Row }>(own.get(`${prefix}/`, token))).data.provisional
    states.write(
      [stateOf('TX', '2026-07', 1), stateOf('NM', '2026-07', 1), stateOf('TX', '2026-08', 1)],
      1,
    )
    expect(await provisional()).toBe(true)
    states.write([stateOf('NM', '2026-08', 1)], 2)
    expect(await provisional()).toBe(false)
  })

  test('is marked where fixture data is part of it, and only there', async () => {
    const marks = await Promise.all(
      [
        '/',
        '/states',
        `/wells/${fourth}`,
        `/wells/${sample}`,
        '/top-producers',
        '/top-producers?state_code=NM',
        '/cycle-time',
      ].map(async path => (await get(path)).headers.get('x-service-data')),
    )
    expect(marks).toEqual(['fixture', null, 'fixture', null, null, 'fixture', 'fixture'])
  })
})

describe('/v1/well-production/states', () => {
  test('are of the newest month or of the one asked for, most oil first', async () => {
    expect(await data('/states')).toMatchObject({
      period: '2026-08',
      count: 2,
      states: [{ state: 'TX' }, { state: 'NM' }],
    })
    expect(await data('/states?period=2026-07')).toMatchObject({
      period: '2026-07',
      states: [{ oil_bpd: 10_000_000 }, { oil_bpd: 2_000_000 }],
    })
    expect(await data('/states?period=1999-01')).toEqual({
      period: '1999-01',
      count: 0,
      states: [],
    })
  })
  test.each(['2026', '2026-13', '2026-8', '2026-08-01', 'latest'])(
    'of the month %s are refused',
    async period => {
      const { status, error } = await refusal(`/states?period=${period}`)
      expect({ status, code: error.code, parameter: error.parameter, value: error.value }).toEqual({
        status: 400,
        code: 'INVALID_PARAMETER',
        parameter: 'period',
        value: period,
      })
    },
  )

  test('one by one answer two years by default, oldest first', async () => {
    const texas = await data<{ data: Row[] }>('/states/tx')
    expect(texas).toMatchObject({
      state: 'TX',
      period: { start: '2024-11', end: '2026-11' },
      count: 3,
    })
    expect(texas.data.map(row => row.period)).toEqual(['2024-11', '2026-07', '2026-08'])
    expect(texas.data[0]).toEqual({
      period: '2024-11',
      oil_bbl: 30,
      gas_mcf: 180,
      water_bbl: null,
      boe: 60,
      days_producing: null,
      source: 'EIA',
    })
  })
  test.each([
    ['start_date=2024-10-31', ['2024-10', '2024-11', '2026-07', '2026-08']],
    ['end_date=2026-07-01', ['2024-10', '2024-11', '2026-07']],
    ['start_date=2026-07&end_date=2026-07', ['2026-07']],
    ['start_date=2026-07-15T00:00:00Z&end_date=9999-12', ['2026-07', '2026-08']],
    ['start_date=1999-01-01&end_date=1999-12-31', []],
  ])('one by one with %s answer %p', async (query, periods) => {
    const texas = await data<{ data: Row[]; count: number }>(`/states/TX?${query}`)
    expect({ data: texas.data.map(row => row.period), count: texas.count }).toEqual({
      data: periods as unknown[],
      count: periods.length,
    })
  })
  test.each([
    ['/states/ZZ', 404, 'DATA_NOT_AVAILABLE'],
    ['/states/CO', 404, 'DATA_NOT_AVAILABLE'],
    ['/states/Texas', 404, 'DATA_NOT_AVAILABLE'],
    ['/states/TX?start_date=soon', 400, 'INVALID_PARAMETER'],
    ['/states/TX?end_date=2026-02-30', 400, 'INVALID_PARAMETER'],
    ['/states/TX?start_date=1492-10-12', 400, 'INVALID_PARAMETER'],
    ['/states/TX?start_date=2026-08-01&end_date=2026-07-01', 400, 'INVALID_DATE_RANGE'],
  ])('%s is %d %s', async (path, status, code) => {
    expect(await refusal(path)).toMatchObject({ status, code })
  })
})

describe('/v1/well-production/wells/{api_number}', () => {
  test('answers its months, oldest first, whatever separates the parts of its number', async () => {
    const well = await data<{ data: Row[] }>(`/wells/${sample}`)
    expect(well).toMatchObject({
      api_number: sample,
      operator: 'Juniper Ridge Operating, LLC',
      state: 'TX',
      county: 'Midland',
      count: 3,
    })
    expect(well.data.map(row => [row.period, row.oil_bbl, row.boe])).toEqual([
      ['2026-06', 1000, 1333.3],
      ['2026-07', 900, 1200],
      ['2026-08', 800, 1066.7],
    ])
    for (const number of [
      '42-329-40001-00-00',
      '42-329-40001',
      '4232940001',
      '423294000100',
      '42.329.40001',
      '42%20329%2040001%2000%2000',
    ])
      expect(await data<{ data: Row[] }>(`/wells/${number}`), number).toEqual(well)
  })

  test.each([
    ['99329400010000', 'unknown_state_prefix', null, null],
    ['abc', 'unknown_state_prefix', null, null],
    ['4', 'unknown_state_prefix', null, null],
    ['05329400010000', 'state_not_covered', 'CO', null],
    ['05-123-40001', 'state_not_covered', 'CO', null],
    ['42329499990000', 'well_not_in_source', 'TX', 'import'],
    // Drilled, not producing.
    [fifth, 'well_not_in_source', 'TX', 'import'],
    ['42329', 'well_not_in_source', 'TX', 'import'],
    // Covered, but nothing has come in.
    ['50329400010000', 'well_not_in_source', 'AK', null],
  ])('%s is 404, because of %s', async (number, reason, state, source) => {
    const response = await get(`/wells/${number}`)
    const body = await json<Row>(response)
    expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
      status: 404,
      errorCode: 'DATA_NOT_AVAILABLE',
    })
    expect(body).toMatchObject({
      reason,
      state,
      source,
      error: { code: 'DATA_NOT_AVAILABLE', status: 404, reason, state, source },
    })
    expectShape(instance.app, `${prefix}/wells/:api_number`, body, 404)
  })

  test('of another state is found once its production has come in', async () => {
    const own = openTestInstance()
    own.services.wells.put([wellOf('05123400010000', { state: 'CO' })], 1)
    own.services.wellProduction.wells.write(
      [monthOf('05123400010000', '2026-08', 5, { state: 'CO', source: 'ECMC' })],
      1,
    )
    const token = own.key()
    expect((await own.get(`${prefix}/wells/0512340001`, token)).status).toBe(200)
    expect(await json<Row>(own.get(`${prefix}/wells/0512340002`, token))).toMatchObject({
      reason: 'well_not_in_source',
      source: 'ECMC',
    })
    const overview = await json<{ data: { data_sources: Row } }>(own.get(`${prefix}/`, token))
    expect(overview.data.data_sources.well_level_states).toEqual(['AK', 'CO', 'ND', 'NM', 'TX'])
  })
})

describe('/v1/well-production/top-producers', () => {
  test('are those of the last twelve months of the state', async () => {
    expect(await data('/top-producers')).toEqual({
      state: 'TX',
      period: { start: '2025-09', end: '2026-08' },
      count: 3,
      producers: [
        {
          rank: 1,
          api_number: second,
          operator: 'Juniper Ridge Operating, LLC',
          well_name: 'BRADFORD 40002',
          total_oil_bbl: 10_000,
          total_gas_mcf: 20_000,
          months_producing: 2,
        },
        {
          rank: 2,
          api_number: third,
          operator: 'Badland Petroleum, Inc.',
          well_name: 'BRADFORD 40003',
          total_oil_bbl: 9000,
          total_gas_mcf: 18_000,
          months_producing: 1,
        },
        expect.objectContaining({
          rank: 3,
          api_number: sample,
          total_oil_bbl: 2700,
          months_producing: 3,
        }),
      ],
    })
    expect(await data('/top-producers?limit=1&months=13')).toMatchObject({
      count: 1,
      producers: [{ total_oil_bbl: 15_000 }],
    })
    expect(await data('/top-producers?months=1&state_code=nm')).toMatchObject({
      state: 'NM',
      period: { start: '2026-07', end: '2026-07' },
    })
  })
  test.each([
    ['limit=0', 400],
    ['limit=101', 400],
    ['months=0', 400],
    ['months=61', 400],
    ['limit=ten', 400],
    ['state_code=AK', 404],
    ['state_code=ZZ', 404],
  ])('with %s are %d', async (query, status) => {
    expect((await get(`/top-producers?${query}`)).status).toBe(status)
  })
})

test('the page of a state has its daily production and reports that it is fixture data', async () => {
  const own = openTestInstance()
  const token = own.key()
  own.services.wellProduction.states.write(
    [stateOf('UT', '2026-08', 5_580_000, { source: 'fixture' })],
    1,
  )
  const response = await own.get('/v1/pseo/drilling-intelligence/states/utah/full', token)
  expect({ status: response.status, serviceData: response.headers.get('x-service-data') }).toEqual({
    status: 200,
    serviceData: 'fixture',
  })
  expect((await json<{ data: Row }>(response)).data.production).toEqual({
    oil_bpd: 180_000,
    gas_mcfd: 1_080_000,
    period: '2026-08',
  })
})
