import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Compressors, parquetReadObjects } from 'hyparquet'
import { readsAsOf } from '../../../../src/database/dataset-reads.ts'
import { declaredDatasets } from '../../../../src/database/datasets.ts'
import { createPriceFilesJob, priceFileSource } from '../../../../src/instance/jobs/price-files.ts'
import { operatorAlertsOf } from '../../../../src/instance/services/operator-alerts.ts'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'

const compressors: Compressors = { ZSTD: (input, _size) => Bun.zstdDecompressSync(input) }

interface Listed {
  data: {
    made_at: string
    files: {
      kind: string
      name: string
      size: number
      rows: number
      sha256: string
      changed_at: string
      dataset?: string
    }[]
    datasets: object[]
    count: number
  }
}

const folder = mkdtempSync(join(tmpdir(), 'wellhead-files-'))
let instance: TestInstance
let token: string
let night: () => Promise<void>
const admin = { authorization: '' }

beforeAll(async () => {
  instance = openTestInstance({ 'files.directory': folder })
  token = instance.key('professional')
  admin.authorization = `Bearer ${instance.services.adminTokens.rotate()}`
  instance.record(
    'WTI_USD',
    Array.from({ length: 400 }, (_, i) => 60 + i / 10),
    startAt,
    dayMs,
  )
  instance.record('BRENT_CRUDE_USD', [80, 81], startAt, dayMs)
  const job = createPriceFilesJob({
    files: instance.services.priceFiles,
    ...priceFileSource(instance.services, request =>
      instance.app.handle(new Request(request, { headers: admin })),
    ),
    clock: instance.clock,
    log: instance.services.log,
  })
  night = async () => {
    job.pass()
    await job.settled!()
    // A file that could not be made leaves the one before, which would show as wrong rows.
    expect(instance.services.priceFiles.failures()).toEqual([])
  }
  expect((await instance.get('/v1/files', token)).status).toBe(404)
  await night()
})
afterAll(() => rmSync(folder, { recursive: true }))

const list = async () => ((await (await instance.get('/v1/files', token)).json()) as Listed).data

test('price files contain one file for each year and match their manifest', async () => {
  const { files: all } = await list()
  const files = all.filter(({ dataset }) => dataset === undefined)
  expect(files.map(({ kind, name, rows }) => [kind, name, rows])).toEqual([
    ['prices', '2025.parquet', 76],
    ['prices', '2026.parquet', 326],
    ['vintages', '2025.parquet', 76],
    ['vintages', '2026.parquet', 326],
  ])
  for (const file of files) {
    const answer = await instance.get(`/v1/files/${file.kind}/${file.name}`, token)
    expect(answer.status).toBe(200)
    const bytes = new Uint8Array(await answer.arrayBuffer())
    expect(bytes.length).toBe(file.size)
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(file.sha256)
    expect(Date.parse(answer.headers.get('last-modified')!)).toBe(
      Math.floor(Date.parse(file.changed_at) / 1000) * 1000,
    )
    const rows = await parquetReadObjects({ file: bytes.buffer, compressors })
    const keys = rows.map(row => `${row.code} ${(row.observed_at as Date).toISOString()}`)
    expect(keys).toEqual([...keys].sort())
    expect(rows.length).toBe(file.rows)
  }
})

test('the list of files has those of prices first, then those of other datasets with their kinds', async () => {
  const { files, datasets, count } = await list()
  expect(count).toBe(files.length)
  expect(files.filter(({ dataset }) => dataset !== undefined)).toEqual(datasets as typeof files)
  expect(datasets.length).toBeGreaterThan(10)
  const first = files.findIndex(({ dataset }) => dataset !== undefined)
  expect(files.slice(first).every(({ dataset }) => dataset !== undefined)).toBe(true)
})

test('a file that was not modified since a date is 304 and not charged, unless its tag differs', async () => {
  const name = '/v1/files/prices/2026.parquet'
  const modified = (await instance.get(name, token)).headers.get('last-modified')!
  const earlier = new Date(Date.parse(modified) - 1000).toUTCString()
  const statusOf = async (headers: Record<string, string>) =>
    (await instance.get(name, token, headers)).status
  const used = async () =>
    Number((await instance.get('/v1/account', token)).headers.get('x-ratelimit-used'))
  const before = await used()
  expect(await statusOf({ 'if-modified-since': modified })).toBe(304)
  expect(await used()).toBeLessThanOrEqual(before + 1)
  expect(await statusOf({ 'if-modified-since': earlier })).toBe(200)
  expect(await statusOf({ 'if-modified-since': 'yesterday' })).toBe(200)
  expect(await statusOf({ 'if-modified-since': modified, 'if-none-match': '"other"' })).toBe(200)
})

test('parts of a file are sent, by key and by a signed link', async () => {
  const whole = new Uint8Array(
    await (await instance.get('/v1/files/prices/2026.parquet', token)).arrayBuffer(),
  )
  const link = await instance.get('/v1/files/prices/2026.parquet/link', token)
  const { data } = (await link.json()) as { data: { url: string; expires_at: string } }
  const signed = new URL(data.url).pathname
  for (const [path, key] of [
    ['/v1/files/prices/2026.parquet', token],
    [signed, undefined],
  ] as const) {
    const end = await instance.get(path, key, { range: 'bytes=-100' })
    expect(end.status).toBe(206)
    expect(end.headers.get('content-range')).toBe(
      `bytes ${whole.length - 100}-${whole.length - 1}/${whole.length}`,
    )
    expect(new Uint8Array(await end.arrayBuffer())).toEqual(whole.slice(-100))
    expect((await instance.get(path, key, { range: 'bytes=99999999-' })).status).toBe(416)
  }
  expect((await instance.get(signed.replace('2026.p', '2025.p'))).status).toBe(404)
  expect((await instance.get('/v1/files/prices/..%2Fmanifest.json', token)).status).toBe(404)
})

test('a year whose prices did not change keeps its bytes, another does not', async () => {
  const before = await list()
  instance.clock.advance(dayMs)
  const seriesId = instance.services.catalogue.named('WTI_USD')!.id
  instance.services.ingest.write([{ seriesId, observedAt: startAt + dayMs / 2, value: 99 }])
  await night()
  const after = await list()
  expect(after.files[0]).toEqual(before.files[0]!)
  expect(after.files[1]!.rows).toBe(327)
  expect(after.files[1]!.sha256).not.toBe(before.files[1]!.sha256)
  await night()
  expect((await list()).made_at).toBe(after.made_at)
})

test('vintage files give the state of an export at every moment', async () => {
  const { services, clock } = instance
  const [seriesId, hidden] = ['WTI_USD', 'EUR_USD'].map(code => services.catalogue.named(code)!.id)
  const at = startAt - 5 * dayMs
  const moments = [clock.now()]
  const then = (work: () => void) => {
    clock.advance(60_000)
    work()
    moments.push(clock.now() + 1)
  }
  then(() => services.ingest.write([{ seriesId: seriesId!, observedAt: at, value: 50 }]))
  then(() => services.ingest.write([{ seriesId: seriesId!, observedAt: at, value: 51 }]))
  then(() => services.ingest.withdraw(seriesId!, [at]))
  then(() => services.ingest.write([{ seriesId: seriesId!, observedAt: at, value: 52 }]))
  then(() => services.ingest.write([{ seriesId: hidden!, observedAt: at, value: 1 }]))
  const on = new Date(at).toISOString().slice(0, 10)
  services.quarantine.add({ seriesId: hidden!, fromOn: on, toOn: on, reason: 'x', createdAt: at })
  clock.advance(dayMs)
  await night()
  const link = await instance.get('/v1/files/vintages/2026.parquet/link', token)
  const { data } = (await link.json()) as { data: { url: string } }
  const bytes = await (await instance.get(new URL(data.url).pathname)).arrayBuffer()
  const rows = (await parquetReadObjects({ file: bytes, compressors })) as Record<string, Date>[]
  for (const moment of moments) {
    const asOf = new Date(moment).toISOString()
    const query = `codes=WTI_USD,EUR_USD&start_date=2026-01-01&end_date=2026-12-31&as_of=${asOf}&columns=code,observed_at,price`
    const exported = await (await instance.get(`/v1/export/prices?${query}`, token)).text()
    const known = rows
      .filter(row => row.code !== ('BRENT_CRUDE_USD' as never))
      .filter(row => row.valid_from! <= new Date(moment))
      .filter(row => !row.valid_to || row.valid_to > new Date(moment))
      .map(
        row => `${row.code},${row.observed_at!.toISOString().replace('.000Z', 'Z')},${row.value}`,
      )
    expect([asOf, ...known.sort()]).toEqual([asOf, ...exported.trim().split('\n').slice(1).sort()])
  }
})

test('each other dataset is a file with the rows of an export, for plans that include it', async () => {
  const rows = [
    { date: '2026-10-02', region: 'US', oil: 480, gas: 100, misc: 5, total: 585 },
    { date: '2026-10-09', region: 'US', oil: 479, gas: 101, misc: 5, total: 585 },
  ]
  const capacities = [{ code: 'CUSHING_STORAGE', effective_on: '2026-01-01', capacity: 98 }]
  for (const [name, sent] of Object.entries({
    'rig-counts': rows,
    'storage-capacities': capacities,
  })) {
    const init = {
      method: 'POST',
      headers: { ...admin, 'content-type': 'application/json' },
      body: JSON.stringify({ rows: sent }),
    }
    const url = `http://localhost/admin/v1/datasets/${name}`
    const answer = await instance.app.handle(new Request(url, init))
    expect(answer.status, await answer.text()).toBe(200)
  }
  instance.clock.advance(dayMs)
  await night()
  const namesFor = async (key: string) => {
    const answer = await instance.get('/v1/files', key)
    const { data } = (await answer.json()) as {
      data: { datasets: { kind: string; dataset: string }[] }
    }
    return data.datasets.flatMap(({ kind, dataset }) => (kind === 'datasets' ? dataset : []))
  }
  const [all, less] = [instance.key('enterprise'), instance.key('starter')]
  expect(await namesFor(all)).toEqual(declaredDatasets.map(({ name }) => name))
  expect(await namesFor(less)).not.toContain('rig-counts')
  const path = '/v1/files/datasets/rig-counts.parquet'
  expect((await instance.get(path, less)).status).toBe(403)
  expect((await instance.get(`${path}/link`, less)).status).toBe(403)
  const { account } = instance.services.keys.find(all)!
  const limited = instance.services.keys.addKey(account, { scopes: ['prices'] }).token
  expect((await namesFor(limited)).sort()).toEqual([
    'diesel-stations',
    'surcharge-schedules',
    'surcharges',
  ])
  expect((await instance.get(path, limited)).status).toBe(403)
  expect((await instance.get(`${path}/link`, limited)).status).toBe(403)
  const file = await (await instance.get(path, all)).arrayBuffer()
  const read = await parquetReadObjects({ file, compressors })
  expect(read).toMatchObject(rows)
  expect(read[0]!.recorded_at).toBeInstanceOf(Date)
  const link = await instance.get(`${path}/link`, all)
  const { data } = (await link.json()) as { data: { url: string } }
  const bytes = await (await instance.get(new URL(data.url).pathname)).arrayBuffer()
  expect(bytes).toEqual(file)
})

test('files of vintages have what datasets were at every moment, for those that may read them', async () => {
  const { clock } = instance
  const { db } = instance.services
  const moments: number[] = []
  let seed = 5
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const push = async (name: string, rows: readonly object[]) => {
    const init = {
      method: 'POST',
      headers: { ...admin, 'content-type': 'application/json' },
      body: JSON.stringify({ rows }),
    }
    const answer = await instance.app.handle(
      new Request(`http://localhost/admin/v1/datasets/${name}`, init),
    )
    expect(answer.status, await answer.text()).toBe(200)
    moments.push(clock.now())
    clock.advance(1000 * (1 + random(50)))
  }
  for (let write = 0; write < 25; write += 1) {
    const oil = 470 + random(20)
    const date = ['2026-10-02', '2026-10-09', '2026-10-16'][random(3)]
    await push('rig-counts', [{ date, region: 'US', oil, gas: 100, misc: 5, total: oil + 105 }])
    await push('storage-capacities', [
      {
        code: 'CUSHING_STORAGE',
        effective_on: `2026-0${1 + random(4)}-01`,
        capacity: 90 + random(9),
      },
    ])
  }
  clock.advance(dayMs)
  await night()
  const all = instance.key('enterprise')
  for (const name of ['rig-counts', 'storage-capacities']) {
    const path = `/v1/files/${name}/2026.parquet`
    const file = await (await instance.get(path, all)).arrayBuffer()
    const rows = await parquetReadObjects({ file, compressors })
    expect(rows.some(row => row.valid_to !== null)).toBe(true)
    const declared = declaredDatasets.find(dataset => dataset.name === name)!
    const { columns, from, order } = declared.exported
    const fields = columns.filter(([column]) => column !== 'recorded_at')
    const sql = `SELECT ${fields.map(([column, value]) => `${value} AS "${column}"`).join(', ')} FROM ${from} ORDER BY ${order}`
    for (const at of moments) {
      const asOf = at + random(900)
      const known = rows.flatMap(({ valid_from: begin, valid_to: end, ...row }) =>
        Number(begin) <= asOf && (end === null || Number(end) > asOf) ? row : [],
      )
      const expected = readsAsOf(db, asOf).statement<object>(sql, declared).all()
      expect(known).toEqual(expected)
    }
  }
  expect(
    (await instance.get('/v1/files/rig-counts/2026.parquet', instance.key('starter'))).status,
  ).toBe(403)
  const listed = await (await instance.get('/v1/files', all)).json()
  interface Listed {
    kind: string
    dataset: string
    year: number | null
    url: string
  }
  const { datasets } = (listed as { data: { datasets: Listed[] } }).data
  const years = datasets.filter(({ kind }) => kind !== 'datasets')
  expect(years.map(({ kind, dataset, year }) => [kind, dataset, year])).toEqual(
    expect.arrayContaining(['rig-counts', 'storage-capacities'].map(name => [name, name, 2026])),
  )
  for (const { url } of years)
    expect((await instance.get(new URL(url).pathname, all)).status).toBe(200)
  const link = await instance.get('/v1/files/rig-counts/2026.parquet/link', all)
  const { data } = (await link.json()) as { data: { url: string } }
  const linked = await (await instance.get(new URL(data.url).pathname)).arrayBuffer()
  expect(new Uint8Array(linked)).toEqual(
    new Uint8Array(
      await (await instance.get('/v1/files/rig-counts/2026.parquet', all)).arrayBuffer(),
    ),
  )
  expect((await instance.get('/v1/files/rig-counts/1999.parquet', all)).status).toBe(404)
})

test('a link ends after a day, and plans with the slice of exports get no files', async () => {
  const link = await instance.get('/v1/files/prices/2026.parquet/link', token)
  const { data } = (await link.json()) as { data: { url: string } }
  const signed = new URL(data.url).pathname
  expect((await instance.get(signed)).status).toBe(200)
  instance.clock.advance(dayMs + 1)
  expect((await instance.get(signed)).status).toBe(404)
  const refused = await instance.get('/v1/files', instance.key('free'))
  expect(refused.status).toBe(403)
})

test('plans without files are refused before the first night too', async () => {
  const early = openTestInstance({ 'files.directory': mkdtempSync(join(tmpdir(), 'early-files-')) })
  const statusesOf = async (key: string) => {
    const paths = [
      '/v1/files',
      '/v1/files/prices/2026.parquet',
      '/v1/files/prices/2026.parquet/link',
    ]
    return await Promise.all(paths.map(async path => (await early.get(path, key)).status))
  }
  expect(await statusesOf(early.key('free'))).toEqual([403, 403, 403])
  expect(await statusesOf(early.key('professional'))).toEqual([404, 404, 404])
})

test('ranges of one version of a file take one slot of the rate limit in a minute', async () => {
  const used = async () => {
    const limits = (await instance.get('/v1/usage', token)).headers.get('ratelimit')
    return -Number(/"burst";r=(\d+)/.exec(limits!)![1])
  }
  const read = async (range: string) => {
    const answer = await instance.get('/v1/files/prices/2026.parquet', token, { range })
    expect(answer.status).toBe(206)
    await answer.arrayBuffer()
  }
  const before = await used()
  for (let i = 0; i < 20; i += 1) await read(`bytes=${i * 10}-${i * 10 + 9}`)
  expect((await used()) - before).toBe(2)
  // A whole file takes a slot, and after a minute a part does so again.
  await instance.get('/v1/files/prices/2026.parquet', token)
  expect((await used()) - before).toBe(4)
  instance.clock.advance(61_000)
  const later = await used()
  await read('bytes=0-9')
  await read('bytes=10-19')
  expect((await used()) - later).toBe(2)
})

test('a file that cannot be made stays as it was and stops no other, and is reported until it is made', async () => {
  const own = mkdtempSync(join(tmpdir(), 'wellhead-files-'))
  try {
    const whole = openTestInstance({ 'files.directory': own })
    const { priceFiles, log, datasets } = whole.services
    const headers = { authorization: `Bearer ${whole.services.adminTokens.rotate()}` }
    whole.record('WTI_USD', [60, 61, 62], startAt, dayMs)
    let refuses = /history=true/
    const job = createPriceFilesJob({
      files: priceFiles,
      ...priceFileSource(whole.services, request =>
        refuses.test(request.url)
          ? new Response('no room', { status: 500 })
          : whole.app.handle(new Request(request, { headers })),
      ),
      clock: whole.clock,
      log,
    })
    const night = async (ms: number) => {
      whole.clock.advance(ms)
      job.pass()
      await job.settled!()
      return (await priceFiles.manifest())!
    }
    const names = ({ files }: { files: readonly { kind: string; name: string }[] }) =>
      files.map(({ kind, name }) => `${kind}/${name}`)
    const first = await night(0)
    expect(names(first)).toContain('prices/2026.parquet')
    expect(names(first)).not.toContain('vintages/2026.parquet')
    expect(first.files.length).toBeGreaterThan(datasets.length)
    expect(priceFiles.failures()).toEqual([
      { kind: 'vintages', name: '2026.parquet', reason: expect.stringContaining('no room') },
    ])
    expect(operatorAlertsOf(whole.services).find(({ id }) => id === 'price files')?.text).toContain(
      'vintages/2026.parquet',
    )
    // An hour later only what failed is made.
    refuses = /format=parquet&start|datasets/
    const second = await night(61 * 60_000)
    expect([second.failures.filter(({ name }) => name !== ''), names(second)]).toEqual([
      [],
      expect.arrayContaining(['prices/2026.parquet', 'vintages/2026.parquet']),
    ])
    // The next night one fails again: the file of the night before is still listed.
    refuses = /format=parquet&start/
    whole.record('WTI_USD', [63], startAt + dayMs, dayMs)
    const third = await night(dayMs)
    expect(names(third)).toContain('prices/2026.parquet')
    expect(third.failures.map(({ kind }) => kind)).toEqual(['prices'])
    refuses = /nothing/
    const last = await night(61 * 60_000)
    expect({ last: last.failures, priceFiles: priceFiles.failures() }).toEqual({
      last: [],
      priceFiles: [],
    })
    expect(last.files.find(({ kind }) => kind === 'prices')!.rows).toBe(4)
  } finally {
    rmSync(own, { recursive: true })
  }
})

test('a year of which every value was removed has a vintage file, and no file of prices', async () => {
  const whole = openTestInstance()
  const { catalogue, ingest, adminTokens } = whole.services
  const headers = { authorization: `Bearer ${adminTokens.rotate()}` }
  const removedAt = startAt - 366 * dayMs
  whole.record('WTI_USD', [60], removedAt, dayMs)
  whole.record('WTI_USD', [61], startAt, dayMs)
  whole.clock.advance(1_000)
  ingest.withdraw(catalogue.named('WTI_USD')!.id, [removedAt])
  const { wanted } = priceFileSource(whole.services, request =>
    whole.app.handle(new Request(request, { headers })),
  )
  const { contents } = await wanted()
  expect(
    contents.flatMap(({ kind, of }) =>
      kind === 'prices' || kind === 'vintages' ? `${kind} ${of}` : [],
    ),
  ).toEqual(['prices 2026', 'vintages 2025', 'vintages 2026'])
})

test('a removed value with a wrong year makes a vintage file of that year, and of none between', async () => {
  const whole = openTestInstance()
  const { catalogue, ingest, adminTokens } = whole.services
  const headers = { authorization: `Bearer ${adminTokens.rotate()}` }
  const removedAt = Date.parse('1926-11-20T00:00:00Z')
  whole.record('WTI_USD', [60], removedAt, dayMs)
  whole.record('BRENT_CRUDE_USD', [64], Date.parse('1987-05-04T00:00:00Z'), dayMs)
  whole.record('BRENT_CRUDE_USD', [63], startAt, dayMs)
  whole.clock.advance(1_000)
  ingest.withdraw(catalogue.named('WTI_USD')!.id, [removedAt])
  const { wanted } = priceFileSource(whole.services, request =>
    whole.app.handle(new Request(request, { headers })),
  )
  const { contents } = await wanted()
  expect(
    contents.flatMap(({ kind, of }) =>
      kind === 'prices' || kind === 'vintages' ? `${kind} ${of}` : [],
    ),
  ).toEqual(['prices 1987', 'prices 2026', 'vintages 1926', 'vintages 1987', 'vintages 2026'])
})

test('a year with quarantined values only has no file of prices or vintages', async () => {
  const whole = openTestInstance()
  const { catalogue, ingest, adminTokens, quarantine } = whole.services
  const headers = { authorization: `Bearer ${adminTokens.rotate()}` }
  const seriesId = catalogue.named('WTI_USD')!.id
  const wrongAt = Date.parse('2024-03-01T00:00:00Z')
  const removedAt = wrongAt + dayMs
  whole.record('WTI_USD', [60, 61], removedAt, dayMs)
  whole.record('WTI_USD', [61], startAt, dayMs)
  whole.clock.advance(1_000)
  ingest.withdraw(seriesId, [removedAt])
  quarantine.add({
    seriesId,
    fromOn: '2024-02-29',
    toOn: '2024-03-02',
    reason: 'a wrong feed',
    createdAt: startAt,
  })
  const { wanted } = priceFileSource(whole.services, request =>
    whole.app.handle(new Request(request, { headers })),
  )
  const { contents } = await wanted()
  expect(
    contents.flatMap(({ kind, of }) =>
      kind === 'prices' || kind === 'vintages' ? `${kind} ${of}` : [],
    ),
  ).toEqual(['prices 2026', 'vintages 2026'])
})
