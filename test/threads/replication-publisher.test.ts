import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import { backup, lockOf, restore } from '../../src/cli/backups/backup.ts'
import { promote, promoteFromHere } from '../../src/cli/replication/promote.ts'
import { loadConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { type Instance, openInstance } from '../../src/instance/instance.ts'
import { databasePath } from '../../src/instance/services/directory.ts'
import { createRandomIds } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log/log.ts'
import { masterKeyPath } from '../../src/lib/secrets/master-key.ts'
import { createSystemClock } from '../../src/lib/time/clock.ts'
import { connectNats, type Nats } from '../../src/replication/nats/connection.ts'
import { changeHeaders } from '../../src/replication/service/changes.ts'
import { snapshots } from '../../src/replication/service/snapshots.ts'
import { createApplier } from '../../src/replication/store/applier.ts'
import type { Delta } from '../../src/replication/store/delta.ts'
import { createReplicationState } from '../../src/replication/store/state.ts'
import { startWith } from '../support/instance/binary.ts'
import { needs } from '../support/needs.ts'
import { type NatsServer, natsServer } from '../support/servers/nats.ts'
import { contentOf } from '../support/topics/replication.ts'
import { until as waitUntil } from '../support/until.ts'

needs('nats-server').describe('a primary with NATS', () => {
  let server: NatsServer
  let nats: Nats
  let dir: string
  let instance: Instance
  let log: string[]

  const open = ({
    natsServers = server.url,
    serving = true,
    standby = 'off',
    prefix = 'wellhead',
  } = {}) => {
    const clock = createSystemClock()
    instance = openInstance({
      runtime: {
        config: loadConfig({
          flags: {
            'nats.servers': natsServers,
            'nats.standby': standby,
            'nats.prefix': prefix,
            'readers.threads': '0',
            'data.reserve_mb': '0',
          },
          env: {},
          files: { directory: '/' },
          readFile: () => undefined,
        }),
        clock,
        ids: createRandomIds(),
        log: createLog({
          level: 'info',
          format: 'json',
          write: line => void log.push(line),
          clock,
        }),
      },
      dir,
      serving,
    })
    if (serving) instance.runner.start()
  }
  const until = (what: string, isSo: () => unknown) =>
    waitUntil(what, isSo, 45_000, () => `the log says:\n${log.slice(-20).join('')}`)
  const metric = async (name: string) => {
    const response = await instance.app.handle(
      new Request('http://localhost/metrics', {
        headers: { authorization: `Bearer ${adminToken}` },
      }),
    )
    return Number(new RegExp(`^${name} (.+)$`, 'm').exec(await response.text())?.[1])
  }
  let adminToken: string
  const record = (code: string, price: number, observedAt = Date.now()) => {
    const { series } = instance.services.catalogue.resolve(code, Date.now())!
    instance.services.ingest.write([{ seriesId: series.id, observedAt, value: price }])
  }
  const published = () =>
    until(
      'the end of the backlog',
      async () => (await metric('wellhead_replication_backlog')) === 0,
    )
  /** After this no job writes, and the stream has everything that was written. */
  const quiet = async () => {
    instance.runner.stop()
    await instance.runner.tick()
    await published()
  }
  const deltas = async () => {
    const { state } = await nats.manager.streams.info('wellhead-changes')
    const result: Delta[] = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq++)
      result.push(
        (await nats.manager.streams.getMessage('wellhead-changes', { seq }))!.json<Delta>(),
      )
    return result
  }

  beforeEach(async () => {
    log = []
    server = await natsServer()
    nats = await connectNats({
      servers: [server.url],
      credentialsFile: '',
      token: '',
      name: 'test',
    })
    dir = mkdtempSync(join(tmpdir(), 'wellhead-publishing-'))
    open()
    adminToken = instance.services.adminTokens.rotate()
  })
  afterEach(async () => {
    instance.close()
    await nats.close()
    await server.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  test('a snapshot and the log that comes after it are the whole database', async () => {
    record('WTI_USD', 70)
    let [taken] = await snapshots(nats, 1).catch(() => [])
    await until('a snapshot', async () => {
      taken ??= (await snapshots(nats, 1).catch(() => []))[0]
      return taken
    })
    for (let i = 0; i < 50; i++) record('BRENT_CRUDE_USD', 80 + i, Date.now() - i * 60_000)
    instance.services.settings.set('colour', 'green')
    await quiet()
    const blob = await (await nats.objects('wellhead-snapshots', 1)).getBlob(taken!.name)
    await Bun.write(join(dir, 'copy.db'), blob!)
    const copy = openDatabase(join(dir, 'copy.db'))
    copy.run('PRAGMA foreign_keys = OFF')
    const apply = createApplier(copy)
    for (const delta of await deltas()) if (delta.upTo > taken!.sequence) apply(delta)
    expect(Object.fromEntries(contentOf(copy))).toEqual(
      Object.fromEntries(contentOf(instance.services.db)),
    )
    copy.close()
  })

  test('the log is published once and in its order, over stops of either side', async () => {
    record('WTI_USD', 70)
    await published()
    instance.close()
    open()
    record('WTI_USD', 71)
    await published()
    await server.stop()
    record('WTI_USD', 72)
    expect(await metric('wellhead_replication_backlog')).toBeGreaterThan(0)
    await server.start()
    await quiet()
    const all = await deltas()
    expect(all.map(delta => delta.after).slice(1)).toEqual(
      all.map(delta => delta.upTo).slice(0, -1),
    )
    expect(all.at(-1)!.upTo).toBe(await metric('wellhead_replication_position'))
  })

  test('the NATS subject of a code contains its newest price as the API returns it', async () => {
    record('WTI_USD', 70)
    record('WTI_USD', 71.5, Date.now() + 1)
    const price = async () =>
      (
        await nats.manager.streams.getMessage('wellhead-prices', {
          last_by_subj: 'wellhead.prices.crude_oil.WTI_USD',
        })
      )?.json<{ price: number }>()
    await until('the price', async () => (await price().catch(() => undefined))?.price === 71.5)
    const token = instance.services.keys.addKey(
      instance.services.keys.putAccount({
        id: instance.services.ids.uuid(),
        email: 'desk@example.com',
        plan: 'enterprise',
        addOns: [],
        trialStartedAt: null,
        trialEndsAt: null,
        emailConfirmedAt: 1,
        suspendedAt: null,
        createdAt: 1,
      }),
    ).token
    const answer = await instance.app.handle(
      new Request('http://localhost/v1/prices/latest?by_code=WTI_USD', {
        headers: { authorization: `Token ${token}` },
      }),
    )
    const { data } = (await answer.json()) as { data: { price: number } }
    // Clients without a profile get more names for the same values.
    expect(data).toMatchObject((await price())!)
    const document = Bun.YAML.parse(
      await Bun.file(resolve(import.meta.dir, '../../docs/nats/asyncapi.yaml')).text(),
    ) as { components: { schemas: Record<string, object> } }
    const ajv = addFormats(new Ajv({ strict: false }))
    ajv.addSchema({ $id: 'doc', components: document.components })
    const valid = (name: string, value: unknown) => {
      const check = ajv.getSchema(`doc#/components/schemas/${name}`)!
      expect({ check: check(value), errors: check.errors }).toEqual({ check: true, errors: null })
    }
    valid('Price', data)
    await published()
    for (const delta of await deltas()) valid('Delta', delta)
  })

  test('the price of a series for chosen accounts is not published, and an earlier one is removed', async () => {
    const operate = async (method: string, path: string, body: object) => {
      const answer = await instance.app.handle(
        new Request(`http://localhost/admin/v1${path}`, {
          method,
          headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )
      expect([answer.status < 300, answer.status < 300 ? '' : await answer.text()]).toEqual([
        true,
        '',
      ])
    }
    const terms = { name: 'A mark', category: 'crude_oil', unit: 'barrel', currency: 'USD' }
    const visible_to = ['00000000-0000-4000-8000-000000000001']
    await operate('POST', '/series', { code: 'DESK_SECRET_USD', ...terms, visible_to })
    await operate('POST', '/series', { code: 'DESK_OPEN_USD', ...terms })
    record('DESK_SECRET_USD', 70)
    record('DESK_OPEN_USD', 70)
    const subjects = async () => {
      // The stream is not there before the publisher is.
      const info = await nats.manager.streams
        .info('wellhead-prices', { subjects_filter: '>' })
        .catch(() => undefined)
      return Object.keys(info?.state.subjects ?? {}).filter(subject => subject.includes('DESK'))
    }
    await until('the open price', async () => (await subjects()).length > 0)
    await published()
    expect(await subjects()).toEqual(['wellhead.prices.crude_oil.DESK_OPEN_USD'])
    await operate('PATCH', '/series/DESK_OPEN_USD', { visible_to })
    await until('that it is gone', async () => (await subjects()).length === 0)
    await operate('PATCH', '/series/DESK_OPEN_USD', { visible_to: null })
    await until('that it is back', async () => (await subjects()).length > 0)
    expect(await subjects()).toEqual(['wellhead.prices.crude_oil.DESK_OPEN_USD'])
  })

  test('the programs of the documentation print prices', async () => {
    record('WTI_USD', 70.25)
    await published()
    const commands = [
      [process.execPath, 'docs/nats/prices.ts'],
      ...(needs('nats-py').isMet ? [['python3', 'docs/nats/prices.py']] : []),
    ]
    for (const command of commands) {
      const program = Bun.spawn([...command, server.url, 'wellhead.prices.crude_oil.WTI_USD'], {
        cwd: resolve(import.meta.dir, '../..'),
        stdout: 'pipe',
        stderr: 'inherit',
      })
      let line = ''
      for await (const chunk of program.stdout) {
        line += new TextDecoder().decode(chunk)
        if (line.includes('\n')) break
      }
      program.kill()
      expect(line).toStartWith('wellhead.prices.crude_oil.WTI_USD 70.25 USD ')
    }
  })

  const publishedPrices = async () =>
    (await deltas()).flatMap(({ ranges }) =>
      ranges.flatMap(({ observations }) => observations.map(cells => cells[2])),
    )
  /**
   * A client whose server has just restarted may send before it is connected, so it tries again.
   */
  const met = () =>
    until('NATS', () =>
      nats.manager.streams.info('wellhead-changes').then(
        () => true,
        () => false,
      ),
    )
  const epochOf = async () =>
    (await nats.manager.streams.info('wellhead-changes')).state.messages === 0
      ? undefined
      : (
          await nats.manager.streams.getMessage('wellhead-changes', {
            last_by_subj: 'wellhead.changes',
          })
        )?.header.get(changeHeaders.replicationEpoch)

  test('what a command writes between two starts is published, also by one that knows no NATS', async () => {
    record('WTI_USD', 70)
    await published()
    const before = await epochOf()
    instance.close()
    open({ natsServers: '', serving: false })
    record('WTI_USD', 71)
    instance.close()
    open()
    await published()
    expect(await epochOf()).toBe(before!)
    expect(await publishedPrices()).toContain(71)
  })

  test('a server without NATS logs nothing, and the next with it begins a new replication epoch', async () => {
    record('WTI_USD', 70)
    await published()
    const before = await epochOf()
    instance.close()
    open({ natsServers: '' })
    record('WTI_USD', 71)
    instance.close()
    // A command does not begin to log in between.
    open({ natsServers: server.url, serving: false })
    record('WTI_USD', 72)
    instance.close()
    open()
    record('WTI_USD', 73)
    await until('its first change in the stream', async () => (await epochOf()) !== before)
    expect(log.some(line => line.includes('replication_epoch_started'))).toBe(true)
  })

  test('replicationEpochs that began while NATS was away are followed back to the one that published', async () => {
    record('WTI_USD', 70)
    await published()
    const before = await epochOf()
    await server.stop()
    for (let time = 0; time < 2; time++) {
      instance.close()
      open({ natsServers: '' })
      instance.close()
      open()
    }
    await server.start()
    await met()
    record('WTI_USD', 71)
    await published()
    expect(await epochOf()).not.toBe(before)
    expect(log.filter(line => line.includes('replication_epoch_started')).length).toBe(2)
    expect(log.some(line => line.includes('"replaced"'))).toBe(false)
  })

  test('a command logs nothing where no server has published yet', async () => {
    instance.close()
    rmSync(dir, { recursive: true })
    dir = mkdtempSync(join(tmpdir(), 'wellhead-publishing-'))
    open({ serving: false })
    record('WTI_USD', 70)
    expect(instance.services.db.query('SELECT count(*) AS n FROM changes').get()).toEqual({ n: 0 })
  })

  test('a restored database continues as a new replication epoch', async () => {
    record('WTI_USD', 70)
    await published()
    instance.close()
    const copy = join(dir, 'old.db')
    backup(dir, copy)
    open()
    record('WTI_USD', 71)
    await published()
    const before = await epochOf()
    instance.close()
    restore(dir, copy, { at: Date.now(), ids: createRandomIds() })
    open()
    await until('a new replication epoch', () =>
      log.some(line => line.includes('replication_epoch_started')),
    )
    record('WTI_USD', 72)
    await until('its first change in the stream', async () => (await epochOf()) !== before)
    expect(log.some(line => line.includes('not_publishing'))).toBe(false)
  })

  test('a restored database is known as such after starts without NATS', async () => {
    const last = async () =>
      await nats.manager.streams.getMessage('wellhead-changes', {
        last_by_subj: 'wellhead.changes',
      })
    record('WTI_USD', 70)
    await published()
    instance.close()
    const copy = join(dir, 'old.db')
    backup(dir, copy)
    open()
    record('WTI_USD', 71)
    await published()
    instance.close()
    // A job may have written, and its change left, until the instance was closed.
    const before = (await last())!
    restore(dir, copy, { at: Date.now(), ids: createRandomIds() })
    await server.stop()
    open()
    expect(await metric('wellhead_replication_backlog')).toBeNaN()
    for (let i = 0; i < 100; i++) record('WTI_USD', 72 + i, Date.now() + i)
    instance.close()
    await server.start()
    await met()
    open()
    await published()
    const after = (await last())!
    expect(after.header.get(changeHeaders.replicationEpoch)).not.toBe(
      before.header.get(changeHeaders.replicationEpoch),
    )
    const { state } = await nats.manager.streams.info('wellhead-changes')
    const next = await nats.manager.streams.getMessage('wellhead-changes', { seq: before.seq + 1 })
    expect([state.last_seq > before.seq, next!.json<Delta>().after]).toEqual([
      true,
      expect.any(Number),
    ])
    expect(next!.json<Delta>().after).toBeLessThan(
      Number(before.header.get(changeHeaders.position)),
    )
  })

  describe('that is replaced', () => {
    const config = (data: string) =>
      loadConfig({
        flags: { 'nats.servers': server.url, 'readers.threads': '0', 'data.dir': data },
        env: {},
        files: { directory: '/' },
        readFile: () => undefined,
      })
    const deps = () => ({ clock: createSystemClock(), ids: createRandomIds(), out: () => {} })
    const promoted = (data: string) => {
      mkdirSync(data, { recursive: true })
      copyFileSync(masterKeyPath(dir), masterKeyPath(data))
      return promote(config(data), deps())
    }
    const snapshot = () =>
      until('a snapshot', async () => (await snapshots(nats, 1).catch(() => [])).length > 0)

    test('leaves everything to the next, and writes nothing from then on', async () => {
      record('WTI_USD', 70)
      await snapshot()
      for (let i = 0; i < 20; i++) record('BRENT_CRUDE_USD', 80 + i, Date.now() - i * 60_000)
      await quiet()
      const before = contentOf(instance.services.db)
      const next = join(dir, 'next')
      expect(await promoted(next)).toBe(0)
      const copy = openDatabase(databasePath(next), { readonly: true })
      // Only the feed of changes continues with a different line.
      const withoutLines = (content: ReturnType<typeof contentOf>) =>
        Object.fromEntries([...content].filter(([table]) => table !== 'change_lines'))
      expect(withoutLines(contentOf(copy))).toEqual(withoutLines(before))
      copy.close()

      record('WTI_USD', 99)
      await until('the end of the old', () => log.some(line => line.includes('"replaced"')))
      expect(() => record('WTI_USD', 100)).toThrow('readonly')
      instance.close()
      expect(open).toThrow('another instance took over')

      dir = next
      open({ natsServers: '', serving: false })
      record('WTI_USD', 69)
      instance.close()
      open()
      record('WTI_USD', 71)
      await published()
      expect(await publishedPrices()).toContain(69)
      const wti = instance.services.catalogue.resolve('WTI_USD', Date.now())!.series
      expect(instance.services.latestPrices.quote(wti)?.observation.value).toBe(71)
    })

    test('stays the primary where the next could not start', async () => {
      const { account } = instance.services.keyChanges.createAccount({ email: 'ann@example.com' })!
      instance.services.accountSecrets.roll(account.account.id)
      record('WTI_USD', 70)
      await snapshot()
      await published()
      const next = join(dir, 'next')
      await expect(promote(config(next), deps())).rejects.toThrow(
        `copy it to ${masterKeyPath(next)}. Nothing was changed.`,
      )
      expect(existsSync(next)).toBe(false)
      mkdirSync(next)
      writeFileSync(masterKeyPath(next), 'fedcba9876543210'.repeat(4))
      await expect(promote(config(next), deps())).rejects.toThrow(
        'does not open what is sealed in the stream',
      )
      const lock = lockOf(next, 'serve', Date.now())
      await expect(promote(config(next), { ...deps(), withoutMasterKey: true })).rejects.toThrow(
        'is in use; stop the server first',
      )
      lock.release()
      record('WTI_USD', 71)
      await published()
      expect(log.filter(line => line.includes('"replaced"'))).toEqual([])
      expect(await promote(config(next), { ...deps(), withoutMasterKey: true })).toBe(0)
    })

    test('gives up the lease that it holds, so that the next may write', async () => {
      instance.close()
      open({ standby: 'auto' })
      await until('the lease', async () => (await metric('wellhead_replication_lease_epoch')) > 0)
      record('WTI_USD', 70)
      await snapshot()
      await published()
      const next = join(dir, 'next')
      await promoted(next)
      const old = instance
      record('WTI_USD', 99)
      await until('the end of the old', () => log.some(line => line.includes('"replaced"')))
      dir = next
      log = []
      open({ standby: 'auto' })
      await until('the lease', () => log.some(line => line.includes('"lease_held"')))
      record('WTI_USD', 71)
      old.close()
    })

    test('may be replaced again before there is another snapshot', async () => {
      record('WTI_USD', 70)
      await snapshot()
      await promoted(join(dir, 'second'))
      expect(await promoted(join(dir, 'third'))).toBe(0)
    })

    const fromHere = (data: string, natsServers = server.url) =>
      promoteFromHere(
        loadConfig({
          flags: { 'nats.servers': natsServers, 'readers.threads': '0', 'data.dir': data },
          env: {},
          files: { directory: '/' },
          readFile: () => undefined,
        }),
        { clock: createSystemClock(), ids: createRandomIds(), out: () => {} },
      )

    test('comes back with "promote --from-here", and what took over from it ends', async () => {
      record('WTI_USD', 70)
      await snapshot()
      await published()
      const first = dir
      const second = mkdtempSync(join(tmpdir(), 'wellhead-publishing-'))
      await promoted(second)
      record('WTI_USD', 99)
      await until('the end of the old', () => log.some(line => line.includes('"replaced"')))
      instance.close()
      expect(open).toThrow('--from-here')
      dir = second
      log = []
      open()
      record('WTI_USD', 71)
      await published()
      const other = instance
      expect(await fromHere(first)).toBe(0)
      dir = first
      log = []
      open()
      record('WTI_USD', 72)
      await published()
      const wti = instance.services.catalogue.resolve('WTI_USD', Date.now())!.series
      expect(instance.services.latestPrices.quote(wti)?.observation.value).toBe(72)
      await until('the end of the other', () => log.some(line => line.includes('"replaced"')))
      expect(() => other.services.settings.set('colour', 'red')).toThrow('readonly')
      expect(await metric('wellhead_replication_publishing')).toBe(1)
      other.close()
      rmSync(second, { recursive: true })
    })

    test('a replaced instance can resume without NATS, whatever is recorded as its replacement', async () => {
      record('WTI_USD', 70)
      instance.close()
      const db = openDatabase(databasePath(dir))
      createReplicationState(db).set('replaced_by', 'the stream has gone on as replication epoch ')
      db.close()
      expect(open).toThrow('another instance took over')
      await fromHere(dir, '')
      open({ natsServers: '' })
      record('WTI_USD', 71)
      instance.close()
      open()
      record('WTI_USD', 72)
      await published()
    })

    test('a promotion that lacks a snapshot is refused with what is missing', async () => {
      await snapshot()
      const objects = await nats.objects('wellhead-snapshots', 1)
      for (const { name } of await objects.list()) await objects.delete(name)
      await expect(promoted(join(dir, 'next'))).rejects.toThrow('has no snapshot')
    })
  })

  const streamNames = async () => {
    const names: string[] = []
    for await (const { config } of nats.manager.streams.list()) names.push(config.name)
    return names.sort()
  }

  test('streams of a version without a prefix are moved to their new names with all that they have', async () => {
    instance.close()
    for (const name of await streamNames()) await nats.manager.streams.delete(name)
    open({ prefix: '' })
    record('WTI_USD', 70)
    record('BRENT_CRUDE_USD', 80)
    await published()
    const all = async (stream: string) => {
      const { state } = await nats.manager.streams.info(stream)
      const bodies: string[] = []
      for (let seq = state.first_seq; seq <= state.last_seq; seq++)
        bodies.push((await nats.manager.streams.getMessage(stream, { seq }))!.string())
      return bodies
    }
    const before = await all('changes')
    expect(before.length).toBeGreaterThan(0)
    instance.close()
    // A replica has reported, and no one has counted it yet.
    await nats.jetstream.publish(
      'usage',
      JSON.stringify({
        usage: [
          {
            keyId: 'a-key',
            endpoint: 'GET /v1/prices/latest',
            hourAt: 0,
            statusClass: 2,
            requests: 7,
            metered: 7,
            durationUs: 1,
            lastUsedAt: 1,
            prepaid: 0,
          },
        ],
        returned: [],
      }),
    )
    open()
    record('WTI_USD', 71)
    await published()
    const after = await all('wellhead-changes')
    expect(after.slice(0, before.length)).toEqual(before)
    const parts = (await deltas()).slice(before.length - 1)
    expect(parts.slice(1).map(delta => delta.after)).toEqual(
      parts.slice(0, -1).map(delta => delta.upTo),
    )
    const names = await streamNames()
    expect(names).toContain('wellhead-usage')
    for (const name of ['changes', 'prices', 'usage']) expect(names).not.toContain(name)
    expect((await all('wellhead-usage')).some(report => report.includes('a-key'))).toBe(true)
    const taken = () => instance.services.settings.get('replication.usage_taken')
    await until('that it is counted', () => taken()?.startsWith('1 '))
    const price = await nats.manager.streams.getMessage('wellhead-prices', {
      last_by_subj: 'wellhead.prices.crude_oil.BRENT_CRUDE_USD',
    })
    expect(price?.json<{ price: number }>().price).toBe(80)
  })

  test('a foreign stream that is named changes is left untouched', async () => {
    instance.close()
    await nats.manager.streams.add({ name: 'changes', subjects: ['changes'] })
    await nats.jetstream.publish('changes', 'theirs')
    open()
    record('WTI_USD', 70)
    await published()
    const theirs = await nats.manager.streams.getMessage('changes', { seq: 1 })
    expect(theirs?.string()).toBe('theirs')
  })

  test('a write is acknowledged only once the stream has it if the instance is configured to wait', async () => {
    const data = mkdtempSync(join(tmpdir(), 'wellhead-commit-'))
    const own = await natsServer()
    const stream = await connectNats({
      servers: [own.url],
      credentialsFile: '',
      token: '',
      name: 'test',
    })
    await Bun.write(
      join(data, 'data', 'wellhead.toml'),
      `[nats]\nservers = ["${own.url}"]\nsync = "commit"\n`,
    )
    const main = resolve(import.meta.dir, '../../src/main.ts')
    const running = await startWith([process.execPath, main], 'serve', data)
    const push = (price: number) =>
      fetch(`${running.url}/admin/v1/observations`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${running.adminToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          observations: [{ code: 'WTI_USD', observed_at: new Date().toISOString(), price }],
        }),
      })
    // The server listens before its connection to NATS is there.
    await until('a write is acknowledged', async () => (await push(70)).status === 200)
    const { state } = await stream.manager.streams.info('wellhead-changes')
    const inStream: string[] = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq++)
      inStream.push(
        (await stream.manager.streams.getMessage('wellhead-changes', { seq }))!.string(),
      )
    expect(inStream.some(text => text.includes('"ranges":[{"seriesId"'))).toBe(true)
    await own.stop()
    const refused = await push(71)
    expect({ status: refused.status, errorCode: refused.headers.get('x-error-code') }).toEqual({
      status: 503,
      errorCode: 'STORAGE_UNAVAILABLE',
    })
    await running.stop()
    await stream.close()
    await own.remove()
    rmSync(data, { recursive: true })
  })
})
