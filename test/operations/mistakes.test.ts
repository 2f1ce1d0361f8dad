import { describe, expect, test } from 'bun:test'
import { createKnownNames } from '../../src/http/input/known-names.ts'
import { openTestInstance } from '../support/instance/instance.ts'

const instance = openTestInstance({ 'brand.header_prefix': 'X-Own-' })
const token = instance.key()
const ignored = 'x-own-ignored-parameters'
instance.record('WTI_USD', [70, 71, 72, 73, 74, 75], instance.clock.now(), 86_400_000)

async function ask(path: string, headers: Record<string, string> = {}) {
  // Each request a second later, so that no rolling window fills.
  instance.clock.advance(1001)
  return instance.get(path, token, headers)
}

describe('a parameter that means nothing', () => {
  test.each([
    ['/v1/prices/latest?code=WTI_USD', 'code;nearest=by_code'],
    ['/v1/prices/latest?by_code=WTI_USD&symbol=WTI', 'symbol;nearest=by_code'],
    ['/v1/prices/past_day?by_code=WTI_USD&intervall=raw', 'intervall;nearest=interval'],
    [
      '/v1/prices/past_day?by_code=WTI_USD&limit=5&from=2026-11-01',
      'limit;nearest=per_page, from;nearest=start_date',
    ],
    ['/v1/analytics/statistics?code=WTI_USD&perod=30', 'perod;nearest=period'],
    ['/v1/prices/latest?by_code=WTI_USD&colour=red', 'colour'],
    ['/v1/health?verbose=1', 'verbose'],
  ])('an ignored parameter of %s is reported in a response header as %s', async (path, header) => {
    const answer = await ask(path)
    expect(answer.headers.get(ignored)).toBe(header)
    expect(answer.status).toBeLessThan(300)
  })

  test('known ones, the key in the address among them, are not', async () => {
    for (const path of [
      '/v1/prices/latest?by_code=WTI_USD',
      `/v1/prices/latest?by_code=WTI_USD&api_key=${token}`,
      '/v1/prices/past_day?code=WTI_USD&interval=raw&page=1',
    ])
      expect((await ask(path)).headers.get(ignored)).toBeNull()
  })

  test('is refused where the request prefers strict handling, with the right one and all there are', async () => {
    for (const prefer of [
      'handling=strict',
      'respond-async, handling="strict"',
      'Handling=Strict',
    ]) {
      const answer = await ask('/v1/prices/latest?code=WTI_USD', { prefer })
      expect({ status: answer.status, errorCode: answer.headers.get('x-error-code') }).toEqual({
        status: 400,
        errorCode: 'INVALID_PARAMETER',
      })
      expect(answer.headers.get('preference-applied')).toBe('handling=strict')
      const { error } = (await answer.json()) as { error: Record<string, unknown> }
      expect(error).toMatchObject({
        parameter: 'code',
        allowed: expect.arrayContaining(['by_code']),
        unknown_parameters: [{ parameter: 'code', nearest: 'by_code' }],
      })
      expect(error.message).toContain('Did you mean by_code?')
    }
    const lenient = await ask('/v1/prices/latest?code=WTI_USD', { prefer: 'handling=lenient' })
    expect(lenient.status).toBe(200)
  })

  test('is named safely and only so often, whatever it is called', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `a%0d%0ab${i}%C3%BC=1`).join('&')
    const header = (await ask(`/v1/prices/latest?by_code=WTI_USD&${names}`)).headers.get(ignored)!
    expect(header).toMatch(/^[\x20-\x7e]+$/)
    expect(header.split(', ')).toHaveLength(8)
  })

  test('a parameter that is passed on to another path is not reported as ignored', async () => {
    const answer = await ask('/v1/excel/run?path=/v1/prices/past_day&by_code=WTI_USD&nothing=1')
    expect(answer.headers.get(ignored)).toBeNull()
  })
})

test.each([
  '/v1/prices/past_week?by_code=WTI_USD&format=CSV',
  '/v1/prices/past_week?by_code=WTI_USD&by_type=Spot_Price',
  '/v1/analytics/performance?range=7D&via=ALL',
  '/billing/usage?period=Previous',
])('%s is answered: words may be in any case', async path => {
  expect((await ask(path)).status).toBe(200)
})

describe('a path that is none', () => {
  const json = { accept: 'application/json' }

  test('answers who reads JSON the JSON error with the nearest paths, and pages of other origins too', async () => {
    const answer = await ask('/v1/price/latest', { ...json, origin: 'https://desk.example' })
    expect({ status: answer.status, errorCode: answer.headers.get('x-error-code') }).toEqual({
      status: 404,
      errorCode: 'ROUTE_NOT_FOUND',
    })
    expect(answer.headers.get('access-control-allow-origin')).not.toBeNull()
    const { error } = (await answer.json()) as { error: Record<string, unknown> }
    expect(error.request_id).toBe(answer.headers.get('x-request-id'))
    expect((error.nearest_paths as string[])[0]).toBe('/v1/prices/latest')
    expect(error.message).toContain('/v1/prices/latest')
  })

  test('an unknown path that matches a date route returns the nearest paths and no methods', async () => {
    const answer = await ask('/v1/prices/latestt', json)
    const { error } = (await answer.json()) as { error: Record<string, unknown> }
    expect({ status: answer.status, nearest_paths: error.nearest_paths }).toEqual({
      status: 404,
      nearest_paths: expect.arrayContaining(['/v1/prices/latest']),
    })
    expect(error.message).toContain('there is no such path. Did you mean')
    expect(error.allowed_methods).toEqual([])
  })

  test('the error for a wrong method lists the methods that the path accepts', async () => {
    const answer = await instance.send('DELETE', '/v1/prices/latest', {}, token, json)
    expect({ status: answer.status, allow: answer.headers.get('allow') }).toEqual({
      status: 405,
      allow: 'GET, HEAD, OPTIONS',
    })
    expect(await answer.json()).toMatchObject({
      error: { code: 'METHOD_NOT_ALLOWED', allowed_methods: ['GET'] },
    })
    const bare = await instance.send('DELETE', '/v1/prices/latest', {}, token)
    expect({ status: bare.status, text: await bare.text() }).toEqual({ status: 404, text: '' })
  })

  test('an unknown path returns the empty body of the API to clients that do not accept JSON', async () => {
    const answer = await ask('/v1/price/latest', { origin: 'https://desk.example' })
    expect({
      status: answer.status,
      text: await answer.text(),
      requestId: answer.headers.get('x-request-id'),
    }).toEqual({ status: 404, text: '', requestId: null })
    expect(answer.headers.get('x-error-code')).toBe('ROUTE_NOT_FOUND')
    expect(answer.headers.get('access-control-allow-origin')).not.toBeNull()
  })

  test.each([
    ['/v1/commodity/WTI_USD', '/v1/commodities/{code}'],
    ['/v1/analytics/statistic', '/v1/analytics/statistics'],
    ['/v1/futures/exch-wti/curves', '/v1/futures/{slug}/curve'],
    ['/v1/prices/latest/WTI_USD', '/v1/prices/latest'],
    ['/v1/prices/past_weak', '/v1/prices/past_week'],
    ['/prices/latest', '/v1/prices/latest'],
    ['/api/v1/price/latest', '/v1/prices/latest'],
  ])('%s is near %s', (path, nearest) => {
    const names = createKnownNames()
    names.learn(instance.app.routes)
    expect(names.nearest(path).paths[0]).toBe(nearest)
  })

  test('that is far from everything is near nothing, however long it is', () => {
    const names = createKnownNames()
    names.learn(instance.app.routes)
    for (const path of ['/x'.repeat(5000), '/favicon.ico', '/'])
      expect(names.nearest(path).paths).toEqual([])
    expect(names.nearest('/wp-login.php').methods).toEqual([])
    expect(names.nearest('/v1/prices/latest').methods).toEqual(['GET'])
  })
})
