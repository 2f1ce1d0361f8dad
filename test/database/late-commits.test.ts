import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, fdatasync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, transact } from '../../src/database/database.ts'
import { createLateCommits } from '../../src/database/late-commits.ts'
import { until } from '../support/until.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'late-commits-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const put = (db: ReturnType<typeof openDatabase>, value: string) =>
  db.run("INSERT OR REPLACE INTO settings VALUES ('name', ?)", [value])
const read = (db: ReturnType<typeof openDatabase>) =>
  db.query<{ value: string }, []>("SELECT value FROM settings WHERE name = 'name'").get()?.value
const synchronous = (db: ReturnType<typeof openDatabase>) =>
  db.query<{ synchronous: number }, []>('PRAGMA synchronous').get()!.synchronous
const full = 2

test('a late commit is readable before its writer is notified, and later commits stay fully synchronous', async () => {
  const db = openDatabase(join(dir, 'wellhead.db'))
  const commits = createLateCommits(db)
  let isAcknowledged = false
  const done = commits
    .run(() =>
      transact(db, () => {
        put(db, 'late')
        return 7
      }),
    )
    .then(result => {
      isAcknowledged = true
      return result
    })
  expect(read(db)).toBe('late')
  expect(isAcknowledged).toBe(false)
  expect(synchronous(db)).toBe(full)
  expect(await done).toBe(7)
  db.close()
})

test('work that fails rejects with its own error, and later commits wait as ever', async () => {
  const db = openDatabase(join(dir, 'wellhead.db'))
  const commits = createLateCommits(db)
  const failing = commits.run(() =>
    transact(db, () => {
      put(db, 'never')
      throw new Error('one row is wrong')
    }),
  )
  await expect(failing).rejects.toThrow('one row is wrong')
  expect({ value: read(db), synchronous: synchronous(db) }).toEqual({
    value: undefined,
    synchronous: full,
  })
  db.close()
})

test('a commit whose WAL cannot be read back from the disk is rejected with an error', async () => {
  const path = join(dir, 'wellhead.db')
  const db = openDatabase(path)
  const commits = createLateCommits(db)
  const failing = commits.run(() => {
    put(db, 'gone')
    rmSync(`${path}-wal`)
  })
  await expect(failing).rejects.toThrow('ENOENT')
  expect(existsSync(`${path}-wal`)).toBe(false)
  db.close()
})

test('commits that come while the disk is busy share one sync, which begins after the last of them', async () => {
  const db = openDatabase(join(dir, 'wellhead.db'))
  const syncs: { begin(): void }[] = []
  const commits = createLateCommits(
    db,
    file => new Promise<void>(done => syncs.push({ begin: () => fdatasync(file, () => done()) })),
  )
  const done: number[] = []
  const commit = (n: number) => commits.run(() => put(db, String(n))).then(() => void done.push(n))
  const first = commit(0)
  await until('the first sync began', () => syncs.length === 1)
  const others = Array.from({ length: 20 }, (_, i) => commit(i + 1))
  syncs[0]!.begin()
  await first
  await until('the second sync began', () => syncs.length === 2)
  expect({ done, value: read(db) }).toEqual({ done: [0], value: '20' })
  syncs[1]!.begin()
  await Promise.all(others)
  expect({ done: done.length, syncs: syncs.length }).toEqual({ done: 21, syncs: 2 })
  db.close()
})

test('parts commit in one turn of the loop each, and wait for the disk once', async () => {
  const db = openDatabase(join(dir, 'wellhead.db'))
  let syncs = 0
  const commits = createLateCommits(db, async () => {
    syncs += 1
  })
  const between: (string | undefined)[] = []
  const parts = ['one', 'two', 'three'].map(value => () => {
    setImmediate(() => between.push(read(db)))
    put(db, value)
    return value
  })
  expect(await commits.runParts(parts)).toEqual(['one', 'two', 'three'])
  expect(between.slice(0, 2)).toEqual(['one', 'two'])
  expect({ syncs, synchronous: synchronous(db) }).toEqual({ syncs: 1, synchronous: full })
  const failing = commits.runParts([
    () => put(db, 'four'),
    () => {
      throw new Error('the disk is full')
    },
  ])
  await expect(failing).rejects.toThrow('the disk is full')
  expect({ value: read(db), synchronous: synchronous(db) }).toEqual({
    value: 'four',
    synchronous: full,
  })
  db.close()
})

test('commits are synced after a sync that failed', async () => {
  const db = openDatabase(join(dir, 'wellhead.db'))
  let syncs = 0
  const commits = createLateCommits(db, async () => {
    syncs += 1
    if (syncs === 1) throw new Error('the disk is gone')
  })
  await expect(commits.run(() => put(db, 'one'))).rejects.toThrow('the disk is gone')
  await commits.run(() => put(db, 'two'))
  expect({ value: read(db), syncs }).toEqual({ value: 'two', syncs: 2 })
  db.close()
})

test('a database in memory has nothing to wait for', async () => {
  const db = openDatabase(':memory:')
  expect(await createLateCommits(db).run(() => put(db, 'here').changes)).toBe(1)
  expect(read(db)).toBe('here')
  db.close()
})
