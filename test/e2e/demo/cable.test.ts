import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import {
  type CableMessage,
  cableClient,
  isMessage,
  isType,
} from '../../support/servers/cable-client.ts'
import { blocksOf } from '../../support/topics/streaming.ts'

const startAt = '2026-11-20T15:00:00Z'

describe('the streams of a demo instance', () => {
  const dir = temporaryDir()
  let server: Server
  let socketUrl: string
  beforeAll(async () => {
    const config = join(dir, 'wellhead.toml')
    await Bun.write(config, '[server]\ndrain = "10m"\n')
    const options = ['--config', config, '--clock', startAt, '--world', 'small']
    server = await start('dev', dir, ...options)
    socketUrl = server.url.replace('http', 'ws')
  }, 120_000)
  afterAll(async () => {
    await server.stop()
    remove(dir)
  })

  const operator = (path: string, body: unknown) =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.adminToken}` },
      body: JSON.stringify(body),
    })
  const send = (method: string, path: string, body: unknown) =>
    fetch(server.url + path, {
      method,
      headers: { authorization: `Token ${server.apiKey}` },
      body: JSON.stringify(body),
    })
  const newKey = async () => {
    const created = (await (await send('POST', '/v1/api-keys', { name: 'stream' })).json()) as {
      data: { api_key: { id: string; plain_token: string } }
    }
    return created.data.api_key
  }

  test('a socket client gets a welcome, price updates and pings, and is disconnected when its key is revoked', async () => {
    const key = await newKey()
    const client = (await cableClient(socketUrl, {
      token: key.plain_token,
      protocols: ['actioncable-v1-json'],
    }))!
    const identifier = client.subscribe({
      api_key: key.plain_token,
      commodities: ['BRENT_CRUDE_USD'],
    })
    const welcome = (await client.frame(isMessage('welcome'))).message as CableMessage
    for (const leaf of [
      ...Object.values(welcome.prices!.oil!),
      ...Object.values(welcome.prices!.natural_gas!),
    ]) {
      expect(leaf!.normalized_price).toBeGreaterThan(0)
    }
    const price = { code: 'BRENT_CRUDE_USD', observed_at: '2026-11-20T14:59:59Z', price: 81.25 }
    expect((await operator('/admin/v1/observations', { observations: [price] })).status).toBe(200)
    const update = await client.frame(isMessage('price_update'))
    expect(update.identifier).toBe(identifier)
    expect(update.message).toMatchObject({
      updated: ['BRENT_CRUDE_USD'],
      price_rows: [
        {
          code: 'BRENT_CRUDE_USD',
          price: 81.25,
          currency: 'USD',
          unit: 'barrel',
          created_at: price.observed_at,
        },
      ],
      prices: { oil: { brent: { original_price: 81.25, normalized_price: 14.0086 } } },
    })
    expect(await client.frame(isType('ping'))).toEqual({
      type: 'ping',
      message: Date.parse(startAt) / 1000,
    } as never)
    expect((await send('DELETE', `/v1/api-keys/${key.id}`, {})).status).toBeLessThan(300)
    expect(await client.closed).toEqual({ code: 1008, reason: 'unauthorized' })
    expect(client.frames.at(-1)).toEqual({
      type: 'disconnect',
      reason: 'unauthorized',
      reconnect: false,
    })
    expect(await cableClient(socketUrl, { token: key.plain_token })).toBeUndefined()
  }, 30_000)

  test('a watch runs as the clock is moved, and its events come down the stream', async () => {
    const response = await server.get('/v1/stream?since=now')
    expect(response.headers.get('x-service-data')).toBe('fixture')
    await operator('/_dev/clock', { advance: 'PT3H1M' })
    const types: (string | undefined)[] = []
    for await (const block of blocksOf(response)) {
      if (block.event === 'evaluated') types.push(JSON.parse(block.data!).code)
      if (types.length === 6) break
    }
    expect(types).toEqual(Array(3).fill(['BRENT_CRUDE_USD', 'WTI_USD']).flat())
  })

  test('a reset disconnects stream clients, and they reconnect to the initial state', async () => {
    const client = (await cableClient(socketUrl, { token: server.apiKey }))!
    const stream = await server.get('/v1/stream')
    expect((await operator('/_dev/reset', {})).status).toBe(200)
    expect(await client.closed).toEqual({ code: 1012, reason: 'server_restart' })
    expect(await stream.text()).toContain('event: evaluated')
    const again = (await cableClient(socketUrl, { token: server.apiKey }))!
    again.subscribe()
    const welcome = (await again.frame(isMessage('welcome'))).message as CableMessage
    expect(welcome.prices!.oil!.brent!.original_price).not.toBe(81.25)
    again.socket.close()
  }, 60_000)

  test('a stop closes streams with 1012 and does not wait for their ends until the drain is over', async () => {
    const client = (await cableClient(socketUrl, { token: server.apiKey }))!
    const stream = await server.get('/v1/stream?since=now')
    const stopped = server.stop()
    expect((await client.closed).code).toBe(1012)
    await stream.text()
    expect(await stopped).toBe(0)
  }, 30_000)
})
