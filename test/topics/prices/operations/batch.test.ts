import { describe, expect, test } from 'bun:test'
import { roundTo } from '../../../../src/topics/prices/math/format.ts'
import type { PriceRow } from '../../../../src/topics/prices/operations/row.ts'
import { startAt } from '../../../support/instance/instance.ts'
import { openRoutes } from '../../../support/instance/routes.ts'

type Row = Partial<PriceRow> & {
  original_price?: number
  original_currency?: string
  original_unit?: string
  fx_rate?: number
  fx_as_of?: string
}
interface Batch {
  prices: Row[]
  missing_codes: string[]
  count: number
  currency?: string
}

const instance = openRoutes()
instance.record('WTI_USD', [70, 71.23], startAt - 60_000, 86_400_000)
instance.record('BRENT_CRUDE_USD', [75.5], startAt - 60_000, 1)
instance.record('NATURAL_GAS_GBP', [80, 79.4], startAt - 60_000, 86_400_000)
instance.record('AK_RIG_COUNT', [550], startAt - 60_000, 1)
instance.record('EUR_USD', [1.16], startAt - 300_000, 1)
instance.record('GBP_USD', [1.3], startAt - 120_000, 1)
instance.record('USD_JPY', [155.2], startAt - 120_000, 1)
const token = instance.key()

const ask = (body: unknown, key: string | undefined = token) =>
  instance.send('POST', '/v1/prices/batch', body, key)
const answered = async (body: unknown): Promise<Batch> => {
  const answer = await ask(body)
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { data: Batch }).data
}
const refused = async (body: unknown) => {
  const answer = await ask(body)
  return [answer.status, answer.headers.get('x-error-code')]
}

describe('POST /v1/prices/batch', () => {
  test('answers in the order asked, duplicates once, and names what has no price', async () => {
    const data = await answered({
      codes: ['brent_crude_usd', 'OMAN_CRUDE_USD', 'WTI_USD', 'BRENT_CRUDE_USD'],
    })
    expect(data.prices.map(row => row.code)).toEqual(['BRENT_CRUDE_USD', 'WTI_USD'])
    expect(data.missing_codes).toEqual(['OMAN_CRUDE_USD'])
    expect(data.count).toBe(2)
    expect(data.currency).toBeUndefined()
  })

  test('has the rows of latest, each with the day of its price', async () => {
    const latest = (await (
      await instance.get('/v1/prices/latest?by_code=WTI_USD', token)
    ).json()) as {
      data: PriceRow
    }
    expect((await answered({ codes: ['WTI_USD'] })).prices).toEqual([
      { ...latest.data, as_of: latest.data.created_at.slice(0, 10) },
    ])
  })

  test('a batch price request for one code returns a list with one row', async () => {
    expect((await answered({ codes: ['WTI_USD'] })).count).toBe(1)
  })

  test('counts as one request', async () => {
    const own = instance.key()
    const answer = await ask({ codes: ['WTI_USD', 'BRENT_CRUDE_USD', 'EUR_USD'] }, own)
    expect(answer.headers.get('x-ratelimit-used')).toBe('1')
  })

  test('takes the key in the header only', async () => {
    const answer = await instance.send('POST', `/v1/prices/batch?api_key=${token}`, {
      codes: ['WTI_USD'],
    })
    expect(answer.status).toBe(401)
  })
})

describe('POST /v1/prices/batch: fields', () => {
  test('are answered alone, with the code', async () => {
    const { prices } = await answered({
      codes: ['WTI_USD', 'BRENT_CRUDE_USD'],
      fields: ['price', 'formatted'],
    })
    expect(prices).toEqual([
      { code: 'WTI_USD', price: 71.23, formatted: '$71.23' },
      { code: 'BRENT_CRUDE_USD', price: 75.5, formatted: '$75.50' },
    ])
  })

  test('of a conversion can be chosen too', async () => {
    const { prices } = await answered({
      codes: ['WTI_USD'],
      currency: 'EUR',
      fields: ['price', 'original_price'],
    })
    expect(prices).toEqual([{ code: 'WTI_USD', price: 61.41, original_price: 71.23 }])
  })

  test('that do not exist are refused with those that do', async () => {
    const answer = await ask({ codes: ['WTI_USD'], fields: ['price', 'colour'] })
    expect(answer.status).toBe(400)
    const { error } = (await answer.json()) as {
      error: { code: string; parameter: string; value: string; allowed: string[] }
    }
    expect(error).toMatchObject({ code: 'INVALID_PARAMETER', parameter: 'fields', value: 'colour' })
    expect(error.allowed).toContain('formatted')
  })

  test('a batch price request with an empty field list returns all fields', async () => {
    expect((await answered({ codes: ['WTI_USD'], fields: [] })).prices[0]!.metadata).toBeDefined()
  })
})

describe('POST /v1/prices/batch: currency', () => {
  test('batch currency conversion applies one rate to price, text and changes and returns the original values', async () => {
    const data = await answered({ codes: ['WTI_USD'], currency: 'eur' })
    const rate = Number((1 / 1.16).toPrecision(10))
    expect(data.currency).toBe('EUR')
    expect(data.prices[0]).toMatchObject({
      price: 61.41,
      formatted: '€61.41',
      currency: 'EUR',
      unit: 'barrel',
      change_24h: roundTo(1.23 * rate, 2),
      change_24h_percent: 1.76,
      changes: {
        '24h': {
          amount: roundTo(1.23 * rate, 2),
          percent: 1.76,
          previous_price: roundTo(70 * rate, 2),
        },
      },
      original_price: 71.23,
      original_currency: 'USD',
      original_unit: 'barrel',
      fx_rate: rate,
      fx_as_of: '2026-11-20T14:55:00Z',
    })
  })

  test('of pence is per whole unit, with the pence as decimals', async () => {
    const [row] = (await answered({ codes: ['NATURAL_GAS_GBP'], currency: 'USD' })).prices
    expect(row).toMatchObject({
      price: 1.0322,
      formatted: '$1.0322',
      currency: 'USD',
      unit: 'therm',
      change_24h: -0.0078,
      original_price: 79.4,
      original_currency: 'GBP',
      original_unit: 'pence_per_therm',
      fx_rate: 1.3,
    })
  })

  test('in which a price is already has the rate 1', async () => {
    const [row] = (await answered({ codes: ['WTI_USD'], currency: 'USD' })).prices
    expect(row).toMatchObject({ price: 71.23, original_price: 71.23, fx_rate: 1 })
  })

  test('is crossed where no series pairs it', async () => {
    const [row] = (await answered({ codes: ['NATURAL_GAS_GBP'], currency: 'JPY' })).prices
    expect(row).toMatchObject({
      price: roundTo(0.794 * 1.3 * 155.2, 4),
      fx_as_of: '2026-11-20T14:58:00Z',
    })
  })

  test('leaves rows without one, and exchange rates, as they are', async () => {
    const { prices } = await answered({ codes: ['AK_RIG_COUNT', 'EUR_USD'], currency: 'GBP' })
    expect(prices[0]).toMatchObject({ price: 550, currency: null })
    expect(prices[1]).toMatchObject({ price: 1.16, currency: 'USD' })
    for (const row of prices) expect(row.fx_rate).toBeUndefined()
  })

  test('without a rate is refused with those that have one', async () => {
    for (const currency of ['CHF', 'XXX', 'dollars']) {
      const answer = await ask({ codes: ['WTI_USD'], currency })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({
        error: {
          code: 'INVALID_PARAMETER',
          parameter: 'currency',
          value: currency,
          allowed: ['EUR', 'GBP', 'JPY', 'USD'],
        },
      })
    }
  })
})

describe('POST /v1/prices/batch: a body that is refused', () => {
  for (const [name, body, code] of [
    ['not JSON', '{"codes":', 'MALFORMED_JSON'],
    ['absent', '', 'MISSING_CODES'],
    ['an empty object', {}, 'MISSING_CODES'],
    ['a list', ['WTI_USD'], 'MISSING_CODES'],
    ['null', 'null', 'MISSING_CODES'],
    ['without codes', { codes: [] }, 'MISSING_CODES'],
    ['with empty codes', { codes: ['', ' '] }, 'MISSING_CODES'],
    ['with a text of codes', { codes: 'WTI_USD' }, 'INVALID_PARAMETER'],
    ['with numbers for codes', { codes: [1] }, 'INVALID_PARAMETER'],
    ['with a text of fields', { codes: ['WTI_USD'], fields: 'price' }, 'INVALID_PARAMETER'],
    ['with a number for a currency', { codes: ['WTI_USD'], currency: 1 }, 'INVALID_PARAMETER'],
    ['with an unknown code', { codes: ['WTI_USD', 'NOPE_USD'] }, 'invalid_code'],
    ['with twenty-one codes', { codes: Array(21).fill('WTI_USD') }, 'too_many_codes'],
  ] as const) {
    test(`${name}: ${code}`, async () => {
      expect(await refused(body)).toEqual([400, code])
    })
  }

  test('a refused batch of prices does not count towards the quota', async () => {
    const own = instance.key()
    await ask({ codes: ['NOPE_USD'] }, own)
    expect(instance.services.meter.quotaUsage(instance.services.keys.find(own)!).used).toBe(0)
  })
})
