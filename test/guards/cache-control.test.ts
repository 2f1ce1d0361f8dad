import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { scopeOf } from '../../src/plans/roles/scopes.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { boundless, type Row, rows, sampleId } from '../support/interface/every-route.ts'

let copy: DemoInstance
beforeAll(() => {
  copy = demoInstance(undefined, boundless)
}, 120_000)
afterAll(() => copy.remove())

const addressed = rows.filter(({ path }) => !path.startsWith('/_dev/') && path !== '/cable')

/** The request of the list, else one whose ids name nothing. */
const sampleOf = ({ path, sample }: Row): string =>
  sample ?? path.replace(/\{\w+\}/g, sampleId(999_999))

async function cacheControlOf(row: Row): Promise<string | null> {
  const { method, access, body } = row
  const response = await copy.ask(method, sampleOf(row), {
    ...(access === 'operator' && {
      key: null,
      headers: { authorization: `Bearer ${copy.adminToken}` },
    }),
    ...(method !== 'GET' && method !== 'DELETE' && { body: body ?? {} }),
  })
  await response.body?.cancel()
  return response.headers.get('cache-control')
}

describe('an answer to a key is stored by its client at most', () => {
  for (const row of addressed.filter(
    ({ access }) => access.startsWith('key') && access !== 'keyless',
  ))
    test(`${row.method} ${row.path}`, async () => {
      const route = row.path.replace(/\{(\w+)\}/g, ':$1')
      const isSecret = scopeOf(route) === 'account'
      expect(await cacheControlOf(row)).toMatch(
        isSecret ? /no-store/ : /no-store|private, no-cache/,
      )
    })
})

describe('an answer to the operator is stored by its client at most', () => {
  for (const row of addressed.filter(({ access }) => access === 'operator'))
    test(`an operator's answer to ${row.method} ${row.path} is stored by no shared cache`, async () =>
      expect(await cacheControlOf(row)).toMatch(/no-store|private, no-cache/))
})

test.each([
  ['GET', '/v1/prices/historical?by_code=WTI_USD', 'private, no-cache'],
  ['GET', '/v1/prices/past_week?by_code=WTI_USD', 'private, no-cache'],
  ['GET', '/v1/analytics/statistics?code=WTI_USD', 'private, no-cache'],
  ['GET', '/v1/prices/historical', 'private, no-cache'],
  ['GET', '/v1/account', 'no-store'],
  ['GET', '/v1/usage', 'no-store'],
  ['GET', '/v1/api-keys', 'no-store'],
  ['GET', '/v1/account/webhook-secret', 'no-store'],
])(
  '%s %s returns the Cache-Control header %s, even with a key in the URL',
  async (method, path, expected) => {
    const { headers } = await copy.ask(method, path)
    expect(headers.get('cache-control')).toBe(expected)
    const query = `${path}${path.includes('?') ? '&' : '?'}api_key=${copy.apiKey}`
    const asked = await copy.ask(method, query, { key: null })
    expect(asked.headers.get('cache-control')).toBe(expected)
  },
)

test('an answer that makes a secret, or refuses one, is stored nowhere', async () => {
  for (const [path, body] of [
    ['/v1/api-keys', { name: 'another' }],
    ['/v1/webhooks', { webhook: { url: 'https://example.com/hook', events: ['price.updated'] } }],
    ['/v1/auth/session', { email: 'nobody@example.com', password: 'wrong' }],
    ['/v1/auth/signup', { email: 'somebody@example.com' }],
  ] as const)
    expect((await copy.ask('POST', path, { body })).headers.get('cache-control'), path).toBe(
      'no-store',
    )
})
