import { describe, expect, test } from 'bun:test'
import { dayMs, parseInstant } from '../../../../src/lib/time/instant.ts'
import type { Station } from '../../../../src/topics/fuels/dataset/diesel-stations.ts'
import { openTestInstance, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

const monday = parseInstant('2026-11-16T12:00:00Z')!
const filled = (instance: TestInstance = openTestInstance()): TestInstance => {
  instance.record('DIESEL_CA_USD', [4.8, 4.8714], monday, 7 * dayMs)
  instance.record('DIESEL_TX_USD', [3.441], monday, 7 * dayMs)
  instance.record('DIESEL_US_NATIONAL_USD', [3.72], monday, 7 * dayMs)
  return instance
}
const california = {
  state: 'CA',
  price: 4.871,
  currency: 'USD',
  unit: 'gallon',
  granularity: 'state',
  source: 'EIA',
  updated_at: '2026-11-20T15:00:00Z',
  as_of: '2026-11-16',
  formatted: '$4.871',
  cached: false,
}

describe('/v1/diesel-prices', () => {
  test('stand twice, and not as data.price', async () => {
    const instance = filled()
    const body = await json<{ data: Record<string, unknown> }>(
      instance.get('/v1/diesel-prices?state=ca', instance.key('free')),
    )
    expectShape(instance.app, '/v1/diesel-prices', body)
    const metadata = { source_description: 'Published by EIA' }
    expect(body).toEqual({
      status: 'success',
      regional_average: california,
      data: { regional_average: california, metadata },
    } as never)
    expect(body.data).not.toHaveProperty('price')
  })
  test('are of the country where no state is named', async () => {
    const instance = filled()
    for (const path of [
      '/v1/diesel-prices',
      '/v1/diesel-prices?state=',
      '/v1/diesel-prices?state=us',
    ]) {
      const { regional_average: average } = await json<{ regional_average: unknown }>(
        instance.get(path, instance.key()),
      )
      expect(average, path).toMatchObject({ state: 'US', granularity: 'national', price: 3.72 })
    }
  })
  test('the state may be in the path too', async () => {
    const instance = filled()
    const body = await json<{ data: unknown }>(
      instance.get('/v1/diesel-prices/states/CA', instance.key()),
    )
    expectShape(instance.app, '/v1/diesel-prices/states/:state', body)
    expect(body.data).toMatchObject({ regional_average: california })
  })
  test.each([
    ['/v1/diesel-prices?state=ZZ', 'NOT_FOUND'],
    ['/v1/diesel-prices?state=California', 'NOT_FOUND'],
    ['/v1/diesel-prices/states/ZZ', 'NOT_FOUND'],
    ['/v1/diesel-prices/states/NY', 'DATA_NOT_AVAILABLE'],
  ])('%s is answered 404 and %s', async (path, code) => {
    const instance = filled()
    const response = await instance.get(path, instance.key())
    expect({ status: response.status, xErrorCode: response.headers.get('x-error-code') }).toEqual({
      status: 404,
      xErrorCode: code,
    })
  })
})

describe('/v1/diesel-prices/stations', () => {
  const station = (
    reference: string,
    latitude: number,
    longitude: number,
    price: number,
    more: Partial<Station> = {},
  ): Station => ({
    reference,
    name: `Stop ${reference}`,
    address: '1 Road, Houston',
    state: 'TX',
    latitude,
    longitude,
    price,
    fuelTypes: ['diesel', 'def'],
    observedAt: parseInstant('2026-11-20T10:00:00Z')!,
    source: 'card network',
    ...more,
  })
  const houston = { lat: 29.76, lng: -95.37 }
  const path = '/v1/diesel-prices/stations'
  const near = async (instance: TestInstance, body: unknown) => {
    const response = await instance.send(
      'POST',
      path,
      body,
      instance.key('developer', { trial: false }),
    )
    const answer = await json<
      Record<string, never> & {
        stations: Record<string, unknown>[]
        metadata: Record<string, unknown>
      }
    >(response)
    expect(response.status, JSON.stringify(answer)).toBe(200)
    expectShape(instance.app, path, answer)
    return answer
  }

  test('come the nearest first, each against the average of its state', async () => {
    const instance = filled()
    instance.services.stations.write(
      [
        station('far', 29.8, -95.37, 3.6),
        station('near', 29.77, -95.37, 3.419),
        station('away', 30.5, -95.37, 3.2),
      ],
      1,
    )
    const body = await near(instance, { ...houston, radius: 8047 })
    expect(body).toEqual({
      regional_average: {
        price: 3.441,
        currency: 'USD',
        unit: 'gallon',
        region: 'TX',
        granularity: 'state',
        source: 'market_reporting',
      },
      stations: [
        {
          name: 'Stop near',
          address: '1 Road, Houston',
          location: { lat: 29.77, lng: -95.37 },
          diesel_price: 3.419,
          formatted_price: '$3.419',
          currency: 'USD',
          unit: 'gallon',
          price_delta: -0.022,
          price_vs_average: '0.6% below average',
          fuel_types: ['diesel', 'def'],
          last_updated: '2026-11-20T10:00:00Z',
          state: 'TX',
          distance_meters: 1112,
        },
        expect.objectContaining({
          name: 'Stop far',
          price_delta: 0.159,
          price_vs_average: '4.6% above average',
          distance_meters: 4448,
        }),
      ],
      search_area: { center: houston, radius_meters: 8047, radius_miles: 5 },
      metadata: {
        total_stations: 2,
        source: 'card network',
        source_description: 'Published by card network',
        cached: false,
        api_cost: 0,
        timestamp: '2026-11-20T15:00:00Z',
        cache_age_hours: null,
      },
    } as never)
    expect(body).not.toHaveProperty('data')
  })
  test('are at most fifty, and the rest are counted', async () => {
    const instance = filled()
    instance.services.stations.write(
      Array.from({ length: 70 }, (_, i) => station(String(i), 29.76 + i / 10_000, -95.37, 3.5)),
      1,
    )
    const { stations, metadata } = await near(instance, { ...houston, radius: 50_000 })
    expect({
      stations: stations.length,
      totalStations: metadata.total_stations,
      name: stations.at(-1)!.name,
    }).toEqual({ stations: 50, totalStations: 70, name: 'Stop 49' })
  })
  test('have a radius of five miles where none is given', async () => {
    const instance = filled()
    // 8,044 and 8,051 meters to the north.
    instance.services.stations.write(
      [
        station('inside', 29.76 + 0.07234, -95.37, 3.5),
        station('outside', 29.76 + 0.0724, -95.37, 3.5),
      ],
      1,
    )
    for (const body of [houston, { ...houston, radius: null }]) {
      const { stations } = await near(instance, body)
      expect(stations.map(station => station.name)).toEqual(['Stop inside'])
    }
  })
  test('the station list is empty without station data and compares with the national average or nothing', async () => {
    expect(await near(filled(), houston)).toMatchObject({
      stations: [],
      regional_average: { region: 'US', granularity: 'national', price: 3.72 },
      metadata: { total_stations: 0, source: 'none' },
    } as never)
    expect(await near(openTestInstance(), houston)).toMatchObject({
      stations: [],
      regional_average: null,
    } as never)
    const bare = openTestInstance()
    bare.services.stations.write([station('a', 29.76, -95.37, 3.5)], 1)
    expect((await near(bare, houston)).stations[0]).toMatchObject({
      price_delta: null,
      price_vs_average: null,
    })
  })
  test.each([
    [{}, 'lat'],
    [{ lat: 29.76 }, 'lng'],
    [{ lat: 91, lng: 0 }, 'lat'],
    [{ lat: '29.76', lng: 0 }, 'lat'],
    [{ lat: 0, lng: -180.1 }, 'lng'],
    [{ ...houston, radius: 0.5 }, 'radius'],
    [{ ...houston, radius: 50_001 }, 'radius'],
    [{ ...houston, radius: 'far' }, 'radius'],
    [[], 'body'],
  ])('%j is refused for %p', async (body, field) => {
    const instance = openTestInstance()
    const response = await instance.send('POST', path, body, instance.key())
    expect({
      status: response.status,
      field: (await json<{ code: string; field: string }>(response)).field,
    }).toEqual({ status: 422, field })
  })
  test('are for plans with calculated metrics, with the key in the header', async () => {
    const instance = filled()
    expect((await instance.send('POST', path, houston, instance.key('free'))).status).toBe(403)
    expect((await instance.send('POST', `${path}?api_key=${instance.key()}`, houston)).status).toBe(
      401,
    )
  })
  test('of a fixture are marked', async () => {
    const instance = filled()
    instance.services.stations.write([station('a', 29.76, -95.37, 3.5, { source: 'fixture' })], 1)
    const response = await instance.send('POST', path, houston, instance.key())
    expect(response.headers.get('x-service-data')).toBe('fixture')
    expect(
      (await json<{ metadata: { source_description: string } }>(response)).metadata
        .source_description,
    ).toStartWith('Fixture data')
  })
})
