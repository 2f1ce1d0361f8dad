import { afterAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'
import { codingOf, createEncoder, encodedEtag } from '../../../src/http/answer/encoding.ts'
import { front } from '../../../src/http/front.ts'
import { linker } from '../../../src/http/problem/links.ts'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

describe('what a client takes', () => {
  test.each([
    [null, undefined],
    ['', undefined],
    ['identity', undefined],
    ['deflate', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['zstd;q=0, br;q=0.1', 'br'],
    ['*', 'zstd'],
    ['*;q=0', undefined],
    ['gzip;q=0.5, identity', undefined],
    ['GZIP', 'gzip'],
    [';;,q=', undefined],
  ] as const)('%p: %p', (header, coding) => {
    expect(codingOf(header)).toBe(coding)
  })
})

// The whole way: a server over the front door of an instance, as production runs it.
const instance = openTestInstance()
const token = instance.key()
instance.record(
  'WTI_USD',
  Array.from({ length: 60 }, (_, i) => 70 + i / 8),
  instance.clock.now(),
  60_000,
)
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: front({
    handle: request => instance.app.fetch(request),
    ids: createSeededIds(1),
    links: linker(instance.services.config),
    corsOrigins: ['*'],
    vary: '',
    originals: new WeakMap(),
    encoder: createEncoder(),
  }),
})
afterAll(() => void server.stop(true))

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  instance.clock.advance(1001)
  return fetch(new URL(path, server.url), {
    method,
    headers: { authorization: `Token ${token}`, ...headers },
    decompress: false,
  } as RequestInit)
}
const decoders: Record<string, (bytes: Uint8Array<ArrayBuffer>) => Uint8Array> = {
  gzip: bytes => Bun.gunzipSync(bytes),
  zstd: bytes => Bun.zstdDecompressSync(bytes),
  br: bytes => brotliDecompressSync(bytes),
}
const window = '/v1/prices/past_day?by_code=WTI_USD&interval=raw'

describe('bodies', () => {
  test.each(['gzip', 'zstd', 'br'])('of a page decode from %s to the page', async coding => {
    const plain = await (await ask(window, { 'accept-encoding': 'identity' })).text()
    const response = await ask(window, { 'accept-encoding': coding })
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(response.headers.get('content-encoding')).toBe(coding)
    expect(response.headers.get('vary')).toContain('Accept-Encoding')
    expect(bytes.byteLength).toBeLessThan(plain.length / 3)
    const { prices } = (
      JSON.parse(Buffer.from(decoders[coding]!(bytes)).toString()) as {
        data: { prices: unknown[] }
      }
    ).data
    expect(prices).toEqual((JSON.parse(plain) as { data: { prices: unknown[] } }).data.prices)
  })

  test('under a kilobyte, of none and of errors that are short go as they are', async () => {
    for (const path of ['/health', '/v1/prices/latest?by_code=NOPE']) {
      const response = await ask(path, { 'accept-encoding': 'gzip' })
      expect(response.headers.get('content-encoding')).toBeNull()
      expect((await response.text()).length).toBeLessThan(1024)
    }
  })

  test('have the same headers where only they are requested, without the length that they would have', async () => {
    for (const coding of ['identity', 'gzip']) {
      const headers = { 'accept-encoding': coding }
      const whole = await ask(window, headers)
      const head = await ask(window, headers, 'HEAD')
      expect(await head.text()).toBe('')
      for (const name of ['content-type', 'content-encoding', 'etag', 'vary'])
        expect(head.headers.get(name), name).toBe(whole.headers.get(name))
      const length = coding === 'identity' ? String((await whole.arrayBuffer()).byteLength) : null
      expect(head.headers.get('content-length')).toBe(length)
    }
  })

  test('of a resource have a tag with which the resource can be changed', async () => {
    const authorization = `Token ${instance.key('enterprise')}`
    const send = (method: string, path: string, body: unknown, condition?: string) =>
      fetch(new URL(path, server.url), {
        method,
        headers: {
          authorization,
          'content-type': 'application/json',
          ...(condition !== undefined && { 'if-match': condition }),
        },
        body: JSON.stringify(body),
      })
    const created = await send('POST', '/v1/alerts', {
      price_alert: {
        name: 'high',
        commodity_code: 'WTI_USD',
        condition_operator: 'greater_than',
        condition_value: 90,
        metadata: { note: 'energy '.repeat(200) },
      },
    })
    const path = `/v1/alerts/${((await created.json()) as { id: string }).id}`
    const read = await ask(path, { authorization, 'accept-encoding': 'gzip' })
    const tag = read.headers.get('etag')!
    expect(tag).toEndWith('-gzip"')
    const change = (name: string) => send('PATCH', path, { price_alert: { name } }, tag)
    expect([(await change('one')).status, (await change('two')).status]).toEqual([200, 412])
  })

  test('that are long streams are encoded as they go and are whole', async () => {
    const piece = new TextEncoder().encode(`${'0123456789abcdef'.repeat(4096)}\n`)
    let pieces = 0
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pieces++ < 40) controller.enqueue(piece)
        else controller.close()
      },
    })
    const response = await createEncoder().leave(
      new Request('http://localhost/x', { headers: { 'accept-encoding': 'gzip' } }),
      new Response(stream, { headers: { 'content-type': 'application/x-ndjson' } }),
    )
    expect(response.headers.get('content-encoding')).toBe('gzip')
    const bytes = Bun.gunzipSync(new Uint8Array(await response.arrayBuffer()))
    expect(bytes.byteLength).toBe(40 * piece.byteLength)
  })

  test('a cached encoded body is identical on each request', async () => {
    const encoder = createEncoder()
    const request = new Request('http://localhost/x', { headers: { 'accept-encoding': 'zstd' } })
    const text = Array.from({ length: 9000 }, (_, i) => Bun.hash(`${i}`).toString(36)).join('')
    const answer = async () => {
      const headers = { 'content-type': 'application/json', etag: '"1"' }
      const response = await encoder.leave(request, new Response(text, { headers }))
      expect(response.headers.get('etag')).toBe('"1-zstd"')
      return Buffer.from(
        Bun.zstdDecompressSync(new Uint8Array(await response.arrayBuffer())),
      ).toString()
    }
    // The first is encoded and kept, the others are what was kept.
    for (const _ of [1, 2, 3]) expect(await answer()).toBe(text)
  })

  test.each(['gzip', 'zstd', 'br'])(
    'long bodies are sent in %s to all concurrent requests',
    async coding => {
      const encoder = createEncoder()
      const request = new Request('http://localhost/x', { headers: { 'accept-encoding': coding } })
      const text = JSON.stringify({ data: 'energy '.repeat(40_000) })
      const ask = (etag: string) =>
        encoder.leave(
          request,
          new Response(text, { headers: { 'content-type': 'application/json', etag } }),
        )
      const answers = [ask('"1"'), ask('"1"'), ask('"2"')]
      // The body is encoded in a later turn of the event loop.
      for (const answer of answers) expect(answer).toBeInstanceOf(Promise)
      const tags: (string | null)[] = []
      for (const response of await Promise.all(answers)) {
        tags.push(response.headers.get('etag'))
        const bytes = new Uint8Array(await response.arrayBuffer())
        expect(Buffer.from(decoders[coding]!(bytes)).toString()).toBe(text)
      }
      expect(tags).toEqual([`"1-${coding}"`, `"1-${coding}"`, `"2-${coding}"`])
      // Kept from now on, and answered at once.
      expect(ask('"1"')).toBeInstanceOf(Response)
    },
  )

  test('a body that two requests encode at once counts once against the cache limit', async () => {
    const keptBytesMax = 32 * 1024
    const encoder = createEncoder(keptBytesMax)
    const request = new Request('http://localhost/x', { headers: { 'accept-encoding': 'gzip' } })
    const ask = (tag: number) => {
      const text = Array.from({ length: 360 }, (_, i) =>
        Bun.hash(`${tag} ${i}`).toString(36).padStart(14, '0').repeat(9),
      ).join('')
      const headers = { 'content-type': 'application/json', etag: `"${tag}"` }
      return encoder.leave(request, new Response(text, { headers }))
    }
    let encodedBytes = 0
    const tags = [1, 2, 3, 4, 5, 6, 7, 8]
    for (const tag of tags) {
      const [response] = await Promise.all([ask(tag), ask(tag)])
      encodedBytes += (await response.arrayBuffer()).byteLength
    }
    // Counted twice they would not all have room.
    expect(encodedBytes).toBeWithin(keptBytesMax / 2, keptBytesMax)
    for (const tag of tags) expect(ask(tag)).toBeInstanceOf(Response)
  })

  test('that push events, are parts of files or pages of a person are left alone', () => {
    const encoder = createEncoder()
    const request = new Request('http://localhost/x', { headers: { 'accept-encoding': 'gzip' } })
    for (const headers of [
      { 'content-type': 'text/event-stream' },
      { 'content-type': 'text/html' },
      { 'content-type': 'application/octet-stream' },
      { 'content-type': 'text/csv', 'content-range': 'bytes 0-9/100' },
      { 'content-type': 'text/csv', 'content-encoding': 'br' },
    ] as Record<string, string>[]) {
      const response = new Response('x'.repeat(5000), { headers })
      expect(encoder.leave(request, response)).toBe(response)
    }
  })
})

describe('entity tags', () => {
  const latest = '/v1/prices/latest?by_code=WTI_USD,BRENT_CRUDE_USD,WTI_USD'
  test('differ by encoding, and each is known again', async () => {
    instance.record('BRENT_CRUDE_USD', [75, 76], instance.clock.now(), 60_000)
    const tags = new Map<string, string>()
    for (const coding of ['identity', 'gzip', 'zstd', 'br']) {
      const response = await ask(latest, { 'accept-encoding': coding })
      tags.set(coding, response.headers.get('etag')!)
    }
    expect(new Set(tags.values()).size).toBe(4)
    expect(tags.get('br')).toBe(encodedEtag(tags.get('identity')!, 'br'))
    for (const [coding, etag] of tags) {
      const again = await ask(latest, { 'accept-encoding': coding, 'if-none-match': etag })
      expect({ status: again.status, etag: again.headers.get('etag') }).toEqual({
        status: 304,
        etag,
      })
      expect(again.headers.get('vary')).toContain('Accept-Encoding')
    }
  })

  test('of what has changed bring the new body', async () => {
    const before = await ask(latest, { 'accept-encoding': 'gzip' })
    instance.record('WTI_USD', [99], instance.clock.now(), 60_000)
    const after = await ask(latest, {
      'accept-encoding': 'gzip',
      'if-none-match': before.headers.get('etag')!,
    })
    expect(after.status).toBe(200)
    const body = Bun.gunzipSync(new Uint8Array(await after.arrayBuffer()))
    expect(Buffer.from(body).toString()).toContain('"price":99')
  })

  test('of the document: encoded once, and 304 to who has it', async () => {
    const first = await ask('/openapi.json', { 'accept-encoding': 'br' })
    expect(first.headers.get('content-encoding')).toBe('br')
    const size = (await first.arrayBuffer()).byteLength
    const plain = await ask('/openapi.json', { 'accept-encoding': 'identity' })
    expect(size).toBeLessThan((await plain.arrayBuffer()).byteLength / 8)
    const again = await ask('/openapi.json', {
      'accept-encoding': 'br',
      'if-none-match': first.headers.get('etag')!,
    })
    expect(again.status).toBe(304)
  })
})
