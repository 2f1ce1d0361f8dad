import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import { databasePath } from '../../../src/instance/services/directory.ts'
import { replicatedTables } from '../../../src/replication/store/tables.ts'
import { binary, remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { type NatsServer, natsServer } from '../../support/servers/nats.ts'
import { dumpOf } from '../../support/topics/replication.ts'
import { until as waitUntil } from '../../support/until.ts'

/** Values of columns that no job takes up: whatever is due is due in the far future. */
const valuesOf: Readonly<Record<string, SQLQueryBindings>> = {
  INTEGER: 9_007_199_254_740_993n,
  REAL: Number.POSITIVE_INFINITY,
  TEXT: '{"text":"🛢️"}',
  BLOB: new Uint8Array([0, 255]),
}

needs('nats-server').describe('a primary with a provider of mail, and its replica', () => {
  let nats: NatsServer
  let dir: string
  let primary: Server
  let replica: Bun.Subprocess | undefined
  let replicaUrl: string

  const log = () => Bun.file(join(dir, 'replica.log')).text()
  const until = (what: string, isSo: () => unknown) =>
    waitUntil(
      what,
      isSo,
      60_000,
      async () => `the log says:
${await log()}`,
    )
  const send = async (method: string, path: string, body: object, token = primary.apiKey) => {
    const answer = await fetch(`${primary.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    expect(answer.status, `${path} ${text}`).toBeLessThan(300)
    return JSON.parse(text)
  }
  const push = (price: number) =>
    send(
      'POST',
      '/admin/v1/observations',
      { observations: [{ code: 'WTI_USD', observed_at: new Date().toISOString(), price }] },
      primary.adminToken,
    )
  const differing = () => {
    const [source, instance] = ['data', 'replica'].map(name => {
      const db = openDatabase(databasePath(join(dir, name)), { readonly: true })
      const dump = dumpOf(db)
      db.close()
      return dump
    }) as [ReturnType<typeof dumpOf>, ReturnType<typeof dumpOf>]
    return Object.keys(source).filter(name => !Bun.deepEquals(source[name], instance[name]))
  }
  const rowsIn = (table: string) => {
    const db = openDatabase(databasePath(join(dir, 'data')), { readonly: true })
    const [[rows]] = db.query(`SELECT count(*) FROM ${table}`).values() as [[number]]
    db.close()
    return rows
  }
  const readReplica = async () => {
    const answer = await fetch(`${replicaUrl}/v1/prices/latest?by_code=WTI_USD`, {
      headers: { authorization: `Token ${primary.apiKey}` },
    })
    const { data } = (await answer.json()) as { data?: { price: number } }
    return {
      price: data?.price,
      lag: answer.headers.get('x-service-replica-lag'),
      stale: answer.headers.get('x-service-replica-stale'),
    }
  }

  beforeAll(async () => {
    nats = await natsServer()
    dir = temporaryDir()
    await Bun.write(
      join(dir, 'data', 'wellhead.toml'),
      `[nats]\nservers = ["${nats.url}"]\n[mail]\nprovider = "smtp"\nsmtp_url = "smtp://127.0.0.1:1"\n`,
    )
    primary = await start('serve', dir)
    await push(70)
    const ready = join(dir, 'ready-replica')
    replica = Bun.spawn(
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
        stderr: Bun.file(join(dir, 'replica.log')),
      },
    )
    await until('the replica', () => existsSync(ready))
    replicaUrl = ((await Bun.file(ready).json()) as { url: string }).url
  }, 120_000)
  afterAll(async () => {
    replica?.kill()
    await replica?.exited
    await primary?.stop()
    await nats?.remove()
    remove(dir)
  })

  test('are the same in every value of every table, with a row of each kind, and stay so', async () => {
    // Values that the product writes itself, above all an alert without an upper bound.
    const alert = (operator: string, value: number) =>
      send('POST', '/v1/alerts', {
        price_alert: {
          name: operator,
          commodity_code: 'WTI_USD',
          condition_operator: operator,
          condition_value: value,
          webhook_url: 'https://hooks.example.com/a',
        },
      })
    await alert('greater_than', 100)
    await alert('less_than', 10)
    await send('POST', '/v1/api-keys', { name: 'desk' })
    // Both servers hold these rows in memory, so only what the product writes can be in them.
    const operate = (path: string, body: object) => send('POST', path, body, primary.adminToken)
    await operate('/admin/v1/series', {
      code: 'DESK_CRUDE_USD',
      name: 'Desk crude 🛢️',
      category: 'crude_oil',
      unit: 'barrel',
      currency: 'USD',
      decimals: 6,
      aliases: ['DESK_MARK'],
    })
    await operate('/admin/v1/quarantine', {
      code: 'BRENT_CRUDE_USD',
      from: '2026-11-02',
      to: '2026-11-03',
      reason: 'The source repeated a stale value',
    })
    await send('POST', '/organizations/members', { email: 'bob@example.com', role: 'member' })
    for (const name of [
      'aliases',
      'organization_members',
      'organizations',
      'quarantine',
      'series_terms',
    ])
      expect([name, rowsIn(name)]).not.toEqual([name, 0])
    await push(71)
    await push(72)
    // Every other table: a row of values that JSON has no number for, which the server does not see.
    const db = new Database(databasePath(join(dir, 'data')), { strict: true })
    db.run('PRAGMA busy_timeout = 5000')
    db.run('PRAGMA ignore_check_constraints = ON')
    db.run('PRAGMA foreign_keys = OFF')
    const skipped: string[] = []
    for (const { name } of replicatedTables(db)) {
      if (db.query(`SELECT 1 FROM ${name} LIMIT 1`).get()) continue
      const columns = db
        .query<{ type: string }, [string]>('SELECT type FROM pragma_table_info(?)')
        .all(name)
      try {
        db.prepare(`INSERT INTO ${name} VALUES (${columns.map(() => '?').join(', ')})`).run(
          ...columns.map(({ type }) => valuesOf[type]!),
        )
      } catch (error) {
        skipped.push(`${name}: ${error}`)
      }
    }
    db.close()
    expect(skipped).toEqual([])
    await push(73)
    let names: string[] = []
    await until('the same rows', () => {
      names = differing()
      return names.length === 0
    }).catch(error => {
      throw new Error(`${names} differ: ${error}`)
    })
    // The replica has what it holds in memory as well. While it is behind, the primary answers for it.
    let body = ''
    await until('an answer of the replica itself', async () => {
      const answer = await fetch(`${replicaUrl}/v1/commodities/DESK_MARK`, {
        headers: { authorization: `Token ${primary.apiKey}` },
      })
      body = await answer.text()
      return answer.headers.has('x-service-replica-lag')
    })
    expect(body).toContain('DESK_CRUDE_USD')
    const highest = openDatabase(databasePath(join(dir, 'replica')), { readonly: true })
    expect(highest.query('SELECT max(high) AS high FROM alerts').get()).toEqual({ high: Infinity })
    highest.close()
    // The lag that the replica reports, and the lag that a client sees: from the response to a
    // write until it can be read.
    const seconds = Number(process.env.REPLICA_LAG_SECONDS ?? 5)
    let [worstSaid, worstSeen] = [0, 0]
    for (let n = 0; n < seconds; n++) {
      const price = 70 + n / 100
      await push(price)
      const writtenAt = performance.now()
      for (let isRead = false; performance.now() < writtenAt + 1000 || !isRead; ) {
        const { lag, stale, price: read } = await readReplica()
        expect(stale).toBeNull()
        worstSaid = Math.max(worstSaid, Number(lag ?? 0))
        if (!isRead && lag !== null && read === price) {
          isRead = true
          worstSeen = Math.max(worstSeen, Math.round(performance.now() - writtenAt))
        }
        await Bun.sleep(20)
      }
    }
    if (process.env.REPLICA_LAG_SECONDS) {
      console.log(`worst lag in ${seconds} s: ${worstSaid} ms said, ${worstSeen} ms seen`)
      expect(Math.max(worstSaid, worstSeen)).toBeLessThan(1000)
    }
    expect(await log()).not.toContain('replica_not_following')
  }, 200_000)

  test('have the same revisions, in the same order, of a point that is revised many times at once', async () => {
    const observedAt = new Date().toISOString()
    const prices = Array.from({ length: 60 }, (_, n) => 80 + n / 100)
    await Promise.all(
      prices.map(price =>
        send(
          'POST',
          '/admin/v1/observations',
          { observations: [{ code: 'DUBAI_CRUDE_USD', observed_at: observedAt, price }] },
          primary.adminToken,
        ),
      ),
    )
    await until('the same rows', () => differing().length === 0)
    const revisionsAt = async (url: string) => {
      const path = `/v1/prices/vintages?by_code=DUBAI_CRUDE_USD&observed_at=${observedAt}`
      const answer = await fetch(url + path, {
        headers: { authorization: `Token ${primary.apiKey}` },
      })
      return { status: answer.status, body: await answer.text() }
    }
    const [here, there] = [await revisionsAt(primary.url), await revisionsAt(replicaUrl)]
    expect(here.status).toBe(200)
    for (const price of prices) expect(here.body).toContain(`"value":${price},`)
    expect(there).toEqual(here)
  }, 60_000)

  test('answer as of the moment that the primary stored, to the millisecond', async () => {
    await push(80)
    await until('the price', async () => differing().length === 0)
    const db = openDatabase(databasePath(join(dir, 'data')), { readonly: true })
    const { at } = db
      .query<{ at: number }, []>('SELECT max(recorded_at) AS at FROM observations')
      .get()!
    db.close()
    const priceAt = async (url: string, moment: number) => {
      const answer = await fetch(
        `${url}/v1/prices/latest?by_code=WTI_USD&as_of=${new Date(moment).toISOString()}`,
        { headers: { authorization: `Token ${primary.apiKey}` } },
      )
      return ((await answer.json()) as { data?: { price: number } }).data?.price
    }
    for (const url of [primary.url, replicaUrl]) {
      expect(await priceAt(url, at)).toBe(80)
      expect(await priceAt(url, at - 1)).not.toBe(80)
    }
  }, 60_000)
})
