import { describe, expect, test } from 'bun:test'
import { startAt } from '../../../support/instance/instance.ts'
import { openRoutes } from '../../../support/instance/routes.ts'

const instance = openRoutes()
instance.record('WTI_USD', [71.23], startAt - 60_000, 1)
instance.record('GASOIL_USD', [700], startAt - 60_000, 1)
instance.record('DUTCH_TTF_EUR', [30], startAt - 60_000, 1)
instance.record('NATURAL_GAS_GBP', [79.4], startAt - 60_000, 1)
instance.record('GOLD_USD', [4000], startAt - 60_000, 1)
instance.record('AK_RIG_COUNT', [9], startAt - 60_000, 1)
instance.record('EUR_USD', [1.16], startAt - 300_000, 1)
instance.record('GBP_USD', [1.3], startAt - 120_000, 1)
const token = instance.key()

interface Priced {
  amount: number
  value: number
  unit_price: number
  currency: string | null
  unit: string
}
interface Conversion {
  amount: number
  from: Priced
  to: Priced
  fx_rate: number | null
  unit_factor: number
  as_of: string
}
const converted = async (query: string): Promise<Conversion> => {
  const answer = await instance.get(`/v1/prices/convert?by_code=${query}`, token)
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { data: Conversion }).data
}

describe('GET /v1/prices/convert', () => {
  for (const [query, value, currency, unit] of [
    ['WTI_USD', 71.23, 'USD', 'barrel'],
    ['WTI_USD&to_currency=EUR', 71.23 / 1.16, 'EUR', 'barrel'],
    ['WTI_USD&to_currency=usd', 71.23, 'USD', 'barrel'],
    ['WTI_USD&to_unit=metric_ton', 71.23 * 7.33, 'USD', 'metric_ton'],
    ['WTI_USD&to_unit=GALLON', 71.23 / 42, 'USD', 'gallon'],
    ['WTI_USD&to_currency=GBP&to_unit=mmbtu&amount=2.5', (2.5 * 71.23) / 1.3, 'GBP', 'mmbtu'],
    ['GASOIL_USD&to_unit=barrel', 700 / 7.45, 'USD', 'barrel'],
    ['DUTCH_TTF_EUR&to_currency=USD&to_unit=mmbtu', (30 * 1.16) / 3.412141633, 'USD', 'mmbtu'],
    ['NATURAL_GAS_GBP', 79.4, 'GBP', 'pence_per_therm'],
    ['NATURAL_GAS_GBP&to_currency=USD', 0.794 * 1.3, 'USD', 'therm'],
    ['NATURAL_GAS_GBP&to_unit=therm', 0.794, 'GBP', 'therm'],
    ['NATURAL_GAS_GBP&to_unit=mmbtu', 7.94, 'GBP', 'mmbtu'],
    ['WTI_USD&to_unit=metric_ton&amount=1000', 71_230, 'USD', 'metric_ton'],
    ['GOLD_USD&to_unit=metric_ton', 4000 / 31.1034768e-6, 'USD', 'metric_ton'],
  ] as const) {
    test(`of ${query} is ${value.toFixed(4)} ${currency} per ${unit}`, async () => {
      const { to } = await converted(query)
      expect(to).toMatchObject({ currency, unit })
      expect(Math.abs(to.value / value - 1)).toBeLessThan(1e-6)
    })
  }

  test('a price conversion explains how its result was calculated', async () => {
    expect(await converted('WTI_USD&to_currency=EUR&to_unit=metric_ton&amount=10')).toEqual({
      code: 'WTI_USD',
      amount: 10,
      from: { amount: 10, value: 712.3, unit_price: 71.23, currency: 'USD', unit: 'barrel' },
      // 10 barrels are 10 / 7.33 tons, and cost the same.
      to: {
        amount: 1.36425648,
        value: 614.051724,
        unit_price: 450.099914,
        currency: 'EUR',
        unit: 'metric_ton',
      },
      fx_rate: 0.8620689655,
      unit_factor: 7.33,
      as_of: '2026-11-20T14:55:00Z',
    } as Conversion & { code: string })
  })

  test('gives what its own factors give', async () => {
    for (const query of [
      'NATURAL_GAS_GBP&to_currency=EUR&to_unit=mwh',
      'GASOIL_USD&to_currency=GBP&to_unit=litre',
    ]) {
      const { from, to, fx_rate, unit_factor } = await converted(query)
      expect(to.value).toBeCloseTo(from.value * fx_rate! * unit_factor, 5)
    }
  })

  test('without a currency has no rate and the age of the price', async () => {
    expect(await converted('WTI_USD&to_unit=barrel')).toMatchObject({
      fx_rate: null,
      unit_factor: 1,
      as_of: '2026-11-20T14:59:00Z',
    })
  })

  for (const [query, status, code, parameter] of [
    ['', 400, 'MISSING_PARAMETER', 'by_code'],
    ['by_code=NOPE_USD', 400, 'invalid_code', undefined],
    ['by_code=WTI_USD,GASOIL_USD', 400, 'too_many_codes', undefined],
    ['by_code=OMAN_CRUDE_USD', 404, 'DATA_NOT_AVAILABLE', undefined],
    ['by_code=WTI_USD&to_currency=CHF', 400, 'INVALID_PARAMETER', 'to_currency'],
    ['by_code=AK_RIG_COUNT&to_currency=EUR', 400, 'INVALID_PARAMETER', 'to_currency'],
    ['by_code=EUR_USD&to_currency=GBP', 400, 'INVALID_PARAMETER', 'to_currency'],
    ['by_code=WTI_USD&to_unit=furlong', 400, 'INVALID_PARAMETER', 'to_unit'],
    ['by_code=DUTCH_TTF_EUR&to_unit=barrel', 400, 'INVALID_PARAMETER', 'to_unit'],
    ['by_code=AK_RIG_COUNT&to_unit=barrel', 400, 'INVALID_PARAMETER', 'to_unit'],
    ['by_code=WTI_USD&amount=0', 400, 'INVALID_PARAMETER', 'amount'],
    ['by_code=WTI_USD&amount=-1', 400, 'INVALID_PARAMETER', 'amount'],
    ['by_code=WTI_USD&amount=0x10', 400, 'INVALID_PARAMETER', 'amount'],
    ['by_code=WTI_USD&amount=1e3', 400, 'INVALID_PARAMETER', 'amount'],
  ] as const) {
    test(`${query || 'no code'}: ${status} ${code}`, async () => {
      const answer = await instance.get(`/v1/prices/convert?${query}`, token)
      expect({ status: answer.status, xErrorCode: answer.headers.get('x-error-code') }).toEqual({
        status,
        xErrorCode: code,
      })
      if (parameter) expect(await answer.json()).toMatchObject({ error: { parameter } })
    })
  }

  test('a price conversion to an unsupported unit is refused with the list of allowed units', async () => {
    const answer = await instance.get(
      '/v1/prices/convert?by_code=DUTCH_TTF_EUR&to_unit=barrel',
      token,
    )
    expect(await answer.json()).toMatchObject({ error: { allowed: ['mmbtu', 'therm', 'mwh'] } })
  })
})

test('a dated conversion takes price and rates of that day, or the ones before it', async () => {
  const dayMs = 86_400_000
  const copy = openRoutes()
  copy.record('WTI_USD', [60, 61, 62, 63], startAt, dayMs)
  copy.record('EUR_USD', [1, 1.25], startAt - 2 * dayMs, dayMs)
  copy.record('GBP_USD', [1.5, 2], startAt - 2 * dayMs, dayMs)
  const key = copy.key()
  const on = async (query: string) => {
    const answer = await copy.get(`/v1/prices/convert?by_code=WTI_USD&${query}`, key)
    return { status: answer.status, data: ((await answer.json()) as { data: Conversion }).data }
  }
  expect((await on('to_currency=EUR&date=2026-11-18')).data).toMatchObject({
    from: { value: 61 },
    to: { value: 48.8 },
    fx_rate: 0.8,
  })
  expect((await on('to_currency=EUR&date=2026-11-17')).data).toMatchObject({
    from: { value: 60 },
    fx_rate: 1,
  })
  expect((await on('to_currency=GBP&date=2026-11-19')).data).toMatchObject({
    from: { value: 62 },
    fx_rate: 0.5,
  })
  expect((await on('date=2026-11-16')).status).toBe(404)
  expect((await on('date=yesterday')).status).toBe(400)
})
