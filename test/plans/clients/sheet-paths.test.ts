import { expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../../src/http/openapi/openapi.ts'
import { isSheetPath, sheetPaths } from '../../../src/plans/clients/sheet-paths.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

const instance = openTestInstance()
const token = instance.key('enterprise')

test('every prefix of a table is that of a documented path, and none is that of an account', async () => {
  const document = (await (await instance.get('/openapi.json')).json()) as OpenApiDocument
  const paths = Object.keys(document.paths).filter(path => document.paths[path]!.get)
  for (const start of sheetPaths)
    expect(
      paths.some(path => path === start || path.startsWith(`${start}/`)),
      start,
    ).toBe(true)
  for (const path of ['/v1/account', '/v1/webhooks', '/v1/usage-alerts', '/admin/v1/accounts'])
    expect(isSheetPath(path), path).toBe(false)
})

test.each(['/v1/indicators/context', '/v1/bunker-fuels/ports', '/v1/drilling-intelligence'])(
  'a sheet and a workspace may read %s, as an assistant may',
  async path => {
    for (const at of ['/v1/excel/run', '/openbb/table']) {
      const answer = await instance.get(`${at}?path=${path}`, token)
      expect(answer.headers.get('x-error-message') ?? '').not.toContain('path must be')
    }
  },
)
