import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'

// A client that sends its requests without waiting for the answers (RFC 9112, 9.3.2).
const dir = temporaryDir()
let server: Server = undefined!

beforeAll(async () => {
  server = await start('serve', dir)
}, 120_000)
afterAll(async () => {
  await server.stop()
  remove(dir)
})

/** The text of a request on a connection that stays open. */
function written(method: string, path: string, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Token ${server.apiKey}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}

interface Received {
  status: number
  requestId: string
  body: string
}

/** The responses in a text, each with a length or in chunks. */
function answersIn(text: string): Received[] {
  const received: Received[] = []
  for (let rest = text; rest.includes('\r\n\r\n'); ) {
    const bodyAt = rest.indexOf('\r\n\r\n') + 4
    const head = rest.slice(0, bodyAt)
    const header = (name: string) => new RegExp(`^${name}: (.*)\r`, 'im').exec(head)?.[1] ?? ''
    const isChunked = header('transfer-encoding') === 'chunked'
    const end = isChunked
      ? rest.indexOf('\r\n0\r\n\r\n')
      : bodyAt + Number(header('content-length'))
    if (end < 0 || rest.length < end) return received
    received.push({
      status: Number(head.split(' ')[1]),
      requestId: header('x-request-id'),
      body: rest.slice(bodyAt, end),
    })
    rest = rest.slice(isChunked ? end + 7 : end)
  }
  return received
}

/** Sends all requests at once, and reads until each is answered or the connection is closed. */
const pipelined = (requests: readonly string[], port = Number(new URL(server.url).port)) =>
  new Promise<Received[]>((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(requests.join('')))
    socket.on('data', bytes => {
      text += bytes.toString('latin1')
      if (answersIn(text).length === requests.length) socket.end()
    })
    socket.on('close', () => resolve(answersIn(text)))
    socket.on('error', reject)
  })

const keyNames = async () => {
  const response = await server.get('/v1/api-keys', { authorization: `Token ${server.apiKey}` })
  const { data } = (await response.json()) as { data: { api_keys: { name: string }[] } }
  return data.api_keys.map(({ name }) => name)
}

const codes = ['WTI_USD', 'BRENT_CRUDE_USD', 'NATURAL_GAS_USD', 'GASOLINE_USD', 'DIESEL_USD']
const details = Array.from({ length: 40 }, (_, n) => codes[n % codes.length]!)

describe('requests that a client pipelines', () => {
  test('are answered in the order in which they were sent', async () => {
    const answers = await pipelined(details.map(code => written('GET', `/v1/commodities/${code}`)))
    expect(answers.map(({ status }) => status)).toEqual(details.map(() => 200))
    for (const [n, { body }] of answers.entries()) expect(body).toContain(`"${details[n]}"`)
    expect(new Set(answers.map(({ requestId }) => requestId)).size).toBe(details.length)
  })

  test('are answered in order where one of them changes something', async () => {
    const answers = await pipelined([
      written('POST', '/v1/api-keys', { name: 'pipelined' }),
      written('GET', '/v1/api-keys'),
      written('DELETE', '/v1/api-keys/00000000-0000-4000-8000-000000000000'),
      written('GET', '/v1/commodities/WTI_USD'),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200])
    expect(answers[1]!.body).toContain('pipelined')
  })

  test('behind one that waits for a query worker close the connection, and change nothing', async () => {
    const answers = await pipelined([
      written('GET', '/v1/analytics/statistics?code=WTI_USD'),
      written('POST', '/v1/api-keys', { name: 'behind' }),
    ])
    expect(answers).toEqual([])
    expect(await keyNames()).not.toContain('behind')
  })
})

/** Balancers send one request after the other to the server, whatever the client does. */
const balancers = {
  haproxy: {
    command: (file: string) => ['haproxy', '-db', '-f', file],
    config: (port: number) => `defaults
    mode http
    timeout connect 2s
    timeout client 10s
    timeout server 10s
frontend wellhead
    bind 127.0.0.1:${port}
    default_backend nodes
backend nodes
    server node1 ${new URL(server.url).host}
`,
  },
  nginx: {
    command: (file: string) => ['nginx', '-c', file],
    config: (port: number) => `daemon off;
master_process off;
pid ${dir}/nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path ${dir}/nginx-body;
    proxy_temp_path ${dir}/nginx-proxy;
    fastcgi_temp_path ${dir}/nginx-fastcgi;
    uwsgi_temp_path ${dir}/nginx-uwsgi;
    scgi_temp_path ${dir}/nginx-scgi;
    upstream wellhead { server ${new URL(server.url).host}; keepalive 8; }
    server {
        listen 127.0.0.1:${port};
        location / {
            proxy_pass http://wellhead;
            proxy_http_version 1.1;
            proxy_set_header Host $host;
            proxy_set_header Connection "";
        }
    }
}
`,
  },
}

/** A port that nothing listens on now. */
function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const { port } = probe
  probe.stop(true)
  return port
}

const listening = (port: number) =>
  until(`a balancer listens on port ${port}`, () =>
    fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined),
  )

for (const [name, { command, config }] of Object.entries(balancers) as [
  keyof typeof balancers,
  (typeof balancers)['nginx'],
][])
  needs(name).describe(`with ${name} in front`, () => {
    test('pipelined requests are answered in order, also those that wait for a query worker', async () => {
      const port = freePort()
      const file = join(dir, `${name}.conf`)
      mkdirSync(dir, { recursive: true })
      writeFileSync(file, config(port))
      const balancer = Bun.spawn(command(file), { stdout: 'ignore', stderr: 'ignore', cwd: dir })
      try {
        await listening(port)
        const answers = await pipelined(
          [
            written('GET', '/v1/prices/past_week?by_code=WTI_USD'),
            written('POST', '/v1/api-keys', { name: name }),
            written('GET', '/v1/commodities/WTI_USD'),
            written('GET', '/v1/prices/past_week?by_code=BRENT_CRUDE_USD'),
            written('GET', '/v1/commodities/BRENT_CRUDE_USD'),
          ],
          port,
        )
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
        expect(answers[2]!.body).toContain('"WTI_USD"')
        expect(answers[4]!.body).toContain('"BRENT_CRUDE_USD"')
      } finally {
        balancer.kill()
        await balancer.exited
      }
    }, 30_000)
  })
