import { describe, expect, test } from 'bun:test'
import { createAccessLog } from '../../src/http/access-log.ts'
import { preflight } from '../../src/http/answer/cors.ts'
import { createEncoder } from '../../src/http/answer/encoding.ts'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import { createApp } from '../../src/instance/app/app.ts'
import { createLog } from '../../src/lib/log/log.ts'
import { aloneVitals } from '../../src/topics/condition/service/vitals.ts'
import { openTestInstance } from '../support/instance/instance.ts'

type Fields = Record<string, unknown>

const instance = openTestInstance({ 'limits.per_minute': '1000' })
const token = instance.key('enterprise')
/** The address of an account that is billed. */
const email = 'billed@example.com'
instance.key('free', { email })
const operator = { authorization: `Bearer ${instance.services.adminTokens.rotate()}` }
const jsonOf = async (response: Response) => (await response.json()) as Fields
const usedOf = async () =>
  (await jsonOf(await instance.get('/v1/users/me', token))).requests_this_month

describe('a refusal', () => {
  test('of a missing or wrong key names the schemes that a key may come with', async () => {
    for (const key of [undefined, 'wrong']) {
      const response = await instance.get('/v1/usage', key)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Token realm="api", Bearer realm="api"')
    }
    expect((await instance.get('/v1/usage', token)).headers.get('www-authenticate')).toBeNull()
  })

  test.each([
    ['/v1/prices/latest?by_code=NOPE_USD', 400, 'invalid_code'],
    ['/v1/commodities/NOPE_USD', 404, 'COMMODITY_NOT_FOUND'],
    ['/v1/nope', 404, 'ROUTE_NOT_FOUND'],
  ])(
    '%s has the members of problem details where they are requested',
    async (path, status, code) => {
      const details = await instance.get(path, token, { accept: 'application/problem+json' })
      expect(details.status).toBe(status)
      expect(details.headers.get('content-type')).toStartWith('application/problem+json')
      const body = await jsonOf(details)
      expect(body).toMatchObject({ title: code, status, instance: path.replace(/\?.*/, '') })
      expect(body.type).toEndWith(`#${code}`)
      expect(body.detail).toBe(details.headers.get('x-error-message'))
      const usual = await jsonOf(await instance.get(path, token, { accept: 'application/json' }))
      expect(usual).not.toContainKey('detail')
      const ids = /"request_id":"[^"]*"/g
      const { type, title, detail, instance: place, ...rest } = body
      const shown = (value: Fields) => JSON.stringify({ ...value, status: 0 }).replace(ids, '')
      expect(shown(rest)).toBe(shown({ ...usual, status: 0 }))
    },
  )
})

describe('an API key', () => {
  const basic = (text: string) => ({ authorization: `Basic ${btoa(text)}` })

  test('is taken as the user name or the password of Basic authentication', async () => {
    for (const text of [`${token}:`, `:${token}`, token])
      expect((await instance.get('/v1/usage', undefined, basic(text))).status, text).toBe(200)
    for (const text of ['wrong:', ':', ''])
      expect((await instance.get('/v1/usage', undefined, basic(text))).status, text).toBe(401)
  })
})

describe('a resource that can be changed', () => {
  const create = async () => {
    const created = await instance.send(
      'POST',
      '/v1/webhooks',
      { url: 'https://hooks.example.com/a', events: ['price.updated'] },
      token,
    )
    return `/v1/webhooks/${((await jsonOf(created)).data as Fields).id}`
  }

  test('is changed by one of two who send the same entity tag, and the other one is refused', async () => {
    const path = await create()
    const tag = (await instance.get(path, token)).headers.get('etag')!
    const change = (description: string, condition: string) =>
      instance.send('PATCH', path, { description }, token, { 'if-match': condition })
    const answers = await Promise.all([change('one', tag), change('two', tag)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
    const refused = answers.find(({ status }) => status === 412)!
    expect(refused.headers.get('x-error-code')).toBe('PRECONDITION_FAILED')
    const fresh = refused.headers.get('etag')!
    expect((await instance.get(path, token)).headers.get('etag')).toBe(fresh)
    expect((await change('three', `"other", ${fresh}`)).status).toBe(200)
    expect((await change('four', '*')).status).toBe(200)
  })

  test('is removed with its entity tag, and not with another', async () => {
    const path = await create()
    const remove = (condition: string) =>
      instance.send('DELETE', path, undefined, token, { 'if-match': condition })
    expect((await remove('"other"')).status).toBe(412)
    const read = await instance.get(path, token)
    expect(read.status).toBe(200)
    expect((await remove(read.headers.get('etag')!)).status).toBe(200)
    expect((await instance.get(path, token)).status).toBe(404)
  })

  test('has its new entity tag in the answer to PATCH, with which it is changed again', async () => {
    const path = await create()
    const change = (description: string, condition?: string) =>
      instance.send(
        'PATCH',
        path,
        { description },
        token,
        condition ? { 'if-match': condition } : {},
      )
    const tag = (await change('one')).headers.get('etag')!
    expect((await instance.get(path, token)).headers.get('etag')).toBe(tag)
    expect((await change('two', tag)).status).toBe(200)
    expect((await change('three', tag)).status).toBe(412)
  })

  test('is changed with the entity tag from before it was used, which is not the tag of its body now', async () => {
    const { id } = await jsonOf(await instance.get('/v1/users/me', token))
    const path = `/admin/v1/accounts/${id}`
    const read = () => instance.get(path, undefined, operator)
    const tag = (await read()).headers.get('etag')!
    await instance.get('/v1/prices/latest?by_code=WTI_USD', token)
    expect((await read()).headers.get('etag')).not.toBe(tag)
    const change = (body: object) =>
      instance.send('PATCH', path, body, undefined, { ...operator, 'if-match': tag })
    expect((await change({ add_ons: ['sms'] })).status).toBe(200)
    expect((await change({ add_ons: [] })).status).toBe(412)
  })

  test('a path that refuses every request has no entity tag, and If-Match does not change its refusal', async () => {
    expect((await instance.get('/mcp', token)).headers.get('etag')).toBe(null)
    const condition = { 'if-match': '"other"' }
    const ended = await instance.send('DELETE', '/mcp', undefined, token, condition)
    expect(ended.status).toBe(405)
  })

  test('without an entity tag is not changed where a condition names one', async () => {
    const condition = { 'if-match': '"any"' }
    const count = async () =>
      ((await jsonOf(await instance.get('/v1/webhooks', token))).data as unknown[]).length
    const before = await count()
    const body = { url: 'https://hooks.example/in', events: ['price.updated'] }
    const created = (headers: Record<string, string>) =>
      instance.send('POST', '/v1/webhooks', body, token, headers)
    const refused = await created(condition)
    expect(refused.status).toBe(412)
    expect(await refused.text()).toContain('If-Match must be * or absent')
    expect(await count()).toBe(before)
    // These have no read at their path.
    for (const [method, path] of [
      ['PATCH', '/v1/api-keys/00000000-0000-4000-8000-0000000000ff'],
      ['POST', '/v1/prices/batch'],
    ] as const) {
      const input = method === 'POST' ? { codes: ['WTI_USD'] } : {}
      const answer = await instance.send(method, path, input, token, condition)
      expect({ path, code: answer.headers.get('x-error-code') }).toEqual({
        path,
        code: 'PRECONDITION_FAILED',
      })
    }
    expect((await created({ 'if-match': '*' })).status).toBe(201)
  })

  test('is changed without a condition, and one that does not exist is 404 with one', async () => {
    const path = await create()
    expect((await instance.send('PATCH', path, { description: 'a' }, token)).status).toBe(200)
    const none = path.replace(/[^/]+$/, '00000000-0000-4000-8000-0000000000ff')
    const answer = await instance.send('PATCH', none, {}, token, { 'if-match': '"x"' })
    expect(answer.status).toBe(404)
  })
})

test('a page of another origin may send ranges, conditions and traces, and use PUT', () => {
  const request = new Request('http://localhost/v1/files', {
    method: 'OPTIONS',
    headers: { origin: 'https://desk.example' },
  })
  const { headers } = preflight(request, ['*'])
  const listOf = (name: string) => headers.get(name)!.toLowerCase().split(', ')
  expect(listOf('access-control-allow-methods')).toContain('put')
  for (const name of [
    'if-match',
    'if-modified-since',
    'if-range',
    'range',
    'traceparent',
    'tracestate',
  ])
    expect(listOf('access-control-allow-headers')).toContain(name)
  for (const name of [
    'content-range',
    'accept-ranges',
    'content-disposition',
    'location',
    'preference-applied',
    'x-has-more',
    'x-next-cursor',
    'x-quota-requests',
  ])
    expect(listOf('access-control-expose-headers')).toContain(name)
})

const documents = (await (await instance.get('/openapi.json')).json()) as OpenApiDocument
const created: Readonly<Record<string, object | undefined>> = {
  '/v1/alerts': undefined,
  '/v1/data-sources': undefined,
  '/v1/formulas': undefined,
  '/v1/scheduled-deliveries': undefined,
  '/v1/subscriptions': undefined,
  '/v1/webhooks': undefined,
  '/admin/v1/accounts': { email: 'new@example.com' },
  '/admin/v1/batches': { file_name: 'wti.csv' },
  '/admin/v1/invoices': { account: email, description: 'Set-up', amount: 4900 },
  '/admin/v1/subscriptions': { account: email, plan: 'developer', price: 1200 },
}

test.each(Object.entries(created))(
  'what POST %s creates is at the address in Location, also in a repeat',
  async (path, given) => {
    const { requestBody } = documents.paths[path]!.post!
    const body = given ?? requestBody!.content['application/json']!.example
    const credentials = path.startsWith('/admin/') ? operator : { authorization: `Token ${token}` }
    const headers = { ...credentials, 'idempotency-key': `location of ${path}` }
    const answer = await instance.send('POST', path, body, undefined, headers)
    expect(answer.status, await answer.text()).toBe(201)
    const location = answer.headers.get('location')!
    expect(location).toStartWith(`${path}/`)
    expect((await instance.get(location, undefined, credentials)).status).toBe(200)
    const repeated = await instance.send('POST', path, body, undefined, headers)
    expect({ status: repeated.status, location: repeated.headers.get('location') }).toEqual({
      status: 201,
      location,
    })
  },
)

test('every path that creates a resource with an address is among those with Location', () => {
  const isRead = (path: string) => documents.paths[path]?.get !== undefined
  const paths = Object.keys(documents.paths)
  const creating = paths.filter(
    path =>
      documents.paths[path]!.post?.responses[201] &&
      paths.some(one => isRead(one) && one.replace(/\/\{\w+\}$/, '') === path && one !== path),
  )
  expect(creating.sort()).toEqual(Object.keys(created).sort())
})

test('304 to HEAD has no length, as to GET', async () => {
  const path = '/v1/commodities'
  const etag = (await instance.get(path, token)).headers.get('etag')!
  const served = createEncoder()
  for (const method of ['GET', 'HEAD']) {
    const headers = { authorization: `Token ${token}`, 'if-none-match': etag }
    const request = new Request(`http://localhost${path}`, { method, headers })
    const answer = await served.leave(request, await instance.app.handle(request))
    expect({ status: answer.status, contentLength: answer.headers.get('content-length') }).toEqual({
      status: 304,
      contentLength: null,
    })
  }
})

describe('a read', () => {
  instance.record('WTI_USD', [70, 71], instance.clock.now() - 60_000, 60_000)
  const codes = '/v1/commodities?include_unavailable=true'
  const file = '/v1/export/prices?codes=WTI_USD&interval=day'

  test.each([codes, '/v1/prices/latest?by_code=WTI_USD', file])(
    'of %s with If-Match is refused where no tag is that of the resource, and then costs nothing',
    async path => {
      const etag = (await instance.get(path, token)).headers.get('etag')!
      const statusOf = async (condition: string, more: Record<string, string> = {}) =>
        (await instance.get(path, token, { 'if-match': condition, ...more })).status
      expect(await statusOf(etag)).toBe(200)
      expect(await statusOf(`"other", ${etag}`)).toBe(200)
      expect(await statusOf('*')).toBe(200)
      const before = await usedOf()
      expect(await statusOf('"other"')).toBe(412)
      expect(await statusOf('"other"', { 'if-none-match': etag })).toBe(412)
      expect(await usedOf()).toBe(before)
    },
  )

  test('of a file that has changed since the time in If-Unmodified-Since is refused', async () => {
    const modified = (await instance.get(file, token)).headers.get('last-modified')!
    const statusOf = async (since: string) =>
      (await instance.get(file, token, { 'if-unmodified-since': since })).status
    expect(await statusOf(modified)).toBe(200)
    expect(await statusOf('not a time')).toBe(200)
    expect(await statusOf(new Date(Date.parse(modified) - 1000).toUTCString())).toBe(412)
  })
})

describe('a read that a query worker answers', () => {
  /** A worker whose encoded answer is longer than one message. */
  const asked = async (condition: string) => {
    let hasEnded = false
    const app = createApp(instance.services, {
      vitals: aloneVitals,
      queryWorkers: {
        ask: async () => ({
          kind: 'answer',
          id: 1,
          status: 200,
          headers: [
            ['content-encoding', 'gzip'],
            ['etag', '"version-gzip"'],
          ],
          body: new Uint8Array(),
          goesOn: true,
          asked: [],
        }),
        rest: () =>
          new ReadableStream({
            cancel() {
              hasEnded = true
            },
          }),
        notify: () => undefined,
        waiting: () => 0,
        state: () => ({ ready: 1, starting: 0, failed: 0, fault: undefined }),
        stop: () => undefined,
      },
    })
    const request = new Request(
      'http://localhost/v1/prices/past_year?by_code=WTI_USD&interval=1w',
      {
        headers: { authorization: `Token ${token}`, 'if-match': condition },
      },
    )
    const { status, headers } = await app.fetch(request)
    return { status, coding: headers.get('content-encoding'), hasEnded }
  }

  test('meets the If-Match with the entity tag that it was sent with', async () => {
    expect(await asked('"version-gzip"')).toEqual({
      status: 200,
      coding: 'gzip',
      hasEnded: false,
    })
  })

  test('ends in the worker where it does not meet its If-Match', async () => {
    expect(await asked('"other-gzip"')).toEqual({
      status: 412,
      coding: null,
      hasEnded: true,
    })
  })
})

test('a refusal that is sent with 200 is sent as it is, whatever If-Match says', async () => {
  const path = '/v1/excel/run?path=/v1/prices/latest&format=xml'
  for (const condition of ['"other"', '*']) {
    const answer = await instance.get(path, undefined, { 'if-match': condition })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('<status>auth_failed</status>')
  }
})

describe('OPTIONS', () => {
  const ask = (path: string, headers: Record<string, string> = {}) =>
    instance.app.handle(new Request(`http://localhost${path}`, { method: 'OPTIONS', headers }))

  test.each([
    ['/v1/prices/latest', 'GET, HEAD, OPTIONS'],
    ['/v1/webhooks', 'GET, HEAD, POST, OPTIONS'],
    ['/v1/webhooks/some', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
    ['/mcp', 'POST, OPTIONS'],
    ['/v1/nothing/at/all/of/this', null],
  ])('of %s returns 204 with the methods of the path', async (path, allow) => {
    const { status, headers } = await ask(path)
    expect({ status, allow: headers.get('allow'), errorCode: headers.get('x-error-code') }).toEqual(
      { status: 204, allow, errorCode: null },
    )
  })

  test('of a page of another origin lets the page read the answer', async () => {
    const { headers } = await ask('/v1/prices/latest', { origin: 'https://desk.example' })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('allow')).toStartWith('GET')
  })
})

describe('what programs look for at the same address everywhere', () => {
  test('the API catalog links to documents that exist', async () => {
    const response = await instance.get('/.well-known/api-catalog')
    expect(response.headers.get('content-type')).toBe('application/linkset+json')
    const { paths } = (await (await instance.get('/openapi.json')).json()) as OpenApiDocument
    const documented = paths['/.well-known/api-catalog']!.get!.responses['200']!
    expect(Object.keys(documented.content!)).toEqual(['application/linkset+json'])
    const { linkset } = (await response.json()) as { linkset: Record<string, { href: string }[]>[] }
    const links = Object.values(linkset[0]!).filter(Array.isArray).flat()
    expect(links.length).toBeGreaterThan(3)
    for (const { href } of links.filter(({ href }) => !href.includes('/docs'))) {
      const { pathname } = new URL(href)
      expect((await instance.get(pathname)).status, pathname).toBe(200)
    }
  })

  test('the security contact has not expired, and the text for models names the document', async () => {
    const contact = await (await instance.get('/.well-known/security.txt')).text()
    const [, expires = ''] = /^Expires: (.+)$/m.exec(contact) ?? []
    expect(Date.parse(expires)).toBeGreaterThan(instance.clock.now())
    expect(contact).toStartWith('Contact: http')
    const text = await (await instance.get('/llms.txt')).text()
    expect(text).toStartWith('# Wellhead')
    expect(text).toContain('/openapi.json')
  })
})

test('a line of the access log names the trace that the caller continues, and no other text', () => {
  const lines: string[] = []
  const log = createLog({
    level: 'info',
    format: 'json',
    write: line => void lines.push(line),
    clock: instance.clock,
  })
  const access = createAccessLog({ log, share: 1, chance: () => 0, now: () => 0 })
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  for (const traceparent of [
    `00-${trace}-00f067aa0ba902b7-01`,
    'secret',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  ])
    access.leave(
      new Request('http://localhost/v1/usage', { headers: { traceparent } }),
      new Response(null, { status: 204 }),
      0,
    )
  expect(lines.map(line => (JSON.parse(line) as Fields).trace_id)).toEqual([
    trace,
    undefined,
    undefined,
  ])
})

test('an alias names the day on which it was deprecated and the first on which it may go', async () => {
  const { headers } = await instance.get('/v1/rig-counts/current', token)
  expect(headers.get('deprecation')).toBe('@1795824000')
  expect(headers.get('sunset')).toBe('Sun, 28 Nov 2027 00:00:00 GMT')
  expect(headers.get('link')).toContain('rel="successor-version"')
})

test('every guide that the text for models lists is served as Markdown', async () => {
  const text = await (await instance.get('/llms.txt')).text()
  const paths = [...text.matchAll(/\]\(https?:\/\/[^/]+(\/docs\/[\w-]+\.md)\)/g)].map(
    ([, path]) => path!,
  )
  expect(paths.length).toBeGreaterThan(60)
  for (const path of paths) {
    const guide = await instance.get(path)
    expect(guide.status, path).toBe(200)
    expect(guide.headers.get('content-type')).toStartWith('text/markdown')
    const markdown = await guide.text()
    expect(markdown, path).toStartWith('# ')
    // Links lead to pages that are served as Markdown too.
    for (const [, linked] of markdown.matchAll(/\]\((\/docs\/[\w-]+\.md)/g))
      expect(paths).toContain(linked!)
  }
  expect((await instance.get('/docs/nope.md')).status).toBe(404)
})
