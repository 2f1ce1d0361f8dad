import { describe, expect, test } from 'bun:test'
import { front } from '../../src/http/front.ts'
import { linker } from '../../src/http/problem/links.ts'
import { createSeededIds } from '../../src/lib/ids.ts'
import type { TurnQueue } from '../../src/lib/process/loop-turns.ts'
import { openTestInstance } from '../support/instance/instance.ts'

const { services, key: openedKey } = openTestInstance({ 'nats.servers': 'nats://127.0.0.1:1' })
const answer = front({
  handle: () => new Response('routed'),
  ids: createSeededIds(1),
  links: linker(services.config),
  corsOrigins: [],
  vary: '',
  originals: new WeakMap(),
})

/** The server's response over a socket to a request line with this Host. */
async function answerTo(host: string): Promise<{ status: number; body: string }> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  const received = await new Promise<string>((resolve, reject) => {
    let text = ''
    void Bun.connect({
      hostname: '127.0.0.1',
      port: server.port!,
      socket: {
        open: socket =>
          void socket.write(
            `GET /health HTTP/1.1\r\nHost: ${host}\r\nAccept: application/problem+json\r\nConnection: close\r\n\r\n`,
          ),
        data: (_socket, bytes) => {
          text += bytes.toString()
        },
        close: () => resolve(text),
        error: (_socket, error) => reject(error),
      },
    })
  })
  server.stop(true)
  const [head = '', body = ''] = received.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), body }
}

test.each([false, true])(
  'slashes at the start of a path count as one, also where the answer waits: %p',
  async waits => {
    const routed = ({ url }: Request) =>
      new Response('', { status: url === 'http://localhost/health' ? 200 : 404 })
    const served = front({
      handle: request => (waits ? Promise.resolve(routed(request)) : routed(request)),
      ids: createSeededIds(1),
      links: linker(services.config),
      corsOrigins: [],
      vary: '',
      originals: new WeakMap(),
    })
    const statusOf = async (path: string) => {
      const headers = { host: 'localhost' }
      return (await served(new Request(`http://localhost${path}`, { headers }))).status
    }
    expect(await Promise.all(['/health', '//health', '///health', '//x'].map(statusOf))).toEqual([
      200, 200, 200, 404,
    ])
  },
)

describe('Host', () => {
  for (const host of [
    'a:b:c',
    '',
    'x',
    '[::1',
    'name:99999',
    'name:port',
    'a/bcd',
    'user@name',
    'one,two',
    'one two',
    'xn--',
    'xn--a',
    'a.xn--',
    '1.2.3.4.5',
    '256.256.256.256',
    '0x100000000',
    '1.2.3.08',
    '[1:2:3]',
    '[:::::::]',
  ]) {
    test(`${JSON.stringify(host)} is refused with the JSON error, as problem details`, async () => {
      const { status, body } = await answerTo(host)
      expect(status).toBe(400)
      expect(JSON.parse(body)).toMatchObject({
        error: { code: 'MALFORMED_REQUEST' },
        type: expect.stringContaining('#MALFORMED_REQUEST'),
        status: 400,
      })
    })
  }

  for (const host of ['prices.example.com', 'localhost:8470', '127.0.0.1:1', '[::1]:8470']) {
    test(`${host} is taken`, async () => {
      expect(await answerTo(host)).toEqual({ status: 200, body: 'routed' })
    })
  }
})

describe('headers of every answer', () => {
  const withBase = (isSecure: boolean) =>
    front({
      handle: async request =>
        new Response('', { status: request.url.endsWith('/none') ? 404 : 200 }),
      ids: createSeededIds(1),
      links: linker(services.config),
      corsOrigins: ['https://desk.example'],
      vary: '',
      originals: new WeakMap(),
      isSecure,
    })
  const sent: [string, string, Record<string, string>][] = [
    ['GET', '/v1/prices', { host: 'localhost' }],
    ['GET', '/none', { host: 'localhost' }],
    ['OPTIONS', '/v1/prices', { host: 'localhost', origin: 'https://desk.example' }],
    ['GET', '/v1/prices', { host: 'x' }],
  ]
  test.each(sent)(
    '%s %s is sent with nosniff, and with HSTS when served over HTTPS',
    async (method, path, headers) => {
      for (const isSecure of [false, true]) {
        const response = await withBase(isSecure)(
          new Request(`http://localhost${path}`, { method, headers }),
        )
        expect(response.headers.get('x-content-type-options')).toBe('nosniff')
        expect(response.headers.get('strict-transport-security')).toBe(
          isSecure ? 'max-age=31536000' : null,
        )
      }
    },
  )
})

describe('where requests wait for their turn', () => {
  const waiting: (() => void)[] = []
  const turns: TurnQueue<Request> = {
    run: (_request, work) => new Promise(resolve => waiting.push(() => resolve(work()))),
  }
  test('a queued request is not examined before its turn, not even for rejection', async () => {
    let asked = 0
    const door = front({
      handle() {
        asked += 1
        return new Response('routed')
      },
      ids: createSeededIds(1),
      links: linker(services.config),
      corsOrigins: [],
      vary: '',
      originals: new WeakMap(),
      turns,
    })
    const sent = (host: string) =>
      door(new Request('http://localhost/v1/prices', { headers: { host } }))
    const answers = [sent('localhost'), sent('x')]
    expect({ asked, length: waiting.length }).toEqual({ asked: 0, length: 2 })
    for (const take of waiting) take()
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect([asked, ...statuses]).toEqual([1, 200, 400])
  })

  test('a queued write whose connection was closed changes nothing', async () => {
    const handled: string[] = []
    const door = front({
      handle(request) {
        handled.push(request.method)
        return new Response('routed')
      },
      ids: createSeededIds(1),
      links: linker(services.config),
      corsOrigins: [],
      vary: '',
      originals: new WeakMap(),
      turns,
    })
    waiting.length = 0
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: door })
    const pipelined = ['POST', 'GET'].map(
      method => `${method} /v1/api-keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`,
    )
    await new Promise<void>((resolve, reject) => {
      void Bun.connect({
        hostname: '127.0.0.1',
        port: server.port!,
        socket: {
          open: socket => void socket.write(pipelined.join('')),
          data: (_socket, bytes) => reject(new Error(bytes.toString())),
          close: () => resolve(),
          error: (_socket, error) => reject(error),
        },
      })
    })
    for (const take of waiting) take()
    expect(handled).toEqual([])
    await server.stop(true)
  })
})

describe('methods', () => {
  test.each(['PROPFIND', 'TRACE', 'LINK'])(
    'the unsupported method %s is refused with 501 as JSON',
    async method => {
      const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
      const received = await new Promise<string>((resolve, reject) => {
        let text = ''
        void Bun.connect({
          hostname: '127.0.0.1',
          port: server.port!,
          socket: {
            open: socket =>
              void socket.write(
                `${method} /v1/prices HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
              ),
            data: (_socket, bytes) => {
              text += bytes.toString()
            },
            close: () => resolve(text),
            error: (_socket, error) => reject(error),
          },
        })
      })
      server.stop(true)
      const [head = '', body = ''] = received.split('\r\n\r\n')
      expect(head.split(' ')[1]).toBe('501')
      expect(head.toLowerCase()).toContain('\r\nallow: get, head, post')
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'METHOD_NOT_IMPLEMENTED' } })
    },
  )
})

describe('a request of a quota with other instances', () => {
  const { keys, meter } = services
  let [committed, streamed] = [0, 0]
  meter.followStream({ sequence: () => (committed += 1), has: change => change <= streamed })
  const uncharged = new WeakSet<Request>()
  let left = 0
  const state = keys.find(openedKey('developer'))!
  const door = (reaches: boolean) =>
    front({
      handle(request) {
        meter.reserve(state)
        if (!meter.isCharged(state)) uncharged.add(request)
        const source = {
          pull(controller: ReadableStreamDefaultController) {
            controller.enqueue(Buffer.from('{"price":70}'))
            controller.close()
          },
          cancel() {
            left += 1
          },
        }
        return new Response(new ReadableStream(source, { highWaterMark: 0 }))
      },
      ids: createSeededIds(1),
      links: linker(services.config),
      corsOrigins: [],
      vary: '',
      originals: new WeakMap(),
      charged: request =>
        uncharged.has(request)
          ? Promise.resolve(reaches).then(isReached => {
              if (isReached) streamed = committed
              return isReached
            })
          : undefined,
    })
  const ask = async (reaches: boolean) => {
    const response = await door(reaches)(
      new Request('http://localhost/v1/prices', { headers: { host: 'localhost' } }),
    )
    return [response.status, ((await response.json()) as { price?: number }).price]
  }
  test('is answered once the stream has it, and refused where it has not', async () => {
    expect(await ask(false)).toEqual([503, undefined])
    // An open stream that is never read would keep its place.
    expect(left).toBe(1)
    expect(await ask(true)).toEqual([200, 70])
    // The count that was written ahead covers the next request, which need not wait for the stream.
    expect(await ask(false)).toEqual([200, 70])
  })
})
