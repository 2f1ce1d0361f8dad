import { beforeAll, describe, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../../src/http/openapi/openapi.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

const instance = openTestInstance()
const token = instance.key()
let document: OpenApiDocument
beforeAll(async () => {
  document = (await (await instance.get('/openapi.json')).json()) as OpenApiDocument
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
    // A copy: a matcher takes the place of what it matches.
    expect(structuredClone(parameterOf(path, name)!.schema)).toMatchObject(schema)
  })

  test('is required where its operation refuses to answer without it', () => {
    expect(parameterOf('/v1/analytics/statistics', 'code')!.required).toBe(true)
    expect(parameterOf('/v1/prices/metrics', 'by_code')!.required).toBe(true)
    expect(parameterOf('/v1/prices/latest', 'by_code')!.required).toBe(false)
  })

  test('is no bare text', () => {
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

  test('that is required is asked for by every operation that says so', async () => {
    const answered: string[] = []
    for (const [path, { get }] of Object.entries(document.paths)) {
      const asked = (get?.parameters ?? []).filter(
        ({ in: place, required }) => required && place === 'query',
      )
      for (const { name } of asked) {
        const others = new URLSearchParams(
          asked
            .filter(other => other.name !== name)
            .map(other => [other.name, String(other.example)] as [string, string]),
        )
        const answer = await instance.get(`${path}?${others}`, token)
        // A sheet reads refusals with status 200; this copy has no quotes of the first contract.
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

test('a refusal keeps its own sentence, whatever the document says of the type', async () => {
  for (const [path, message] of [
    [
      '/v1/analytics/statistics?code=WTI_USD&period=month',
      'period: is not a whole number from 2 to 1825.',
    ],
    ['/v1/analytics/statistics', 'code is required: a commodity code, such as WTI_USD.'],
    ['/v1/prices/past_week?interval=fortnight', 'Unknown interval: fortnight.'],
    [
      '/v1/analytics/statistics?code=WTI_USD&as_of=2026-11-01',
      'as_of: is not an ISO 8601 time with a zone',
    ],
  ] as const) {
    const answer = await instance.get(path, token)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain(message)
  }
})
