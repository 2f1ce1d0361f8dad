import { afterAll, describe, expect, test } from 'bun:test'
import type { Server, Socket } from 'bun'
import { wholeBody } from '../../../src/http/answer/stream.ts'
import { createTextBodies } from '../../../src/http/answer/text-body.ts'
import { createTurnQueue, isAtOnce } from '../../../src/lib/process/loop-turns.ts'
import { createSystemClock } from '../../../src/lib/time/clock.ts'

const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' }
for (let i = 0; i < 20; i += 1) headers[`x-header-${i}`] = `value ${i}`
const texts: Record<string, string> = {
  '/short': JSON.stringify({ data: 'x'.repeat(2000) }),
  '/longest-whole': 'x'.repeat(12 * 1024),
  '/long': JSON.stringify({ data: 'x'.repeat(60_000) }),
}

const nextTurn = () => new Promise<void>(done => setImmediate(done))

/**
 * The client receives each `send` of the server separately, because it reads faster than the server
 * writes.
 */
async function pieces(server: Server<undefined>, path: string): Promise<string[]> {
  const received: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket: Socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: server.port!,
    socket: {
      data(_, chunk) {
        received.push(chunk.toString('latin1'))
        const whole = received.join('')
        if (whole.endsWith('\r\n0\r\n\r\n') || whole.endsWith(texts[path]!)) resolve()
      },
      close: () => reject(new Error(`closed after ${received.join('')}`)),
    },
  })
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  await promise
  socket.terminate()
  return received
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await nextTurn()
    const bytes = new TextEncoder().encode(texts[new URL(request.url).pathname]!)
    return new Response(wholeBody(bytes), { headers })
  },
})

afterAll(() => server.stop(true))

describe('the body of an answer that is made after the turn of its request', () => {
  test.each(['/short', '/longest-whole'])('%s leaves in one piece with its head', async path => {
    const [only, ...more] = await pieces(server, path)
    expect(only).toStartWith('HTTP/1.1 200 OK\r\n')
    expect(only).toContain('x-header-19: value 19')
    expect(only).toContain(`Content-Length: ${texts[path]!.length}\r\n`)
    expect(only).toEndWith(texts[path]!)
    expect(more).toEqual([])
  })

  test('that is long begins in the piece of its whole head', async () => {
    const [first] = await pieces(server, '/long')
    expect(first).toStartWith('HTTP/1.1 200 OK\r\n')
    expect(first).toContain('x-header-19: value 19')
    expect(first).toContain('{"data":"xxx')
  })

  test.each(Object.keys(texts))('%s is the same to every client', async path => {
    for (const _ of [1, 2]) {
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`)
      expect(await answer.text()).toBe(texts[path]!)
      expect(answer.headers.get('x-header-7')).toBe('value 7')
      expect(answer.headers.get('content-type')).toBe(headers['content-type']!)
    }
  })
})

describe('the body of an answer that is made in the call in which its request came', () => {
  const bodyOf = createTextBodies()
  const turns = createTurnQueue<Request>(createSystemClock(), 5, () => 'the only connection')
  const atOnce = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: request =>
      turns.run(request, async () => {
        await Promise.resolve()
        const bytes = new TextEncoder().encode(texts['/long'])
        return new Response(bodyOf(bytes, isAtOnce(request)), { headers })
      }),
  })
  afterAll(() => atOnce.stop(true))

  test('names its length, however long it is, and leaves with its head', async () => {
    const [first, ...more] = await pieces(atOnce, '/long')
    expect(first).toContain(`Content-Length: ${texts['/long']!.length}\r\n`)
    expect(first).toContain('x-header-19: value 19\r\n')
    expect(first).toContain('\r\n\r\n{"data":"x')
    expect([first, ...more].join('')).toEndWith(`\r\n\r\n${texts['/long']}`)
  })
})
