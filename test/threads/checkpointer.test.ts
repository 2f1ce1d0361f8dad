import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkpointElsewhere, checkpointWal, checksumsOf } from '../../src/database/checkpoint.ts'
import { damagedPages } from '../../src/database/damaged-pages.ts'
import { openDatabase, transact, withoutTraces } from '../../src/database/database.ts'
import { nextTurn } from '../../src/lib/process/loop-turns.ts'
import { createCheckpointer } from '../../src/threads/checkpointer.ts'
import { cutPower } from '../support/power-cut.ts'

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'checkpoint-'))
  path = join(dir, 'wellhead.db')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const pagesMax = 60

const fill = (db: Database, rows: number, value: string) =>
  transact(db, () => {
    for (let n = 0; n < rows; n += 1)
      db.run('INSERT OR REPLACE INTO settings VALUES (?, ?)', [`row ${n}`, value])
  })
const valueIn = (file: string, name: string) => {
  const db = openDatabase(file)
  try {
    return db
      .query<{ value: string }, [string]>('SELECT value FROM settings WHERE name = ?')
      .get(name)?.value
  } finally {
    db.close()
  }
}
const logOf = (db: Database) => checksumsOf(db)!.logPages()

/** A database whose WAL another connection of this thread checkpoints when the test lets it. */
function openHeld() {
  const db = openDatabase(path, { checksums: true, autocheckpoint: pagesMax })
  let checkpoints = 0
  let go = () => {}
  const settled = checkpointElsewhere(db, path, async () => {
    checkpoints += 1
    await new Promise<void>(release => {
      go = release
    })
    checkpointWal(path)
  })
  return { db, settled, release: () => go(), checkpoints: () => checkpoints }
}
/** Lets a checkpoint that is due begin. */
async function turns() {
  for (let n = 0; n < 4; n += 1) await nextTurn()
}

test('a thread checkpoints the log while this one writes, and nothing is taken for damage', async () => {
  const db = openDatabase(path, { checksums: true, autocheckpoint: pagesMax })
  const checkpointer = createCheckpointer(path)
  let checkpoints = 0
  const settled = checkpointElsewhere(db, path, async () => {
    await checkpointer.checkpoint()
    checkpoints += 1
  })
  for (let n = 0; checkpoints < 10 && n < 2000; n += 1) {
    fill(db, 100, `${n} `.repeat(60))
    await nextTurn()
    expect(checksumsOf(db)!.check(1, 10_000).damaged).toEqual([])
  }
  await settled()
  expect(checkpoints).toBeGreaterThanOrEqual(10)
  expect(checksumsOf(db)!.takeRewritten()).toEqual([])
  checkpointer.stop()
  db.close()
  expect(damagedPages(path)).toEqual([])
})

test('a WAL that another thread checkpoints while nothing is written is restarted', async () => {
  const { db, settled, release, checkpoints } = openHeld()
  fill(db, 1000, 'first '.repeat(20))
  expect(logOf(db).toCheckpoint).toBeGreaterThan(pagesMax)
  await turns()
  expect(checkpoints()).toBe(1)
  expect(logOf(db).toCheckpoint).toBeGreaterThan(pagesMax)
  release()
  await settled()
  expect(logOf(db).toCheckpoint).toBe(0)
  fill(db, 1, 'second')
  expect(logOf(db).all).toBeLessThan(10)
  db.close()
})

test('a write during a checkpoint stays in the WAL and survives a power cut', async () => {
  const { db, settled, release, checkpoints } = openHeld()
  fill(db, 1000, 'first '.repeat(20))
  await turns()
  const written = logOf(db).all
  fill(db, 1000, 'second '.repeat(20))
  await turns()
  expect(checkpoints()).toBe(1)
  expect(damagedPages(cutPower(path))).toEqual([])
  release()
  await settled()
  // The pages of the second write are not checkpointed yet: their checksums came later.
  expect(logOf(db).toCheckpoint).toBe(logOf(db).all - written)
  const left = cutPower(path)
  expect(damagedPages(left)).toEqual([])
  expect(valueIn(left, 'row 7')).toBe('second '.repeat(20))
  db.close()
  expect(damagedPages(path)).toEqual([])
})

test('a WAL that is checkpointed is not restarted before its checksums are stored', async () => {
  const db = openDatabase(path, { checksums: true, autocheckpoint: pagesMax })
  let notify = () => {}
  const settled = checkpointElsewhere(db, path, async () => {
    checkpointWal(path)
    await new Promise<void>(told => {
      notify = told
    })
  })
  for (let n = 0; n < 5; n += 1) {
    fill(db, 1500, `${n} first `.repeat(20))
    await turns()
    expect(logOf(db).toCheckpoint).toBe(0)
    fill(db, 3, `${n} second`)
    notify()
    await settled()
    expect(checksumsOf(db)!.check(1, 10_000).damaged).toEqual([])
  }
  expect(checksumsOf(db)!.takeRewritten()).toEqual([])
  db.close()
  expect(damagedPages(path)).toEqual([])
})

test('a WAL under constant writes is restarted before it grows to many times its length', async () => {
  const { db, settled, release } = openHeld()
  let longest = 0
  let begunAnew = 0
  let before = 0
  for (let n = 0; n < 120; n += 1) {
    fill(db, 200, `${n} `.repeat(30))
    await turns()
    fill(db, 20, `${n} more`)
    release()
    await settled()
    const { all } = logOf(db)
    longest = Math.max(longest, all)
    if (all < before) begunAnew += 1
    before = all
  }
  expect(begunAnew).toBeGreaterThan(1)
  expect(longest).toBeLessThan(10 * pagesMax)
  db.close()
  expect(damagedPages(path)).toEqual([])
})

test('an open read transaction on the WAL does not make every commit start a checkpoint', async () => {
  const db = openDatabase(path, { checksums: true, autocheckpoint: pagesMax })
  let checkpoints = 0
  const settled = checkpointElsewhere(db, path, async () => {
    checkpoints += 1
    checkpointWal(path)
  })
  const other = openDatabase(path, { readonly: true })
  other.run('BEGIN')
  other.query('SELECT count(*) FROM settings').get()
  fill(db, 700, 'first '.repeat(20))
  for (let n = 0; n < 40; n += 1) {
    fill(db, 1, `more ${n}`)
    await turns()
    await settled()
  }
  expect(logOf(db).toCheckpoint).toBeGreaterThan(pagesMax)
  expect(checkpoints).toBeGreaterThan(0)
  expect(checkpoints).toBeLessThan(15)
  other.run('ROLLBACK')
  other.close()
  for (let n = 0; n < 40; n += 1) {
    fill(db, 1, `again ${n}`)
    await turns()
    await settled()
  }
  expect(logOf(db).toCheckpoint).toBeLessThan(pagesMax)
  db.close()
  expect(damagedPages(path)).toEqual([])
})

test('the thread that writes without a pause checkpoints the WAL itself in the end', () => {
  const { db } = openHeld()
  let most = 0
  for (let n = 0; n < 60; n += 1) {
    fill(db, 200, `${n} `.repeat(30))
    most = Math.max(most, logOf(db).toCheckpoint)
  }
  expect(most).toBeGreaterThan(4 * pagesMax)
  expect(most).toBeLessThan(9 * pagesMax)
  db.close()
  expect(damagedPages(path)).toEqual([])
})

test('erased data is no longer in the WAL once the checkpoint has ended', async () => {
  const { db, settled, release } = openHeld()
  fill(db, 1000, 'a secret '.repeat(10))
  await turns()
  withoutTraces(db, () => transact(db, () => db.run('DELETE FROM settings')))
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
  release()
  await settled()
  expect(statSync(`${path}-wal`).size).toBe(0)
  expect((await Bun.file(path).text()).includes('a secret')).toBe(false)
  db.close()
})

test('a database that is closed during a checkpoint loses no data', async () => {
  const { db, settled, release } = openHeld()
  fill(db, 1000, 'first '.repeat(20))
  await turns()
  fill(db, 10, 'second')
  db.close()
  release()
  await settled()
  expect(damagedPages(path)).toEqual([])
  expect(valueIn(path, 'row 7')).toBe('second')
  expect(valueIn(path, 'row 700')).toBe('first '.repeat(20))
})

test('where the thread ends, this one checkpoints as before', async () => {
  const db = openDatabase(path, { checksums: true, autocheckpoint: pagesMax })
  const settled = checkpointElsewhere(db, path, () =>
    Promise.reject(new Error('the thread has ended')),
  )
  for (let n = 0; n < 30; n += 1) {
    fill(db, 200, `${n} `.repeat(30))
    await turns()
    await settled()
  }
  expect(logOf(db).all).toBeLessThan(10 * pagesMax)
  expect(checksumsOf(db)!.checkpoints().count).toBeGreaterThan(0)
  db.close()
  expect(damagedPages(path)).toEqual([])
})

test('a thread that is stopped during a checkpoint ends the wait for it, and another one checkpoints', async () => {
  const db = openDatabase(path, { checksums: true, autocheckpoint: pagesMax })
  fill(db, 1000, 'first '.repeat(20))
  const checkpointer = createCheckpointer(path)
  const first = checkpointer.checkpoint()
  checkpointer.stop()
  await first
  await checkpointer.checkpoint()
  checkpointer.stop()
  expect(logOf(db).toCheckpoint).toBe(0)
  db.close()
})
