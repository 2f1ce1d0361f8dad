import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkpoint, checksumsOf } from '../../../../src/database/checkpoint.ts'
import { damagedPages } from '../../../../src/database/damaged-pages.ts'
import { openDatabase } from '../../../../src/database/database.ts'
import { createLog } from '../../../../src/lib/log/log.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import { createScrub, damageText } from '../../../../src/topics/operator/service/scrub.ts'
import { settingsStore } from '../../../../src/topics/operator/store/settings.ts'

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wellhead-scrub-'))
  path = join(dir, 'wellhead.db')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const startAt = Date.parse('2026-11-20T15:00:00Z')

function opened() {
  const db = openDatabase(path, { checksums: true })
  const settings = settingsStore(db)
  const clock = createManualClock(startAt)
  clock.freeze()
  const lines: string[] = []
  const log = createLog({ level: 'info', format: 'json', write: line => lines.push(line), clock })
  const checksums = checksumsOf(db)!
  const scrub = () => createScrub({ checksums, settings, clock, log })
  const events = () => lines.map(line => (JSON.parse(line) as { msg: string }).msg)
  return { db, settings, clock, scrub, events }
}
const flip = (text: string) => {
  const bytes = readFileSync(path)
  bytes[bytes.indexOf(text)]! ^= 0x10
  writeFileSync(path, bytes)
}

test('all pages are compared once a week, and a start knows when they were', () => {
  const { db, clock, scrub, events } = opened()
  checkpoint(db)
  const first = scrub()
  first.pass()
  expect(first.status()).toMatchObject({ finishedAt: startAt, damaged: [] })
  clock.set(startAt + 7 * dayMs - 1)
  const later = scrub()
  later.pass()
  expect(later.status().finishedAt).toBe(startAt)
  clock.set(startAt + 7 * dayMs)
  later.pass()
  expect({ finishedAt: later.status().finishedAt, events: events() }).toEqual({
    finishedAt: startAt + 7 * dayMs,
    events: [],
  })
  db.close()
})

test('pages are compared again after the clock was a year ahead and is set back', () => {
  const { db, clock, scrub } = opened()
  checkpoint(db)
  clock.set(startAt + 365 * dayMs)
  scrub().pass()
  clock.set(startAt + dayMs)
  const later = scrub()
  later.pass()
  expect(later.status().finishedAt).toBe(startAt + dayMs)
  db.close()
})

test('a damaged database page is reported until it is intact again', () => {
  const { db, settings, clock, scrub, events } = opened()
  settings.set('marked', 'a text within one page')
  checkpoint(db)
  const weekly = scrub()
  weekly.pass()
  expect(damageText(weekly.status())).toBeUndefined()
  flip('a text within one page')
  clock.set(startAt + 7 * dayMs)
  weekly.pass()
  expect(weekly.status().damaged).toHaveLength(1)
  expect(damageText(weekly.status())).toBe('A page of the database was damaged on the disk.')
  expect(events()).toEqual(['page_damaged'])
  // What it found is written down: a start knows of it.
  expect(scrub().status().damaged).toEqual(weekly.status().damaged)
  db.close()
})

test('a damaged database page that was overwritten is reported for a month', () => {
  const { db, settings, clock, scrub, events } = opened()
  settings.set('marked', 'a text within one page')
  checkpoint(db)
  const weekly = scrub()
  weekly.pass()
  checkpoint(db)
  flip('a text within one page')
  settings.set('another', 'in the same page')
  checkpoint(db)
  weekly.pass()
  expect(weekly.status()).toMatchObject({ rewrittenAt: startAt })
  expect(weekly.status().rewritten).toHaveLength(1)
  expect(events()).toEqual(['page_damaged'])
  clock.set(startAt + 28 * dayMs)
  weekly.pass()
  expect(damageText(weekly.status())).toBeDefined()
  clock.set(startAt + 35 * dayMs)
  weekly.pass()
  expect(damageText(weekly.status())).toBeUndefined()
  db.close()
})

test('a database that was restored gets the checksums of all its pages at once', () => {
  const backed = opened()
  backed.settings.set('marked', 'a text within one page')
  checkpoint(backed.db)
  backed.scrub().pass()
  backed.db.run(`VACUUM INTO '${join(dir, 'backup.db')}'`)
  backed.db.close()
  path = join(dir, 'restored.db')
  copyFileSync(join(dir, 'backup.db'), path)
  const { db, scrub, clock } = opened()
  clock.set(startAt + dayMs)
  const restored = scrub()
  restored.pass()
  expect(restored.status().finishedAt).toBe(startAt + dayMs)
  checkpoint(db)
  flip('a text within one page')
  expect(damagedPages(path)).toHaveLength(1)
  db.close()
})
