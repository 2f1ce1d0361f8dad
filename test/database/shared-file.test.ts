import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkpoint } from '../../src/database/checkpoint.ts'
import { closeDatabase, openDatabase, setAutocheckpoint } from '../../src/database/database.ts'
import { isSameFile, isShared, makeOwnBeside, share } from '../../src/lib/files/shared-file.ts'
import { putSeries } from '../support/topics/series.ts'

/** A database with one series, and a second name for its file. */
async function inDirectory(check: (path: string, state: string) => unknown) {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-shared-'))
  try {
    const path = join(dir, 'a.db')
    const db = openDatabase(path)
    putSeries(db, [1])
    closeDatabase(db, path)
    share(path, join(dir, 'state.db'))
    await check(path, join(dir, 'state.db'))
  } finally {
    rmSync(dir, { recursive: true })
  }
}

const countOf = (path: string) => {
  const db = openDatabase(path, { readonly: true })
  try {
    return db.query<{ n: number }, []>('SELECT count(*) AS n FROM series').get()!.n
  } finally {
    db.close()
  }
}

test('a file that two names stand for is not touched by who leaves it shared, until its end', () =>
  inDirectory((path, state) => {
    const before = Bun.hash(readFileSync(state))
    const db = openDatabase(path, { leavesShared: true })
    expect(db.query('PRAGMA wal_autocheckpoint').values()).toEqual([[0]])
    for (const from of [2, 1000, 2000])
      putSeries(
        db,
        Array.from({ length: 998 }, (_, i) => from + i),
      )
    closeDatabase(db, path)
    expect(Bun.hash(readFileSync(state))).toBe(before)
    expect(existsSync(`${path}-wal`)).toBe(true)
    expect([countOf(path), countOf(state)]).toEqual([2995, 1])
  }))

test('a state and the log that stood beside it are the database of that moment', () =>
  inDirectory((path, state) => {
    const db = openDatabase(path, { leavesShared: true })
    putSeries(db, [2])
    copyFileSync(`${path}-wal`, `${state}-wal`)
    putSeries(db, [3])
    closeDatabase(db, path)
    expect([countOf(path), countOf(state)]).toEqual([3, 2])
  }))

test('whoever opens it for writing otherwise gets a file of its own first', () =>
  inDirectory((path, state) => {
    const db = openDatabase(path)
    expect(isShared(path)).toBe(false)
    putSeries(db, [2])
    closeDatabase(db, path)
    expect(existsSync(`${path}-wal`)).toBe(false)
    expect([countOf(path), countOf(state)]).toEqual([2, 1])
  }))

test('once the state has a file of its own the log is folded in again', () =>
  inDirectory(async (path, state) => {
    const db = openDatabase(path, { leavesShared: true })
    putSeries(db, [2])
    await makeOwnBeside(state)
    expect([isShared(path), isSameFile(path, state)]).toEqual([false, false])
    setAutocheckpoint(db)
    checkpoint(db)
    expect(statSync(`${path}-wal`).size).toBe(0)
    closeDatabase(db, path)
    expect([countOf(path), countOf(state)]).toEqual([2, 1])
  }))
