import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import { databasePath } from '../../../src/instance/services/directory.ts'
import { binary, remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { cableClient, isMessage } from '../../support/servers/cable-client.ts'
import { type NatsServer, natsServer } from '../../support/servers/nats.ts'
import { contentOf } from '../../support/topics/replication.ts'
import { until as waitUntil } from '../../support/until.ts'

needs('nats-server').describe('a replica of a primary', () => {
  let nats: NatsServer
  let dir: string
  let primary: Server
  let replica: { url: string; process: Bun.Subprocess; log(): Promise<string> }

  const startReplica = async () => {
    const ready = join(dir, `replica-${Bun.nanoseconds()}`)
    const log = Bun.file(`${ready}.log`)
    const child = Bun.spawn(
      [
        binary(),
        'serve',
        '--replica',
        '--data',
        join(dir, 'replica'),
        '--port',
        '0',
        '--ready-file',
        ready,
      ],
      {
        env: {
          PATH: process.env.PATH,
          WELLHEAD_NATS_SERVERS: nats.url,
          WELLHEAD_REPLICA_PRIMARY: primary.url,
          WELLHEAD_LIMITS_PER_MINUTE: '100000',
        },
        stdout: 'ignore',
        stderr: log,
      },
    )
    await until('the replica', () => Bun.file(ready).exists(), log)
    const { url } = (await Bun.file(ready).json()) as { url: string }
    return { url, process: child, log: () => log.text() }
  }
  const until = (
    what: string,
    isSo: () => unknown,
    log: { text(): Promise<string> } = { text: () => replica.log() },
  ) =>
    waitUntil(
      what,
      isSo,
      45_000,
      async () => `the log says:
${await log.text()}`,
    )
  const push = (url: string, price: number) =>
    fetch(`${url}/admin/v1/observations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${primary.adminToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        observations: [{ code: 'WTI_USD', observed_at: new Date().toISOString(), price }],
      }),
    })
  const latest = async (headers: Record<string, string> = {}) => {
    const answer = await fetch(`${replica.url}/v1/prices/latest?by_code=WTI_USD`, {
      headers: { authorization: `Token ${primary.apiKey}`, ...headers },
    })
    const body = (await answer.json()) as { data?: { price: number } }
    return { answer, price: body.data?.price, lag: answer.headers.get('x-service-replica-lag') }
  }

  beforeAll(async () => {
    nats = await natsServer()
    dir = temporaryDir()
    await Bun.write(join(dir, 'data', 'wellhead.toml'), `[nats]\nservers = ["${nats.url}"]\n`)
    primary = await start('serve', dir)
    expect((await push(primary.url, 70)).status).toBe(200)
    replica = await startReplica()
  }, 120_000)
  afterAll(async () => {
    replica?.process.kill()
    await replica?.process.exited
    await primary?.stop()
    await nats?.remove()
    remove(dir)
  })

  test('a replica serves reads from its own data and reports its lag', async () => {
    // While it has none, or no slice of the quota, the primary answers, without a lag.
    await until('the price', async () => {
      const { price, lag } = await latest()
      return price === 70 && lag !== null && Number(lag) >= 0
    })
    const answer = await primary.get('/v1/prices/latest?by_code=WTI_USD')
    expect(answer.headers.has('x-service-replica-lag')).toBe(false)
  })

  test('passes writes on, and answers with a write whose sequence a read names', async () => {
    await until('a slice of the quota', async () => (await latest()).lag !== null)
    for (let i = 1; i <= 20; i++) {
      const written = await push(replica.url, 70 + i / 100)
      expect({
        status: written.status,
        serviceReplicaLag: written.headers.get('x-service-replica-lag'),
      }).toEqual({ status: 200, serviceReplicaLag: null })
      const sequence = written.headers.get('x-service-sequence')!
      expect(Number(sequence)).toBeGreaterThan(0)
      const { price, lag } = await latest({ 'x-service-sequence': sequence })
      expect({ price, lag }).toEqual({ price: 70 + i / 100, lag: expect.any(String) })
    }
    const { price, lag } = await latest({ 'x-service-sequence': '999999999' })
    expect({ price, lag }).toEqual({ price: 70.2, lag: null })
  })

  test('has each value from the moment on that the write answered, and the one before it until then', async () => {
    const code = 'BRENT_CRUDE_USD'
    const writes: { at: number; price: number }[] = []
    let sequence = ''
    for (let i = 1; i <= 50; i += 1) {
      const price = 75 + i / 100
      const answer = await fetch(`${primary.url}/admin/v1/observations`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${primary.adminToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          observations: [{ code, observed_at: '2026-11-20T15:00:00Z', price }],
        }),
      })
      const { data } = (await answer.json()) as { data: { recorded_at: string } }
      writes.push({ at: Date.parse(data.recorded_at), price })
      sequence = answer.headers.get('x-service-sequence') ?? sequence
    }
    const priceAt = async (at: number) => {
      const asOf = new Date(at).toISOString()
      const answer = await fetch(`${replica.url}/v1/prices/latest?by_code=${code}&as_of=${asOf}`, {
        headers: {
          authorization: `Token ${primary.apiKey}`,
          ...(sequence !== '' && { 'x-service-sequence': sequence }),
        },
      })
      const { data } = (await answer.json()) as { data?: { price: number } }
      return { price: data?.price, isOwn: answer.headers.has('x-service-replica-lag') }
    }
    await until('the last value', async () => {
      const { price, isOwn } = await priceAt(writes.at(-1)!.at)
      return isOwn && price === writes.at(-1)!.price
    })
    for (const [i, { at, price }] of writes.entries()) {
      expect((await priceAt(at)).price).toBe(price)
      if (i > 0) expect((await priceAt(at - 1)).price).toBe(writes[i - 1]!.price)
    }
  })

  test('follows keys and accounts, and leaves what counts in a quota to the primary', async () => {
    const asked = (path: string, token: string, init: RequestInit = {}) =>
      fetch(`${replica.url}${path}`, {
        ...init,
        headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
      })
    const made = await asked('/v1/api-keys', primary.apiKey, {
      method: 'POST',
      body: JSON.stringify({ name: 'desk' }),
    })
    const text = await made.text()
    expect({ status: made.status, text }).toEqual({ status: 200, text: expect.any(String) })
    const token = /"plain_token":"([^"]+)"/.exec(text)![1]!
    const id = /"id":"([^"]+)"/.exec(text)![1]!
    const read = () => asked('/v1/prices/latest?by_code=WTI_USD', token)
    expect((await read()).status).toBe(200)
    await until('the key', async () => (await read()).headers.has('x-service-replica-lag'))
    expect((await asked(`/v1/api-keys/${id}`, primary.apiKey, { method: 'DELETE' })).status).toBe(
      200,
    )
    await until('its end', async () => (await read()).status === 401)
  })

  test('connects the socket of a person who signed in, whom only the primary knows', async () => {
    const operator = { authorization: `Bearer ${primary.adminToken}` }
    const json = { ...operator, 'content-type': 'application/json' }
    const asked = async (path: string, headers: Record<string, string>, body?: unknown) => {
      const answer = await fetch(`${replica.url}${path}`, {
        headers,
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      })
      return ((await answer.json()) as { data: { account: { id: string }; token: string } }).data
    }
    const { account } = await asked('/admin/v1/accounts', json, {
      email: 'desk@example.com',
      plan: 'enterprise',
    })
    const password = 'a long pass phrase of the desk'
    await asked(`/admin/v1/accounts/${account.id}/password`, json, { password })
    const signIn = { email: 'desk@example.com', password }
    const { token } = await asked('/v1/auth/session', json, signIn)
    const client = await cableClient(replica.url.replace('http', 'ws'), {
      token,
      scheme: 'Bearer',
    })
    client!.subscribe({ commodities: ['WTI_USD'] })
    await client!.frame(isMessage('welcome'))
    await push(primary.url, 72.5)
    const { message } = await client!.frame(isMessage('price_update'))
    expect(message).toMatchObject({ price_rows: [{ code: 'WTI_USD', price: 72.5 }] })
    await fetch(`${replica.url}/v1/auth/session`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    })
    expect((await client!.closed).code).toBe(1008)
    const ended = { token, scheme: 'Bearer' }
    expect(await cableClient(replica.url.replace('http', 'ws'), ended)).toBeUndefined()
  }, 60_000)

  test('has its answers counted by the primary, each once, also those while NATS was away', async () => {
    const used = () => {
      const db = openDatabase(databasePath(join(dir, 'data')), { readonly: true })
      const { total } = db
        .query<{ total: number }, []>('SELECT sum(used) AS total FROM quota_counters')
        .get()!
      const { metered } = db
        .query<{ metered: number }, []>('SELECT sum(metered) AS metered FROM usage_hours')
        .get()!
      db.close()
      return [total, metered]
    }
    const isSettled = async () => {
      const before = used()
      await Bun.sleep(3000)
      return Bun.deepEquals(before, used())
    }
    await until('an end of counting', isSettled)
    const [total, metered] = used() as [number, number]
    for (let i = 0; i < 50; i++) {
      const { answer, lag } = await latest()
      expect({ status: answer.status, lag }).toEqual({ status: 200, lag: expect.any(String) })
    }
    await nats.stop()
    for (let i = 0; i < 25; i++) expect((await latest()).answer.status).toBe(200)
    await nats.start()
    await until('the counts', () => used()[1]! >= metered + 75)
    await until('an end of counting', isSettled)
    expect(used()[1]).toBe(metered + 75)
    // The quota is charged in advance: slices that are set aside are included, and none is missing.
    expect(used()[0]).toBeGreaterThanOrEqual(total)
    expect(used()[0]).toBeGreaterThanOrEqual(used()[1]!)
  })

  test('the health check of a replica reports whether it lags too far behind', async () => {
    expect((await fetch(`${replica.url}/health?max_lag=5m`)).status).toBe(200)
    expect((await fetch(`${replica.url}/health?max_lag=soon`)).status).toBe(400)
    await nats.stop()
    await until(
      'the lag',
      async () => (await fetch(`${replica.url}/health?max_lag=1s`)).status === 503,
    )
    expect((await latest()).answer.status).toBe(200)
    await nats.start()
    await until(
      'the end of it',
      async () => (await fetch(`${replica.url}/health?max_lag=1s`)).status === 200,
    )
  })

  test('a killed replica resumes where it stopped and serves reads while the primary is down', async () => {
    replica.process.kill('SIGKILL')
    await replica.process.exited
    const { headers } = await push(primary.url, 71)
    replica = await startReplica()
    const { price } = await latest({ 'x-service-sequence': headers.get('x-service-sequence')! })
    expect(price).toBe(71)
    // That may have been the primary's own answer.
    await until('the price', async () => (await latest()).price === 71)
    await primary.stop()
    expect((await latest()).price).toBe(71)
    const refused = await push(replica.url, 72)
    expect({ status: refused.status, errorCode: refused.headers.get('x-error-code') }).toEqual({
      status: 503,
      errorCode: 'STORAGE_UNAVAILABLE',
    })
    primary = await start('serve', dir)
  })

  test('has every row of the primary, and is served as nothing else', async () => {
    let differing: string[] = []
    const rows = (name: string) => {
      const db = openDatabase(databasePath(join(dir, name)), { readonly: true })
      const content = Object.fromEntries(contentOf(db))
      db.close()
      return content
    }
    await until('the same rows', () => {
      const [instance, source] = [rows('replica'), rows('data')]
      differing = Object.keys(source).filter(name => source[name] !== instance[name])
      return differing.length === 0
    }).catch(error => {
      throw new Error(`${differing} differ: ${error}`)
    })
    replica.process.kill()
    expect(await replica.process.exited).toBe(0)
    const child = Bun.spawn([binary(), 'serve', '--data', join(dir, 'replica'), '--port', '0'], {
      env: { PATH: process.env.PATH },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const said = await new Response(child.stderr).text()
    expect({ exited: await child.exited, said }).toEqual({
      exited: 1,
      said: expect.stringContaining('is a replica'),
    })
  })
})
