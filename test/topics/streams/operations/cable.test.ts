import { afterEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import {
  type CableMessage,
  cableClient,
  isMessage,
  isType,
} from '../../../support/servers/cable-client.ts'
import { type Served, serveApp } from '../../../support/topics/streaming.ts'
import { until } from '../../../support/until.ts'

const open: Served[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop()
})

function served(flags: Record<string, string> = {}): { whole: TestInstance; server: Served } {
  const whole = openTestInstance({ 'limits.per_minute': '100000', ...flags })
  const server = serveApp(whole.services)
  open.push(server)
  return { whole, server }
}
/** What the handshake is answered, which a WebSocket does not show. */
const handshake = (server: Served, headers: Record<string, string> = {}, query = '') =>
  fetch(`${server.url}/cable${query}`, {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    },
  })

describe('GET /cable: the handshake', () => {
  test('takes the key in the header, as token and as api_key', async () => {
    const { whole, server } = served()
    const token = whole.key()
    for (const options of [
      { token },
      { query: `?token=${token}` },
      { query: `?api_key=${token}` },
    ]) {
      const client = (await cableClient(server.socketUrl, options))!
      expect(await client.frame(isType('welcome'))).toEqual({ type: 'welcome' })
      client.socket.close()
    }
  })

  test('the cable handshake echoes the subprotocol of existing clients and requires none', async () => {
    const { whole, server } = served()
    const token = whole.key()
    const offered = (await cableClient(server.socketUrl, {
      token,
      protocols: ['actioncable-v1-json', 'actioncable-unsupported'],
    }))!
    expect(offered.socket.protocol).toBe('actioncable-v1-json')
    expect((await cableClient(server.socketUrl, { token }))!.socket.protocol).toBe('')
  })

  test('is refused with the bodies of every other path: 401 without a key, 403 without the feature', async () => {
    const { whole, server } = served()
    for (const [headers, query] of [
      [{}, ''],
      [{ authorization: `Token ${'0'.repeat(64)}` }, ''],
      [{}, '?token=nonsense'],
    ] as const) {
      const response = await handshake(server, headers, query)
      expect({
        status: response.status,
        code: ((await response.json()) as { error: { code: string } }).error.code,
      }).toEqual({ status: 401, code: 'UNAUTHORIZED' })
    }
    const refused = await handshake(server, { authorization: `Token ${whole.key('starter')}` })
    const { error } = (await refused.json()) as {
      error: { code: string; feature: string; required_plan: string }
    }
    expect({
      status: refused.status,
      code: error.code,
      feature: error.feature,
      required_plan: error.required_plan,
    }).toEqual({
      status: 403,
      code: 'INSUFFICIENT_PLAN',
      feature: 'streaming',
      required_plan: 'professional',
    })
  })

  test('a cable request without a WebSocket upgrade is refused with a request to upgrade', async () => {
    const { whole, server } = served()
    const response = await fetch(`${server.url}/cable`, {
      headers: { authorization: `Token ${whole.key()}` },
    })
    expect({ status: response.status, upgrade: response.headers.get('upgrade') }).toEqual({
      status: 426,
      upgrade: 'websocket',
    })
    expect(whole.services.streams.count).toBe(0)
  })

  test('takes one slot of the minute and nothing of the quota', async () => {
    const { whole, server } = served({ 'limits.per_minute': '3' })
    const token = whole.key()
    for (let i = 0; i < 3; i += 1)
      expect(await cableClient(server.socketUrl, { token })).toBeDefined()
    const refused = await handshake(server, { authorization: `Token ${token}` })
    expect({
      status: refused.status,
      errorCode: refused.headers.get('x-error-code'),
      ratelimitUsed: refused.headers.get('x-ratelimit-used'),
    }).toEqual({ status: 429, errorCode: 'RATE_LIMIT_EXCEEDED', ratelimitUsed: '0' })
  })

  test('is refused for the sixth connection of a key, not of another', async () => {
    const { whole, server } = served()
    const token = whole.key()
    const clients = []
    for (let i = 0; i < 5; i += 1) clients.push((await cableClient(server.socketUrl, { token }))!)
    expect(await cableClient(server.socketUrl, { token })).toBeUndefined()
    const refused = await handshake(server, { authorization: `Token ${token}` })
    expect({ status: refused.status, errorCode: refused.headers.get('x-error-code') }).toEqual({
      status: 429,
      errorCode: 'STREAM_LIMIT_REACHED',
    })
    expect(await cableClient(server.socketUrl, { token: whole.key() })).toBeDefined()
    clients[0]!.socket.close()
    await clients[0]!.closed
    await until(
      'the socket that closed gives its place back',
      () => whole.services.streams.count <= 5,
    )
    expect(await cableClient(server.socketUrl, { token })).toBeDefined()
  })
})

test('a subscriber gets the welcome and then a price that comes in, at once', async () => {
  const { whole, server } = served()
  whole.record('WTI_USD', [70, 71], startAt - 60_000, 60_000)
  const client = (await cableClient(server.socketUrl, { token: whole.key() }))!
  const identifier = client.subscribe()
  expect(await client.frame(isType('confirm_subscription'))).toEqual({
    identifier,
    type: 'confirm_subscription',
  })
  const welcome = await client.frame(isMessage('welcome'))
  expect((welcome.message as CableMessage).prices!.oil!.wti).toMatchObject({
    original_price: 71,
    normalized_price: 12.2414,
  })
  whole.record('WTI_USD', [72.5], startAt, 1)
  const update = await client.frame(isMessage('price_update'))
  expect({
    identifier: update.identifier,
    updated: (update.message as CableMessage).updated,
  }).toEqual({ identifier, updated: ['WTI_USD'] })
})

test('invalid and binary cable frames are ignored, and an oversized frame closes the connection', async () => {
  const { whole, server } = served()
  const client = (await cableClient(server.socketUrl, { token: whole.key() }))!
  for (const frame of [
    '',
    'hello',
    '{"command":',
    '[]',
    '{"command":"subscribe"}',
    new Uint8Array([0, 255]),
  ])
    client.send(frame)
  client.subscribe()
  await client.frame(isMessage('welcome'))
  expect(client.frames.map(frame => frame.type ?? 'message')).toEqual([
    'welcome',
    'confirm_subscription',
    'message',
  ])
  client.send('x'.repeat(17 * 1024))
  await client.closed
  await until('the socket gives its place back', () => whole.services.streams.count === 0)
})

test('a cable client is disconnected within two seconds of losing its key, its plan or its account', async () => {
  const { whole, server } = served()
  const { keys, clock } = whole.services
  const clients = new Map<
    string,
    { token: string; client: NonNullable<Awaited<ReturnType<typeof cableClient>>> }
  >()
  for (const state of ['revoked', 'rolled', 'suspended', 'without the plan', 'sound']) {
    const token = whole.key()
    clients.set(state, { token, client: (await cableClient(server.socketUrl, { token }))! })
  }
  const keyOf = (state: string) => keys.find(clients.get(state)!.token)!
  keys.changeKey(keyOf('revoked'), { revokedAt: clock.now() })
  keys.rollKey(keyOf('rolled'))
  keys.changeKey(keyOf('suspended'), { suspendedAt: clock.now() })
  keys.putAccount({ ...keyOf('without the plan').account.account, plan: 'free' })
  for (const [state, reason] of [
    ['revoked', 'unauthorized'],
    ['rolled', 'unauthorized'],
    ['suspended', 'key_suspended'],
    ['without the plan', 'insufficient_plan'],
  ] as const) {
    const { client } = clients.get(state)!
    expect(await client.closed).toEqual({ code: 1008, reason })
    expect(client.frames.at(-1)).toEqual({ type: 'disconnect', reason, reconnect: false })
  }
  expect(clients.get('sound')!.client.socket.readyState).toBe(WebSocket.OPEN)
})

test('a client that reads nothing is given up with 1013, and what waits for it stays small', async () => {
  const { whole, server } = served()
  const token = whole.key()
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  const hello = [
    'GET /cable HTTP/1.1',
    `Host: 127.0.0.1:${new URL(server.url).port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Authorization: Token ${token}`,
    '',
    '',
  ]
  socket.write(hello.join('\r\n'))
  await new Promise(done => socket.once('data', done))
  socket.pause()
  const identifier = JSON.stringify({ channel: 'EnergyPricesChannel', padding: 'x'.repeat(15_000) })
  const ask = maskedText(JSON.stringify({ command: 'subscribe', identifier }))
  await until('the connection ends', () => {
    if (!socket.destroyed) socket.write(ask)
    return whole.services.streams.count === 0
  })
  const received: Buffer[] = []
  socket.on('data', chunk => received.push(Buffer.from(chunk)))
  socket.resume()
  await new Promise(done => socket.once('close', done))
  const all = Buffer.concat(received)
  // What the kernel takes on both sides, and a quarter of a megabyte.
  expect(all.length).toBeLessThan(16 * 2 ** 20)
  // The frame that closes: 0x88, its length, the code.
  expect(all.includes(Buffer.from([0x88, 0x0a, 0x03, 0xf5]))).toBe(true)
}, 30_000)

/** A text frame of a client (RFC 6455, 5.2), masked with zeros. */
function maskedText(text: string): Buffer {
  const payload = Buffer.from(text)
  const head = Buffer.alloc(8)
  head.writeUInt8(0x81, 0)
  head.writeUInt8(0x80 | 126, 1)
  head.writeUInt16BE(payload.length, 2)
  return Buffer.concat([head, payload])
}

test('a server that stops asks every cable client to reconnect', async () => {
  const { whole, server } = served()
  const client = (await cableClient(server.socketUrl, { token: whole.key() }))!
  whole.services.streams.stop()
  expect(await client.closed).toEqual({ code: 1012, reason: 'server_restart' })
  expect(client.frames.at(-1)).toEqual({
    type: 'disconnect',
    reason: 'server_restart',
    reconnect: true,
  })
  expect((await handshake(server, { authorization: `Token ${whole.key()}` })).status).toBe(503)
})
