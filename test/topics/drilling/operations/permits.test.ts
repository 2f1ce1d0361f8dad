import { describe, expect, test } from 'bun:test'
import type { WellPermit } from '../../../../src/topics/drilling/dataset/permits.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'
import { permit } from '../../../support/topics/permits.ts'

type Body = Record<string, unknown>
interface List extends Body {
  data: Body[]
  well_permits: Body[]
  meta: Body
  as_of: string | null
}

/** An instance with some permits, recorded as an import would. */
function filled(permits: WellPermit[] = some()): TestInstance {
  const instance = openTestInstance()
  instance.services.permits.record(permits, startAt)
  return instance
}

const some = (): WellPermit[] => [
  permit(),
  permit({
    permitNumber: '2',
    permitOn: '2026-11-10',
    county: 'Martin',
    operator: 'Badland Petroleum, Inc.',
    latitude: 32.3,
    wellName: 'Sorenson 5',
  }),
  permit({
    permitNumber: '3',
    permitOn: '2026-09-30',
    permitType: 'reentry',
    formation: null,
    latitude: null,
    longitude: null,
  }),
  permit({
    permitNumber: '4',
    state: 'NM',
    permitOn: '2026-11-17',
    county: 'Lea',
    apiNumber: null,
    apiNumberRaw: '',
    latitude: 32.75,
    longitude: -103.2,
  }),
  permit({
    permitNumber: 'nv',
    state: 'NV',
    permitOn: '2026-09-25',
    county: null,
    latitude: 38.4,
    longitude: -115.7,
  }),
]

const get = async <T = List>(
  instance: TestInstance,
  path: string,
  route = path.replace(/\?.*/, ''),
): Promise<T> => {
  const body = await json<T>(instance.get(path, instance.key()))
  expectShape(instance.app, route, body)
  return body
}
const numbers = (body: List) => body.data.map(row => row.permit_number)
const search = (instance: TestInstance, query: string) =>
  get(instance, `/v1/ei/well-permits/search?${query}`)

describe('/v1/ei/well-permits', () => {
  test('the well permit list is newest first under both keys and reports how current each state is', async () => {
    const body = await get(filled(), '/v1/ei/well-permits?per_page=2')
    const fresh = {
      as_of: '2026-11-18',
      data_age_days: 2,
      stale: false,
      as_of_basis: 'permit_date',
      stale_states: ['NV'],
      by_state_as_ofs: { NM: '2026-11-17', NV: '2026-09-25', TX: '2026-11-18' },
    }
    expect(numbers(body)).toEqual(['918273', '4'])
    expect(body.well_permits).toEqual(body.data)
    expect(body).toMatchObject(fresh)
    expect(body.meta).toEqual({
      page: 1,
      per_page: 2,
      total_count: 5,
      total_pages: 3,
      api_version: 'v1',
      tier_required: 'Reservoir Mastery',
      cache_ttl: 3600,
      ...fresh,
    })
    expect(body.data[0]).toEqual({
      id: '5',
      api_number: '42329400010000',
      api_number_raw: '42-329-40001',
      state_code: 'TX',
      county: 'Midland',
      permit_number: '918273',
      permit_type: 'new_drill',
      permit_status: 'approved',
      permit_date: '2026-11-18',
      operator: {
        name: 'Juniper Ridge Operating, LLC',
        name_raw: 'Juniper Ridge Operating, LLC',
        name_normalized: 'JUNIPER RIDGE OPERATING',
        number: '148113',
      },
      well: { name: 'Bradford 14-23 Unit', number: '3H', type: 'oil' },
      location: {
        latitude: '31.8637',
        longitude: '-102.0319',
        county: 'Midland',
        section: '14',
        township: '2S',
        range: '37E',
      },
      target: {
        formation: 'Wolfcamp A',
        formation_raw: 'Wolfcamp A',
        formation_normalized: 'WOLFCAMP A',
        total_depth_proposed: 9800,
      },
      provenance: {
        source: 'Texas RRC',
        source_url: 'https://example.com/918273',
        fetched_at: '2026-11-19T06:00:00Z',
        data_as_of: '2026-11-18',
      },
      state: 'TX',
      operator_name: 'Juniper Ridge Operating, LLC',
      well_name: 'Bradford 14-23 Unit',
      well_type: 'oil',
      formation: 'Wolfcamp A',
      issue_date: '2026-11-18',
      timestamp: '2026-11-20T15:00:00Z',
    })
  })

  test('of one state has no list of states, and its own newest day', async () => {
    const body = await search(filled(), 'states=nv')
    expect(body).toMatchObject({ as_of: '2026-09-25', data_age_days: 56, stale: true })
    expect(Object.keys(body)).not.toContain('stale_states')
  })

  test('the well permit list of an empty register is empty and reports that it has no data', async () => {
    const body = await get(openTestInstance(), '/v1/ei/well-permits')
    expect(body).toMatchObject({
      data: [],
      as_of: null,
      data_age_days: null,
      stale: true,
      meta: { total_count: 0, per_page: 25, total_pages: 0 },
    })
  })

  test('leads from page to page in its headers', async () => {
    const instance = filled()
    const response = await instance.get(
      '/v1/ei/well-permits?per_page=2&page=2&states=TX,NM,NV',
      instance.key(),
    )
    expect({
      total: response.headers.get('x-total'),
      hasNext: response.headers.get('x-has-next'),
    }).toEqual({ total: '5', hasNext: 'true' })
    expect(response.headers.get('link')).toContain('states=TX%2CNM%2CNV>; rel="next"')
  })
})

describe('/v1/ei/well-permits/search', () => {
  for (const [query, expected] of [
    ['states=TX', ['918273', '2', '3']],
    ['states=tx,NM', ['918273', '4', '2', '3']],
    ['county=martin%20county', ['2']],
    ['operator=badland', ['2']],
    ['well_name=BRAD', ['918273', '4', '3', 'nv']],
    ['formation=wolfcamp&states=TX', ['918273', '2']],
    ['permit_type=reentry', ['3']],
    ['well_type=gas', []],
    ['latitude=31.8637&longitude=-102.0319', ['918273']],
    ['latitude=31.8637&longitude=-102.0319&radius_miles=31', ['918273', '2']],
    ['latitude=31.8637&longitude=-102.0319&radius_miles=100&states=NM', ['4']],
    ['start_date=2026-11-10&end_date=2026-11-17', ['4', '2']],
    ['query=sorenson', ['2']],
    ['query=juniper%20lea%20of', ['4']],
    ['query=nobody', []],
    ['states=TX&operator=juniper&start_date=2026-10-01', ['918273']],
    ['per_page=2&page=3', ['nv']],
    ['per_page=2&page=9', []],
    ['unknown=filter&states=&county=', ['918273', '4', '2', '3', 'nv']],
  ] as const) {
    test(`with ${query} finds ${expected.length}`, async () => {
      expect(numbers(await search(filled(), query))).toEqual([...expected])
    })
  }

  for (const [query, code, parameter] of [
    ['states=HI', 'INVALID_PARAMETER', 'states'],
    ['address=600%20Main%20Street', 'INVALID_PARAMETER', 'address'],
    ['latitude=31', 'MISSING_PARAMETER', 'longitude'],
    ['longitude=31', 'MISSING_PARAMETER', 'latitude'],
    ['latitude=91&longitude=0', 'INVALID_PARAMETER', 'latitude'],
    ['latitude=0x10&longitude=0', 'INVALID_PARAMETER', 'latitude'],
    ['latitude=31&longitude=-102&radius_miles=101', 'INVALID_PARAMETER', 'radius_miles'],
    ['latitude=31&longitude=-102&radius_miles=0.5', 'INVALID_PARAMETER', 'radius_miles'],
    ['page=0', 'INVALID_PARAMETER', 'page'],
    ['start_date=2026-13-01', 'INVALID_PARAMETER', 'start_date'],
    ['start_date=2026-11-02&end_date=2026-11-01', 'INVALID_DATE_RANGE', undefined],
    ['well_name=ab', 'INVALID_PARAMETER', 'well_name'],
    ['query=a%20b', 'INVALID_PARAMETER', 'query'],
    [
      'query=one%20two%20three%20four%20five%20six%20seven%20eight%20nine',
      'INVALID_PARAMETER',
      'query',
    ],
    [`operator=${'x'.repeat(201)}`, 'INVALID_PARAMETER', 'operator'],
  ] as const) {
    test(`with ${query.slice(0, 60)} is refused`, async () => {
      const instance = filled()
      const response = await instance.get(`/v1/ei/well-permits/search?${query}`, instance.key())
      const { error } = await json<{ error: Body }>(response)
      expect({ status: response.status, code: error.code, parameter: error.parameter }).toEqual({
        status: 400,
        code,
        parameter,
      })
    })
  }
})

describe('/v1/ei/well-permits/{id}', () => {
  test('is found by its number', async () => {
    const body = await get<{ data: Body; meta: Body }>(
      filled(),
      '/v1/ei/well-permits/5',
      '/v1/ei/well-permits/:id',
    )
    expect({ permit_number: body.data.permit_number, total_count: body.meta.total_count }).toEqual({
      permit_number: '918273',
      total_count: 1,
    })
  })
  for (const id of ['6', '0', '-1', '1.5', 'abc', '99999999999999999999']) {
    test(`the well permit ${id} is unknown`, async () => {
      const instance = filled()
      const response = await instance.get(`/v1/ei/well-permits/${id}`, instance.key())
      expect({
        status: response.status,
        code: (await json<{ error: Body }>(response)).error.code,
      }).toEqual({ status: 404, code: 'NOT_FOUND' })
    })
  }
})

describe('/v1/ei/well-permits/latest', () => {
  test('the latest well permits cover the last days and report what is known of the list of each state', async () => {
    const body = await get<{ data: { well_permits: Body[]; meta: Body }; meta: Body }>(
      filled(),
      '/v1/ei/well-permits/latest?days=3&limit=1',
    )
    expect(body.data.well_permits.map(row => row.permit_number)).toEqual(['918273'])
    expect(body.data.meta).toEqual({
      days: 3,
      states: ['NM', 'NV', 'TX'],
      limit: 1,
      count: 1,
      as_of: '2026-11-18',
      data_quality: {
        NM: {
          date_coverage: '2026-11-17 to 2026-11-17',
          source: 'Texas RRC',
          note: 'Newest permit 3 days old.',
        },
        NV: {
          date_coverage: '2026-09-25 to 2026-09-25',
          source: 'Texas RRC',
          note: 'Nothing newer than 2026-09-25 is held (56 days): the state publishes its list at longer intervals, or it was not loaded since.',
        },
        TX: {
          date_coverage: '2026-09-30 to 2026-11-18',
          source: 'Texas RRC',
          note: 'Newest permit 2 days old.',
        },
      },
    })
    expect(body.meta.total_count).toBe(1)
  })
  test('take a day and a state at least', async () => {
    const instance = filled()
    for (const query of ['days=0', 'days=91', 'limit=501', 'states=XX']) {
      expect({
        query,
        status: (await instance.get(`/v1/ei/well-permits/latest?${query}`, instance.key())).status,
      }).toEqual({ query, status: 400 })
    }
  })
})

describe('/v1/ei/well-permits/summary and by-*', () => {
  test('of the summary add up', async () => {
    const { data } = await get<{
      data: {
        total_permits: number
        by_state: Record<string, number>
        by_operator: Record<string, number>
      } & Body
    }>(filled(), '/v1/ei/well-permits/summary')
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)
    expect({
      totalPermits: data.total_permits,
      byStateSum: sum(data.by_state),
      byOperatorSum: sum(data.by_operator),
      asOfDate: data.as_of_date,
    }).toEqual({ totalPermits: 5, byStateSum: 5, byOperatorSum: 5, asOfDate: '2026-11-18' })
    expect(data.by_state).toEqual({ TX: 3, NM: 1, NV: 1 })
  })

  for (const [path, rows] of [
    [
      'by-state',
      [
        { state: 'TX', permit_count: 3, change: 1, percentage: 60, date: '2026-11-18' },
        { state: 'NM', permit_count: 1, change: 1, percentage: 20, date: '2026-11-17' },
      ],
    ],
    [
      'by-operator',
      [
        {
          operator: 'Juniper Ridge Operating, LLC',
          permit_count: 4,
          change: 0,
          percentage: 80,
          date: '2026-11-18',
        },
        {
          operator: 'Badland Petroleum, Inc.',
          permit_count: 1,
          change: 1,
          percentage: 20,
          date: '2026-11-10',
        },
      ],
    ],
    [
      'by-formation',
      [{ formation: 'Wolfcamp A', permit_count: 4, change: 2, percentage: 80, date: '2026-11-18' }],
    ],
  ] as const) {
    test(`${path} come largest first, with the change of a month`, async () => {
      const body = await get<{ data: Body[] }>(filled(), `/v1/ei/well-permits/${path}?per_page=2`)
      expect(body.data).toEqual([...rows])
    })
  }

  test('the well permits of a state report its drilling activity and the reason for that status', async () => {
    const { data } = await get<{ data: Body }>(
      filled(),
      '/v1/ei/well-permits/states/tx',
      '/v1/ei/well-permits/states/:state_code',
    )
    expect(data).toMatchObject({
      state_code: 'TX',
      state_name: 'Texas',
      permit_count: 3,
      permits_30d: 2,
      permits_365d: 3,
      as_of: '2026-11-18',
      stale: false,
      top_operators: [
        { name: 'Juniper Ridge Operating, LLC', permits: 2 },
        { name: 'Badland Petroleum, Inc.', permits: 1 },
      ],
      top_counties: [
        { county: 'Midland', permits: 2 },
        { county: 'Martin', permits: 1 },
      ],
      current_activity_status: 'active',
      indexing_recommendation: 'index',
      current_activity_reason:
        '2 permits in the last 30 days, where the last 365 days had 0.2 in 30 days on average.',
    })
    expect((data.recent as Body[]).map(row => row.permit_number)).toEqual(['918273', '2', '3'])
  })

  test('the activity of a state without permits is unknown, and an unsupported state returns 404', async () => {
    const instance = filled()
    const { data } = await get<{ data: Body }>(
      instance,
      '/v1/ei/well-permits/states/OH',
      '/v1/ei/well-permits/states/:state_code',
    )
    expect(data).toMatchObject({
      permit_count: 0,
      as_of: null,
      current_activity_status: 'unknown',
      indexing_recommendation: 'noindex',
      recent: [],
    })
    const response = await instance.get('/v1/ei/well-permits/states/HI', instance.key())
    expect({
      status: response.status,
      code: (await json<{ error: Body }>(response)).error.code,
    }).toEqual({ status: 404, code: 'DATA_NOT_AVAILABLE' })
  })
})

describe('/v1/ei/well-permits and plans', () => {
  const paths = [
    '/v1/ei/well-permits',
    '/v1/dark_data/well-permits/summary',
    '/v1/ei/wells/42329400010000/timeline',
  ]
  for (const [plan, addOns, status] of [
    ['starter', [], 403],
    ['starter', ['well_permits'], 403],
    ['professional', [], 403],
    ['professional', ['well_permits'], 200],
    ['scale', [], 200],
    ['enterprise', [], 200],
  ] as const) {
    test(`on ${plan} ${addOns.join()} permits are ${status}`, async () => {
      const instance = filled()
      const token = instance.key(plan, { addOns: [...addOns] })
      for (const path of paths) {
        const response = await instance.get(path, token)
        expect({ path, status: response.status }).toEqual({ path, status })
        if (status === 403) {
          expect(await json<Body>(response)).toMatchObject({
            error_code: 'INSUFFICIENT_PLAN',
            code: 'INSUFFICIENT_PLAN',
            status: 403,
            current_plan: plan,
            required_feature: 'well_permits',
            upgrade_required: true,
          })
        }
      }
    })
  }

  test('the other prefix answers the same', async () => {
    const instance = filled()
    const token = instance.key()
    for (const path of [
      'well-permits?per_page=2',
      'well-permits/5',
      'well-permits/latest',
      'well-permits/by-state',
      'well-permits/states/TX',
      'frac-focus',
      'wells/42329400010000/timeline',
    ]) {
      const [first, second] = await Promise.all(
        ['ei', 'dark_data'].map(prefix => instance.get(`/v1/${prefix}/${path}`, token).then(json)),
      )
      expect({ path, first }).toEqual({ path, first: second })
    }
  })

  test('fixture data is marked, real data is not', async () => {
    for (const [source, mark] of [
      ['fixture', 'fixture'],
      ['Texas RRC', null],
    ] as const) {
      const instance = filled([permit({ source })])
      const token = instance.key()
      for (const path of [
        'well-permits',
        'well-permits/summary',
        'well-permits/by-state',
        'well-permits/states/TX',
        'well-permits/latest',
        'wells/42329400010000/timeline',
      ]) {
        expect(
          (await instance.get(`/v1/ei/${path}`, token)).headers.get('x-service-data'),
          path,
        ).toEqual(mark)
      }
    }
  })
})

describe('/v1/ei/well-permits after an import', () => {
  test('an operator import of well permits stores all rows or none and reports the fault of each row', async () => {
    const instance = openTestInstance()
    const admin = instance.services.adminTokens.rotate()
    const send = (rows: object[]) =>
      instance.send('POST', '/admin/v1/datasets/well-permits', { rows }, undefined, {
        authorization: `Bearer ${admin}`,
      })
    const row = { state: 'TX', permit_date: '2026-11-18', permit_number: '1', operator: 'X' }
    const refused = await send([
      row,
      { ...row, state: 'HI' },
      { ...row, latitude: 0, longitude: 0 },
    ])
    expect(refused.status).toBe(422)
    expect(
      (await json<{ errors: { field: string }[] }>(refused)).errors.map(error => error.field),
    ).toEqual(['rows.1.state', 'rows.2.latitude'])
    expect(instance.services.permits.counts.total()).toBe(0)
    const accepted = await json<{ data: Body }>(send([row, { ...row, permit_number: '2' }]))
    expect(accepted.data).toMatchObject({ received: 2, inserted: 2, revised: 0, unchanged: 0 })
  })
})

test('permits with a position are points of a map in GeoJSON, in pages like the list', async () => {
  const instance = filled()
  const token = instance.key()
  const response = await instance.get('/v1/ei/well-permits?format=geojson&per_page=4', token)
  expect(response.headers.get('content-type')).toBe('application/geo+json')
  expect(response.headers.get('x-total')).toBe('5')
  const { type, features } = (await response.json()) as {
    type: string
    features: { type: string; geometry: { coordinates: number[] }; properties: Body }[]
  }
  expect(type).toBe('FeatureCollection')
  const listed = await get<List>(instance, '/v1/ei/well-permits?per_page=4')
  const placed = listed.data.filter(({ location }) => (location as Body).latitude !== null)
  expect(features.map(({ properties }) => properties.permit_number)).toEqual(
    placed.map(row => row.permit_number),
  )
  expect(features[0]!.geometry.coordinates).toEqual([-102.0319, 31.8637])
  const refused = await instance.get('/v1/ei/well-permits?format=kml', token)
  expect(refused.status).toBe(400)
})
