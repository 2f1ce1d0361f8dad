import { describe, expect, test } from 'bun:test'
import { dayMs, isoDay, parseDay } from '../../../../src/lib/time/instant.ts'
import type { Surcharge } from '../../../../src/topics/fuels/dataset/surcharges.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

const diesel = 'DIESEL_US_NATIONAL_USD'

const week = (
  carrier: string,
  effectiveOn: string,
  percent: number,
  more: Partial<Surcharge> = {},
): Surcharge => ({
  mode: 'ltl',
  carrier,
  serviceLevel: '',
  carrierName: `${carrier[0]!.toUpperCase()}${carrier.slice(1)} Freight`,
  serviceName: '',
  effectiveOn,
  percent,
  indexCode: diesel,
  indexPrice: 3.718,
  bandMin: 3.7,
  bandMax: 3.75,
  source: `https://${carrier}.example/fuel`,
  retrievedAt: parseDay(effectiveOn)! + 13 * 3_600_000,
  fixture: false,
  ...more,
})
const parcel = (
  carrier: string,
  serviceLevel: string,
  effectiveOn: string,
  percent: number,
  more: Partial<Surcharge> = {},
) =>
  week(carrier, effectiveOn, percent, {
    mode: 'parcel',
    serviceLevel,
    serviceName: serviceLevel.toUpperCase(),
    ...more,
  })

const air = { indexCode: 'JET_FUEL_USD', indexPrice: 2.187, bandMin: 2.16, bandMax: 2.2 }

function filled(instance: TestInstance): TestInstance {
  instance.services.surcharges.write(
    [
      week('alder', '2026-11-11', 25.5),
      week('alder', '2026-11-18', 26),
      week('alder', '2026-11-25', 27),
      // Not read for three weeks.
      week('basin', '2026-10-26', 24.1),
      parcel('harbor', 'ground', '2026-11-16', 18.25),
      parcel('harbor', 'ground', '2026-11-09', 18),
      parcel('harbor', 'express', '2026-11-16', 19.5, air),
      parcel('meridian', 'ground', '2026-11-16', 17.75),
    ],
    1,
  )
  return instance
}

const alder = {
  carrier: 'alder',
  carrier_name: 'Alder Freight',
  mode: 'ltl',
  surcharge_percent: 26,
  effective_date: '2026-11-18',
  doe_diesel_price: 3.718,
  diesel_band: { min: 3.7, max: 3.75 },
  source: 'https://alder.example/fuel',
  retrieved_at: '2026-11-18T13:00:00Z',
}
const metadata = { source_description: "Read from the carriers' published tables" }

interface Answer {
  data: Record<string, unknown> & { surcharges?: Row[]; history?: Row[]; service_levels?: Row[] }
  meta?: { page: number; per_page: number; total: number; total_pages: number; has_next: boolean }
}
type Row = Record<string, unknown>
interface Refusal {
  error: { code: string; parameter?: string; allowed?: string[] }
}

const answered = async (
  instance: TestInstance,
  path: string,
  route: string,
  token = instance.key(),
) => {
  const body = await json<Answer>(instance.get(`/v1/fuel-surcharge${path}`, token))
  expectShape(instance.app, `/v1/fuel-surcharge${route}`, body)
  return body
}

describe('/v1/fuel-surcharge', () => {
  test('are all listed with what they charge now, the delayed one as it was last read', async () => {
    const { data } = await answered(filled(openTestInstance()), '', '')
    expect(data).toEqual({
      surcharges: [
        alder,
        expect.objectContaining({
          carrier: 'basin',
          surcharge_percent: 24.1,
          effective_date: '2026-10-26',
          retrieved_at: '2026-10-26T13:00:00Z',
        }),
      ],
      count: 2,
      updated_at: '2026-11-18T13:00:00Z',
      metadata,
    })
  })

  test('the fuel surcharge of a carrier can be requested by name in any letter case', async () => {
    const instance = filled(openTestInstance())
    for (const name of ['alder', 'ALDER', 'Alder']) {
      expect((await answered(instance, `/${name}/latest`, '/:carrier/latest')).data, name).toEqual({
        ...alder,
        metadata,
      })
    }
  })

  test('charge the next week from the day that it takes effect', async () => {
    const instance = filled(openTestInstance())
    instance.clock.set(parseDay('2026-11-25')! - 1)
    expect(
      (await answered(instance, '/alder/latest', '/:carrier/latest')).data.surcharge_percent,
    ).toBe(26)
    instance.clock.set(parseDay('2026-11-25')!)
    expect(
      (await answered(instance, '/alder/latest', '/:carrier/latest')).data.surcharge_percent,
    ).toBe(27)
  })

  test('have a past, newest first, without weeks that are only announced', async () => {
    const { data, meta } = await answered(
      filled(openTestInstance()),
      '/Alder/history',
      '/:carrier/history',
    )
    expect(data.history).toEqual([
      alder,
      expect.objectContaining({ effective_date: '2026-11-11', surcharge_percent: 25.5 }),
    ])
    expect(data.metadata).toEqual(metadata)
    expect(meta).toEqual({
      page: 1,
      per_page: 100,
      total: 2,
      total_pages: 1,
      has_next: false,
      has_prev: false,
    } as Answer['meta'])
  })

  test('have about two years on a page, and three years on two', async () => {
    const instance = openTestInstance()
    const weeks = Array.from({ length: 160 }, (_, i) =>
      week('alder', isoDay(parseDay('2026-11-18')! - i * 7 * dayMs), 20 + (i % 10)),
    )
    instance.services.surcharges.write(weeks, 1)
    const token = instance.key()
    const page = async (query: string) =>
      await answered(instance, `/alder/history${query}`, '/:carrier/history', token)
    const [first, second, third] = [await page(''), await page('?page=2'), await page('?page=3')]
    expect(first.meta).toMatchObject({ per_page: 100, total: 160, total_pages: 2, has_next: true })
    const days = [...first.data.history!, ...second.data.history!].map(row => row.effective_date)
    expect(days).toEqual(weeks.map(week => week.effectiveOn))
    expect(third.data.history).toEqual([])
    expect((await page('?per_page=500')).meta!.per_page).toBe(100)
    expect((await page('?per_page=60&page=3')).data.history).toHaveLength(40)
    expect(
      (await instance.get('/v1/fuel-surcharge/alder/history?page=2', token)).headers.get(
        'x-total-pages',
      ),
    ).toBe('2')
  })
})

describe('/v1/fuel-surcharge/parcel', () => {
  const express = {
    carrier: 'harbor',
    carrier_name: 'Harbor Freight',
    mode: 'parcel',
    service_level: 'express',
    service_name: 'EXPRESS',
    surcharge_percent: 19.5,
    effective_date: '2026-11-16',
    index_name: 'Jet Fuel',
    index_price: 2.187,
    index_unit: 'USD/gallon',
    index_band: { min: 2.16, max: 2.2 },
    doe_diesel_price: null,
    source: 'https://harbor.example/fuel',
    retrieved_at: '2026-11-16T13:00:00Z',
  }
  const ground = {
    ...express,
    service_level: 'ground',
    service_name: 'GROUND',
    surcharge_percent: 18.25,
    index_name: 'US Retail Diesel',
    index_price: 3.718,
    index_band: { min: 3.7, max: 3.75 },
    doe_diesel_price: 3.718,
  }

  test('are all listed by carrier and service level', async () => {
    const { data } = await answered(filled(openTestInstance()), '/parcel', '/parcel')
    expect(data.surcharges!.slice(0, 2)).toEqual([express, ground])
    expect(data.surcharges![2]).toMatchObject({
      carrier: 'meridian',
      service_level: 'ground',
      surcharge_percent: 17.75,
    })
    expect({ count: data.count, updated_at: data.updated_at }).toEqual({
      count: 3,
      updated_at: '2026-11-16T13:00:00Z',
    })
  })

  test('are narrowed to a service level', async () => {
    const instance = filled(openTestInstance())
    const levels = async (path: string, route: string) => {
      const { data } = await answered(instance, path, route)
      return (data.surcharges ?? data.service_levels ?? data.history)!.map(
        row => `${row.carrier} ${row.service_level} ${row.effective_date}`,
      )
    }
    expect(await levels('/parcel?service_level=GROUND', '/parcel')).toEqual([
      'harbor ground 2026-11-16',
      'meridian ground 2026-11-16',
    ])
    expect(
      await levels('/parcel/harbor/latest?service_level=express', '/parcel/:carrier/latest'),
    ).toEqual(['harbor express 2026-11-16'])
    expect(
      await levels('/parcel/harbor/history?service_level=ground', '/parcel/:carrier/history'),
    ).toEqual(['harbor ground 2026-11-16', 'harbor ground 2026-11-09'])
    expect(
      await levels('/parcel/meridian/history?service_level=express', '/parcel/:carrier/history'),
    ).toEqual([])
  })

  test('the parcel surcharge of a carrier can be requested by name and includes all its service levels', async () => {
    const { data } = await answered(
      filled(openTestInstance()),
      '/parcel/Harbor/latest',
      '/parcel/:carrier/latest',
    )
    expect(data).toEqual({
      carrier: 'harbor',
      carrier_name: 'Harbor Freight',
      service_levels: [express, ground],
      metadata,
    })
  })

  test('have a past, newest first, then by service level', async () => {
    const { data, meta } = await answered(
      filled(openTestInstance()),
      '/parcel/harbor/history?per_page=2',
      '/parcel/:carrier/history',
    )
    expect(data).toEqual({
      carrier: 'harbor',
      carrier_name: 'Harbor Freight',
      history: [express, ground],
      metadata,
    })
    expect(meta).toMatchObject({ total: 3, total_pages: 2, has_next: true })
  })
})

describe('/v1/fuel-surcharge refuses', () => {
  test('is refused: a page, a service level, a carrier', async () => {
    const instance = filled(openTestInstance())
    const token = instance.key()
    const table: [string, number, string, string?][] = [
      ['/nobody/latest', 404, 'NOT_FOUND'],
      ['/nobody/history', 404, 'NOT_FOUND'],
      // A parcel carrier has no table for freight, nor the other way round.
      ['/harbor/latest', 404, 'NOT_FOUND'],
      ['/parcel/alder/latest', 404, 'NOT_FOUND'],
      ['/parcel/nobody/history', 404, 'NOT_FOUND'],
      ['/parcel/latest', 404, 'NOT_FOUND'],
      ['/%20/latest', 404, 'NOT_FOUND'],
      ['/parcel/meridian/latest?service_level=express', 404, 'DATA_NOT_AVAILABLE'],
      ['/parcel?service_level=drone', 400, 'INVALID_PARAMETER', 'service_level'],
      ['/parcel/nobody/latest?service_level=drone', 400, 'INVALID_PARAMETER', 'service_level'],
      ['/alder/history?page=0', 400, 'INVALID_PARAMETER', 'page'],
      ['/alder/history?per_page=0', 400, 'INVALID_PARAMETER', 'per_page'],
      ['/nobody/history?page=x', 400, 'INVALID_PARAMETER', 'page'],
      ['/parcel/harbor/history?per_page=1.5', 400, 'INVALID_PARAMETER', 'per_page'],
    ]
    for (const [path, status, code, parameter] of table) {
      const refusal = await instance.get(`/v1/fuel-surcharge${path}`, token)
      const { error } = await json<Refusal>(refusal)
      expect(
        { status: refusal.status, code: error.code, parameter: error.parameter },
        path,
      ).toEqual({ status, code, parameter })
    }
    const { error } = await json<Refusal>(
      instance.get('/v1/fuel-surcharge/parcel?service_level=drone', token),
    )
    expect(error.allowed).toEqual(['express', 'ground'])
  })

  test('in an empty database is 404', async () => {
    const instance = openTestInstance()
    const token = instance.key()
    for (const [path, code] of [
      ['', 'DATA_NOT_AVAILABLE'],
      ['/parcel', 'DATA_NOT_AVAILABLE'],
      ['/parcel?service_level=ground', 'DATA_NOT_AVAILABLE'],
      ['/alder/latest', 'NOT_FOUND'],
      ['/alder/history', 'NOT_FOUND'],
    ]) {
      const refusal = await instance.get(`/v1/fuel-surcharge${path}`, token)
      expect(
        { status: refusal.status, code: (await json<Refusal>(refusal)).error.code },
        path,
      ).toEqual({ status: 404, code: code! })
    }
  })

  test('of a carrier whose first week is only announced is 404, its past empty', async () => {
    const instance = openTestInstance()
    instance.services.surcharges.write([week('alder', '2026-11-25', 27)], 1)
    expect(
      (await json<Refusal>(instance.get('/v1/fuel-surcharge/alder/latest', instance.key()))).error
        .code,
    ).toBe('DATA_NOT_AVAILABLE')
    expect((await answered(instance, '/alder/history', '/:carrier/history')).meta!.total).toBe(0)
  })
})

test('every fuel surcharge request accepts a key of any plan, counts and reports fixture data', async () => {
  const instance = filled(openTestInstance())
  instance.services.surcharges.write([week('cordell', '2026-11-19', 23, { fixture: true })], 1)
  const token = instance.key('free')
  const paths = [
    '',
    '/alder/latest',
    '/alder/history',
    '/parcel',
    '/parcel/harbor/latest',
    '/parcel/harbor/history',
  ]
  expect((await instance.get('/v1/fuel-surcharge')).status).toBe(401)
  for (const [i, path] of paths.entries()) {
    const answer = await instance.get(`/v1/fuel-surcharge${path}`, token)
    expect(
      { status: answer.status, ratelimitUsed: answer.headers.get('x-ratelimit-used') },
      path,
    ).toEqual({ status: 200, ratelimitUsed: String(i + 1) })
    expect(answer.headers.get('x-service-data'), path).toBe(path === '' ? 'fixture' : null)
  }
  const { data } = await answered(instance, '/cordell/latest', '/:carrier/latest')
  expect((data.metadata as { source_description: string }).source_description).toStartWith(
    'Fixture data',
  )
})
