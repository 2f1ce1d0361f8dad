import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, emptyDirectory } from '../../support/instance/command.ts'

test('a feed that was not read yet is added, not ok, and the command for its first run is named', async () => {
  const dir = emptyDirectory(temporaryDir())
  const { code, out } = await command('feeds', 'add', 'ecb', '--data', dir)
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^ecb: added, \d+ codes.*\n.*: wellhead feeds runs ecb$/m),
  })
  remove(dir)
})

test('a feed whose publisher is not reached for now ends with 75, and one that is off with 1', async () => {
  const dir = emptyDirectory(temporaryDir())
  const publisher = Bun.serve({ port: 0, fetch: () => new Response('gone', { status: 404 }) })
  const url = `http://127.0.0.1:${publisher.port}`
  writeFileSync(
    join(dir, 'wellhead.toml'),
    `[egress]\nallow = ["127.0.0.0/8"]\n[feeds.ecb]\nbase_url = "${url}"\n`,
  )
  const outcome = async (verb: string, name: string) => {
    const { code, err } = await command('feeds', verb, name, '--data', dir)
    return { code, err: err.trim() }
  }
  expect(await outcome('test', 'ecb')).toEqual({
    code: 1,
    err: 'feeds test: the publisher answered 404',
  })
  publisher.reload({ fetch: () => new Response('later', { status: 503 }) })
  expect(await outcome('test', 'ecb')).toEqual({
    code: 75,
    err: 'feeds test: the publisher answered 503',
  })
  publisher.reload({ fetch: () => new Response('rate limit', { status: 403 }) })
  expect(await outcome('run', 'ecb')).toEqual({
    code: 75,
    err: 'feeds run: the publisher answered 403',
  })
  await publisher.stop(true)
  expect((await outcome('test', 'ecb')).code).toBe(75)
  expect((await outcome('run', 'norges_bank')).code).toBe(1)
  remove(dir)
})
