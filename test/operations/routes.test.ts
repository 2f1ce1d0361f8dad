import { describe, expect, test } from 'bun:test'
import type { InternalRoute } from 'elysia'
import { answersKey } from '../../src/http/openapi/source.ts'
import { openTestInstance } from '../support/instance/instance.ts'

const app = openTestInstance().app
const routes = (app.routes as InternalRoute[]).filter(route =>
  ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].includes(route.method),
)
const nameOf = (route: InternalRoute) => `${route.method} ${route.path}`

describe('every route', () => {
  for (const route of routes) {
    const hooks = route.hooks as {
      access?: unknown
      detail?: Record<string, unknown>
    }
    test(`${nameOf(route)} says who may call it and what it answers`, () => {
      const { detail } = hooks
      expect(detail?.security, 'access').toBeDefined()
      if (detail?.hide === true) return
      expect(detail?.operationId, 'operationId').toBeString()
      expect(detail?.summary, 'summary').toBeString()
      expect(detail?.description, 'description').toBeString()
      expect(detail?.tags, 'tags').toBeArray()
      expect(detail?.[answersKey], 'schemas of its answers').toBeDefined()
    })
  }

  test('every route is registered once and overwrites no other route', () => {
    const names = routes.map(nameOf)
    expect(names.length).toBe(new Set(names).size)
  })

  test('every route has its own operation in the OpenAPI document', () => {
    const ids = routes
      .map(route => (route.hooks as { detail?: { operationId?: string } }).detail?.operationId)
      .filter(Boolean)
    expect(ids.length).toBe(new Set(ids).size)
  })
})

describe('an unknown route', () => {
  test.each([
    ['GET', '/nope'],
    ['GET', '/v1/prices/yesterday'],
    ['GET', '/v1/prices/2026-02-30'],
    ['DELETE', '/v1/prices/latest'],
    ['POST', '/v1/commodities'],
    ['GET', '/v1/futures/no-such-slug'],
    ['GET', '/v1/spreads/no-such-type'],
    ['GET', '/v1/spreads/gasoil-crack/historical'],
    ['GET', '/v1/indicators/no-such-type'],
  ])('%s %s is 404, empty, HTML by type, without a request id', async (method, path) => {
    const { key, send } = openTestInstance()
    const response = await send(method, path, method === 'GET' ? undefined : {}, key())
    expect({
      status: response.status,
      text: await response.text(),
      requestId: response.headers.get('x-request-id'),
    }).toEqual({ status: 404, text: '', requestId: null })
    expect(response.headers.get('content-type')).toStartWith('text/html')
  })

  const plain = ['', '*/*', 'text/plain', 'image/png']
  test.each(plain)(
    'an unknown route reports in its headers what its JSON body reports, for Accept: %p',
    async accept => {
      const { get } = openTestInstance()
      const path = '/v1/prices/latst'
      const response = await get(path, undefined, accept === '' ? {} : { accept })
      const asJson = await get(path, undefined, { accept: 'application/json' })
      const { error } = (await asJson.json()) as { error: { code: string; message: string } }
      expect({ status: response.status, text: await response.text() }).toEqual({
        status: 404,
        text: '',
      })
      expect(response.headers.get('content-type')).toStartWith('text/html')
      expect(response.headers.get('x-request-id')).toBeNull()
      expect(response.headers.get('x-error-code')).toBe(error.code)
      expect(response.headers.get('x-error-message')).toBe(error.message)
      expect(error.message).toContain('/v1/prices/latest')
      expect(response.headers.get('cache-control')).toBe('no-store')
    },
  )

  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  test('is a page for a browser, with the status and the headers of the error', async () => {
    const { get, send, key } = openTestInstance()
    for (const path of ['/nope', '/seris/WTI_USD', '/v1/prices/2026-02-30']) {
      const response = await get(path, undefined, { accept: browser })
      expect({ path, status: response.status }).toEqual({ path, status: 404 })
      expect(response.headers.get('content-type')).toStartWith('text/html')
      expect(response.headers.get('content-security-policy')).toContain('script-src')
      expect(response.headers.get('x-error-code')).toBe('ROUTE_NOT_FOUND')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(await response.text()).toStartWith('<!doctype html>')
    }
    // A request that changes data did not come from a browser that looks for a page.
    const form = await send('POST', '/nope', {}, key(), { accept: browser })
    expect({ status: form.status, text: await form.text() }).toEqual({ status: 404, text: '' })
  })
})
