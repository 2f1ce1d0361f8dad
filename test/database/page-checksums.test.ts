import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyFile } from '../../src/cli/backups/backup.ts'
import { checkpoint, checkpointLongWal, checksumsOf } from '../../src/database/checkpoint.ts'
import { damagedPages } from '../../src/database/damaged-pages.ts'
import { openDatabase, transact } from '../../src/database/database.ts'
import { checksumsPath } from '../../src/database/page-checksum-file.ts'
import { nextTurn } from '../../src/lib/process/loop-turns.ts'
import { needs } from '../support/needs.ts'
import { cutPower } from '../support/power-cut.ts'

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wellhead-pages-'))
  path = join(dir, 'wellhead.db')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const pageBytes = 4096
const put = (db: Database, name: string, value: string) =>
  db.run('INSERT INTO settings VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value', [
    name,
    value,
  ])
const fill = (db: Database, rows: number, value = 'x'.repeat(200)) =>
  transact(db, () => {
    for (let n = 0; n < rows; n += 1) put(db, `row ${n}`, value)
  })
const flip = (file: string, at: number) => {
  const bytes = readFileSync(file)
  bytes[at]! ^= 0x10
  writeFileSync(file, bytes)
}
const textIn = (file: string, text: string) => readFileSync(file).indexOf(text)
/** A closed database with checksums, with a text that only one row has. */
function written(rows = 500): void {
  const db = openDatabase(path, { checksums: true })
  fill(db, rows)
  put(db, 'marked', 'a text within one page')
  checksumsOf(db)!.checkpoint('PASSIVE')
  checksumsOf(db)!.check(1, 10_000)
  db.close()
}

describe('verify', () => {
  test('verify finds no damage in a database that was written normally', () => {
    written()
    expect({ damagedPages: damagedPages(path), verifyFile: verifyFile(path) }).toEqual({
      damagedPages: [],
      verifyFile: [],
    })
  })

  test('names the page and the table of a text that one bit changed, which SQLite takes for data', () => {
    written()
    const at = textIn(path, 'a text within one page')
    flip(path, at)
    const page = Math.floor(at / pageBytes) + 1
    expect(verifyFile(path)).toEqual([`page ${page} is damaged (of settings)`])
  })

  test('notices a flip of any byte of any page', () => {
    written()
    const pages = statSync(path).size / pageBytes
    expect(pages).toBeGreaterThan(50)
    for (let page = 1; page <= pages; page += 7) {
      const at = (page - 1) * pageBytes + ((page * 577) % pageBytes)
      flip(path, at)
      expect(verifyFile(path).length, String(page)).toBeGreaterThan(0)
      flip(path, at)
    }
    expect(verifyFile(path)).toEqual([])
  })

  test('notices pages that were cut off', () => {
    written()
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.subarray(0, bytes.length - 2 * pageBytes))
    expect(damagedPages(path)).toHaveLength(2)
  })

  test('has no opinion of a database without checksums', () => {
    openDatabase(path).close()
    expect({
      existsSync: existsSync(checksumsPath(path)),
      damagedPages: damagedPages(path),
    }).toEqual({ existsSync: false, damagedPages: undefined })
  })
})

describe('a cut at any moment is not taken for damage', () => {
  test('a power cut around a checkpoint step is not reported as damage, even with a blocking read transaction', () => {
    const db = openDatabase(path, { checksums: true })
    const checksums = checksumsOf(db)!
    const lefts: string[] = []
    const reader = new Database(path, { readonly: true })
    for (let round = 0; round < 6; round += 1) {
      fill(db, 300, `${round}`.repeat(150))
      lefts.push(cutPower(path))
      // The reader sees this round, and keeps the next ones out of the database.
      if (round === 2) reader.run('BEGIN')
      if (round === 2) reader.query('SELECT count(*) FROM settings').get()
      checksums.checkpoint('PASSIVE')
      lefts.push(cutPower(path))
      if (round === 4) reader.run('COMMIT')
      db.run('DELETE FROM settings WHERE name > ?', [`row ${round}`])
      lefts.push(cutPower(path))
    }
    reader.close()
    db.close()
    expect(lefts).toHaveLength(18)
    for (const left of lefts) {
      expect(damagedPages(left)).toEqual([])
      const again = openDatabase(left)
      const kept = checksumsOf(again)!
      fill(again, 50, 'again')
      kept.checkpoint('TRUNCATE')
      const { damaged, next } = kept.check(1, 100_000)
      expect({
        damaged,
        next,
        takeRewritten: kept.takeRewritten(),
        fault: kept.fault(),
      }).toEqual({ damaged: [], next: undefined, takeRewritten: [], fault: undefined })
      again.close()
      expect(verifyFile(left)).toEqual([])
    }
  })

  test('a power cut after writing the checksums but none of the pages is not reported as damage', () => {
    const db = openDatabase(path, { checksums: true })
    fill(db, 300)
    checkpoint(db)
    fill(db, 300, 'second')
    const before = cutPower(path)
    checksumsOf(db)!.checkpoint('PASSIVE')
    copyFileSync(checksumsPath(path), checksumsPath(before))
    db.close()
    expect(damagedPages(before)).toEqual([])
    const again = openDatabase(before)
    checkpoint(again)
    expect(checksumsOf(again)!.check(1, 10_000).damaged).toEqual([])
    again.close()
  })
})

describe('a log that has grown long', () => {
  const waiting = (db: Database) => {
    const { log, checkpointed } = db.query('PRAGMA wal_checkpoint(NOOP)').get() as {
      log: number
      checkpointed: number
    }
    return log - checkpointed
  }
  const grown = (db: Database) => {
    for (let n = 0; n < 60; n += 1) put(db, `row ${n * 20}`, 'alone')
  }

  test('a long WAL is checkpointed after the requests that arrived in between are answered', async () => {
    const db = openDatabase(path, { checksums: true, autocheckpoint: 50 })
    fill(db, 2000)
    grown(db)
    expect(waiting(db)).toBeGreaterThan(50)
    checkpointLongWal(db)
    checkpointLongWal(db)
    expect(waiting(db)).toBeGreaterThan(50)
    let left = 0
    await nextTurn()
    left = waiting(db)
    await nextTurn()
    expect(left).toBeGreaterThan(50)
    expect(waiting(db)).toBe(0)
    expect(checksumsOf(db)!.checkpoints().count).toBe(2)
    db.close()
    expect(damagedPages(path)).toEqual([])
  })

  test('a WAL of twice the limit is checkpointed at once under uninterrupted writes', () => {
    const db = openDatabase(path, { checksums: true, autocheckpoint: 50 })
    let most = 0
    for (let n = 0; n < 40; n += 1) {
      fill(db, 100, String(n).repeat(200))
      most = Math.max(most, waiting(db))
    }
    expect(most).toBeLessThan(100)
    expect(checksumsOf(db)!.checkpoints().count).toBeGreaterThan(1)
    db.close()
    expect(damagedPages(path)).toEqual([])
  })

  test('closing the database completes a pending WAL checkpoint', async () => {
    const db = openDatabase(path, { checksums: true, autocheckpoint: 50 })
    fill(db, 2000)
    grown(db)
    checkpointLongWal(db)
    db.close()
    await nextTurn()
    await nextTurn()
    expect(damagedPages(path)).toEqual([])
    expect(existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0).toBe(false)
  })

  test('a long WAL gets its checksums in parts, and a power cut before the checkpoint loses nothing', async () => {
    const db = openDatabase(path, { checksums: true, autocheckpoint: 400 })
    fill(db, 2000)
    checksumsOf(db)!.checkpoint('PASSIVE')
    const sums = () => readFileSync(checksumsPath(path))
    const before = sums()
    fill(db, 2000, 'y'.repeat(190))
    expect(waiting(db)).toBeGreaterThan(100)
    expect(waiting(db)).toBeLessThan(400)
    expect(sums().equals(before)).toBe(true)
    await nextTurn()
    await nextTurn()
    expect(sums().equals(before)).toBe(false)
    const left = cutPower(path)
    expect(damagedPages(left)).toEqual([])
    const again = openDatabase(left)
    expect(again.query("SELECT value FROM settings WHERE name = 'row 7'").get()).toEqual({
      value: 'y'.repeat(190),
    })
    again.close()
    expect(damagedPages(left)).toEqual([])
    db.close()
    expect(damagedPages(path)).toEqual([])
  })
})

test('an overwritten damaged page is reported and never silently gets a valid checksum', () => {
  written()
  flip(path, textIn(path, 'a text within one page'))
  const db = openDatabase(path)
  put(db, 'marked too', 'next to it')
  checkpoint(db)
  expect(checksumsOf(db)!.takeRewritten()).toHaveLength(1)
  expect(checksumsOf(db)!.takeRewritten()).toEqual([])
  db.close()
})

test('a database file that is replaced by another one gets new checksums and reports no damage', () => {
  written(5000)
  const other = join(dir, 'other.db')
  const db = openDatabase(other)
  fill(db, 3000, 'of another')
  db.close()
  copyFileSync(other, path)
  const replaced = openDatabase(path)
  const checksums = checksumsOf(replaced)!
  expect(checksums.isReplaced).toBe(true)
  expect(checksums.check(1, 10_000).damaged).toEqual([])
  replaced.close()
  expect(verifyFile(path)).toEqual([])
  const again = openDatabase(path)
  expect(checksumsOf(again)!.isReplaced).toBe(false)
  again.close()
})

test('a damaged checksum file does not block access to the data', () => {
  for (const content of ['', 'ruins', '\0'.repeat(9000)]) {
    written()
    writeFileSync(checksumsPath(path), content)
    expect(verifyFile(path)).toEqual([])
    const db = openDatabase(path)
    put(db, 'after', 'it')
    checkpoint(db)
    expect(checksumsOf(db)!.check(1, 10_000).damaged).toEqual([])
    db.close()
    expect(damagedPages(path)).toEqual([])
  }
})

test('where a replicator makes the checkpoints there are no checksums', () => {
  written()
  openDatabase(path, { autocheckpoint: 0, checksums: true }).close()
  expect(existsSync(checksumsPath(path))).toBe(false)
})

needs('mount').test(
  'page checksums begin again after a full disk, and then find damage again',
  () => {
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'none', dir])
    try {
      const db = openDatabase(path, { checksums: true })
      const checksums = checksumsOf(db)!
      fill(db, 500)
      const ballast = join(dir, 'ballast')
      const { bavail, bsize } = statfsSync(dir)
      writeFileSync(ballast, Buffer.alloc(bavail * bsize, 1))
      expect(() => checksums.checkpoint('PASSIVE')).toThrow('full')
      expect([checksums.fault() !== undefined, existsSync(checksumsPath(path))]).toEqual([
        true,
        false,
      ])
      rmSync(ballast)
      fill(db, 500, 'y'.repeat(200))
      checksums.checkpoint('PASSIVE')
      expect({ fault: checksums.fault(), takeBegun: checksums.takeBegun() }).toEqual({
        fault: undefined,
        takeBegun: true,
      })
      expect(checksums.check(1, 10_000)).toEqual({ damaged: [], next: undefined })
      fill(db, 700, 'z'.repeat(200))
      put(db, 'marked', 'a text within one page')
      checksums.checkpoint('PASSIVE')
      expect(checksums.check(1, 10_000).damaged).toEqual([])
      expect(checksums.takeRewritten()).toEqual([])
      db.close()
      expect(verifyFile(path)).toEqual([])
      const at = textIn(path, 'a text within one page')
      flip(path, at)
      expect(damagedPages(path)).toEqual([Math.floor(at / pageBytes) + 1])
    } finally {
      Bun.spawnSync(['umount', '-l', dir])
    }
  },
)
