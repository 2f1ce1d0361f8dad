import { afterEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import fc from 'fast-check'
import { createBase } from '../../../../src/http/base.ts'
import type { Connections } from '../../../../src/http/cable.ts'
import { createAccess } from '../../../../src/http/gate/access.ts'
import { trustedProxies } from '../../../../src/http/gate/address.ts'
import { createGate } from '../../../../src/http/gate/gate.ts'
import { createRateTables } from '../../../../src/http/gate/rates.ts'
import type { Context } from '../../../../src/http/operations/context.ts'
import { mount } from '../../../../src/http/operations/mount.ts'
import { linker } from '../../../../src/http/problem/links.ts'
import { minuteMs } from '../../../../src/lib/time/instant.ts'
import { streamOperations } from '../../../../src/topics/streams/operations/stream.ts'
import type { WatchEvent, WatchFeed } from '../../../../src/topics/watches/service/feed.ts'
import { people } from '../../../support/topics/people.ts'
import { type Block, blocksOf, type Served, serveApp } from '../../../support/topics/streaming.ts'
import { openWatchInstance, type WatchInstance } from '../../../support/topics/watches.ts'
import { until } from '../../../support/until.ts'

const path = '/v1/stream'
const open: Served[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop()
})

function served(instance: WatchInstance): Served {
  const server = serveApp(instance.services)
  open.push(server)
  return server
}

/** The route alone, where a test sets what the whole application does not. */
function alone(
  instance: WatchInstance,
  more: { keepAliveMs?: number; watchFeed?: WatchFeed },
): Served {
  const { config, ids, log, clock, limits, ...services } = instance.services
  const links = linker(config)
  const server = serveApp(instance.services, (connections: Connections) => {
    const door = createGate({
      ...services,
      clock,
      isOverloaded: () => false,
      freshSignInMs: 0,
      links,
      rates: createRateTables(limits, 1),
      trusted: trustedProxies([]),
      local: new WeakSet(),
    })
    const access = createAccess(door, null)
    const app = createBase({
      access,
      gate: door,
      ids,
      log,
      links,
      corsOrigins: ['*'],
    } as Parameters<typeof createBase>[0])
    mount(
      app,
      instance.services as unknown as Context,
      streamOperations({
        ...services,
        ...more,
        gate: door,
        peer: null,
        connections,
        marks: { fixtureHeader: 'X-Data' },
      } as unknown as Context & typeof more),
    )
    return app
  })
  open.push(server)
  return server
}

const ask = (server: Served, token: string, query = '', headers: Record<string, string> = {}) =>
  fetch(server.url + path + query, { headers: { authorization: `Token ${token}`, ...headers } })

/** Reads until `enough`; then the client hangs up. */
async function read(
  response: Response,
  enough: (blocks: readonly Block[]) => boolean,
): Promise<Block[]> {
  const blocks: Block[] = []
  for await (const block of blocksOf(response)) {
    blocks.push(block)
    if (enough(blocks)) break
  }
  return blocks
}
const eventsIn = (blocks: readonly Block[]): WatchEvent[] =>
  blocks.flatMap(block => (block.data === undefined ? [] : [JSON.parse(block.data)]))

const run = async (instance: WatchInstance, times: number) => {
  for (let i = 0; i < times; i += 1) {
    instance.clock.advance(minuteMs)
    await instance.services.watchRuns.pass()
  }
}

test('the event stream sends the existing feed events first and then each new event as it occurs', async () => {
  const instance = openWatchInstance()
  const server = served(instance)
  instance.watch({ codes: ['WTI_USD', 'GOLD_USD'] })
  await run(instance, 2)
  const there = instance.events().length
  const response = await ask(server, instance.token)
  expect({
    status: response.status,
    contentType: response.headers.get('content-type'),
    cacheControl: response.headers.get('cache-control'),
  }).toEqual({
    status: 200,
    contentType: 'text/event-stream; charset=utf-8',
    cacheControl: 'no-store',
  })
  let more = false
  const blocks = await read(response, all => {
    if (eventsIn(all).length === there && !more) {
      more = true
      void run(instance, 1)
    }
    return eventsIn(all).length > there + 1
  })
  const all = instance.events().slice(0, there + 2)
  expect(blocks[0]).toEqual({ retry: '3000', id: '0' } as Block)
  expect(eventsIn(blocks)).toEqual(all)
  expect(blocks.slice(1).map(({ id, event }) => [id, event])).toEqual(
    all.map(event => [String(event.seq), event.type]),
  )
})

test('however often a client is cut off, with Last-Event-ID it gets each event once', async () => {
  const instance = openWatchInstance()
  const server = served(instance)
  instance.watch({ codes: ['WTI_USD', 'GOLD_USD', 'BRENT_CRUDE_USD'] })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }),
      async cuts => {
        const received: WatchEvent[] = []
        let last = String(instance.services.watchFeed.last(instance.accountId))
        const from = Number(last)
        for (const cut of cuts) {
          const running = run(instance, Math.ceil(cut / 3) + 1)
          const blocks = await read(
            await ask(server, instance.token, '', { 'last-event-id': last }),
            all => eventsIn(all).length >= cut,
          )
          await running
          received.push(...eventsIn(blocks))
          // As a browser keeps it: also from a block without an event.
          last = blocks.findLast(block => block.id !== undefined)!.id!
        }
        const expected = instance.events().filter(event => event.seq > from)
        expect(received).toEqual(expected.slice(0, received.length))
        expect(received.length).toBeGreaterThanOrEqual(cuts.reduce((a, b) => a + b))
      },
    ),
    { numRuns: 10 },
  )
}, 30_000)

test('Last-Event-ID takes precedence over since, now starts with new events, and a non-numeric value is refused', async () => {
  const instance = openWatchInstance()
  const server = served(instance)
  instance.watch()
  await run(instance, 3)
  const { seq } = instance.events()[1]!
  const first = async (query: string, headers: Record<string, string> = {}) =>
    eventsIn(
      await read(
        await ask(server, instance.token, query, headers),
        all => eventsIn(all).length > 0,
      ),
    )[0]!.seq
  expect(await first(`?since=${seq}`)).toBe(seq + 1)
  expect(await first('?since=0', { 'last-event-id': String(seq) })).toBe(seq + 1)
  const before = instance.services.watchFeed.last(instance.accountId)
  const response = await ask(server, instance.token, '?since=now')
  await run(instance, 1)
  expect(eventsIn(await read(response, all => eventsIn(all).length > 0))[0]!.seq).toBe(before + 1)
  for (const [query, headers] of [
    ['?since=x', {}],
    ['?since=-1', {}],
    ['', { 'last-event-id': 'evt_1' }],
  ] as const) {
    const refused = await ask(server, instance.token, query, headers)
    expect({
      status: refused.status,
      code: ((await refused.json()) as { error: { code: string } }).error.code,
    }).toEqual({ status: 400, code: 'INVALID_PARAMETER' })
  }
})

test('the event stream of an account contains no events from watches of other accounts', async () => {
  const instance = openWatchInstance()
  const server = served(instance)
  const otherToken = instance.key()
  instance.watch()
  const otherWatch = instance.watch({}, instance.services.keys.find(otherToken)!.account.account.id)
  const response = await ask(server, otherToken)
  await run(instance, 2)
  const blocks = await read(response, all => eventsIn(all).length >= 2)
  expect(new Set(eventsIn(blocks).map(event => event.watch_id))).toEqual(new Set([otherWatch.id]))
})

test('an event stream ends within two seconds of losing its key or plan and otherwise continues', async () => {
  const instance = openWatchInstance()
  const server = served(instance)
  const { keys, clock } = instance.services
  const streams = new Map<string, { token: string; blocks: Promise<Block[]> }>()
  for (const state of [
    'revoked',
    'rolled',
    'suspended',
    'expired',
    'restricted',
    'without the plan',
    'of a suspended account',
    'sound',
  ]) {
    const token = instance.key()
    const response = await ask(server, token)
    streams.set(state, { token, blocks: read(response, () => false) })
  }
  const stateOf = (name: string) => keys.find(streams.get(name)!.token)!
  keys.changeKey(stateOf('revoked'), { revokedAt: clock.now() })
  keys.rollKey(stateOf('rolled'))
  keys.changeKey(stateOf('suspended'), { suspendedAt: clock.now() })
  keys.changeKey(stateOf('expired'), { expiresAt: clock.now() + 1 })
  keys.changeKey(stateOf('restricted'), { allowedIps: ['203.0.113.0/24'] })
  keys.putAccount({ ...stateOf('without the plan').account.account, plan: 'starter' })
  keys.putAccount({
    ...stateOf('of a suspended account').account.account,
    suspendedAt: clock.now(),
  })
  instance.clock.advance(1)
  const sound = streams.get('sound')!
  streams.delete('sound')
  await Promise.all([...streams.values()].map(stream => stream.blocks))
  expect(instance.services.streams.count).toBe(1)
  await server.stop()
  await sound.blocks
  expect(instance.services.streams.count).toBe(0)
})

test('the event stream of a signed-in user ends with its session and affects no other session', async () => {
  const instance = people()
  const server = serveApp(instance.services)
  open.push(server)
  const ann = instance.person('ann')
  const [leaving, staying] = [await instance.signedIn(ann), await instance.signedIn(ann)]
  const listen = (token: string) =>
    fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } })
  const [first, second] = (await Promise.all([listen(leaving), listen(staying)])).map(response =>
    read(response, () => false),
  )
  expect(
    (await instance.ask('DELETE', '/v1/auth/session', `Bearer ${leaving}`)).status,
  ).toBeLessThan(300)
  expect(await first).toHaveLength(1)
  const refreshed = await instance.ask('POST', '/v1/auth/session/refresh', `Bearer ${staying}`)
  // Showing the replaced token again would end the sign-in; the stream that was opened with it must
  // not do so.
  expect(await second).toHaveLength(1)
  const { token } = refreshed.body.data as { token: string }
  expect((await instance.ask('GET', '/v1/users/me', `Bearer ${token}`)).status).toBe(200)
})

test('a key has at most the configured number of streams, and a closed stream frees its slot', async () => {
  const instance = openWatchInstance({ 'streams.per_key': '2' })
  const server = served(instance)
  const openStreams = [await ask(server, instance.token), await ask(server, instance.token)]
  const refused = await ask(server, instance.token)
  const body = (await refused.json()) as {
    code: string
    limit: number
    retry: { retryable: boolean }
  }
  expect({
    status: refused.status,
    code: body.code,
    limit: body.limit,
    retryable: body.retry.retryable,
  }).toEqual({ status: 429, code: 'STREAM_LIMIT_REACHED', limit: 2, retryable: false })
  expect((await ask(server, instance.key())).status).toBe(200)
  await openStreams[0]!.body!.cancel()
  await until(
    'the stream that ended gives its place back',
    () => instance.services.streams.count <= 2,
  )
  expect((await ask(server, instance.token)).status).toBe(200)
})

test('a server stop ends every event stream, and none remain afterwards', async () => {
  const instance = openWatchInstance()
  const server = served(instance)
  const blocks = read(await ask(server, instance.token), () => false)
  instance.services.streams.stop()
  expect(await blocks).toHaveLength(1)
  const refused = await ask(server, instance.token)
  expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({
    status: 503,
    retryAfter: '5',
  })
})

test('takes one slot of the minute and nothing of the quota', async () => {
  const instance = openWatchInstance()
  const server = served(instance)
  const response = await ask(server, instance.token)
  expect(response.headers.get('ratelimit')).toContain('"burst";r=99999;')
  expect(response.headers.get('x-ratelimit-used')).toBe('0')
  await response.body!.cancel()
})

test('HEAD is answered at once', async () => {
  const instance = openWatchInstance()
  const server = served(instance)
  const response = await fetch(server.url + path, {
    method: 'HEAD',
    headers: { authorization: `Token ${instance.token}` },
  })
  expect({ status: response.status, count: instance.services.streams.count }).toEqual({
    status: 200,
    count: 0,
  })
})

describe('GET /v1/stream: a client', () => {
  test('an event stream client receives regular keep-alive comments', async () => {
    const instance = openWatchInstance()
    const server = alone(instance, { keepAliveMs: 5 })
    const blocks = await read(await ask(server, instance.token), all => all.length > 3)
    expect(blocks.slice(1).map(block => block.comment)).toEqual([
      'keep-alive',
      'keep-alive',
      'keep-alive',
    ])
  })

  test('that sends If-Match gets the stream, and leaves no place taken when it goes', async () => {
    const instance = openWatchInstance()
    const server = alone(instance, {})
    const answer = await ask(server, instance.token, '', { 'if-match': '"any"' })
    expect([answer.status, instance.services.streams.count]).toEqual([200, 1])
    await answer.body!.cancel()
    await until('the stream ends', () => instance.services.streams.count === 0)
  })

  test('that reads nothing leaves the feed in the database', async () => {
    const instance = openWatchInstance()
    instance.watch({
      codes: instance.services.catalogue
        .list()
        .slice(0, 20)
        .map(series => series.code),
    })
    await run(instance, 700)
    const { watchFeed } = instance.services
    let handedOut = 0
    const countingFeed: WatchFeed = {
      ...watchFeed,
      after(...args) {
        const events = watchFeed.after(...args)
        handedOut += events.length
        return events
      },
    }
    const server = alone(instance, { watchFeed: countingFeed })
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.pause()
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Token ${instance.token}\r\n\r\n`,
    )
    await until('nothing more is handed out', async () => {
      const before = handedOut
      await Bun.sleep(150)
      return before > 0 && handedOut === before
    })
    expect(handedOut).toBeLessThan(instance.events().length)
    socket.destroy()
    await until('the stream ends', () => instance.services.streams.count === 0)
  })
})
