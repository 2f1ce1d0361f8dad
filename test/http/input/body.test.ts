import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { pointBlockType, readBody, readBodyText } from '../../../src/http/input/body.ts'
import { Problem } from '../../../src/http/problem/problem.ts'

let server: Bun.Server<undefined>

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      try {
        if (pathname === '/text') return new Response(await readBodyText(request, 100))
        const body = await readBody(request, pathname)
        return new Response(body instanceof Uint8Array ? body.slice() : JSON.stringify(body))
      } catch (error) {
        return new Response(error instanceof Problem ? error.code : `${error}`, { status: 400 })
      }
    },
  })
})
afterAll(() => server.stop(true))

/** The body of the answer to bytes as they are, after which the client sends no more. */
const answerTo = (head: string, body: string | Uint8Array) =>
  new Promise<string>((done, failed) => {
    const socket = connect(server.port!, '127.0.0.1')
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', failed)
    socket.on('close', () => done(Buffer.concat(chunks).toString().split('\r\n\r\n')[1] ?? ''))
    socket.write(`${head}\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    socket.write(body)
  })

const chunked = (...parts: string[]) =>
  [...parts, ''].map(part => `${part.length.toString(16)}\r\n${part}\r\n`).join('')

test('a body of the length that it names is read as it is', async () => {
  expect(await answerTo('POST /text HTTP/1.1\r\nContent-Length: 5', 'fünf')).toBe('fünf')
  expect(await answerTo('POST /text HTTP/1.1\r\nContent-Length: 0', '')).toBe('')
  expect(await answerTo('POST /text HTTP/1.1', '')).toBe('')
})

test('a body in chunks is read as one', async () => {
  const head = 'POST /text HTTP/1.1\r\nTransfer-Encoding: chunked'
  expect(await answerTo(head, chunked('one ', 'two'))).toBe('one two')
})

test('a body longer than is accepted is refused, whether it names its length or not', async () => {
  const long = 'x'.repeat(101)
  expect(await answerTo('POST /text HTTP/1.1\r\nContent-Length: 101', long)).toBe(
    'PAYLOAD_TOO_LARGE',
  )
  const head = 'POST /text HTTP/1.1\r\nTransfer-Encoding: chunked'
  expect(await answerTo(head, chunked('x'.repeat(60), 'y'.repeat(60)))).toBe('PAYLOAD_TOO_LARGE')
})

test('a compressed body is refused by its coding, and one that is only named so is read', async () => {
  const packed = Bun.gzipSync(Buffer.from('[1]'))
  const head = (bytes: number, coding = 'gzip') =>
    `POST /v1/alerts HTTP/1.1\r\nContent-Encoding: ${coding}\r\nContent-Length: ${bytes}`
  expect(await answerTo(head(packed.length), packed)).toBe('UNSUPPORTED_CONTENT_ENCODING')
  expect(await answerTo(head(3, 'x-gzip, br'), 'abc')).toBe('UNSUPPORTED_CONTENT_ENCODING')
  expect(await answerTo(head(3), 'abc')).toBe('UNSUPPORTED_CONTENT_ENCODING')
  expect(await answerTo(head(3), '[1]')).toBe('[1]')
})

test('a block of points stays bytes, and other bodies are JSON', async () => {
  const head = 'POST /admin/v1/observations HTTP/1.1\r\nContent-Length: 3\r\nContent-Type:'
  expect(await answerTo(`${head} ${pointBlockType}`, 'abc')).toBe('abc')
  expect(await answerTo(`${head} application/json`, '[1]')).toBe('[1]')
  expect(await answerTo(`${head} application/json`, 'abc')).toBe('MALFORMED_JSON')
})
