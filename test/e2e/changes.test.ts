import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Compressors, parquetReadObjects } from 'hyparquet'
import { pathWithDuckdb } from '../support/duckdb.ts'
import { isFull } from '../support/full.ts'
import {
  binary,
  remove,
  run,
  type Server,
  start,
  temporaryDir,
} from '../support/instance/binary.ts'
import { needs } from '../support/needs.ts'
import { createRandom } from '../support/random.ts'
import { type NatsServer, natsServer } from '../support/servers/nats.ts'
import { until } from '../support/until.ts'

const compressors: Compressors = { ZSTD: input => Bun.zstdDecompressSync(input) }

const codes = ['WTI_USD', 'BRENT_CRUDE_USD', 'EUR_USD', 'GASOLINE_USD']
const days = 28
const dayOf = (day: number) => `2026-10-${String(day + 1).padStart(2, '0')}`
const kills = isFull ? 100 : 8
const syncKills = isFull ? 30 : 4
const moments = 50

/** The script that the guide gives, as readers copy it. */
function script(): string {
  const guide = readFileSync(resolve(import.meta.dir, '../../docs/how-to/changes.md'), 'utf8')
  return /```sh shown=changes\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(guide)![1]!
}

/** A line with its price as a number of one form. */
const numbered = (line: string) => line.replace(/\|(\d+)\.0(?=\|)/, '|$1')

needs('curl', 'jq', 'sqlite3', 'setsid').describe('the shell follower of the guide', () => {
  const dir = temporaryDir()
  const db = join(dir, 'prices.db')
  const random = createRandom(7)
  let server: Server
  /** With its NATS server, where there is one on this machine. */
  let replica: { nats: NatsServer; process: Bun.Subprocess; url: string } | undefined
  const replicaDb = join(dir, 'of-replica.db')
  beforeAll(async () => {
    writeFileSync(join(dir, 'follow.sh'), script())
    const nats = needs('nats-server').isMet ? await natsServer() : undefined
    if (nats)
      await Bun.write(join(dir, 'data', 'wellhead.toml'), `[nats]\nservers = ["${nats.url}"]\n`)
    server = await start('serve', dir)
    if (!nats) return
    const ready = join(dir, 'replica.json')
    const options = ['--data', join(dir, 'replica'), '--port', '0', '--ready-file', ready]
    const child = Bun.spawn([binary(), 'serve', '--replica', ...options], {
      env: {
        PATH: process.env.PATH,
        WELLHEAD_NATS_SERVERS: nats.url,
        WELLHEAD_REPLICA_PRIMARY: server.url,
        WELLHEAD_LIMITS_PER_MINUTE: '100000',
      },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await until('the start of the replica', () => existsSync(ready))
    const { url } = (await Bun.file(ready).json()) as { url: string }
    replica = { nats, process: child, url }
  }, 60_000)
  afterAll(async () => {
    for (const running of [replica?.process, server.process]) {
      running?.kill('SIGKILL')
      await running?.exited
    }
    await replica?.nats.remove()
    remove(dir)
  })

  const follow = (once: boolean, url = server.url, file = db) =>
    Bun.spawn(['setsid', 'sh', join(dir, 'follow.sh')], {
      env: {
        ...process.env,
        URL: url,
        KEY: server.apiKey,
        DB: file,
        ...(once && { ONCE: '1' }),
      },
      stdout: 'ignore',
      stderr: 'pipe',
    })
  const end = async (follower: Bun.Subprocess) => {
    try {
      process.kill(-follower.pid, 'SIGKILL')
    } catch {
      // On a busy machine it has not begun its own group yet.
      follower.kill('SIGKILL')
    }
    await follower.exited
  }
  const operate = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${server.url}/admin/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${server.adminToken}`,
        'content-type': 'application/json',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, data: ((await answer.json()) as { data?: Answer }).data }
  }
  interface Answer {
    id?: number
    batch?: number
    recorded_at?: string
  }
  const instants: string[] = []
  const batches: number[] = []
  const ranges: number[] = []
  const noted = ({ data }: Awaited<ReturnType<typeof operate>>) => {
    if (data?.recorded_at) instants.push(data.recorded_at)
    if (data?.batch) batches.push(data.batch)
  }
  const push = async () => {
    const [code, from, count] = [codes[random(4)]!, random(days - 3), 1 + random(4)]
    const observations = Array.from({ length: count }, (_, i) => ({
      code,
      observed_at: dayOf(Math.min(days - 1, from + i)),
      price: 70 + random(8),
    }))
    noted(await operate('POST', '/observations', { observations, source: `desk ${random(2)}` }))
  }
  const act = async () => {
    const [code, day] = [codes[random(4)]!, dayOf(random(days))]
    const named = { code, observed_at: day, reason: 'test' }
    switch (random(8)) {
      case 0:
        return noted(await operate('PATCH', '/values', { ...named, price: 80 + random(3) }))
      case 1:
        return noted(await operate('DELETE', '/values', named))
      case 2: {
        const batch = batches[random(batches.length)]
        if (batch !== undefined)
          noted(await operate('POST', `/batches/${batch}/undo`, { only_untouched: true }))
        return
      }
      case 3: {
        const { data } = await operate('POST', '/quarantine', {
          code,
          from: day,
          to: day,
          reason: 'x',
        })
        if (data?.id) ranges.push(data.id)
        return
      }
      case 4: {
        const id = ranges.shift()
        if (id !== undefined) await operate('DELETE', `/quarantine/${id}`)
        return
      }
      default:
        return await push()
    }
  }
  const importFile = (file: number) => {
    const path = join(dir, `file-${file}.csv`)
    const lines = Array.from(
      { length: days },
      (_, day) => `${codes[file % 4]},${dayOf(day)},${72 + random(6)}`,
    )
    writeFileSync(path, `code,observed_at,price\n${lines.join('\n')}\n`)
    return run('import', path, '--data', join(dir, 'data'))
  }
  const keyFile = join(dir, 'api.key')
  const sync = (...options: string[]) => {
    writeFileSync(keyFile, `${server.apiKey}\n`)
    return run(
      'sync',
      server.url,
      '--into',
      `sqlite:${join(dir, 'mirror.db')}`,
      '--key-file',
      keyFile,
      '--once',
      ...options,
    )
  }
  const rowsIn = async (folder: string) => {
    const files = await Promise.all(
      readdirSync(folder).map(name => Bun.file(join(folder, name)).arrayBuffer()),
    )
    return (await Promise.all(files.map(file => parquetReadObjects({ file, compressors })))).flat()
  }
  const instantOf = (value: unknown) =>
    (value instanceof Date ? value : new Date(String(value))).toISOString()
  const filed = async (folder: string) =>
    (await rowsIn(join(folder, 'prices')))
      .map(row => `${row.code},${instantOf(row.observed_at).replace('.000Z', 'Z')},${row.price}`)
      .sort()
  const mirrored = (file = join(dir, 'mirror.db')): string[] => {
    const mirror = new Database(file, { readonly: true })
    const rows = mirror
      .query<{ code: string; observed_at: string; price: number }, []>(
        'SELECT code, observed_at, price FROM prices',
      )
      .all()
    mirror.close()
    return rows.map(row => `${row.code},${row.observed_at},${row.price}`).sort()
  }
  const exported = async (asOf?: string): Promise<string[]> => {
    const lines: string[] = []
    for (const code of codes) {
      const query = new URLSearchParams({
        codes: code,
        start_date: '2026-09-01',
        end_date: '2026-11-30',
        columns: 'code,observed_at,price',
        ...(asOf !== undefined && { as_of: asOf }),
      })
      const answer = await server.get(`/v1/export/prices?${query}`)
      const since = answer.headers.get('x-vintage-revision-coverage-since')
      // Before anything of a code was recorded, exports return its first values.
      if (asOf !== undefined && since !== null && Date.parse(since) > Date.parse(asOf)) continue
      lines.push(...(await answer.text()).trim().split('\n').slice(1))
    }
    return lines.sort()
  }
  const followed = (at: string): string[] => {
    const copy = new Database(db, { readonly: true })
    const rows = copy
      .query<{ code: string; observed_at: string; value: number }, [string]>(
        `SELECT code, observed_at, value FROM records r WHERE recorded_at <= ?1
           AND NOT EXISTS (SELECT 1 FROM records n WHERE n.code = r.code
             AND n.observed_at = r.observed_at AND n.recorded_at <= ?1
             AND (n.recorded_at, n.cursor) > (r.recorded_at, r.cursor))
           AND value IS NOT NULL`,
      )
      .all(at)
    copy.close()
    return rows.map(row => `${row.code},${row.observed_at},${row.value}`).sort()
  }

  test(
    'killed and resumed while everything is written, equals the export now and at 50 moments',
    async () => {
      for (let kill = 0; kill < kills; kill += 1) {
        const followers = [
          follow(false),
          ...(replica ? [follow(false, replica.url, replicaDb)] : []),
        ]
        for (let i = 0; i < 12; i += 1) await act()
        if (kill % 4 === 0) await importFile(kill)
        for (const follower of followers) await end(follower)
      }
      const last = follow(true)
      expect({
        exitCode: await last.exited,
        stderr: await new Response(last.stderr).text(),
      }).toEqual({ exitCode: 0, stderr: '' })
      const now = new Date().toISOString()
      const all = await exported()
      expect(followed(now)).toEqual(all)
      expect(all.length).toBeGreaterThan(30)
      expect(instants.length).toBeGreaterThan(20)
      for (let i = 0; i < moments; i += 1) {
        const at = new Date(Date.parse(instants[random(instants.length)]!) + random(2) - random(2))
        const asOf = at.toISOString()
        const expected = await exported(asOf)
        const covered = new Set(expected.map(line => line.split(',')[0]))
        const kept = followed(asOf).filter(line => covered.has(line.split(',')[0]))
        expect([asOf, ...kept]).toEqual([asOf, ...expected])
      }
    },
    isFull ? 600_000 : 120_000,
  )

  needs('nats-server').test(
    'one that follows a replica has the same records under the same cursors',
    async () => {
      const recordsIn = (file: string) => {
        const copy = new Database(file, { readonly: true })
        const rows = copy.query('SELECT * FROM records ORDER BY cursor').all()
        copy.close()
        return rows
      }
      await until('the replica has the newest record', async () => {
        const last = follow(true, replica!.url, replicaDb)
        expect({
          exitCode: await last.exited,
          stderr: await new Response(last.stderr).text(),
        }).toEqual({ exitCode: 0, stderr: '' })
        return recordsIn(replicaDb).length >= recordsIn(db).length
      })
      expect(recordsIn(replicaDb)).toEqual(recordsIn(db))
    },
    60_000,
  )

  test('sync mirrors the same into a SQLite file, from where the file stands', async () => {
    const first = await sync('--json')
    expect({ code: first.code, err: first.err }).toEqual({ code: 0, err: '' })
    expect(mirrored()).toEqual(await exported())
    await push()
    await act()
    const second = await sync('--json')
    expect({ code: second.code, err: second.err }).toEqual({ code: 0, err: '' })
    const { records } = JSON.parse(second.out) as { records: number }
    expect(records).toBeLessThan((JSON.parse(first.out) as { records: number }).records)
    expect(mirrored()).toEqual(await exported())
  }, 60_000)

  test('sync mirrors other datasets as well, and keeps to the options that a file was begun with', async () => {
    const into = (options: string[], file = 'rows.db') =>
      sync(
        '--into',
        `sqlite:${join(dir, file)}`,
        '--dataset',
        'prices,opec-productions',
        ...options,
      )
    const unit = 'thousand_barrels_per_day'
    const produce = async (production: number) => {
      const rows = [{ country: 'Gabon', month: '2026-09', production, unit }]
      expect((await operate('POST', '/datasets/opec-productions', { rows })).status).toBe(200)
    }
    await produce(200)
    expect((await into([])).code).toBe(0)
    await produce(201)
    expect((await into([])).code).toBe(0)
    const mirror = new Database(join(dir, 'rows.db'), { readonly: true })
    const productions = (table: string) =>
      mirror
        .query(`SELECT row ->> '$.production' AS production FROM ${table} ORDER BY recorded_at`)
        .values()
    expect(productions('dataset_rows')).toEqual([[201_000]])
    expect(productions('dataset_vintages')).toEqual([[200_000], [201_000]])
    mirror.close()
    const other = await into(['--codes', 'WTI_USD'])
    expect({ code: other.code, err: other.err }).toEqual({
      code: 1,
      err: expect.stringContaining('--again'),
    })
    const folder = join(dir, 'rows')
    expect((await into(['--into', folder])).code).toBe(0)
    const file = await Bun.file(
      join(folder, 'dataset_vintages', 'opec-productions.parquet'),
    ).arrayBuffer()
    const rows = await parquetReadObjects({ file, compressors })
    expect(rows.map(({ row }) => JSON.parse(row as string).production)).toEqual([200_000, 201_000])
  }, 60_000)

  test('sync writes the same into Parquet files, again and only what has changed', async () => {
    const folder = join(dir, 'mirror')
    expect((await sync('--into', folder)).code).toBe(0)
    expect(await filed(folder)).toEqual(await exported())
    await push()
    await act()
    expect((await sync('--into', folder)).code).toBe(0)
    expect(await filed(folder)).toEqual(await exported())
    const { address } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'))
    expect(address).toBe(server.url)
    const written = statSync(join(folder, 'prices', '2026.parquet')).mtimeMs
    expect((await sync('--into', folder)).code).toBe(0)
    expect(statSync(join(folder, 'prices', '2026.parquet')).mtimeMs).toBe(written)
  }, 60_000)

  test(
    'sync that is killed and resumed while everything is written has the same in files and in SQLite',
    async () => {
      const [folder, file] = [join(dir, 'killed'), join(dir, 'killed.db')]
      writeFileSync(keyFile, `${server.apiKey}\n`)
      const begin = (into: string) =>
        Bun.spawn([binary(), 'sync', server.url, '--into', into, '--key-file', keyFile], {
          env: { PATH: process.env.PATH },
          stdout: 'ignore',
          stderr: 'ignore',
        })
      const mirrors = [join(folder, 'mirror.db'), file]
      const cursors = () =>
        mirrors.map(path => {
          if (!existsSync(path)) return undefined
          const mirror = new Database(path, { readonly: true })
          try {
            return mirror.query<{ cursor: string }, []>('SELECT cursor FROM sync_state').get()
              ?.cursor
          } catch {
            return undefined
          } finally {
            mirror.close()
          }
        })
      for (let kill = 0; kill < syncKills; kill += 1) {
        const before = cursors()
        const running = [begin(folder), begin(`sqlite:${file}`)]
        const hasAdvanced = () => cursors().every((cursor, i) => cursor !== before[i])
        // Most of them in the middle of what they take in, some before it.
        await until('both have taken something in', async () => {
          for (let i = 0; i <= random(4); i += 1) await act()
          return kill % 4 === 3 || hasAdvanced()
        })
        for (const process of running) {
          process.kill('SIGKILL')
          await process.exited
        }
      }
      for (const into of [folder, `sqlite:${file}`])
        expect((await sync('--into', into)).code).toBe(0)
      const all = await exported()
      expect(mirrored(file)).toEqual(all)
      expect(await filed(folder)).toEqual(all)
      const vintages = new Database(file, { readonly: true })
        .query<Record<string, string | number | null>, []>(
          'SELECT code, observed_at, price, recorded_at, cursor FROM price_vintages',
        )
        .all()
      const kept = await rowsIn(join(folder, 'price_vintages'))
      const lineOf = (row: Record<string, unknown>) =>
        [
          row.code,
          instantOf(row.observed_at),
          row.price,
          instantOf(row.recorded_at),
          row.cursor,
        ].join()
      expect(kept.map(lineOf).sort()).toEqual(vintages.map(lineOf).sort())
    },
    isFull ? 600_000 : 120_000,
  )

  needs('duckdb').describe('sync into DuckDB', () => {
    const path = pathWithDuckdb(dir)
    const file = join(dir, 'prices.duckdb')
    const begin = (env: Record<string, string> = { PATH: path }, ...options: string[]) => {
      writeFileSync(keyFile, `${server.apiKey}\n`)
      const words = ['sync', server.url, '--into', `duckdb:${file}`, '--key-file', keyFile]
      return Bun.spawn([binary(), ...words, '--dataset', 'prices,opec-productions', ...options], {
        env: { ...env, ...(process.env.PYTHONPATH && { PYTHONPATH: process.env.PYTHONPATH }) },
        stdout: 'ignore',
        stderr: 'pipe',
      })
    }
    const rowsOf = (sql: string) => {
      const { stdout } = Bun.spawnSync(['duckdb', '-csv', '-noheader', file], {
        env: { ...process.env, PATH: path },
        stdin: Buffer.from(sql),
      })
      return stdout
        .toString()
        .trim()
        .split('\n')
        .filter(line => line !== '')
    }

    test(
      'has the same present and past as a SQLite file, killed and resumed while everything is written',
      async () => {
        /** Undefined while it is being written. */
        const cursor = () =>
          existsSync(file) ? rowsOf('SELECT cursor FROM sync_state;')[0] : undefined
        for (let kill = 0; kill < syncKills; kill += 1) {
          const before = cursor()
          const running = begin()
          await until('something is taken in', async () => {
            for (let i = 0; i <= random(4); i += 1) await act()
            const now = cursor()
            return kill % 4 === 3 || (now !== undefined && now !== before)
          })
          const row = { country: 'Gabon', month: '2026-08', production: 200 + kill }
          const rows = [{ ...row, unit: 'thousand_barrels_per_day' }]
          expect((await operate('POST', '/datasets/opec-productions', { rows })).status).toBe(200)
          running.kill('SIGKILL')
          await running.exited
        }
        const last = begin(undefined, '--once')
        expect({
          exitCode: await last.exited,
          stderr: await new Response(last.stderr).text(),
        }).toEqual({ exitCode: 0, stderr: expect.stringContaining('up to date') })
        const beside = join(dir, 'beside-duckdb.db')
        const options = ['--dataset', 'prices,opec-productions']
        expect((await sync('--into', `sqlite:${beside}`, ...options)).code).toBe(0)
        const sqlite = new Database(beside, { readonly: true })
        const linesOf = (sql: string) =>
          sqlite
            .query(sql)
            .values()
            .map(row => row.join('|'))
            .sort()
        const at = (column: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ')`
        const instant = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column})`
        const both = [
          [
            'code',
            'T observed_at',
            'price',
            'unit',
            'currency',
            'source',
            'T recorded_at',
            'prices',
          ],
          ['cursor', 'code', 'T observed_at', 'price', 'T recorded_at', 'price_vintages'],
          ['dataset', 'key', 'row', 'source', 'T recorded_at', 'dataset_rows'],
          ['cursor', 'dataset', 'key', 'row', 'T recorded_at', 'dataset_vintages'],
        ]
        for (const names of both) {
          const table = names.at(-1)
          const read = (time: (column: string) => string) =>
            names
              .slice(0, -1)
              .map(name => (name.startsWith('T ') ? time(name.slice(2)) : `"${name}"`))
          const cells = read(at).map(cell => `coalesce(CAST(${cell} AS VARCHAR), '')`)
          const hex = rowsOf(
            `SELECT to_hex(encode(concat_ws('|', ${cells.join(', ')}))) FROM ${table};`,
          )
          const lines = hex.map(line => Buffer.from(line, 'hex').toString()).sort()
          expect([table, ...lines.map(numbered)]).toEqual([
            table!,
            ...linesOf(`SELECT ${read(instant).join(', ')} FROM ${table}`).map(numbered),
          ])
        }
        sqlite.close()
        expect(rowsOf('SELECT count(*) FROM prices;')).toEqual([String((await exported()).length)])
      },
      isFull ? 600_000 : 120_000,
    )

    test('names the program that is missing, and leaves no file behind', async () => {
      const refused = begin({ PATH: '/nowhere' }, '--once')
      expect(await refused.exited).toBe(1)
      expect(await new Response(refused.stderr).text()).toContain('The program duckdb')
    })
  })
})
