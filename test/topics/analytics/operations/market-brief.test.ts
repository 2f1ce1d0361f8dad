import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import { monthForecast } from '../../../../src/topics/analytics/math/brief.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { expectShape, json } from '../../../support/interface/shape.ts'

interface Row {
  code: string
  price: number
  change_24h: number | null
  change_24h_abs: number | null
  change_24h_pct: number | null
  stale: boolean
  requested_code?: string
  forecast_1m: {
    point: number
    low: number
    high: number
    confidence: number
    confidence_level: string
    method: string
  } | null
}
interface Brief {
  data: {
    as_of: string
    codes: string[]
    count: number
    missing_codes?: string[]
    narrative?: string
    commodities: Row[]
    metadata: unknown
  }
}

async function read(
  instance: TestInstance,
  query = '',
  token = instance.key(),
): Promise<Brief['data']> {
  const response = await instance.get(`/v1/market-brief${query}`, token)
  expect(response.status, await response.clone().text()).toBe(200)
  const body = await json<Brief>(response)
  expectShape(instance.app, '/v1/market-brief', body)
  return body.data
}

const freeCodes = [
  'BRENT_CRUDE_USD',
  'WTI_USD',
  'NATURAL_GAS_USD',
  'GOLD_USD',
  'EUR_USD',
  'GBP_USD',
  'HEATING_OIL_USD',
  'GASOLINE_USD',
  'DIESEL_USD',
]

/** A price that stood at 70 and now is at 71.4, for every free code. */
function priced(): TestInstance {
  const instance = openTestInstance()
  for (const code of freeCodes)
    instance.record(code, [70, 71.4], startAt - 5 * minuteMs, 25 * hourMs)
  return instance
}

describe('/v1/market-brief', () => {
  test('a market brief has the price, the change and the requested sections of each code in the requested order', async () => {
    const instance = priced()
    const brief = await read(instance, '?codes=WTI_USD,%20brent')
    expect(brief).toMatchObject({
      as_of: '2026-11-20T15:00:00Z',
      codes: ['WTI_USD', 'BRENT_CRUDE_USD'],
      count: 2,
    })
    expect(Object.keys(brief)).not.toContain('narrative')
    expect(Object.keys(brief)).not.toContain('missing_codes')
    expect(brief.commodities[1]).toEqual({
      code: 'BRENT_CRUDE_USD',
      name: 'Brent Crude Oil',
      price: 71.4,
      currency: 'USD',
      unit: 'barrel',
      formatted: '$71.40',
      change_24h_abs: 1.4,
      change_24h_pct: 2,
      change_24h: 1.4,
      as_of: '2026-11-20T14:55:00Z',
      source: 'market_reporting',
      stale: false,
      requested_code: 'BRENT',
      forecast_1m: null,
    } as Row)
  })

  test('projects a month from ninety days of closes, rounded like prices', async () => {
    const instance = openTestInstance()
    const values = Array.from({ length: 100 }, (_, i) => 70 + Math.sin(i) + i / 50)
    instance.record('WTI_USD', values, startAt - hourMs, dayMs)
    const [row] = (await read(instance, '?codes=WTI_USD')).commodities
    const result = monthForecast(
      instance.services.closes.of(instance.services.catalogue.resolve('WTI_USD', 0)!.series.id),
    )!
    const cents = (value: number) => Math.round(value * 100) / 100
    expect(row!.forecast_1m).toEqual({
      point: cents(result.point),
      low: cents(result.low),
      high: cents(result.high),
      method: 'combined',
      confidence: Math.round(result.confidence * 10_000) / 10_000,
      confidence_level: result.level,
    })
  })

  test('without codes has those of the free tier, cut to the number of the plan', async () => {
    const instance = priced()
    for (const [plan, count] of [
      ['free', 3],
      ['developer', 5],
      ['starter', 9],
      ['enterprise', 9],
    ] as const) {
      expect((await read(instance, '', instance.key(plan))).codes, plan).toEqual(
        freeCodes.slice(0, count),
      )
    }
    expect((await read(instance, '?codes=,', instance.key('free', { trial: true }))).count).toBe(5)
  })

  test('of more codes than the plan takes is refused with both numbers and the plan that takes them', async () => {
    const instance = priced()
    const many = Array.from({ length: 21 }, () => 'WTI_USD')
    for (const [plan, requested, limit, required] of [
      ['free', 4, 3, 'developer'],
      ['free', 11, 3, 'professional'],
      ['developer', 6, 5, 'starter'],
      ['enterprise', 21, 20, null],
    ] as const) {
      const response = await instance.get(
        `/v1/market-brief?codes=${many.slice(0, requested)}`,
        instance.key(plan),
      )
      expect(
        { status: response.status, errorCode: response.headers.get('x-error-code') },
        plan,
      ).toEqual({ status: 403, errorCode: 'INSUFFICIENT_PLAN' })
      const { error } = await json<{ error: Record<string, unknown> }>(response)
      expect(error).toMatchObject({
        limit,
        requested,
        current_plan: plan,
        required_plan: required,
        recommended_plan: required,
      })
      expect(String(error.message)).toMatch(/of the \w+ plan takes \d+ codes/)
    }
    expect((await read(instance, `?codes=${many.slice(0, 20)}`)).count).toBe(1)
  })

  test('names codes without a price, and is a 404 when none has one', async () => {
    const instance = priced()
    const brief = await read(instance, '?codes=OMAN_CRUDE_USD,WTI_USD')
    expect({ missing_codes: brief.missing_codes, codes: brief.codes, count: brief.count }).toEqual({
      missing_codes: ['OMAN_CRUDE_USD'],
      codes: ['WTI_USD'],
      count: 1,
    })
    for (const [parameter, query] of [
      [instance, '?codes=OMAN_CRUDE_USD'],
      [openTestInstance(), ''],
    ] as const) {
      const response = await parameter.get(`/v1/market-brief${query}`, parameter.key())
      expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
        status: 404,
        errorCode: 'DATA_NOT_AVAILABLE',
      })
    }
  })

  test('refuses unknown codes and a narrative that must be true or false', async () => {
    const instance = priced()
    for (const [query, code] of [
      ['?codes=WTI_USD,NOPE_USD', 'invalid_code'],
      ['?narrative=maybe', 'INVALID_PARAMETER'],
    ] as const) {
      const response = await instance.get(`/v1/market-brief${query}`, instance.key())
      expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
        status: 400,
        errorCode: code,
      })
    }
  })

  test('a market brief describes its numbers in sentences on request', async () => {
    const { narrative } = await read(priced(), '?codes=WTI_USD&narrative=yes')
    expect(narrative).toBe('WTI Crude Oil stands at 71.40 USD per barrel, up 2.00% over 24 hours.')
  })

  test('marks prices that have not come for long', async () => {
    const instance = priced()
    instance.clock.advance(30 * dayMs)
    const brief = await read(instance, '?codes=WTI_USD&narrative=true')
    expect(brief.commodities[0]!.stale).toBe(true)
    expect(brief.narrative).toStartWith('WTI Crude Oil last stood at 71.40 USD')
  })

  test('counts as one request however many codes it has, and none when refused', async () => {
    const instance = priced()
    const token = instance.key('free')
    const used = () => instance.services.meter.quotaUsage(instance.services.keys.find(token)!).used
    await read(instance, '', token)
    expect(used()).toBe(1)
    await instance.get('/v1/market-brief?codes=A,B,C,D', token)
    expect(used()).toBe(1)
    expect((await instance.get('/v1/market-brief')).status).toBe(401)
  })
})
