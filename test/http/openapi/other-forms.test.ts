import { beforeAll, describe, expect, test } from 'bun:test'
import { eventTypes } from '../../../src/plans/messages/event-types.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

type Fields = Record<string, unknown>

let before: Fields
let later: Fields
let events: Fields
beforeAll(async () => {
  const instance = openTestInstance()
  const documentAt = async (path: string) => (await (await instance.get(path)).json()) as Fields
  before = await documentAt('/openapi.json')
  later = await documentAt('/openapi-3.1.json')
  events = await documentAt('/asyncapi.json')
}, 60_000)

describe('the OpenAPI 3.1 document', () => {
  test('has every path of the other one, and a webhook for each type of event', () => {
    expect(later.openapi).toBe('3.1.0')
    expect(Object.keys(later.paths as Fields)).toEqual(Object.keys(before.paths as Fields))
    expect(Object.keys(later.webhooks as Fields)).toEqual([...eventTypes])
  })

  test('says null as a type, and has no word of OpenAPI 3.0 for it', () => {
    const text = JSON.stringify(later)
    expect(text).not.toContain('"nullable":true')
    expect(text).toContain('["string","null"]')
    expect(JSON.stringify(before)).toContain('"nullable":true')
  })

  test('names each operation once, webhooks too', () => {
    const ids = [...JSON.stringify(later).matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

test('the contact has no relative address, which neither form takes', () => {
  for (const document of [before, later, events])
    expect((document.info as Fields).contact).toEqual({ name: expect.any(String) })
})

test('the AsyncAPI document has a message for each type of event, and its references lead somewhere', () => {
  const { messages } = events.components as { messages: Record<string, { name: string }> }
  expect(Object.values(messages).map(({ name }) => name)).toEqual([...eventTypes])
  for (const [, path = ''] of JSON.stringify(events).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const target = path
      .split('/')
      .reduce<unknown>((at, name) => (at as Fields | undefined)?.[name], events)
    expect(target, path).toBeDefined()
  }
})
