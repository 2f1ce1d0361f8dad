import { afterEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { createManualClock, createSystemClock } from '../../../src/lib/time/clock.ts'
import type { Outcome } from '../../../src/send/attempt.ts'
import { createEgress } from '../../../src/send/egress/egress.ts'
import {
  createWebhookSender,
  type DeliveryTerms,
  retryAfterOf,
} from '../../../src/send/webhooks/webhook.ts'
import { expired, good } from '../../support/servers/certificates.ts'
import {
  answered,
  type Behaviour,
  type Receiver,
  receiver,
} from '../../support/servers/receiver.ts'

const secret = 'whsec_0123456789abcdef0123456789abcdef0123456789abcdef'
const delivery = {
  eventId: 'evt_01jd5n2g00abcdefghjkmnpqrs',
  eventType: 'price.updated',
  body: '{"id":"evt_1","name":"Öl"}',
}
const open: Receiver[] = []
const undo: (() => void)[] = []

afterEach(async () => {
  for (const each of undo.splice(0)) each()
  for (const each of open.splice(0)) await each.close()
})

async function listening(
  answer: Behaviour,
  greet?: Parameters<typeof receiver>[1],
): Promise<Receiver> {
  const target = await receiver(answer, greet)
  open.push(target)
  return target
}

function senderOf(
  clock = createSystemClock(),
  lookup = async () => [{ address: '127.0.0.1', family: 4 }],
) {
  const guard = createEgress(['127.0.0.0/8', '10.0.0.0/8'], lookup)
  return createWebhookSender({
    egress: guard,
    clock,
    headerPrefix: 'X-Service-',
    userAgent: 'Wellhead-Webhooks/2.0',
  })
}

const target = (url: string, more: Partial<DeliveryTerms['target']> = {}) => ({
  target: { url, secrets: [secret], scheme: 'timestamped' as const, ...more },
})

/** Ends the attempt after `ms`, as its lane's timeout does. */
function timeout(ms: number): AbortSignal {
  const cut = new AbortController()
  const timer = setTimeout(() => cut.abort(new Error('no end of the attempt within its time')), ms)
  undo.push(() => clearTimeout(timer))
  return cut.signal
}

describe('a delivery', () => {
  test('a webhook delivery has the headers, the bytes and the signatures that the API defines', async () => {
    const place = await listening(socket => socket.end(answered('200 OK', 'thanks')))
    const clock = createManualClock(1_800_000_000_500)
    const outcome = await senderOf(clock).send(
      delivery,
      target(`${place.url}?a=b%20c`),
      timeout(5_000),
    )
    const [request] = place.received
    expect(request!.head.split('\r\n')[0]).toBe('POST /hook?a=b%20c HTTP/1.1')
    expect(request!.body.equals(Buffer.from(delivery.body))).toBe(true)
    expect(Object.fromEntries(request!.headers)).toEqual({
      'x-service-event': 'price.updated',
      'x-service-event-id': delivery.eventId,
      'x-service-signature': createHmac('sha256', secret)
        .update(`${delivery.body}.1800000000`)
        .digest('hex'),
      'x-service-signature-timestamp': '1800000000',
      'content-type': 'application/json',
      'user-agent': 'Wellhead-Webhooks/2.0',
      'ce-specversion': '1.0',
      'ce-id': delivery.eventId,
      'ce-type': 'price.updated',
      'ce-source': '/v1/webhooks',
      'webhook-id': delivery.eventId,
      'webhook-timestamp': '1800000000',
      'webhook-signature': `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
        .update(`${delivery.eventId}.1800000000.${delivery.body}`)
        .digest('base64')}`,
      'content-length': String(Buffer.byteLength(delivery.body)),
      host: `127.0.0.1:${place.port}`,
      connection: 'close',
    })
    for (const name of [
      'X-Service-Event',
      'X-Service-Event-ID',
      'X-Service-Signature',
      'X-Service-Signature-Timestamp',
      'Content-Type',
      'User-Agent',
    ]) {
      expect(request!.head).toContain(`\r\n${name}: `)
    }
    expect(outcome).toMatchObject({
      state: 'delivered',
      statusCode: 200,
      exchange: { responseBody: 'thanks', tls: null },
    })
    expect(JSON.stringify(outcome)).not.toContain(secret)
  })

  test('a webhook delivery is signed again on every attempt, over the body alone if the endpoint requires it', async () => {
    const place = await listening(socket => socket.end(answered('500 No')))
    const clock = createManualClock(1_800_000_000_000)
    const sender = senderOf(clock)
    await sender.send(delivery, target(place.url), timeout(5_000))
    clock.advance(60_000)
    await sender.send(
      delivery,
      target(place.url, { scheme: 'body', secrets: [secret, 'whsec_old0'] }),
      timeout(5_000),
    )
    const [first, second] = place.received.map(request => request.headers)
    expect({
      first: first!.get('x-service-signature-timestamp'),
      second: second!.get('x-service-signature-timestamp'),
    }).toEqual({ first: '1800000000', second: '1800000060' })
    expect(second!.get('x-service-signature')).toBe(
      `sha256=${createHmac('sha256', secret).update(delivery.body).digest('hex')}`,
    )
    expect(second!.get('webhook-signature')!.split(' ')).toHaveLength(2)
    expect(second!.get('webhook-id')).toBe(first!.get('webhook-id')!)
  })
})

interface Case {
  name: string
  behave: Behaviour
  greet?: Parameters<typeof receiver>[1]
  terms?: Partial<DeliveryTerms>
  ends: Partial<Outcome>
  error?: string
  timeoutMs?: number
}

const nothing: Behaviour = () => undefined
const plain = (status: string, state: Outcome['state']): Case => ({
  name: `answers ${status}`,
  behave: socket => socket.end(answered(status)),
  ends: { state, statusCode: Number(status.slice(0, 3)) },
})
const endless = Buffer.alloc(65_536, 66)
const zeros = gzipSync(Buffer.alloc(20_000_000))

/** Writes for as long as anybody reads. */
const pour = (socket: Parameters<Behaviour>[0]) => {
  while (!socket.destroyed && socket.write(endless)) {}
  socket.once('drain', () => pour(socket))
}

const zoo: Case[] = [
  ...['200 OK', '201 Created', '202 Accepted', '204 No Content', '299 Odd'].map(status =>
    plain(status, 'delivered'),
  ),
  ...[
    '300 Many',
    '304 Same',
    '400 Bad',
    '401 No',
    '404 No',
    '408 Late',
    '410 Gone',
    '425 Early',
    '429 Many',
    '600 Odd',
  ].map(status => plain(status, 'failed')),
  ...['500 No', '502 Bad', '503 Later', '504 Late', '599 Odd'].map(status =>
    plain(status, 'retry'),
  ),
  {
    name: 'redirects to another place',
    behave: socket =>
      socket.end(answered('302 Found', '', { Location: 'http://127.0.0.1:9/other' })),
    ends: { state: 'failed', statusCode: 302 },
    error: 'the receiver returned status 302; redirects are not followed',
  },
  {
    name: 'never answers',
    behave: nothing,
    ends: { state: 'retry' },
    error: 'no end of the attempt within its time',
    timeoutMs: 150,
  },
  {
    name: 'closes at once',
    behave: nothing,
    greet: socket => socket.destroy(),
    ends: { state: 'retry' },
    error: 'the connection was closed before a response',
  },
  {
    name: 'closes after the request',
    behave: socket => socket.end(),
    ends: { state: 'retry' },
    error: 'the connection was closed before a response',
  },
  {
    name: 'closes within the head',
    behave: socket => socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
    ends: { state: 'retry' },
  },
  {
    name: 'closes within the body',
    behave: socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'),
    ends: { state: 'delivered', statusCode: 200 },
  },
  {
    name: 'speaks something else',
    behave: nothing,
    greet: socket => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'),
    ends: { state: 'retry' },
    error: 'the response was not HTTP',
  },
  {
    name: 'sends a head without end',
    behave: socket => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = () => {
        while (!socket.destroyed && socket.write(`X-More: ${'a'.repeat(1_000)}\r\n`)) {}
        socket.once('drain', more)
      }
      more()
    },
    ends: { state: 'retry' },
    error: 'the head of the response was longer than 16 KB',
  },
  {
    name: 'sends a body without end',
    behave: socket => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n')
      pour(socket)
    },
    ends: { state: 'delivered', statusCode: 200 },
  },
  {
    name: 'sends chunks without end',
    behave: socket => {
      socket.write('HTTP/1.1 503 Later\r\nTransfer-Encoding: chunked\r\n\r\n')
      const more = () => {
        while (!socket.destroyed && socket.write(`10000\r\n${'c'.repeat(65_536)}\r\n`)) {}
        socket.once('drain', more)
      }
      more()
    },
    ends: { state: 'retry', statusCode: 503 },
  },
  {
    name: 'sends a compressed bomb',
    behave: socket => socket.end(answered('200 OK', zeros, { 'Content-Encoding': 'gzip' })),
    ends: { state: 'delivered', statusCode: 200 },
  },
  {
    name: 'says hints before its answer',
    behave: socket =>
      socket.end(
        `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${answered('200 OK')}`,
      ),
    ends: { state: 'delivered', statusCode: 200 },
  },
  {
    name: 'says hints without end',
    behave: socket => {
      const more = () => {
        while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')) {}
        socket.once('drain', more)
      }
      more()
    },
    ends: { state: 'retry' },
    timeoutMs: 150,
  },
  {
    name: 'answers that there is no content, with content',
    behave: socket => socket.end(answered('204 No Content', 'ok')),
    ends: { state: 'delivered', statusCode: 204 },
  },
  {
    name: 'sends more than it said',
    behave: socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok, thanks'),
    ends: { state: 'delivered', statusCode: 200 },
  },
  {
    name: 'wants another protocol',
    behave: socket =>
      socket.end(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n',
      ),
    ends: { state: 'failed', statusCode: 101 },
  },
  {
    name: 'claims two lengths',
    behave: socket =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'),
    ends: { state: 'retry' },
  },
  {
    name: 'answers with control characters',
    behave: socket => socket.end(answered('200 OK', 'a\u0000b\u001b[2J', { 'X-Odd': 'a\tb' })),
    ends: { state: 'delivered', statusCode: 200 },
  },
  {
    name: 'asks to be tried later',
    behave: socket => socket.end(answered('429 Many', '', { 'Retry-After': '120' })),
    terms: { honourRetryAfter: true },
    ends: { state: 'retry', statusCode: 429, retryAfterMs: 120_000 },
  },
  {
    name: 'asks to be tried later, which its endpoint did not',
    behave: socket => socket.end(answered('429 Many', '', { 'Retry-After': '120' })),
    ends: { state: 'failed', statusCode: 429 },
  },
  {
    name: 'asks to be tried tomorrow',
    behave: socket => socket.end(answered('408 Late', '', { 'Retry-After': '86400' })),
    terms: { honourRetryAfter: true },
    ends: { state: 'failed', statusCode: 408 },
  },
]

describe('a receiver that', () => {
  for (const { name, behave, greet, terms, ends, error, timeoutMs = 20_000 } of zoo) {
    test(`${name} ends as ${ends.state}, and its connection is closed`, async () => {
      const place = await listening(behave, greet)
      const outcome = await senderOf().send(
        delivery,
        { ...target(place.url), ...terms },
        timeout(timeoutMs),
      )
      expect(outcome).toMatchObject(ends)
      if (error !== undefined) expect(outcome.error).toBe(error)
      expect(outcome.state === 'delivered' ? outcome.error : typeof outcome.error).toBe(
        outcome.state === 'delivered' ? undefined : 'string',
      )
      expect(Buffer.byteLength(outcome.exchange?.responseBody ?? '')).toBeLessThanOrEqual(1_024)
      await place.quiet()
      expect(place.connections).toBe(1)
    })
  }

  test('drips its body is taken at its word after two seconds', async () => {
    const drip = await listening(socket => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 50)
      socket.on('close', () => clearInterval(timer))
    })
    const outcome = await senderOf().send(delivery, target(drip.url), timeout(10_000))
    expect(outcome).toMatchObject({ state: 'delivered', statusCode: 200 })
    expect(outcome.durationMs).toBeLessThan(9_000)
    await drip.quiet()
  })

  test('drips its head is cut at the end of the time', async () => {
    const drip = await listening(socket => {
      const text = 'HTTP/1.1 200 OK\r\nX-Slow: '
      let attempts = 0
      const timer = setInterval(() => socket.write(text[attempts++] ?? 'x'), 10)
      socket.on('close', () => clearInterval(timer))
    })
    const outcome = await senderOf().send(delivery, target(drip.url), timeout(400))
    expect(outcome).toMatchObject({
      state: 'retry',
      error: 'no end of the attempt within its time',
    })
    await drip.quiet()
  })

  test('is not there is tried again', async () => {
    const place = await receiver(() => undefined)
    await place.close()
    expect(await senderOf().send(delivery, target(place.url), timeout(3_000))).toMatchObject({
      state: 'retry',
      error: 'the connection was refused',
    })
  })

  test('has no name, or one that is not found in time, is tried again', async () => {
    const unknown = async () =>
      Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }))
    expect(
      await senderOf(createSystemClock(), unknown).send(
        delivery,
        target('http://nowhere.example/'),
        timeout(3_000),
      ),
    ).toMatchObject({
      state: 'retry',
      error: 'cannot resolve the name of the target (DNS)',
    })
    const never = () => new Promise<never>(() => undefined)
    expect(
      await senderOf(createSystemClock(), never).send(
        delivery,
        target('http://slow.example/'),
        timeout(100),
      ),
    ).toMatchObject({
      state: 'retry',
      error: 'no end of the attempt within its time',
    })
  })

  test('sends a bomb or a flood costs no memory', async () => {
    const flood = await listening(socket => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n')
      pour(socket)
    })
    const sender = senderOf()
    const before = process.memoryUsage().rss
    await Promise.all(
      Array.from({ length: 20 }, () => sender.send(delivery, target(flood.url), timeout(5_000))),
    )
    await flood.quiet()
    expect(process.memoryUsage().rss - before).toBeLessThan(80 * 2 ** 20)
  })
})

test('what a person needs who looks for a fault is there: headers, the beginning of the answer, timing', async () => {
  const body = 'é'.repeat(2_000)
  const place = await listening(socket =>
    socket.end(
      answered('422 No', Buffer.from(body), { 'X-Trace': 'abc', 'Content-Type': 'text/plain' }),
    ),
  )
  const { exchange } = await senderOf().send(delivery, target(place.url), timeout(3_000))
  expect(exchange!.requestHeaders).toMatchObject({
    'X-Service-Event': 'price.updated',
    'webhook-id': delivery.eventId,
  })
  expect(exchange!.responseHeaders).toMatchObject({
    'x-trace': 'abc',
    'content-type': 'text/plain',
  })
  expect(exchange!.responseBody).toBe('é'.repeat(512))
  const { connectMs, firstByteMs, totalMs } = exchange!.timing
  expect(connectMs! <= firstByteMs! && firstByteMs! <= totalMs).toBe(true)
})

test('Retry-After is read as seconds or as a date, and no farther than an hour', () => {
  const now = Date.parse('2026-11-20T15:00:00Z')
  const cases: [string | undefined, number | undefined][] = [
    ...([
      ['0', 1_000],
      ['1', 1_000],
      ['3600', 3_600_000],
      ['3601', undefined],
      ['-5', undefined],
      ['1.5', undefined],
      ['', undefined],
    ] as [string, number | undefined][]),
    ...([
      ['soon', undefined],
      ['Fri, 20 Nov 2026 15:10:00 GMT', 600_000],
      ['Fri, 20 Nov 2026 14:00:00 GMT', 1_000],
      ['2026-11-20T15:10:00Z', undefined],
    ] as [string, number | undefined][]),
    [undefined, undefined],
  ]
  for (const [text, wait] of cases) expect(retryAfterOf(text, now), text).toEqual(wait)
})

describe('over TLS', () => {
  const secured = async (certificate: typeof good) => {
    let requests = 0
    const server = createServer(certificate, (_, response) => {
      requests += 1
      response.end('ok')
    })
    server.on('tlsClientError', () => undefined)
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    undo.push(() => server.close())
    const { port } = server.address() as { port: number }
    return { requests: () => requests, url: (host: string) => `https://${host}:${port}/hook` }
  }
  const trusting = (...certificates: string[]) => {
    const before = getCACertificates('default')
    setDefaultCACertificates([...before, ...certificates])
    undo.push(() => setDefaultCACertificates(before))
  }

  test('a webhook delivery requires a trusted TLS certificate for its host, whatever the environment says', async () => {
    const [right, old] = [await secured(good), await secured(expired)]
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    undo.push(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED)
    const send = async (url: string) => {
      const { state, error } = await senderOf().send(delivery, target(url), timeout(3_000))
      return [state, error]
    }
    const refusedAs = (code: string) => [
      'retry',
      `the certificate or the handshake was not accepted (${code})`,
    ]
    expect(await send(right.url('hook.example.com'))).toEqual(
      refusedAs('DEPTH_ZERO_SELF_SIGNED_CERT'),
    )
    trusting(good.cert, expired.cert)
    expect(await send(right.url('other.example.com'))).toEqual(
      refusedAs('ERR_TLS_CERT_ALTNAME_INVALID'),
    )
    expect(await send(right.url('127.0.0.1'))).toEqual(refusedAs('ERR_TLS_CERT_ALTNAME_INVALID'))
    expect(await send(old.url('hook.example.com'))).toEqual(refusedAs('CERT_HAS_EXPIRED'))
    expect({ right: right.requests(), old: old.requests() }).toEqual({ right: 0, old: 0 })
    expect(await send(right.url('hook.example.com'))).toEqual(['delivered', undefined])
  })

  test('a webhook delivery over TLS reports the protocol and the cipher', async () => {
    trusting(good.cert)
    const place = await secured(good)
    const { exchange } = await senderOf().send(
      delivery,
      target(place.url('hook.example.com')),
      timeout(3_000),
    )
    expect(exchange!.tls).toEqual({
      protocol: 'TLSv1.3',
      cipher: expect.stringMatching(/^TLS_[A-Z0-9_]+$/),
    })
  })

  test('a receiver that speaks no TLS is tried again', async () => {
    const place = await listening(() => undefined)
    const outcome = await senderOf().send(
      delivery,
      target(place.url.replace('http:', 'https:')),
      timeout(300),
    )
    expect(outcome.state).toBe('retry')
    const loud = await listening(
      () => undefined,
      socket => void socket.write('HTTP/1.1 400 Bad\r\n\r\n'),
    )
    expect(
      (await senderOf().send(delivery, target(loud.url.replace('http:', 'https:')), timeout(3_000)))
        .error,
    ).toContain('the handshake was not accepted')
  })
})
