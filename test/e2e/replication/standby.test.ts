import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connectNats } from '../../../src/replication/nats/connection.ts'
import { readLease } from '../../../src/replication/service/lease.ts'
import { binary, remove, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { type NatsServer, natsServer } from '../../support/servers/nats.ts'
import { until as waitUntil } from '../../support/until.ts'

interface Node {
  url: string
  process: Bun.Subprocess
  log(): Promise<string>
  ready(): Promise<{ url: string; api_key?: string; admin_token?: string }>
}

const noAnswer = 599

needs('nats-server').describe('a primary with a standby', () => {
  let nats: NatsServer
  let dir: string
  let primary: Node
  let standby: Node
  let other: Node
  let adminToken: string
  let apiKey: string
  const running = new Set<Node>()

  const until = (what: string, isSo: () => unknown, node: Node) =>
    waitUntil(
      what,
      isSo,
      60_000,
      async () => `the log says:
${(await node.log()).slice(-3000)}`,
    )
  const start = async (name: string, args: string[], env: Record<string, string> = {}) => {
    mkdirSync(join(dir, name), { recursive: true })
    const ready = join(dir, `ready-${name}-${Bun.nanoseconds()}`)
    const log = Bun.file(`${ready}.log`)
    const data = ['--data', join(dir, name), '--port', '0', '--ready-file', ready]
    const child = Bun.spawn([binary(), 'serve', ...data, ...args], {
      env: {
        PATH: process.env.PATH,
        WELLHEAD_NATS_SERVERS: nats.url,
        WELLHEAD_NATS_SYNC: 'commit',
        WELLHEAD_SECRETS_MASTER_KEY: 'a master key that is long enough for a test 0123456789',
        WELLHEAD_LIMITS_PER_MINUTE: '100000',
        ...env,
      },
      stdout: 'ignore',
      stderr: log,
    })
    const node: Node = {
      url: '',
      process: child,
      log: () => log.text(),
      ready: async () => (await Bun.file(ready).json()) as Awaited<ReturnType<Node['ready']>>,
    }
    running.add(node)
    await until(`the start of ${name}`, () => Bun.file(ready).exists(), node)
    node.url = (await node.ready()).url
    return node
  }
  const push = (node: Node, price: number) =>
    fetch(`${node.url}/admin/v1/observations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        observations: [{ code: 'WTI_USD', observed_at: new Date().toISOString(), price }],
      }),
    }).catch(() => new Response('', { status: noAnswer }))
  const read = (node: Node) =>
    fetch(`${node.url}/v1/prices/latest?by_code=WTI_USD`, {
      headers: { authorization: `Token ${apiKey}` },
    }).catch(() => new Response('', { status: noAnswer }))
  const latest = async (node: Node) => {
    const answer = await read(node)
    const body = (await answer.json().catch(() => undefined)) as { data?: { price: number } }
    return body?.data?.price
  }

  beforeAll(async () => {
    nats = await natsServer()
    dir = temporaryDir()
    primary = await start('primary', ['--standby', 'auto'])
    const ready = await primary.ready()
    adminToken = ready.admin_token!
    apiKey = ready.api_key!
    await until('the lease', async () => (await push(primary, 70)).status === 200, primary)
    const replica = { WELLHEAD_REPLICA_PRIMARY: primary.url }
    standby = await start('standby', ['--replica', '--standby', 'auto'], replica)
    other = await start('other', ['--replica'], replica)
    await until('the copy', async () => (await latest(standby)) === 70, standby)
    await until('the other instance', async () => (await latest(other)) === 70, other)
  }, 180_000)
  afterAll(async () => {
    for (const node of running) {
      node.process.kill('SIGKILL')
      await node.process.exited
    }
    await nats?.remove()
    remove(dir)
  })

  test('the primary stays the primary when its lease is overwritten, deleted or removed', async () => {
    const client = await connectNats({
      servers: [nats.url],
      credentialsFile: '',
      token: '',
      name: 'test',
    })
    const attacks = [
      () => client.connection.publish('$KV.wellhead-lease.primary', 'mine'),
      () => client.connection.publish('$KV.wellhead-lease.primary', '{"epoch":"many"}'),
      () => client.manager.streams.purge('KV_wellhead-lease'),
      () => client.manager.streams.delete('KV_wellhead-lease'),
    ]
    const bucket = async () =>
      (
        await client.manager.streams
          .getMessage('KV_wellhead-lease', { last_by_subj: '$KV.wellhead-lease.primary' })
          .catch(() => null)
      )?.string()
    const isHeldByPrimary = async () => {
      const lease = await bucket()
      return lease !== undefined && readLease(lease)?.url === primary.url
    }
    for (const [n, attack] of attacks.entries()) {
      await attack()
      await until('the lease of the primary', isHeldByPrimary, primary)
      const price = 60 + n
      await until('a write', async () => (await push(primary, price)).status === 200, primary)
      await until('the price', async () => (await latest(standby)) === price, standby)
    }
    expect(await standby.log()).not.toContain('standby_takes_over')
    expect(await primary.log()).not.toContain('"replaced"')
    await client.close()
  }, 120_000)

  test('is followed by it when it dies, with everything it acknowledged, and fenced when it comes back', async () => {
    for (let i = 1; i <= 10; i++) expect((await push(primary, 70 + i / 10)).status).toBe(200)
    let isReplaced = false
    const answers = { prices: 0, empty: 0 }
    const reading = (async () => {
      while (!isReplaced) {
        const answer = await read(standby)
        if (answer.status === 200) answers.prices += 1
        if (answer.status === 503 && (await answer.text()) === '') answers.empty += 1
        await Bun.sleep(2)
      }
    })()
    primary.process.kill('SIGKILL')
    await primary.process.exited
    await until('a new primary', async () => (await push(standby, 80)).status === 200, standby)
    isReplaced = true
    await reading
    // While it takes over it answers as before, and never that it is starting.
    expect(answers).toEqual({ prices: expect.any(Number), empty: 0 })
    expect(answers.prices).toBeGreaterThan(100)
    expect(await latest(standby)).toBe(80)
    // Requests to another instance find the new primary without configuration.
    await until('the way to it', async () => (await push(other, 81)).status === 200, other)
    await until('the price there', async () => (await latest(other)) === 81, other)

    const back = await start('primary', ['--standby', 'auto'])
    const refused = await push(back, 99)
    expect({ status: refused.status, errorCode: refused.headers.get('x-error-code') }).toEqual({
      status: 503,
      errorCode: 'STORAGE_UNAVAILABLE',
    })
    expect(await refused.text()).toContain('Nothing is written here')
    await until(
      'its fencing',
      async () => (await (await push(back, 99)).text()).includes('nother instance'),
      back,
    )
    // The key has a quota, which is its successor's to count.
    expect(await latest(back)).toBeUndefined()
    expect((await push(standby, 82)).status).toBe(200)
  }, 180_000)

  test('a standby without the master key of its primary refuses to start and says why', async () => {
    const child = Bun.spawnSync(
      [binary(), 'serve', '--replica', '--standby', 'auto', '--data', join(dir, 'keyless')],
      {
        env: {
          PATH: process.env.PATH,
          WELLHEAD_NATS_SERVERS: nats.url,
          WELLHEAD_REPLICA_PRIMARY: standby.url,
        },
        stderr: 'pipe',
        stdout: 'ignore',
      },
    )
    expect({ exitCode: child.exitCode, stderr: child.stderr.toString() }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('master key'),
    })
  })
})
