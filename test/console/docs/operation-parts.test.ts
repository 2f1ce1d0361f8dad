import { expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../../src/http/openapi/openapi.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

type Part = Pick<OpenApiDocument, 'info' | 'paths' | 'components'>

const references = (value: unknown) =>
  new Set([...JSON.stringify(value).matchAll(/"#\/components\/([^"]+)"/g)].map(([, path]) => path!))

test('each part of the document has one operation and exactly the components that it needs', async () => {
  const instance = openTestInstance()
  const json = async <T>(path: string) => (await (await instance.get(path)).json()) as T
  const { info, paths, components } = await json<OpenApiDocument>('/openapi.json')
  const known = components as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  let count = 0
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item)) {
      const id = operation.operationId
      const part = await json<Part>(`/docs/operation.json?id=${id}`)
      expect(part.info, id).toEqual(info)
      expect(part.paths, id).toEqual({ [path]: { [method]: operation } })
      const included = Object.entries(part.components).flatMap(([kind, named]) =>
        Object.entries(named as object).map(([name, value]) => {
          expect(value, `${id} ${name}`).toEqual(known[kind]![name])
          return `${kind}/${name}`
        }),
      )
      expect(new Set(included), id).toEqual(references(part))
      count += 1
    }
  expect(count).toBeGreaterThan(400)
}, 120_000)

test('a part without a known operation is the head of the document', async () => {
  const instance = openTestInstance()
  for (const path of ['/docs/operation.json', '/docs/operation.json?id=nothing']) {
    const response = await instance.get(path)
    const { info, ...rest } = (await response.json()) as Part
    expect(info.title, path).not.toBe('')
    expect(rest as object, path).toEqual({ paths: {}, components: {} })
    const again = await instance.get(path, undefined, {
      'if-none-match': response.headers.get('etag')!,
    })
    expect(again.status, path).toBe(304)
  }
})
