import { describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { Elysia, t } from 'elysia'
import {
  documentOf,
  headerKeySecurity,
  keySecurity,
  type OpenApiDocument,
  type Operation,
  openapiDocument,
  openSecurity,
  operatorSecurity,
  type Security,
} from '../../../src/http/openapi/openapi.ts'
import { isRecord, type Schema, schemaObject } from '../../../src/http/openapi/schema.ts'
import { answersKey, rawDocument } from '../../../src/http/openapi/source.ts'

const options = {
  serviceName: 'Test prices',
  description: 'Prices of **energy**.',
  baseUrl: 'https://prices.example.com/',
  tags: {
    prices: 'Current and past prices.',
    admin: 'For the operator.',
    unused: 'Nothing has it.',
  },
}

const problem = t.Object({
  error: t.Object({
    code: t.String({ description: 'Stable, for programs.' }),
    message: t.String({ description: 'For people; it may change.' }),
    status: t.Integer(),
    request_id: t.String(),
    retry: t.Object({ retryable: t.Boolean() }),
  }),
})

const change = t.Object({
  amount: t.Number({ description: 'In the unit of the price.', examples: [-0.42] }),
  percent: t.Union([t.Number({ examples: [-0.6] }), t.Null()], {
    description: 'Null when the previous price is zero.',
  }),
  since: t.String({ format: 'date-time' }),
})

const price = t.Object(
  {
    status: t.Literal('success'),
    code: t.String({ pattern: '^[A-Z_]+$', examples: ['WTI_USD'] }),
    price: t.Number({ exclusiveMinimum: 0, examples: [71.52] }),
    session: t.Union([t.Literal('open'), t.Literal('closed'), t.Null()]),
    changes: t.Record(t.String(), change),
    by_state: t.Record(t.String({ pattern: '^[A-Z]{2}$' }), t.Integer(), { examples: [{ TX: 3 }] }),
    day: { ...change, description: 'Since yesterday.' },
    week: change,
    note: t.Optional(t.Nullable(t.String())),
    level: t.Enum({ low: 'low', high: 'high' }),
    extra: t.Unknown(),
  },
  { description: 'The newest price.' },
)

const unused = (): never => {
  throw new Error('Only the description of the route is used.')
}

const tree = t.Object({ name: t.String() })

const gate = new Elysia().macro({
  access: (security: Security) => ({ detail: { security } }),
})

const app = new Elysia()
  .use(gate)
  .get('/v1/prices/latest', unused, {
    access: keySecurity,
    query: t.Object({
      by_code: t.Optional(t.String({ description: 'Codes.', examples: ['WTI_USD'] })),
      interval: t.Optional(
        t.Union([
          t.Literal('1d', { description: 'days' }),
          t.Literal('1w', { description: 'weeks' }),
        ]),
      ),
      page: t.Optional(t.Numeric({ minimum: 1, default: 1, description: 'From 1.' })),
      live: t.Optional(t.BooleanString({ description: 'Only live ones.' })),
    }),
    headers: t.Object({
      'x-trace': t.Optional(t.String({ description: 'Echoed.' })),
    }),
    detail: {
      [answersKey]: {
        200: price,
        304: t.Void(),
        400: problem,
        403: { ...problem, description: 'The plan lacks the feature.' },
      },
      operationId: 'getLatestPrices',
      summary: 'Latest prices',
      description: 'The newest.',
      tags: ['prices'],
    },
  })
  .get('/v1/series/:code/values/:id?', unused, {
    access: keySecurity,
    params: t.Object({
      code: t.String({ minLength: 1 }),
      id: t.Optional(t.Numeric()),
    }),
    detail: {
      [answersKey]: { 200: t.Record(t.String(), price), 400: problem },
      operationId: 'getValues',
      summary: 'Values',
      tags: ['admin'],
    },
  })
  .post('/v1/prices/batch', unused, {
    access: headerKeySecurity,
    body: t.Object({
      codes: t.Array(t.String({ examples: ['WTI_USD'] }), { minItems: 1, maxItems: 20 }),
    }),
    detail: {
      [answersKey]: { 201: t.Array(price), 422: problem },
      operationId: 'getBatch',
      summary: 'Batch',
      tags: ['prices'],
    },
  })
  .post('/admin/v1/observations', unused, {
    access: operatorSecurity,
    body: t.Optional(
      t.Union([
        t.Object({ count: t.Integer({ minimum: 2 }) }),
        t.String({ contentMediaType: 'application/x-ndjson', examples: ['{"count":2}\n'] }),
      ]),
    ),
    detail: {
      [answersKey]: { 200: t.Object({ inserted: t.Integer() }) },
      operationId: 'postObservations',
      summary: 'Write',
      tags: ['admin'],
    },
  })
  .get('/v1/export.csv', unused, {
    access: keySecurity,
    detail: {
      [answersKey]: {
        200: t.String({
          contentMediaType: 'text/csv',
          description: 'One row per point.',
          examples: ['code,price\n'],
        }),
        302: t.Void(),
      },
      operationId: 'exportCsv',
      summary: 'Export',
    },
  })
  .get('/v1/tree/', unused, {
    access: openSecurity,
    detail: {
      [answersKey]: { 200: tree },
      operationId: 'getTree',
      summary: 'Tree',
      deprecated: true,
    },
  })
  .get('/v1/bare', unused, { access: keySecurity, detail: { operationId: 'getBare' } })
  .get('/v1/secret', unused, { access: keySecurity, detail: { hide: true } })
  .head('/v1/prices/latest', () => '')
  .options('/v1/prices/latest', () => '')
  .get('/files/*', () => '')
  .all('/anything', () => '')
  .get('/_dev/clock', () => '', { detail: { operationId: 'clock' } })

const document = await openapiDocument(await rawDocument(app), options)
const operation = (path: string, method = 'get') => document.paths[path]?.[method] as Operation
const parameter = (path: string, name: string) =>
  operation(path).parameters?.find(each => each.name === name)
const schemaOf = (path: string, status: string, method = 'get') =>
  resolved(operation(path, method).responses[status]?.content?.['application/json']?.schema)

function resolved(schema: unknown): Schema {
  if (!isRecord(schema)) throw new Error(`No schema: ${schema}`)
  return typeof schema.$ref === 'string'
    ? resolved(document.components.schemas[schema.$ref.split('/').at(-1)!])
    : schema
}

const clone = (value: OpenApiDocument) => JSON.parse(JSON.stringify(value))

describe('openapiDocument', () => {
  test('is valid OpenAPI 3.0.3', async () => {
    const result = await new Validator().validate(clone(document))
    expect(result).toMatchObject({ valid: true })
    expect(document.openapi).toBe('3.0.3')
  })

  test('has version v1, one server without a trailing slash, and the service by name', () => {
    expect(document.info).toEqual({
      title: 'Test prices',
      version: 'v1',
      description: 'Prices of **energy**.',
      contact: { name: 'Test prices', url: 'https://prices.example.com/docs' },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    })
    expect(document.servers).toEqual([{ url: 'https://prices.example.com' }])
  })

  test('lists exactly the routes that people call', () => {
    const listed = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map(method => `${method} ${path}`),
    )
    expect(listed.sort()).toEqual([
      'get /v1/bare',
      'get /v1/export.csv',
      'get /v1/prices/latest',
      'get /v1/series/{code}/values/{id}',
      'get /v1/tree',
      'post /admin/v1/observations',
      'post /v1/prices/batch',
    ])
  })

  test('uses no keyword that 3.0.3 does not have', () => {
    const text = JSON.stringify(document.paths) + JSON.stringify(document.components.schemas)
    for (const keyword of [
      'const',
      '$id',
      '$defs',
      'patternProperties',
      'examples',
      'contentMediaType',
      'additionalItems',
      'elysiaMeta',
      'hide',
    ]) {
      expect(text).not.toContain(`"${keyword}"`)
    }
    expect(text).not.toMatch(/"type":"(null|void|undefined|Date)"/)
    expect(text).not.toMatch(/"exclusiveMinimum":\d/)
    expect(text).not.toContain('x-optional-body')
  })

  test('lists the used tags in their order', () => {
    expect(document.tags).toEqual([
      { name: 'prices', description: 'Current and past prices.' },
      { name: 'admin', description: 'For the operator.' },
    ])
  })

  test('each operation documents its credentials: any key, a key in the header, the operator token or none', () => {
    expect(operation('/v1/prices/latest').security).toEqual(keySecurity)
    expect(operation('/v1/prices/batch', 'post').security).toEqual(headerKeySecurity)
    expect(operation('/admin/v1/observations', 'post').security).toEqual(operatorSecurity)
    expect(operation('/v1/tree').security).toEqual(openSecurity)
    const schemes = document.components.securitySchemes
    expect(Object.keys(schemes)).toEqual(['apiKeyHeader', 'bearer', 'apiKeyQuery', 'operatorToken'])
  })

  test('is the same text at every call, and leaves the application as it was', async () => {
    const routes = app.routes.length
    const text = documentOf(app, options)
    expect(await text()).toBe(await text())
    expect(JSON.parse(await text())).toEqual(clone(document))
    expect(app.routes.length).toBe(routes)
    expect((await app.handle(new Request('http://localhost/-/document'))).status).toBe(404)
  })
})

describe('openapiDocument: parameters', () => {
  test.each([
    [
      'by_code',
      { required: false, description: 'Codes.', example: 'WTI_USD', schema: { type: 'string' } },
    ],
    [
      'interval',
      {
        schema: { type: 'string', enum: ['1d', '1w'] },
        description: '- `1d`: days\n- `1w`: weeks',
      },
    ],
    ['page', { schema: { type: 'number', minimum: 1, default: 1 }, description: 'From 1.' }],
    ['live', { schema: { type: 'boolean' } }],
    ['x-trace', { in: 'header', required: false }],
  ])('%s is a plain value to the caller', (name, expected) => {
    expect(parameter('/v1/prices/latest', name) as unknown).toMatchObject(expected)
  })

  test('of the path are required and described', () => {
    const list = operation('/v1/series/{code}/values/{id}').parameters ?? []
    expect(list.map(each => [each.name, each.in, each.required])).toEqual([
      ['code', 'path', true],
      ['id', 'path', true],
    ])
    expect(list.every(each => each.description)).toBe(true)
  })
})

describe('openapiDocument: bodies', () => {
  test('request bodies are documented as required unless the route says otherwise', () => {
    expect(operation('/v1/prices/batch', 'post').requestBody?.required).toBe(true)
    expect(operation('/admin/v1/observations', 'post').requestBody?.required).toBe(false)
  })

  test('come in the media types that their schemas name', () => {
    expect(Object.keys(operation('/v1/prices/batch', 'post').requestBody?.content ?? {})).toEqual([
      'application/json',
    ])
    expect(
      Object.keys(operation('/admin/v1/observations', 'post').requestBody?.content ?? {}),
    ).toEqual(['application/json', 'application/x-ndjson'])
    expect(operation('/v1/export.csv').responses['200']).toEqual({
      description: 'One row per point.',
      content: { 'text/csv': { schema: { type: 'string' }, example: 'code,price\n' } },
    })
  })

  test('are absent where nothing is sent', () => {
    expect(operation('/v1/prices/latest').responses['304']).toEqual({ description: 'Not Modified' })
    expect(operation('/v1/export.csv').responses['302']).toEqual({ description: 'Found' })
  })

  test('of a response take their description from the schema', () => {
    expect(operation('/v1/prices/latest').responses['200']?.description).toBe('The newest price.')
    expect(operation('/v1/prices/latest').responses['403']?.description).toBe(
      'The plan lacks the feature.',
    )
    expect(operation('/v1/prices/latest').responses['400']?.description).toBe('Bad Request')
  })

  test('of maps keep the schema of their values', () => {
    const map = schemaOf('/v1/series/{code}/values/{id}', '200')
    expect(map.type).toBe('object')
    expect(resolved(map.additionalProperties).required).toContain('price')
  })
})

describe('openapiDocument: components', () => {
  test('hold an error body once, however many operations and statuses answer it', () => {
    const refs = Object.values(document.paths)
      .flatMap(item => Object.values(item))
      .flatMap(each => Object.entries(each.responses))
      .flatMap(([status, response]) =>
        status >= '400' ? Object.values(response.content ?? {}).map(media => media.schema) : [],
      )
    expect(refs.length).toBeGreaterThan(3)
    expect(new Set(refs.map(schema => schema.$ref))).toEqual(
      new Set(['#/components/schemas/Problem']),
    )
    expect(document.components.schemas.Problem).toMatchObject({
      type: 'object',
      required: ['error'],
    })
  })

  test('hold bodies and repeated parts, named for where they stand', () => {
    expect(Object.keys(document.components.schemas)).toEqual([
      'Change',
      'GetBatchRequest',
      'GetBatchResponse',
      'GetLatestPricesResponse',
      'GetTreeResponse',
      'GetValuesResponse',
      'PostObservationsRequest',
      'PostObservationsResponse',
      'Problem',
    ])
    const latest = resolved({ $ref: '#/components/schemas/GetLatestPricesResponse' })
    expect((latest.properties as Record<string, unknown>).week).toEqual({
      $ref: '#/components/schemas/Change',
    })
  })

  test('are shared by parts that only differ in their description, which each keeps', () => {
    const latest = resolved({ $ref: '#/components/schemas/GetLatestPricesResponse' })
    expect((latest.properties as Record<string, unknown>).day).toEqual({
      allOf: [{ $ref: '#/components/schemas/Change' }],
      description: 'Since yesterday.',
    })
    expect(document.components.schemas.Change).not.toHaveProperty('description')
    expect(latest.description).toBe('The newest price.')
  })
})

describe('openapiDocument: what generators of clients need', () => {
  const shapes = t.Union([
    t.Object({ kind: t.Literal('spot'), spot: t.Number() }, { title: 'SpotShape' }),
    t.Object({ kind: t.Literal('curve'), curve: t.Array(t.Number()) }, { title: 'CurveShape' }),
  ])

  test('each titled alternative is a component, and not a shape within a union', async () => {
    const response = {
      description: 'One of two.',
      content: { 'application/json': { schema: shapes } },
    }
    const raw = {
      paths: {
        '/v1/shape': {
          get: { operationId: 'getShape', security: [], responses: { 200: response } },
        },
      },
    }
    const { components } = await openapiDocument(raw, {
      serviceName: 'x',
      description: '',
      baseUrl: '',
    })
    expect(components.schemas.GetShapeResponse).toEqual({
      anyOf: [
        { $ref: '#/components/schemas/SpotShape' },
        { $ref: '#/components/schemas/CurveShape' },
      ],
    })
  })

  test('words that differ only in case or punctuation have names of constants', () => {
    const words = { type: 'string', enum: ['Americas', 'AMERICAS', 'read_only', 'read-only'] }
    expect(schemaObject(words)['x-enum-varnames']).toEqual([
      'AMERICAS',
      'AMERICAS_2',
      'READ_ONLY',
      'READ_ONLY_4',
    ])
    // Generators write constants in several cases, most without underscores.
    const grades = schemaObject({ enum: ['HFO_380', 'HFO380'] })
    expect(grades['x-enum-varnames']).toEqual(['HFO_380', 'HFO380_2'])
    expect(schemaObject({ enum: ['day', 'week'] })).not.toHaveProperty('x-enum-varnames')
  })
})

describe('openapiDocument: examples', () => {
  // The checker reads a later JSON Schema than 3.0.3 has: exclusive bounds are numbers there.
  const modern = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/components', '"doc#/components'), (_, part) => {
      if (!isRecord(part) || part.exclusiveMinimum !== true) return part
      const { minimum, ...rest } = part
      return { ...rest, exclusiveMinimum: minimum }
    })
  const ajv = addFormats.default(new Ajv({ strict: false }))
  ajv.addSchema(modern({ $id: 'doc', components: document.components }))

  test('exist for every request and success body and are valid there', () => {
    let checked = 0
    for (const [path, item] of Object.entries(document.paths)) {
      for (const each of Object.values(item)) {
        const success = Object.entries(each.responses).flatMap(([status, response]) =>
          status < '300' && response.content ? [response.content] : [],
        )
        for (const content of [
          ...success,
          ...(each.requestBody ? [each.requestBody.content] : []),
        ]) {
          for (const media of Object.values(content)) {
            expect(media.example, path).toBeDefined()
            expect(
              ajv.validate(modern(media.schema), media.example),
              `${path} ${JSON.stringify(media.example)} ${ajv.errorsText()}`,
            ).toBe(true)
            checked += 1
          }
        }
      }
    }
    expect(checked).toBe(9)
  })

  test('use the examples of the parts', () => {
    const example =
      operation('/v1/prices/latest').responses['200']?.content?.['application/json']?.example
    expect(example).toMatchObject({
      status: 'success',
      code: 'WTI_USD',
      price: 71.52,
      session: 'open',
      day: { amount: -0.42 },
    })
  })
})

describe('schemaObject', () => {
  const cases: [string, unknown, Schema][] = [
    ['a literal', t.Literal('a'), { type: 'string', enum: ['a'] }],
    ['literals', t.Union([t.Literal(1), t.Literal(2)]), { type: 'integer', enum: [1, 2] }],
    [
      'literals or null',
      t.Union([t.Literal('a'), t.Null()]),
      { type: 'string', enum: ['a', null], nullable: true },
    ],
    ['text or null', t.Union([t.String(), t.Null()]), { type: 'string', nullable: true }],
    [
      'Nullable',
      t.Nullable(t.Integer({ minimum: 0 })),
      { type: 'integer', minimum: 0, nullable: true },
    ],
    [
      'text, number or null',
      t.Union([t.String(), t.Number(), t.Null()]),
      { anyOf: [{ type: 'string', nullable: true }, { type: 'number' }] },
    ],
    ['null alone', t.Null(), { nullable: true, enum: [null] }],
    [
      'literals together with text',
      t.Union([t.Literal('a'), t.Literal('b'), t.Object({})]),
      { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'object' }] },
    ],
    [
      'above zero',
      t.Number({ exclusiveMinimum: 0 }),
      { type: 'number', minimum: 0, exclusiveMinimum: true },
    ],
    [
      'the tighter bound',
      t.Number({ minimum: 5, exclusiveMinimum: 0 }),
      { type: 'number', minimum: 5 },
    ],
    [
      'a map',
      t.Record(t.String(), t.Number()),
      { type: 'object', additionalProperties: { type: 'number' } },
    ],
    [
      'a numeric',
      t.Numeric({ maximum: 9, description: 'At most nine.' }),
      { type: 'number', maximum: 9, description: 'At most nine.' },
    ],
    ['a list in a query', t.ArrayQuery(t.String()), { type: 'array', items: { type: 'string' } }],
    ['an object without parts', t.Object({}), { type: 'object' }],
    [
      'a closed object, which is open',
      t.Object({}, { additionalProperties: false }),
      { type: 'object' },
    ],
    [
      'several in one',
      t.Intersect([t.Object({ a: t.String() })]),
      { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
    ],
    ['an example', t.String({ examples: ['x', 'y'] }), { type: 'string', example: 'x' }],
    [
      'words with a description, or null',
      t.Union([t.Union([t.Literal('a'), t.Literal('b')], { description: 'How often.' }), t.Null()]),
      { type: 'string', enum: ['a', 'b', null], nullable: true, description: 'How often.' },
    ],
    ['anything', t.Any(), {}],
  ]

  test.each(cases)('that is %s keeps its meaning', (_, raw, expected) => {
    expect(schemaObject(raw)).toEqual(expected)
  })
})
