import { beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import { withParametersInPlace } from '../../src/http/openapi/parameters.ts'
import { openTestInstance } from '../support/instance/instance.ts'

let document: OpenApiDocument
const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      operation,
    })),
  )

beforeAll(async () => {
  document = withParametersInPlace(
    (await (await openTestInstance().get('/openapi.json')).json()) as OpenApiDocument,
  )
})

describe('the OpenAPI document of the whole API', () => {
  test('is valid OpenAPI 3.0.3 to a public validator, version v1, one server', async () => {
    const verdict = await new Validator().validate(
      structuredClone(document) as unknown as Record<string, unknown>,
    )
    expect(verdict.errors ?? []).toEqual([])
    expect(verdict.valid).toBe(true)
    expect({
      openapi: document.openapi,
      version: document.info.version,
      length: document.servers.length,
    }).toEqual({ openapi: '3.0.3', version: 'v1', length: 1 })
  })

  test('every operation has a summary, a description, described parameters, a success with schema and example', () => {
    const faults: string[] = []
    for (const { name, operation } of operations()) {
      if (!operation.summary || !operation.description)
        faults.push(`${name}: summary or description`)
      for (const parameter of operation.parameters ?? [])
        if (!parameter.description) faults.push(`${name}: ${parameter.name} is not described`)
      const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))
      if (!success && !operation.responses['302'] && !operation.responses['101'])
        faults.push(`${name}: no success`)
      for (const [type, media] of Object.entries(success?.[1].content ?? {})) {
        if (!media.schema) faults.push(`${name}: ${type} has no schema`)
        if (type === 'application/json' && media.example === undefined)
          faults.push(`${name}: no example`)
      }
    }
    expect(faults).toEqual([])
  })

  test('what a caller without a key gets has the schema that each operation has for it', async () => {
    const instance = openTestInstance({ 'limits.unauthenticated_per_minute': '100000' })
    const text = await (await instance.get('/openapi.json')).text()
    const schemas = new Ajv({ strict: false }).addSchema({ $id: 'document', ...JSON.parse(text) })
    const faults: string[] = []
    for (const { name, operation } of operations()) {
      const [method = '', path = ''] = name.split(' ')
      const schema = operation.responses['401']?.content?.['application/json']?.schema
      if (!schema) continue
      const sent = (operation.parameters ?? []).reduce(
        (filled, parameter) => filled.replace(`{${parameter.name}}`, String(parameter.example)),
        path,
      )
      const answer = await instance.app.handle(
        new Request(`http://localhost${sent}`, { method: method.toUpperCase() }),
      )
      if (answer.status !== 401) continue
      const pointer = { ...schema, $ref: schema.$ref && `document${schema.$ref}` }
      if (!schemas.validate(pointer, await answer.json())) faults.push(name)
    }
    expect(faults).toEqual([])
  }, 60_000)

  test('no request body has defaults, with which a client would change more than it names', () => {
    const faults: string[] = []
    const look = (schema: unknown, place: string, seen: readonly string[]): void => {
      if (typeof schema !== 'object' || schema === null) return
      const { $ref, default: value, ...rest } = schema as Record<string, unknown>
      if (value !== undefined) faults.push(place)
      if (typeof $ref === 'string' && !seen.includes($ref)) {
        const name = $ref.slice($ref.lastIndexOf('/') + 1)
        look(document.components.schemas[name], `${place} ${name}`, [...seen, $ref])
      }
      for (const [name, part] of Object.entries(rest))
        if (!name.startsWith('example')) look(part, `${place}.${name}`, seen)
    }
    for (const { name, operation } of operations())
      for (const media of Object.values(operation.requestBody?.content ?? {}))
        look(media.schema, name, [])
    expect(faults).toEqual([])
  })

  test('every change of an operator says what its body may have, if only nothing: else it would be ignored', () => {
    const silent = operations().filter(
      ({ name, operation }) => /^(post|put|patch) \/admin\/v1/.test(name) && !operation.requestBody,
    )
    expect(silent.map(({ name }) => name)).toEqual([])
  })

  test('no two operations have one summary or one description, and a deprecated one is marked as an alias', () => {
    const repeated = (texts: readonly (string | undefined)[]) =>
      texts.filter((text, i) => texts.indexOf(text) !== i)
    expect(repeated(operations().map(({ operation }) => operation.summary))).toEqual([])
    expect(repeated(operations().map(({ operation }) => operation.description))).toEqual([])
    for (const { name, operation } of operations())
      expect(operation.summary!.endsWith('(alias)'), name).toEqual(operation.deprecated === true)
  })

  test('no paragraph of a description has more than 120 words', () => {
    const walls = operations().flatMap(({ name, operation }) =>
      operation
        .description!.split('\n\n')
        .filter(part => !/^(\||- )/.test(part) && part.split(/\s+/).length > 120)
        .map(() => name),
    )
    expect(walls).toEqual([])
  })

  test('every operation that requires a key documents its response without one', () => {
    const faults = operations().filter(
      ({ operation }) => (operation.security ?? []).length > 0 && !operation.responses['401'],
    )
    expect(faults.map(fault => fault.name)).toEqual([])
  })

  test('every response and request body in the OpenAPI document has its own name without a counter', () => {
    const unnamed = operations().flatMap(({ name, operation }) =>
      [
        ...Object.entries(operation.responses)
          .filter(([status]) => status < '300')
          .map(([, response]) => response.content),
        operation.requestBody?.content,
      ]
        .map(content => content?.['application/json']?.schema)
        // A body of whatever a feed or a sender has is an empty schema.
        .filter(schema => schema && Object.keys(schema).length > 0 && !schema.$ref)
        .map(() => name),
    )
    expect(unnamed).toEqual([])
    expect(Object.keys(document.components.schemas).filter(name => /\d$/.test(name))).toEqual([])
  })

  test('the controls of demo instances are not in the OpenAPI document', () => {
    expect(Object.keys(document.paths).filter(path => path.startsWith('/_dev'))).toEqual([])
  })
})
