import { expect, test } from 'bun:test'
import { withParametersInPlace } from '../../../../src/http/openapi/parameters.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'

interface Document {
  paths: Record<string, { get?: { parameters?: { name: string }[] } }>
}

test('every paginated operator list gives its page position in response headers', async () => {
  const instance = openTestInstance()
  const authorization = `Bearer ${instance.services.adminTokens.rotate()}`
  const document = withParametersInPlace(
    (await (await instance.get('/openapi.json')).json()) as Document,
  )
  const lists = Object.entries(document.paths).flatMap(([path, { get }]) =>
    path.startsWith('/admin/v1/') &&
    !path.includes('{') &&
    get?.parameters?.some(({ name }) => name === 'per_page')
      ? [path]
      : [],
  )
  expect(lists.length).toBeGreaterThan(9)
  for (const path of lists) {
    const url = `${path}?page=1&per_page=1`
    const { status, headers } = await instance.send('GET', url, undefined, undefined, {
      authorization,
    })
    const page = { number: headers.get('x-page'), rows: headers.get('x-per-page') }
    expect({ path, status, page }).toEqual({ path, status: 200, page: { number: '1', rows: '1' } })
    expect(headers.get('link')).toContain(`${url}>; rel="first"`)
  }
})
