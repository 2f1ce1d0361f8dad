import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, parseDay } from '../../../../src/lib/time/instant.ts'
import { shippedPorts } from '../../../../src/topics/catalogue/files/ports.ts'
import { grades, marineCode } from '../../../../src/topics/fuels/math/marine.ts'
import { expectShape } from '../../../support/interface/shape.ts'
import {
  openSourceInstance,
  rowServer,
  type SourceInstance,
} from '../../../support/topics/sources.ts'

interface Row {
  price: number
  currency: string
  unit: string
  fuel_type: string
  port: string
  region: string | null
  source: string
  timestamp: string
}
const path = '/v1/prices/data-connector'
const noon = parseDay('2026-11-19')! + 12 * hourMs
const ports = shippedPorts()

function filled(instance: SourceInstance): SourceInstance {
  for (const [i, port] of ports.entries()) {
    for (const [k, grade] of grades.entries()) {
      instance.record(
        marineCode(grade, port),
        Array.from({ length: 40 }, (_, n) => 500 + 10 * i + k + n / 100),
        noon,
        dayMs,
      )
    }
  }
  return instance
}
const rowsOf = async (instance: SourceInstance, query = '', token?: string) => {
  const { status, data, text } = await instance.ask<{ data: { prices: Row[]; count: number } }>(
    'GET',
    path + query,
    undefined,
    token,
  )
  if (status !== 200) throw new Error(text)
  expectShape(instance.app, path, data)
  expect(Object.keys(data)).toEqual(['data'])
  expect(data.data.count).toBe(data.data.prices.length)
  return data.data.prices
}
const statusOf = async (instance: SourceInstance, query: string) =>
  (await instance.ask('GET', path + query)).status

describe('GET /v1/prices/data-connector while the account has no rows', () => {
  test('the shipped series are answered, the last thirty days, newest first', async () => {
    const instance = filled(openSourceInstance())
    const rows = await rowsOf(instance, '?fuel_type=vlsfo&port=sgsin')
    expect(rows.length).toBe(29)
    expect(rows[0]).toEqual({
      price: 500.39,
      currency: 'USD',
      fuel_type: 'VLSFO',
      port: 'SINGAPORE',
      region: 'APAC',
      unit: 'MT',
      source: 'market_reporting',
      timestamp: '2026-11-19T12:00:00Z',
    } as Row)
    const times = rows.map(row => row.timestamp)
    expect(times).toEqual(times.toSorted().reverse())
  })
  test('with the names that connectors have for grades and regions', async () => {
    const instance = filled(openSourceInstance())
    const names = async (query: string, name: 'fuel_type' | 'port') =>
      [...new Set((await rowsOf(instance, query)).map(row => row[name]))].sort()
    expect(await names('', 'fuel_type')).toEqual(['IFO180', 'IFO380', 'MGO', 'VLSFO'])
    expect(await names('?fuel_type=MGO_05S', 'fuel_type')).toEqual(['MGO'])
    expect(await names('?region=AMERICAS', 'port')).toEqual(['HOUSTON', 'NEW_YORK'])
    expect(await names('?region=emea&fuel_type=IFO380', 'port')).toEqual([
      'FUJAIRAH',
      'GIBRALTAR',
      'ROTTERDAM',
    ])
    expect(await names('?region=EMEA&port=SIN', 'port')).toEqual([])
  })
  test('from a moment on, at most a thousand', async () => {
    const instance = filled(openSourceInstance())
    expect(await rowsOf(instance, '?since=2026-11-19T12:00:00Z')).toHaveLength(32)
    expect(await rowsOf(instance, '?since=2026-11-19T12:00:00.001Z')).toHaveLength(0)
    expect(await rowsOf(instance, '?since=2026-11-18')).toHaveLength(64)
    expect(await rowsOf(instance, '?since=2027-01-01')).toHaveLength(0)
    const all = await rowsOf(instance, '?since=2026-01-01')
    expect({ all: all.length, timestamp: all.at(-1)!.timestamp }).toEqual({
      all: 1000,
      timestamp: '2026-10-19T12:00:00Z',
    })
  })
  test.each([
    ['?fuel_type=coal', 400],
    ['?region=Atlantis', 400],
    ['?since=yesterday', 400],
    ['?port=Algeciras', 404],
  ])('%s is refused', async (query, status) => {
    expect(await statusOf(openSourceInstance(), query)).toBe(status)
  })
  test('the data connector returns no rows for an account without stored rows', async () => {
    expect(await rowsOf(openSourceInstance())).toEqual([])
  })
})

describe('GET /v1/prices/data-connector: rows of the account’s own sources', () => {
  const own = [
    { timestamp: '2026-11-20T09:30:00Z', fuel_type: 'VLSFO', port: 'SIN', price: 531.5 },
    {
      timestamp: '2026-11-19T09:30:00Z',
      fuel_type: 'hsfo',
      port: 'Algeciras',
      price: 450,
      currency: 'EUR',
      region: 'EMEA',
    },
    { timestamp: '2026-11-18T09:30:00Z', fuel_type: 'B24 VLSFO', port: 'Walvis Bay', price: 600 },
  ]
  const set = async () => {
    const server = rowServer(() => Response.json(own))
    const instance = filled(openSourceInstance())
    await instance.make({
      name: 'Terminal feed',
      source_type: 'api',
      scraper_config: { url: server.url },
    })
    await instance.syncAll()
    server.stop()
    return instance
  }
  test('take the place of the shipped ones, for this account and no other', async () => {
    const instance = await set()
    expect(await rowsOf(instance)).toEqual([
      {
        price: 531.5,
        currency: 'USD',
        fuel_type: 'VLSFO',
        port: 'SINGAPORE',
        region: 'APAC',
        unit: 'MT',
        source: 'Terminal feed',
        timestamp: '2026-11-20T09:30:00Z',
      },
      {
        price: 450,
        currency: 'EUR',
        fuel_type: 'IFO380',
        port: 'ALGECIRAS',
        region: 'EMEA',
        unit: 'MT',
        source: 'Terminal feed',
        timestamp: '2026-11-19T09:30:00Z',
      },
      {
        price: 600,
        currency: 'USD',
        fuel_type: 'B24_VLSFO',
        port: 'WALVIS_BAY',
        region: null,
        unit: 'MT',
        source: 'Terminal feed',
        timestamp: '2026-11-18T09:30:00Z',
      },
    ] as Row[])
    const stranger = await rowsOf(instance, '', instance.key())
    expect(stranger.length).toBe(928)
    expect(JSON.stringify(stranger)).not.toContain('Terminal feed')
    const { data } = await instance.ask<{ data: { price: number } }>(
      'GET',
      '/v1/prices/latest?by_code=VLSFO_SIN_USD',
    )
    expect(data.data.price).toBe(500.39)
  })
  test.each([
    ['?fuel_type=VLSFO', 1],
    ['?fuel_type=ifo380', 1],
    ['?fuel_type=b24-vlsfo', 1],
    ['?fuel_type=LNG', 0],
    ['?port=algeciras', 1],
    ['?port=SGSIN', 1],
    ['?port=Nowhere', 0],
    ['?region=APAC', 1],
    ['?region=EMEA&fuel_type=VLSFO', 0],
    ['?since=2026-11-19T09:30:00Z', 2],
    ['?since=2026-11-19T09:30:00.001Z', 1],
  ])('%s finds %p of them', async (query, count) => {
    expect(await rowsOf(await set(), query)).toHaveLength(count)
  })
  test('of several sources come in one order, the newest thousand', async () => {
    const instance = openSourceInstance()
    for (const [offset, name] of [
      [0, 'a'],
      [1, 'b'],
    ] as const) {
      const rows = Array.from({ length: 700 }, (_, i) => ({
        timestamp: (1_700_000_000 + 2 * i + offset) * 1000,
        fuel_type: 'MGO',
        port: 'SIN',
        price: 1 + i,
      }))
      const server = rowServer(() => Response.json(rows))
      await instance.make({ name, source_type: 'api', scraper_config: { url: server.url } })
      await instance.syncAll()
      server.stop()
    }
    const rows = await rowsOf(instance)
    expect(rows.length).toBe(1000)
    const times = rows.map(row => row.timestamp)
    expect(times).toEqual(times.toSorted().reverse())
    expect(rows.slice(0, 3).map(row => row.source)).toEqual(['b', 'a', 'b'])
  })
})
