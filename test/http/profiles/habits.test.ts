import { beforeAll, describe, expect, test } from 'bun:test'
import { XMLParser } from 'fast-xml-parser'
import { front } from '../../../src/http/front.ts'
import type { OpenApiDocument } from '../../../src/http/openapi/openapi.ts'
import { withParametersInPlace } from '../../../src/http/openapi/parameters.ts'
import { createApp } from '../../../src/instance/app/app.ts'
import listed from '../../operations/interface.json'
import { part } from '../../support/full.ts'
import type { DemoInstance } from '../../support/instance/demo-instance.ts'
import { openTestInstance, type TestInstance } from '../../support/instance/instance.ts'
import { clientsInstance, inOtherNames } from '../../support/instance/renamed-instance.ts'

interface Row {
  method: string
  path: string
  access: string
  metered: boolean
  success: number
  sample: string | null
  body?: unknown
}

const rows = (listed as Row[]).filter(row => !isStream(row))
/** Responses that continue until the client leaves. */
function isStream({ path }: Row): boolean {
  return path === '/v1/stream' || path === '/cable'
}

let copy: DemoInstance
/** Sends a request as a client does over the network: through everything in front of the router. */
let sent: (path: string, init?: RequestInit) => Promise<Response>

beforeAll(() => {
  copy = clientsInstance()
  sent = reached(copy.running.services, request => copy.running.app.handle(request))
}, 240_000)

function reached(
  { ids, config }: TestInstance['services'],
  handle: (request: Request) => Promise<Response>,
) {
  const links = { baseUrl: '', docsUrl: '', upgradeUrl: '', signupUrl: '' }
  const stand = front({
    handle,
    ids,
    links: () => links,
    vary: '',
    originals: new WeakMap(),
    corsOrigins: config.cors.origins,
    headerPrefix: config.brand.headerPrefix,
  })
  return async (path: string, { headers, ...init }: RequestInit = {}) =>
    await stand(
      new Request(`http://localhost${path}`, {
        ...init,
        headers: { host: 'localhost', ...(headers as Record<string, string>) },
      }),
    )
}

const withKey = (key = copy.apiKey) => ({ authorization: `Token ${key}` })
/** The samples that can be read over and over. */
const reads = rows
  .filter(row => row.method === 'GET' && row.sample !== null && row.access !== 'operator')
  .map(row => ({ ...row, sample: inOtherNames(row.sample!) }))

async function statusOf(path: string): Promise<number> {
  const response = await sent(path, { headers: withKey() })
  await response.body?.cancel()
  return response.status
}

test('the samples are answered', async () => {
  for (const { sample, success } of reads) expect(await statusOf(sample), sample).toBe(success)
})

const answerOf = async (response: Response) => [
  response.status,
  response.headers.get('x-error-code'),
  (await response.text()).length > 0,
]

describe('a JSON content type with an empty body', () => {
  test('changes nothing on any route and method', async () => {
    const instances = [openTestInstance(), openTestInstance()].map(instance => ({
      ...instance,
      token: instance.key(),
      admin: instance.services.adminTokens.rotate(),
    }))
    const [bare, typed] = instances as [(typeof instances)[0], (typeof instances)[0]]
    const ask = (
      { app, token, admin }: typeof bare,
      { method, path, access }: Row,
      headers: Record<string, string>,
      body?: string,
    ) =>
      app.handle(
        new Request(
          `http://localhost${path.replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000999')}`,
          {
            method,
            headers: {
              authorization: access === 'operator' ? `Bearer ${admin}` : `Token ${token}`,
              ...headers,
            },
            ...(body !== undefined && { body }),
          },
        ),
      )
    let compared = 0
    const others = rows.filter(({ path }) => path !== '/admin/v1/token/rotate')
    for (const row of part(others)) {
      for (const instance of instances) instance.clock.advance(60_000)
      const bareAnswer = await answerOf(await ask(bare, row, {}))
      const json = { 'content-type': 'application/json' }
      const profileAnswer =
        row.method === 'GET'
          ? await ask(typed, row, json)
          : await ask(typed, row, { ...json, 'content-length': '0' }, '')
      expect(await answerOf(profileAnswer), `${row.method} ${row.path}`).toEqual(bareAnswer)
      expect(bareAnswer[1], `${row.method} ${row.path}`).not.toBe('MALFORMED_JSON')
      compared += 1
    }
    expect(compared).toBe(part(others).length)
  })

  test('malformed JSON is still refused on routes that take no body', async () => {
    for (const [method, path] of [
      ['DELETE', '/v1/alerts/1'],
      ['POST', '/v1/notifications/mark_all_read'],
      ['POST', '/v1/prices/batch'],
    ] as const) {
      const response = await sent(path, {
        method,
        headers: { ...withKey(), 'content-type': 'application/json' },
        body: '{',
      })
      expect(
        { status: response.status, errorCode: response.headers.get('x-error-code') },
        path,
      ).toEqual({ status: 400, errorCode: 'MALFORMED_JSON' })
    }
  })
})

describe('paths', () => {
  const spellings: [string, (path: string) => string][] = [
    ['a leading double slash', path => `/${path}`],
    ['three leading slashes', path => `//${path}`],
    ['a trailing slash', path => path.replace(/\/?(\?|$)/, '/$1')],
    ['both', path => `/${path.replace(/\/?(\?|$)/, '/$1')}`],
  ]
  for (const [name, spelt] of spellings) {
    test(`${name} is the same path`, async () => {
      for (const { sample } of reads)
        expect(await statusOf(spelt(sample)), sample).toBe(await statusOf(sample))
    })
  }

  test('a static segment wins over a parameter', async () => {
    const pattern = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
    const shadowing = reads.filter(({ path }) =>
      rows.some(
        other =>
          other.method === 'GET' &&
          other.path !== path &&
          !path.includes('{') &&
          pattern(other.path).test(path),
      ),
    )
    for (const { sample, success } of shadowing) {
      const response = await sent(sample, { headers: withKey() })
      expect(response.status, `${sample}: ${(await response.text()).slice(0, 200)}`).toBe(success)
    }
    const shadowed = shadowing.map(row => row.path)
    for (const path of [
      '/v1/prices/latest',
      '/v1/futures/latest',
      '/v1/alerts/triggers',
      '/v1/commodities/categories',
    ]) {
      expect(shadowed).toContain(path)
    }
  })
})

describe('query keys', () => {
  test.each([
    ['by_period[from]=2026-01-02&by_period[to]=2026-03-01'],
    ['by_period%5Bfrom%5D=2026-01-02&by_period%5Bto%5D=2026-03-01'],
    ['by_period%5bfrom%5d=2026-01-02&by_period[to]=2026-03-01'],
  ])('%s is read', async query => {
    const response = await sent(`/v1/rig-counts/historical?${query}`, { headers: withKey() })
    const text = await response.text()
    expect(response.status, text.slice(0, 300)).toBe(200)
    const plain = await sent(
      '/v1/rig-counts/historical?start_date=2026-01-02&end_date=2026-03-01',
      { headers: withKey() },
    )
    expect(text).toBe(await plain.text())
  })

  test('commas in lists may be encoded', async () => {
    const texts = await Promise.all(
      ['WTI_USD,BRENT_CRUDE_USD', 'WTI_USD%2CBRENT_CRUDE_USD', 'WTI_USD%2cBRENT_CRUDE_USD'].map(
        async codes =>
          (await sent(`/v1/prices/latest?by_code=${codes}`, { headers: withKey() })).text(),
      ),
    )
    expect(new Set(texts).size).toBe(1)
  })

  test('unknown ones are ignored', async () => {
    for (const { sample } of reads) {
      const more = `${sample}${sample.includes('?') ? '&' : '?'}utm_source=x&_=1&a[b][]=c`
      expect(await statusOf(more), sample).toBe(await statusOf(sample))
    }
  })
})

describe('a CORS preflight', () => {
  test('is answered on every path without a key, and costs no request and no rate slot', async () => {
    const { services, key } = openTestInstance({
      'limits.unauthenticated_per_minute': '1',
      'limits.per_minute': '1',
    })
    const token = key()
    const stand = reached(services, request => createApp(services).handle(request))
    for (const path of new Set(rows.map(row => row.path))) {
      const headers = {
        origin: 'https://desk.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      }
      const response = await stand(path, { method: 'OPTIONS', headers })
      expect({ status: response.status, text: await response.text() }, path).toEqual({
        status: 204,
        text: '',
      })
      const allowed = response.headers.get('access-control-allow-headers')!
      const names = [
        'authorization',
        'content-type',
        'if-none-match',
        'idempotency-key',
        'x-service-source',
        'x-service-tool',
      ]
      for (const name of names) expect(allowed.split(', ')).toContain(name)
      expect(response.headers.get('access-control-expose-headers')!.split(', ')).toContain(
        'X-Service-Data',
      )
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(response.headers.has('ratelimit')).toBe(false)
    }
    expect((await stand('/v1/status', { headers: withKey(token) })).status).toBe(200)
    expect((await stand('/v1/meta/limits')).status).toBe(200)
  })
})

describe('creating requests that are sent again', () => {
  let document: OpenApiDocument
  beforeAll(async () => {
    document = withParametersInPlace(
      (await (await sent('/openapi.json')).json()) as OpenApiDocument,
    )
  })
  const parameterless = (path: string) => path.replace(/\{\w+\}/g, '{}')
  const takesKey = (row: Row) => {
    const [, item] = Object.entries(document.paths).find(
      ([path]) => parameterless(path) === parameterless(row.path),
    )!
    return (
      item.post!.parameters?.some(
        parameter => parameter.in === 'header' && parameter.name === 'idempotency-key',
      ) === true
    )
  }
  const creating = rows.filter(
    row =>
      row.method === 'POST' &&
      row.access === 'key-header-only' &&
      (row.success === 201 || row.body),
  )
  /** These requests read or change data: a repeat creates nothing. */
  const asking = [
    '/v1/prices/batch',
    '/grafana/search',
    '/grafana/query',
    '/grafana/metrics',
    '/grafana/variable',
    '/grafana/annotations',
    '/v1/alerts/backtest',
    '/v1/formulas/preview',
    '/v1/diesel-prices/stations',
    '/v1/webhooks/{id}/replay',
    '/v1/phone/verify',
    '/v1/auth/second-factor',
    '/v1/data-sources/{id}/rotate_credentials',
    '/billing/customer-portal/sessions',
    '/billing/subscriptions/change_plan',
  ]

  test('every one of them takes an Idempotency-Key', () => {
    const missing = creating.filter(row => !takesKey(row)).map(row => row.path)
    expect(missing.filter(path => !asking.includes(path))).toEqual([])
    expect(creating.length).toBeGreaterThan(8)
  })

  for (const row of creating.filter(row => !row.path.includes('{') && !asking.includes(row.path))) {
    test(`POST ${row.path} makes one thing of two equal requests, and counts one`, async () => {
      const { keys, meter, ids, clock } = copy.running.services
      const at = clock.now()
      const account = keys.putAccount({
        id: ids.uuid(),
        email: `${ids.uuid()}@habits.example`,
        plan: 'enterprise',
        addOns: [],
        trialStartedAt: null,
        trialEndsAt: null,
        emailConfirmedAt: at,
        suspendedAt: null,
        createdAt: at,
      })
      const { token } = keys.addKey(account)
      const used = () => meter.quotaUsage(keys.find(token)!).used
      const body = JSON.stringify(row.body).replaceAll('@example.com', `@${ids.uuid()}.example`)
      const ask = (text: string) =>
        sent(row.sample!, {
          method: 'POST',
          headers: {
            ...withKey(token),
            'content-type': 'application/json',
            'idempotency-key': 'once',
          },
          body: text,
        })
      const first = await ask(body)
      const text = await first.text()
      expect(first.status, text.slice(0, 300)).toBe(row.success)
      expect(first.headers.has('idempotent-replayed')).toBe(false)
      const again = await ask(body)
      expect({
        status: again.status,
        idempotentReplayed: again.headers.get('idempotent-replayed'),
        text: await again.text(),
      }).toEqual({ status: row.success, idempotentReplayed: 'true', text })
      expect(used()).toBe(row.metered ? 1 : 0)
      const other = await ask(body.replace(/\}$/, ',"more":1}'))
      expect({ status: other.status, xErrorCode: other.headers.get('x-error-code') }).toEqual({
        status: 422,
        xErrorCode: 'idempotency_key_reused',
      })
    })
  }
})

describe('Retry-After', () => {
  const seconds = async (response: Response, status: number) => {
    expect(response.status).toBe(status)
    const retryAfter = response.headers.get('retry-after')
    expect(retryAfter).toMatch(/^[1-9]\d*$/)
    const { retry_after } = (await response.json()) as { retry_after?: number }
    if (retry_after !== undefined) expect(String(retry_after)).toBe(retryAfter!)
    return Number(retryAfter)
  }
  const resourceId = '1'
  const small = {
    'limits.per_minute': resourceId,
    'limits.unauthenticated_per_minute': resourceId,
    'demo.limit_per_hour': resourceId,
  }
  const marine = {
    'limits.marine_per_minute': resourceId,
    'limits.marine_historical_per_minute': resourceId,
  }

  test('is a whole number of seconds, after which the request goes through', async () => {
    const cases: [flags: Record<string, string>, path: string, keyed: boolean][] = [
      [small, '/v1/status', true],
      [small, '/v1/meta/limits', false],
      [small, '/v1/demo/prices', false],
      [marine, '/v1/marine-ports', true],
      [marine, '/v1/prices/marine-fuels/historical', true],
    ]
    for (const [flags, path, keyed] of cases) {
      const { get, key, clock } = openTestInstance(flags)
      const token = keyed ? key() : undefined
      clock.advance(123)
      const first = (await get(path, token)).status
      clock.advance(777)
      const wait = await seconds(await get(path, token), 429)
      clock.advance(wait * 1000)
      expect((await get(path, token)).status, path).toBe(first)
    }
  })

  test('of a used-up quota reaches to its reset', async () => {
    for (const [plan, trial, limit] of [
      ['developer', false, 10_000],
      ['free', true, 10_000],
    ] as const) {
      const { get, key, clock, services } = openTestInstance()
      const token = key(plan, { trial })
      clock.advance(123)
      for (let i = 0; i < limit; i += 1) services.meter.reserve(services.keys.find(token)!)
      const wait = await seconds(await get('/v1/prices', token), 429)
      clock.advance(wait * 1000)
      expect((await get('/v1/prices', token)).status).toBe(200)
    }
  })
})

describe('the XML for spreadsheets', () => {
  const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false })
  /** The results of sheet functions in one cell. */
  const cellCharactersMax = 32_767
  const columnsMax = 12

  test('of every data path parses, under the name that is set, within what a cell takes', async () => {
    const paths = [
      '/v1/prices/',
      '/v1/commodities',
      '/v1/futures/',
      '/v1/storage',
      '/v1/spreads/',
      '/v1/ei/',
      '/v1/fuel-surcharge',
    ]
    const samples = reads.filter(
      ({ path }) =>
        paths.some(start => path.startsWith(start)) &&
        !/excel|widget|export|data-connector/.test(path),
    )
    for (const { sample } of samples) {
      const [path, query = ''] = sample.split('?')
      const response = await sent(
        `/v1/excel/run.xml?path=${encodeURIComponent(path!)}&limit=100&${query}`,
        { headers: withKey() },
      )
      const text = await response.text()
      expect(response.status, sample).toBe(200)
      expect(text.length, sample).toBeLessThan(cellCharactersMax)
      const { kestrel } = parser.parse(text) as {
        kestrel: { status: string; columns: Record<string, string>; rows: { row: unknown } }
      }
      expect(['ok', 'invalid_request'], `${sample}: ${text.slice(0, 300)}`).toContain(
        kestrel.status,
      )
      if (kestrel.status === 'ok')
        expect(Object.keys(kestrel.columns).length, sample).toBeLessThanOrEqual(columnsMax)
    }
    expect(samples.length).toBeGreaterThan(50)
  })

  test('answers failures with 200 and a word for them', async () => {
    const word = async (path: string, key?: string) => {
      const response = await sent(path, { headers: key === undefined ? {} : withKey(key) })
      return [
        response.status,
        (parser.parse(await response.text()) as { kestrel: { status: string } }).kestrel.status,
      ]
    }
    expect(await word('/v1/prices/excel-latest.xml?codes=WTI_USD')).toEqual([200, 'auth_failed'])
    expect(await word('/v1/excel/run.xml?path=/v1/nothing', copy.apiKey)).toEqual([
      200,
      'invalid_request',
    ])
    expect(await word('/v1/excel/run.xml?path=/v1/prices/nothing', copy.apiKey)).toEqual([
      200,
      'not_found',
    ])
    expect(await word('/v1/prices/excel-latest.xml?codes=WTI_USD', copy.apiKey)).toEqual([
      200,
      'ok',
    ])
  })
})
