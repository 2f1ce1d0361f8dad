import { describe, expect, test } from 'bun:test'
import { openTestInstance } from '../support/instance/instance.ts'

const instance = openTestInstance({})
const token = instance.key()
instance.record('WTI_USD', [70, 71, 72, 73, 74, 75], instance.clock.now(), 86_400_000)

async function messageOf(path: string): Promise<string> {
  // Each request a second later, so that no rolling window fills.
  instance.clock.advance(1001)
  const answer = await instance.get(path, token)
  expect(answer.status).toBe(400)
  return answer.headers.get('x-error-message') ?? ''
}

describe('a wrong value is refused with what is right, what came and the nearest valid value', () => {
  test.each([
    ['/v1/prices/past_day?by_code=WTI_USD&interval=2d', 'interval must be raw, minute, hour, day'],
    ['/v1/prices/past_day?start_date=01/02/2026', 'start_date must be a date (YYYY-MM-DD) or'],
    ['/v1/prices/past_day?as_of=2026-11-01', 'as_of must be an ISO 8601 time with a zone'],
    [
      '/v1/prices/past_day?per_page=abc',
      'per_page must be a whole number of 1 or more; got "abc".',
    ],
    ['/v1/prices/past_day?page=-1', 'page must be a whole number of 1 or more; got "-1".'],
    ['/v1/prices/past_day?days=0', 'days must be a whole number from 1 to 365; got "0".'],
    [
      '/v1/prices/past_day?format=xls',
      'format must be json, csv, ndjson, parquet, arrow or xlsx; got "xls".',
    ],
    ['/v1/prices/past_day?format=jsn', 'got "jsn". Did you mean json?'],
    ['/v1/prices/past_day?period=past_dya', 'Did you mean past_day?'],
    ['/v1/prices/past_day?by_type=spot', 'by_type must be '],
    ['/v1/prices/past_day?at=2026-13-01', 'at must be a date (YYYY-MM-DD); got "2026-13-01".'],
    ['/v1/prices/convert?by_code=WTI_USD&to_unit=pint', 'to_unit must be '],
    ['/v1/prices/convert?by_code=WTI_USD&amount=0', 'amount must be '],
    ['/v1/prices/convert?by_code=WTI_USD&to_currency=XYZ', 'to_currency must be a currency with'],
    ['/v1/prices/latest?by_code=WTI_USD&precision=ful', 'Did you mean full?'],
    ['/v1/prices/widget?format=xml', 'format must be json or html; got "xml".'],
    ['/v1/analytics/statistics?code=WTI_USD&period=month', 'period must be a whole number from 2'],
    ['/v1/analytics/performance?range=7', 'range must be '],
    ['/v1/commodities?category=oill', 'category must be one of biofuels, carbon, coal'],
    ['/v1/spreads/crack?id=nope', 'id must be '],
    ['/v1/health?ready=wrote', 'ready must be write; got "wrote".'],
    ['/v1/health?max_lag=soon', 'max_lag must be in the form of 5s; got "soon".'],
  ])('%s', async (path, message) => {
    const refusal = await messageOf(path)
    expect(refusal).toContain(message)
    expect(refusal).not.toMatch(/ --[a-z]|ENOENT|\bis no\b|is neither/)
  })
})

describe('a deprecated path', () => {
  test.each([
    ['/limits.json', '/v1/meta/limits'],
    ['/users/me', '/v1/users/me'],
    ['/v1/commodities/codes', '/v1/commodities'],
    ['/v1/rig-counts/current', '/v1/rig-counts/latest'],
    ['/v1/forecasts/accuracy', '/v1/forecasts/monthly/accuracy'],
    ['/v1/forecasts/archive', '/v1/forecasts/monthly/archive'],
    ['/v1/storage/cushing/history', '/v1/storage/history/cushing'],
    ['/v1/well-production/summary', '/v1/well-production'],
    ['/v1/marine-fuels/latest', '/v1/prices/marine-fuels/latest'],
  ])('%s names its successor in headers', async (path, successor) => {
    instance.clock.advance(1001)
    const answer = await instance.get(path, token)
    expect(answer.headers.get('deprecation')).toMatch(/^@\d+$/)
    expect(answer.headers.get('link')).toContain(`<${successor}>; rel="successor-version"`)
  })

  test('is marked in the document, with a pointer', async () => {
    const document = (await (await instance.get('/openapi.json', token)).json()) as {
      paths: Record<string, { get: { deprecated?: boolean; description: string } }>
    }
    const { deprecated, description } = document.paths['/limits.json']!.get
    expect(deprecated).toBe(true)
    expect(description).toStartWith('Deprecated: use `GET /v1/meta/limits` instead.')
  })
})
