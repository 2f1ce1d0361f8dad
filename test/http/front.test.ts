import { describe, expect, test } from 'bun:test'
import { front } from '../../src/http/front.ts'
import { linker } from '../../src/http/problem/links.ts'
import { createSeededIds } from '../../src/lib/ids.ts'
import { openTestInstance } from '../support/instance.ts'

const { services } = openTestInstance()
const answer = front({
  handle: () => new Response('routed'),
  ids: createSeededIds(1),
  links: linker(services.config),
  corsOrigins: [],
  vary: '',
  originals: new WeakMap(),
})

/** What a server over the front door answers to a request line with this Host, over a socket. */
async function answerTo(host: string): Promise<{ status: number; body: string }> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  const received = await new Promise<string>((resolve, reject) => {
    let text = ''
    void Bun.connect({
      hostname: '127.0.0.1',
      port: server.port!,
      socket: {
        open: socket =>
          void socket.write(`GET /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
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
  ]) {
    test(`${JSON.stringify(host)} is refused with the JSON error`, async () => {
      const { status, body } = await answerTo(host)
      expect(status).toBe(400)
      expect(JSON.parse(body)).toMatchObject({ error: expect.anything() })
    })
  }

  for (const host of ['prices.example.com', 'localhost:8470', '127.0.0.1:1', '[::1]:8470']) {
    test(`${host} is taken`, async () => {
      expect(await answerTo(host)).toEqual({ status: 200, body: 'routed' })
    })
  }
})
