import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cachedCount } from '../../src/database/cached-counts.ts'
import { openDatabase } from '../../src/database/database.ts'

const dir = mkdtempSync(join(tmpdir(), 'wellhead-counts-'))
const path = join(dir, 'wellhead.db')
const db = openDatabase(path)
db.run('CREATE TABLE counted (day TEXT NOT NULL)')
const reading = openDatabase(path, { readonly: true })
afterAll(() => {
  for (const open of [db, reading]) open.close()
  rmSync(dir, { recursive: true })
})

const sql = 'SELECT count(*) AS n FROM counted WHERE day >= ?'
const add = (day: string) => void db.run('INSERT INTO counted VALUES (?)', [day])

test('a cached count is current after writes of the same connection and of another one', () => {
  const [own, other] = [cachedCount(db, sql), cachedCount(reading, sql)]
  for (let i = 1; i <= 3; i += 1) {
    add('2026-11-01')
    expect({ own: own('2026'), other: other('2026') }).toEqual({ own: i, other: i })
    expect({ own: own('2027'), other: other('2027') }).toEqual({ own: 0, other: 0 })
    // Asked again, nothing written between.
    expect({ own: own('2026'), other: other('2026') }).toEqual({ own: i, other: i })
  }
})

test('what a transaction takes back was never counted', () => {
  const count = cachedCount(db, sql)
  const before = count('2026')
  expect(() =>
    db.transaction(() => {
      add('2026-11-02')
      expect(count('2026')).toBe(before + 1)
      throw new Error('taken back')
    })(),
  ).toThrow('taken back')
  expect(count('2026')).toBe(before)
})

test('a count stays cached while nothing is written', () => {
  // Another number each time that it is read.
  const read = cachedCount(reading, 'SELECT abs(random()) AS n')
  const first = read()
  expect([read(), read()]).toEqual([first, first])
  add('2026-11-03')
  expect(read()).not.toBe(first)
})
