import { beforeAll, describe, expect, test } from 'bun:test'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'

interface Widget {
  name: string
  type: string
  endpoint: string
  params?: { paramName: string; value: unknown; show?: boolean; options?: unknown[] }[]
}

let instance: TestInstance
let key: string
let widgets: Record<string, Widget>
const json = async (path: string) => (await instance.get(path, key)).json()
beforeAll(async () => {
  instance = openTestInstance({ 'limits.per_minute': '10000' })
  key = instance.key()
  instance.record('WTI_USD', [60, 61, 62, 63], startAt - hourMs, dayMs)
  widgets = (await json('/openbb/widgets.json')) as Record<string, Widget>
}, 60_000)

describe('widgets of a research workspace', () => {
  test('are one for each list, with the parameters of its operation, and a chart and a metric', () => {
    expect(Object.keys(widgets).length).toBeGreaterThan(60)
    const types = new Set(Object.values(widgets).map(({ type }) => type))
    expect([...types].sort()).toEqual(['advanced_charting', 'metric', 'table'])
    const { params } = widgets.getLatestPrices ?? widgets.price_line!
    expect(params!.find(({ paramName }) => paramName === 'path')?.show).toBe(false)
  })

  test('name endpoints that exist below the address that lists them', async () => {
    for (const { endpoint, type } of Object.values(widgets)) {
      const { pathname } = new URL(endpoint, 'http://localhost/openbb/')
      const part = type === 'advanced_charting' ? '/config' : ''
      expect((await instance.get(`${pathname}${part}`, key)).status, endpoint).not.toBe(404)
    }
  })

  test('let a line of closes have bars of another length', () => {
    const { params } = widgets.price_line!
    expect(params!.map(({ paramName }) => paramName)).toEqual(['path', 'by_code', 'interval'])
  })

  test('have flat rows wherever the path needs no more than its example', async () => {
    let answered = 0
    for (const [name, { endpoint, params = [], type }] of Object.entries(widgets)) {
      if (type === 'advanced_charting') continue
      const query = new URLSearchParams(
        params
          .filter(({ value }) => value !== '')
          .map(({ paramName, value }): [string, string] => [paramName, String(value)]),
      )
      const response = await instance.get(`/openbb/${endpoint}?${query}`, key)
      expect(response.status, name).toBeLessThan(500)
      expect(response.status, name).not.toBe(400)
      if (!response.ok) continue
      answered += 1
      const rows = (await response.json()) as Record<string, unknown>[]
      expect(rows, name).toBeArray()
      for (const value of rows.flatMap(row => Object.values(row)))
        expect(typeof value === 'object' && value !== null, name).toBe(false)
    }
    expect(answered).toBeGreaterThan(30)
  }, 120_000)

  test('every widget that a dashboard uses exists', async () => {
    const apps = (await json('/openbb/apps.json')) as {
      tabs: Record<string, { layout: { i: string }[] }>
    }[]
    const used = apps.flatMap(({ tabs }) => Object.values(tabs).flatMap(tab => tab.layout))
    expect(used.length).toBeGreaterThan(4)
    for (const { i } of used) expect(widgets).toContainKey(i)
  })

  test('have rows of the path that they name, counted and refused as requests of it', async () => {
    const rows = (await json('/openbb/table?path=/v1/prices/past_month&by_code=WTI_USD')) as {
      price: number
    }[]
    expect(rows.length).toBeGreaterThan(0)
    const refused = await instance.get('/openbb/table?path=/v1/prices/past_month&by_code=NOPE', key)
    expect(refused.status).toBe(400)
    expect((await instance.get('/openbb/table?path=/admin/v1/accounts', key)).status).toBe(400)
    expect((await instance.get('/openbb/table?path=/v1/prices')).status).toBe(401)
    expect(await json('/openbb/metric?by_code=WTI_USD')).toEqual([
      expect.objectContaining({ label: 'WTI Crude Oil', value: expect.stringContaining('63') }),
    ])
    for (const query of ['', '?by_code=WTI_USD,BRENT_CRUDE_USD'])
      expect(await json(`/openbb/metric${query}`)).toEqual([
        expect.objectContaining({ value: expect.stringMatching(/^\$[\d.]+ per barrel$/) }),
      ])
  })
})
