import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { receiver } from '../../../support/servers/receiver.ts'
import {
  openSourceInstance,
  row,
  rowServer,
  type SourceInstance,
} from '../../../support/topics/sources.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const each of undo.splice(0)) await each()
})
const serve = (answer?: Parameters<typeof rowServer>[0]) => {
  const server = rowServer(answer)
  undo.push(server.stop)
  return server
}
const api = (url: string, more: Record<string, unknown> = {}) => ({
  source_type: 'api',
  scraper_config: { url, ...more },
})
const newest = (instance: SourceInstance, id: string) =>
  instance.services.dataSources.logs(instance.source(id))[0]!
const rowsOf = (instance: SourceInstance, id: string) =>
  instance.services.dataSources.newestRows(instance.source(id), 100)

describe('createSourceSync: a source of type api', () => {
  test('an api source is synced through the address check, and only changed prices replace stored rows', async () => {
    let price = 531.5
    const { url, requests } = serve(() =>
      Response.json({
        data: [
          { ...row, price },
          { ...row, port: 'RTM', price: 509 },
        ],
      }),
    )
    const instance = openSourceInstance()
    const id = await instance.make(api(url, { items: 'data', interval_minutes: 30 }))
    expect(instance.source(id)).toMatchObject({
      status: 'pending',
      nextSyncAt: instance.clock.now(),
      lastSyncAt: null,
    })
    await instance.syncAll()
    expect(newest(instance, id)).toMatchObject({
      status: 'success',
      trigger: 'schedule',
      received: 2,
      inserted: 2,
      revised: 0,
      unchanged: 0,
      rejected: 0,
    })
    const [start, half] = [instance.clock.now(), 30 * 60_000]
    expect(instance.source(id)).toMatchObject({
      status: 'active',
      lastSyncAt: start,
      nextSyncAt: start + half,
      successfulSyncs: 1,
      lastError: null,
    })
    expect(rowsOf(instance, id).map(row => [row.port, row.price])).toEqual([
      ['ROTTERDAM', 509],
      ['SINGAPORE', 531.5],
    ])
    instance.clock.advance(half - 1)
    await instance.syncAll()
    expect(requests.length).toBe(1)
    instance.clock.advance(1)
    await instance.syncAll()
    expect(newest(instance, id)).toMatchObject({ inserted: 0, revised: 0, unchanged: 2 })
    price = 540
    instance.clock.advance(half)
    await instance.syncAll()
    expect(newest(instance, id)).toMatchObject({ inserted: 0, revised: 1, unchanged: 1 })
    expect(rowsOf(instance, id).map(row => row.price)).toEqual([509, 540])
    expect(requests.length).toBe(3)
  })

  test('an api source is requested with its credentials and without compression', async () => {
    const { url, requests } = serve()
    const instance = openSourceInstance()
    await instance.make({ ...api(url), credentials: { token: 'a-bearer-token' } })
    await instance.make({ ...api(url), credentials: { username: 'me', password: 'a password' } })
    await instance.make({
      ...api(url, { auth_header: 'X-Key' }),
      credentials: { api_key: 'a-key-of-mine' },
    })
    await instance.syncAll()
    const sent = (name: string) => requests.map(request => request.headers.get(name) ?? null)
    expect(new Set(sent('authorization'))).toEqual(
      new Set(['Bearer a-bearer-token', `Basic ${btoa('me:a password')}`, null]),
    )
    expect(sent('x-key').filter(Boolean)).toEqual(['a-key-of-mine'])
    expect(sent('accept-encoding')).toEqual(['identity', 'identity', 'identity'])
    expect(requests.map(request => request.method)).toEqual(['GET', 'GET', 'GET'])
  })

  test('an api source that is partly invalid stores its valid rows and names the rest', async () => {
    const { url } = serve(() =>
      Response.json([{ ...row, price: 'n/a' }, row, { ...row, port: '' }]),
    )
    const instance = openSourceInstance()
    const id = await instance.make(api(url))
    await instance.syncAll()
    expect(newest(instance, id)).toMatchObject({
      status: 'success',
      received: 3,
      inserted: 1,
      rejected: 2,
      error: null,
    })
    expect(newest(instance, id).rejections).toEqual([
      expect.stringMatching(/^row 1: price is missing/),
      expect.stringMatching(/^row 3: port is missing/),
    ])
  })

  test.each([
    [
      'a redirect',
      () => Response.redirect('https://example.com/', 302),
      /^the address answered 302: redirects are not followed$/,
    ],
    ['a refusal', () => new Response('no', { status: 403 }), /^the address answered 403$/],
    ['an error', () => new Response('no', { status: 500 }), /^the address answered 500$/],
    [
      'no JSON',
      () => new Response('[{"price":', { headers: { 'content-type': 'application/json' } }),
      /it is not JSON$/,
    ],
    [
      'another shape',
      () => new Response('{"error":[]}'),
      /it is an object: name the list in it with scraper_config.items, such as error$/,
    ],
    [
      'an object',
      () => new Response('{"error":"nothing"}'),
      /^none of the 1 rows could be taken: row 1: price is missing/,
    ],
    ['nothing', () => new Response(''), /it is empty$/],
    [
      'no good row',
      () => Response.json([{ ...row, price: 'x' }]),
      /^none of the 1 rows could be taken: row 1: price x is not a plain number/,
    ],
    [
      'too much',
      () => new Response('x'.repeat(4 * 2 ** 20 + 10)),
      /^the answer is longer than 4 MB$/,
    ],
    [
      'a bomb',
      () => new Response(gzipSync(Buffer.alloc(50 * 2 ** 20))),
      /it is longer than 4 MB when unpacked$/,
    ],
  ])(
    'an api source that responds with %s is marked as failed with the reason',
    async (_, answer, error) => {
      const { url } = serve(answer)
      const instance = openSourceInstance()
      const id = await instance.make(api(url))
      await instance.syncAll()
      expect(newest(instance, id)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(error),
        inserted: 0,
      })
      expect(instance.source(id)).toMatchObject({
        status: 'error',
        failedSyncs: 1,
        failedInARow: 1,
        lastError: expect.stringMatching(error),
      })
      expect(rowsOf(instance, id)).toEqual([])
    },
  )

  test.each([
    ['never answers', () => undefined],
    [
      'drips',
      (socket: { write(text: string): void }) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n['),
    ],
  ])('whose address %s is given up in time', async (_, behave) => {
    const slow = await receiver(behave as never)
    undo.push(slow.close)
    const instance = openSourceInstance({ 'data_sources.timeout': '200ms' })
    const id = await instance.make(api(slow.url))
    await instance.syncAll()
    expect(newest(instance, id)).toMatchObject({
      status: 'failed',
      error: 'no response within 0.2 s',
    })
  })

  test('whose answer ends too early has failed', async () => {
    const torn = await receiver(socket =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n[]'),
    )
    undo.push(torn.close)
    const instance = openSourceInstance()
    const id = await instance.make(api(torn.url))
    await instance.syncAll()
    expect(newest(instance, id).status).toBe('failed')
  })

  test('a failing api source backs off, stops after ten failures and resumes when its owner reactivates it', async () => {
    let isFine = false
    const { url, requests } = serve(() =>
      isFine ? Response.json([row]) : new Response('', { status: 500 }),
    )
    const instance = openSourceInstance()
    const id = await instance.make(api(url, { interval_minutes: 60 }))
    const waits: number[] = []
    for (let i = 0; i < 9; i += 1) {
      await instance.syncAll()
      const { nextSyncAt } = instance.source(id)
      waits.push((nextSyncAt! - instance.clock.now()) / 3_600_000)
      instance.clock.set(nextSyncAt!)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 24, 24, 24, 24])
    await instance.syncAll()
    expect(instance.source(id)).toMatchObject({
      status: 'failed',
      nextSyncAt: null,
      failedSyncs: 10,
    })
    instance.clock.advance(30 * 86_400_000)
    await instance.syncAll()
    expect(requests.length).toBe(10)
    isFine = true
    await instance.ask('PATCH', `/v1/data-sources/${id}`, { data_source: { status: 'active' } })
    expect(instance.source(id)).toMatchObject({
      status: 'active',
      failedInARow: 0,
      nextSyncAt: instance.clock.now(),
    })
    await instance.syncAll()
    expect(instance.source(id)).toMatchObject({
      status: 'active',
      successfulSyncs: 1,
      failedSyncs: 10,
      lastError: null,
    })
  })

  test('that was changed while it was read keeps nothing of that reading, and is read again', async () => {
    const instance = openSourceInstance()
    let id = ''
    const { url, requests } = serve(async () => {
      if (requests.length === 1)
        await instance.ask('PATCH', `/v1/data-sources/${id}`, {
          data_source: { scraper_config: { url: `${url}?second` } },
        })
      return Response.json([{ ...row, price: requests.length }])
    })
    id = await instance.make(api(url))
    await instance.syncAll()
    await instance.syncAll()
    expect(requests.map(request => new URL(request.url).search)).toEqual(['', '?second'])
    expect(rowsOf(instance, id).map(row => row.price)).toEqual([2])
    expect(instance.services.dataSources.logs(instance.source(id)).length).toBe(1)
  })

  test('that was removed or paused while it was read leaves nothing', async () => {
    const instance = openSourceInstance()
    let act = async () => {}
    const { url } = serve(async () => {
      await act()
      return Response.json([row])
    })
    const removed = await instance.make(api(url))
    act = async () => void (await instance.ask('DELETE', `/v1/data-sources/${removed}`))
    await instance.syncAll()
    expect(instance.services.dataSources.byId(removed)).toBeUndefined()
    const paused = await instance.make(api(url))
    act = async () =>
      void (await instance.ask('PATCH', `/v1/data-sources/${paused}`, {
        data_source: { status: 'paused' },
      }))
    await instance.syncAll()
    expect(instance.source(paused)).toMatchObject({
      status: 'paused',
      nextSyncAt: null,
      successfulSyncs: 0,
    })
    expect(instance.services.dataSources.hasRows(instance.source(paused).accountId)).toBe(false)
    await instance.syncAll()
  })
})

describe('createSourceSync: the guard of addresses', () => {
  test('every sync checks its address, so a source whose address became private is not requested', async () => {
    const { url, requests } = serve()
    const open = openSourceInstance()
    const id = await open.make(api(url))
    const closed = openSourceInstance({ 'egress.allow': '' })
    // A source as an older configuration let it be made.
    const account = closed.services.keys.find(closed.token)!.account
    const source = closed.services.dataSources.create(account, {
      name: 'old',
      sourceType: 'api',
      scraperConfig: { url },
    })
    if ('refused' in source) throw new Error('refused')
    await closed.syncAll()
    expect(newest(closed, source.id)).toMatchObject({
      status: 'failed',
      error: 'the target must be an address on the public internet',
    })
    expect(requests.length).toBe(0)
    await open.syncAll()
    expect({ requests: requests.length, status: newest(open, id).status }).toEqual({
      requests: 1,
      status: 'success',
    })
  })
  test('refuses a test too', async () => {
    const { url, requests } = serve()
    const closed = openSourceInstance({ 'egress.allow': '' })
    const account = closed.services.keys.find(closed.token)!.account
    const source = closed.services.dataSources.create(account, {
      name: 'old',
      sourceType: 'api',
      scraperConfig: { url },
    })
    if ('refused' in source) throw new Error('refused')
    const { data } = await closed.ask<{ data: { success: boolean; error: string } }>(
      'POST',
      `/v1/data-sources/${source.id}/test`,
    )
    expect(data.data).toMatchObject({
      success: false,
      error: 'the target must be an address on the public internet',
    })
    expect(requests.length).toBe(0)
  })
})

describe('createSourceSync: a source of type file', () => {
  const directory = () => {
    const dir = mkdtempSync(join(tmpdir(), 'wellhead-sources-'))
    undo.push(() => rmSync(dir, { recursive: true, force: true }))
    mkdirSync(join(dir, 'files/terminal'), { recursive: true })
    return { dir, files: join(dir, 'files') }
  }
  const csv = 'timestamp,fuel_type,port,price\n2026-11-20T09:30:00Z,VLSFO,SIN,531.5\n'
  const file = (path: string) => ({ source_type: 'file', scraper_config: { path } })

  test.each([
    ['today.csv', csv],
    ['terminal/today.csv.gz', gzipSync(csv)],
    ['today.ndjson', `${JSON.stringify(row)}\n`],
    ['today.json', JSON.stringify([row])],
  ])('reads %s below the directory', async (path, content) => {
    const { files } = directory()
    writeFileSync(join(files, path), content)
    const instance = openSourceInstance({ 'data_sources.directory': files })
    const id = await instance.make(file(path))
    await instance.syncAll()
    expect(newest(instance, id)).toMatchObject({ status: 'success', inserted: 1 })
    instance.clock.advance(3_600_000)
    await instance.syncAll()
    expect(newest(instance, id)).toMatchObject({ status: 'success', inserted: 0, unchanged: 1 })
  })

  test.each([
    ['a file outside', 'outside.csv'],
    ['a directory outside', 'link/secret.csv'],
    ['a file inside', 'inside.csv'],
  ])('does not follow a link to %s', async (_, path) => {
    const { dir, files } = directory()
    writeFileSync(join(dir, 'secret.csv'), csv)
    writeFileSync(join(files, 'real.csv'), csv)
    symlinkSync(join(dir, 'secret.csv'), join(files, 'outside.csv'))
    symlinkSync(dir, join(files, 'link'))
    symlinkSync(join(files, 'real.csv'), join(files, 'inside.csv'))
    const instance = openSourceInstance({ 'data_sources.directory': files })
    const id = await instance.make(file(path))
    await instance.syncAll()
    expect(newest(instance, id)).toMatchObject({
      status: 'failed',
      error: 'scraper_config.path goes over a symbolic link, which is not followed',
    })
  })

  test('names no path of the machine where there is nothing to read', async () => {
    const { files } = directory()
    writeFileSync(join(files, 'large.csv'), Buffer.alloc(4 * 2 ** 20 + 1, 32))
    const instance = openSourceInstance({ 'data_sources.directory': files })
    for (const [path, error] of [
      ['missing.csv', 'there is no such file in the directory for files'],
      ['large.csv/x', 'there is no such file in the directory for files'],
      ['terminal', 'scraper_config.path is not a file'],
      ['large.csv', 'the file is longer than 4 MB'],
    ] as const) {
      const id = await instance.make(file(path))
      await instance.syncAll()
      expect(newest(instance, id), path).toMatchObject({ status: 'failed', error })
    }
    expect(instance.log.join('')).not.toContain(files)
  })

  test('does not leave the directory even where its configuration came in by another way', async () => {
    const { dir, files } = directory()
    writeFileSync(join(dir, 'secret.csv'), csv)
    const instance = openSourceInstance({ 'data_sources.directory': files })
    const account = instance.services.keys.find(instance.token)!.account
    for (const path of ['../secret.csv', join(dir, 'secret.csv'), 'terminal/../../secret.csv']) {
      const source = instance.services.dataSources.create(account, {
        name: 'x',
        sourceType: 'file',
        scraperConfig: { path },
      })
      if ('refused' in source) throw new Error('refused')
      await instance.syncAll()
      expect(newest(instance, source.id), path).toMatchObject({ status: 'failed', inserted: 0 })
    }
  })

  test('a file source reports that the operator has not configured a directory', async () => {
    const instance = openSourceInstance()
    const id = await instance.make(file('today.csv'))
    await instance.syncAll()
    expect(newest(instance, id).error).toBe(
      'this service has no directory for files (data_sources.directory)',
    )
  })
})

test.each(['sftp', 'database', 'custom', 'anything-else'])(
  'a source of type %s is stored, and its sync reports that this build does not support the type',
  async type => {
    const instance = openSourceInstance()
    const id = await instance.make({
      source_type: type,
      scraper_config: { host: 'files.example.com' },
      credentials: { password: 'a password' },
    })
    expect(instance.source(id)).toMatchObject({
      status: 'pending',
      sourceType: type,
      scraperConfig: { host: 'files.example.com' },
    })
    await instance.syncAll()
    const error = `this build does not sync sources of type ${type}: only api, file, webhook are`
    expect(instance.source(id)).toMatchObject({
      status: 'error',
      lastError: error,
      nextSyncAt: null,
    })
    instance.clock.advance(30 * 86_400_000)
    await instance.syncAll()
    expect(instance.source(id).failedSyncs).toBe(1)
  },
)

test('an account that has lost the feature or is suspended is not synced, and is again when it has it back', async () => {
  const { url, requests } = serve()
  const instance = openSourceInstance()
  const id = await instance.make(api(url))
  const { keys } = instance.services
  const { account } = keys.find(instance.token)!
  keys.putAccount({ ...account.account, plan: 'starter' })
  await instance.syncAll()
  expect({ length: requests.length, failedSyncs: instance.source(id).failedSyncs }).toEqual({
    length: 0,
    failedSyncs: 0,
  })
  expect(instance.source(id)).toMatchObject({
    nextSyncAt: instance.clock.now() + 3_600_000,
    lastError: expect.stringContaining('plan'),
  })
  keys.putAccount({ ...account.account, plan: 'professional' })
  instance.clock.advance(3_600_000)
  await instance.syncAll()
  expect({ length: requests.length, status: instance.source(id).status }).toEqual({
    length: 1,
    status: 'active',
  })
})

test('credentials that cannot be decrypted with the master key are reported, and no request is sent', async () => {
  const { url, requests } = serve()
  const instance = openSourceInstance()
  const id = await instance.make({ ...api(url), credentials: { token: 'a-bearer-token' } })
  instance.services.db.run("UPDATE data_sources SET credentials = x'00'")
  await instance.syncAll()
  expect(newest(instance, id).error).toBe(
    "the credentials do not open with this service's master key: rotate them",
  )
  expect(requests.length).toBe(0)
})

describe('createDataSources: health', () => {
  test('follows the newest syncs', async () => {
    let isFine = true
    const { url } = serve(() => (isFine ? Response.json([row]) : new Response('', { status: 503 })))
    const instance = openSourceInstance()
    const id = await instance.make(api(url, { interval_minutes: 1 }))
    const health = () => instance.services.dataSources.health(instance.source(id))
    const run = async (fine: boolean, times: number) => {
      isFine = fine
      for (let i = 0; i < times; i += 1) {
        instance.clock.set(instance.source(id).nextSyncAt!)
        await instance.syncAll()
      }
    }
    expect(health()).toMatchObject({
      status: 'healthy',
      successRate: 100,
      last: undefined,
      recentErrors: [],
    })
    await run(true, 2)
    expect(health()).toMatchObject({ status: 'healthy', successRate: 100 })
    await run(false, 2)
    expect(health()).toMatchObject({
      status: 'degraded',
      successRate: 50,
      recentErrors: ['the address answered 503'],
    })
    await run(false, 1)
    expect(health()).toMatchObject({ status: 'down', successRate: 40, last: { status: 'failed' } })
    await run(true, 1)
    expect(health()).toMatchObject({ status: 'degraded', successRate: 50 })
    await run(true, 20)
    expect(health()).toMatchObject({ status: 'healthy', successRate: 100, recentErrors: [] })
  })
})

test('only the newest source rows and sync logs are retained', async () => {
  const instance = openSourceInstance()
  const { url } = serve()
  const id = await instance.make(api(url))
  const { dataSources } = instance.services
  const source = instance.source(id)
  const outcome = {
    trigger: 'push' as const,
    received: 0,
    rejected: 0,
    rejections: [],
    error: null,
    final: false,
    startedAt: 0,
    durationMs: 0,
  }
  const rows = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      observedAt: from + i,
      fuelType: 'VLSFO',
      port: 'X',
      region: null,
      currency: 'USD',
      price: 1,
    }))
  for (const from of [0, 10_000, 20_000])
    dataSources.settle(source, { ...outcome, rows: rows(from, 10_000) })
  const kept = dataSources.newestRows(source, 50_000)
  expect({ kept: kept.length, observedAt: kept.at(-1)!.observedAt }).toEqual({
    kept: 20_000,
    observedAt: 10_000,
  })
  for (let i = 0; i < 1010; i += 1) dataSources.settle(source, { ...outcome, rows: [] })
  expect(instance.services.db.query('SELECT count(*) AS n FROM data_source_syncs').get()).toEqual({
    n: 1000,
  })
  await instance.ask('DELETE', `/v1/data-sources/${id}`)
  await instance.syncAll()
  for (const table of ['data_sources', 'data_source_rows', 'data_source_syncs']) {
    expect(instance.services.db.query(`SELECT count(*) AS n FROM ${table}`).get(), table).toEqual({
      n: 0,
    })
  }
})
