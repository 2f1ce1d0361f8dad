import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { minified } from '../../../scripts/compile.ts'
import { createEncoder } from '../../../src/http/answer/encoding.ts'
import { front } from '../../../src/http/front.ts'
import { linker } from '../../../src/http/problem/links.ts'
import { createApp } from '../../../src/instance/app/app.ts'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

const stops: (() => void)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

/** A server over the front door of an instance that has a price, as production runs it. */
function stand(flags: Record<string, string> = {}, prices: number[] = [70, 71]) {
  const instance = openTestInstance(flags)
  const token = instance.key()
  instance.record('WTI_USD', prices, instance.clock.now(), 60_000)
  const { config } = instance.services
  const app = createApp(instance.services, { completes: true })
  const handle = front({
    handle: request => app.fetch(request),
    ids: createSeededIds(1),
    links: linker(config),
    corsOrigins: config.cors.origins,
    isSecure: config.server.baseUrl.startsWith('https:'),
    vary: '',
    originals: new WeakMap(),
    encoder: createEncoder(),
  })
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handle })
  stops.push(() => void server.stop(true))
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, server.url), {
      headers: { authorization: `Token ${token}`, ...headers },
      decompress: false,
    } as RequestInit)
  return { handle, token, ask }
}

const path = '/v1/prices/latest?by_code=WTI_USD'

test('the newest price of one code is answered in the turn of its request, without a promise', async () => {
  const { handle, token } = stand()
  const answer = handle(
    new Request(`http://localhost:80${path}`, {
      headers: { host: 'localhost', authorization: `Token ${token}` },
    }),
  )
  expect(answer).toBeInstanceOf(Response)
  expect(await (answer as Response).json()).toMatchObject({ data: { code: 'WTI_USD', price: 71 } })
})

// Elysia reads the sources of hooks and handlers to see what to await, and minified ones are others.
test('so it is in the code of the binary', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-minified-'))
  try {
    const program = join(import.meta.dir, '../../support/instance/at-once.ts')
    const built = Bun.spawnSync([
      process.execPath,
      'build',
      '--target=bun',
      ...minified,
      `--outdir=${dir}`,
      program,
    ])
    expect(built.exitCode).toBe(0)
    const run = Bun.spawnSync([process.execPath, 'at-once.js'], { cwd: dir })
    expect(run.stdout.toString()).toBe('200\n')
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

test('a short answer is the same text with the same headers, whatever encodings a client takes', async () => {
  const { ask } = stand()
  const plain = await ask(path)
  const text = await plain.text()
  expect(text.length).toBeLessThan(1024)
  for (const encodings of ['gzip', 'gzip, deflate, br, zstd', 'identity', '*;q=0']) {
    const answer = await ask(path, { 'accept-encoding': encodings })
    expect(await answer.text()).toBe(text)
    expect(answer.headers.get('content-encoding')).toBeNull()
    expect(answer.headers.get('content-length')).toBe(String(text.length))
    expect(answer.headers.get('etag')).toBe(plain.headers.get('etag'))
    expect(answer.headers.get('vary')).toBe('Accept-Encoding')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('strict-transport-security')).toBeNull()
  }
})

test('a long answer has the same headers for a client that names no encodings as for one that takes none', async () => {
  const prices = Array.from({ length: 50 }, (_, i) => 70 + i / 100)
  const { handle, token } = stand({}, prices)
  const answerTo = async (headers: Record<string, string>) => {
    const answer = await handle(
      new Request('http://localhost:80/v1/prices/past_day?by_code=WTI_USD&interval=raw', {
        headers: { host: 'localhost', authorization: `Token ${token}`, ...headers },
      }),
    )
    const text = await answer.text()
    const counting = /^(x-request-id|ratelimit|x-ratelimit-(used|remaining))$/
    return { text, headers: [...answer.headers].filter(([name]) => !counting.test(name)) }
  }
  const plain = await answerTo({})
  expect(plain.text.length).toBeGreaterThan(1024)
  expect(plain).toEqual(await answerTo({ 'accept-encoding': 'identity' }))
})

test('a short answer has what every answer has: by its origin, and where it comes by https', async () => {
  const { ask } = stand({
    'server.base_url': 'https://prices.example',
    'cors.origins': 'https://desk.example',
  })
  const answer = await ask(path, { origin: 'https://desk.example' })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000')
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://desk.example')
  expect(answer.headers.get('vary')).toBe('Origin, Accept-Encoding')
  // Other responses get the same headers.
  const long = await ask('/v1/commodities', { origin: 'https://desk.example' })
  for (const name of ['vary', 'strict-transport-security', 'x-content-type-options'])
    expect(long.headers.get(name)).toBe(answer.headers.get(name))
})
