import { afterAll, describe, expect, test } from 'bun:test'
import type { Server, Socket } from 'bun'
import { lateBody, madeLate } from '../../../src/http/answer/stream.ts'

const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' }
for (let i = 0; i < 20; i += 1) headers[`x-header-${i}`] = `value ${i}`
const text = JSON.stringify({ data: 'x'.repeat(2000) })

const nextTurn = () => new Promise<void>(done => setImmediate(done))

/** What a client gets of each `send` of the server, for it reads faster than the server writes. */
async function pieces(server: Server<undefined>, request: string): Promise<string[]> {
  const received: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket: Socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: server.port!,
    socket: {
      data(_, chunk) {
        received.push(chunk.toString('latin1'))
        const whole = received.join('')
        if (whole.endsWith('\r\n0\r\n\r\n')) resolve()
      },
      close: () => reject(new Error(`closed after ${received.join('')}`)),
    },
  })
  socket.write(request)
  await promise
  socket.terminate()
  return received
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await nextTurn()
    return request.url.endsWith('/made')
      ? await madeLate(new Response(text, { headers }))
      : new Response(lateBody(new TextEncoder().encode(text)), { headers })
  },
})

afterAll(() => server.stop(true))

const get = (path: string, version = '1.1') =>
  `GET ${path} HTTP/${version}\r\nHost: 127.0.0.1\r\n\r\n`

describe('the body of a late answer', () => {
  test.each(['/body', '/made'])('%s leaves in one piece with its head', async path => {
    const [first, ...more] = await pieces(server, get(path))
    expect(first).toStartWith('HTTP/1.1 200 OK\r\n')
    expect(first).toContain('x-header-19: value 19')
    expect(first).toContain(text)
    // The end of a chunked body may follow on its own.
    expect(more.join('').length).toBeLessThanOrEqual('\r\n0\r\n\r\n'.length)
  })

  test('is the same to every client', async () => {
    const url = `http://127.0.0.1:${server.port}/made`
    const answer = await fetch(url)
    expect(await answer.text()).toBe(text)
    expect(answer.headers.get('x-header-7')).toBe('value 7')
    expect(answer.headers.get('content-type')).toBe(headers['content-type']!)
  })
})

describe('madeLate', () => {
  test('keeps the status and the headers of a refusal', async () => {
    const late = await madeLate(new Response('{"error":1}', { status: 404, headers }))
    expect(late.status).toBe(404)
    expect(late.headers.get('x-header-0')).toBe('value 0')
    expect(await late.json()).toEqual({ error: 1 })
  })

  test('leaves alone what goes on, what is no JSON and what has no body', async () => {
    const stream = new Response(new ReadableStream(), {
      headers: { 'content-type': 'text/event-stream' },
    })
    const page = new Response('<p>', { headers: { 'content-type': 'text/html' } })
    const unchanged = new Response(null, { status: 304, headers })
    for (const answer of [stream, page, unchanged]) expect(await madeLate(answer)).toBe(answer)
  })

  test('makes no body where there is none', async () => {
    const late = await madeLate(new Response(null, { status: 201, headers }))
    expect(late.body).toBeNull()
  })
})
