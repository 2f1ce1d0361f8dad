import { describe, expect, test } from 'bun:test'
import { startAt } from '../../../support/instance/instance.ts'
import { openRoutes } from '../../../support/instance/routes.ts'

const dayMs = 86_400_000
const instance = openRoutes()
const token = instance.key()

interface Metrics {
  metrics: Record<string, unknown>[]
  missing_codes: string[]
  count: number
}
const metricsOf = async (codes: string): Promise<Metrics> => {
  const answer = await instance.get(`/v1/prices/metrics?by_code=${codes}`, token)
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { data: Metrics }).data
}

describe('GET /v1/prices/metrics', () => {
  test('are taken from the windows that end with the newest price', async () => {
    const noon = startAt - 3 * 3_600_000
    // A close every noon for 400 days, 100 to 499; one price within the last 24 hours, two before
    // them. Yesterday's noon is just outside.
    instance.record(
      'WTI_USD',
      Array.from({ length: 400 }, (_, i) => 100 + i),
      noon,
      dayMs,
    )
    instance.record('WTI_USD', [600], noon - 3_600_000, 1)
    instance.record('WTI_USD', [50, 900], noon - dayMs - 30_000, 30_000)
    const { metrics, count } = await metricsOf('WTI_USD')
    expect(count).toBe(1)
    expect(metrics[0]).toMatchObject({
      code: 'WTI_USD',
      currency: 'USD',
      unit: 'barrel',
      current: 499,
      min_24h: 499,
      max_24h: 600,
      average_7d: 496,
      average_30d: 484.5,
      min_52w: 50,
      max_52w: 900,
      as_of: '2026-11-20T12:00:00Z',
    })
  })

  test('have the volatility of the definitions', async () => {
    const closes = [70, 71, 69.5, 72, 71.5, 73]
    instance.record('BRENT_CRUDE_USD', closes, startAt, dayMs)
    const returns = closes.slice(1).map((close, i) => Math.log(close / closes[i]!))
    const center = returns.reduce((sum, value) => sum + value, 0) / 5
    const variance = returns.reduce((sum, value) => sum + (value - center) ** 2, 0) / 4
    const { metrics } = await metricsOf('BRENT_CRUDE_USD')
    expect(metrics[0]!.volatility_30d).toBeCloseTo(Math.sqrt(variance * 252) * 100, 9)
  })

  test('have no volatility under five closes, and a range of one price', async () => {
    instance.record('DUBAI_CRUDE_USD', [74], startAt, 1)
    const { metrics } = await metricsOf('DUBAI_CRUDE_USD')
    expect(metrics[0]).toMatchObject({
      min_24h: 74,
      max_24h: 74,
      average_7d: 74,
      average_30d: 74,
      min_52w: 74,
      volatility_30d: null,
    })
  })

  test('are in the order of the request; codes without a price are named', async () => {
    const data = await metricsOf('DUBAI_CRUDE_USD,OMAN_CRUDE_USD,WTI_USD')
    expect(data.metrics.map(metric => metric.code)).toEqual(['DUBAI_CRUDE_USD', 'WTI_USD'])
    expect(data.missing_codes).toEqual(['OMAN_CRUDE_USD'])
  })

  for (const [query, status, code] of [
    ['', 400, 'MISSING_PARAMETER'],
    ['by_code=NOPE_USD', 400, 'invalid_code'],
    ['by_code=OMAN_CRUDE_USD', 404, 'DATA_NOT_AVAILABLE'],
  ] as const) {
    test(`${query || 'no code'}: ${status} ${code}`, async () => {
      const answer = await instance.get(`/v1/prices/metrics?${query}`, token)
      expect({ status: answer.status, xErrorCode: answer.headers.get('x-error-code') }).toEqual({
        status,
        xErrorCode: code,
      })
    })
  }
})
