import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import { databasePath } from '../../../src/instance/services/directory.ts'
import { binary, remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { type NatsServer, natsServer } from '../../support/servers/nats.ts'
import { contentOf } from '../../support/topics/replication.ts'
import { until as waitUntil } from '../../support/until.ts'

interface Running {
  url: string
  process: Bun.Subprocess
  log(): Promise<string>
}

needs('nats-server').describe('two replicas of a primary', () => {
  let nats: NatsServer
  let dir: string
  let primary: Server
  const replicas: Record<string, Running> = {}
  const logs: string[] = []

  const until = (what: string, isSo: () => unknown) =>
    waitUntil(what, isSo, 60_000, async () => {
      const texts = await Promise.all(logs.map(path => Bun.file(path).text()))
      return `the logs say:\n${texts.join('').slice(-3000)}`
    })
  const environment = (extra: Record<string, string> = {}) => ({
    PATH: process.env.PATH,
    WELLHEAD_NATS_SERVERS: nats.url,
    WELLHEAD_LIMITS_PER_MINUTE: '100000',
    ...extra,
  })
  const startReplica = async (name: string) => {
    const ready = join(dir, `${name}-${Bun.nanoseconds()}`)
    const log = `${ready}.log`
    logs.push(log)
    const child = Bun.spawn(
      [
        binary(),
        'serve',
        '--replica',
        '--data',
        join(dir, name),
        '--port',
        '0',
        '--ready-file',
        ready,
      ],
      {
        env: environment({ WELLHEAD_REPLICA_PRIMARY: primary.url }),
        stdout: 'ignore',
        stderr: Bun.file(log),
      },
    )
    await until(`the start of ${name}`, () => existsSync(ready))
    const { url } = (await Bun.file(ready).json()) as { url: string }
    replicas[name] = { url, process: child, log: () => Bun.file(log).text() }
  }
  const end = async (name: string, signal: NodeJS.Signals) => {
    replicas[name]!.process.kill(signal)
    await replicas[name]!.process.exited
  }
  const send = async (method: string, path: string, body: object, token: string) => {
    const answer = await fetch(`${primary.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    expect(answer.status, `${path} ${text}`).toBeLessThan(300)
    return JSON.parse(text)
  }
  const operate = (path: string, body: object) => send('POST', path, body, primary.adminToken)
  const push = (prices: number[], code = 'WTI_USD', at = '2026-11-20T15:00:00Z') =>
    operate('/admin/v1/observations', {
      observations: prices.map((price, n) => ({
        code,
        observed_at: new Date(Date.parse(at) + n * 60_000).toISOString(),
        price,
      })),
    })
  const get = (url: string, path: string) =>
    fetch(`${url}${path}`, { headers: { authorization: `Token ${primary.apiKey}` } })
  const contentAt = (name: string) => {
    const db = openDatabase(databasePath(join(dir, name)), { readonly: true })
    const content = Object.fromEntries(contentOf(db))
    db.close()
    return content
  }
  const areEqual = () => {
    const content = contentAt('data')
    return Object.keys(replicas).every(name => Bun.deepEquals(contentAt(name), content))
  }
  const newestBatch = async (): Promise<number> => {
    const answer = await fetch(`${primary.url}/admin/v1/batches?per_page=1`, {
      headers: { authorization: `Bearer ${primary.adminToken}` },
    })
    const { data } = (await answer.json()) as { data: { batches: { id: number }[] } }
    return data.batches[0]!.id
  }

  beforeAll(async () => {
    nats = await natsServer()
    dir = temporaryDir()
    await Bun.write(join(dir, 'data', 'wellhead.toml'), `[nats]\nservers = ["${nats.url}"]\n`)
    primary = await start('serve', dir)
    await push([70])
    await startReplica('first')
    await startReplica('second')
  }, 120_000)
  afterAll(async () => {
    for (const name of Object.keys(replicas)) await end(name, 'SIGKILL')
    primary?.process.kill('SIGKILL')
    await primary?.process.exited
    await nats?.remove()
    remove(dir)
  })

  test('both replicas have every row after one was restarted and the other was paused and killed', async () => {
    for (let n = 1; n <= 120; n += 1) {
      await push([70 + n / 100, 71 + n / 100, 72 + n / 100])
      if (n === 20) await end('first', 'SIGTERM')
      if (n === 40) replicas.second!.process.kill('SIGSTOP')
      if (n === 60) await startReplica('first')
      if (n === 80) replicas.second!.process.kill('SIGCONT')
      if (n === 90) await end('second', 'SIGKILL')
      if (n === 100) await startReplica('second')
    }
    await until('the same rows', areEqual)
    for (const { url } of Object.values(replicas)) {
      const answer = await get(url, '/v1/prices/latest?by_code=WTI_USD')
      expect(await answer.json()).toMatchObject({ data: { price: 73.2 } })
    }
  }, 120_000)

  test('have what stood before a batch once it is undone, and the batch as of before that', async () => {
    await push([81, 82], 'BRENT_CRUDE_USD')
    const { data: wrong } = await push([85, 86, 87], 'BRENT_CRUDE_USD')
    const ofPrices = await newestBatch()
    const row = { contract: 'WTI_FUTURES_2027_01', traded_on: '2026-11-19', close: 71.95 }
    await operate('/admin/v1/datasets/futures-settlements', { rows: [row] })
    const ofRows = await newestBatch()
    expect(ofRows).not.toBe(ofPrices)
    for (const batch of [ofPrices, ofRows]) await operate(`/admin/v1/batches/${batch}/undo`, {})
    await until('the same rows', areEqual)
    for (const { url } of Object.values(replicas)) {
      const latest = '/v1/prices/latest?by_code=BRENT_CRUDE_USD'
      expect(await (await get(url, latest)).json()).toMatchObject({ data: { price: 82 } })
      const then = await get(url, `${latest}&as_of=${wrong.recorded_at}`)
      expect([then.headers.has('x-service-replica-lag'), await then.json()]).toMatchObject([
        true,
        { data: { price: 87 } },
      ])
    }
  }, 60_000)

  test('show and store no secret in the clear, and answer without what opens it', async () => {
    const hook = await send(
      'POST',
      '/v1/webhooks',
      { url: 'https://hooks.example.com/a', events: ['price.updated'] },
      primary.apiKey,
    )
    const secret = /whsec_[\w+/=-]+/.exec(JSON.stringify(hook))![0]
    const password = 'a-password-of-the-publisher-4711'
    await send(
      'POST',
      '/v1/data-sources',
      {
        data_source: {
          name: 'desk',
          source_type: 'webhook',
          credentials: { password },
        },
      },
      primary.apiKey,
    )
    await until('the same rows', areEqual)
    for (const [name, { url, log }] of Object.entries(replicas)) {
      for (const path of ['/v1/webhooks', '/v1/data-sources']) {
        const answer = await get(url, path)
        const text = await answer.text()
        expect([path, answer.status, text.includes(secret), text.includes(password)]).toEqual([
          path,
          200,
          false,
          false,
        ])
      }
      const stored = readdirSync(join(dir, name))
        .filter(file => file.startsWith('wellhead.db'))
        .map(file => readFileSync(join(dir, name, file)).toString('latin1'))
        .join('')
      for (const text of [stored, await log()]) {
        expect(text).not.toContain(secret)
        expect(text).not.toContain(password)
      }
      expect(existsSync(join(dir, name, 'master.key'))).toBe(false)
    }
  }, 60_000)

  test('one of them is promoted with the master key of the primary and opens its secrets; without it nothing is promoted', async () => {
    await primary.stop()
    for (const { url } of Object.values(replicas)) {
      expect((await get(url, '/v1/prices/latest?by_code=WTI_USD')).status).toBe(200)
      expect((await get(url, '/v1/webhooks')).status).toBe(503)
    }
    const data = join(dir, 'promoted')
    mkdirSync(data)
    const run = (...args: string[]) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync([binary(), ...args, '--data', data], {
        env: environment(),
      })
      return { code: exitCode, out: stdout.toString(), err: stderr.toString() }
    }
    expect(run('promote')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`copy it to ${join(data, 'master.key')}`),
    })
    expect(existsSync(join(data, 'wellhead.db'))).toBe(false)
    copyFileSync(join(dir, 'data', 'master.key'), join(data, 'master.key'))
    expect(run('promote')).toMatchObject({ code: 0, err: '' })
    expect(run('doctor', '--json').out).toContain('2 encrypted; the master key is correct')
    const ready = join(dir, 'promoted.ready')
    const log = `${ready}.log`
    logs.push(log)
    const child = Bun.spawn(
      [binary(), 'serve', '--data', data, '--port', '0', '--ready-file', ready],
      { env: environment(), stdout: 'ignore', stderr: Bun.file(log) },
    )
    await until('the promoted primary', () => existsSync(ready))
    const { url } = (await Bun.file(ready).json()) as { url: string }
    const hooks = await get(url, '/v1/webhooks')
    expect({ status: hooks.status, text: await hooks.text() }).toEqual({
      status: 200,
      text: expect.stringContaining('https://hooks.example.com/a'),
    })
    // The former primary takes no request before it has read that it was replaced.
    const { adminToken } = primary
    primary = await start('serve', dir)
    const write = await fetch(`${primary.url}/admin/v1/observations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        observations: [{ code: 'WTI_USD', observed_at: '2026-11-20T15:00:00Z', price: 99 }],
      }),
    })
    expect({ status: write.status, text: await write.text() }).toEqual({
      status: 503,
      text: expect.stringContaining('STORAGE_UNAVAILABLE'),
    })
    child.kill()
    expect(await child.exited).toBe(0)
  }, 120_000)
})
