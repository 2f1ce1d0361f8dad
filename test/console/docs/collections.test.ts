import { describe, expect, test } from 'bun:test'
import { brunoCollection, postmanCollection } from '../../../src/console/pages/docs/collections.ts'
import type { OpenApi } from '../../../src/console/pages/docs/document.ts'

const document: OpenApi = {
  info: { title: 'Energy Prices', version: '9.1.0' },
  paths: {
    '/v1/series/{code}': {
      get: {
        operationId: 'getSeries',
        summary: 'Get a series',
        tags: ['fixed_income'],
        parameters: [
          { name: 'code', in: 'path', schema: { type: 'string', example: 'WTI_USD' } },
          { name: 'days', in: 'query', required: true, example: 30 },
          { name: 'format', in: 'query', schema: { type: 'string' } },
          { name: 'idempotency-key', in: 'header' },
        ],
        responses: {},
      },
    },
    '/v1/notes': {
      post: {
        operationId: 'createNote',
        summary: 'Create a note',
        tags: ['notes'],
        security: [],
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['text'],
                properties: { text: { type: 'string', example: 'high' }, at: { type: 'string' } },
              },
            },
          },
        },
        responses: {},
      },
    },
    '/admin/v1/feeds': {
      get: {
        operationId: 'listFeeds',
        summary: 'List feeds',
        tags: ['operator'],
        security: [{ operatorToken: [] }],
        responses: {},
      },
    },
  },
}
const baseUrl = 'https://prices.example.com'

describe('a collection made from the OpenAPI document', () => {
  test('for Postman has a request for each operation, with the key and the address as variables', () => {
    const { name, text } = postmanCollection(document, baseUrl)
    const collection = JSON.parse(text)
    expect(name).toBe('energy-prices.postman.json')
    expect(collection.info.schema).toEndWith('/v2.1.0/collection.json')
    expect(collection.auth.bearer[0].value).toBe('{{apiKey}}')
    expect(collection.variable[0]).toEqual({ key: 'baseUrl', value: baseUrl })
    const [series, notes, operator] = collection.item
    expect(series.name).toBe('fixed income')
    expect(series.item[0].request).toEqual({
      method: 'GET',
      header: [{ key: 'Idempotency-Key', value: '', disabled: true }],
      url: {
        raw: '{{baseUrl}}/v1/series/:code?days=30',
        host: ['{{baseUrl}}'],
        path: ['v1', 'series', ':code'],
        query: [
          { key: 'days', value: '30' },
          { key: 'format', value: '', disabled: true },
        ],
        variable: [{ key: 'code', value: 'WTI_USD' }],
      },
    })
    expect(notes.item[0].request.auth).toEqual({ type: 'noauth' })
    expect(JSON.parse(notes.item[0].request.body.raw)).toEqual({ text: 'high' })
    expect(operator.item[0].request.auth.bearer[0].value).toBe('{{adminToken}}')
  })

  test('for Bruno has the same, with an environment whose key is a secret', () => {
    const { name, text } = brunoCollection(document, baseUrl)
    const collection = JSON.parse(text)
    expect(name).toBe('energy-prices.bruno.json')
    const [series, notes, operator] = collection.items
    expect(series.items[0].request).toEqual({
      method: 'GET',
      url: '{{baseUrl}}/v1/series/:code',
      headers: [{ name: 'Idempotency-Key', value: '', enabled: false }],
      params: [
        { name: 'days', value: '30', enabled: true, type: 'query' },
        { name: 'format', value: '', enabled: false, type: 'query' },
        { name: 'code', value: 'WTI_USD', enabled: true, type: 'path' },
      ],
      auth: { mode: 'bearer', bearer: { token: '{{apiKey}}' } },
      body: { mode: 'none' },
    })
    expect(notes.items[0].request.auth).toEqual({ mode: 'none' })
    expect(notes.items[0].request.body.mode).toBe('json')
    expect(operator.items[0].request.auth.bearer.token).toBe('{{adminToken}}')
    for (const name of ['apiKey', 'adminToken'])
      expect(collection.environments[0].variables).toContainEqual({
        name,
        value: '',
        enabled: true,
        secret: true,
        type: 'text',
      })
  })
})
