import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import { examineCluster } from '../../src/cli/doctor/cluster.ts'
import { loadConfig } from '../../src/config/config.ts'
import { transact } from '../../src/database/database.ts'
import { connectionsOf, type SocketData, sockets } from '../../src/http/cable.ts'
import { type Instance, openInstance } from '../../src/instance/instance.ts'
import { createRandomIds } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log/log.ts'
import { createSystemClock } from '../../src/lib/time/clock.ts'
import { connectNats, type Nats } from '../../src/replication/nats/connection.ts'
import { openReplica, type Replica } from '../../src/replication/replica.ts'
import { snapshots } from '../../src/replication/service/snapshots.ts'
import { defaultSettings } from '../../src/topics/webhooks/store/webhooks.ts'
import { needs } from '../support/needs.ts'
import { cableClient, isMessage, isType } from '../support/servers/cable-client.ts'
import { type NatsServer, natsServer } from '../support/servers/nats.ts'
import { blocksOf } from '../support/topics/streaming.ts'
import { until as waitUntil } from '../support/until.ts'

needs('nats-server').describe('a replica in the process of its primary', () => {
  let server: NatsServer
  let nats: Nats
  let dir: string
  let primary: Instance
  let replica: Replica
  let http: ReturnType<typeof Bun.serve<SocketData>>
  let token: string
  const log: string[] = []
  const local = new WeakSet<Request>()

  const runtime = (natsServers = server.url) => {
    const clock = createSystemClock()
    return {
      config: loadConfig({
        flags: {
          'nats.servers': natsServers,
          'nats.events': 'true',
          'readers.threads': '0',
          'data.reserve_mb': '0',
          'replica.primary': 'http://127.0.0.1:1',
        },
        env: {},
        files: { directory: '/' },
        readFile: () => undefined,
      }),
      clock,
      ids: createRandomIds(),
      log: createLog({ level: 'info', format: 'json', write: line => void log.push(line), clock }),
    }
  }
  const until = (what: string, isSo: () => unknown) =>
    waitUntil(what, isSo, 45_000, () => `the log says:\n${log.slice(-20).join('')}`)
  const record = (code: string, price: number) => {
    const { series } = primary.services.catalogue.resolve(code, Date.now())!
    primary.services.ingest.write([{ seriesId: series.id, observedAt: Date.now(), value: price }])
  }
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${http.port}${path}`, {
      ...init,
      headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    })

  beforeAll(async () => {
    server = await natsServer()
    const { url } = server
    nats = await connectNats({ servers: [url], credentialsFile: '', token: '', name: 'test' })
    dir = mkdtempSync(join(tmpdir(), 'wellhead-replica-'))
    primary = openInstance({ runtime: runtime(), dir: join(dir, 'primary'), serving: true, local })
    const { keys, ids } = primary.services
    const now = Date.now()
    token = keys.addKey(
      keys.putAccount({
        id: ids.uuid(),
        email: 'desk@example.com',
        plan: 'enterprise',
        addOns: [],
        trialStartedAt: null,
        trialEndsAt: null,
        emailConfirmedAt: now,
        suspendedAt: null,
        createdAt: now,
      }),
    ).token
    record('BRENT_CRUDE_USD', 80)
    primary.runner.start()
    await until('a snapshot', async () => (await snapshots(nats, 1).catch(() => [])).length > 0)
    const connections = connectionsOf(() => http, new WeakMap(), new WeakSet())
    replica = await openReplica({
      runtime: runtime(),
      dir: join(dir, 'replica'),
      nats,
      peer: null,
      connections,
      isStopping: () => false,
      url: () => 'http://127.0.0.1:2',
      primary: () => 'http://127.0.0.1:1',
    })
    http = Bun.serve<SocketData>({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 10,
      development: false,
      fetch: request => replica.answer(request),
      websocket: sockets,
    })
    await until(
      'the price',
      async () => (await ask('/v1/prices/latest?by_code=BRENT_CRUDE_USD')).status === 200,
    )
  }, 90_000)
  afterAll(async () => {
    await replica?.close().catch(() => undefined)
    await http?.stop(true)
    primary?.close()
    await nats?.close()
    await server?.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  test('a replica has the records of its primary in the feed of changes, under the same cursors', async () => {
    const { services } = primary
    record('BRENT_CRUDE_USD', 81.5)
    const { id } = services.catalogue.named('BRENT_CRUDE_USD')!
    services.quarantine.add({
      seriesId: id,
      fromOn: '2020-01-01',
      toOn: '2020-01-02',
      reason: 'test',
      createdAt: Date.now(),
    })
    const read = async (answer: Promise<Response> | Response) => {
      const text = await (await answer).text()
      const { data } = JSON.parse(text) as { data?: { cursor: string } }
      if (!data) throw new Error(text)
      return data
    }
    const request = () =>
      new Request('http://127.0.0.1/v1/changes?since=start', {
        headers: { authorization: `Token ${token}` },
      })
    // Both are read again each time: a job of the primary may write as well.
    await until('the same records', async () =>
      Bun.deepEquals(
        await read(ask('/v1/changes?since=start')),
        await read(primary.app.handle(request())),
      ),
    )
  }, 60_000)

  test('streams the events of watches from its own rows, each once, behind the last that a client had', async () => {
    const { services } = primary
    const account = services.keys.find(token)!.account
    const watch = services.watches.create(
      account,
      {
        name: null,
        codes: ['BRENT_CRUDE_USD'],
        intervalSeconds: 3600,
        active: true,
        thresholdPercent: null,
        deliverWebhook: false,
      },
      { source: 'api', toolName: null },
    )
    if ('refused' in watch) throw new Error('no room for a watch')
    const seriesId = services.catalogue.named('BRENT_CRUDE_USD')!.id
    const happen = (price: number) =>
      transact(services.db, () =>
        services.watchFeed.append(watch, [
          {
            watch: watch.number,
            type: 'evaluated',
            seriesId,
            price,
            previousPrice: 80,
            asOf: Date.now(),
            createdAt: Date.now(),
          },
        ]),
      )
    happen(81)
    const listed = async () =>
      ((await (await ask('/v1/subscriptions/events')).json()) as { data?: unknown[] }).data
    await until('the first event', async () => JSON.stringify(await listed())?.includes('81'))
    const answer = await ask('/v1/stream?since=0')
    expect(Number(answer.headers.get('x-service-replica-lag'))).toBeGreaterThanOrEqual(0)
    const blocks = blocksOf(answer)
    const next = async () => {
      for (;;) {
        const { value } = await blocks.next()
        if (value?.event !== undefined) return JSON.parse(value.data!) as { price: number }
      }
    }
    expect((await next()).price).toBe(81)
    happen(82)
    expect((await next()).price).toBe(82)
    happen(83)
    expect((await next()).price).toBe(83)
    await blocks.return(undefined)
  }, 60_000)

  test('answers by itself what writes nothing, and passes on what does', async () => {
    const isOwn = async (path: string, init?: RequestInit) => {
      const answer = await ask(path, init)
      await answer.text()
      return [answer.status, answer.headers.has('x-service-replica-lag')]
    }
    for (const path of [
      '/v1/commodities',
      '/v1/prices/past_week?by_code=BRENT_CRUDE_USD',
      '/v1/alerts',
      '/v1/alerts/triggers',
      '/v1/subscriptions',
      '/v1/notifications',
      '/v1/scheduled-deliveries',
      '/v1/demo/prices',
      '/v1/sources',
      '/openapi.json',
      '/limits.json',
    ])
      expect([path, ...(await isOwn(path))]).toEqual([path, 200, true])
    const batch = { method: 'POST', body: JSON.stringify({ codes: ['BRENT_CRUDE_USD'] }) }
    expect(await isOwn('/v1/prices/batch', batch)).toEqual([200, true])
    // The primary's address is a closed port.
    for (const path of ['/v1/usage', '/v1/prices/board', '/v1/webhooks', '/billing/invoices'])
      expect([path, ...(await isOwn(path))]).toEqual([path, 503, false])
    expect(await isOwn('/v1/alerts', { method: 'POST', body: '{}' })).toEqual([503, false])
  }, 60_000)

  test('a replica appears among the instances that the operator sees, with its share of the quotas', async () => {
    expect((await ask('/v1/prices/latest?by_code=BRENT_CRUDE_USD')).status).toBe(200)
    const operator = async (path: string) => {
      const request = new Request(`http://localhost${path}`)
      local.add(request)
      return await (await primary.app.handle(request)).text()
    }
    type Seen = { role: string; url: string | null; lag_ms: number | null; behind: number }
    let nodes: (Seen & { quotas: { requests: number } })[] = []
    let streams: { name: string; copies: number; current_copies: number }[] = []
    const isSeen = async () => {
      const { data } = JSON.parse(await operator('/admin/v1/cluster')) as {
        data: { nodes: typeof nodes; streams: typeof streams }
      }
      ;({ nodes, streams } = data)
      const roles = nodes.map(({ role }) => role).join()
      return roles === 'primary,replica' && nodes.every(node => node.quotas.requests > 0)
    }
    await until('both copies', isSeen)
    expect(nodes.map(({ role, url }) => [role, url])).toEqual([
      ['primary', null],
      ['replica', 'http://127.0.0.1:2'],
    ])
    expect(nodes[1]!.lag_ms).not.toBeNull()
    expect(streams.map(stream => stream.name)).toEqual(
      ['changes', 'events', 'prices', 'usage'].map(name => `wellhead-${name}`),
    )
    for (const stream of streams) expect(stream).toMatchObject({ copies: 1, current_copies: 1 })
    expect(await operator('/metrics')).toMatch(/^wellhead_quota_pool_requests [1-9]/m)
    let findings: Awaited<ReturnType<typeof examineCluster>> = []
    // A busy machine keeps a replica behind for some seconds, which is a warning.
    await until('a replica that is not behind', async () => {
      findings = await examineCluster(runtime().config)
      return findings[0]?.status === 'ok'
    })
    expect(findings).toMatchObject([
      { check: 'replication', found: expect.stringContaining('1 replica') },
    ])
    const { config } = runtime('nats://127.0.0.1:1')
    expect(await examineCluster(config)).toMatchObject([{ status: 'error' }])
  }, 60_000)

  test('events that an endpoint asked for are on their subject, once and as they are sent', async () => {
    const { services } = primary
    const account = services.keys.find(token)!.account
    for (const path of ['a', 'b']) {
      const made = services.webhooks.create(account, {
        ...defaultSettings,
        url: `https://hooks.example.com/${path}`,
        events: ['price.updated'],
      })
      if ('refused' in made) throw new Error('no room for an endpoint')
    }
    record('BRENT_CRUDE_USD', 82.5)
    const bodies = services.db.query<{ body: string }, []>(
      'SELECT b.body FROM outbox o JOIN outbox_bodies b ON b.id = o.body_id',
    )
    expect(bodies.all().length).toBeGreaterThan(0)
    const subject = 'wellhead.events.price.updated'
    const count = async () => (await nats.manager.streams.info('wellhead-events')).state.messages
    await until('the event', async () => (await count()) > 0)
    const message = (await nats.manager.streams.getMessage('wellhead-events', {
      last_by_subj: subject,
    }))!
    expect(bodies.all().map(row => row.body)).toContain(message.string())
    expect(message.header.get('Wellhead-Account')).toBe(account.account.id)
    const document = Bun.YAML.parse(
      await Bun.file(join(import.meta.dir, '../../docs/nats/asyncapi.yaml')).text(),
    ) as { components: { schemas: { Event: object } } }
    const isEvent = addFormats(new Ajv({ strict: false })).compile(
      document.components.schemas.Event,
    )
    const event = message.json<{ id: string }>()
    expect({ isEvent: isEvent(event), errors: isEvent.errors }).toEqual({
      isEvent: true,
      errors: null,
    })
    expect(message.header.get('Nats-Msg-Id')).toBe(event.id)
    // Once, although two endpoints get it and each attempt writes its row again.
    record('WTI_USD', 70)
    await until('the next', async () => (await count()) >= 2)
    expect(await count()).toBe(2)
  }, 60_000)

  test('a replica sends each new price to its sockets and disconnects them when it stops', async () => {
    const client = (await cableClient(`ws://127.0.0.1:${http.port}`, { token }))!
    const identifier = client.subscribe({ commodities: ['BRENT_CRUDE_USD'] })
    await client.frame(isMessage('welcome'))
    record('BRENT_CRUDE_USD', 81.25)
    const update = await client.frame(isMessage('price_update'))
    expect(update.identifier).toBe(identifier)
    expect(update.message).toMatchObject({
      updated: ['BRENT_CRUDE_USD'],
      price_rows: [{ code: 'BRENT_CRUDE_USD', price: 81.25, currency: 'USD', unit: 'barrel' }],
    })
    const stranger = await cableClient(`ws://127.0.0.1:${http.port}`, { token: 'not-a-key' })
    expect(stranger).toBeUndefined()
    replica.endStreams()
    expect(await client.frame(isType('disconnect'))).toMatchObject({ reconnect: true })
  }, 60_000)

  test('a quota is answered to its last request over both, and counted once', async () => {
    const { services } = primary
    const now = Date.now()
    const free = services.keys.addKey(
      services.keys.putAccount({
        id: services.ids.uuid(),
        email: 'small@example.com',
        plan: 'free',
        addOns: [],
        trialStartedAt: null,
        trialEndsAt: null,
        emailConfirmedAt: now,
        suspendedAt: null,
        createdAt: now,
      }),
    )
    const headers = { authorization: `Token ${free.token}` }
    const path = '/v1/prices/latest?by_code=BRENT_CRUDE_USD'
    let answered = 0
    const askReplica = async () => {
      const answer = await fetch(`http://127.0.0.1:${http.port}${path}`, { headers })
      await answer.text()
      if (answer.status === 200) answered += 1
      return answer.status
    }
    // The rest of the quota is reserved for the primary and for further replicas.
    await until('most of the quota at the replica', async () => {
      await askReplica()
      return answered > 20
    })
    // It returns what is left of its slice.
    await replica.close()
    const state = services.keys.find(free.token)!
    const askPrimary = async () =>
      (await primary.app.handle(new Request(`http://localhost${path}`, { headers }))).status
    // Slices that the pool holds for replicas are returned when the primary has nothing left.
    await until('the rest of the quota', async () => {
      if ((await askPrimary()) === 200) answered += 1
      else await Bun.sleep(500)
      return answered === 50
    })
    for (let i = 0; i < 5; i++) expect([402, 429]).toContain(await askPrimary())
    expect(services.meter.quotaUsage(state).used).toBe(50)
    services.meter.flush()
    const { metered } = services.db
      .query<{ metered: number }, [string]>(
        'SELECT sum(metered) AS metered FROM usage_hours WHERE key_id = ?',
      )
      .get(state.key.id)!
    expect(metered).toBe(50)
  }, 60_000)
})
