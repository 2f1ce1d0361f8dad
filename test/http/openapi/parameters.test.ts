import { expect, test } from 'bun:test'
import type { Parameter } from '../../../src/http/openapi/openapi.ts'
import { shareParameters, withParametersInPlace } from '../../../src/http/openapi/parameters.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

interface Document {
  paths: Record<string, Record<string, { parameters?: (Parameter & { $ref?: string })[] }>>
  components: { parameters: Record<string, Parameter> }
}

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
  const document = (await (await openTestInstance().get('/openapi.json')).json()) as Document
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
