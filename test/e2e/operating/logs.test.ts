import { afterAll, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { remove, start, temporaryDir } from '../../support/instance/binary.ts'
import { until } from '../../support/until.ts'

const root = temporaryDir()
afterAll(() => remove(root))

interface Line {
  msg: string
  request_id?: string
  key_id?: string | null
  method?: string
  route?: string
  status?: number
  ms?: number
  bytes?: number
}

const linesOf = (path: string, enough: (lines: Line[]) => boolean): Promise<Line[]> =>
  until(`${path} has the lines`, () => {
    const lines = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Line)
    return enough(lines) ? lines : undefined
  })

async function configured(name: string, toml: string) {
  const path = join(root, `${name}.toml`)
  await Bun.write(path, toml)
  return path
}

test('the access log has a line for each answer, true in every field and without a secret', async () => {
  const path = join(root, 'access.log')
  const config = await configured(
    'access',
    `[log]\nformat = "json"\naccess = 1.0\nfile = "${path}"\n`,
  )
  const server = await start('dev', join(root, 'on'), '--config', config, '--world', 'small')
  const plain = { 'accept-encoding': 'identity' }
  const ask = (id: string, at: string, headers: Record<string, string> = {}) =>
    server.get(at, { 'x-request-id': id, ...plain, ...headers })
  const price = await ask('price', '/v1/prices/latest?by_code=WTI_USD')
  const priceBytes = (await price.bytes()).byteLength
  const encoded = await fetch(`${server.url}/openapi.json`, {
    headers: { 'x-request-id': 'document', 'accept-encoding': 'gzip' },
    decompress: false,
  } as RequestInit)
  const encodedBytes = (await encoded.bytes()).byteLength
  const doubled = await ask('doubled', '//v1/prices/latest?by_code=WTI_USD')
  await doubled.text()
  await (await ask('wrong', '/v1/prices/latest?by_code=NO_SUCH', {})).text()
  await (
    await fetch(`${server.url}/v1/prices/latest?api_key=${server.apiKey}&by_code=WTI_USD`, {
      headers: { 'x-request-id': 'parameter' },
    })
  ).text()
  await (await fetch(`${server.url}/nowhere/${server.apiKey}`)).text()
  await (await fetch(`${server.url}/health`, { method: 'HEAD' })).text()
  await (
    await fetch(`${server.url}/admin/v1/accounts`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.adminToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ email: 'logged@example.com' }),
    })
  ).text()
  const stream = new AbortController()
  const events = await fetch(`${server.url}/v1/stream?codes=WTI_USD`, {
    headers: { authorization: `Token ${server.apiKey}`, 'x-request-id': 'stream' },
    signal: stream.signal,
  })
  await events.body!.getReader().read()
  stream.abort()
  const lines = await linesOf(
    path,
    all =>
      all.filter(line => line.msg === 'access').length >= 9 &&
      all.some(line => line.request_id === 'stream'),
  )
  const of = (id: string) => lines.filter(line => line.msg === 'access' && line.request_id === id)
  const keyId = of('price')[0]!.key_id
  expect(keyId).toMatch(/^[0-9a-f-]{36}$/)
  expect(of('price')).toEqual([
    expect.objectContaining({
      method: 'GET',
      route: '/v1/prices/latest',
      status: 200,
      bytes: priceBytes,
      ms: expect.any(Number),
    }),
  ])
  expect(of('document')).toEqual([
    expect.objectContaining({ key_id: null, status: 200, bytes: encodedBytes }),
  ])
  expect(of('doubled')).toEqual([
    expect.objectContaining({ route: '/v1/prices/latest', key_id: keyId, status: 200 }),
  ])
  expect(of('wrong')).toEqual([
    expect.objectContaining({ route: '/v1/prices/latest', key_id: keyId, status: 400 }),
  ])
  expect(of('parameter')).toEqual([expect.objectContaining({ key_id: keyId, status: 200 })])
  expect(of('stream')).toEqual([
    expect.objectContaining({ route: '/v1/stream', key_id: keyId, status: 200 }),
  ])
  expect(of('stream')[0]!.bytes).toBeGreaterThan(0)
  expect(
    lines.filter(line => line.route === '(none)').map(({ status, bytes }) => [status, bytes]),
  ).toEqual([[404, 0]])
  expect(lines.filter(line => line.method === 'HEAD').map(line => line.bytes)).toEqual([0])

  expect(await server.stop()).toBe(0)
  const text = readFileSync(path, 'utf8')
  for (const secret of [server.apiKey, server.adminToken]) expect(text).not.toContain(secret)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(text).toContain('server_stopped')
})

test('without it there is no such line, and nothing goes to a file', async () => {
  const config = await configured('plain', '[log]\nformat = "json"\n')
  const server = await start('dev', join(root, 'off'), '--config', config, '--world', 'small')
  await (await server.get('/v1/prices/latest?by_code=WTI_USD')).text()
  expect(await server.stop()).toBe(0)
  const text = await new Response(server.process.stderr as ReadableStream).text()
  expect(text).toContain('server_listening')
  expect(text).not.toContain('"access"')
})
