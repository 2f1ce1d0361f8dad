import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, parseDay, secondMs } from '../../../../src/lib/time/instant.ts'
import { shippedPorts } from '../../../../src/topics/catalogue/files/ports.ts'
import { grades, marineCode } from '../../../../src/topics/fuels/math/marine.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

const ports = shippedPorts()
const noon = parseDay('2026-11-19')! + 12 * hourMs

/**
 * Every grade at every port with two closes, and the averages of the ports; each series has
 * different prices.
 */
function filled(instance: TestInstance): TestInstance {
  for (const [i, port] of ports.entries()) {
    for (const [k, grade] of grades.entries())
      instance.record(marineCode(grade, port), [500 + 10 * i + k, 502.5 + 10 * i + k], noon, dayMs)
  }
  for (const [k, grade] of grades.entries())
    instance.record(marineCode(grade, undefined), [400 + k], noon, dayMs)
  return instance
}

interface Row {
  code: string
  port: string | null
  port_code: string | null
  price: number
  created_at: string
  [key: string]: unknown
}
interface Prices {
  data: {
    prices: Row[]
    count: number
    filters: Record<string, string | null>
    updated_at: string
    metadata: { source_description: string }
  }
}
interface Past extends Prices {
  data: Prices['data'] & { period: { from: string; to: string; interval: string } }
  meta: { page: number; per_page: number; total: number; total_pages: number; has_next: boolean }
}
interface Ports {
  data: { ports: Record<string, unknown>[]; count: number; filters: Record<string, unknown> }
}
interface Refusal {
  error: { code: string; parameter?: string; allowed?: string[] } | string
  error_code?: string
  limit?: number
  window_seconds?: number
}

/** Recordings of one moment rise by a millisecond each. */
const recordedAt = expect.stringMatching(/^2026-11-20T15:00:00(\.\d{3})?Z$/)

const latest = async (instance: TestInstance, path: string) => {
  const body = await json<Prices>(instance.get(path, instance.key()))
  expectShape(instance.app, '/v1/prices/marine-fuels/latest', body)
  return body.data
}
const codesOf = async (instance: TestInstance, query: string) =>
  (await latest(instance, `/v1/prices/marine-fuels/latest?${query}`)).prices.map(row => row.code)

describe('/v1/prices/marine-fuels', () => {
  test('are rows of all ports by what they sell, each with its grades in one order', async () => {
    const instance = filled(openTestInstance())
    const { prices, count, filters, updated_at } = await latest(
      instance,
      '/v1/prices/marine-fuels/latest',
    )
    expect(prices.map(row => row.code)).toEqual(
      ports.flatMap(port => grades.map(grade => marineCode(grade, port))),
    )
    expect({ count, filters, updated_at }).toEqual({
      count: 32,
      filters: { port_code: null, fuel_type: null, region: null },
      updated_at: recordedAt,
    })
    expect(prices[4]).toEqual({
      code: 'VLSFO_RTM_USD',
      name: 'Very Low Sulphur Fuel Oil Rotterdam',
      port: 'ROTTERDAM',
      port_code: 'NLRTM',
      port_name: 'Rotterdam',
      country: 'NL',
      region: 'Europe',
      fuel_type: 'VLSFO',
      grade: 'VLSFO',
      grade_name: 'Very Low Sulphur Fuel Oil 0.5% S',
      price: 512.5,
      formatted: '$512.50',
      currency: 'USD',
      unit: 'MT',
      type: 'spot_price',
      source: 'market_reporting',
      created_at: '2026-11-19T12:00:00Z',
      updated_at: recordedAt,
      // 512.5 after 510: 100 x 2.5 / 510
      change_24h: 2.5,
      change_24h_percent: 0.49,
    })
  })

  test('are the same under the short path', async () => {
    const instance = filled(openTestInstance())
    const [long, short] = ['/v1/prices/marine-fuels/latest', '/v1/marine-fuels/latest'].map(
      path => `${path}?port=SIN&grade=MGO`,
    )
    expect(await latest(instance, short!)).toEqual(await latest(instance, long!))
  })

  test('are narrowed to a port by any of its names', async () => {
    const instance = filled(openTestInstance())
    for (const query of [
      'port_code=HKHKG',
      'port=hkg',
      'port=HONG_KONG',
      'port_code=hong%20kong',
      'port_code=&port=HKG',
    ]) {
      expect(await codesOf(instance, query), query).toEqual(grades.map(grade => `${grade}_HKG_USD`))
    }
    expect(
      (await latest(instance, '/v1/prices/marine-fuels/latest?port=hong_kong')).filters.port_code,
    ).toBe('HKHKG')
  })

  test('are narrowed to a grade by any of its names', async () => {
    const instance = filled(openTestInstance())
    for (const query of ['fuel_type=MGO_05S', 'fuel_type=mgo', 'grade=MGO']) {
      expect(await codesOf(instance, query), query).toEqual(
        ports.map(port => `MGO_05S_${port.shortCode}_USD`),
      )
    }
    expect((await codesOf(instance, 'fuel_type=IFO380&port=SIN'))[0]).toBe('HFO_380_SIN_USD')
    expect(
      (await latest(instance, '/v1/prices/marine-fuels/latest?fuel_type=hsfo')).filters.fuel_type,
    ).toBe('HFO_380')
  })

  test('are narrowed to a region or a group of regions', async () => {
    const instance = filled(openTestInstance())
    const portsOf = async (region: string) => [
      ...new Set(
        (await latest(instance, `/v1/prices/marine-fuels?region=${region}`)).prices.map(
          row => row.port,
        ),
      ),
    ]
    expect(await portsOf('Asia')).toEqual(['SINGAPORE', 'ZHOUSHAN', 'HONG_KONG'])
    expect(await portsOf('APAC')).toEqual(['SINGAPORE', 'ZHOUSHAN', 'HONG_KONG'])
    expect(await portsOf('emea')).toEqual(['ROTTERDAM', 'FUJAIRAH', 'GIBRALTAR'])
    expect(await portsOf('AMERICAS')).toEqual(['HOUSTON', 'NEW_YORK'])
    expect(await portsOf('middle%20east')).toEqual(['FUJAIRAH'])
  })

  test('without a path for the ports have the averages too, which belong to no port and no region', async () => {
    const instance = filled(openTestInstance())
    const { prices, count } = await latest(instance, '/v1/prices/marine-fuels')
    expect({ count, length: prices.length }).toEqual({ count: 36, length: 36 })
    expect(
      prices
        .slice(32)
        .map(row => [row.code, row.port, row.port_code, row.country, row.region, row.price]),
    ).toEqual(grades.map((grade, k) => [`${grade}_USD`, null, null, null, null, 400 + k]))
    expect((await latest(instance, '/v1/prices/marine-fuels?port=SIN')).count).toBe(4)
    expect((await latest(instance, '/v1/prices/marine-fuels?region=Asia')).count).toBe(12)
    expect((await latest(instance, '/v1/prices/marine-fuels?fuel_type=VLSFO')).count).toBe(9)
  })

  test('leave out what has no price', async () => {
    const instance = openTestInstance()
    instance.record('VLSFO_SIN_USD', [531], noon, dayMs)
    const { prices } = await latest(instance, '/v1/prices/marine-fuels/latest')
    expect(prices.map(row => [row.code, row.change_24h, row.change_24h_percent])).toEqual([
      ['VLSFO_SIN_USD', null, null],
    ])
  })
})

describe('/v1/marine-ports', () => {
  const portsOf = async (instance: TestInstance, query: string) => {
    const body = await json<Ports>(instance.get(`/v1/marine-ports${query}`, instance.key()))
    expectShape(instance.app, '/v1/marine-ports', body)
    return body.data
  }

  test('are eight, by what they sell', async () => {
    const { ports: listedPorts, count, filters } = await portsOf(openTestInstance(), '')
    expect({ count, filters }).toEqual({
      count: 8,
      filters: { region: null, country: null, major_ports_only: false },
    })
    expect(listedPorts.map(port => port.volume_rank)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(listedPorts[0]).toEqual({
      code: 'SGSIN',
      short_code: 'SIN',
      slug: 'SINGAPORE',
      name: 'Singapore',
      country: 'SG',
      region: 'Asia',
      major_port: true,
      coordinates: { latitude: 1.26, longitude: 103.84 },
      fuel_services: ['VLSFO', 'HFO_380', 'HFO_180', 'MGO_05S'],
      trading_hours: '24/7',
      timezone: 'Asia/Singapore',
      volume_rank: 1,
    })
  })

  test('are narrowed by region, country and size', async () => {
    const instance = openTestInstance()
    const codes = async (query: string) =>
      (await portsOf(instance, query)).ports.map(port => port.code)
    expect(await codes('?region=middle%20east')).toEqual(['AEFJR'])
    expect(await codes('?country=us')).toEqual(['USHOU', 'USNYC'])
    expect(await codes('?country=FR')).toEqual([])
    expect(await codes('?region=Asia&country=SG&major_ports=yes')).toEqual(['SGSIN'])
    expect((await portsOf(instance, '?country=us&major_ports=1&region=americas')).filters).toEqual({
      region: 'Americas',
      country: 'US',
      major_ports_only: true,
    })
  })

  test('with prices have the newest of each grade that there is', async () => {
    const instance = openTestInstance()
    instance.record('VLSFO_SIN_USD', [530, 531.5], noon, dayMs)
    const body = await json<Ports>(
      instance.get('/v1/prices/marine-fuels/ports?region=Asia', instance.key()),
    )
    expectShape(instance.app, '/v1/prices/marine-fuels/ports', body)
    expect(body.data.ports.map(port => [port.code, port.latest])).toEqual([
      [
        'SGSIN',
        {
          VLSFO: { price: 531.5, currency: 'USD', unit: 'MT', updated_at: '2026-11-20T15:00:00Z' },
        },
      ],
      ['CNZOS', {}],
      ['HKHKG', {}],
    ])
    expect(body.data.count).toBe(3)
  })
})

describe('/v1/prices/marine-fuels/historical', () => {
  const past = async (instance: TestInstance, query: string, token = instance.key()) => {
    const body = await json<Past>(
      instance.get(`/v1/prices/marine-fuels/historical?${query}`, token),
    )
    expectShape(instance.app, '/v1/prices/marine-fuels/historical', body)
    return body
  }

  test('is the last 30 days, newest first, in bars of days', async () => {
    const instance = openTestInstance()
    instance.record('VLSFO_SIN_USD', [500, 510, 530, 520], noon, dayMs / 2)
    instance.record('VLSFO_SIN_USD', [999], noon - 40 * dayMs, dayMs)
    const { data, meta } = await past(instance, 'port_code=SGSIN&fuel_type=VLSFO')
    expect(data.prices).toEqual([
      {
        code: 'VLSFO_SIN_USD',
        name: 'Very Low Sulphur Fuel Oil Singapore',
        port: 'SINGAPORE',
        port_code: 'SGSIN',
        port_name: 'Singapore',
        country: 'SG',
        region: 'Asia',
        fuel_type: 'VLSFO',
        grade: 'VLSFO',
        grade_name: 'Very Low Sulphur Fuel Oil 0.5% S',
        price: 520,
        formatted: '$520.00',
        currency: 'USD',
        unit: 'MT',
        type: 'spot_price',
        source: 'market_reporting',
        created_at: '2026-11-19T12:00:00Z',
        updated_at: recordedAt,
        bucket_start: '2026-11-19T00:00:00Z',
        open: 530,
        high: 530,
        low: 520,
        average: 525,
        sample_count: 2,
      },
      expect.objectContaining({
        price: 510,
        open: 500,
        high: 510,
        low: 500,
        average: 505,
        created_at: '2026-11-18T12:00:00Z',
      }),
    ])
    expect(data.period).toEqual({
      from: '2026-10-21T15:00:00Z',
      to: '2026-11-20T15:00:00Z',
      interval: 'day',
    })
    expect(data.filters).toEqual({ port_code: 'SGSIN', fuel_type: 'VLSFO', region: null })
    expect(meta).toEqual({
      page: 1,
      per_page: 100,
      total: 2,
      total_pages: 1,
      has_next: false,
      has_prev: false,
    } as Past['meta'])
  })

  test('of all ports has their rows of one moment in the order of the latest prices', async () => {
    const { data, meta } = await past(
      filled(openTestInstance()),
      'start_date=2026-11-19&end_date=2026-11-19',
    )
    expect(data.prices.map(row => row.code)).toEqual(
      ports.flatMap(port => grades.map(grade => marineCode(grade, port))),
    )
    expect({ total: meta.total, from: data.period.from, to: data.period.to }).toEqual({
      total: 32,
      from: '2026-11-19T00:00:00Z',
      to: '2026-11-19T23:59:59.999Z',
    })
  })

  test('the marine fuel history is returned in the requested interval', async () => {
    const instance = openTestInstance()
    instance.record('VLSFO_SIN_USD', [500, 510, 530, 520], noon, dayMs / 2)
    const token = instance.key()
    const raw = await past(instance, 'port=SIN&interval=raw', token)
    expect(raw.data.prices.map(row => [row.price, row.bucket_start])).toEqual([
      [520, undefined],
      [530, undefined],
      [510, undefined],
      [500, undefined],
    ])
    expect(
      (await past(instance, 'port=SIN&interval=1w', token)).data.prices.map(row => [
        row.price,
        row.open,
        row.sample_count,
      ]),
    ).toEqual([[520, 500, 4]])
    expect((await past(instance, 'port=SIN&interval=monthly', token)).data.period.interval).toBe(
      'month',
    )
  })

  test('comes in pages that neither repeat nor lose a row, also while prices come in', async () => {
    const instance = openTestInstance({ 'limits.marine_historical_per_minute': '1000' })
    for (const [i, port] of ports.entries())
      instance.record(
        marineCode('VLSFO', port),
        Array.from({ length: 9 }, (_, n) => 500 + i + n),
        noon,
        dayMs,
      )
    const token = instance.key()
    const allPrices = (await past(instance, 'fuel_type=VLSFO', token)).data.prices.map(
      row => `${row.code} ${row.created_at}`,
    )
    expect(allPrices).toHaveLength(72)
    const walked: string[] = []
    for (let page = 1; ; page++) {
      const { data, meta } = await past(instance, `fuel_type=VLSFO&per_page=7&page=${page}`, token)
      walked.push(...data.prices.map(row => `${row.code} ${row.created_at}`))
      expect(meta).toMatchObject({ page, per_page: 7, total: 72, total_pages: 11 })
      instance.clock.advance(secondMs)
      instance.record(marineCode('VLSFO', ports[page % 8]), [700], instance.clock.now(), dayMs)
      if (!meta.has_next) break
    }
    expect(walked).toEqual(allPrices)
  })

  test('has its pages in the headers, and an empty list past the end', async () => {
    const instance = filled(openTestInstance())
    const answer = await instance.get(
      '/v1/prices/marine-fuels/historical?per_page=20&page=2',
      instance.key(),
    )
    expect(answer.headers.get('x-total')).toBe('64')
    expect(answer.headers.get('link')).toContain('rel="prev"')
    expect((await past(instance, 'page=99')).data.prices).toEqual([])
    expect((await past(instance, 'per_page=1000')).meta.per_page).toBe(100)
    expect((await past(openTestInstance(), 'port=SIN')).meta.total).toBe(0)
  })
})

describe('/v1/prices/marine-fuels refuses', () => {
  test('is refused before a port is looked for, and a port that there is not is 404', async () => {
    const instance = filled(openTestInstance({ 'limits.marine_historical_per_minute': '1000' }))
    const token = instance.key()
    const prices = '/v1/prices/marine-fuels'
    const past = `${prices}/historical`
    const table: [string, number, string, string?][] = [
      [`${prices}?port=LONDON`, 404, 'NOT_FOUND'],
      [`${prices}/latest?port_code=XXXXX`, 404, 'NOT_FOUND'],
      ['/v1/marine-fuels/latest?port=nowhere', 404, 'NOT_FOUND'],
      [`${past}?port=LONDON`, 404, 'NOT_FOUND'],
      [`${prices}?fuel_type=ULSFO`, 400, 'INVALID_PARAMETER', 'fuel_type'],
      [`${prices}/latest?grade=diesel`, 400, 'INVALID_PARAMETER', 'grade'],
      [`${past}?fuel_type=x&port=LONDON`, 400, 'INVALID_PARAMETER', 'fuel_type'],
      [`${prices}?region=Africa`, 400, 'INVALID_PARAMETER', 'region'],
      [`${prices}/latest?port=SIN&region=Europe`, 404, 'DATA_NOT_AVAILABLE'],
      ['/v1/marine-ports?region=EMEA', 400, 'INVALID_PARAMETER', 'region'],
      ['/v1/marine-ports?country=USA', 400, 'INVALID_PARAMETER', 'country'],
      ['/v1/marine-ports?major_ports=maybe', 400, 'INVALID_PARAMETER', 'major_ports'],
      [`${prices}/ports?region=Atlantis`, 400, 'INVALID_PARAMETER', 'region'],
      [`${past}?interval=yearly`, 400, 'invalid_interval'],
      [`${past}?start_date=2026-11-19&end_date=2026-11-18`, 400, 'INVALID_DATE_RANGE'],
      [`${past}?start_date=soon`, 400, 'INVALID_PARAMETER', 'start_date'],
      [`${past}?page=0`, 400, 'INVALID_PARAMETER', 'page'],
      [`${past}?per_page=ten`, 400, 'INVALID_PARAMETER', 'per_page'],
    ]
    for (const [path, status, code, parameter] of table) {
      const refusal = await instance.get(path, token)
      const body = await json<{ code?: string; error?: { code: string; parameter?: string } }>(
        refusal,
      )
      expect(
        {
          status: refusal.status,
          code: body.error?.code ?? body.code,
          parameter: body.error?.parameter,
        },
        path,
      ).toEqual({ status, code, parameter })
      instance.clock.advance(5 * secondMs)
    }
    const { error } = await json<Refusal>(instance.get('/v1/marine-ports?region=EMEA', token))
    expect(error).toMatchObject({ allowed: ['Asia', 'Europe', 'Americas', 'Middle East'] })
  })

  test('in an empty database is 404 for prices; the ports are there', async () => {
    const instance = openTestInstance()
    const token = instance.key()
    for (const path of [
      '/v1/prices/marine-fuels',
      '/v1/prices/marine-fuels/latest',
      '/v1/marine-fuels/latest',
    ]) {
      const refusal = await instance.get(path, token)
      expect(
        {
          status: refusal.status,
          code: (await json<{ error: { code: string } }>(refusal)).error.code,
        },
        path,
      ).toEqual({ status: 404, code: 'DATA_NOT_AVAILABLE' })
    }
    expect(
      (await json<Ports>(instance.get('/v1/prices/marine-fuels/ports', token))).data.ports.map(
        port => port.latest,
      ),
    ).toEqual(Array(8).fill({}))
  })
})

describe('/v1/prices/marine-fuels and rates', () => {
  const statuses = async (instance: TestInstance, path: string, times: number, token: string) => {
    const statuses: number[] = []
    for (let i = 0; i < times; i++) statuses.push((await instance.get(path, token)).status)
    return statuses
  }

  test('are 30 a minute for all paths together, in a separate window', async () => {
    const instance = filled(openTestInstance())
    const token = instance.key()
    expect(await statuses(instance, '/v1/prices/marine-fuels/latest?port=SIN', 15, token)).toEqual(
      Array(15).fill(200),
    )
    expect(await statuses(instance, '/v1/marine-ports', 10, token)).toEqual(Array(10).fill(200))
    expect(await statuses(instance, '/v1/prices/marine-fuels/ports', 5, token)).toEqual(
      Array(5).fill(200),
    )
    const refused = await instance.get('/v1/marine-fuels/latest', token)
    expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({
      status: 429,
      retryAfter: '60',
    })
    expect(await json<Refusal>(refused)).toMatchObject({
      error_code: 'RATE_LIMIT_EXCEEDED',
      limit: 30,
      window_seconds: 60,
    })
    // The general window has room, other keys have their own, and the minute passes.
    expect((await instance.get('/v1/prices/latest?by_code=VLSFO_SIN_USD', token)).status).toBe(200)
    expect((await instance.get('/v1/marine-ports', instance.key())).status).toBe(200)
    instance.clock.advance(61 * secondMs)
    expect((await instance.get('/v1/marine-ports', token)).status).toBe(200)
  })

  test('are 5 a minute for the past, which takes nothing from the others', async () => {
    const instance = filled(openTestInstance())
    const token = instance.key()
    const path = '/v1/prices/marine-fuels/historical?port=SIN'
    expect(await statuses(instance, path, 6, token)).toEqual([200, 200, 200, 200, 200, 429])
    expect(await json<Refusal>(instance.get(path, token))).toMatchObject({
      error_code: 'RATE_LIMIT_EXCEEDED',
      limit: 5,
      window_seconds: 60,
    })
    expect(await statuses(instance, '/v1/marine-ports', 30, token)).toEqual(Array(30).fill(200))
    instance.clock.advance(61 * secondMs)
    expect((await instance.get(path, token)).status).toBe(200)
  })
})

test('every marine fuel response requires a key, counts a request and reports fixture data', async () => {
  const instance = filled(openTestInstance())
  instance.services.series.markFixture([
    instance.services.catalogue.resolve('VLSFO_SIN_USD', instance.clock.now())!.series.id,
  ])
  instance.services.catalogue.reload()
  const prices = '/v1/prices/marine-fuels'
  const token = instance.key('free')
  for (const path of [
    prices,
    `${prices}/latest`,
    `${prices}/historical`,
    `${prices}/ports`,
    '/v1/marine-fuels/latest',
  ]) {
    expect((await instance.get(path)).status, path).toBe(401)
    expect((await instance.get(path, token)).headers.get('x-service-data'), path).toBe('fixture')
  }
  const answer = await instance.get(`${prices}/latest?port=RTM`, token)
  expect({
    serviceData: answer.headers.get('x-service-data'),
    ratelimitUsed: answer.headers.get('x-ratelimit-used'),
  }).toEqual({ serviceData: null, ratelimitUsed: '6' })
  expect((await json<Prices>(answer)).data.metadata.source_description).toBe(
    'Compiled from market reporting',
  )
})
