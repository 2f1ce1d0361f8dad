import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, transact } from '../../src/database/database.ts'
import { createLateCommits } from '../../src/database/late-commits.ts'

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

test('others read what was committed before its writer is told, and later commits wait as ever', async () => {
  const db = openDatabase(join(dir, 'wellhead.db'))
  const commits = createLateCommits(db)
  let isNotified = false
  const done = commits
    .run(() =>
      transact(db, () => {
        put(db, 'late')
        return 7
      }),
    )
    .then(result => {
      isNotified = true
      return result
    })
  expect([read(db), isNotified, synchronous(db)]).toEqual(['late', false, full])
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
  expect([read(db), synchronous(db)]).toEqual([undefined, full])
  db.close()
})

test('a log that the disk does not give back is told', async () => {
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

test('a database in memory has nothing to wait for', async () => {
  const db = openDatabase(':memory:')
  expect(await createLateCommits(db).run(() => put(db, 'here').changes)).toBe(1)
  expect(read(db)).toBe('here')
  db.close()
})
