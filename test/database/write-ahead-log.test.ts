import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { followWal, readWal } from '../../src/database/write-ahead-log.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wellhead-log-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function opened() {
  const path = join(dir, 'live.db')
  const db = new Database(path)
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA wal_autocheckpoint = 0')
  db.run('CREATE TABLE notes (text TEXT)')
  return { db, path }
}
const add = (db: Database, count: number) => {
  for (let n = 0; n < count; n += 1) db.run('INSERT INTO notes VALUES (?)', [`note ${n}`])
}
/** The files that a killed process leaves, changed before they are opened again. */
function left(path: string, change: (log: string) => void): string {
  const copy = join(dir, 'left.db')
  for (const tail of ['', '-wal']) copyFileSync(path + tail, copy + tail)
  change(`${copy}-wal`)
  return copy
}
const rowsIn = (path: string) => {
  const db = new Database(path)
  const { n } = db.query<{ n: number }, []>('SELECT count(*) AS n FROM notes').get()!
  db.close()
  return n
}
const flip = (path: string, at: number) => {
  const bytes = readFileSync(path)
  bytes[at]! ^= 0x10
  writeFileSync(path, bytes)
}
const frameBytes = 4096 + 24

describe('readWal', () => {
  test('reading the WAL of a database without one finds nothing', () => {
    expect(readWal(join(dir, 'nothing.db'))).toBeUndefined()
    const { db, path } = opened()
    add(db, 3)
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(readWal(path)).toBeUndefined()
  })

  test('counts the frames up to the last commit, of this filling only', () => {
    const { db, path } = opened()
    add(db, 20)
    const first = readWal(path)!
    expect(first).toMatchObject({ brokenAt: undefined, commitsAfter: 0 })
    expect(first.frames).toBeGreaterThanOrEqual(20)
    db.run('PRAGMA wal_checkpoint(RESTART)')
    add(db, 1)
    const second = readWal(path)!
    expect(second.salts).not.toBe(first.salts)
    expect(second).toMatchObject({ frames: 1, brokenAt: undefined, commitsAfter: 0 })
  })

  test('reading a WAL reports where a flipped bit breaks it and how many commits SQLite then drops', () => {
    const { db, path } = opened()
    add(db, 20)
    const { frames } = readWal(path)!
    for (const frame of [3, 10, frames - 2]) {
      const copy = left(path, log => flip(log, 32 + frame * frameBytes + 24 + 2000))
      const state = readWal(copy)!
      expect(state.brokenAt).toBe(frame + 1)
      expect(state.commitsAfter).toBe(frames - frame)
      // It is as silent as it ever was.
      if (frame > 3) expect(rowsIn(copy)).toBe(20 - state.commitsAfter)
      rmSync(`${copy}-shm`, { force: true })
    }
    const headless = left(path, log => flip(log, 17))
    expect(readWal(headless)).toMatchObject({ frames: 0, brokenAt: 0 })
  })
})

describe('followWal', () => {
  test('following a WAL keeps up with commits and with a restarted WAL', () => {
    const { db, path } = opened()
    const look = followWal(db, path)
    const inFile = () => {
      const { salts, frames } = readWal(path)!
      return { salts, frames }
    }
    for (const rows of [1, 20, 3]) {
      add(db, rows)
      expect(look()).toEqual(inFile())
    }
    const before = look()!
    // Folded, and begun again with the next commit.
    db.run('PRAGMA wal_checkpoint(RESTART)')
    expect(look()).toEqual(before)
    add(db, 2)
    expect(look()).toEqual(inFile())
    expect(look()!.frames).toBeLessThan(before.frames)
    expect(look()!.salts).not.toBe(before.salts)
    truncateSync(`${path}-wal`, 0)
    expect(look()).toBeUndefined()
  })
})
