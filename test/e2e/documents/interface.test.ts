import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { interfaceRows, type Row } from '../../support/interface/interface.ts'

const rows = interfaceRows.filter(row => row.sample !== null)

describe('the compiled binary', () => {
  const dir = temporaryDir()
  let server: Server
  beforeAll(async () => {
    server = await start('dev', dir)
  }, 120_000)
  afterAll(async () => {
    await server.stop()
    remove(dir)
  })

  const ask = (row: Row, path = row.sample!) =>
    fetch(server.url + path, {
      method: row.method,
      headers: {
        ...(row.access !== 'keyless' && {
          authorization:
            row.access === 'operator' ? `Bearer ${server.adminToken}` : `Token ${server.apiKey}`,
        }),
        ...(row.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(row.body !== undefined && { body: JSON.stringify(row.body) }),
      redirect: 'manual',
    })

  test('the compiled binary serves every API sample over a socket as the sources do', async () => {
    const faults: string[] = []
    for (const row of rows) {
      const response = await ask(row)
      if (response.status !== row.success)
        faults.push(
          `${row.method} ${row.sample}: ${response.status} ${(await response.text()).slice(0, 200)}`,
        )
    }
    expect(faults).toEqual([])
  }, 60_000)

  test('collapses doubled slashes, ignores a trailing one, answers HEAD and preflights, and refuses other methods as unknown', async () => {
    const latest = rows.find(row => row.path === '/v1/prices/latest')!
    expect((await ask(latest, '//v1/prices/latest?by_code=WTI_USD')).status).toBe(200)
    expect((await ask(latest, '/v1/prices/latest/?by_code=WTI_USD')).status).toBe(200)
    const head = await ask({ ...latest, method: 'HEAD' })
    expect({ status: head.status, text: await head.text() }).toEqual({ status: 200, text: '' })
    expect(head.headers.get('etag')).toBeTruthy()
    const preflight = await fetch(`${server.url}/v1/prices/latest`, {
      method: 'OPTIONS',
      headers: { origin: 'https://example.com' },
    })
    expect({
      status: preflight.status,
      accessControlAllowOrigin: preflight.headers.get('access-control-allow-origin'),
    }).toEqual({ status: 204, accessControlAllowOrigin: '*' })
    const unknown = await ask({ ...latest, method: 'DELETE' })
    expect({
      status: unknown.status,
      text: await unknown.text(),
      requestId: unknown.headers.get('x-request-id'),
    }).toEqual({ status: 404, text: '', requestId: null })
    expect(unknown.headers.get('content-type')).toStartWith('text/html')
  })

  test('survives hostile requests: raw bytes get a refusal or a closed connection, never a failure of the server', async () => {
    const { hostname, port } = new URL(server.url)
    const authorization = `Authorization: Token ${server.apiKey}`
    const requests = [
      `GET /v1/prices/latest HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`,
      `GET /v1/prices/latest HTTP/1.1\r\nHost: one.example\r\nHost: two.example\r\n${authorization}\r\n\r\n`,
      `GET /v1/prices/latest?by_code=%00%0d%0aX: y HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n\r\n`,
      `GET /v1/prices/latest?by_code=${'A'.repeat(9000)} HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n\r\n`,
      `POST /v1/prices/batch HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `POST /v1/prices/batch HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{]`,
      `GET /v1/prices/2026-02-30?by_code=WTI_USD HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\nX-Request-Id: a\u{1f600}b\r\n\r\n`,
      'GARBAGE\r\n\r\n',
    ]
    for (const request of requests) {
      const answer = await new Promise<string>(resolve => {
        let text = ''
        const done = () => resolve(text)
        void Bun.connect({
          hostname,
          port: Number(port),
          socket: {
            open: socket => void socket.write(request),
            data(socket, bytes) {
              text += bytes.toString()
              socket.end()
            },
            close: done,
            error: done,
          },
        })
      })
      expect(
        answer === '' || /^HTTP\/1\.1 (4\d\d|505)/.test(answer),
        `${request.slice(0, 60)} → ${answer.slice(0, 80)}`,
      ).toBe(true)
    }
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
  })
})
