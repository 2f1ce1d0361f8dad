import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forgetMark, keepMark, missingCommits } from '../../src/database/commit-mark.ts'
import { openDatabase } from '../../src/database/database.ts'
import { createLog } from '../../src/lib/log/log.ts'
import { createSystemClock } from '../../src/lib/time/clock.ts'

let dir: string
let left: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wellhead-mark-'))
  left = mkdtempSync(join(tmpdir(), 'wellhead-mark-'))
})
afterEach(() => {
  for (const path of [dir, left]) rmSync(path, { recursive: true, force: true })
})
const quiet = createLog({ level: 'error', format: 'json', write() {}, clock: createSystemClock() })
const at = Date.parse('2026-11-20T15:00:00Z')
const pathIn = (where: string) => join(where, 'wellhead.db')

/** A process with marked commits in its WAL, and the files that it leaves when it is killed. */
function killed(change: (log: string) => void = () => {}) {
  const db = openDatabase(pathIn(dir), { autocheckpoint: 0 })
  const mark = keepMark(dir, pathIn(dir), db)
  for (let n = 0; n < 10; n += 1) db.run('INSERT INTO settings VALUES (?, ?)', [`n${n}`, 'x'])
  mark.note(at)
  for (const name of ['wellhead.db', 'wellhead.db-wal', 'commit-mark'])
    copyFileSync(join(dir, name), join(left, name))
  change(join(left, 'wellhead.db-wal'))
  mark.end()
  db.close()
  return missingCommits(left, pathIn(left), quiet)
}

test('a killed process misses nothing', () => {
  expect(killed()).toBeUndefined()
  expect(missingCommits(dir, pathIn(dir), quiet)).toBeUndefined()
  expect(existsSync(join(dir, 'commit-mark'))).toBe(false)
})

test('a process that is killed before its first mark leaves no damaged one', () => {
  const db = openDatabase(pathIn(dir), { autocheckpoint: 0 })
  const mark = keepMark(dir, pathIn(dir), db)
  copyFileSync(join(dir, 'commit-mark'), join(left, 'commit-mark'))
  mark.end()
  db.close()
  expect(missingCommits(left, pathIn(left), quiet)).toBeUndefined()
  expect(existsSync(join(left, 'commit-mark.damaged'))).toBe(false)
})

test('a mark is written to a new file, and not to what its name is linked to', () => {
  const other = join(left, 'other')
  writeFileSync(other, 'of another program')
  symlinkSync(other, join(dir, 'commit-mark'))
  const db = openDatabase(pathIn(dir), { autocheckpoint: 0 })
  const mark = keepMark(dir, pathIn(dir), db)
  mark.note(1)
  expect(readFileSync(other, 'utf8')).toBe('of another program')
  mark.end()
  db.close()
})

test('a WAL with more commits than marked, or of an earlier generation, is not reported as missing commits', () => {
  expect(
    killed(() => {
      const path = join(left, 'commit-mark')
      writeFileSync(path, readFileSync(path, 'utf8').replace(/"frames":\d+/, '"frames":1'))
    }),
  ).toBeUndefined()
  const mark = JSON.stringify({ salts: '1-1', frames: 999_999, at })
  writeFileSync(join(left, 'commit-mark'), mark)
  expect(missingCommits(left, pathIn(left), quiet)).toBeUndefined()
})

test.each<[string, (log: string) => void, string]>([
  ['cut short', log => truncateSync(log, 32 + 3 * 4120), 'the commits in between are lost'],
  ['gone', log => rmSync(log), 'its WAL is missing'],
  ['emptied', log => truncateSync(log, 0), 'its WAL is missing or empty'],
  [
    'damaged in its last commit',
    log => {
      const bytes = readFileSync(log)
      bytes[bytes.length - 100]! ^= 1
      writeFileSync(log, bytes)
    },
    'the commits in between are lost',
  ],
  [
    'damaged in the middle',
    log => {
      const bytes = readFileSync(log)
      bytes[bytes.length - 5 * 4120 - 100]! ^= 1
      writeFileSync(log, bytes)
    },
    'commits from there on are lost',
  ],
])('a WAL that is %s is reported', (_, change, sentence) => {
  expect(killed(change)).toContain(sentence)
})

test('a damaged mark is moved aside, and what a restore replaces leaves none', () => {
  expect(killed(() => writeFileSync(join(left, 'commit-mark'), 'x'))).toBeUndefined()
  expect(existsSync(join(left, 'commit-mark.damaged'))).toBe(true)
  const db = openDatabase(pathIn(left))
  keepMark(left, pathIn(left), db)
  forgetMark(left)
  db.close()
  expect(existsSync(join(left, 'commit-mark'))).toBe(false)
})
