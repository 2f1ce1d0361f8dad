import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import { withParametersInPlace } from '../../src/http/openapi/parameters.ts'
import { scopeOf } from '../../src/plans/roles/scopes.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { boundless, rows } from '../support/interface/every-route.ts'

let copy: DemoInstance
beforeAll(() => {
  copy = demoInstance(undefined, boundless)
}, 120_000)
afterAll(() => copy.remove())

type Body = Record<string, unknown> & { data?: Record<string, unknown> }
const metadataOf = (body: Body) => (body.metadata ?? body.data?.metadata) as Body | undefined

async function bodyOf(path: string) {
  const response = await copy.ask('GET', path)
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  if (!isJson || response.status !== 200) {
    await response.body?.cancel()
    return { headers: response.headers, body: undefined }
  }
  return { headers: response.headers, body: (await response.json()) as Body }
}

const reading = rows.filter(
  ({ method, access, sample }) => method === 'GET' && access.startsWith('key') && sample,
)
const named = new Set<string>()

describe('a parameter that means nothing is named in the metadata of the body, where it has one', () => {
  for (const { path, sample } of reading)
    test(path, async () => {
      const plain = await bodyOf(sample!)
      const strange = await bodyOf(`${sample}${sample!.includes('?') ? '&' : '?'}wholly_unknown=1`)
      if (!strange.headers.has('x-service-ignored-parameters') || !strange.body) return
      const metadata = metadataOf(strange.body)
      const route = path.replace(/\{(\w+)\}/g, ':$1')
      if (typeof metadata !== 'object' || metadata === null || scopeOf(route) === 'alerts') {
        expect(Object.keys(strange.body)).toEqual(Object.keys(plain.body!))
        if (!path.endsWith('.json'))
          expect(JSON.stringify(strange.body)).not.toContain('ignored_parameters')
        return
      }
      expect(metadata.ignored_parameters).toEqual([{ parameter: 'wholly_unknown', nearest: null }])
      named.add(path)
      expect(metadataOf(plain.body!)).not.toHaveProperty('ignored_parameters')
      if (plain.headers.has('etag'))
        expect(strange.headers.get('etag')).not.toBe(plain.headers.get('etag'))
    }, 60_000)

  test('among them the histories', () => {
    for (const path of ['/v1/prices/historical', '/v1/prices/past_week', '/v1/prices/past_year'])
      expect(named).toContain(path)
  })
})

describe('an operation with query parameters documents the header that names unknown ones, and sends it', () => {
  let paths: OpenApiDocument['paths']
  beforeAll(async () => {
    const response = await copy.ask('GET', '/openapi.json')
    paths = withParametersInPlace((await response.json()) as OpenApiDocument).paths
  })
  const shapeOf = (path: string) => path.replaceAll(/\{\w+\}/g, '{}').replace(/\/$/, '')
  const documented = (path: string) =>
    Object.entries(paths).find(([other]) => shapeOf(other) === shapeOf(path))?.[1]
  // A sheet or widget passes its parameters on to another path, which may know them.
  const passing = (path: string) => path.includes('/excel') || path === '/openbb/table'
  for (const { path, sample } of reading.filter(({ path }) => !passing(path)))
    test(path, async () => {
      const { parameters = [], responses } = documented(path)!.get!
      const takesQuery = parameters.some(parameter => parameter.in === 'query')
      const isDocumented = responses['200']?.headers?.['X-Service-Ignored-Parameters']
      if (!isDocumented) return expect(takesQuery && responses['200']).toBeFalsy()
      const strange = await bodyOf(`${sample}${sample!.includes('?') ? '&' : '?'}wholly_unknown=1`)
      expect(strange.headers.get('x-service-ignored-parameters')).toBe('wholly_unknown')
    }, 60_000)
})

test('a misspelled parameter is named with the nearest that there is', async () => {
  const path = '/v1/prices/historical?by_code=WTI_USD&interval=daily&start=2026-11-01'
  const { body, headers } = await bodyOf(path)
  expect(metadataOf(body!)!.ignored_parameters).toEqual([
    { parameter: 'start', nearest: 'start_date' },
  ])
  expect(headers.get('x-service-ignored-parameters')).toBe('start;nearest=start_date')
  expect(headers.get('x-ratelimit-used')).not.toBeNull()
})

test('with strict handling a misspelled parameter is refused, in a sentence that names it', async () => {
  const response = await copy.ask('GET', '/v1/prices/historical?by_code=WTI_USD&start=2026-11-01', {
    headers: { prefer: 'handling=strict' },
  })
  const { error } = (await response.json()) as { error: { message: string } }
  expect({ status: response.status, message: error.message }).toEqual({
    status: 400,
    message: 'start is not a parameter of this operation. Did you mean start_date?',
  })
})

describe('a parameter that is given twice with different values is refused by its name', () => {
  const asking = reading.filter(({ sample }) => sample!.includes('?'))
  test('operations with parameters are among those tried', () => {
    expect(asking.length).toBeGreaterThan(50)
  })
  for (const { path, sample } of asking)
    test(path, async () => {
      const [address, query] = sample!.split('?')
      const statusOf = async (asked: string) => {
        const response = await copy.ask('GET', `${address}?${asked}`)
        return { status: response.status, text: await response.text() }
      }
      const usual = await statusOf(query!)
      // The same value twice is unambiguous.
      expect((await statusOf(`${query}&${query}`)).status).toBe(usual.status)
      for (const name of new URLSearchParams(query).keys()) {
        const { status, text } = await statusOf(`${name}=no-such-value&${query}`)
        // A spreadsheet reads no error response.
        expect({ name, status }).toEqual({ name, status: path.endsWith('.xml') ? 200 : 400 })
        expect(text).toContain(`${name} must be given once; got two values.`)
      }
    }, 60_000)
})
