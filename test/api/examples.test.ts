import { expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import { openTestInstance } from '../support/instance/instance.ts'

const instance = openTestInstance()
const token = instance.key()

test.each(['/v1/alerts', '/v1/alerts/backtest', '/v1/data-sources'])(
  'the example of POST %s is accepted as it stands',
  async path => {
    const document = (await (await instance.get('/openapi.json')).json()) as OpenApiDocument
    const body = document.paths[path]!.post!.requestBody!.content['application/json']!
    const answer = await instance.send('POST', path, body.example, token)
    expect([answer.status, await answer.json()]).toEqual([
      path.endsWith('test') ? 200 : 201,
      expect.anything(),
    ])
  },
)
