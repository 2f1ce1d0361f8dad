import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { commandIn } from '../../support/instance/command.ts'

const dir = temporaryDir()
/** A server with two pages of one price each; the second one may fail. */
let fails = false
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const page = Number(new URL(request.url).searchParams.get('page'))
    if (page === 2 && fails) return Response.json({ message: 'No.' }, { status: 400 })
    return Response.json({
      status: 'success',
      data: {
        prices: [{ code: 'WTI_USD', created_at: `2026-01-0${page}T00:00:00Z`, price: page }],
      },
      meta: { has_next: page < 2 },
    })
  },
})
afterAll(async () => {
  await server.stop(true)
  remove(dir)
})
const exported = (file: string) => {
  const words = ['export', 'WTI_USD', '--url', `http://127.0.0.1:${server.port}`]
  return commandIn({ WELLHEAD_API_KEY: 'a'.repeat(64) }, ...words, '-o', join(dir, file))
}

test('an export over HTTP that is interrupted leaves no file, and fails', async () => {
  fails = true
  expect((await exported('half.csv')).code).toBe(1)
  expect(readdirSync(dir)).toEqual([])
})

test('an export over HTTP appears when it is complete, compressed by its name', async () => {
  fails = false
  const plain = await exported('all.csv')
  expect({ code: plain.code, err: plain.err }).toEqual({
    code: 0,
    err: expect.stringContaining('2 prices in'),
  })
  expect((await exported('all.csv.gz')).code).toBe(0)
  const text = readFileSync(join(dir, 'all.csv'), 'utf8')
  expect(text.trimEnd().split('\n')).toHaveLength(3)
  expect(gunzipSync(readFileSync(join(dir, 'all.csv.gz'))).toString()).toBe(text)
})

test('an export over HTTP to a place that cannot be written fails with the reason', async () => {
  const refused = await exported('no/such/directory.csv')
  expect({ code: refused.code, err: refused.err }).toEqual({
    code: 1,
    err: expect.stringContaining('does not exist'),
  })
})
