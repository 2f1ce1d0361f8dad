import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, parseDay } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'
import {
  type EnergyAnswer,
  expectAlias,
  expectEntitled,
  expectWholePages,
} from '../../../support/topics/energy-intelligence.ts'

const wednesday = parseDay('2026-11-18')! + 12 * hourMs
const friday = parseDay('2026-11-20')! + 12 * hourMs
const week = 7 * dayMs

interface Record {
  id: string
  product: string
  location: string
  code: string
  level: number
  volume: number
  unit: string
  change: number | null
  date: string
}
type One = EnergyAnswer<Record>
type List = EnergyAnswer<Record[]>

/** Three weeks of five stocks, the reserve two days after the others. */
function filled(instance: TestInstance = openTestInstance()): TestInstance {
  instance.record('CUSHING_STORAGE', [26.1, 25.425, 24.604], wednesday, week)
  instance.record('US_CRUDE_STORAGE', [421, 420, 424.2], wednesday, week)
  instance.record('US_TOTAL_PETROLEUM_STORAGE', [1270, 1275, 1278], wednesday, week)
  instance.record('US_GASOLINE_STORAGE', [205, 206, 207.4], wednesday, week)
  instance.record('US_DISTILLATE_STORAGE', [110, 111, 111.5], wednesday, week)
  instance.record('SPR_STORAGE', [410, 409.5, 409.8], friday, week)
  return instance
}
const list = async (instance: TestInstance, query = ''): Promise<Record[]> =>
  (await json<List>(instance.get(`/v1/ei/oil_inventories?per_page=100${query}`, instance.key())))
    .data
const idsOf = (rows: readonly Record[]) =>
  new Map(rows.map(row => [`${row.code} ${row.date}`, row.id]))

describe('/v1/ei/oil_inventories/{id}', () => {
  /** Two weeks of two stocks, written in one transaction. */
  function together(): TestInstance {
    const instance = openTestInstance()
    const idOf = (code: string) => instance.services.catalogue.named(code)!.id
    instance.services.ingest.write([
      { seriesId: idOf('US_GASOLINE_STORAGE'), observedAt: wednesday, value: 207.4 },
      { seriesId: idOf('US_CRUDE_STORAGE'), observedAt: wednesday - week, value: 420 },
      { seriesId: idOf('US_GASOLINE_STORAGE'), observedAt: wednesday - week, value: 206 },
      { seriesId: idOf('US_CRUDE_STORAGE'), observedAt: wednesday, value: 424.2 },
    ])
    return instance
  }

  test('run from 1 in the order of the days, crude oil first within a day', async () => {
    const rows = await list(together())
    expect(rows.map(row => [row.id, row.code, row.date])).toEqual([
      ['3', 'US_CRUDE_STORAGE', '2026-11-18'],
      ['4', 'US_GASOLINE_STORAGE', '2026-11-18'],
      ['1', 'US_CRUDE_STORAGE', '2026-11-11'],
      ['2', 'US_GASOLINE_STORAGE', '2026-11-11'],
    ])
  })

  test('stay when weeks are added behind or before them: what comes later gets the next ones', async () => {
    const instance = together()
    const before = idsOf(await list(instance))
    instance.record('US_CRUDE_STORAGE', [430], wednesday + week, week)
    instance.record('US_CRUDE_STORAGE', [400, 405], wednesday - 2 * week, week)
    instance.record('CUSHING_STORAGE', [25], wednesday, week)
    const after = idsOf(await list(instance))
    for (const [name, id] of before) expect(after.get(name), name).toBe(id)
    expect(after.get('US_CRUDE_STORAGE 2026-11-25')).toBe('5')
    expect([
      after.get('US_CRUDE_STORAGE 2026-10-28'),
      after.get('US_CRUDE_STORAGE 2026-11-04'),
    ]).toEqual(['6', '7'])
    expect(after.get('CUSHING_STORAGE 2026-11-18')).toBe('8')
  })

  test('stay when a level is corrected, and lead to the corrected one', async () => {
    const instance = together()
    instance.record('US_CRUDE_STORAGE', [424.9], wednesday, week)
    const { data } = await json<One>(instance.get('/v1/ei/oil_inventories/3', instance.key()))
    expect(data).toMatchObject({ id: '3', level: 424.9, change: 4.9, date: '2026-11-18' })
    expect((await list(instance)).length).toBe(4)
  })

  test('of quarantined days are not answered and come back with them', async () => {
    const instance = together()
    const seriesId = instance.services.catalogue.named('US_CRUDE_STORAGE')!.id
    const range = instance.services.quarantine.add({
      seriesId,
      fromOn: '2026-11-11',
      toOn: '2026-11-11',
      reason: 'wrong',
      createdAt: 1,
    })
    const rows = await list(instance)
    expect(rows.map(row => row.id)).toEqual(['3', '4', '2'])
    expect(rows[0]!.change).toBeNull()
    expect((await instance.get('/v1/ei/oil_inventories/1', instance.key())).status).toBe(404)
    instance.services.quarantine.remove(range.id)
    expect((await list(instance)).map(item => item.id)).toEqual(['3', '4', '1', '2'])
  })

  test('are found as plain decimals only', async () => {
    const instance = together()
    for (const id of ['0', '5', '01', '1.0', '-1', 'one', '9'.repeat(30)]) {
      const response = await instance.get(`/v1/ei/oil_inventories/${id}`, instance.key())
      expect({ id, status: response.status }).toEqual({ id, status: 404 })
      expect((await json<{ error: { code: string } }>(response)).error.code).toBe('NOT_FOUND')
    }
  })
})

describe('/v1/ei/oil_inventories', () => {
  test('can be asked for a product, a place and days', async () => {
    const instance = filled()
    expect((await list(instance, '&product=Gasoline')).map(item => item.code)).toEqual(
      Array(3).fill('US_GASOLINE_STORAGE'),
    )
    expect((await list(instance, '&location=cushing')).map(item => item.date)).toEqual([
      '2026-11-18',
      '2026-11-11',
      '2026-11-04',
    ])
    expect((await list(instance, '&start_date=2026-11-11&end_date=2026-11-13')).length).toBe(6)
    expect(await list(instance, '&end_date=2020-01-01')).toEqual([])
  })

  test('is whole in pages of any size', async () => {
    const instance = filled(openTestInstance({ 'limits.per_minute': '100000' }))
    await expectWholePages(
      instance,
      instance.key(),
      '/v1/ei/oil_inventories',
      body => body.data as unknown[],
    )
  })

  test('carries the headers of its pages', async () => {
    const instance = filled()
    const response = await instance.get('/v1/ei/oil_inventories?per_page=5&page=2', instance.key())
    expect(
      ['x-total', 'x-total-pages', 'x-page', 'x-has-next'].map(name => response.headers.get(name)),
    ).toEqual(['18', '4', '2', 'true'])
    expect(response.headers.get('link')).toContain('rel="prev"')
    expect((await json<List>(response)).meta).toMatchObject({
      page: 2,
      per_page: 5,
      total_count: 18,
      total_pages: 4,
    })
  })

  for (const [query, parameter] of [
    ['product=coal', 'product'],
    ['location=PADD6', 'location'],
    ['per_page=0', 'per_page'],
    ['start_date=soon', 'start_date'],
  ] as const) {
    test(`the list of oil inventories refuses ${query}`, async () => {
      const instance = filled()
      const response = await instance.get(`/v1/ei/oil_inventories?${query}`, instance.key())
      const { error } = await json<{ error: { code: string; parameter: string } }>(response)
      expect({ status: response.status, code: error.code, parameter: error.parameter }).toEqual({
        status: 400,
        code: 'INVALID_PARAMETER',
        parameter,
      })
    })
  }

  test('refuses a range that ends before it starts', async () => {
    const instance = filled()
    const response = await instance.get(
      '/v1/ei/oil_inventories?start_date=2026-11-20&end_date=2026-11-01',
      instance.key(),
    )
    expect((await json<{ error: { code: string } }>(response)).error.code).toBe(
      'INVALID_DATE_RANGE',
    )
  })
})

describe('/v1/ei/oil_inventories/latest and summary', () => {
  test('are those of US crude oil and of each product', async () => {
    const instance = filled()
    const body = await json<EnergyAnswer<Record & { products: Record[] }>>(
      instance.get('/v1/ei/oil_inventories/latest', instance.key()),
    )
    expectShape(instance.app, '/v1/ei/oil_inventories/latest', body)
    expect(body.data).toMatchObject({
      code: 'US_CRUDE_STORAGE',
      level: 424.2,
      volume: 424.2,
      change: 4.2,
      date: '2026-11-18',
      unit: 'million_barrels',
    })
    expect(body.data.products.map(product => product.product)).toEqual([
      'crude_oil',
      'gasoline',
      'distillate',
      'total_petroleum',
    ])
  })

  test('come to a summary in which products are all petroleum less crude oil', async () => {
    const instance = filled()
    const body = await json<EnergyAnswer<unknown>>(
      instance.get('/v1/ei/oil_inventories/summary', instance.key()),
    )
    expect(body.data).toEqual({
      total_crude: 424.2,
      cushing: 24.604,
      spr: 409.8,
      total_products: 853.8,
      gasoline: 207.4,
      distillate: 111.5,
      unit: 'million_barrels',
      as_of_date: '2026-11-18',
    })
    expect(body.meta).toEqual({
      page: 1,
      per_page: 1,
      total_count: 1,
      total_pages: 1,
      ...({ api_version: 'v1', tier_required: 'Reservoir Mastery', cache_ttl: 3600 } as object),
    } as never)
  })

  test('are not summed up while one of them is missing: it is named', async () => {
    const instance = openTestInstance()
    instance.record('US_CRUDE_STORAGE', [424.2], wednesday, week)
    const response = await instance.get('/v1/ei/oil_inventories/summary', instance.key())
    expect(response.status).toBe(404)
    expect((await json<{ error: unknown }>(response)).error).toMatchObject({
      code: 'DATA_NOT_AVAILABLE',
      leg: 'CUSHING_STORAGE',
    })
  })

  test('at Cushing are what the storage endpoint answers', async () => {
    const instance = filled()
    const seriesId = instance.services.catalogue.named('CUSHING_STORAGE')!.id
    instance.services.storageCapacities.write(
      [{ seriesId, effectiveOn: '2024-03-01', capacity: 78.41, source: 'EIA' }],
      1,
    )
    const token = instance.key()
    const body = await json<
      EnergyAnswer<
        Record & { latest: Record; capacity_percent: number; history: Record[]; weeks: number }
      >
    >(instance.get('/v1/ei/oil_inventories/cushing?weeks=2', token))
    const storage = (
      await json<{
        data: {
          value: number
          change: { week: number }
          utilization_percent: number
          as_of: string
        }
      }>(instance.get('/v1/storage/cushing', token))
    ).data
    expect(body.data).toMatchObject({ level: 24.604, change: -0.821, date: '2026-11-18', weeks: 2 })
    expect(body.data.latest).toEqual({
      volume: 24.604,
      unit: 'million_barrels',
      date: '2026-11-18',
      change: -0.821,
    } as never)
    expect([body.data.level, body.data.change, body.data.capacity_percent, body.data.date]).toEqual(
      [storage.value, storage.change.week, storage.utilization_percent, storage.as_of] as never,
    )
    expect(body.data.history).toEqual([
      { date: '2026-11-18', volume: 24.604, change: -0.821 },
      { date: '2026-11-11', volume: 25.425, change: -0.675 },
    ] as never)
  })

  for (const weeks of ['0', '521', 'twelve', '1e2']) {
    test(`at Cushing are not answered for ${weeks} weeks`, async () => {
      const instance = filled()
      expect(
        (await instance.get(`/v1/ei/oil_inventories/cushing?weeks=${weeks}`, instance.key()))
          .status,
      ).toBe(400)
    })
  }

  test('of the past are of one product, crude oil unless asked', async () => {
    const instance = filled()
    const of = async (query: string) =>
      (await json<List>(instance.get(`/v1/ei/oil_inventories/historical${query}`, instance.key())))
        .data
    expect((await of('')).map(record => record.level)).toEqual([424.2, 420, 421])
    expect(
      (await of('?product=distillate&start_date=2026-11-10')).map(record => [
        record.date,
        record.level,
        record.change,
      ]),
    ).toEqual([
      ['2026-11-18', 111.5, 0.5],
      ['2026-11-11', 111, 1],
    ])
  })
})

describe('/v1/ei/oil_inventories and plans', () => {
  test('is for the plans that have energy intelligence', () =>
    expectEntitled(filled(), '/v1/ei/oil_inventories/latest'))

  test('names the lowest plan that has it in every answer, as the plans in force have it', async () => {
    const instance = filled(openTestInstance({ plans: 'unlimited' }))
    const { meta } = await json<List>(instance.get('/v1/ei/oil_inventories', instance.key('free')))
    expect(meta.tier_required).toBe('Free')
  })

  test('the older prefix answers the same', async () => {
    const instance = filled()
    const rest = [
      '',
      '/1',
      '/latest',
      '/summary',
      '/by_product',
      '/historical?product=gasoline',
      '/cushing?weeks=1',
      '?product=coal',
      '/99',
    ]
    await expectAlias(
      instance,
      instance.key(),
      rest.map(path => `/v1/ei/oil_inventories${path}`),
    )
  })
})
