import { beforeAll, describe, expect, test } from 'bun:test'
import { undescribedNumbers } from '../../../src/http/openapi/numbers.ts'
import type { OpenApiDocument } from '../../../src/http/openapi/openapi.ts'
import { withParametersInPlace } from '../../../src/http/openapi/parameters.ts'
import { numberDescriptions } from '../../../src/http/operations/number-descriptions.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

/** Fields in which a day may be spelled in several ways. */
const spelledDates: readonly string[] = [
  'CorrectValueRequest observed_at',
  'DeleteValueRequest observed_at',
  'filters start_date',
  'filters end_date',
  // Names of columns.
  'Fields timestamp',
  // A time of day.
  ' publishes_at',
]
/** Periods: a day, a month or a quarter. */
const periods = ['newest_period', 'period', 'observed_at']

const instance = openTestInstance()
const token = instance.key()
let document: OpenApiDocument
beforeAll(async () => {
  document = withParametersInPlace(
    (await (await instance.get('/openapi.json')).json()) as OpenApiDocument,
  )
})

const parameterOf = (path: string, name: string) =>
  document.paths[path]!.get!.parameters!.find(parameter => parameter.name === name)

describe('a parameter in the document', () => {
  test.each([
    [
      '/v1/analytics/statistics',
      'period',
      { type: 'integer', minimum: 2, maximum: 1825, default: 30 },
    ],
    [
      '/v1/analytics/trend',
      'type',
      { type: 'string', default: 'analysis', enum: expect.arrayContaining(['rsi']) },
    ],
    [
      '/v1/prices/past_week',
      'interval',
      { type: 'string', enum: expect.arrayContaining(['1d', 'raw']) },
    ],
    [
      '/v1/prices/past_week',
      'per_page',
      { type: 'integer', minimum: 1, maximum: 10_000, default: 100 },
    ],
    ['/v1/prices/past_week', 'as_of', { type: 'string', format: 'date-time' }],
    ['/v1/market-brief', 'narrative', { type: 'boolean', default: false }],
  ] as const)('%s %s has its type, bounds and default', (path, name, schema) => {
    // A copy, because a matcher replaces the values that it matches.
    expect(structuredClone(parameterOf(path, name)!.schema)).toMatchObject(schema)
  })

  test('is required where its operation refuses to answer without it', () => {
    expect(parameterOf('/v1/analytics/statistics', 'code')!.required).toBe(true)
    expect(parameterOf('/v1/prices/metrics', 'by_code')!.required).toBe(true)
    expect(parameterOf('/v1/prices/latest', 'by_code')!.required).toBe(false)
  })

  test('is not plain text', () => {
    const bare = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ parameters = [] }) =>
        parameters
          .filter(({ in: place, required }) => place === 'query' && !required)
          .filter(({ schema }) => Object.keys(schema).join() === 'type' && schema.type === 'string')
          .map(({ name }) => `${path} ${name}`),
      ),
    )
    expect(bare).toEqual([])
  })

  test('may be a day or a time where both are taken, and one of the words where there are some', () => {
    expect(structuredClone(parameterOf('/v1/prices/past_week', 'start_date')!.schema)).toEqual({
      type: 'string',
      anyOf: [
        { type: 'string', format: 'date' },
        { type: 'string', format: 'date-time' },
      ],
    })
    expect(structuredClone(parameterOf('/v1/storage/regional', 'region')!.schema)).toEqual({
      type: 'string',
      enum: ['PADD1', 'PADD2', 'PADD3', 'PADD4', 'PADD5'],
    })
  })

  test('every operation refuses a request without a parameter that it documents as required', async () => {
    const answered: string[] = []
    for (const [path, { get }] of Object.entries(document.paths)) {
      const parameters = (get?.parameters ?? []).filter(
        ({ in: place, required }) => required && place === 'query',
      )
      for (const { name } of parameters) {
        const others = new URLSearchParams(
          parameters
            .filter(other => other.name !== name)
            .map(other => [other.name, String(other.example)] as [string, string]),
        )
        const answer = await instance.get(`${path}?${others}`, token)
        // A sheet reads errors with status 200; this instance has no quotes of the first contract.
        const isRefusal =
          [400, path.endsWith('.xml') ? 200 : 400].includes(answer.status) &&
          (await answer.text()).includes(name)
        if (!isRefusal && name !== 'contract2')
          answered.push(`${path} without ${name}: ${answer.status}`)
      }
    }
    expect(answered).toEqual([])
  })

  test('has an example of its type within its bounds and words', () => {
    const faults: string[] = []
    for (const [path, methods] of Object.entries(document.paths))
      for (const parameter of methods.get?.parameters ?? []) {
        const {
          type = 'string',
          minimum,
          maximum,
          enum: words,
        } = parameter.schema as {
          type?: string
          minimum?: number
          maximum?: number
          enum?: unknown[]
        }
        const { example, name } = parameter as { example?: unknown; name: string }
        if (example === undefined) continue
        const kind = type === 'integer' || type === 'number' ? 'number' : type
        if (typeof example !== kind) faults.push(`${path} ${name}: ${typeof example} for ${type}`)
        if (words && !words.includes(example)) faults.push(`${path} ${name}: not a word`)
        if (minimum !== undefined && (example as number) < minimum) faults.push(`${path} ${name}`)
        if (maximum !== undefined && (example as number) > maximum) faults.push(`${path} ${name}`)
      }
    expect(faults).toEqual([])
  })
})

test('a validation error keeps its own message, regardless of the documented type', async () => {
  for (const [path, message] of [
    [
      '/v1/analytics/statistics?code=WTI_USD&period=month',
      'period must be a whole number from 2 to 1825; got',
    ],
    ['/v1/analytics/statistics', 'code is required: a commodity code, such as WTI_USD.'],
    ['/v1/prices/past_week?interval=fortnight', 'interval must be raw, minute, hour, day'],
    [
      '/v1/analytics/statistics?code=WTI_USD&as_of=2026-11-01',
      'as_of must be an ISO 8601 time with a zone',
    ],
  ] as const) {
    const answer = await instance.get(path, token)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain(message)
  }
})

test('each operation of the document has an id that no other one has, and described tags', () => {
  const operations = Object.values(document.paths).flatMap(item => Object.values(item))
  const ids = operations.map(({ operationId }) => operationId)
  expect(ids.filter((id, i) => !/^[a-z]\w+$/.test(id) || ids.indexOf(id) !== i)).toEqual([])
  expect(document.tags.filter(({ description }) => !description)).toEqual([])
  const listed = document.tags.map(({ name }) => name)
  const used = new Set(operations.flatMap(({ tags = [] }) => tags))
  expect([...used].filter(tag => !listed.includes(tag))).toEqual([])
})

describe('a body in the document', () => {
  const bodies = () => [document.components.schemas, document.paths]

  test('every number in a documented body has a description', () => {
    expect([...new Set(undescribedNumbers(bodies()).map(({ name }) => name))]).toEqual([])
  })

  test('takes a text of the glossary for each name that is in it', () => {
    const written = JSON.stringify(document)
    const unused = Object.entries(numberDescriptions).filter(
      ([, text]) => !written.includes(JSON.stringify(text).slice(1, -1)),
    )
    expect(unused).toEqual([])
  })

  test('every documented schema has a specific name without a trailing number', () => {
    const names = Object.keys(document.components.schemas)
    expect(names.length).toBeGreaterThan(300)
    expect(names.filter(name => /\d$|^(Data|Body|Response|Object|Schema)$/.test(name))).toEqual([])
  })

  test('every field with a date or time example is documented as date or date-time', () => {
    const faults: string[] = []
    const walk = (part: unknown, path: string): void => {
      if (typeof part !== 'object' || part === null) return
      for (const [name, inner] of Object.entries(part)) walk(inner, `${path}/${name}`)
      if (periods.includes(path.split('/').at(-1)!)) return
      const { type, format, example, pattern, enum: words } = part as Record<string, unknown>
      if (type !== 'string' || typeof example !== 'string' || words || pattern) return
      const expected = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(example)
        ? 'date-time'
        : /^\d{4}-\d\d-\d\d$/.test(example)
          ? 'date'
          : undefined
      if (expected && format !== expected) faults.push(`${path}: ${example}`)
    }
    walk(document.components.schemas, '')
    expect(faults).toEqual([])
  })

  test('every field that is named as a date or time is documented as date or date-time', () => {
    const faults: string[] = []
    const walk = (part: unknown, path: string): void => {
      if (typeof part !== 'object' || part === null) return
      const { properties } = part as { properties?: Record<string, Record<string, unknown>> }
      for (const [name, schema] of Object.entries(properties ?? {}))
        if (/_at$|_on$|_date$|^date$|^timestamp$/.test(name) && schema.type === 'string')
          if (!['date', 'date-time'].includes(String(schema.format)) && !schema.enum)
            faults.push(`${path} ${name}`)
      for (const [name, inner] of Object.entries(part)) walk(inner, `${path}/${name}`)
    }
    walk(document.components.schemas, '')
    expect(faults.filter(fault => !spelledDates.some(known => fault.endsWith(known)))).toEqual([])
  })

  test('has the fields required that its operation refuses to do without', async () => {
    const admin = { authorization: `Bearer ${instance.services.adminTokens.rotate()}` }
    const answered: string[] = []
    let asked = 0
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { requestBody }] of Object.entries(methods)) {
        const content = requestBody?.content['application/json']
        if (!content || path.includes('{')) continue
        const name = String(content.schema.$ref ?? '')
          .split('/')
          .at(-1)!
        const { required } = document.components.schemas[name] ?? content.schema
        if (!requestBody.required || !Array.isArray(required) || required.length === 0) continue
        const send = (body: unknown) =>
          path.startsWith('/admin/')
            ? instance.send(method.toUpperCase(), path, body, undefined, admin)
            : instance.send(method.toUpperCase(), path, body, token)
        asked += 1
        const { status } = await send({})
        if (status < 400 || status >= 500) answered.push(`${method} ${path}: ${status}`)
      }
    expect(answered).toEqual([])
    expect(asked).toBeGreaterThan(20)
  })
})

test('the document names its server', () => {
  expect(document.servers).toEqual([{ url: '/' }])
})
