import { describe, expect, test } from 'bun:test'
import type { FracDisclosure } from '../../../../src/topics/drilling/dataset/frac.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'
import { permit } from '../../../support/topics/permits.ts'

type Body = Record<string, unknown>
interface List {
  data: Body[]
  meta: Body
}

const job = (reference: string, change: Partial<FracDisclosure> = {}): FracDisclosure => ({
  reference,
  apiNumber: '42329400010000',
  state: 'TX',
  county: 'Midland',
  operator: 'Juniper Ridge Operating, LLC',
  wellName: 'BRADFORD 14-23 UNIT 3H',
  startedOn: '2026-09-28',
  endedOn: '2026-10-14',
  latitude: 31.8637,
  longitude: -102.0319,
  waterGallons: 18_420_000,
  nonWaterGallons: 0,
  source: 'registry',
  ...change,
})

function filled(): TestInstance {
  const instance = openTestInstance()
  const { fracDisclosures, fracChemicals } = instance.services
  fracDisclosures.write(
    [
      job('a'),
      job('b', {
        state: 'ND',
        county: 'McKenzie',
        operator: 'Badland Petroleum, Inc.',
        apiNumber: '33053099110000',
        endedOn: '2026-10-09',
        waterGallons: 7e6,
        latitude: 47.9,
        longitude: -103.2,
      }),
      job('c', {
        endedOn: '2024-02-02',
        startedOn: '2024-01-20',
        waterGallons: null,
        latitude: null,
        longitude: null,
        operator: 'JUNIPER RIDGE OPERATING LLC',
      }),
    ],
    startAt,
  )
  const chemical = { casNumber: '7732-18-5', purpose: 'Carrier', massLbs: null, source: 'registry' }
  fracChemicals.write(
    [
      {
        ...chemical,
        disclosureId: 1,
        name: 'Crystalline silica (sand)',
        casNumber: '14808-60-7',
        purpose: 'Proppant',
        concentrationPercent: 10.4,
      },
      { ...chemical, disclosureId: 1, name: 'Water', concentrationPercent: 88.4 },
      { ...chemical, disclosureId: 2, name: 'Water', concentrationPercent: 90 },
    ],
    startAt,
  )
  return instance
}

const get = async <T = List>(
  instance: TestInstance,
  path: string,
  route = path.replace(/\?.*/, ''),
): Promise<T> => {
  const body = await json<T>(instance.get(path, instance.key()))
  expectShape(instance.app, route, body)
  return body
}
const ids = (body: List) => body.data.map(row => row.id)

describe('/v1/ei/frac-focus', () => {
  test('come by the day on which the job ended, newest first', async () => {
    const body = await get(filled(), '/v1/ei/frac-focus?per_page=2')
    expect({ ids: ids(body), meta: body.meta }).toEqual({
      ids: ['1', '2'],
      meta: {
        page: 1,
        per_page: 2,
        total_count: 3,
        total_pages: 2,
        api_version: 'v1',
        tier_required: 'Reservoir Mastery',
        cache_ttl: 3600,
      },
    })
    expect(body.data[0]).toEqual({
      id: '1',
      api_number: '42329400010000',
      state: 'TX',
      county: 'Midland',
      operator: 'Juniper Ridge Operating, LLC',
      well_name: 'BRADFORD 14-23 UNIT 3H',
      job_start_date: '2026-09-28',
      job_end_date: '2026-10-14',
      total_base_water_volume: 18_420_000,
      total_base_non_water_volume: 0,
      latitude: 31.8637,
      longitude: -102.0319,
      source: 'registry',
      timestamp: '2026-11-20T15:00:00Z',
    })
  })

  for (const [query, expected] of [
    ['query=sand', ['1']],
    ['query=WATER%20badland', ['2']],
    ['query=mckenzie', ['2']],
    ['states=TX', ['1', '3']],
    ['county=McKenzie%20County', ['2']],
    ['operator=juniper%20ridge', ['1', '3']],
    ['well_name=bradford&states=ND', ['2']],
    ['api_number=42-329-40001', ['1', '3']],
    ['min_water_gallons=7000000', ['1', '2']],
    ['latitude=31.9&longitude=-102', ['1']],
    ['start_date=2026-10-09&end_date=2026-10-13', ['2']],
    ['per_page=1&page=3', ['3']],
  ] as const) {
    test(`with ${query} are ${expected.join(', ')}`, async () => {
      expect(ids(await get(filled(), `/v1/ei/frac-focus/search?${query}`))).toEqual([...expected])
    })
  }

  test('of a circle come in pages with the number of all', async () => {
    const body = await get(
      filled(),
      '/v1/ei/frac-focus/search?latitude=40&longitude=-102&radius_miles=100',
    )
    expect({ ids: ids(body), total_count: body.meta.total_count }).toEqual({
      ids: [],
      total_count: 0,
    })
  })

  test('refuse what cannot be read', async () => {
    const instance = filled()
    for (const query of [
      'api_number=42',
      'min_water_gallons=-1',
      'latitude=1',
      'states=ZZ',
      'end_date=x',
    ]) {
      expect({
        query,
        status: (await instance.get(`/v1/ei/frac-focus/search?${query}`, instance.key())).status,
      }).toEqual({ query, status: 400 })
    }
  })

  test('FracFocus disclosures of a well are found in any format of its number, and another well has none', async () => {
    const instance = filled()
    const route = '/v1/ei/frac-focus/for-well/:api_number'
    for (const number of ['42329400010000', '42-329-40001', '4232940001']) {
      expect(ids(await get(instance, `/v1/ei/frac-focus/for-well/${number}`, route))).toEqual([
        '1',
        '3',
      ])
    }
    expect(ids(await get(instance, '/v1/ei/frac-focus/for-well/42-329-40002', route))).toEqual([])
  })

  test('have one by its number, with its chemicals, most of it first', async () => {
    const instance = filled()
    expect(
      (await get<{ data: Body }>(instance, '/v1/ei/frac-focus/2', '/v1/ei/frac-focus/:id')).data
        .state,
    ).toBe('ND')
    const { data } = await get<{ data: Body }>(
      instance,
      '/v1/ei/frac-focus/1/chemicals',
      '/v1/ei/frac-focus/:id/chemicals',
    )
    expect(data).toEqual({
      id: '1',
      chemicals: [
        {
          chemical_name: 'Water',
          cas_number: '7732-18-5',
          purpose: 'Carrier',
          concentration_percent: 88.4,
          mass_lbs: null,
        },
        {
          chemical_name: 'Crystalline silica (sand)',
          cas_number: '14808-60-7',
          purpose: 'Proppant',
          concentration_percent: 10.4,
          mass_lbs: null,
        },
      ],
    })
    for (const path of [
      '/v1/ei/frac-focus/4',
      '/v1/ei/frac-focus/x',
      '/v1/ei/frac-focus/4/chemicals',
    ]) {
      expect({ path, status: (await instance.get(path, instance.key())).status }).toEqual({
        path,
        status: 404,
      })
    }
  })
})

describe('/v1/ei/frac-focus/summary and by-*', () => {
  test('add up, and one operator is one however it writes itself', async () => {
    const { data } = await get<{ data: Body }>(filled(), '/v1/ei/frac-focus/summary')
    expect(data).toEqual({
      total_disclosures: 3,
      by_state: { TX: 2, ND: 1 },
      as_of_date: '2026-10-14',
      by_operator: { 'Juniper Ridge Operating, LLC': 2, 'Badland Petroleum, Inc.': 1 },
    })
  })
  for (const [path, rows] of [
    [
      'by-state',
      [
        { state: 'TX', disclosure_count: 2, percentage: 66.67, date: '2026-10-14' },
        { state: 'ND', disclosure_count: 1, percentage: 33.33, date: '2026-10-09' },
      ],
    ],
    [
      'by-operator',
      [
        {
          operator: 'Juniper Ridge Operating, LLC',
          disclosure_count: 2,
          percentage: 66.67,
          date: '2026-10-14',
        },
        {
          operator: 'Badland Petroleum, Inc.',
          disclosure_count: 1,
          percentage: 33.33,
          date: '2026-10-09',
        },
      ],
    ],
    [
      'by-chemical',
      [
        { chemical_name: 'Water', cas_number: '7732-18-5', usage_count: 2, percentage: 66.67 },
        {
          chemical_name: 'Crystalline silica (sand)',
          cas_number: '14808-60-7',
          usage_count: 1,
          percentage: 33.33,
        },
      ],
    ],
  ] as const) {
    test(`${path} come largest first`, async () => {
      expect((await get(filled(), `/v1/ei/frac-focus/${path}`)).data).toEqual([...rows])
    })
  }
  test('need energy intelligence, not permits', async () => {
    const instance = filled()
    for (const [plan, status] of [
      ['starter', 403],
      ['professional', 200],
    ] as const) {
      expect({
        plan,
        status: (await instance.get('/v1/ei/frac-focus/summary', instance.key(plan))).status,
      }).toEqual({ plan, status })
    }
  })
})

describe('/v1/ei/wells/{api_number}/timeline', () => {
  const timeline = (instance: TestInstance) =>
    get<{ data: Body }>(
      instance,
      '/v1/ei/wells/42-329-40001/timeline',
      '/v1/ei/wells/:api_number/timeline',
    )

  test('puts permits, disclosures and the days of the well in order', async () => {
    const instance = filled()
    instance.services.permits.record([permit({ permitOn: '2023-05-01' })], startAt)
    instance.services.wells.put(
      [
        {
          apiNumber: '42329400010000',
          state: 'TX',
          operator: 'X',
          name: 'Y',
          county: null,
          formation: null,
          latitude: null,
          longitude: null,
          permitOn: '2023-05-01',
          spudOn: '2023-09-12',
          completedOn: '2024-02-02',
          firstProductionOn: '2024-03-01',
          source: 'Texas RRC',
        },
      ],
      startAt,
    )
    const { data } = await timeline(instance)
    expect({
      api_number: data.api_number,
      well_name: data.well_name,
      operator: data.operator,
      state: data.state,
    }).toEqual({
      api_number: '42329400010000',
      well_name: 'Bradford 14-23 Unit',
      operator: 'Juniper Ridge Operating, LLC',
      state: 'TX',
    })
    expect(
      (data.events as Body[]).map(event => [
        event.date,
        event.event_type,
        event.type,
        event.source,
      ]),
    ).toEqual([
      ['2023-05-01', 'permit', 'permit', 'Texas RRC'],
      ['2023-09-12', 'spud', 'spud', 'Texas RRC'],
      ['2024-01-20', 'frac_start', 'frac_start', 'registry'],
      ['2024-02-02', 'frac_end', 'frac_end', 'registry'],
      ['2024-02-02', 'completion', 'completion', 'Texas RRC'],
      ['2024-03-01', 'first_production', 'first_production', 'Texas RRC'],
      ['2026-09-28', 'frac_start', 'frac_start', 'registry'],
      ['2026-10-14', 'frac_end', 'frac_end', 'registry'],
    ])
    expect((data.events as Body[])[0]).toMatchObject({
      description: 'Permit 918273 (new drill), approved.',
      metadata: { permit_number: '918273' },
    })
  })

  test('is made of disclosures alone where nothing else is known', async () => {
    const { data } = await timeline(filled())
    expect({ wellName: data.well_name, events: (data.events as Body[]).length }).toEqual({
      wellName: 'BRADFORD 14-23 UNIT 3H',
      events: 4,
    })
  })

  test('the timeline of an unknown well returns 404, and one of an invalid number returns 400', async () => {
    const instance = filled()
    const status = async (number: string) =>
      (await instance.get(`/v1/ei/wells/${number}/timeline`, instance.key())).status
    expect([await status('42-329-49999'), await status('abc')]).toEqual([404, 400])
  })
})
