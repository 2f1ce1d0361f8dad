import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { openDatabase } from '../../../../src/database/database.ts'
import { dayMs, isoInstant, isoMillis } from '../../../../src/lib/time/instant.ts'
import { rankOfTable } from '../../../../src/topics/changes/service/dataset-changes.ts'
import {
  createRowVersionReader,
  datasetOfTable,
} from '../../../../src/topics/changes/store/dataset-versions.ts'
import { isFull } from '../../../support/full.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

/** Passes the versions before a number in steps; returns how many steps it took. */
function passUntil(
  versions: ReturnType<typeof createRowVersionReader>,
  entry: Parameters<typeof versions.pass>[0],
  from: number,
): number {
  for (let steps = 0; steps < 1_000; steps += 1) if (versions.pass(entry, from)) return steps
  throw new Error(`version ${from} is not reached in 1,000 steps`)
}

interface RowChange {
  cursor: string
  kind: 'added' | 'revised' | 'deleted'
  dataset: string
  key: Record<string, unknown>
  row: Record<string, unknown> | null
  previous: Record<string, unknown> | null
  source: string | null
  batch: number | null
  recorded_at: string
  retroactive: boolean
  code?: string
}

function opened() {
  const instance = openTestInstance()
  const { services, clock } = instance
  const authorization = `Bearer ${services.adminTokens.rotate()}`
  const token = instance.key()
  const operate = async (method: string, path: string, body: unknown) => {
    clock.advance(60_000)
    const answer = await instance.send(method, `/admin/v1/${path}`, body, undefined, {
      authorization,
    })
    const { data, ...rest } = (await answer.json()) as { data: Record<string, unknown> }
    if (answer.status >= 300) throw new Error(JSON.stringify(rest))
    return data
  }
  const push = (dataset: string, ...rows: object[]) =>
    operate('POST', `datasets/${dataset}`, { rows })
  const read = async (query: string, key = token) => {
    const answer = await instance.get(`/v1/changes?${query}`, key)
    const body = (await answer.json()) as {
      data: { changes: RowChange[]; cursor: string; has_more: boolean }
    }
    return { status: answer.status, ...body.data, body }
  }
  const all = async (dataset: string, limit = 2) => {
    const changes: RowChange[] = []
    for (let since = 'start'; ; ) {
      const page = await read(`since=${since}&dataset=${dataset}&limit=${limit}`)
      changes.push(...page.changes)
      since = page.cursor
      if (!page.has_more) return changes
    }
  }
  return { instance, services, clock, token, operate, push, read, all }
}

const both = 'rig-counts,opec-productions'

/** Rows of few keys and few instants, so that many meet. */
const pastPushes = fc.array(
  fc.record({
    limit: fc.integer({ min: 1, max: 3 }),
    rows: fc.array(
      fc.record({
        dataset: fc.constantFrom('rig-counts', 'opec-productions'),
        month: fc.integer({ min: 1, max: 4 }),
        ago: fc.integer({ min: 1, max: 3 }),
        value: fc.integer({ min: 200, max: 203 }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  }),
  { minLength: 2, maxLength: 8 },
)

const rowOf = ({
  dataset,
  month,
  value,
  recorded_at,
}: {
  dataset: string
  month: number
  value: number
  recorded_at: string
}) =>
  dataset === 'rig-counts'
    ? { ...rigs(value, 'US', `2026-0${month}-13`), recorded_at }
    : {
        country: 'Gabon',
        month: `2026-0${month}`,
        production: value,
        unit: 'thousand_barrels_per_day',
        recorded_at,
      }

const rigs = (oil: number, region = 'US', date = '2026-11-13') => ({
  date,
  region,
  oil,
  gas: 120,
  misc: 6,
})
const told = ({ kind, key, row, previous }: RowChange) => [
  kind,
  key.region ?? key.api_number ?? key.contract,
  row?.oil ?? row?.well_name ?? row?.close ?? null,
  previous?.oil ?? previous?.well_name ?? previous?.close ?? null,
]

describe('changes of datasets', () => {
  test('are additions, corrections and what an undo removes, in the columns of their import', async () => {
    const { push, operate, all } = opened()
    await push('rig-counts', rigs(400), rigs(240, 'permian'))
    await push('rig-counts', rigs(401), rigs(240, 'permian'))
    const last = await push('rig-counts', rigs(402), rigs(90, 'eagle_ford'))
    const { batches } = (await operateList(operate)) as { batches: { id: number }[] }
    await operate('POST', `batches/${batches[0]!.id}/undo`, {})
    const changes = await all('rig-counts')
    expect(changes.map(told).sort()).toEqual(
      [
        ['added', 'US', 400, null],
        ['added', 'permian', 240, null],
        ['revised', 'US', 401, 400],
        ['revised', 'US', 402, 401],
        ['added', 'eagle_ford', 90, null],
        ['revised', 'US', 401, 402],
        ['deleted', 'eagle_ford', null, 90],
      ].sort(),
    )
    expect(changes.map(({ cursor }) => cursor)).toEqual(
      changes.map(({ cursor }) => cursor).toSorted(),
    )
    const [first] = changes
    expect(first).toMatchObject({
      dataset: 'rig-counts',
      retroactive: false,
      batch: expect.any(Number),
    })
    expect(first).not.toHaveProperty('code')
    expect(Object.keys(first!.key)).toEqual(['region', 'date'])
    const revised = changes.find(change => change.row?.oil === 402)!
    expect(revised.recorded_at).toBe(isoMillis(Date.parse(last.recorded_at as string)))
  })

  test('of one that keeps no past have their earlier rows from now on', async () => {
    const { push, all } = opened()
    const well = (name: string) => ({
      api_number: '42-329-40001',
      operator: 'Juniper',
      well_name: name,
      county: 'Midland',
    })
    await push('wells', well('A'))
    await push('wells', well('B'))
    const changes = await all('wells', 1)
    expect(changes.map(told).map(([kind, , now, before]) => [kind, now, before])).toEqual([
      ['added', 'A', null],
      ['revised', 'B', 'A'],
    ])
  })

  test('stand among those of prices in one order, and are followed and replayed with them', async () => {
    const { instance, push, read, clock, token } = opened()
    const begin = clock.now()
    await push('rig-counts', rigs(400))
    instance.record('WTI_USD', [70], startAt - dayMs, dayMs)
    await push('rig-counts', rigs(401))
    const { changes } = await read('since=start&dataset=prices,rig-counts&codes=WTI_USD')
    expect(changes.map(change => change.code ?? change.row?.oil)).toEqual([400, 'WTI_USD', 401])
    const { cursor } = await read('since=now')
    expect(cursor > changes.at(-1)!.cursor).toBe(true)
    const range = `from=${isoMillis(begin)}&to=${isoMillis(clock.now() + dayMs)}`
    const replayed = await instance.get(
      `/v1/changes/replay?${range}&speed=max&format=ndjson&dataset=*&codes=WTI_USD`,
      token,
    )
    const lines = (await replayed.text()).trim().split('\n')
    expect(lines.map(line => (JSON.parse(line) as RowChange).row?.oil ?? null)).toEqual([
      400,
      null,
      401,
    ])
    const stream = await instance.get('/v1/changes?since=start&dataset=rig-counts', token, {
      accept: 'text/event-stream',
    })
    const reader = stream.body!.getReader()
    let text = ''
    while (!text.includes('event: cursor')) {
      const { done, value } = await reader.read()
      expect(done, `the stream ended after ${text}`).toBe(false)
      text += new TextDecoder().decode(value)
    }
    expect(text.match(/^event: change$/gm)).toHaveLength(2)
    await reader.cancel()
  })

  test('recorded for the past have that instant, and stand where they were written', async () => {
    const { push, all, clock } = opened()
    await push('opec-productions', {
      country: 'Gabon',
      month: '2026-09',
      production: 210,
      unit: 'thousand_barrels_per_day',
    })
    const past = isoInstant(clock.now() - 5 * dayMs)
    await push('opec-productions', {
      country: 'Gabon',
      month: '2026-08',
      production: 200,
      unit: 'thousand_barrels_per_day',
      recorded_at: past,
    })
    const changes = await all('opec-productions')
    expect(changes.map(change => [change.kind, change.key.month, change.recorded_at])).toEqual([
      ['added', '2026-09', expect.any(String)],
      ['added', '2026-08', isoMillis(Date.parse(past))],
    ])
  })

  test('recorded for an instant that has rows come once, for a reader from the start and for one who follows', async () => {
    await fc.assert(
      fc.asyncProperty(pastPushes, async pushes => {
        const { push, read, all, clock } = opened()
        const begin = clock.now()
        const seen: RowChange[] = []
        let since = 'start'
        for (const { rows, limit } of pushes) {
          const dated = rows.map(({ dataset, ago, ...row }) => ({
            ...row,
            dataset,
            recorded_at: isoInstant(begin - ago * dayMs),
          }))
          for (const dataset of both.split(',')) {
            const own = dated.filter(row => row.dataset === dataset)
            if (own.length > 0) await push(dataset, ...own.map(row => rowOf(row)))
          }
          // One page: the reader may stop between two rows of a transaction.
          const page = await read(`since=${since}&dataset=${both}&limit=${limit}`)
          seen.push(...page.changes)
          since = page.cursor
        }
        for (;;) {
          const page = await read(`since=${since}&dataset=${both}&limit=1`)
          seen.push(...page.changes)
          since = page.cursor
          if (!page.has_more) break
        }
        const fresh = await all(both, 3)
        for (const changes of [seen, fresh]) {
          const cursors = changes.map(({ cursor }) => cursor)
          expect(cursors).toEqual([...new Set(cursors)].toSorted())
        }
        const names = fresh.map(({ dataset, key, recorded_at }) =>
          JSON.stringify([dataset, key, recorded_at]),
        )
        expect(names.length).toBe(new Set(names).size)
        // Each record that is still there is one that the other has, under the same cursor.
        const byCursor = new Map(seen.map(change => [change.cursor, change]))
        for (const { cursor, row, key } of fresh)
          expect(byCursor.get(cursor)).toMatchObject({ key, row })
        const last = (changes: RowChange[]) =>
          Object.fromEntries(
            changes
              .toSorted((a, b) => (a.recorded_at + a.cursor < b.recorded_at + b.cursor ? -1 : 1))
              .map(({ dataset, key, row }) => [JSON.stringify([dataset, key]), row]),
          )
        expect(last(fresh)).toEqual(last(seen))
      }),
      { numRuns: isFull ? 200 : 15 },
    )
  }, 120_000)

  test('reach a client that stopped among the rows of an instant of which an import takes some away', async () => {
    const { push, operate, read, clock } = opened()
    const countries = ['Algeria', 'Gabon', 'Iran', 'Iraq', 'Kuwait']
    const begin = clock.now()
    const ago = (days: number) => isoInstant(begin - days * dayMs)
    const rows = (production: number, days: number) =>
      countries.map(country => ({
        country,
        month: '2026-09',
        production,
        unit: 'barrels_per_day',
        recorded_at: ago(days),
      }))
    await push('opec-productions', ...rows(200_000, 8))
    await push('opec-productions', ...rows(210_000, 3))
    const first = await read('since=start&dataset=opec-productions&limit=2')
    const { batch } = await operate('POST', 'batches', {
      file_name: 'a file',
      dataset: 'opec-productions',
      as_recorded: true,
    })
    const earlier = ['Algeria', 'Gabon'].map(country => ({
      country,
      month: '2026-09',
      bpd: 190_000,
      source: 'OPEC',
      id: 900,
      recorded_at: ago(9),
      superseded_at: ago(5),
    }))
    const imported = await operate('POST', 'datasets/opec-productions', {
      rows: earlier,
      batch: (batch as { id: number }).id,
      earlier: true,
    })
    expect(imported).toMatchObject({ revised: 2 })
    const seen = [...first.changes]
    for (let since = first.cursor; ; ) {
      const page = await read(`since=${since}&dataset=opec-productions&limit=1`)
      seen.push(...page.changes)
      since = page.cursor
      if (!page.has_more) break
    }
    const cursors = seen.map(({ cursor }) => cursor)
    expect(cursors).toEqual([...new Set(cursors)].toSorted())
    const at = (days: number) =>
      seen
        .filter(change => change.recorded_at === isoMillis(Date.parse(ago(days))))
        .map(({ key }) => key.country)
        .sort()
    expect([at(8), at(3)]).toEqual([countries, countries])
    expect(at(9)).toEqual(['Algeria', 'Gabon'])
  })

  test('need the feature of their endpoints, and show no code that the account may not see', async () => {
    const { instance, push, read, services } = opened()
    await push('storage-capacities', {
      code: 'US_GASOLINE_STOCKS',
      effective_date: '2026-01-01',
      capacity: 100,
    }).catch(() => undefined)
    await push('futures-settlements', {
      contract: 'WTI_FUTURES_2027_01',
      traded_on: '2026-11-19',
      close: 71.95,
    })
    expect((await read('since=start&dataset=futures-settlements')).changes).toHaveLength(1)
    const starter = instance.key('starter')
    const refused = await read('since=start&dataset=futures-settlements', starter)
    const has = services.plans.entitlements.get('starter')![0]!.features.has('futures')
    expect(refused.status).toBe(has ? 200 : 403)
    const free = instance.key('free')
    expect((await read('since=start&dataset=rig-counts', free)).status).toBe(403)
    expect((await read('since=start&dataset=*', free)).changes).toEqual([])
    const table = await read('since=start&dataset=rig-counts&format=parquet')
    expect(table.status).toBe(400)
    expect((await read('since=start&dataset=oil-inventories')).status).toBe(400)
  })

  test('need the scope of their endpoints from a limited key, followed and replayed too', async () => {
    const { services, token, push, read, instance } = opened()
    await push('rig-counts', { date: '2026-11-13', region: 'US', oil: 411, gas: 126, misc: 6 })
    const { account } = services.keys.find(token)!
    const limitedTo = (...scopes: string[]) => services.keys.addKey(account, { scopes }).token
    const [prices, both] = [limitedTo('prices'), limitedTo('prices', 'fundamentals')]
    const named = 'since=start&dataset=rig-counts'
    const refused = await read(named, prices)
    expect(refused.status).toBe(403)
    expect(JSON.stringify(refused.body)).toContain(
      'the dataset rig-counts needs the scope fundamentals',
    )
    const past = 'from=2026-01-01T00:00:00Z&to=2026-11-01T00:00:00Z&speed=max&dataset=rig-counts'
    const replay = `/v1/changes/replay?${past}`
    expect((await instance.get(replay, prices)).status).toBe(403)
    const live = { accept: 'text/event-stream' }
    expect((await instance.get(`/v1/changes?${named}`, prices, live)).status).toBe(403)
    const names = async (key: string) => {
      const { changes } = await read('since=start&dataset=*', key)
      return [...new Set(changes.map(({ dataset }) => dataset))].sort()
    }
    expect({ prices: await names(prices), both: await names(both) }).toEqual({
      prices: ['prices'],
      both: ['prices', 'rig-counts'],
    })
    expect((await read(named, both)).changes).toHaveLength(1)
  })

  test('have another place in a transaction for each dataset', () => {
    const ranks = [...datasetOfTable.keys()].map(rankOfTable)
    expect(new Set(ranks).size).toBe(ranks.length)
    for (const rank of ranks) expect(rank).toBeWithin(700_000, 800_000)
  })

  test('of a transaction with many rows are the same by pages of any size, and after later writes', () => {
    const { services } = opened()
    const { db, changes } = services
    const table = 'opec_productions'
    const countries = Array.from({ length: 2_500 }, (_, i) => `Country ${(i * 7) % 2_500}`)
    const write = (at: number, sql: string, every = 1) =>
      db.transaction(() => {
        for (const [i, country] of countries.entries())
          if (i % every === 0) db.query(sql).run({ $at: at, $country: country })
        changes.noteRows()
      })()
    const insert = `INSERT INTO ${table} (country, month, bpd, source, recorded_at) VALUES ($country, '2026-01', 7, 'test', $at)`
    const revise = `UPDATE ${table} SET bpd = bpd + 1, recorded_at = $at WHERE country = $country`
    const read = (at: number, limit: number) => {
      const versions = createRowVersionReader(db)
      const found: unknown[] = []
      for (;;) {
        const entry = { table, writtenAt: writtenOf(at), recordedAt: at, batchId: 0 }
        passUntil(versions, entry, found.length)
        const page = versions.read(entry, found.length).slice(0, limit)
        found.push(...page)
        if (page.length === 0) return found
      }
    }
    const writtenOf = (at: number) =>
      db
        .query<{ at: number }, [number]>(
          'SELECT written_at AS at FROM dataset_changes WHERE recorded_at = ?',
        )
        .get(at)!.at
    write(startAt + 1, insert)
    const added = read(startAt + 1, 10_000)
    expect(added).toHaveLength(2_500)
    for (const limit of [97, 200, 250]) expect(read(startAt + 1, limit)).toEqual(added)
    write(startAt + 2, revise, 3)
    expect(read(startAt + 1, 170)).toEqual(added)
    const revised = read(startAt + 2, 10_000)
    expect(revised).toHaveLength(834)
    expect(read(startAt + 2, 100)).toEqual(revised)
    write(startAt + 3, revise)
    expect(read(startAt + 1, 133)).toEqual(added)
    expect(read(startAt + 2, 133)).toEqual(revised)
  })

  test('of a long transaction are passed in steps, and its first page reads no keys after it', () => {
    const { services } = opened()
    const { db, changes } = services
    const table = 'opec_productions'
    db.transaction(() => {
      db.run(
        `INSERT INTO ${table} (country, month, bpd, source, recorded_at)
         WITH RECURSIVE n (i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM n WHERE i < 29999)
         SELECT 'Country ' || i, '2026-01', 7, 'test', ${startAt} FROM n`,
      )
      changes.noteRows()
    })()
    const statements: string[] = []
    const prepare = db.query.bind(db)
    db.query = ((sql: string) => {
      statements.push(sql)
      return prepare(sql)
    }) as typeof db.query
    const versions = createRowVersionReader(db)
    const entry = { table, writtenAt: startAt, recordedAt: startAt, batchId: 0 }
    expect(versions.read(entry, 0)[0]!.key).toMatchObject({ country: 'Country 10000' })
    expect(passUntil(versions, entry, 19_123)).toBeGreaterThan(15)
    expect(versions.read(entry, 19_123)[0]!.key).toMatchObject({ country: 'Country 29123' })
    expect(versions.read(entry, 20_000)).toEqual([])
    db.query = prepare
    const ordered = statements.filter(sql => sql.includes('LIMIT ?4'))
    expect(ordered).toHaveLength(2)
    for (const sql of ordered) {
      const plan = prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all()
      const ofTable = plan.findIndex(({ detail }) => detail.includes(`${table}_by_recording`))
      expect(plan[ofTable]!.detail).toContain('recorded_at=?')
      expect(plan[ofTable + 1]!.detail).not.toContain('ORDER BY')
    }
  })

  test('of earlier rows without numbers, as another instance sends them, are all there', () => {
    const { services } = opened()
    const { db, changes } = services
    const table = 'opec_productions'
    const [from, to] = [startAt + 1, startAt + 2]
    db.transaction(() => {
      const insert = db.query(
        `INSERT INTO dataset_revisions (subject, key, recorded_at, superseded_at, fields)
         VALUES (?, ?, ${from}, ${to}, ?)`,
      )
      for (let i = 0; i < 600; i += 1) {
        const [country, month] = [`Country ${i}`, '2026-01']
        const row = { id: null, country, month, bpd: i, source: 'test', recorded_at: from }
        insert.run(table, JSON.stringify([country, month]), JSON.stringify(row))
      }
      changes.noteRows()
    })()
    const versions = createRowVersionReader(db)
    const writtenOf = db.query<{ at: number }, [number]>(
      'SELECT written_at AS at FROM dataset_changes WHERE recorded_at = ?',
    )
    for (const recordedAt of [from, to]) {
      const entry = { table, writtenAt: writtenOf.get(recordedAt)!.at, recordedAt, batchId: 0 }
      const keys = new Set<unknown>()
      for (let count = 0; ; ) {
        passUntil(versions, entry, count)
        const page = versions.read(entry, count)
        if (page.length === 0) break
        for (const { key } of page) keys.add(key.country)
        count += page.length
      }
      expect(keys.size).toBe(600)
    }
  })

  test('of a long transaction are passed to the end while others read many transactions', () => {
    const { services } = opened()
    const { db, changes } = services
    const table = 'opec_productions'
    db.transaction(() => {
      db.run(
        `INSERT INTO ${table} (country, month, bpd, source, recorded_at)
         WITH RECURSIVE n (i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM n WHERE i < 29999)
         SELECT 'Country ' || i, '2026-01', 7, 'test', ${startAt} FROM n`,
      )
      changes.noteRows()
    })()
    const versions = createRowVersionReader(db)
    const entry = { table, writtenAt: startAt, recordedAt: startAt, batchId: 0 }
    let [steps, others] = [0, 0]
    while (steps < 100 && !versions.pass(entry, 19_123)) {
      steps += 1
      for (let i = 0; i < 10; i += 1) {
        others += 1
        versions.read({ ...entry, recordedAt: startAt - others }, 0)
      }
    }
    expect(steps).toBeLessThan(25)
  })

  test('of a long transaction are put in order once, after all of its rows were replaced', () => {
    const { services } = opened()
    const { db, changes } = services
    const table = 'opec_productions'
    db.transaction(() => {
      db.run(
        `INSERT INTO ${table} (country, month, bpd, source, recorded_at)
         WITH RECURSIVE n (i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM n WHERE i < 12499)
         SELECT 'Country ' || i, '2026-01', 7, 'test', ${startAt} FROM n`,
      )
      changes.noteRows()
    })()
    let reads = 0
    const prepare = db.query.bind(db)
    db.query = ((sql: string) => {
      const statement = prepare(sql)
      if (!sql.includes('LIMIT ?4')) return statement
      const { all } = statement
      statement.all = (...bindings) => {
        reads += 1
        return all.apply(statement, bindings)
      }
      return statement
    }) as typeof db.query
    const versions = createRowVersionReader(db)
    const entry = { table, writtenAt: startAt, recordedAt: startAt, batchId: 0 }
    const first = versions.read(entry, 0)
    db.transaction(() => {
      db.run(`UPDATE ${table} SET bpd = bpd + 1, recorded_at = ${startAt + 1}`)
      changes.noteRows()
    })()
    reads = 0
    expect(versions.read(entry, 0).map(({ key }) => key)).toEqual(first.map(({ key }) => key))
    for (let count = 250; versions.read(entry, count).length > 0; ) count += 250
    expect(reads).toBe(1)
    db.query = prepare
  })

  test('of a transaction are those of the present state, after another one was restored', async () => {
    const { services, read } = opened()
    const { db, changes, catalogue } = services
    const table = 'opec_productions'
    const write = (name: string) => {
      db.transaction(() => {
        for (const cleared of [table, 'dataset_revisions', 'dataset_changes'])
          db.run(`DELETE FROM ${cleared}`)
        const insert = db.query(
          `INSERT INTO ${table} (country, month, bpd, source, recorded_at) VALUES (?, '2026-01', 7, 'test', ?)`,
        )
        for (let i = 0; i < 1_500; i += 1) insert.run(`${name} ${i}`, startAt)
        changes.noteRows()
      })()
      catalogue.reload()
    }
    const countries = async () => {
      const page = await read('since=start&dataset=opec-productions&limit=100')
      return new Set(page.changes.map(({ key }) => String(key.country).split(' ')[0]))
    }
    write('First')
    expect(await countries()).toEqual(new Set(['First']))
    write('Second')
    expect(await countries()).toEqual(new Set(['Second']))
  })

  test('of a directory of the oldest version begin with its rows, in the order of their recording', () => {
    const path = join(import.meta.dir, '../../../../fixtures/schema-1.sql')
    const file = `${process.env.TMPDIR ?? '/tmp'}/wellhead-oldest-${process.pid}.db`
    const old = new Database(file, { create: true })
    old.run(readFileSync(path, 'utf8'))
    old.close()
    const db = openDatabase(file)
    const versions = createRowVersionReader(db)
    let rows = 0
    for (const [table, declared] of datasetOfTable) {
      const stored = db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n
      const exported = db
        .query<{ n: number }, []>(`SELECT count(*) AS n FROM ${declared.exported.from}`)
        .get()!.n
      const instants = db
        .query<{ writtenAt: number; at: number }, [string]>(
          'SELECT written_at AS writtenAt, recorded_at AS at FROM dataset_changes WHERE subject = ? ORDER BY 1',
        )
        .all(table)
      const found = instants.flatMap(({ writtenAt, at }) =>
        versions.read({ table, writtenAt, recordedAt: at, batchId: 0 }, 0),
      )
      const present = found.filter(({ isRemoved }) => !isRemoved)
      expect(present.length, table).toBeGreaterThanOrEqual(stored)
      expect(present.filter(({ row }) => row).length, table).toBeGreaterThanOrEqual(exported)
      for (const { writtenAt, at } of instants) expect(writtenAt).toBe(at)
      rows += present.length
    }
    expect(rows).toBeGreaterThan(10)
    db.close()
  })
})

const operateList = (operate: ReturnType<typeof opened>['operate']) =>
  operate('GET', 'batches?limit=1', undefined)
