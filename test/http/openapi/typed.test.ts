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
      { type: 'integer', minimum: 1, maximum: 100, default: 100 },
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

  test('has an example of its type within its bounds and words', () => {
    const faults: string[] = []
    for (const [path, methods] of Object.entries(document.paths))
      for (const parameter of methods.get?.parameters ?? []) {
        const {
          type,
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
