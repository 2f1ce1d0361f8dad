import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import schema from '../../schema.sql' with { type: 'text' }
import { checkpoint } from '../../src/database/checkpoint.ts'
import {
  copyDatabase,
  integrityFaults,
  namingFile,
  openDatabase,
  readAtOnce,
  transact,
  withoutTraces,
} from '../../src/database/database.ts'
import { applicationId, identityOf, missingParts } from '../../src/database/identity.ts'
import {
  type Migration,
  migrate,
  migrations,
  schemaVersion,
} from '../../src/database/migrations.ts'
import { noteBatchRows } from '../../src/database/undo-triggers.ts'

const inDirectory = (work: (path: string) => void) => {
  const directory = mkdtempSync(join(tmpdir(), 'wellhead-'))
  try {
    work(join(directory, 'wellhead.db'))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const pragma = (db: Database, name: string) =>
  Object.values(db.query(`PRAGMA ${name}`).get() as object)[0]

/**
 * Every table, index and trigger as a statement, without comments and with one way of spacing; none
 * of the triggers that are made from the schema.
 */
function shapeOf(db: Database): string[] {
  const rows = db
    .query(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'keep_%' AND name NOT LIKE 'undo_%'",
    )
    .all() as { sql: string }[]
  const normal = (sql: string) =>
    sql
      .replace(/--[^\n]*/g, ' ')
      .replace(/\s+/g, ' ')
      .replace(/ ?([(),]) ?/g, '$1')
      .replaceAll('"', '')
      .trim()
  return rows.map(row => normal(row.sql)).sort()
}

type Row = Record<string, unknown>

/** Every row of every ordinary table. */
function rowsOf(db: Database): Map<string, Row[]> {
  const names = db
    .query("SELECT name FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .values()
    .flat() as string[]
  return new Map(names.map(name => [name, db.query(`SELECT * FROM ${name}`).all() as Row[]]))
}

/** Databases of released versions, written by scripts/version-database.ts. */
const fixtures = join(import.meta.dir, '../../fixtures')
const writtenVersions = readdirSync(fixtures)
  .flatMap(name => /^schema-(\d+)\.sql$/.exec(name)?.[1] ?? [])
  .map(Number)
  .sort((a, b) => a - b)

function databaseOf(sql: string): Database {
  const db = new Database(':memory:', { strict: true })
  db.run(sql)
  return db
}

describe('a database that is open', () => {
  test('has the pragmas that durability and memory rest on', () => {
    inDirectory(path => {
      const db = openDatabase(path)
      const inForce = {
        journal_mode: 'wal',
        synchronous: 2,
        foreign_keys: 1,
        busy_timeout: 250,
        wal_autocheckpoint: 1000,
        journal_size_limit: 67_108_864,
        mmap_size: 0,
        cache_size: -8192,
        temp_store: 2,
        trusted_schema: 0,
      }
      for (const [name, value] of Object.entries(inForce))
        expect({ name, pragma: pragma(db, name) }).toEqual({ name, pragma: value })
      db.close()
      const other = openDatabase(path, { autocheckpoint: 0, busyTimeoutMs: 10 })
      expect([pragma(other, 'wal_autocheckpoint'), pragma(other, 'busy_timeout')]).toEqual([0, 10])
      other.close()
    })
  })

  test('is valid, has this version and refuses rows that refer to nothing', () => {
    const db = openDatabase(':memory:')
    expect(pragma(db, 'user_version')).toBe(schemaVersion)
    expect(integrityFaults(db)).toEqual([])
    expect(() => db.run('INSERT INTO observations VALUES (1, 0, 1, 1, 0, 0)')).toThrow(
      'FOREIGN KEY',
    )
    db.run('PRAGMA foreign_keys = OFF')
    db.run("INSERT INTO aliases VALUES ('OIL', 'NOTHING')")
    expect(integrityFaults(db)).toEqual([expect.stringContaining('aliases')])
  })

  test('an open database keeps its data, and a read-only connection cannot change it', () => {
    inDirectory(path => {
      const db = openDatabase(path)
      db.run("INSERT INTO settings VALUES ('colour', 'green')")
      const reader = openDatabase(path, { readonly: true })
      expect(reader.query('SELECT value FROM settings').get()).toEqual({ value: 'green' })
      expect(() => reader.run("INSERT INTO settings VALUES ('a', 'b')")).toThrow('readonly')
      reader.close()
      checkpoint(db)
      expect(readFileSync(`${path}-wal`).length).toBe(0)
      db.close()
      const again = openDatabase(path)
      expect(again.query('SELECT value FROM settings').get()).toEqual({ value: 'green' })
      again.close()
    })
  })

  test('a database whose directory cannot be written is refused with the action', () => {
    const refused = Object.assign(new Error('unable to open database file'), {
      code: 'SQLITE_CANTOPEN',
    })
    const open = () =>
      namingFile('/mnt/snapshot/wellhead.db', () => {
        throw refused
      })
    expect(open).toThrow(
      '/mnt/snapshot/wellhead.db: unable to open database file. This user must be able to write to its directory',
    )
  })

  test('a migration on a full disk leaves the database as it was and names the action', () => {
    inDirectory(path => {
      const db = new Database(path, { create: true })
      db.run(`PRAGMA max_page_count = 20`)
      const filled: Migration = {
        version: 2,
        why: 'It takes more room than there is.',
        sql: 'CREATE TABLE full (bytes BLOB); INSERT INTO full VALUES (randomblob(1000000));',
      }
      expect(() => namingFile(path, () => migrate(db, 1, [filled]))).toThrow(
        `${path}: database or disk is full. The write was undone. Free at least as much disk space`,
      )
      expect(db.query("SELECT name FROM sqlite_schema WHERE name = 'full'").all()).toEqual([])
      db.close()
    })
  })

  test('data that is deleted without traces leaves no byte in the database or the WAL', () => {
    inDirectory(path => {
      for (const checksums of [false, true]) {
        const db = openDatabase(path, { checksums })
        const bytes = () => readFileSync(path, 'latin1') + readFileSync(`${path}-wal`, 'latin1')
        db.run("INSERT INTO settings VALUES ('person', 'ann@example.com')")
        expect(bytes()).toContain('ann@example.com')
        withoutTraces(db, () => db.run("DELETE FROM settings WHERE name = 'person'"))
        expect(bytes()).not.toContain('ann@example.com')
        expect(pragma(db, 'secure_delete')).toBe(0)
        db.close()
      }
    })
  })

  test('can be copied while it is in use', () => {
    inDirectory(path => {
      const db = openDatabase(path)
      db.run("INSERT INTO settings VALUES ('colour', 'green')")
      copyDatabase(path, `${path}.copy`)
      db.close()
      const copy = openDatabase(`${path}.copy`, { readonly: true })
      expect(copy.query('SELECT value FROM settings').get()).toEqual({ value: 'green' })
      expect(shapeOf(copy)).toEqual(shapeOf(databaseOf(schema)))
      copy.close()
    })
  })

  test.each([false, true])('a newer schema is refused with the remedy (readonly: %p)', readonly => {
    inDirectory(path => {
      const db = openDatabase(path)
      db.run(`PRAGMA user_version = ${schemaVersion + 1}`)
      db.close()
      expect(() => openDatabase(path, { readonly })).toThrow(
        `the database has schema version ${schemaVersion + 1} and this program knows up to ${schemaVersion}: run the newer program, or restore a backup made by this one`,
      )
    })
  })

  test('a file that is not a database is refused and left as it is', () => {
    inDirectory(path => {
      const text = 'code,observed_at,price\n'.repeat(1000)
      writeFileSync(path, text)
      expect(() => openDatabase(path)).toThrow('not a database')
      expect(readFileSync(path, 'utf8')).toBe(text)
      expect(existsSync(`${path}-wal`)).toBe(false)
    })
  })
})

describe('a transaction', () => {
  const opened = () => databaseOf('CREATE TABLE notes (text TEXT)')
  const texts = (db: Database) => db.query('SELECT text FROM notes').values().flat()

  test('gives back what its work returns', () => {
    const db = opened()
    expect(transact(db, () => db.run("INSERT INTO notes VALUES ('a')").changes)).toBe(1)
    expect(texts(db)).toEqual(['a'])
  })

  test.each([
    ['an async function', async () => {}],
    // biome-ignore lint/suspicious/noThenProperty: a thenable other than a Promise must be refused
    ['anything with a then', () => ({ then() {} })],
  ])('that returns %s is refused and undone', (_, work) => {
    const db = opened()
    const attempt = () =>
      transact<unknown>(db, () => {
        db.run("INSERT INTO notes VALUES ('half')")
        return work()
      })
    expect(attempt).toThrow('a transaction must not await')
    expect(texts(db)).toEqual([])
  })

  test('that throws leaves nothing, also inside another', () => {
    const db = opened()
    transact(db, () => {
      db.run("INSERT INTO notes VALUES ('outer')")
      const inner = () =>
        transact(db, () => {
          db.run("INSERT INTO notes VALUES ('inner')")
          throw new Error('no')
        })
      expect(inner).toThrow('no')
    })
    expect(texts(db)).toEqual(['outer'])
  })

  test('takes the write lock before it reads', () => {
    inDirectory(path => {
      const first = openDatabase(path, { busyTimeoutMs: 0 })
      const second = openDatabase(path, { busyTimeoutMs: 0 })
      transact(first, () => {
        expect(() => transact(second, () => second.query('SELECT 1').get())).toThrow('locked')
      })
      first.close()
      second.close()
    })
  })
})

describe('migrations', () => {
  const old = 'CREATE TABLE wells (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;'
  const steps: Migration[] = [
    {
      version: 2,
      why: 'Wells have operators.',
      sql: 'ALTER TABLE wells ADD COLUMN operator TEXT;',
    },
    {
      version: 3,
      why: 'Wells are found by name, and their history is kept.',
      sql: 'CREATE INDEX wells_by_name ON wells (name); CREATE TABLE events (well_id INTEGER REFERENCES wells (id), at INTEGER NOT NULL) STRICT;',
    },
  ]
  const current = `
    CREATE TABLE wells (
      id INTEGER PRIMARY KEY, -- the state's number
      name TEXT NOT NULL,
      operator TEXT
    ) STRICT;
    CREATE INDEX wells_by_name ON wells (name);
    CREATE TABLE events (well_id INTEGER REFERENCES wells (id), at INTEGER NOT NULL) STRICT;`
  const versioned = (sql: string, version: number) =>
    databaseOf(`${sql} PRAGMA user_version = ${version};`)

  test.each(writtenVersions)(
    'lead from a database of version %d to schema.sql and keep its rows',
    version => {
      inDirectory(path => {
        const old = new Database(path, { strict: true })
        old.run(readFileSync(join(fixtures, `schema-${version}.sql`), 'utf8'))
        const [oldShape, oldRows] = [shapeOf(old), rowsOf(old)]
        expect(pragma(old, 'user_version')).toBe(version)
        for (const [table, rows] of oldRows) expect(rows.length, table).toBeGreaterThan(0)
        old.close()

        const db = openDatabase(path)
        expect(pragma(db, 'user_version')).toBe(schemaVersion)
        expect(shapeOf(db)).toEqual(shapeOf(databaseOf(schema)))
        expect(integrityFaults(db)).toEqual([])
        const newRows = rowsOf(db)
        for (const [table, rows] of oldRows) {
          const kept = newRows.get(table)
          // Bars are rebuilt by a migration that has its own test.
          if (!kept || table === 'bars') continue
          // A column that a migration renamed or took away is that migration's own to test.
          const shared = Object.keys(rows[0]!).filter(column => column in kept[0]!)
          const only = (row: Row) => JSON.stringify(shared.map(column => row[column]))
          expect(kept.map(only).sort(), table).toEqual(rows.map(only).sort())
        }
        if (version === schemaVersion) expect(oldShape).toEqual(shapeOf(db))
        db.close()
      })
    },
  )

  test('are all read from their file, one after the other', () => {
    const text = readFileSync(join(import.meta.dir, '../../src/database/migrations.sql'), 'utf8')
    const headings = text.match(/^-- *version\b.*/gim)!
    expect(migrations.map(({ version, why }) => `-- Version ${version}: ${why}`)).toEqual(headings)
    expect(migrations.map(({ version }) => version)).toEqual(headings.map((_, i) => i + 2))
  })

  test('keep the answers to requests of keys, and let an admin token have some', () => {
    const db = databaseOf(readFileSync(join(fixtures, 'schema-1.sql'), 'utf8'))
    const kept = db
      .query('SELECT key_id AS owner, request_hash, sealed, created_at FROM idempotency')
      .all()
    expect(kept.length).toBeGreaterThan(0)
    migrate(db, 1)
    db.run('PRAGMA foreign_keys = ON')
    expect(db.query('SELECT * FROM idempotency').all()).toEqual(kept)
    db.run("INSERT INTO idempotency VALUES ('token 1', x'01', x'02', 3)")
    expect(integrityFaults(db)).toEqual([])
  })

  test('keep what stood before batches, and the triggers that note it', () => {
    const db = databaseOf(readFileSync(join(fixtures, 'schema-1.sql'), 'utf8'))
    migrate(
      db,
      1,
      migrations.filter(({ version }) => version <= 19),
    )
    noteBatchRows(db)
    const note = db.query('INSERT INTO batch_rows VALUES (?, ?, ?, ?)')
    const notes: [number, string, string, string | null][] = [
      [2, 'wells', '["b"]', null],
      [1, 'wells', '["b"]', '{"a":1}'],
      [1, 'wells', '["a"]', null],
    ]
    db.run('PRAGMA foreign_keys = OFF')
    for (const row of notes) note.run(...row)
    migrate(db, 19)
    const kept = db.query('SELECT batch_id, subject, key, before FROM batch_rows ORDER BY id')
    expect(kept.values()).toEqual([notes[2]!, notes[1]!, notes[0]!])
    noteBatchRows(db)
    db.run('INSERT INTO batch_under_way VALUES (3)')
    db.run('DELETE FROM rig_counts')
    expect(kept.values().at(-1)).toEqual([3, 'rig_counts', expect.any(String), expect.any(String)])
  })

  test('add the usage that waited in rows for many keys, but for keys that were deleted', () => {
    const db = databaseOf(readFileSync(join(fixtures, 'schema-1.sql'), 'utf8'))
    const before39 = migrations.filter(({ version }) => version < 39)
    migrate(db, 1, before39)
    const { id } = db.query<{ id: string }, []>('SELECT id FROM api_keys LIMIT 1').get()!
    db.run("INSERT INTO quota_counters VALUES (?, 'monthly_counter', 7000, 3, 50)", [id])
    db.run("INSERT INTO usage_hours VALUES (?, 3600, '/v1/prices', 2, 3, 2, 90)", [id])
    const packed = {
      keys: ['deleted', id],
      windows: [
        ['daily_counter', 6000],
        ['monthly_counter', 7000],
      ],
      routes: [
        [0, '/v1/prices', 4],
        [3600, '/v1/prices', 2],
      ],
      counters: [0, 1, 9, 60, 1, 0, 4, 70, 1, 1, 8, 0],
      hours: [0, 0, 9, 9, 9, 1, 1, 5, 4, 10, 1, 0, 1, 0, 2],
    }
    db.run('INSERT INTO usage_waiting VALUES (1, ?)', [JSON.stringify(packed)])
    migrate(db, 38)
    const counters = db.query(
      'SELECT window, used, last_used_at FROM quota_counters WHERE key_id = ? AND starts_at IN (6000, 7000)',
    )
    expect(counters.values(id)).toEqual([
      ['daily_counter', 4, 70],
      ['monthly_counter', 8, 50],
    ])
    const hours = db.query(
      `SELECT hour_at, status_class, requests, metered, duration_us FROM usage_hours
       WHERE key_id = ? AND hour_at IN (0, 3600)`,
    )
    expect(hours.values(id)).toEqual([
      [0, 4, 1, 0, 2],
      [3600, 2, 8, 6, 100],
    ])
    expect(integrityFaults(db)).toEqual([])
  })

  test('find the names of usage that waited by a key, not by reading its row for each', () => {
    const db = databaseOf(readFileSync(join(fixtures, 'schema-1.sql'), 'utf8'))
    const { sql } = migrations.find(({ version }) => version === 39)!
    migrate(
      db,
      1,
      migrations.filter(({ version }) => version < 39),
    )
    const steps = sql.split(';').filter(step => /CREATE|INSERT/.test(step))
    const plans = steps.flatMap(step => {
      const plan = /INSERT INTO (?:quota_counters|usage_hours)/.test(step)
        ? db.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${step}`).all()
        : []
      db.run(step)
      return plan.map(({ detail }) => detail)
    })
    expect(plans.filter(detail => detail.startsWith('SEARCH n '))).toEqual(
      Array(2).fill('SEARCH n USING PRIMARY KEY (slice=? AND list=? AND place=?)'),
    )
  })

  test('have the oldest version to start from', () => {
    expect(writtenVersions[0]).toBe(1)
  })

  test('are numbered without a gap from 2 on, each with its reason', () => {
    expect(migrations.map(migration => migration.version)).toEqual(migrations.map((_, i) => i + 2))
    for (const migration of migrations) expect(migration.why).toMatch(/^[A-Z].*\.$/)
  })

  test('in order give the same shape as the schema written out, and none less does', () => {
    for (const from of [1, 2, 3]) {
      const db = versioned(old, 1)
      migrate(db, 1, steps.slice(0, from - 1))
      expect(Bun.deepEquals(shapeOf(db), shapeOf(databaseOf(current)))).toBe(from === 3)
      migrate(db, from, steps)
      expect(shapeOf(db)).toEqual(shapeOf(databaseOf(current)))
      expect(pragma(db, 'user_version')).toBe(3)
    }
  })

  test('the comparison sees a type, a default, an index and the order of columns', () => {
    const others = [
      current.replace('operator TEXT', 'operator BLOB'),
      current.replace('operator TEXT', "operator TEXT DEFAULT ''"),
      current.replace('(name);', '(name, id);'),
      current.replace(
        'name TEXT NOT NULL,\n      operator TEXT',
        'operator TEXT,\n      name TEXT NOT NULL',
      ),
      current.replaceAll(' STRICT', ''),
    ]
    for (const other of others)
      expect(shapeOf(databaseOf(other))).not.toEqual(shapeOf(databaseOf(current)))
  })

  test('migrations keep the rows of a table that gets a column', () => {
    const db = versioned(old, 1)
    db.run("INSERT INTO wells VALUES (7, 'Lucas 1')")
    migrate(db, 1, steps)
    expect(db.query('SELECT * FROM wells').all()).toEqual([
      { id: 7, name: 'Lucas 1', operator: null },
    ])
  })

  test('a step that fails leaves the version before all of them, whole, and they can be run again', () => {
    const broken = { ...steps[1]!, sql: `${steps[1]!.sql} INSERT INTO nowhere VALUES (1);` }
    const db = versioned(old, 1)
    expect(() => migrate(db, 1, [steps[0]!, broken])).toThrow('nowhere')
    expect(pragma(db, 'user_version')).toBe(1)
    expect(shapeOf(db)).toEqual(shapeOf(versioned(old, 1)))
    migrate(db, 1, steps)
    expect(shapeOf(db)).toEqual(shapeOf(databaseOf(current)))
  })
})

describe('whose database a file is', () => {
  const foreign: [string, string][] = [
    ['tables of another program', 'CREATE TABLE notes (text TEXT)'],
    ['the version of another program', 'CREATE TABLE notes (text TEXT); PRAGMA user_version = 2'],
    ['the number of another program', 'PRAGMA application_id = 252006673'],
    [
      'our number and tables without a version',
      `CREATE TABLE settings (name TEXT); PRAGMA application_id = ${applicationId}`,
    ],
  ]
  test.each(foreign)('a foreign database with %s is refused and left unchanged', (_, sql) => {
    inDirectory(path => {
      const other = new Database(path)
      other.run(sql)
      other.close()
      const before = readFileSync(path)
      for (const readonly of [false, true])
        expect(() => openDatabase(path, { readonly })).toThrow(
          `${path} is a database of another program`,
        )
      expect(readFileSync(path).equals(before)).toBe(true)
    })
  })

  test('is in its header from the first start on', () => {
    const db = openDatabase(':memory:')
    expect({ pragma: pragma(db, 'application_id'), identity: identityOf(db) }).toEqual({
      pragma: applicationId,
      identity: 'ours',
    })
    expect(missingParts(db)).toEqual([])
  })

  test.each(writtenVersions)('is known of version %d by its tables', version => {
    const old = databaseOf(readFileSync(join(fixtures, `schema-${version}.sql`), 'utf8'))
    expect({ identity: identityOf(old), missingParts: missingParts(old) }).toEqual({
      identity: 'ours',
      missingParts: [],
    })
    old.run('PRAGMA foreign_keys = OFF')
    old.run('DROP TABLE accounts')
    expect(identityOf(old)).toBe('foreign')
  })

  test('a table or a column that was lost is named', () => {
    const db = openDatabase(':memory:')
    db.run('ALTER TABLE api_keys DROP COLUMN scopes')
    expect(missingParts(db)).toEqual(['the column api_keys.scopes is missing'])
    db.run('DROP TABLE sms_messages')
    expect(missingParts(db)).toEqual(['the table sms_messages is missing'])
  })
})

test('reads at once see one state, whatever another connection commits between them', () => {
  inDirectory(path => {
    const writer = openDatabase(path)
    const reader = openDatabase(path, { readonly: true })
    const set = (value: string) =>
      writer.run('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)', ['state', value])
    const read = () =>
      reader.query("SELECT value FROM settings WHERE name = 'state'").values()[0]?.[0]
    set('before')
    const seen = readAtOnce(reader, () => {
      const first = read()
      set('after')
      return [first, read()]
    })
    expect({ seen, read: read() }).toEqual({ seen: ['before', 'before'], read: 'after' })
    for (const db of [reader, writer]) db.close()
  })
})
