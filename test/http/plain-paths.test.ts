import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { findPlainPaths } from '../../src/http/plain-paths.ts'
import { openTestInstance } from '../support/instance/instance.ts'

const app = new Elysia({ strictPath: false, precompile: false })
  .get('/', () => 'root')
  .get('/v1/prices/latest', () => 'latest')
  .get('/v1/prices/:id', ({ params }) => `price ${params.id}`)
  .post('/v1/prices/latest', () => 'posted')
  .get('/docs/*', ({ params }) => `page ${params['*']}`)
  .get('/docs/start', () => 'start')
findPlainPaths(app)

test.each([
  ['GET', '/', 200, 'root'],
  ['GET', '/v1/prices/latest', 200, 'latest'],
  ['GET', '/v1/prices/latest/', 200, 'latest'],
  ['GET', '/v1/prices/latest?by_code=WTI_USD', 200, 'latest'],
  ['GET', '/v1/prices/later', 200, 'price later'],
  ['POST', '/v1/prices/latest', 200, 'posted'],
  ['DELETE', '/v1/prices/latest', 404, 'NOT_FOUND'],
  ['GET', '/v1/prices', 404, 'NOT_FOUND'],
  ['GET', '/docs/start', 200, 'start'],
  ['GET', '/docs/other', 200, 'page other'],
] as const)('%s %s: %p', async (method, path, status, text) => {
  const response = await app.handle(new Request(`http://localhost${path}`, { method }))
  expect([response.status, await response.text()]).toEqual([status, text])
})

test('HEAD is GET without its body', async () => {
  const request = new Request('http://localhost/v1/prices/latest', { method: 'HEAD' })
  const response = await app.handle(request)
  expect([response.status, await response.text()]).toEqual([200, ''])
  expect(response.headers.get('content-length')).toBe('6')
})

const instance = openTestInstance()

test('no path of the interface is left to the switch', () => {
  expect(instance.app.routes.length).toBeGreaterThan(500)
  expect(instance.app.router.static).toEqual({})
})
