import { beforeAll, describe, expect, test } from 'bun:test'
import { dayMs, hourMs, parseDay } from '../../../../src/lib/time/instant.ts'
import { shippedPorts } from '../../../../src/topics/catalogue/files/ports.ts'
import {
  type Grade,
  grades,
  marineCode,
  type Port,
} from '../../../../src/topics/fuels/math/marine.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

const ports = shippedPorts()
const noon = parseDay('2026-11-19')! + 12 * hourMs
const generous = {
  'limits.marine_per_minute': '100000',
  'limits.marine_historical_per_minute': '100000',
  'limits.per_minute': '100000',
}

/** Two closes of every grade at every port; each series has different prices. */
function filled(
  instance: TestInstance,
  skip: (port: Port, grade: Grade) => boolean = () => false,
): TestInstance {
  for (const [i, port] of ports.entries()) {
    for (const [k, grade] of grades.entries()) {
      if (!skip(port, grade))
        instance.record(
          marineCode(grade, port),
          [500 + 20 * i + 30 * k, 502.5 + 20 * i + 30 * k],
          noon,
          dayMs,
        )
    }
  }
  return instance
}

let instance: TestInstance
let token: string
beforeAll(() => {
  instance = filled(openTestInstance(generous))
  token = instance.key('free')
})
const shapeOf: Record<string, string> = {
  '/v1/bunker-fuels/ports/': '/v1/bunker-fuels/ports/:code',
  '/v1/bunker-fuels/historical/': '/v1/bunker-fuels/historical/:port',
}
const route = (path: string) => {
  const plain = path.split('?')[0]!
  return Object.entries(shapeOf).find(([start]) => plain.startsWith(start))?.[1] ?? plain
}
const read = async <T>(path: string, from = instance, key = token): Promise<T> => {
  const response = await from.get(path, key)
  expect(response.status, path).toBe(200)
  const body = await json<T>(response)
  expectShape(from.app, route(path), body)
  expect(body).not.toHaveProperty('status')
  return body
}
const meta = {
  request_id: expect.any(String),
  timestamp: '2026-11-20T15:00:00Z',
  cache_ttl: 300,
  data_source: 'market_reporting',
  source_description: 'Compiled from market reporting',
  currency: 'USD',
  unit: 'metric_ton',
}
const singapore = {
  code: 'SIN',
  name: 'Singapore',
  country: 'SG',
  timezone: 'Asia/Singapore',
  volume_rank: 1,
}
const vlsfo = {
  grade: 'VLSFO',
  grade_name: 'Very Low Sulphur Fuel Oil 0.5% S',
  code: 'VLSFO_SIN',
  price: 502.5,
  currency: 'USD',
  unit: 'MT',
  change_24h: 2.5,
  change_pct_24h: 0.5,
  supplier_count: null,
  availability: null,
  last_updated: '2026-11-19T12:00:00Z',
}

describe('/v1/bunker-fuels', () => {
  test('are one list of all ports and grades', async () => {
    const body = await read<{ data: { port: string; grade: string }[]; meta: unknown }>(
      '/v1/bunker-fuels',
    )
    expect(body.data.map(row => [row.port, row.grade])).toEqual(
      ports.flatMap(port => grades.map(grade => [port.slug, grade])),
    )
    expect(body.data[0]).toEqual({
      port: 'SINGAPORE',
      port_code: 'SIN',
      port_name: 'Singapore',
      grade: 'VLSFO',
      price: 502.5,
      currency: 'USD',
      unit: 'MT',
      last_updated: '2026-11-19T12:00:00Z',
    } as never)
    expect(body.meta).toEqual({ ...meta, port_count: 8 })
  })
  test('carry the request id of their answer', async () => {
    const response = await instance.get('/v1/bunker-fuels', token, {
      'x-request-id': 'of-the-client',
    })
    expect(response.headers.get('x-request-id')).toBe('of-the-client')
    expect((await json<{ meta: { request_id: string } }>(response)).meta.request_id).toBe(
      'of-the-client',
    )
    const own = await instance.get('/v1/bunker-fuels', token)
    const id = own.headers.get('x-request-id')!
    expect((await json<{ meta: { request_id: string } }>(own)).meta.request_id).toBe(id)
  })
  test('the list of all bunker prices has them by port', async () => {
    const { data } = await read<{ data: { ports: Record<string, unknown>; metadata: unknown } }>(
      '/v1/bunker-fuels/all',
    )
    expect(Object.keys(data.ports)).toEqual(ports.map(port => port.shortCode))
    expect(data.ports.SIN).toEqual({ port: singapore, prices: expect.arrayContaining([vlsfo]) })
    expect(data.metadata).toEqual({ ...meta, port_count: 8 })
  })
  test.each(['SIN', 'sgsin', 'singapore', 'Singapore'])(
    'the bunker fuels of the port %s are compared with those of every other port',
    async name => {
      const { data } = await read<{
        data: Record<string, unknown> & { spreads: Record<string, unknown> }
      }>(`/v1/bunker-fuels/ports/${name}`)
      expect(data).toMatchObject({
        port: singapore,
        vlsfo,
        mgo: { code: 'MGO_05S_SIN', price: 592.5 },
        ifo380: { code: 'HFO_380_SIN', price: 532.5 },
      })
      expect(Object.keys(data.spreads)).toEqual([
        ...ports.slice(1).map(port => `to_${port.shortCode.toLowerCase()}`),
        'vlsfo_hsfo_spread',
      ])
      // 502.5 at Singapore less 522.5 at Rotterdam, of 522.5.
      expect(data.spreads.to_rtm).toMatchObject({
        VLSFO: { value: -20, percentage: -3.83 },
        MGO_05S: { value: -20, percentage: -3.27 },
      })
      // 502.5 less 532.5, thirty tons a day.
      expect(data.spreads.vlsfo_hsfo_spread).toEqual({
        value: -30,
        percentage: -5.63,
        scrubber_benefit_daily: -900,
      })
    },
  )
  test('are compared by pairs in the order asked', async () => {
    const { data } = await read<{
      data: {
        comparison: Record<string, unknown>
        spreads: Record<string, Record<string, unknown>>
      }
    }>('/v1/bunker-fuels/compare?ports=RTM,%20Singapore,rotterdam,USHOU')
    expect(Object.keys(data.comparison)).toEqual(['RTM', 'SIN', 'HOU'])
    expect(Object.keys(data.spreads)).toEqual(['RTM_SIN', 'RTM_HOU', 'SIN_HOU'])
    expect(data.spreads.RTM_SIN).toEqual({
      VLSFO: { value: 20, percentage: 3.98 },
      HFO_380: { value: 20, percentage: 3.76 },
      HFO_180: { value: 20, percentage: 3.56 },
      MGO_05S: { value: 20, percentage: 3.38 },
    })
  })
  test('have spreads between grades at each port, and their mean', async () => {
    const { data } = await read<{
      data: {
        vlsfo_mgo: Record<string, number>
        vlsfo_ifo380: Record<string, number>
        averages: unknown
      }
    }>('/v1/bunker-fuels/spreads')
    expect(data.vlsfo_mgo).toEqual(Object.fromEntries(ports.map(port => [port.shortCode, -90])))
    expect(data.vlsfo_ifo380.NYC).toBe(-30)
    expect(data.averages).toEqual({ vlsfo_mgo: -90, vlsfo_ifo380: -30 })
  })
  test('have a spread between two ports, of one grade or of all', async () => {
    const grade = await read<{ data: unknown }>(
      '/v1/bunker-fuels/spreads/ports?from=NYC&to=SIN&grade=mgo',
    )
    expect(grade.data).toEqual({
      from_port: 'NYC',
      to_port: 'SIN',
      fuel_grade: 'MGO_05S',
      spreads: {
        value: 140,
        percentage: 23.63,
        from_price: 732.5,
        to_price: 592.5,
        arbitrage_opportunity: true,
      },
      metadata: { ...meta, port_count: 2 },
    })
    const all = await read<{ data: { fuel_grade: unknown; spreads: Record<string, unknown> } }>(
      '/v1/bunker-fuels/spreads/ports?from=SIN&to=RTM',
    )
    expect(all.data.fuel_grade).toBeNull()
    expect(Object.keys(all.data.spreads)).toEqual(['vlsfo', 'hfo_380', 'hfo_180', 'mgo_05s'])
    expect(all.data.spreads.vlsfo).toEqual({ value: -20, percentage: -3.83 })
  })
})

describe('/v1/bunker-fuels where prices are missing', () => {
  test('a spread is empty, a port has what it has, and averages count those that there are', async () => {
    const part = filled(
      openTestInstance(generous),
      (port, grade) => port.shortCode === 'RTM' || (port.shortCode === 'SIN' && grade !== 'VLSFO'),
    )
    const key = part.key('free')
    for (const query of [
      'from=SIN&to=RTM&grade=VLSFO',
      'from=SIN&to=RTM',
      'from=SIN&to=HOU&grade=MGO',
    ]) {
      expect(
        (
          await read<{ data: { spreads: unknown } }>(
            `/v1/bunker-fuels/spreads/ports?${query}`,
            part,
            key,
          )
        ).data.spreads,
        query,
      ).toEqual({})
    }
    const { data } = await read<{ data: Record<string, unknown> }>(
      '/v1/bunker-fuels/ports/SIN',
      part,
      key,
    )
    expect(data).toMatchObject({
      vlsfo: { price: 502.5 },
      mgo: null,
      ifo380: null,
      spreads: { vlsfo_hsfo_spread: null },
    })
    expect(data.spreads).not.toHaveProperty('to_rtm')
    const spreads = await read<{ data: { vlsfo_mgo: object } }>(
      '/v1/bunker-fuels/spreads',
      part,
      key,
    )
    expect(Object.keys(spreads.data.vlsfo_mgo)).toEqual(['FJR', 'ZOS', 'HOU', 'HKG', 'GIB', 'NYC'])
    const compared = await read<{ data: { comparison: Record<string, { prices: unknown[] }> } }>(
      '/v1/bunker-fuels/compare?ports=RTM,SIN',
      part,
      key,
    )
    expect({
      RTM: compared.data.comparison.RTM!.prices.length,
      SIN: compared.data.comparison.SIN!.prices.length,
    }).toEqual({ RTM: 0, SIN: 1 })
    expect((await part.get('/v1/bunker-fuels/ports/RTM', key)).status).toBe(404)
  })
  test.each(['', '/all', '/ports/SIN', '/spreads', '/export'])(
    'GET /v1/bunker-fuels%s returns 404 when all prices are missing',
    async path => {
      const empty = openTestInstance()
      const response = await empty.get(`/v1/bunker-fuels${path}`, empty.key())
      expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
        status: 404,
        errorCode: 'DATA_NOT_AVAILABLE',
      })
    },
  )
})

describe('/v1/bunker-fuels/historical', () => {
  test('of a port come newest first with what their buckets were', async () => {
    const { data } = await read<{
      data: Record<string, unknown> & { historical_data: Record<string, unknown>[] }
    }>('/v1/bunker-fuels/historical/sin?fuel_type=vlsfo&from=2026-11-18&to=2026-11-19')
    expect(data.port).toEqual(singapore)
    expect(data.period).toEqual({
      from: '2026-11-18T00:00:00Z',
      to: '2026-11-19T23:59:59.999Z',
      interval: 'day',
    })
    expect(data.historical_data).toEqual([
      {
        timestamp: '2026-11-19T12:00:00Z',
        date: '2026-11-19',
        code: 'VLSFO_SIN',
        price: 502.5,
        average_value: 502.5,
        interval_type: 'day',
        min_value: 502.5,
        max_value: 502.5,
        open_value: 502.5,
        close_value: 502.5,
        sample_count: 1,
      },
      expect.objectContaining({ date: '2026-11-18', price: 500 }),
    ])
    const month = await read<{ data: { historical_data: unknown[] } }>(
      '/v1/bunker-fuels/historical/SIN?interval=1M&grade=VLSFO',
    )
    expect(month.data.historical_data).toEqual([
      expect.objectContaining({
        interval_type: 'month',
        price: 502.5,
        average_value: 501.25,
        min_value: 500,
        max_value: 502.5,
        open_value: 500,
        sample_count: 2,
      }),
    ])
    const raw = await read<{ data: { historical_data: unknown[] } }>(
      '/v1/bunker-fuels/historical/SIN?interval=raw&start_date=2026-11-19',
    )
    expect(raw.data.historical_data).toHaveLength(4)
  })
  test('are a bare list in the form with a query, of one port or of all', async () => {
    const page = await read<{ data: Record<string, unknown>[]; meta: unknown }>(
      '/v1/bunker-fuels/historical?port=Rotterdam&fuel_type=HSFO',
    )
    expect(
      page.data.map(row => [row.port, row.code, row.date, row.price, row.currency, row.unit]),
    ).toEqual([
      ['RTM', 'HFO_380_RTM', '2026-11-19', 552.5, 'USD', 'MT'],
      ['RTM', 'HFO_380_RTM', '2026-11-18', 550, 'USD', 'MT'],
    ])
    expect(page.meta).toMatchObject({ ...meta, interval: 'day' })
    expect((await read<{ data: unknown[] }>('/v1/bunker-fuels/historical')).data).toHaveLength(64)
  })
  test('come in pages that neither repeat nor lose a row', async () => {
    const rows: unknown[] = []
    for (let page = 1; page <= 4; page += 1) {
      const response = await instance.get(
        `/v1/bunker-fuels/historical?per_page=20&page=${page}`,
        token,
      )
      expect(response.headers.get('x-total')).toBe('64')
      expect(response.headers.get('x-has-next')).toBe(String(page < 4))
      rows.push(
        ...(await json<{ data: { code: string; date: string }[] }>(response)).data.map(
          row => `${row.code} ${row.date}`,
        ),
      )
    }
    expect(new Set(rows).size).toBe(64)
  })
})

describe('/v1/bunker-fuels/export', () => {
  const rows = async (query: string) =>
    (await read<{ data: Record<string, unknown>[] }>(`/v1/bunker-fuels/export${query}`)).data
  test('the bunker fuel export returns only rows that match the requested filters', async () => {
    expect(await rows('?format=json&port=SIN&fuel_type=VLSFO')).toEqual([
      {
        timestamp: '2026-11-19T12:00:00Z',
        port_code: 'SIN',
        port_name: 'Singapore',
        fuel_grade: 'VLSFO',
        price_usd_mt: 502.5,
        supplier_count: null,
        availability: null,
      },
    ])
    expect(await rows('')).toHaveLength(32)
    expect(await rows('?region=AMERICAS')).toHaveLength(8)
  })
  const csv =
    'timestamp,port_code,port_name,fuel_grade,price_usd_mt,supplier_count,availability\n2026-11-19T12:00:00Z,SIN,Singapore,VLSFO,502.5,,\n'
  test('is CSV itself only where the client takes it', async () => {
    const path = '/v1/bunker-fuels/export?format=csv&port=SIN&grade=VLSFO'
    const wrapped = await read<{ data: unknown }>(path)
    expect(wrapped.data).toEqual({
      format: 'csv',
      filename: 'bunker-fuels-2026-11-20.csv',
      content: csv,
    })
    for (const [query, accept, disposition] of [
      ['', 'text/csv', null],
      ['&download=1', '*/*', 'attachment; filename="bunker-fuels-2026-11-20.csv"'],
    ] as const) {
      const response = await instance.get(path + query, token, { accept })
      expect({
        contentType: response.headers.get('content-type'),
        contentDisposition: response.headers.get('content-disposition'),
      }).toEqual({ contentType: 'text/csv; charset=utf-8', contentDisposition: disposition })
      expect(await response.text()).toBe(csv)
    }
    const json = await instance.get('/v1/bunker-fuels/export?format=json&download=1', token, {
      accept: 'text/csv',
    })
    expect(json.headers.get('content-type')).toContain('application/json')
  })
})

test.each([
  ['/ports/XXX', 404, 'NOT_FOUND'],
  ['/compare', 400, 'MISSING_PARAMETER'],
  ['/compare?ports=', 400, 'MISSING_PARAMETER'],
  ['/compare?ports=SIN', 400, 'INVALID_PARAMETER'],
  ['/compare?ports=SIN,sgsin', 400, 'INVALID_PARAMETER'],
  ['/compare?ports=SIN,XXX', 404, 'NOT_FOUND'],
  ['/spreads/ports?from=SIN', 400, 'MISSING_PARAMETER'],
  ['/spreads/ports?to=SIN', 400, 'MISSING_PARAMETER'],
  ['/spreads/ports?from=SIN&to=XXX', 404, 'NOT_FOUND'],
  ['/spreads/ports?from=SIN&to=RTM&grade=coal', 400, 'INVALID_PARAMETER'],
  ['/historical/XXX', 404, 'NOT_FOUND'],
  ['/historical?port=XXX', 404, 'NOT_FOUND'],
  ['/historical/SIN?interval=fortnight', 400, 'invalid_interval'],
  ['/historical/SIN?fuel_type=coal', 400, 'INVALID_PARAMETER'],
  ['/historical/SIN?from=yesterday', 400, 'INVALID_PARAMETER'],
  ['/historical/SIN?from=2026-11-19&to=2026-11-18', 400, 'INVALID_DATE_RANGE'],
  ['/historical/SIN?per_page=0', 400, 'INVALID_PARAMETER'],
  ['/export?format=xlsx', 400, 'INVALID_PARAMETER'],
  ['/export?format=xml', 400, 'INVALID_PARAMETER'],
  ['/export?download=maybe', 400, 'INVALID_PARAMETER'],
])('/v1/bunker-fuels%s is refused with %p %s', async (path, status, code) => {
  const response = await instance.get(`/v1/bunker-fuels${path}`, token)
  expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
    status,
    errorCode: code,
  })
})

test('the rate of marine answers holds, and a smaller one for the past', async () => {
  const own = filled(openTestInstance())
  const key = own.key()
  const statuses = async (path: string, times: number) => {
    const statuses: number[] = []
    for (let i = 0; i < times; i += 1) statuses.push((await own.get(path, key)).status)
    return statuses
  }
  expect(await statuses('/v1/bunker-fuels/historical/SIN', 6)).toEqual([
    200, 200, 200, 200, 200, 429,
  ])
  expect(await statuses('/v1/bunker-fuels/historical', 1)).toEqual([429])
  expect(
    (await statuses('/v1/bunker-fuels/ports/SIN', 31)).filter(status => status === 200),
  ).toHaveLength(30)
})

test('fixture prices are marked', async () => {
  const marked = filled(openTestInstance(generous))
  marked.services.series.markFixture(marked.services.catalogue.list().map(item => item.id))
  marked.services.catalogue.reload()
  const response = await marked.get('/v1/bunker-fuels', marked.key())
  expect(response.headers.get('x-service-data')).toBe('fixture')
  expect(
    (await json<{ meta: { source_description: string } }>(response)).meta.source_description,
  ).toStartWith('Fixture data')
})
