import { expect, test } from 'bun:test'
import type { Parameter } from '../../../src/http/openapi/openapi.ts'
import { shareParameters, withParametersInPlace } from '../../../src/http/openapi/parameters.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

interface Documented {
  parameters?: (Parameter & { $ref?: string })[]
  responses: Record<string, { description: string }>
}

interface Document {
  paths: Record<string, Record<string, Documented>>
  components: {
    parameters: Record<string, Parameter>
    schemas: Record<string, { properties?: Record<string, unknown> }>
  }
}

const reading = openTestInstance()
  .get('/openapi.json')
  .then(response => response.json() as Promise<Document>)

test('a parameter that three operations share is described once, each other one in its place', () => {
  const page: Parameter = { name: 'page', in: 'query', required: false, schema: {} }
  const other: Parameter = { ...page, description: 'Another page.' }
  const paths = {
    '/a': { get: { parameters: [{ ...page }] }, post: { parameters: [{ ...page }] } },
    '/b': { get: { parameters: [{ ...page }, { ...other }] } },
  }
  const before = structuredClone(paths)
  const parameters = shareParameters(paths)
  expect(parameters).toEqual({ page })
  expect(paths['/b'].get.parameters as unknown[]).toEqual([
    { $ref: '#/components/parameters/page' },
    other,
  ])
  expect(withParametersInPlace({ paths, components: { parameters } }).paths).toEqual(before)
})

test('the document describes no parameter word for word in more than two operations', async () => {
  const document = await reading
  const { parameters: shared } = document.components
  const counts = new Map<string, number>()
  let references = 0
  for (const item of Object.values(document.paths))
    for (const { parameters = [] } of Object.values(item))
      for (const parameter of parameters) {
        if (parameter.$ref !== undefined) {
          references += 1
          expect(shared).toHaveProperty(parameter.$ref.replace('#/components/parameters/', ''))
        } else {
          const text = JSON.stringify(parameter)
          counts.set(text, (counts.get(text) ?? 0) + 1)
        }
      }
  expect(references).toBeGreaterThan(600)
  expect([...counts.values()].filter(count => count > 2)).toEqual([])
})

test('every parameter that a request needs has an example, and every response names its formats', async () => {
  const operations = Object.values(withParametersInPlace(await reading).paths).flatMap(item =>
    Object.values(item),
  )
  const needed = operations.flatMap(({ parameters = [] }) =>
    parameters.filter(({ required }) => required),
  )
  expect(needed.filter(({ example }) => example === undefined)).toEqual([])
  const unnamed = operations.filter(({ parameters = [], responses }) => {
    const format = parameters.find(({ name }) => name === 'format')
    const { enum: values = [] } = (format?.schema ?? {}) as { enum?: string[] }
    return values.some(value => !responses['200']?.description.includes(`\`${value}\``))
  })
  expect(unnamed).toEqual([])
})

test('no field is either a list or one item of it, which generated TypeScript cannot parse', async () => {
  const { schemas } = (await reading).components
  const isListOrItem = (schema: unknown): boolean => {
    const { anyOf = [] } = schema as { anyOf?: { items?: unknown }[] }
    return anyOf.some(({ items }) => items && anyOf.some(member => Bun.deepEquals(member, items)))
  }
  const found = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
    Object.keys(properties)
      .filter(field => isListOrItem(properties[field]))
      .map(field => `${name}.${field}`),
  )
  expect(found).toEqual([])
})
